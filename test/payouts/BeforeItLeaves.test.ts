/**
 * What a payout has before it leaves: the time before which it is not sent; and that what never left is cancelled.
 */
import { assert, describe } from "@effect/vitest"
import { DateTime, Effect, Layer, Metric } from "effect"
import type { PayoutQueueOptions } from "effect-pix/payouts"
import { Fault } from "effect-pix/sandbox"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { onPostgres, postgres, clientOf } from "../support/database.ts"
import { lastValues, pointOf } from "../support/exported.ts"
import { meetAll } from "../support/payoutAnswers.ts"
import { gatewayOnce, payout, queued, settle, startWorker } from "../support/payoutQueue.ts"
import { paid, requests, sentAt, shown, stateOf } from "../support/payoutSeen.ts"
import { insertPayout } from "../support/submitSql.ts"
import { wordsOf } from "../support/payoutStore.ts"

const by = "ana"
const minute = 60_000
const hour = 60 * minute
const at = (millis: number) => DateTime.makeUnsafe(millis)
/** A poll that does not slow days of the test's clock down. */
const slow: PayoutQueueOptions = { poll: "5 minutes", lease: "10 minutes" }

const ownMetrics = Layer.sync(Metric.MetricRegistry, () => new Map())
const gauges = Effect.map(Metric.snapshot, (metrics) =>
  Object.entries(lastValues(metrics.filter(({ type }) => type === "Gauge").map(pointOf), /^effect_pix_payout_queue_/))
    .filter(([label, value]) => value !== 0 && /delayed |waiting|oldest/.test(label) && !/posted/.test(label))
    .map(([label, value]) => `${label.replace("effect_pix_payout_queue_", "")} ${value}`)
    .toSorted()
)

