/**
 * What forgetting costs as the table of a webhook grows: counted in pages of the database, not in time.
 */
import { assert, describe, it } from "@effect/vitest"
import { PgClient } from "@effect/sql-pg"
import { Duration, Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { database } from "../../src/durable/Database.ts"
import { migrate } from "../../src/durable/Tables.ts"
import { makeStore, webhookTables } from "../../src/webhook/internal/table.ts"
import { postgres } from "../support/database.ts"
import { noPostgres } from "../support/postgres.ts"

const absent = noPostgres()

describe.skipIf(absent !== undefined)(
  `a webhook's table that grows${absent === undefined ? "" : ` (${absent})`}`,
  () => {
    for (const statistics of ["none", "fresh"] as const)
      it.live(
        `old rows are forgotten by an index, 1,000 at a time, and what each costs does not depend on their number (statistics: ${statistics})`,
        () =>
          Effect.gen(function* () {
            const { url } = yield* postgres
            // One connection, so that what it counted is read after it was counted.
            const client = PgClient.layer({ url: Redacted.make(url), maxConnections: 1 })
            yield* Effect.gen(function* () {
              const sql = yield* SqlClient.SqlClient
              yield* migrate(webhookTables)
              yield* sql`ALTER TABLE effect_pix_webhooks SET (autovacuum_enabled = FALSE)`
              const store = makeStore(yield* database, "default")
              // Names are random: neighbours in time are none in the index.
              yield* sql`INSERT INTO effect_pix_webhooks (webhook, name, state, value, due_at)
              SELECT 'default', md5(n::text), 'Done', '{}', CASE WHEN n <= 5500 THEN n ELSE ${Date.now()} END
              FROM generate_series(1, 25000) AS n`
              if (statistics === "fresh") yield* sql`ANALYZE`
              const read = Effect.gen(function* () {
                yield* sql`SELECT pg_stat_force_next_flush()`
                yield* sql`SELECT 1`
                const [row] = yield* sql<{ readonly pages: number; readonly scans: number }>`
                SELECT (heap_blks_hit + heap_blks_read + idx_blks_hit + idx_blks_read)::float8 AS pages,
                  (SELECT seq_scan::float8 FROM pg_stat_user_tables WHERE relname = 'effect_pix_webhooks') AS scans
                FROM pg_statio_user_tables WHERE relname = 'effect_pix_webhooks'`
                return row ?? { pages: Number.NaN, scans: Number.NaN }
              })
              const before = yield* read
              yield* store.forget(Duration.toMillis("180 days"))
              const after = yield* read
              assert.strictEqual(after.scans, before.scans, "the table is not read from start to end")
              assert.isAtMost((after.pages - before.pages) / 5500, 20)
              const [left] = yield* sql<{
                readonly count: number
              }>`SELECT COUNT(*)::int AS count FROM effect_pix_webhooks`
              assert.strictEqual(left?.count, 19_500)
            }).pipe(Effect.provide(client))
          }).pipe(Effect.scoped),
        60_000
      )
  }
)
