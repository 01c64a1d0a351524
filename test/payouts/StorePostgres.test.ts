/**
 * What is asked of PostgreSQL alone: pages that are read as the tables grow, locks, its own clock, and what it refuses.
 */
import { assert } from "@effect/vitest"
import { Array as Arr, Deferred, Effect, Fiber, Latch, Layer, Result, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { database } from "../../src/durable/Database.ts"
import { dueColumns, makeDue } from "../../src/durable/Due.ts"
import { clientOf, layerPostgres, onPostgres as test, postgres } from "../support/database.ts"
import { exportedBy } from "../support/exported.ts"
import { payout, payouts, startClient, startSheets } from "../support/payoutQueue.ts"
import { storeOf } from "../support/payoutStore.ts"
import { runs } from "../support/seed.ts"
import { line } from "../support/sheets.ts"
import { makeStatements } from "../support/statements.ts"

const day = 86_400_000

/** A number of payouts in thousands; in `npm test` a tenth of it. */
const thousands = (count: number) => count * runs(100, 1000)

/** A new database with few connections: with one, the statistics are read after the statements that they count. */
const connect = (maxConnections: number) =>
  Layer.unwrap(Effect.map(postgres, ({ url }) => clientOf(url, { maxConnections })))

/** Tables whose statistics are updated only when a test does so. */
const prepare = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.scoped(startClient())
  yield* sql`ALTER TABLE effect_pix_payouts SET (autovacuum_enabled = FALSE)`
  const store = yield* storeOf()
  /** Payouts in a state, `from` to `to`, due since they were submitted. Keys are hashes, so payouts of one time are apart in the index. */
  const insert = (from: number, to: number, state: string, age = 0) =>
    sql.unsafe(`INSERT INTO effect_pix_payouts
      (idempotency_key, reference, amount, request, state, due_at, submitted_at, updated_at)
      SELECT 'payout_' || md5(n::text), 'invoice-' || n, 1000, '{"amount":1000,"currency":"BRL"}', '${state}', at, at, at
      FROM generate_series(${from}, ${to}) AS n, LATERAL (SELECT ${Date.now() - age} + n / 3 AS at) AS times`)
  const read = Effect.gen(function* () {
    yield* sql`SELECT pg_stat_force_next_flush()`
    yield* sql`SELECT 1`
    const [row] = yield* sql<{ readonly pages: number; readonly scans: number }>`
      SELECT SUM(heap_blks_hit + heap_blks_read + idx_blks_hit + idx_blks_read)::float8 AS pages,
        (SELECT SUM(seq_scan)::float8 FROM pg_stat_user_tables WHERE relname = 'effect_pix_payouts') AS scans
      FROM pg_statio_user_tables WHERE relname = 'effect_pix_payouts'`
    return row ?? { pages: 0, scans: 0 }
  })
  /** The pages of the table and of its indexes that an effect reads. */
  const pagesOf = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
    const before = yield* read
    yield* effect
    const after = yield* read
    assert.strictEqual(after.scans, before.scans, "the payouts are not read from start to end")
    return after.pages - before.pages
  })
  return { insert, pagesOf, sql, store }
})

for (const statistics of ["none", "stale", "fresh"])
  test(
    `payouts are taken and their leases renewed at a cost that no other payout adds to (${statistics} statistics)`,
    connect(1),
    function* () {
      const { insert, pagesOf, sql, store } = yield* prepare
      yield* insert(1_000_000, 1_000_000 + thousands(40), "posted", day)
      if (statistics === "stale") yield* sql`ANALYZE`
      const perTake: Array<number> = []
      const perRenewal: Array<number> = []
      for (const to of [thousands(5), thousands(20)]) {
        yield* insert(perTake.length * thousands(5) + 1, to, "accepted", 60_000)
        if (statistics === "fresh") yield* sql`ANALYZE`
        const renewing: Array<number> = []
        const taking = Effect.gen(function* () {
          const taken = yield* store.due.take("worker", 30_000, 20)
          const held = taken.map(({ key }) => ({ key, taker: "worker" }))
          renewing.push(yield* pagesOf(store.due.renew(held, 30_000)))
          yield* store.due.untilNext
        })
        perTake.push(yield* pagesOf(taking))
        perRenewal.push(...renewing)
      }
      for (const [few = 0, many = 0] of [perTake, perRenewal]) assert.isAtMost(many / few, 2)
      assert.lengthOf(yield* sql`SELECT 1 FROM effect_pix_payouts WHERE taken_by IS NOT NULL`, 40)
    }
  )

