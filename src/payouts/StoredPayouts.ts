/**
 * Reads of the queue's tables that only the command needs: the version of the tables, the sums, and the stored requests. It is
 * not exported to users.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as SqlClient from "effect/sql/SqlClient"
import { mapDatabaseError } from "../durable/Database.ts"
import { requireNewest } from "../durable/Tables.ts"
import { requireQueue } from "../durable/Queue.ts"
import * as PixKey from "../pix/PixKey.ts"
import { readRequest } from "./internal/queue/request.ts"
import { tables } from "./internal/queue/tables.ts"
import type { PayoutState } from "./PayoutStatus.ts"

/** Fails unless the tables are of this version, and changes none. */
export const requireTables = mapDatabaseError("look")(Effect.andThen(requireNewest(tables), requireQueue))

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

/** How many payouts of each state there are, and their sum in centavos, which may be too large for an exact number. */
export const totals = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ readonly state: PayoutState; readonly count: number | string; readonly sum: string }>`
    SELECT state AS "state", COUNT(*) AS "count", CAST(SUM(amount) AS TEXT) AS "sum" FROM effect_pix_payouts GROUP BY state`
  return new Map(rows.map(({ count, state, sum }) => [state, { count: Number(count), centavos: BigInt(sum) }]))
}).pipe(mapDatabaseError("list"))

/** The stored requests of some payouts, by their keys. */
export const requests = Effect.fnUntraced(function* (keys: ReadonlyArray<string>) {
  if (keys.length === 0) return new Map<string, Stored>()
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ readonly key: string; readonly request: string | null }>`
    SELECT idempotency_key AS "key", request AS "request" FROM effect_pix_payouts WHERE ${sql.in("idempotency_key", keys)}`
  return new Map(rows.map(({ key, request }) => [key, storedOf(request)]))
}, mapDatabaseError("read"))
