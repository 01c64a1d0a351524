/**
 * What the queue costs as its tables grow: counted in pages of the database and in statements, not in time.
 */
import { assert, describe, it } from "@effect/vitest"
import { PgClient } from "@effect/sql-pg"
import { Effect, Fiber, Latch, type Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { database } from "../../src/durable/Database.ts"
import { migrate } from "../../src/durable/Tables.ts"
import { makeStore, type Store } from "../../src/payouts/internal/queue/store.ts"
import { tables } from "../../src/payouts/internal/queue/tables.ts"
import { makeStatements } from "../support/statements.ts"
import { postgres } from "../support/database.ts"
import { noPostgres } from "../support/postgres.ts"
import { runs } from "../support/seed.ts"
import { live } from "../support/effect.ts"

const absent = noPostgres()
const day = 86_400_000

/** A number of payouts in thousands; in `npm test` a quarter of it. */
const thousands = (count: number) => count * runs(250, 1000)

/** Tables whose statistics are updated only when a test does so. */
const prepare = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* migrate(tables)
  yield* sql`ALTER TABLE effect_pix_payouts SET (autovacuum_enabled = FALSE)`
  return { sql, store: makeStore(yield* database, { account: "default", lease: 30_000 }) }
})

/** Payouts in a state, `from` to `to`. They are due since they were submitted. */
const insert = (from: number, to: number, state: string, age = 0) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const submitted = Date.now() - age
    // Keys are hashes, so payouts of one time are apart in the index.
    yield* sql`INSERT INTO effect_pix_payouts
      (idempotency_key, reference, amount, request, request_check, state, due_at, submitted_at, updated_at)
      SELECT 'payout_' || md5(n::text), 'invoice-' || n, 1000, '{"amount":1000,"currency":"BRL"}', 'abc', ${state},
        ${submitted} + n / 3, ${submitted} + n / 3, ${submitted} + n / 3
      FROM generate_series(${sql.literal(`${from}`)}, ${sql.literal(`${to}`)}) AS n`
  })

/** The pages of the table and of its indexes that an effect reads. */
const pagesOf = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const read = Effect.gen(function* () {
      yield* sql`SELECT pg_stat_force_next_flush()`
      yield* sql`SELECT 1`
      const [row] = yield* sql<{ readonly pages: number; readonly scans: number }>`
        SELECT SUM(heap_blks_hit + heap_blks_read + idx_blks_hit + idx_blks_read)::float8 AS pages,
          (SELECT SUM(seq_scan)::float8 FROM pg_stat_user_tables WHERE relname = 'effect_pix_payouts') AS scans
        FROM pg_statio_user_tables WHERE relname = 'effect_pix_payouts'`
      return row ?? { pages: 0, scans: 0 }
    })
    const before = yield* read
    yield* effect
    const after = yield* read
    return { pages: after.pages - before.pages, scans: after.scans - before.scans }
  })

/** Reads a list to its end, as `list()` does. */
const listAll = (store: Store, state: "posted" | undefined) =>
  Effect.gen(function* () {
    let after = { at: -1, key: "" }
    for (let count = 0; ;) {
      const rows = yield* store.list(state, after, 200)
      const last = rows.at(-1)
      count += rows.length
      if (last === undefined) return count
      after = { at: last.submittedAt, key: last.idempotencyKey }
    }
  })

