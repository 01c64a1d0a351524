/**
 * The cap of a day: many workers, and clocks that are wrong.
 */
import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Layer, Redacted, Schedule, Stream } from "effect"
import { PaymentsPolicy } from "effect-pix"
import { PayoutQueue, type PayoutQueueOptions } from "effect-pix/payouts"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { makeBank } from "../support/bank.ts"
import { databases, layerPostgres, postgres } from "../support/database.ts"
import { makeWarnings, memory, payout, payouts } from "../support/payoutQueue.ts"
import { noPostgres } from "../support/postgres.ts"
import { seed, seeded } from "../support/seed.ts"
import { live } from "../support/effect.ts"

const cap = 100_000
const fast = { poll: "50 millis", lease: "5 seconds" } as const

const begin = (bank: ReturnType<typeof makeBank>, options: PayoutQueueOptions) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Layer.build(
      PayoutQueue.layerWorker(options).pipe(
        Layer.provide([
          bank.makeClient("client-a", { companyId: 1 }).layer,
          PaymentsPolicy.layer(PaymentsPolicy.once),
          Layer.succeed(SqlClient.SqlClient, sql)
        ])
      )
    )
  )

/** The sums of days, and those of the rows that count. */
const sums = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const spent = yield* sql<{ readonly day: string; readonly sum: unknown }>`
    SELECT day AS "day", spent AS "sum" FROM effect_pix_payout_days WHERE spent > 0 ORDER BY day`
  const rows = yield* sql<{ readonly day: string; readonly sum: unknown }>`
    SELECT counted_day AS "day", SUM(amount) AS "sum" FROM effect_pix_payouts
    WHERE counted_day IS NOT NULL GROUP BY counted_day ORDER BY counted_day`
  const plain = (found: typeof rows) => found.map(({ day, sum }) => [day, Number(sum)] as const)
  return { spent: plain(spent), rows: plain(rows) }
})

describe("twenty workers", () => {
  for (const { client: database, name, skip } of databases) {
    live.skipIf(skip)(
      `together never pass the cap by a centavo, and their sum is that of the rows, on ${name}`,
      Layer.provideMerge(PayoutQueue.layerClient(), database()),
      function* () {
        const random = seeded(seed)
        const bank = makeBank(() => {
          const drawn = random.next()
          if (drawn < 0.2) return { status: 422, body: { message: "Chave PIX bloqueada" } }
          return drawn < 0.4 ? "lose the answer" : drawn < 0.45 ? "no connection" : undefined
        })
        const queue = yield* PayoutQueue
        const items = payouts(100).map((item, index) => payout(item.reference, 1000 + 37 * index))
        yield* queue.submitMany(items)
        yield* Effect.replicateEffect(begin(bank, { ...fast, dailyCap: cap, concurrency: 3 }), 20, { discard: true })
        const sql = yield* SqlClient.SqlClient
        const open = sql`SELECT 1 FROM effect_pix_payouts
          WHERE state = 'unknown' OR (state = 'accepted' AND (waits_for IS NULL OR waits_for <> 'DailyCap'))`
        yield* Effect.repeat(open, { until: (rows) => rows.length === 0, schedule: Schedule.spaced("100 millis") })
        const { rows, spent } = yield* sums
        assert.deepStrictEqual(spent, rows)
        assert.strictEqual(spent.length, 1)
        const paid = [...bank.paid.values()].reduce((sum, { amount }) => sum + amount, 0)
        assert.strictEqual(paid, spent[0]?.[1])
        assert.isAtMost(paid, cap)
        assert.isAbove(yield* Stream.runCount(queue.list({ state: "accepted" })), 0)
      }
    )
  }
})