for (const state of ["posted", "accepted", undefined] as const)
  test(`a list of ${state ?? "all"} payouts reads at most a page for four of them`, connect(1), function* () {
    const { insert, pagesOf, sql } = yield* prepare
    // Statistics of an empty table.
    yield* sql`ANALYZE`
    const queue = yield* startClient({ poll: "1 hour" })
    const all = Stream.runCount(queue.list({ ...(state && { state }) }))
    yield* insert(1, thousands(20), state ?? "posted")
    assert.isAtMost((yield* pagesOf(all)) / thousands(20), 0.25)
    assert.strictEqual(yield* all, thousands(20))
  })

test("what waits and what is to be checked is counted and listed at the cost of these alone", connect(1), function* () {
  const { insert, pagesOf, sql, store } = yield* prepare
  // Statistics of an empty table.
  yield* sql`ANALYZE`
  yield* insert(1, 20, "parked")
  yield* insert(21, 40, "paid")
  yield* sql`UPDATE effect_pix_payouts SET contradicted = TRUE WHERE state = 'paid'`
  const toCheck = store.list({ toCheck: true }, { at: -1, key: "" }, 200)
  const pages: Array<readonly [number, number]> = []
  for (const count of [1, 2]) {
    yield* insert(count * 1_000_000, count * 1_000_000 + thousands(20), "paid", day)
    pages.push([yield* pagesOf(store.counts(0, 0)), yield* pagesOf(toCheck)])
  }
  const [few, many] = pages
  for (const index of [0, 1]) assert.isAtMost((many?.[index] ?? 0) / (few?.[index] ?? 0), 1.2)
  assert.lengthOf(yield* toCheck, 20)
})

for (const statistics of ["none", "fresh"])
  test(`old requests are forgotten by an index, 1,000 at a time (${statistics} statistics)`, connect(1), function* () {
    const { insert, pagesOf, sql, store } = yield* prepare
    yield* insert(1, 2500, "posted", 400 * day)
    yield* insert(2501, 3000, "parked", 400 * day)
    yield* insert(3001, 3000 + thousands(57), "posted")
    if (statistics === "fresh") yield* sql`ANALYZE`
    const { layer, texts } = makeStatements()
    assert.isAtMost((yield* pagesOf(Effect.provide(store.forget(Date.now() - 90 * day), layer))) / 2500, 50)
    assert.lengthOf(
      texts.filter((text) => text.startsWith("UPDATE")),
      3
    )
    const [left] = yield* sql`SELECT COUNT(*)::int AS count FROM effect_pix_payouts WHERE request IS NOT NULL`
    assert.strictEqual(left?.["count"], 500 + thousands(57))
  })

test(`a payout that somebody retries while old ones are forgotten is not forgotten`, connect(3), function* () {
  const { insert, sql, store } = yield* prepare
  yield* insert(1, 2, "refused", 400 * day)
  const begins = Latch.makeUnsafe()
  // Begun here, it is outside of the transaction.
  const forgetting = yield* Effect.forkScoped(Effect.andThen(begins.await, store.forget(Date.now() - 90 * day)))
  yield* sql.withTransaction(
    Effect.gen(function* () {
      yield* sql`UPDATE effect_pix_payouts SET state = 'accepted' WHERE reference = 'invoice-1'`
      yield* begins.open
      // It leaves out what is locked, so it ends before the transaction does.
      yield* Fiber.join(forgetting)
    })
  )
  const left = yield* sql`SELECT reference FROM effect_pix_payouts WHERE request IS NOT NULL`
  assert.deepStrictEqual(left, [{ reference: "invoice-1" }])
})