describe.skipIf(absent !== undefined)(`a payout queue that grows${absent === undefined ? "" : ` (${absent})`}`, () => {
  const connect = Effect.gen(function* () {
    const { url } = yield* postgres
    // With one connection, the statistics are read after the statements that they count.
    const client = PgClient.layer({ url: Redacted.make(url), maxConnections: 1 })
    return client
  })
  const test = (name: string, effect: Effect.Effect<void, unknown, Layer.Success<Effect.Success<typeof connect>>>) =>
    it.live(name, () => Effect.scoped(Effect.flatMap(connect, (layer) => Effect.provide(effect, layer))), 240_000)

  for (const statistics of ["none", "stale", "fresh"] as const)
    test(
      `a worker takes the oldest payouts that are due at a cost that does not depend on how many wait or have ended (statistics: ${statistics})`,
      Effect.gen(function* () {
        const { sql, store } = yield* prepare
        yield* insert(1_000_000, 1_000_000 + thousands(40), "posted", day)
        if (statistics === "stale") yield* sql`ANALYZE`
        const perTake: Array<number> = []
        for (const [from, to] of [
          [1, thousands(5)],
          [thousands(5) + 1, thousands(20)]
        ] as const) {
          yield* insert(from, to, "accepted", 60_000)
          if (statistics === "fresh") yield* sql`ANALYZE`
          const take = Effect.andThen(store.due.take("worker", 30_000, 20), store.due.untilNext)
          const { pages, scans } = yield* pagesOf(take)
          assert.strictEqual(scans, 0)
          perTake.push(pages)
        }
        const [few = 0, many = 0] = perTake
        assert.isAtMost(many / few, 2)
        const taken = yield* sql`SELECT reference FROM effect_pix_payouts WHERE taken_by IS NOT NULL`
        assert.lengthOf(taken, 40)
      })
    )

  for (const state of ["posted", undefined] as const)
    test(
      `a list of ${state ?? "all"} payouts reads at most one page for four of them, however many there are`,
      Effect.gen(function* () {
        const { store } = yield* prepare
        yield* insert(1, thousands(20), "posted")
        const few = yield* pagesOf(listAll(store, state))
        yield* insert(thousands(20) + 1, thousands(80), "posted")
        const many = yield* pagesOf(listAll(store, state))
        assert.isAtMost(few.pages / thousands(20), 0.25)
        assert.isAtMost(many.pages / thousands(80), 0.25)
        assert.strictEqual(many.scans, 0, "by an index")
        assert.strictEqual(yield* listAll(store, state), thousands(80))
      })
    )

  for (const statistics of ["none", "fresh"] as const)
    test(
      `the requests of old payouts are forgotten by an index, 1,000 at a time, at a cost that does not depend on the other payouts (statistics: ${statistics})`,
      Effect.gen(function* () {
        const { sql, store } = yield* prepare
        yield* insert(1, 2500, "posted", 400 * day)
        yield* insert(2501, 3000, "parked", 400 * day)
        yield* insert(3001, 3000 + thousands(57), "posted")
        if (statistics === "fresh") yield* sql`ANALYZE`
        const { layer, texts } = makeStatements()
        const now = Date.now()
        const data = yield* pagesOf(Effect.provide(store.forget(now - 90 * day), layer))
        assert.strictEqual(data.scans, 0, "the payouts are not read from start to end")
        assert.isAtMost(data.pages / 2500, 50)
        assert.lengthOf(
          texts.filter((text) => text.startsWith("UPDATE")),
          3
        )
        const left = yield* sql<{ readonly state: string; readonly count: number }>`
          SELECT state, COUNT(*)::int AS count FROM effect_pix_payouts WHERE request IS NOT NULL GROUP BY 1 ORDER BY 1`
        assert.deepStrictEqual(left, [
          { state: "parked", count: 500 },
          { state: "posted", count: thousands(57) }
        ])
      })
    )

  live("a refused payout that somebody retries while the old ones are forgotten is not forgotten", function* () {
    const { url } = yield* postgres
    const client = PgClient.layer({ url: Redacted.make(url), maxConnections: 2 })
    yield* Effect.gen(function* () {
      const { sql, store } = yield* prepare
      yield* insert(1, 2, "refused", 400 * day)
      const before = Date.now() - 90 * day
      const begins = Latch.makeUnsafe()
      const forget = Effect.andThen(begins.await, store.forget(before))
      // Begun here, it is outside of the transaction.
      const forgetting = yield* Effect.forkScoped(forget)
      const retrying = sql`UPDATE effect_pix_payouts SET state = 'accepted' WHERE reference = 'invoice-1'`
      // What forgets may wait for the transaction of the person.
      const isWaiting = sql`SELECT 1 FROM pg_stat_activity
          WHERE datname = current_database() AND wait_event_type = 'Lock'`
      yield* sql.withTransaction(
        Effect.gen(function* () {
          yield* retrying
          yield* begins.open
          while (forgetting.pollUnsafe() === undefined && (yield* isWaiting).length === 0)
            yield* Effect.sleep("10 millis")
        })
      )
      yield* Fiber.join(forgetting)
      const left = yield* sql`SELECT reference, request IS NOT NULL AS "isWhole" FROM effect_pix_payouts ORDER BY 1`
      assert.deepStrictEqual(left, [
        { reference: "invoice-1", isWhole: true },
        { reference: "invoice-2", isWhole: false }
      ])
    }).pipe(Effect.provide(client))
  })
})
