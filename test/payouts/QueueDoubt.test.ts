import { assert, describe } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer, Option, Queue, Scope } from "effect"
import type { Payments } from "effect-pix"
import { NodeSqlite } from "effect-pix/node"
import { PayoutQueue, type PayoutQueueOptions } from "effect-pix/payouts"
import { SqlClient } from "effect/sql"
import { AuthError } from "../../src/contract/PaymentsError.ts"
import { answered, makeService, record, refusal } from "../support/answering.ts"
import { payout } from "../support/payoutQueue.ts"
import { layerPostgres } from "../support/database.ts"
import { noPostgres } from "../support/postgres.ts"
import { failures } from "../support/payouts.ts"
import { live } from "../support/effect.ts"

const options: PayoutQueueOptions = { lease: "1 second", poll: "20 millis", concurrency: 1, drain: "1 millis" }

/** A worker of its own, on the database in the context. */
const startWorker = (service: Layer.Layer<Payments>, given = options) =>
  Layer.build(Layer.fresh(Layer.provide(PayoutQueue.layerWorker(given), service)))

/** Ends the lease of a payout, so that another worker takes it. */
const expireLease = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`UPDATE effect_pix_payouts SET due_at = 0, taken_by = 'another'`
)

const sqlite = Layer.provideMerge(PayoutQueue.layerClient(options), NodeSqlite.layer({ filename: ":memory:" }))
const stateOf = (reference: string) =>
  Effect.gen(function* () {
    const queue = yield* PayoutQueue
    return Option.getOrThrow(yield* queue.status(reference)).state
  })

/** A payout whose first request is under way. */
const underWay = Effect.gen(function* () {
  const queue = yield* PayoutQueue
  const { calls, layer } = yield* makeService
  yield* queue.submit(payout("invoice-1"))
  yield* startWorker(layer)
  return { calls, first: yield* Queue.take(calls), queue }
})

describe("a key that the service says was used for something else", () => {
  live("is an IdempotencyConflict: its payout is unknown, and a person has to find out why", sqlite, function* () {
    const { first, queue } = yield* underWay
    yield* Deferred.fail(first.answer, failures.conflict(first.key))
    const status = yield* Effect.repeat(Effect.map(queue.status("invoice-1"), Option.getOrThrow), {
      until: ({ state }) => state === "unknown"
    })
    assert.strictEqual(status.state === "unknown" && status.error._tag, "IdempotencyConflict")
  })
})

describe("a worker that is suspended for longer than its lease", () => {
  const overtaken = Effect.gen(function* () {
    const { calls, first: slow } = yield* underWay
    const second = yield* makeService
    yield* expireLease
    yield* startWorker(second.layer)
    const quick = yield* Queue.take(second.calls)
    assert.strictEqual(slow.earlier, undefined, "the first request is sent without `earlier`")
    assert.strictEqual(quick.earlier, "Unknown", "the second request is sent with the mark")
    assert.strictEqual(slow.key, quick.key)
    return { calls, slow, quick }
  })

  live(
    "does not refuse a payout that another worker is sending: its refusal is about its own request alone",
    sqlite,
    function* () {
      const queue = yield* PayoutQueue
      const { quick, slow } = yield* overtaken
      yield* Deferred.fail(slow.answer, refusal(slow.key))
      yield* Effect.repeat(stateOf("invoice-1"), { until: (state) => state === "unknown" })
      yield* Deferred.succeed(quick.answer, record(quick.key))
      assert.strictEqual((yield* queue.await("invoice-1")).state, "posted")
    }
  )

  live("does not change a payout that the other worker has posted", sqlite, function* () {
    const queue = yield* PayoutQueue
    const { calls, quick, slow } = yield* overtaken
    yield* Deferred.succeed(quick.answer, record(quick.key))
    yield* queue.await("invoice-1")
    yield* Deferred.fail(slow.answer, refusal(slow.key))
    // Each worker sends one payout at a time, and gets no more answers. So the first worker has stored its answer when it
    // sends one of these.
    yield* queue.submitMany([payout("invoice-2"), payout("invoice-3")])
    yield* Queue.take(calls)
    assert.strictEqual(yield* stateOf("invoice-1"), "posted")
  })

  live("posts a payout whose request by the other worker was refused", sqlite, function* () {
    const { quick, slow } = yield* overtaken
    yield* Deferred.fail(quick.answer, refusal(quick.key))
    yield* Effect.repeat(stateOf("invoice-1"), { until: (state) => state === "unknown" })
    yield* Deferred.succeed(slow.answer, record(slow.key))
    yield* Effect.repeat(stateOf("invoice-1"), { until: (state) => state === "posted" })
  })
})

