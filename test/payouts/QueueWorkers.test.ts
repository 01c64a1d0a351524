/**
 * Workers that are stopped, suspended, overtaken or interrupted while a request of a payout is under way: no payout is paid twice, and
 * none is refused that may have been paid.
 */
import { assert, describe } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer, Scope } from "effect"
import { PayoutQueue, type PayoutQueueOptions } from "effect-pix/payouts"
import { Fault, Sandbox } from "effect-pix/sandbox"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { layerPostgres } from "../support/database.ts"
import { effect, live } from "../support/effect.ts"
import { interruptible } from "../support/interruptible.ts"
import { payout, settle } from "../support/payoutQueue.ts"
import {
  gatewayOf,
  isInDoubt,
  keyOf,
  makeHeld,
  paid,
  refused,
  requests,
  type Script,
  shown,
  worldOf
} from "../support/payouts.ts"
import { noPostgres } from "../support/postgres.ts"

const options: PayoutQueueOptions = { concurrency: 1, drain: "1 millis" }

/** A worker of its own, in a scope that ends it. */
const startWorker = Effect.fnUntraced(function* (given: PayoutQueueOptions = options) {
  const scope = yield* Scope.fork(yield* Effect.scope)
  yield* Scope.provide(Layer.build(Layer.fresh(PayoutQueue.layerWorker(given))), scope)
  return { stop: Scope.close(scope, Exit.void) }
})

/** A process that sends nothing, in a world whose first requests for the payout are held, and not answered. */
const holding = (count: number) =>
  Effect.gen(function* () {
    const held = yield* Effect.replicateEffect(makeHeld, count)
    const script: Script = { "invoice-1": held.map(({ held }) => held) }
    const context = yield* Layer.build(
      Layer.provideMerge(Layer.orDie(PayoutQueue.layerClient(options)), worldOf(script))
    )
    return { held, context }
  })

describe("a worker that is suspended for longer than its lease", () => {
  const rows = [
    [
      "is refused first",
      [
        [0, refused, "unknown"],
        [1, Fault.none, "posted"]
      ],
      1
    ],
    [
      "is refused when the payout is posted",
      [
        [1, Fault.none, "posted"],
        [0, refused, "posted"]
      ],
      1
    ],
    [
      "records it when the other one was refused",
      [
        [1, refused, "unknown"],
        [0, Fault.none, "posted"]
      ],
      1
    ],
    [
      "is refused when the other one was too",
      [
        [1, refused, "unknown"],
        [0, refused, "unknown"]
      ],
      0
    ]
  ] as const
  effect.each(rows)(
    "has another worker send its payout: where it %s, nothing is lost or told too early",
    function* ([, answers, moved]) {
      const { context, held } = yield* holding(2)
      yield* Effect.gen(function* () {
        const queue = yield* PayoutQueue
        const sql = yield* SqlClient.SqlClient
        yield* queue.submit(payout("invoice-1"))
        yield* startWorker()
        yield* held[0]!.arrived
        yield* sql`UPDATE effect_pix_payouts SET due_at = 0, taken_by = 'another'`
        yield* startWorker()
        yield* held[1]!.arrived
        for (const [worker, met, state] of answers) {
          yield* held[worker]!.answer(met)
          yield* settle
          assert.strictEqual(yield* shown(), state)
        }
        assert.deepStrictEqual([yield* requests(), yield* paid], [2, moved])
      }).pipe(Effect.provideContext(context))
    }
  )
})

