/**
 * What a run does on the tables of a queue. The rows of its sheet are sent only while it is at work: it holds a lease on them,
 * which the statement that marks a request checks.
 */
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type { SqlError } from "effect/sql/SqlError"
import { type DatabaseError, type ForeignTransaction, mapDatabaseError } from "../../durable/Database.ts"
import { repeatedly } from "../../durable/Work.ts"
import type { PayoutItem } from "../Payout.ts"
import type { PayoutStatus } from "../PayoutStatus.ts"
import type { Seal } from "../PayoutQueueOptions.ts"
import type { Core } from "./queue/core.ts"
import { payoutKey } from "./content.ts"
import * as Row from "./queue/row.ts"
import type { Settings } from "./queue/settings.ts"
import { makeAccept, type Run, type Wrong } from "./queue/submit.ts"

/** What would be accepted, what is wrong, and what is stored already. */
interface Planned {
  readonly wrong: ReadonlyArray<Wrong>
  readonly earlier: ReadonlyArray<PayoutStatus>
}

/** Some payouts are wrong: the transaction is rolled back. */
class RollBack extends Data.TaggedError("RollBack")<Planned> {}

export interface Sheet {
  /** In milliseconds. */
  readonly poll: number
  /** What `accept` would do. It writes nothing. */
  readonly plan: (
    items: ReadonlyArray<PayoutItem>,
    run: Run
  ) => Effect.Effect<Planned, ForeignTransaction | DatabaseError>
  /** Accepts all or none, and sends them until the scope closes. Then what was not sent is parked. */
  readonly accept: (
    items: ReadonlyArray<PayoutItem>,
    run: Run
  ) => Effect.Effect<ReadonlyArray<Wrong>, ForeignTransaction | DatabaseError, Scope.Scope>
  /** The statuses of the sheet, a reference once. What another run has left since is taken up. */
  readonly look: (
    items: ReadonlyArray<PayoutItem>,
    run: Run
  ) => Effect.Effect<ReadonlyArray<PayoutStatus>, DatabaseError>
  /** Parks what was not sent. */
  readonly end: (items: ReadonlyArray<PayoutItem>, run: Run) => Effect.Effect<void, DatabaseError>
}

export const makeSheet = (core: Core, settings: Settings, seal: Seal): Sheet => {
  const { store } = core
  const { acceptAll, judge, takeUp } = makeAccept(core, settings, seal)
  const keysOf = (items: ReadonlyArray<PayoutItem>) => [
    ...new Set(items.flatMap(({ reference }) => Option.toArray(payoutKey(settings.account, reference))))
  ]
  const rowsOf = (items: ReadonlyArray<PayoutItem>) =>
    Effect.map(store.find(keysOf(items)), (rows) => {
      const byKey = new Map(rows.map((row) => [row.idempotencyKey, row]))
      return keysOf(items).flatMap((key) => byKey.get(key) ?? [])
    })

  /** Takes up what another run has left, but for what looks like another payout. */
  const takeUpLeft = Effect.fnUntraced(function* (rows: ReadonlyArray<Row.Row>, run: Run) {
    const { readAt } = yield* store.accounts.get
    const left = rows.filter((row) => Row.isLeftByRun(row, readAt)).map((row, index) => ({ index, row }))
    if (left.length === 0) return
    const alike = yield* judge(left, run)
    const rest = left.map(({ row }) => row).filter((row) => !alike.some((one) => one.row === row))
    yield* takeUp(rest, run)
    yield* store.renewRun(run.id, settings.lease)
  })

  const end = (items: ReadonlyArray<PayoutItem>, run: Run): Effect.Effect<void, SqlError> =>
    Effect.flatMap(rowsOf(items), (rows) =>
      Effect.forEach(
        rows.filter((row) => row.runBy === run.id && Row.isOpen(row)),
        (row) =>
          core.changeBy(
            row,
            (current) =>
              Effect.succeed(
                Row.isOpen(current) && current.mayHaveLeftAt === null && current.runBy === run.id
                  ? Row.park("RunEnded")
                  : undefined
              ),
            () => ({ _tag: "Parked", because: "RunEnded" })
          ),
        { discard: true }
      )
    )

  const accepted = (items: ReadonlyArray<PayoutItem>, run: Run, isPlan: boolean) =>
    acceptAll(items, run, ({ earlier, wrong }) => {
      const planned = { wrong, earlier: earlier.map((row) => Row.statusOf(row)) }
      return isPlan || wrong.length > 0 ? Effect.fail(new RollBack(planned)) : Effect.succeed(planned)
    }).pipe(Effect.catchTag("RollBack", ({ earlier, wrong }) => Effect.succeed({ earlier, wrong })))

  return {
    poll: settings.poll,
    plan: (items, run) =>
      Effect.andThen(store.requireOwnTransaction("plan"), mapDatabaseError("plan")(accepted(items, run, true))),
    accept: (items, run) =>
      Effect.gen(function* () {
        yield* store.requireOwnTransaction("run")
        const ending = Effect.ignore(mapDatabaseError("run")(end(items, run)))
        const { wrong } = yield* Effect.acquireRelease(accepted(items, run, false), () => ending)
        if (wrong.length > 0) return wrong
        const renew = store.renewRun(run.id, settings.lease)
        yield* Effect.forkScoped(repeatedly("Payouts.run: renewing leases", Duration.millis(settings.lease / 5), renew))
        return wrong
      }).pipe(mapDatabaseError("run")),
    look: (items, run) =>
      mapDatabaseError("run")(
        Effect.flatMap(rowsOf(items), (rows) =>
          Effect.as(
            store.transaction(takeUpLeft(rows, run)),
            rows.map((row) => Row.statusOf(row))
          )
        )
      ),
    end: (items, run) => mapDatabaseError("run")(end(items, run))
  }
}

/** Sheets by the identity of the queue's service. A queue that a user wrapped or mocked is another object, without one. */
const sheets = new WeakMap<object, Sheet>()

/** Registers what runs do on the tables of a queue. */
export const registerSheet = (queue: object, sheet: Sheet): void => {
  sheets.set(queue, sheet)
}

/** What runs do on the tables of this queue, if its layer made it. */
export const sheetOf = (queue: object): Sheet | undefined => sheets.get(queue)
