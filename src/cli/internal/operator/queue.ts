/** The queue of a program's database, for a command: it submits nothing, sends nothing and migrates nothing. */
import * as Arr from "effect/Array"
import * as Clock from "effect/Clock"
import * as Config from "effect/Config"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as Str from "effect/String"
import * as SqlClient from "effect/sql/SqlClient"
import { settingError } from "../../../contract/ConfigurationError.ts"
import { mapDatabaseError } from "../../../durable/Database.ts"
import { PayoutQueue, requireTables } from "../../../payouts/PayoutQueue.ts"
import * as Seal from "../../../payouts/Seal.ts"
import { PayoutNotFound, type PayoutState } from "../../../payouts/PayoutState.ts"
import { failingAs, layerDatabase, notRead, notReadable } from "../database.ts"
import { codes, failed } from "../exit.ts"
import { GivenAccount } from "../flags.ts"
import type { Sum } from "./describe.ts"

/** Fails unless the account is known: a step on another one would change nothing, and look as if it had. */
const requireAccount = Effect.fnUntraced(function* (account: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ readonly account: string }>`SELECT account AS "account" 
    FROM effect_pix_payout_accounts
    UNION SELECT CAST(${account} AS VARCHAR(32)) WHERE EXISTS (SELECT 1 FROM effect_pix_payouts WHERE account = ${account})
    ORDER BY account`
  const known = rows.map((row) => row.account)
  if (known.includes(account)) return
  return yield* settingError(
    "account",
    `${account} has no payouts in this database, which has the accounts: ${known.join(", ")}`
  )
}, mapDatabaseError("open"))

/** Without the program's keys nothing that is sealed is opened. */
const none: Seal.Seal = { seal: Effect.succeed, open: Effect.succeed }

/** The program's seal, by its keys: the first one and the earlier ones. A command seals nothing. */
const seal = Effect.gen(function* () {
  const given = yield* Effect.orElseSucceed(Config.option(Config.Redacted("EFFECT_PIX_SEAL")), () => Option.none())
  if (Option.isNone(given)) return none
  const [first, ...earlier] = Arr.map(Str.split(Redacted.value(given.value), ","), (key) => Redacted.make(key))
  return yield* Effect.mapError(Seal.aesGcm(first, ...earlier), ({ message }) => failed(`EFFECT_PIX_SEAL: ${message}`))
})

/**
 * The horizon is that of the workers, which is stored. Where none began yet it is endless, since one that is shorter than
 * theirs would refuse a safe `resume`, and suggest `--not-executed`.
 */
const layerOn = (access: "read" | "write") =>
  Layer.unwrap(
    Effect.gen(function* () {
      const account = yield* GivenAccount
      return PayoutQueue.layerClient({ account, horizon: Duration.infinity, seal: yield* seal }).pipe(
        Layer.provide(Layer.effectDiscard(Effect.andThen(requireTables, requireAccount(account)))),
        (layer) => failingAs(layer, notReadable)
      )
    })
  ).pipe(Layer.provideMerge(layerDatabase(access)))

/** For a command that reads. */
export const layerReading = layerOn("read")

/** For a step. */
export const layerQueue = layerOn("write")

/** The payouts of the account by their state. */
const readSums = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ readonly state: PayoutState; readonly count: number | string; readonly sum: string }>`
    SELECT state AS "state", COUNT(*) AS "count", CAST(SUM(amount) AS TEXT) AS "sum" FROM effect_pix_payouts
    WHERE account = ${yield* GivenAccount} AND amount IS NOT NULL GROUP BY state`
  return new Map<PayoutState, Sum>(
    rows.map(({ count, state, sum }) => [state, { count: Number(count), centavos: BigInt(sum) }])
  )
}).pipe(mapDatabaseError("list"), Effect.mapError(notRead))

/** The account of the queue, and the sums of its payouts. */
export const readAccount = Effect.gen(function* () {
  const queue = yield* PayoutQueue
  const account = yield* Effect.mapError(queue.account, notRead)
  return { ...account, sums: yield* readSums, now: yield* Clock.currentTimeMillis }
})

/** All payouts of some states, one state after the other, each with the oldest first. */
export const listPayouts = (states: ReadonlyArray<PayoutState | undefined>) =>
  Stream.unwrap(
    Effect.map(PayoutQueue, (queue) =>
      Stream.fromIterable(states).pipe(
        Stream.flatMap((state) => queue.list({ state })),
        Stream.mapError(notRead)
      )
    )
  )

/** The status of a reference, or the failure of an unknown reference. */
export const find = Effect.fnUntraced(function* (reference: string) {
  const queue = yield* PayoutQueue
  const found = yield* Effect.mapError(queue.status(reference), notRead)
  if (Option.isSome(found)) return found.value
  return yield* failed(new PayoutNotFound({ reference }).message, codes.Rejected)
})