describe("a worker that is stopped", () => {
  const patient = { ...options, drain: "2 minutes" } as const
  const postgres = Layer.provideMerge(PayoutQueue.layerClient(options), Layer.orDie(layerPostgres))

  /** A worker whose request is under way, and an effect that stops the worker and waits for that request. */
  const stopping = Effect.gen(function* () {
    const queue = yield* PayoutQueue
    yield* queue.submit(payout("invoice-1"))
    const { calls, layer } = yield* makeService
    const scope = yield* Scope.make()
    yield* startWorker(layer, patient).pipe(Effect.provideService(Scope.Scope, scope))
    const call = yield* Queue.take(calls)
    return { call, stop: Effect.forkChild(Scope.close(scope, Exit.void), { startImmediately: true }) }
  })

  live("waits for the answer of a request that is under way, and stores it", sqlite, function* () {
    const { call, stop } = yield* stopping
    const stopped = yield* stop
    yield* Deferred.succeed(call.answer, record(call.key))
    yield* Fiber.join(stopped)
    assert.strictEqual(yield* stateOf("invoice-1"), "posted")
  })

  live.skipIf(noPostgres() !== undefined)(
    "does not interrupt the statement that stores an answer",
    postgres,
    function* () {
      const sql = yield* SqlClient.SqlClient
      const { call, stop } = yield* stopping
      const [locked, release] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const holding = yield* Effect.forkChild(
        sql.withTransaction(
          sql`SELECT 1 FROM effect_pix_payouts FOR UPDATE`.pipe(
            Effect.andThen(Deferred.succeed(locked, undefined)),
            Effect.andThen(Deferred.await(release))
          )
        )
      )
      yield* Deferred.await(locked)
      yield* Deferred.succeed(call.answer, record(call.key))
      const writing = sql`SELECT 1 FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%INSERT INTO "effect_pix_payout_history"%'`
      yield* Effect.repeat(writing, { until: (rows) => rows.length === 1 })
      const stopped = yield* stop
      for (const rows of yield* Effect.replicateEffect(writing, 50)) assert.strictEqual(rows.length, 1)
      yield* Deferred.succeed(release, undefined)
      yield* Fiber.join(holding)
      yield* Fiber.join(stopped)
      assert.strictEqual(yield* stateOf("invoice-1"), "posted")
    }
  )
})

describe("a process that ends with a request under way", () => {
  live(
    "leaves the mark, and the next worker says that an earlier request may have been executed",
    sqlite,
    function* () {
      const queue = yield* PayoutQueue
      yield* queue.submit(payout("invoice-1"))
      const { calls, layer } = yield* makeService
      yield* Effect.scoped(Effect.andThen(startWorker(layer), Queue.take(calls)))
      const left = Option.getOrThrow(yield* queue.status("invoice-1"))
      assert.isTrue(left._tag === "Accepted" && left.mayHaveLeftAt !== undefined)
      yield* startWorker(layer)
      const again = yield* Queue.take(calls)
      assert.strictEqual(again.earlier, "Unknown")
      yield* Deferred.fail(again.answer, refusal(again.key))
      yield* Effect.repeat(stateOf("invoice-1"), { until: (state) => state === "unknown" })
    }
  )

  live("a parked payout whose request was executed after all is posted", sqlite, function* () {
    const { first, queue } = yield* underWay
    yield* queue.park("invoice-1")
    yield* Deferred.succeed(first.answer, record(first.key))
    yield* Effect.repeat(stateOf("invoice-1"), { until: (state) => state === "posted" })
  })

  live(
    "a clean refusal of the credentials clears the mark, and the next request is a first one again",
    sqlite,
    function* () {
      const { calls, first, queue } = yield* underWay
      yield* Deferred.fail(first.answer, new AuthError({ ...answered(first.key), status: 401 }))
      const second = yield* Queue.take(calls)
      assert.strictEqual(second.earlier, undefined)
      yield* Deferred.fail(second.answer, refusal(second.key))
      assert.strictEqual((yield* queue.await("invoice-1")).state, "refused")
    }
  )
})
