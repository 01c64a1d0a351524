/**
 * `npm run bench -- payout-sizes`: what 1,000,000 paid payouts take on a PostgreSQL, and what 10,000 more cost there, with a cap of the
 * day. A queue pays one payout, whose row and entries are then copied under other references; a queue pays the others too.
 */
import { Clock, Effect, Layer } from "effect"
import { type PayoutItem, PayoutQueue } from "effect-pix/payouts"
import { SqlClient } from "effect/sql"
import { makeBank } from "./bank.ts"
import { payout } from "../support/payoutQueue.ts"
import { startPostgres } from "../support/postgres.ts"
import { buildWorker, connect } from "./payouts.ts"

interface Relation {
  readonly name: string
  readonly bytes: number
}

interface Updates {
  readonly name: string
  readonly updates: number
  readonly hot: number
  readonly dead: number
}

/** The table and its TOAST, and each index. */
const relations = Effect.flatMap(
  SqlClient.SqlClient,
  (
    sql
  ) => sql<Relation>`SELECT relname AS "name", (CASE relkind WHEN 'r' THEN pg_table_size(oid) ELSE pg_relation_size(oid) END)::float8 AS "bytes"
    FROM pg_class WHERE relname ~ '^effect_pix_payout(s|_history)(_|$)' AND relkind IN ('r', 'i') AND relname !~ 'migrations'
    ORDER BY relname ~ 'history', relkind DESC, pg_relation_size(oid) DESC`
)

/** The updates of each table since its statistics were reset. */
const updates = Effect.flatMap(
  SqlClient.SqlClient,
  (
    sql
  ) => sql<Updates>`SELECT relname AS "name", n_tup_upd::float8 AS "updates", n_tup_hot_upd::float8 AS "hot", n_dead_tup::float8 AS "dead"
    FROM pg_stat_user_tables WHERE n_tup_upd > 0 ORDER BY relname`
)

/** Copies the only payout, with its entries, under `count` references, in the order in which they would be submitted. */
const copy = Effect.fnUntraced(function* (count: number) {
  const sql = yield* SqlClient.SqlClient
  // A key is a hash, so that keys of one time are apart in the index.
  const key = sql.literal("'payout_' || left(encode(sha256(n::text::bytea), 'hex'), length(idempotency_key) - 7)")
  const numbers = sql`generate_series(1, CAST(${count} AS INTEGER)) AS n`
  // Each is 10 milliseconds older than the next one.
  const older = sql`(n - CAST(${count} AS INTEGER)) * 10`
  yield* sql`INSERT INTO effect_pix_payouts SELECT copied.* FROM ${numbers}, effect_pix_payouts AS payout,
    jsonb_populate_record(payout, jsonb_build_object('idempotency_key', ${key}, 'reference', 'invoice-' || n,
      'amount', 1000 + n % 5000, 'submitted_at', submitted_at + ${older}, 'updated_at', updated_at + ${older},
      'due_at', due_at + ${older}, 'withdrawal_id', withdrawal_id + n)) AS copied`
  yield* sql`INSERT INTO effect_pix_payout_history (account, idempotency_key, entry)
    SELECT account, ${key}, entry FROM (SELECT * FROM ${numbers}, effect_pix_payout_history ORDER BY n, id) AS copied`
})

/** Pays the payouts by a worker of its own, whose connections are closed then, so that the statistics are complete. */
const pay = Effect.fnUntraced(function* (url: string, items: ReadonlyArray<PayoutItem>) {
  const queue = yield* PayoutQueue
  const sql = yield* SqlClient.SqlClient
  yield* Effect.scoped(
    Effect.gen(function* () {
      yield* buildWorker(url, makeBank(), { dailyCap: 1_000_000_000_000 })
      yield* queue.submitMany(items)
      const open = sql`SELECT 1 FROM effect_pix_payouts WHERE state IN ('accepted', 'unknown') LIMIT 1`
      yield* Effect.repeat(Effect.delay(open, "100 millis"), { until: (rows) => rows.length === 0 })
    })
  )
  yield* sql`SELECT pg_stat_force_next_flush()`
  yield* Effect.sleep("1 second")
})

/** Measures, and returns the figures as tables. */
export const payoutSizes = (count: number, more: number) =>
  Effect.gen(function* () {
    const { url } = yield* Effect.acquireRelease(
      Effect.promise(() => startPostgres()),
      (server) => Effect.promise(() => server.stop())
    )
    return yield* Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      // A vacuum in the middle would count in some runs only.
      for (const name of ["payouts", "payout_history"]) {
        yield* sql`ALTER TABLE ${sql(`effect_pix_${name}`)} SET (autovacuum_enabled = FALSE)`
      }
      yield* pay(url, [payout("invoice-0")])
      yield* copy(count)
      yield* sql`VACUUM (ANALYZE)`
      yield* sql`CHECKPOINT`
      yield* sql`SELECT pg_stat_reset()`
      const before = yield* relations
      const written = sql<{ readonly bytes: number }>`SELECT (pg_current_wal_lsn() - '0/0')::float8 AS "bytes"`
      const [walBefore] = yield* written
      yield* pay(
        url,
        Array.from({ length: more }, (_, index) => payout(`more-${index + 1}`, 1000 + (index % 5000)))
      )
      const [walAfter] = yield* written
      const changes = yield* updates
      const after = yield* relations
      const began = yield* Clock.currentTimeMillis
      yield* sql`VACUUM (ANALYZE) effect_pix_payouts, effect_pix_payout_history`
      const vacuum = (yield* Clock.currentTimeMillis) - began
      const total = (sizes: ReadonlyArray<Relation>) => sizes.reduce((sum, { bytes }) => sum + bytes, 0)
      const row = (name: string, bytes: number, grown: number) =>
        `| ${name} | ${(bytes / 1e6).toFixed(0)} | ${(bytes / count).toFixed(0)} | ${((grown - bytes) / more).toFixed(0)} |`
      const wal = (walAfter?.bytes ?? 0) - (walBefore?.bytes ?? 0)
      return [
        `| ${count} payouts | MB | bytes a payout | bytes that each of ${more} more adds |`,
        "| --- | ---: | ---: | ---: |",
        ...before.map(({ bytes, name }) => {
          const grown = after.find((other) => other.name === name)?.bytes ?? 0
          return row(`\`${name}\``, bytes, grown)
        }),
        row("all", total(before), total(after)),
        "",
        `| ${more} more payouts | updates | HOT | dead rows |`,
        "| --- | ---: | ---: | ---: |",
        ...changes.map(({ dead, hot, name, updates }) => `| \`${name}\` | ${updates} | ${hot} | ${dead} |`),
        "",
        `They wrote ${(wal / more / 1000).toFixed(1)} kB of WAL a payout. VACUUM (ANALYZE) took ${vacuum} ms then.`
      ].join("\n")
    }).pipe(Effect.provide(Layer.provideMerge(PayoutQueue.layerClient(), connect(url))))
  }).pipe(Effect.scoped, Effect.timeout("8 minutes"))
