/**
 * Reads of the queue's tables that only the command needs: the version of the tables, the sums, and the stored requests. It is
 * not exported to users.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as SqlClient from "effect/sql/SqlClient"
import { mapDatabaseError } from "../durable/Database.ts"
import { requireNewest } from "../durable/Tables.ts"
import * as PixKey from "../pix/PixKey.ts"
import * as Check from "../contract/Settings.ts"
import { readRequest } from "./internal/queue/request.ts"
import { tables } from "./internal/queue/tables.ts"
import type { PayoutState } from "./PayoutStatus.ts"

export { badAccountName, defaultAccount, isAccountName } from "./internal/queue/account.ts"

/** Fails unless the tables are of this version, and changes none. */
export const requireTables = mapDatabaseError("look")(requireNewest(tables))

/** The destination and the description of a stored request. Without a key it pays the company's own. */
interface StoredRequest {
  readonly pixKey?: PixKey.PixKey | PixKey.OpaquePixKey | undefined
  readonly description?: string | undefined
}

/** `Forgotten`: the request was deleted after `forget.data`. `Sealed`: it was sealed, or a newer version wrote it. */
export type Stored = StoredRequest | "Forgotten" | "Sealed"

const storedOf = (text: string | null): Stored =>
  text === null
    ? "Forgotten"
    : Option.match(readRequest(text), {
        onNone: () => "Sealed",
        onSome: ({ description, pixKey, pixKeyType = "" }) => ({
          pixKey: pixKey === undefined ? undefined : PixKey.read(pixKey, pixKeyType),
          description
        })
      })

/**
 * How many payouts of each state an account has, and their sum in centavos, which may be too large for an exact number.
 */
export const totals = (account: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const rows = yield* sql<{ readonly state: PayoutState; readonly count: number | string; readonly sum: string }>`
      SELECT state AS "state", COUNT(*) AS "count", CAST(SUM(amount) AS TEXT) AS "sum" FROM effect_pix_payouts
      WHERE account = ${account} GROUP BY state`
    return new Map(rows.map(({ count, state, sum }) => [state, { count: Number(count), centavos: BigInt(sum) }]))
  }).pipe(mapDatabaseError("list"))

/** Fails unless the account is known: a step on another one would change nothing, and look as if it had. */
export const requireAccount = (account: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [known] = yield* sql`SELECT 1 FROM effect_pix_payout_accounts WHERE account = ${account}
      UNION ALL SELECT 1 FROM effect_pix_payouts WHERE account = ${account} LIMIT 1`
    if (known !== undefined) return
    const rows = yield* sql<{ readonly account: string }>`
      SELECT account AS "account" FROM effect_pix_payout_accounts ORDER BY account`
    const others = rows.map((row) => row.account).join(", ")
    return yield* Check.wrong(
      "account",
      `${account} has no payouts in this database, which has the accounts: ${others}`
    )
  }).pipe(mapDatabaseError("look"))

/** The stored requests of some payouts, by their keys. */
export const requests = Effect.fnUntraced(function* (account: string, keys: ReadonlyArray<string>) {
  if (keys.length === 0) return new Map<string, Stored>()
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ readonly key: string; readonly request: string | null }>`
    SELECT idempotency_key AS "key", request AS "request" FROM effect_pix_payouts
    WHERE account = ${account} AND ${sql.in("idempotency_key", keys)}`
  return new Map(rows.map(({ key, request }) => [key, storedOf(request)]))
}, mapDatabaseError("read"))