describe("a payout that is not to be sent before a time", () => {
  queued(
    "waits for it however long that is, is wanted since then, and is counted apart",
    { ...slow, horizon: "10 minutes", under: ownMetrics },
    function* ({ queue, sql }) {
      const later = { ...payout("later"), notBefore: at(30 * minute) }
      const stored = yield* queue.submit(later)
      assert.deepInclude(stored, { state: "accepted", because: "NotBefore", notBefore: at(30 * minute) })
      // The first one stays, and is no part of what is compared.
      const again = yield* queue.submit({ ...later, notBefore: at(1) })
      assert.deepStrictEqual([again.notBefore, again.updatedAt], [stored.notBefore, stored.updatedAt])
      yield* queue.submit({ ...payout("past"), notBefore: at(0) })
      // Longer than any other wait of a payout.
      const days = yield* queue.submit({ ...payout("days"), notBefore: at(72 * hour) })
      assert.include(wordsOf(days), "será pago sozinho em 03/01/1970")
      yield* TestClock.adjust("29 minutes")
      assert.deepStrictEqual(yield* gauges, ["delayed NotBefore default {payout} 2"])
      assert.strictEqual(yield* paid, 1)
      yield* TestClock.adjust("2 minutes")
      assert.deepStrictEqual(yield* sentAt("later"), [30 * 60])
      // Nobody took it meanwhile.
      const [row] = yield* sql`SELECT tries, version, due_at AS due FROM effect_pix_payouts WHERE reference = 'days'`
      assert.deepStrictEqual({ ...row }, { tries: 0, version: 1, due: 72 * hour })
    }
  )

  queued("is given back by who takes it too early, and is in time when it is sent", slow, function* ({ queue, sql }) {
    const notBefore = at(30 * minute)
    yield* insertPayout({ ...payout("inserted"), notBefore })
    yield* queue.submit({ ...payout("early"), notBefore })
    yield* queue.submit({ ...payout("other program's") })
    // As a clock that went back, and as a program that knows the column alone.
    yield* sql`UPDATE effect_pix_payouts SET due_at = 0, wanted_at = 0, because = NULL, not_before = ${30 * minute}`
    yield* TestClock.adjust("29 minutes")
    assert.strictEqual(yield* requests(), 0)
    assert.deepStrictEqual(
      (yield* sql`SELECT version, wanted_at AS wanted, because AS waits FROM effect_pix_payouts`).map((row) => ({
        ...row
      })),
      Array.from({ length: 3 }, () => ({ version: 2, wanted: 30 * minute, waits: "NotBefore" }))
    )
    yield* TestClock.adjust("2 minutes")
    assert.strictEqual(yield* paid, 3)
  })

  queued("is not sent after its horizon, which begins then", { ...slow, horizon: "10 minutes" }, function* ({ queue }) {
    yield* queue.submit({ ...payout("invoice-1"), notBefore: at(30 * minute) })
    yield* queue.setPaused(true, { by })
    yield* meetAll(Fault.answer(308))
    yield* TestClock.adjust("40 minutes")
    yield* queue.setPaused(false, { by })
    yield* TestClock.adjust("9 minutes")
    assert.strictEqual(yield* shown(), "accepted Setup")
    yield* TestClock.adjust("3 minutes")
    assert.strictEqual(yield* shown(), "parked WaitedTooLong")
  })

  queued("is a time from 1970 on", slow, function* ({ queue }) {
    for (const time of [new Date(), "2026-11-21", 7, Number.NaN, DateTime.makeUnsafe(-1)]) {
      // A caller without types may give anything.
      const notBefore = time as DateTime.DateTime
      assert.deepInclude(yield* Effect.flip(queue.submit({ ...payout("b"), notBefore })), {
        issues: [{ path: "notBefore", problem: "must be a DateTime from 1970 on" }]
      })
    }
  })

  onPostgres("waits for it by the clock of a PostgreSQL", gatewayOnce, function* () {
    const { url } = yield* postgres
    yield* Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const queue = yield* startWorker({ poll: "20 millis" })
      const [row] = yield* sql<{ readonly now: number }>`SELECT CAST(EXTRACT(EPOCH FROM now()) * 1000 AS FLOAT) AS now`
      assert(row !== undefined)
      const { now } = row
      const notBefore = at(Math.ceil(now) + 400)
      const days = at(now + 100 * hour)
      yield* queue.submitMany([
        { ...payout("soon"), notBefore },
        { ...payout("later"), notBefore: days }
      ])
      yield* insertPayout({ ...payout("inserted"), notBefore })
      for (const reference of ["soon", "inserted"]) {
        assert.strictEqual((yield* queue.await(reference)).state, "posted")
        const [, marked] = yield* queue.history(reference)
        assert.isAtLeast(marked!.at.epochMilliseconds, notBefore.epochMilliseconds)
      }
      yield* sql`UPDATE effect_pix_payouts SET due_at = 0 WHERE reference = 'later'`
      yield* Effect.repeat(
        sql`SELECT 1 FROM effect_pix_payouts WHERE reference = 'later' AND version = 2 AND due_at > 1`,
        {
          until: ({ length }) => length === 1
        }
      )
    }).pipe(Effect.provide(Layer.fresh(clientOf(url))))
  })
})

queued(
  "what is cancelled has room in the cap of its day for another one",
  { dailyCap: 1500, ...slow },
  function* ({ queue, sql }) {
    yield* sql`INSERT INTO effect_pix_payout_days (account, day, spent) VALUES ('default', '1969-12-31', 1000)`
    yield* queue.submit({ ...payout("a"), notBefore: at(hour) })
    // As of one whose every request was refused, and that is counted still.
    yield* sql`UPDATE effect_pix_payouts SET sends = 1, counted_day = '1969-12-31'`
    yield* queue.submit(payout("b"))
    yield* settle
    assert.strictEqual(yield* stateOf(queue, "b"), "accepted DailyCap")
    yield* queue.cancel("a", { by })
    yield* queue.retry("b", { by })
    yield* settle
    assert.deepStrictEqual([yield* stateOf(queue, "a"), yield* stateOf(queue, "b")], ["cancelled", "posted"])
  }
)
