/** What a run does on the tables of a queue: it accepts the rows of its sheet, and follows them. The queue sends them. */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import { invalidWithdrawal } from "../../../contract/WithdrawalCheck.ts"
import { type DatabaseError, mapDatabaseError } from "../../../durable/Database.ts"
import { log } from "../../../internal/spans.ts"
import { Centavos, format } from "../../../pix/Money.ts"
import type { PayoutItem } from "../../Payout.ts"
import type { Seal } from "../../Seal.ts"
import type { PayoutSheet } from "../../PayoutSheet.ts"
import type { PayoutStatus } from "../../PayoutStatus.ts"
import type { Core } from "../core.ts"
import type { Row } from "../machine/row.ts"
import { asRead } from "./reading.ts"
import { statusOf } from "../machine/status.ts"
import type { Settings } from "../../PayoutQueueOptions.ts"
import { allOrNone, makeAccept, type Run, sumOf, type Wrong } from "./submit.ts"

/** What would be accepted, what is wrong, and what is stored already. */
interface Planned {
  readonly wrong: ReadonlyArray<Wrong>
  readonly earlier: ReadonlyArray<PayoutStatus>
}

/** The transaction is rolled back: nothing is accepted. */
class RollBack extends Data.TaggedError("RollBack")<
  Pick<Planned, "wrong"> & { readonly earlier: ReadonlyArray<Row> }
> {}

const inTransaction = invalidWithdrawal([
  { path: "", problem: "must not be run in a transaction: nothing is sent before that commits" }
])

export type Sheet = ReturnType<typeof makeSheet>

/** The accepted rows of a sheet. */
export type Accepted = Effect.Success<ReturnType<Sheet["begin"]>>

export const makeSheet = (core: Core, settings: Settings, seal: Seal) => {
  const { store } = core
  const { account, horizon } = settings
  const acceptAll = makeAccept(core, settings, seal)

  /** The rows of keys, in their order. */
  const find = (keys: ReadonlyArray<string>) =>
    Effect.map(
      Effect.flatMap(store.find(keys), (found) => asRead(store, found)),
      (rows) => {
        const byKey = new Map(rows.map((row) => [row.idempotencyKey, row]))
        return keys.flatMap((key) => byKey.get(key) ?? [])
      }
    )

  const plan = (items: ReadonlyArray<PayoutItem>, run: Run): Effect.Effect<Planned, SqlError | DatabaseError> =>
    acceptAll(items, run, ({ earlier, wrong }) => Effect.fail(new RollBack({ wrong, earlier }))).pipe(
      Effect.catchTag("RollBack", ({ earlier, wrong }) => Effect.succeed({ wrong, earlier: earlier.map(statusOf) }))
    )

  /** A sheet that was paid on another file has nothing here. */
  const logPlan = (count: number, sum: number, stored: number) =>
    log(
      "Info",
      `Payouts.run: ${count} payout(s) (${format(Centavos.make(sum))}), of which ${stored} were stored already.`,
      { "payments.account": account }
    )

  /** The last line of a run that is interrupted: until when its lines are sent, and which steps stop that. */
  const logInterrupted = (rows: ReadonlyArray<Row>) => {
    const until = Math.max(...rows.map(({ wantedAt }) => wantedAt)) + horizon
    const shown =
      until > 8_640_000_000_000_000 ? "without a limit" : `until ${DateTime.formatIso(DateTime.makeUnsafe(until))}`
    return log(
      "Warn",
      `Payouts.run was interrupted. What is not sent yet of its ${rows.length} payout(s) is sent ${shown}, and later what waits with its account, ` +
        `while a program with this queue runs. It is stopped by effect-pix payouts park REFERENCE --account ${account}, and all of the account by effect-pix payouts pause.`,
      { "payments.account": account }
    )
  }

  const begin = Effect.fnUntraced(function* (items: ReadonlyArray<PayoutItem>, run: Run) {
    yield* store.requireOwnTransaction("run")
    if (yield* store.isInTransaction) return yield* inTransaction
    const { earlier, rows } = yield* acceptAll(items, run, (accepted) => Effect.as(allOrNone(accepted), accepted)).pipe(
      // Two runs have the same lines in another order: the database ends one of the transactions, and the other one goes on.
      Effect.retry({ times: 3, while: (error) => isSqlError(error) && error.reason._tag === "DeadlockError" })
    )
    const byKey = new Map(rows.map((row) => [row.idempotencyKey, row]))
    /** The keys of the sheet, in its order, each once. */
    const keys = [...byKey.keys()]
    yield* logPlan(keys.length, sumOf(rows), earlier.length)
    return {
      keys,
      /** Those of these keys whose rows are open. */
      open: (keys: ReadonlyArray<string>) => mapDatabaseError("run")(store.open(keys)),
      /** A latch that opens when this process changes the payout of a key, or sees that it is not open any more. */
      changeOf: core.changeOf,
      /** How often another process's changes are looked for, in milliseconds. */
      poll: settings.poll,
      followWrites: store.followWrites,
      /** The rows of these keys. */
      find: (keys: ReadonlyArray<string>) => mapDatabaseError("run")(find(keys)),
      interrupted: keys.length === 0 ? Effect.void : logInterrupted([...byKey.values()])
    }
  })

  return {
    /** What `begin` would do. It writes nothing. */
    plan: (items: ReadonlyArray<PayoutItem>, run: Run) =>
      Effect.andThen(store.requireOwnTransaction("plan"), mapDatabaseError("plan")(plan(items, run))),
    /** Accepts all or none. */
    begin: (items: ReadonlyArray<PayoutItem>, run: Run) => mapDatabaseError("run")(begin(items, run))
  }
}

/** Its type is apart, so that no declaration of the package shows the store. */
export const SheetService = Context.Service<PayoutSheet, Sheet>("effect-pix/sheet/SheetService")
