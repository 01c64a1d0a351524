/** The queue of a program's database, for a command: it submits nothing, sends nothing and migrates nothing. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as SqlClient from "effect/sql/SqlClient"
import { settingError } from "../../../contract/ConfigurationError.ts"
import { type DatabaseError, mapDatabaseError } from "../../../durable/Database.ts"
import type { PauseChange, PayoutAccount } from "../../../payouts/PayoutHistory.ts"
import { PayoutQueue, requireTables } from "../../../payouts/PayoutQueue.ts"
import type { Seal } from "../../../payouts/Seal.ts"
import { PayoutNotFound } from "../../../payouts/PayoutStatus.ts"
import { failingAs, layerDatabase, notRead, notReadable } from "../database.ts"
import { codes, type Failed, failed } from "../exit.ts"
import { GivenAccount } from "./account.ts"

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

/** A command submits nothing, and does not know the program's seal: it opens nothing. */
const none: Seal = { seal: Effect.succeed, open: Effect.succeed }

/**
 * The horizon is that of the workers, which is stored. Where none began yet it is endless, since one that is shorter than
 * theirs would refuse a safe `resume`, and suggest `--not-executed`.
 */
const layerOn = (access: "read" | "write") =>
  Layer.unwrap(
    Effect.gen(function* () {
      const account = yield* GivenAccount
      return PayoutQueue.layerClient({ account, horizon: Duration.infinity, seal: none }).pipe(
        Layer.provide(Layer.effectDiscard(Effect.andThen(requireTables, requireAccount(account)))),
        (layer) => failingAs(layer, notReadable)
      )
    })
  ).pipe(Layer.provideMerge(layerDatabase(access)))

/** For a command that reads. */
export const layerReading = layerOn("read")

/** For a step. */
export const layerQueue = layerOn("write")

/** The account of the queue. */
export const readAccount = Effect.flatMap(PayoutQueue, ({ account }) => Effect.mapError(account, notRead))

/** The pause of the workers, with the person and the reason; `undefined` if they are not paused. */
export const pauseOf = ({ lastPause, paused }: PayoutAccount): PauseChange | "Unrecorded" | undefined => {
  if (!paused) return undefined
  // Another program may have paused them by SQL.
  return lastPause?.paused === true ? lastPause : "Unrecorded"
}

export const notFound = ({ message }: PayoutNotFound): Failed => failed(message, codes.Rejected)

/** The status of a reference, or the failure of an unknown reference. */
export const find = Effect.fnUntraced(function* (reference: string) {
  const queue = yield* PayoutQueue
  return yield* queue.status(reference).pipe(
    Effect.mapError((error: DatabaseError) => notRead(error)),
    Effect.flatMap((found) =>
      Effect.mapError(Effect.fromOption(found), () => notFound(new PayoutNotFound({ reference })))
    )
  )
})
