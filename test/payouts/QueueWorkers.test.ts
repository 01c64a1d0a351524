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
import { makeHeld, refused } from "../support/payoutAnswers.ts"
import { gatewayOf, keyOf, payout, type queueOver, settle, worldOf } from "../support/payoutQueue.ts"
import { isInDoubt, paid, requests, shown } from "../support/payoutSeen.ts"
import { noPostgres } from "../support/postgres.ts"

const options: PayoutQueueOptions = { concurrency: 1, drain: "1 millis" }

/** A worker of its own, in a scope that ends it. */
const startWorker = Effect.fnUntraced(function* (given: PayoutQueueOptions = options) {
  const scope = yield* Scope.fork(yield* Effect.scope)
  yield* Scope.provide(Layer.build(Layer.fresh(PayoutQueue.layerWorker(given))), scope)
  return { stop: Scope.close(scope, Exit.void) }
})

interface Holding {
  readonly held: ReadonlyArray<Effect.Success<typeof makeHeld>>
  readonly queue: PayoutQueue["Service"]
  readonly stop: Effect.Effect<void>
}
type Needs = Layer.Success<ReturnType<typeof queueOver>> | Scope.Scope

/** A test of a payout whose requests are held, and not answered, with a worker that has sent the first one. */
const holding = (
  title: string,
  count: number,
  body: (world: Holding) => Generator<Effect.Effect<unknown, unknown, Needs>, unknown, never>,
  given = options
) =>
  effect(title, function* () {
    const held = yield* Effect.replicateEffect(makeHeld, count)
    const world = worldOf({ "invoice-1": held.map(({ held }) => held) })
    yield* Effect.gen(function* () {
      const queue = yield* PayoutQueue
      yield* queue.submit(payout("invoice-1"))
      const { stop } = yield* startWorker(given)
      yield* held[0]!.arrived
      // A worker waits for its requests when the test ends, also where that fails.
      const letGo = Effect.forEach(held, ({ answer }) => answer(refused))
      yield* Effect.ensuring(
        Effect.gen(() => body({ held, queue, stop })),
        letGo
      )
    }).pipe(Effect.provide(Layer.provideMerge(Layer.orDie(PayoutQueue.layerClient(options)), world)))
  })

describe("a worker that is suspended for longer than its lease", () => {
  for (const [where, order, met, states, moved] of [
    ["it is refused first", [0, 1], [refused, Fault.none], ["unknown", "posted"], 1],
    ["the other one posts", [1, 0], [Fault.none, refused], ["posted", "posted"], 1],
    ["both are refused", [1, 0], [refused, refused], ["unknown", "unknown"], 0]
  ] as const)
    holding(
      `has another one send its payout, which is ${states.join(" and then ")} where ${where}`,
      2,
      function* ({ held }) {
        yield* (yield* SqlClient.SqlClient)`UPDATE effect_pix_payouts SET due_at = 0, taken_by = 'another'`
        yield* startWorker()
        yield* held[1]!.arrived
        for (const [turn, worker] of order.entries()) {
          yield* held[worker]!.answer(met[turn])
          yield* settle
          assert.strictEqual(yield* shown(), states[turn])
        }
        assert.deepStrictEqual([yield* requests(), yield* paid], [2, moved])
      }
    )
})

describe("a worker with a request under way", () => {
  holding(
    "that is stopped waits for the answer as long as its drain, and stores it",
    1,
    function* ({ held, stop }) {
      const stopping = yield* Effect.forkChild(stop)
      yield* TestClock.adjust("9 seconds")
      yield* held[0]!.answer()
      yield* Fiber.join(stopping)
      assert.strictEqual(yield* shown(), "posted")
    },
    { ...options, drain: "10 seconds" }
  )

  holding(
    "that ends leaves the mark: no refusal to the next worker proves that nothing moved",
    2,
    function* ({ held, stop }) {
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
    }
  )

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
