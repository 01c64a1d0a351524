/**
 * The contract of the stored payouts is asked of SQLite and of PostgreSQL. Nothing waits: times are written into the rows.
 */
import { Effect, Layer, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import type { Fragment } from "effect/sql/Statement"
import { database } from "../../src/durable/Database.ts"
import { makeStore } from "../../src/payouts/internal/queue/store.ts"
import { databases } from "./database.ts"
import { live } from "./effect.ts"
import { gatewayOnce, startClient } from "./payoutQueue.ts"

type Base = Layer.Success<typeof gatewayOnce> | SqlClient.SqlClient
type Dialect = (typeof databases)[number]["dialect"]

/** Asks one question of each database. */
export const ask = (
  title: string,
  body: (dialect: Dialect) => Generator<Effect.Effect<unknown, unknown, Base | Scope.Scope>, unknown, never>
) => {
  for (const { client, dialect, name, skip } of databases) {
    const layer: Layer.Layer<Base, unknown> = Layer.merge(client(), gatewayOnce)
    live.skipIf(skip)(`${title}, on ${name}`, layer, () => body(dialect))
  }
}

export const tagOf = <A, E extends { readonly _tag: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(effect), ({ _tag }) => _tag)

/** The tables, and what reads and writes them. */
export const prepare = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const queue = yield* startClient()
  const store = makeStore(yield* database, { account: "default", lease: 30_000 })
  const selected = (column: "idempotency_key" | "reference", where: Fragment) =>
    Effect.map(
      sql<{
        readonly found: string
      }>`SELECT ${sql(column)} AS "found" FROM effect_pix_payouts WHERE ${where} ORDER BY 1`,
      (rows) => rows.map(({ found }) => found)
    )
  const referencesOf = (where: string | Fragment) =>
    selected("reference", typeof where === "string" ? sql.literal(where) : where)
  const rowOf = (reference: string) =>
    selected("idempotency_key", sql`reference = ${reference}`).pipe(
      Effect.flatMap(([key = ""]) => store.get(key)),
      Effect.flatMap(Effect.fromNullishOr)
    )
  const set = (reference: string, changes: string) =>
    sql.unsafe(`UPDATE effect_pix_payouts SET ${changes} WHERE reference = '${reference}'`)
  /** Changes the row as the mark of a request does. */
  const mark = Effect.fnUntraced(function* (reference: string, cap?: number, only?: Fragment) {
    const row = yield* rowOf(reference)
    return yield* store.update(row, { ...row, sends: row.sends + 1, version: row.version + 1 }, "{}", { cap, only })
  })
  return { mark, queue, referencesOf, rowOf, set, sql, store }
})