describe("a worker with a request under way", () => {
  effect("that is stopped waits for the answer as long as its drain, and stores it", function* () {
    const { context, held } = yield* holding(1)
    yield* Effect.gen(function* () {
      yield* (yield* PayoutQueue).submit(payout("invoice-1"))
      const { stop } = yield* startWorker({ ...options, drain: "10 seconds" })
      yield* held[0]!.arrived
      const stopping = yield* Effect.forkChild(stop)
      yield* TestClock.adjust("9 seconds")
      yield* held[0]!.answer()
      yield* Fiber.join(stopping)
      assert.strictEqual(yield* shown(), "posted")
    }).pipe(Effect.provideContext(context))
  })

  effect("that ends leaves the mark, so that no refusal to the next worker proves that nothing moved", function* () {
    const { context, held } = yield* holding(2)
    yield* Effect.gen(function* () {
      yield* (yield* PayoutQueue).submit(payout("invoice-1"))
      const { stop } = yield* startWorker()
      yield* held[0]!.arrived
      const stopping = yield* Effect.forkChild(stop)
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(stopping)
      assert.deepStrictEqual([yield* shown(), yield* isInDoubt()], ["accepted", true])
      yield* startWorker()
      yield* held[1]!.answer(refused)
      yield* settle
      assert.strictEqual(yield* shown(), "unknown")
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual([yield* shown(), yield* paid], ["posted", 1])
    }).pipe(Effect.provideContext(context))
  })

  effect("of a payout that is parked meanwhile posts it, where it was executed after all", function* () {
    const { context, held } = yield* holding(1)
    yield* Effect.gen(function* () {
      const queue = yield* PayoutQueue
      yield* queue.submit(payout("invoice-1"))
      yield* startWorker()
      yield* held[0]!.arrived
      yield* queue.park("invoice-1")
      yield* held[0]!.answer()
      yield* settle
      assert.deepStrictEqual([yield* shown(), yield* isInDoubt()], ["posted", false])
    }).pipe(Effect.provideContext(context))
  })

  effect("whose statement interrupts itself after the answer stores it again: one payment, one key", function* () {
    const { client, interrupted, interruptNext } = yield* interruptible
    const { held, ...first } = yield* makeHeld
    const world = Layer.merge(gatewayOf({ "invoice-1": [held] }), Layer.succeed(SqlClient.SqlClient, client))
    yield* Effect.gen(function* () {
      yield* (yield* PayoutQueue).submit(payout("invoice-1"))
      yield* first.arrived
      yield* interruptNext
      yield* first.answer()
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual([yield* shown(), interrupted(), yield* paid], ["posted", 1, 1])
      const keys = (yield* (yield* Sandbox).requests).map(({ idempotencyKey }) => idempotencyKey)
      assert.deepStrictEqual(new Set(keys), new Set([keyOf("invoice-1")]))
    }).pipe(Effect.provide(Layer.provideMerge(PayoutQueue.layer(), world)))
  })

  live.skipIf(noPostgres() !== undefined)(
    "that is stopped does not interrupt the statement that stores the answer, on PostgreSQL",
    Layer.orDie(layerPostgres),
    function* () {
      const { arrived, answer, held } = yield* makeHeld
      const sql = yield* SqlClient.SqlClient
      yield* Effect.gen(function* () {
        yield* (yield* PayoutQueue).submit(payout("invoice-1"))
        const { stop } = yield* startWorker({ ...options, drain: "2 minutes" })
        yield* arrived
        const [locked, release] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        const lock = Effect.andThen(
          sql`SELECT 1 FROM effect_pix_payouts FOR UPDATE`,
          Deferred.succeed(locked, undefined)
        )
        const locking = yield* Effect.forkChild(sql.withTransaction(Effect.andThen(lock, Deferred.await(release))))
        yield* Deferred.await(locked)
        yield* answer()
        const writing = sql`SELECT 1 FROM pg_stat_activity
          WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%INSERT INTO "effect_pix_payout_history"%'`
        yield* Effect.repeat(writing, { until: (rows) => rows.length === 1 })
        const stopping = yield* Effect.forkChild(stop, { startImmediately: true })
        for (const rows of yield* Effect.replicateEffect(writing, 50)) assert.lengthOf(rows, 1)
        yield* Deferred.succeed(release, undefined)
        yield* Fiber.join(locking)
        yield* Fiber.join(stopping)
        assert.strictEqual(yield* shown(), "posted")
      }).pipe(Effect.provide(Layer.provideMerge(PayoutQueue.layerClient(options), gatewayOf({ "invoice-1": [held] }))))
    }
  )
})
