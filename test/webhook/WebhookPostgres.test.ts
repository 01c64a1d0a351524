/**
 * What is PostgreSQL's alone: several connections, of which one may be lost, suspended or stricter, and what a statement reads.
 */
import { assert, describe } from "@effect/vitest"
import { PgClient } from "@effect/sql-pg"
import { Context, Duration, Effect, Fiber, Latch, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { database } from "../../src/durable/Database.ts"
import { migrate } from "../../src/durable/Tables.ts"
import { makeStore, webhookTables } from "../../src/webhook/internal/table.ts"
import { paidCharge } from "../support/charges.ts"
import { databases, postgres } from "../support/database.ts"
import { settled, shop, starting } from "../support/databaseWebhooks.ts"
import { live } from "../support/effect.ts"
import { exhaust, world } from "../support/webhooks.ts"

const [, { client, name, skip }] = databases
const test = live.skipIf(skip)
const layer = Layer.mergeAll(world, Layer.fresh(client()))

const pause = Effect.sleep("20 millis")
const settle = settled(pause)

describe(`Webhook.layerSql on ${name}`, () => {
  test("a handler whose connection ends has failed, and is a dead letter in the end", layer, function* () {
    const sql = yield* SqlClient.SqlClient
    const { claim, deadLetters, failures } = yield* starting({
      onPaid: () => sql`SELECT pg_terminate_backend(pg_backend_pid())`
    })
    yield* claim(yield* paidCharge)
    yield* exhaust("failed", 1, pause)
    yield* settle
    assert.deepStrictEqual(
      [...(yield* deadLetters), ...failures].map(({ handler }) => handler),
      ["onPaid", "onPaid", "onPaid"]
    )
    assert.deepStrictEqual(
      failures.map(({ isDead }) => isDead),
      [false, true]
    )
  })

  test("a process that is suspended in a handler delays no other one, and writes nothing later", layer, function* () {
    const { onPaid, ship, shipped, sql } = yield* shop
    const [held = "", ...others] = yield* Effect.replicateEffect(paidCharge, 3)
    const entered = yield* Latch.make()
    const goesOn = yield* Latch.make()
    const limits: Array<unknown> = []
    const first = yield* starting({
      // It cannot be interrupted and takes no other row, like a suspended process.
      concurrency: 1,
      handlerTimeout: "20 seconds",
      onPaid: ({ transaction: { transactionId } }) =>
        Effect.uninterruptible(
          ship(transactionId).pipe(
            Effect.andThen(sql`SHOW idle_in_transaction_session_timeout`),
            Effect.map(([row]) => void limits.push(row?.["idle_in_transaction_session_timeout"])),
            Effect.andThen(Effect.andThen(entered.open, goesOn.await))
          )
        )
    })
    // A failed test ends too.
    yield* Effect.addFinalizer(() => goesOn.open)
    yield* first.claim(held)
    yield* entered.await
    // PostgreSQL ends the transaction of a process that does not resume, after three handlers and 5 seconds.
    assert.deepStrictEqual(limits, ["65s"])
    // Its lease is no longer renewed, and another process takes the transaction.
    yield* sql`UPDATE effect_pix_webhooks SET due_at = 0, taken_by = NULL`
    const second = yield* starting({ onPaid })
    for (const transactionId of others) yield* second.claim(transactionId)
    yield* settle
    yield* second.crash
    yield* goesOn.open
    const next = yield* paidCharge
    yield* first.claim(next)
    yield* Effect.repeat(Effect.andThen(pause, shipped), { until: (ids) => ids.includes(next) })
    assert.deepStrictEqual([...first.failures, ...second.failures], [])
    assert.deepStrictEqual(yield* shipped, [held, next, ...others].toSorted())
  })

  test("a handler locks its row where transactions are repeatable read, and hands out once", layer, function* () {
    const { url } = yield* postgres
    const setting = encodeURIComponent("-c default_transaction_isolation=repeatable\\ read")
    const strict = PgClient.layer({ url: Redacted.make(`${url}?options=${setting}`) })
    const sql = Context.get(yield* Layer.build(Layer.fresh(strict)), SqlClient.SqlClient)
    yield* Effect.gen(function* () {
      assert.deepStrictEqual(yield* sql`SHOW transaction_isolation`, [{ transaction_isolation: "repeatable read" }])
      const { onPaid, shipped } = yield* shop
      const begun = yield* Latch.make()
      const ends = yield* Latch.make()
      const webhook = yield* starting({
        onPaid: (event) => Effect.andThen(onPaid(event), Effect.andThen(begun.open, ends.await))
      })
      const id = yield* paidCharge
      yield* webhook.claim(id)
      yield* begun.await
      const renewed = yield* sql`UPDATE effect_pix_webhooks SET due_at = due_at + 1
        WHERE name IN (SELECT name FROM effect_pix_webhooks FOR UPDATE SKIP LOCKED) RETURNING name`
      assert.deepStrictEqual(renewed, [])
      const delivery = yield* Effect.forkChild(webhook.claim(id))
      const waiting = sql`SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
      yield* Effect.repeat(Effect.andThen(pause, waiting), { until: ({ length }) => length > 0 })
      yield* ends.open
      assert.strictEqual(yield* Fiber.join(delivery), 200)
      yield* settle
      assert.deepStrictEqual([yield* shipped, webhook.failures], [[id], []])
    }).pipe(Effect.provideService(SqlClient.SqlClient, sql))
  })

  for (const statistics of ["no", "fresh"] as const)
    test(
      `an old row is forgotten by an index, at the same cost for any number, with ${statistics} statistics`,
      Layer.empty,
      function* () {
        const { url } = yield* postgres
        // One connection, so that what it counted is read after it was counted.
        const one = PgClient.layer({ url: Redacted.make(url), maxConnections: 1 })
        yield* Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          yield* migrate(webhookTables)
          yield* sql`ALTER TABLE effect_pix_webhooks SET (autovacuum_enabled = FALSE)`
          const store = makeStore(yield* database, "default")
          // Names are random: neighbours in time are none in the index.
          yield* sql`INSERT INTO effect_pix_webhooks (webhook, name, state, value, due_at)
          SELECT 'default', md5(n::text), 'Done', '{}', CASE WHEN n <= 2500 THEN n ELSE ${Date.now()} END
          FROM generate_series(1, 12000) AS n`
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
          assert.isAtMost((after.pages - before.pages) / 2500, 20)
          assert.deepStrictEqual(yield* sql`SELECT COUNT(*)::int AS count FROM effect_pix_webhooks`, [{ count: 9500 }])
        }).pipe(Effect.provide(one))
      }
    )
})
