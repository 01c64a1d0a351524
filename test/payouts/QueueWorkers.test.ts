/**
 * Workers that are stopped, suspended, overtaken or interrupted while a request of a payout is under way: no payout is paid twice, and
 * none is refused that may have been paid. Processes that die are in test/simulation.
 */
import { assert, describe } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer, Scope } from "effect"
import { PayoutQueue, type PayoutQueueOptions } from "effect-pix/payouts"
import { Fault } from "effect-pix/sandbox"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { layerPostgres, onPostgres } from "../support/database.ts"
import { effect } from "../support/effect.ts"
import { interruptible } from "../support/interruptible.ts"
import { makeHeld, refused } from "../support/payoutAnswers.ts"
import { memory, payout, settle, worldOf } from "../support/payoutQueue.ts"
import { isInDoubt, paid, requests, shown } from "../support/payoutSeen.ts"

/** A payout whose requests are held, and not answered, on a database; and the workers that send it. */
const holding = Effect.fnUntraced(function* (
  count: number,
  drain: PayoutQueueOptions["drain"],
  client: Layer.Layer<SqlClient.SqlClient, unknown> = memory
) {
  const held = yield* Effect.replicateEffect(makeHeld, count)
  const options = { concurrency: 1, drain }
  const world = Layer.merge(worldOf({ "invoice-1": held.map(({ held }) => held) }), client)
  const context = yield* Layer.build(Layer.provideMerge(PayoutQueue.layerClient(), world))
  yield* Effect.provideContext(
    PayoutQueue.use((queue) => queue.submit(payout("invoice-1"))),
    context
  )
  /** Starts a worker, which sends the next request. */
  const send = (index: number) =>
    Effect.gen(function* () {
      const scope = yield* Scope.fork(yield* Effect.scope)
      yield* Scope.provide(Layer.build(Layer.fresh(PayoutQueue.layerWorker(options))), scope)
      yield* held[index]!.arrived
      // A worker waits for its requests when the test ends, also where that fails.
      yield* Effect.addFinalizer(() => held[index]!.answer(refused))
      return { answer: held[index]!.answer, stop: Scope.close(scope, Exit.void) }
    }).pipe(Effect.provideContext(context))
  return { context, send }
})

describe("a worker that is suspended for longer than its lease", () => {
  for (const [where, order, met, states, moved] of [
    ["it is refused first", [0, 1], [refused, Fault.none], ["unknown", "posted"], 1],
    ["the other one posts", [1, 0], [Fault.none, refused], ["posted", "posted"], 1],
    ["both are refused", [1, 0], [refused, refused], ["unknown", "unknown"], 0]
  ] as const)
    effect(`has another one send its payout, which is ${states.join(" and then ")} where ${where}`, function* () {
      const { context, send } = yield* holding(2, "1 millis")
      yield* Effect.gen(function* () {
        const first = yield* send(0)
        const sql = yield* SqlClient.SqlClient
        yield* sql`UPDATE effect_pix_payouts SET due_at = 0, taken_by = 'another'`
        // As long after the first request as its deadline.
        yield* sql`UPDATE effect_pix_payout_accounts SET next_at = 0`
        const workers = [first, yield* send(1)]
        for (const [turn, worker] of order.entries()) {
          yield* workers[worker]!.answer(met[turn])
          yield* settle
          assert.strictEqual(yield* shown(), states[turn])
        }
        assert.deepStrictEqual([yield* requests(), yield* paid], [2, moved])
      }).pipe(Effect.provideContext(context))
    })
})

describe("a worker with a request under way", () => {
  effect.each([
    ["in time, and stores it", true, "posted"],
    ["for as long as its drain, and leaves it in doubt", false, "unknown"]
  ] as const)("that is stopped waits for the answer %s", function* ([, isInTime, state]) {
    const { context, send } = yield* holding(1, "10 seconds")
    const { answer, stop } = yield* send(0)
    const stopping = yield* Effect.forkChild(stop)
    yield* TestClock.adjust("9 seconds")
    assert.isUndefined(stopping.pollUnsafe())
    yield* isInTime ? answer() : TestClock.adjust("1 second")
    yield* settle
    assert.isDefined(stopping.pollUnsafe())
    const seen = yield* Effect.provideContext(Effect.all([shown(), isInDoubt()]), context)
    assert.deepStrictEqual(seen, [state, !isInTime])
  })

  effect("whose statement interrupts itself after the answer stores it again: one payment", memory, function* () {
    const { client, interrupted, interruptNext } = yield* interruptible
    const { context, send } = yield* holding(1, "1 millis", Layer.succeed(SqlClient.SqlClient, client))
    const { answer } = yield* send(0)
    yield* interruptNext
    yield* answer()
    yield* TestClock.adjust("1 minute")
    const seen = Effect.all([shown(), Effect.sync(interrupted), paid])
    assert.deepStrictEqual(yield* Effect.provideContext(seen, context), ["posted", 1, 1])
  })

  onPostgres("that is stopped does not interrupt the statement that stores the answer, on PostgreSQL", function* () {
    const { context, send } = yield* holding(1, "2 minutes", layerPostgres)
    yield* Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { answer, stop } = yield* send(0)
      const [locked, release] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const lock = Effect.andThen(sql`SELECT 1 FROM effect_pix_payouts FOR UPDATE`, Deferred.succeed(locked, undefined))
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
    }).pipe(Effect.provideContext(context))
  })
})
