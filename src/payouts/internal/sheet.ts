/**
 * What a run does on the tables of a queue. The rows of its sheet are sent only while it is at work: it holds a lease on them,
 * which the statement that marks a request checks.
 */
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import { invalidWithdrawal } from "../../contract/WithdrawalCheck.ts"
import { type DatabaseError, mapDatabaseError } from "../../durable/Database.ts"
import { repeatedly } from "../../durable/Work.ts"
import { log } from "../../internal/spans.ts"
import { Centavos, format } from "../../pix/Money.ts"
import type { PayoutItem } from "../Payout.ts"
import type { Seal } from "../Seal.ts"
import type { PayoutStatus } from "../PayoutStatus.ts"
import type { Core } from "./queue/core.ts"
import * as Row from "./queue/row.ts"
import type { Settings } from "./queue/settings.ts"
import { allOrNone, makeAccept, type Run, sumOf, type Wrong } from "./queue/submit.ts"

/** What would be accepted, what is wrong, and what is stored already. */
interface Planned {
  readonly wrong: ReadonlyArray<Wrong>
  readonly earlier: ReadonlyArray<PayoutStatus>
}

/** The transaction is rolled back: nothing is accepted. */
class RollBack extends Data.TaggedError("RollBack")<Planned> {}

const inTransaction = invalidWithdrawal([
  { path: "", problem: "must not be run in a transaction: nothing is sent before that commits" }
])

export type Sheet = ReturnType<typeof makeSheet>

/** A run at work on the rows of its sheet. */
export type AtWork = Effect.Success<ReturnType<Sheet["begin"]>>

export const makeSheet = (core: Core, settings: Settings, seal: Seal) => {
  const { store } = core
  const { lease } = settings
  const { acceptAll, judge, takeUp } = makeAccept(core, settings, seal)

  /** The rows of keys, in their order. */
  const find = (keys: ReadonlyArray<string>) =>
    Effect.map(store.find(keys), (rows) => {
      const byKey = new Map(rows.map((row) => [row.idempotencyKey, row]))
      return keys.flatMap((key) => byKey.get(key) ?? [])
    })

  const closed = Effect.fnUntraced(function* (keys: ReadonlyArray<string>, run: Run, sum: number) {
    const open = new Set(yield* store.open(keys))
    const rows = yield* find(keys.filter((key) => !open.has(key)))
    // This run's own lease may have ended too, as while its process was stopped: a person may have paid such a line since.
    const left = rows.filter((row) => Row.isParkedByRun(row) && row.runBy !== run.id)
    if (left.length === 0) return rows
    const taken = yield* store.readCommitted(
      Effect.gen(function* () {
        const judged = left.map((row, index) => ({ index, row }))
        const alike = new Set((yield* judge(judged, run)).map(({ row }) => row))
        const rest = left.filter((row) => !alike.has(row))
        yield* takeUp(rest, run, sum)
        return new Set(rest)
      })
    )
    return rows.filter((row) => !taken.has(row))
  })

  /** Parks a row of the run whose lease is over, unless somebody else has changed that meanwhile. */
  const park = (row: Row.Row, run: Run) =>
    core.changeBy(
      row,
      (current) =>
        Effect.succeed(
          Row.isOpen(current) && Row.hasRunEnded(current, Row.runOver) && current.runBy === run.id
            ? Row.park("RunEnded")
            : undefined
        ),
      () => ({ _tag: "Parked", because: "RunEnded" })
    )

  const end = Effect.fnUntraced(function* (keys: ReadonlyArray<string>, run: Run) {
    yield* store.endRun(run.id)
    yield* Effect.forEach(yield* find(keys), (row) => park(row, run), { discard: true })
    return yield* find(keys)
  })

  const plan = (items: ReadonlyArray<PayoutItem>, run: Run): Effect.Effect<Planned, SqlError | DatabaseError> =>
    acceptAll(items, run, ({ earlier, wrong }) =>
      Effect.fail(new RollBack({ wrong, earlier: earlier.map((row) => Row.statusOf(row)) }))
    ).pipe(Effect.catchTag("RollBack", Effect.succeed))

  /** Logs what nobody was asked about: a sheet that was paid on another file has nothing here. */
  const logPlan = (count: number, sum: number, stored: number) =>
    log(
      "Info",
      `Payouts.run: ${count} payout(s) (${format(Centavos.make(sum))}), of which ${stored} were stored already.`,
      { "payments.account": settings.account }
    )

  const begin = Effect.fnUntraced(function* <E>(
    items: ReadonlyArray<PayoutItem>,
    run: Run,
    ask: Effect.Effect<void, E> | undefined
  ) {
    yield* store.requireOwnTransaction("run")
    if (yield* store.isInTransaction) return yield* inTransaction
    if (ask !== undefined) yield* ask
    // Where the database does not answer, the lease ends by itself.
    yield* Effect.addFinalizer(() => Effect.ignore(mapDatabaseError("run")(store.endRun(run.id))))
    const { earlier, rows } = yield* acceptAll(items, run, (accepted) => Effect.as(allOrNone(accepted), accepted)).pipe(
      // Two runs have the same lines in another order: the database ends one of the transactions, and the other one goes on.
      Effect.retry({ times: 3, while: (error) => isSqlError(error) && error.reason._tag === "DeadlockError" })
    )
    /** The keys of the sheet, in its order, each once. */
    const keys = [...new Set(rows.map((row) => row.idempotencyKey))]
    const sum = sumOf(rows)
    if (ask === undefined) yield* logPlan(keys.length, sum, earlier.length)
    const renew = store.renewRun(run.id, lease)
    const renewing = yield* Effect.forkScoped(
      repeatedly("Payouts.run: renewing leases", Duration.millis(lease / 5), renew)
    )
    return {
      keys,
      /** The rows of these keys that are not open. What another run has left since is taken up. */
      closed: (keys: ReadonlyArray<string>) => mapDatabaseError("run")(closed(keys, run, sum)),
      /** A latch that opens when this process changes the payout of a key, or sees that it is not open any more. */
      changeOf: core.changeOf,
      /** How often another process's changes are looked for, in milliseconds. */
      poll: settings.poll,
      /** Ends the run: parks what was not sent, and returns the rows of these keys. */
      end: (keys: ReadonlyArray<string>) =>
        Effect.andThen(Fiber.interrupt(renewing), mapDatabaseError("run")(end(keys, run)))
    }
  })

  return {
    /** What `begin` would do. It writes nothing. */
    plan: (items: ReadonlyArray<PayoutItem>, run: Run) =>
      Effect.andThen(store.requireOwnTransaction("plan"), mapDatabaseError("plan")(plan(items, run))),
    /** Accepts all or none, where `ask` does not fail. They are sent until the scope closes; then a worker parks what was not sent. */
    begin: <E = never>(items: ReadonlyArray<PayoutItem>, run: Run, ask?: Effect.Effect<void, E>) =>
      mapDatabaseError("run")(begin(items, run, ask))
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