test(
  `a payout that somebody changes is left out by workers until the commit, which ends an await`,
  connect(4),
  function* () {
    const { sql, store } = yield* prepare
    const queue = yield* startClient({ poll: "1 hour" })
    yield* queue.submitMany(payouts(2))
    const waiting = yield* Effect.forkChild(queue.await("invoice-1"), { startImmediately: true })
    const parked = yield* Deferred.make<void>()
    const looks = yield* Effect.forkChild(
      Effect.andThen(
        Deferred.await(parked),
        Effect.all([store.due.take("worker", 30_000, 20), Effect.replicateEffect(queue.status("invoice-1"), 20)])
      )
    )
    yield* sql.withTransaction(
      queue
        .park("invoice-1")
        .pipe(Effect.andThen(Deferred.succeed(parked, undefined)), Effect.andThen(Fiber.join(looks)))
    )
    assert.strictEqual((yield* Fiber.join(waiting)).state, "parked")
    const others = yield* sql`SELECT reference FROM effect_pix_payouts WHERE taken_by = 'worker'`
    assert.deepStrictEqual(others, [{ reference: "invoice-2" }])
  }
)

test(
  "a sheet is accepted where the database ended its transaction as one of two that wait for each other",
  layerPostgres,
  function* () {
    const { sql } = yield* prepare
    const { run } = yield* startSheets()
    // What nextval() has counted is not rolled back.
    yield* sql`CREATE SEQUENCE inserts`
    yield* sql.unsafe(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF nextval('inserts') <= 3 THEN RAISE EXCEPTION 'deadlock detected' USING ERRCODE = '40P01'; END IF;
    RETURN NEW;
  END $$`)
    yield* sql`CREATE TRIGGER refuse BEFORE INSERT ON effect_pix_payouts FOR EACH STATEMENT EXECUTE FUNCTION refuse()`
    const { open } = yield* run(payouts(2), { waitFor: 0, allowAlike: true })
    assert.lengthOf(open, 2)
  }
)

/** A new database whose sessions have a time zone, and whose clock is at a moment. */
const postgresAt = (moment: string, zone: string) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { url } = yield* postgres
      yield* Effect.flatMap(SqlClient.SqlClient, (sql) =>
        sql.unsafe(
          `CREATE FUNCTION clock_timestamp() RETURNS timestamptz LANGUAGE sql AS $$ SELECT timestamptz '${moment}' $$`
        )
      ).pipe(Effect.provide(Layer.fresh(clientOf(url))))
      // Functions of the schema `public` come before those of PostgreSQL.
      const options = encodeURIComponent(`-c TimeZone=${zone} -c search_path=public,pg_catalog`)
      return clientOf(`${url}?options=${options}`)
    })
  )

for (const [moment, zone, counted] of [
  ["2026-03-01T02:59:59Z", "Etc/GMT-14", "2026-02-28"],
  ["2026-03-01T03:00:00Z", "Etc/GMT+12", "2026-03-01"]
] as const) {
  test(
    `the cap's day is São Paulo's by the server's clock: ${moment} is on ${counted}`,
    postgresAt(moment, zone),
    function* () {
      const { sql, store } = yield* prepare
      const queue = yield* startClient()
      const { idempotencyKey } = yield* queue.submit(payout("invoice-1"))
      const row = yield* Effect.flatMap(store.get(idempotencyKey), Effect.fromNullishOr)
      const marked = yield* store.update(row, { ...row, sends: 1, version: 2 }, "{}", { cap: 1000 })
      assert.strictEqual(typeof marked === "object" && marked.countedDay, counted)
      assert.deepStrictEqual(yield* sql`SELECT day, spent::int FROM effect_pix_payout_days`, [
        { day: counted, spent: 1000 }
      ])
    }
  )
}

test("90 submits fail by name where other code holds a pool of 2, and each is accepted once after that", function* () {
  const { url } = yield* postgres
  const program = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const queue = yield* startClient()
    const isHeld = yield* Latch.make()
    const hold = sql.withTransaction(Effect.andThen(isHeld.open, Effect.never))
    const holders = yield* Effect.replicateEffect(Effect.forkChild(hold), 2)
    yield* isHeld.await
    const items = Arr.makeBy(90, (n) => payout(`invoice-${n}`))
    const submitAll = Effect.forEach(items, (item) => Effect.result(queue.submit(item)), { concurrency: "unbounded" })
    const submitting = yield* Effect.forkChild(submitAll, { startImmediately: true })
    // The first of them may have waited for the second holder.
    yield* Effect.repeat(TestClock.adjust("1 second"), { times: 9 })
    const failed = (yield* Fiber.join(submitting)).flatMap((one) => (Result.isFailure(one) ? [one.failure] : []))
    assert.lengthOf(failed, 90)
    for (const error of failed)
      assert.deepInclude(error, { _tag: "DatabaseError", operation: "submit", reason: "NoConnection" })
    yield* Fiber.interruptAll(holders)
    assert.deepStrictEqual(yield* sql`SELECT 1 FROM effect_pix_payouts`, [])
    yield* submitAll
    yield* submitAll
    assert.lengthOf(yield* sql`SELECT 1 FROM effect_pix_payouts`, 90)
  })
  const { lines, metrics } = yield* exportedBy(
    Effect.provide(Effect.scoped(program), [clientOf(url, { maxConnections: 2 }), TestClock.layer()])
  )
  const said = lines.filter(({ message }) =>
    message.startsWith("The database fails: no connection was free for 8 seconds")
  )
  assert.lengthOf(said, 1)
  const counted = metrics.filter(({ name }) => name === "effect_pix_database_failures_total")
  assert.deepStrictEqual(
    counted.map(({ attributes }) => attributes["error.type"]),
    ["NoConnection"]
  )
  assert.isAtLeast(Number(counted[0]?.value), 90)
})

