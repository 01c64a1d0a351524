/**
 * The statements of the queue while there is nothing to do, and while the database cannot be reached.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Logger, Queue, Schedule } from "effect"
import { PaymentsPolicy } from "effect-pix"
import { NodeSqlite } from "effect-pix/node"
import { PayoutQueue, type PayoutQueueOptions } from "effect-pix/payouts"
import { Reactivity } from "effect/reactivity"
import { SqlClient, Statement } from "effect/sql"
import { AuthenticationError, ConnectionError, SqlError, UnknownError } from "effect/sql/SqlError"
import { TestClock } from "effect/testing"
import { gateway, payout, payouts } from "../support/payoutQueue.ts"
import { makeStatements } from "../support/statements.ts"
import { recordingTracer } from "../support/spans.ts"
import { effect } from "../support/effect.ts"

const sqlite = Layer.fresh(NodeSqlite.layer({ filename: ":memory:" }))

const queueOn = <E, R>(client: Layer.Layer<SqlClient.SqlClient, E, R>, options: PayoutQueueOptions = {}) =>
  Layer.provideMerge(
    PayoutQueue.layer(options),
    Layer.mergeAll(client, gateway, PaymentsPolicy.layer(PaymentsPolicy.once))
  )

/** Every line that is logged, in order. */
const makeLog = Effect.gen(function* () {
  const lines = yield* Queue.unbounded<string>()
  const logger = Logger.make(({ message }) => void Queue.offerUnsafe(lines, String(message)))
  return { next: Queue.take(lines), layer: Logger.layer([logger]) }
})

describe("PayoutQueue", () => {
  it.effect("for any number of awaited payouts, the database is read at most once in each poll interval", () => {
    const { layer, texts } = makeStatements()
    const countOf = (waiting: number) =>
      Effect.gen(function* () {
        const queue = yield* PayoutQueue
        const sql = yield* SqlClient.SqlClient
        yield* queue.setPaused(true)
        // Any write may concern an awaited payout.
        const write = sql`UPDATE effect_pix_payout_accounts SET probes = probes`
        yield* Effect.forkScoped(Effect.repeat(write, Schedule.spaced("100 millis")))
        const all = payouts(waiting)
        yield* queue.submitMany(all)
        const fibers = yield* Effect.forEach(all, ({ reference }) => Effect.forkChild(queue.await(reference)))
        yield* TestClock.adjust("2 seconds")
        texts.length = 0
        yield* TestClock.adjust("10 seconds")
        const asked = texts.filter((text) => text.includes("effect_pix_payouts") && text.includes("json_each")).length
        const others = texts.filter((text) => text.includes("AND idempotency_key =")).length
        yield* queue.setPaused(false)
        yield* TestClock.adjust("5 seconds")
        const states = (yield* Effect.forEach(fibers, (fiber) => Fiber.join(fiber))).map(({ state }) => state)
        assert.deepStrictEqual(new Set(states), new Set(["posted"]))
        return [asked, others]
      }).pipe(Effect.scoped, Effect.provide(Layer.provide(queueOn(sqlite), layer)))
    return Effect.gen(function* () {
      assert.deepStrictEqual(yield* countOf(1), [10, 0])
      assert.deepStrictEqual(yield* countOf(100), [10, 0])
    })
  })

  effect(
    "await ends within a poll interval after another process changed or deleted the payout",
    queueOn(sqlite),
    function* () {
      const queue = yield* PayoutQueue
      const sql = yield* SqlClient.SqlClient
      yield* queue.setPaused(true)
      yield* queue.submitMany(payouts(3))
      const wait = (reference: string) => Effect.forkChild(Effect.flip(Effect.flip(queue.await(reference))))
      const [first, second, third] = [
        yield* wait("invoice-1"),
        yield* Effect.forkChild(Effect.flip(queue.await("invoice-2"))),
        yield* wait("invoice-3")
      ]
      yield* TestClock.adjust("1 second")
      yield* sql`UPDATE effect_pix_payouts SET state = 'posted', version = version + 1 WHERE reference = 'invoice-1'`
      yield* sql`DELETE FROM effect_pix_payouts WHERE reference = 'invoice-2'`
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* Fiber.join(first)).state, "posted")
      assert.strictEqual((yield* Fiber.join(second))._tag, "PayoutNotFound")
      assert.isUndefined(third.pollUnsafe())
    }
  )

  effect("a paused process makes no span, and a payout that is paid makes spans", function* () {
    const { layer, spans } = recordingTracer()
    yield* Effect.gen(function* () {
      const queue = yield* PayoutQueue
      yield* queue.setPaused(true)
      yield* queue.submit(payout("invoice-1"))
      yield* Effect.forkScoped(queue.await("invoice-1"))
      yield* TestClock.adjust("10 seconds")
      spans.length = 0
      // Longer than the interval of the hourly work.
      yield* TestClock.adjust("61 minutes")
      assert.deepStrictEqual(spans, [])
      yield* queue.setPaused(false)
      yield* TestClock.adjust("5 seconds")
      assert.include(
        spans.map(({ name }) => name),
        "Payments.requestWithdrawal"
      )
    }).pipe(Effect.scoped, Effect.provide(Layer.provideMerge(queueOn(sqlite), layer)))
  })
})

/** A database that fails with each of the reasons, one after another, and then never answers. */
const failing = (reasons: Array<SqlError["reason"]>) => {
  const execute = () =>
    Effect.suspend(() => {
      const reason = reasons.shift()
      return reason === undefined ? Effect.never : Effect.fail(new SqlError({ reason }))
    })
  return Layer.effect(
    SqlClient.SqlClient,
    SqlClient.make({
      acquirer: Effect.succeed({
        execute,
        executeUnprepared: execute,
        executeRaw: execute,
        executeValues: execute,
        executeValuesUnprepared: execute,
        executeStream: () => {
          throw new Error("nothing is read as a stream here")
        }
      }),
      compiler: Statement.makeCompilerSqlite(),
      driver: "test",
      spanAttributes: []
    })
  ).pipe(Layer.provide(Reactivity.layer))
}

describe("a worker that starts while the database cannot be reached", () => {
  const props = { message: "query", operation: "query" }
  const sentence = "The database cannot be reached. This is retried until it can."

  effect("waits and logs it, whether there is no server or the server is starting", function* () {
    const log = yield* makeLog
    const reasons = [
      new ConnectionError({ ...props, cause: new Error("ECONNREFUSED") }),
      new UnknownError({ ...props, cause: Object.assign(new Error("starting up"), { code: "57P03" }) })
    ]
    const build = Layer.build(queueOn(failing(reasons))).pipe(Effect.scoped, Effect.provide(log.layer))
    const fiber = yield* Effect.forkScoped(build)
    assert.strictEqual(yield* log.next, sentence)
    yield* TestClock.adjust("1 second")
    assert.strictEqual(yield* log.next, sentence)
    yield* TestClock.adjust("2 seconds")
    assert.lengthOf(reasons, 0)
    assert.isUndefined(fiber.pollUnsafe())
  })

  effect("does not wait for a database that refuses its credentials", function* () {
    const reasons = [new AuthenticationError({ ...props, cause: new Error("no") })]
    const error = yield* Effect.flip(Effect.scoped(Layer.build(queueOn(failing(reasons)))))
    assert.include(error.message, "AuthenticationError")
  })
})