describe("a clock that was a day ahead", () => {
  it.effect("leaves today's cap as it is, and the day that lies ahead is named as such", () => {
    const { layer: logger, lines } = makeWarnings()
    const bank = makeBank()
    return Effect.gen(function* () {
      const queue = yield* PayoutQueue
      const now = yield* Clock.currentTimeMillis
      yield* TestClock.adjust("25 hours")
      yield* queue.submit(payout("ahead", 2000))
      assert.strictEqual((yield* queue.await("ahead")).state, "posted")
      yield* TestClock.setTime(now)
      yield* queue.submit(payout("now", 2000))
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual((yield* queue.await("now")).state, "posted")
      // A process measures when it starts, and every minute.
      yield* Layer.build(PayoutQueue.layerClient())
      yield* TestClock.adjust("1 second")
      assert.lengthOf(lines, 1)
      assert.match(
        lines[0] ?? "",
        /^R\$ 20,00 of the account default are counted on 1970-01-\d\d, which lies ahead: a clock/
      )
      assert.strictEqual((yield* sums).spent.length, 2)
    }).pipe(
      Effect.scoped,
      Effect.provide(
        PayoutQueue.layer({ dailyCap: 2000 }).pipe(
          Layer.provide(bank.makeClient("client-a", { companyId: 1 }).layer),
          Layer.provideMerge(Layer.fresh(memory)),
          Layer.provideMerge(logger)
        )
      )
    )
  })

  const absent = noPostgres()
  live.skipIf(absent !== undefined)(
    "of one worker counts on the day of PostgreSQL, and stops nobody",
    Layer.provideMerge(PayoutQueue.layerClient(), Layer.orDie(layerPostgres)),
    function* () {
      const clock = yield* Clock.Clock
      const ahead = 25 * 3_600_000
      const wrong: Clock.Clock = Object.create(clock, {
        currentTimeMillisUnsafe: { value: () => clock.currentTimeMillisUnsafe() + ahead },
        currentTimeMillis: { value: Effect.map(clock.currentTimeMillis, (now) => now + ahead) }
      })
      const bank = makeBank()
      const queue = yield* PayoutQueue
      const sql = yield* SqlClient.SqlClient
      const today = Effect.map(
        sql<{ readonly day: string }>`SELECT to_char(now() AT TIME ZONE 'America/Sao_Paulo', 'YYYY-MM-DD') AS day`,
        ([row]) => row?.day ?? ""
      )
      const before = yield* today
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* Effect.provideService(begin(bank, { ...fast, dailyCap: 3000 }), Clock.Clock, wrong)
          yield* queue.submit(payout("ahead", 2000))
          assert.strictEqual((yield* queue.await("ahead")).state, "posted")
        })
      )
      yield* begin(bank, { ...fast, dailyCap: 3000 })
      yield* queue.submit(payout("now", 1000))
      assert.strictEqual((yield* queue.await("now")).state, "posted")
      const { spent } = yield* sums
      // Midnight in São Paulo may have passed meanwhile.
      assert.includeMembers(
        [before, yield* today],
        spent.map(([day]) => day)
      )
      assert.strictEqual(
        spent.reduce((sum, [, amount]) => sum + amount, 0),
        3000
      )
    }
  )
})

/** A new database whose sessions have a time zone, and whose clock is at a moment. */
const postgresAt = (moment: string, zone: string) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { url } = yield* postgres
      const connect = (settings: string) => PgClient.layer({ url: Redacted.make(`${url}?options=${settings}`) })
      yield* Effect.flatMap(SqlClient.SqlClient, (sql) =>
        sql.unsafe(
          `CREATE FUNCTION clock_timestamp() RETURNS timestamptz LANGUAGE sql AS $$ SELECT timestamptz '${moment}' $$`
        )
      ).pipe(Effect.provide(Layer.fresh(connect(""))))
      // Functions of the schema `public` come before those of PostgreSQL.
      return connect(encodeURIComponent(`-c TimeZone=${zone} -c search_path=public,pg_catalog`))
    })
  ).pipe(Layer.orDie)

describe("the day of the cap on PostgreSQL", () => {
  const absent = noPostgres()
  for (const [moment, zone, day] of [
    ["2026-03-01T02:59:59Z", "Etc/GMT-14", "2026-02-28"],
    ["2026-03-01T03:00:00Z", "Etc/GMT+12", "2026-03-01"]
  ] as const) {
    live.skipIf(absent !== undefined)(
      `is that of São Paulo at ${moment}, in a session of the zone ${zone}`,
      Layer.provideMerge(PayoutQueue.layerClient(), postgresAt(moment, zone)),
      function* () {
        const queue = yield* PayoutQueue
        yield* begin(makeBank(), { ...fast, dailyCap: 3000 })
        yield* queue.submit(payout("invoice-1", 2000))
        assert.strictEqual((yield* queue.await("invoice-1")).state, "posted")
        assert.deepStrictEqual((yield* sums).spent, [[day, 2000]])
      }
    )
  }
})