for (const isolation of ["read committed", "repeatable read"])
  test(`of two sheets that look alike at the same moment one is accepted, with ${isolation}`, function* () {
    const { url } = yield* postgres
    const options = encodeURIComponent(`-c default_transaction_isolation=${isolation.replace(" ", "\\ ")}`)
    yield* Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const [compares, commits] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      // The first one's transaction is open while it compares its lines.
      const open = (text: string) =>
        Deferred.succeed(compares, undefined).pipe(Effect.andThen(Deferred.await(commits)), Effect.as(text))
      const comparing = yield* startSheets({ seal: { seal: Effect.succeed, open } })
      const { queue, run } = yield* startSheets()
      const first = yield* Effect.forkChild(comparing.run([payout("a"), line("other")], { waitFor: 0 }))
      yield* Deferred.await(compares)
      const second = yield* Effect.forkChild(Effect.flip(run([payout("b")], { waitFor: 0 })), {
        startImmediately: true
      })
      // It waits for the first, which nobody else sees yet.
      const waiting = sql`SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
      yield* Effect.repeat(waiting, { until: (rows) => rows.length === 1 || second.pollUnsafe() !== undefined })
      yield* queue.submit(payout("of another amount", 2000))
      yield* Deferred.succeed(commits, undefined)
      yield* Fiber.join(first)
      assert.strictEqual((yield* Fiber.join(second))._tag, "PayoutsNotAccepted")
    }).pipe(Effect.scoped, Effect.provide(clientOf(`${url}?options=${options}`)))
  })

test(
  "a lease is renewed of a row that a number names, which the driver gives as a bigint",
  layerPostgres,
  function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql.unsafe(`CREATE TABLE jobs (id BIGINT PRIMARY KEY, ${dueColumns("0")})`)
    yield* sql`INSERT INTO jobs (id) VALUES (7)`
    const scope = sql`TRUE`
    const columns = sql`tries AS "tries"`
    const jobs = { table: "jobs", key: "id", keyType: "BIGINT", scope, waits: scope, columns, longest: 60_000 } as const
    const { renew, take } = makeDue(yield* database, jobs)
    const [row] = yield* take("one", 0, 1)
    yield* renew([{ key: row?.key ?? "", taker: "one" }], 60_000)
    assert.isEmpty(yield* take("two", 0, 1))
  }
)
