import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Layer, Logger, Option, Queue, Schedule } from "effect"
import { type Payments, PaymentsPolicy } from "effect-pix"
import { NodeSqlite } from "effect-pix/node"
import { PayoutQueue, type PayoutQueueOptions } from "effect-pix/payouts"
import { Fault, Sandbox } from "effect-pix/sandbox"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { OutcomeUnknown } from "../../src/contract/PaymentsError.ts"
import { answered, makeService, record, refusal } from "../support/answering.ts"
import { layerMemory, memory, payout, payouts, settle } from "../support/payoutQueue.ts"
import { effect, live } from "../support/effect.ts"

const statusOf = (reference: string) =>
  Effect.flatMap(PayoutQueue, (queue) => Effect.map(queue.status(reference), Option.getOrThrow))

const lost = (key: string) => new OutcomeUnknown({ ...answered(key), outcome: "Unknown", reason: "Timeout" })

type Service = Effect.Success<typeof makeService>

/** A queue over a service that answers when the test says so. */
const steering = <A, E>(
  options: PayoutQueueOptions,
  use: (queue: PayoutQueue["Service"], calls: Service["calls"]) => Effect.Effect<A, E, PayoutQueue>
) =>
  Effect.flatMap(makeService, ({ calls, end, layer }) =>
    Effect.flatMap(PayoutQueue, (queue) => use(queue, calls)).pipe(
      Effect.ensuring(end),
      Effect.provide(PayoutQueue.layer(options).pipe(Layer.provide(layer), Layer.provide(memory)))
    )
  )

describe("a parked payout", () => {
  effect(
    "is resumed and not retried, and is an operator's from when a person parks it, whatever parked it before",
    layerMemory({ maxAmount: 4999 }),
    function* () {
      const queue = yield* PayoutQueue
      yield* queue.submit(payout("invoice-1", 5000))
      yield* queue.await("invoice-1")
      const refused = yield* Effect.flip(queue.retry("invoice-1"))
      assert.include(refused.message, "Resume it")
      const before = yield* statusOf("invoice-1")
      assert.isTrue(before._tag === "Parked" && before.because === "OverMaxAmount")
      yield* queue.park("invoice-1", { by: "ana", note: "a backup was restored" })
      const parked = yield* statusOf("invoice-1")
      assert.isTrue(parked._tag === "Parked" && parked.because === "Operator")
      assert.deepInclude((yield* queue.history("invoice-1")).at(-1), {
        _tag: "Parked",
        because: "Operator",
        by: "ana"
      })
    }
  )

  it.effect("is unknown when it is resumed after a lost answer, and its next request has `earlier`", () =>
    steering({}, (queue, calls) =>
      Effect.gen(function* () {
        yield* queue.submit(payout("invoice-1"))
        const first = yield* Queue.take(calls)
        yield* Deferred.fail(first.answer, lost(first.key))
        yield* TestClock.adjust("1 millis")
        yield* queue.park("invoice-1")
        assert.strictEqual((yield* queue.resume("invoice-1")).state, "unknown")
        yield* TestClock.adjust("1 second")
        const second = yield* Queue.take(calls)
        assert.deepStrictEqual([second.key, second.earlier], [first.key, "Unknown"])
      })
    )
  )

  it.effect(
    "is sent past the horizon as a first request, under its key, when an operator says that nothing was executed",
    () =>
      steering({ horizon: "1 hour" }, (queue, calls) =>
        Effect.gen(function* () {
          yield* queue.submit(payout("invoice-1"))
          const first = yield* Queue.take(calls)
          yield* queue.park("invoice-1")
          yield* TestClock.adjust("2 hours")
          yield* Deferred.fail(first.answer, lost(first.key))
          yield* Effect.flip(queue.resume("invoice-1"))
          const resumed = yield* queue.resume("invoice-1", { notExecuted: true })
          assert.isTrue(resumed._tag === "Accepted" && resumed.mayHaveLeftAt === undefined)
          const second = yield* Queue.take(calls)
          assert.deepStrictEqual([second.key, second.earlier], [first.key, undefined])
        })
      )
  )

  it.effect("stays parked when its request is refused later, and shows no more that money may have moved", () =>
    steering({}, (queue, calls) =>
      Effect.gen(function* () {
        yield* queue.submit(payout("invoice-1"))
        const { answer, key } = yield* Queue.take(calls)
        yield* queue.park("invoice-1")
        yield* Deferred.fail(answer, refusal(key))
        yield* TestClock.adjust("1 hour")
        const parked = yield* statusOf("invoice-1")
        assert.isTrue(parked._tag === "Parked" && parked.mayHaveLeftAt === undefined)
        assert.isTrue(parked._tag === "Parked" && parked.error?._tag === "RequestRejected")
      })
    )
  )
})

describe("a payout that its owner settled while its request was under way", () => {
  for (const as of ["settled", "failed"] as const) {
    const errors: Array<unknown> = []
    const logger = Logger.make(({ logLevel, message }) => {
      if (logLevel === "Error") errors.push(...(Array.isArray(message) ? message : [message]))
    })
    it.effect(`stays ${as} whatever the service answers, and has the id of the recorded withdrawal`, () =>
      steering({}, (queue, calls) =>
        Effect.gen(function* () {
          yield* queue.submitMany(payouts(3))
          const all = yield* Effect.replicateEffect(Queue.take(calls), 3)
          for (const { reference } of payouts(3)) {
            yield* queue.park(reference)
            yield* queue.settle(reference, { as })
          }
          const [accepted, refused, unknown] = all
          yield* Deferred.succeed(accepted!.answer, record(accepted!.key))
          yield* Deferred.fail(refused!.answer, refusal(refused!.key))
          yield* Deferred.fail(unknown!.answer, lost(unknown!.key))
          yield* TestClock.adjust("1 hour")
          const states = yield* Effect.forEach(payouts(3), ({ reference }) => statusOf(reference))
          assert.deepStrictEqual(
            states.map((status) => [status.state, "withdrawalId" in status ? status.withdrawalId : undefined]),
            [
              [as, record(accepted!.key).id],
              [as, undefined],
              [as, undefined]
            ]
          )
          assert.strictEqual(yield* Queue.size(calls), 0)
          assert.deepStrictEqual(
            errors,
            as === "failed"
              ? [
                  `The service recorded a payout that somebody settled as failed (reference invoice-1, R$ 10,00, idempotency key ${accepted!.key}). MONEY MAY HAVE MOVED.`
                ]
              : []
          )
        })
      ).pipe(Effect.provide(Logger.layer([logger])))
    )
  }

  it.effect("as failed during a repeated request has the id of the recorded withdrawal", () =>
    steering({}, (queue, calls) =>
      Effect.gen(function* () {
        yield* queue.submit(payout("invoice-1"))
        const first = yield* Queue.take(calls)
        yield* Deferred.fail(first.answer, lost(first.key))
        yield* TestClock.adjust("10 seconds")
        const second = yield* Queue.take(calls)
        const settled = yield* queue.settle("invoice-1", { as: "failed" })
        assert.isTrue(settled._tag === "Failed" && settled.withdrawalId === undefined)
        yield* TestClock.adjust("1 millis")
        yield* Deferred.succeed(second.answer, record(second.key))
        yield* TestClock.adjust("1 minute")
        const failed = yield* statusOf("invoice-1")
        assert.isTrue(failed._tag === "Failed" && failed.withdrawalId === record(second.key).id)
      })
    )
  )

  it.effect("is not settled while it is accepted: it is parked first", () =>
    steering({}, (queue, calls) =>
      Effect.gen(function* () {
        yield* queue.submit(payout("invoice-1"))
        const { answer, key } = yield* Queue.take(calls)
        for (const as of ["settled", "failed"] as const) {
          const refused = yield* Effect.flip(queue.settle("invoice-1", { as }))
          assert.strictEqual(refused._tag, "PayoutStateConflict")
          assert.include(refused.message, "park it and then settle it")
        }
        const accepted = yield* statusOf("invoice-1")
        assert.isTrue(accepted._tag === "Accepted" && accepted.mayHaveLeftAt !== undefined)
        yield* Deferred.succeed(answer, record(key))
        assert.strictEqual((yield* queue.await("invoice-1")).state, "posted")
      })
    )
  )
})

describe("a payout that is retried", () => {
  it.effect("while it waits has one request under way", () =>
    steering({}, (queue, calls) =>
      Effect.gen(function* () {
        yield* queue.setPaused(true)
        yield* TestClock.adjust("5 seconds")
        yield* queue.submit(payout("invoice-1"))
        yield* Effect.replicateEffect(queue.retry("invoice-1"), 3)
        yield* queue.park("invoice-1")
        yield* queue.resume("invoice-1")
        yield* queue.setPaused(false)
        yield* TestClock.adjust("10 minutes")
        assert.strictEqual(yield* Queue.size(calls), 1)
        const { answer, key } = yield* Queue.take(calls)
        yield* Deferred.succeed(answer, record(key))
        assert.strictEqual((yield* queue.await("invoice-1")).state, "posted")
        yield* TestClock.adjust("10 minutes")
        assert.strictEqual(yield* Queue.size(calls), 0)
      })
    )
  )

  effect(
    "is not sent again before the time that the service named then",
    Layer.provideMerge(layerMemory(), PaymentsPolicy.layer(PaymentsPolicy.once)),
    function* () {
      const queue = yield* PayoutQueue
      const sandbox = yield* Sandbox
      const requests = Effect.map(sandbox.requests, ({ length }) => length)
      yield* sandbox.fault("requestWithdrawal", Fault.resetAfter)
      yield* sandbox.fault("requestWithdrawal", Fault.retryAfter("10 minutes"))
      yield* queue.submit(payout("invoice-1"))
      yield* settle
      assert.strictEqual(yield* requests, 1)
      yield* queue.retry("invoice-1")
      yield* TestClock.adjust("9 minutes")
      assert.strictEqual(yield* requests, 2)
      yield* TestClock.adjust("2 minutes")
      assert.strictEqual(yield* requests, 3)
      assert.strictEqual((yield* queue.await("invoice-1")).state, "posted")
    }
  )
})

describe("the cap of a day", () => {
  it.effect("does not grow when payouts of the day before are refused", () =>
    steering({ dailyCap: 2000, concurrency: 10, poll: "5 minutes", lease: "1 hour" }, (queue, calls) =>
      Effect.gen(function* () {
        // The test's clock begins at 21:00 in São Paulo.
        yield* queue.submitMany(payouts(2))
        const yesterday = yield* Effect.replicateEffect(Queue.take(calls), 2)
        yield* TestClock.adjust("4 hours")
        yield* queue.submitMany(payouts(5).slice(2))
        yield* Effect.replicateEffect(Queue.take(calls), 2)
        for (const { answer, key } of yesterday) yield* Deferred.fail(answer, refusal(key))
        yield* TestClock.adjust("4 hours")
        assert.strictEqual(yield* Queue.size(calls), 0)
        yield* TestClock.adjust("20 hours")
        assert.strictEqual(yield* Queue.size(calls), 1)
      })
    )
  )

  it.effect("counts a payout once when an operator resumes it as not executed", () =>
    steering({ dailyCap: 2000, horizon: "5 minutes" }, (queue, calls) =>
      Effect.gen(function* () {
        yield* queue.submit(payout("invoice-1"))
        const { answer, key } = yield* Queue.take(calls)
        yield* Deferred.fail(answer, lost(key))
        yield* settle
        yield* queue.park("invoice-1")
        yield* TestClock.adjust("6 minutes")
        yield* queue.resume("invoice-1", { notExecuted: true })
        yield* Queue.take(calls)
        yield* queue.submit(payout("invoice-2"))
        yield* TestClock.adjust("1 second")
        assert.strictEqual(yield* Queue.size(calls), 1)
      })
    )
  )
})

describe("a reference that is no text", () => {
  effect("is not found", layerMemory(), function* () {
    const queue = yield* PayoutQueue
    // A caller without types may give anything.
    const reference = 42 as unknown as string
    assert.isTrue(Option.isNone(yield* queue.status(reference)))
    for (const ask of [queue.await, queue.retry, queue.park, queue.resume, queue.settle]) {
      assert.strictEqual((yield* Effect.flip(ask(reference)))._tag, "PayoutNotFound")
    }
  })
})

const sqlite = (service: Layer.Layer<Payments>, options: PayoutQueueOptions = {}) =>
  PayoutQueue.layer({ poll: "20 millis", drain: "1 millis", concurrency: 1, ...options }).pipe(
    Layer.provideMerge(Layer.merge(NodeSqlite.layer({ filename: ":memory:" }), service))
  )

describe("a database that another program changes", () => {
  const onSqlite = <A, E>(
    use: (calls: Service["calls"], sql: SqlClient.SqlClient) => Effect.Effect<A, E, PayoutQueue>
  ) =>
    Effect.flatMap(makeService, ({ calls, layer }) =>
      Effect.flatMap(SqlClient.SqlClient, (sql) => use(calls, sql)).pipe(Effect.provide(sqlite(layer)))
    )

  it.live("a payout whose row is deleted under its request does not stop the others", () =>
    onSqlite((calls, sql) =>
      Effect.gen(function* () {
        const queue = yield* PayoutQueue
        yield* queue.submit(payout("invoice-1"))
        const first = yield* Queue.take(calls)
        yield* sql`DELETE FROM effect_pix_payouts`
        yield* Deferred.succeed(first.answer, record(first.key))
        yield* queue.submit(payout("invoice-2"))
        const second = yield* Queue.take(calls)
        yield* Deferred.succeed(second.answer, record(second.key))
        assert.strictEqual((yield* queue.await("invoice-2")).state, "posted")
      })
    )
  )

  it.live("a row that was parked without a reason is shown as parked by an operator", () =>
    onSqlite((calls, sql) =>
      Effect.gen(function* () {
        const queue = yield* PayoutQueue
        yield* queue.submit(payout("invoice-1"))
        yield* Queue.take(calls)
        yield* sql`UPDATE effect_pix_payouts SET state = 'parked'`
        const parked = yield* statusOf("invoice-1")
        assert.isTrue(parked._tag === "Parked" && parked.because === "Operator")
      })
    )
  )

  it.live("a payout is not accepted where its row cannot be inserted", () =>
    onSqlite((calls, sql) =>
      Effect.gen(function* () {
        const queue = yield* PayoutQueue
        yield* sql`CREATE TRIGGER none BEFORE INSERT ON effect_pix_payouts BEGIN SELECT RAISE(IGNORE); END`
        const unkept = yield* Effect.flip(queue.submit(payout("invoice-1")))
        assert.isTrue(unkept._tag === "DatabaseError" && unkept.isRetryable)
        yield* sql`DROP TRIGGER none`
        yield* sql`CREATE TRIGGER none BEFORE INSERT ON effect_pix_payouts BEGIN SELECT RAISE(ABORT, 'maria'); END`
        const unqueued = yield* Effect.flip(queue.submit(payout("invoice-1")))
        assert.isTrue(unqueued._tag === "DatabaseError" && unqueued.operation === "submit" && !unqueued.isRetryable)
        assert.notInclude(JSON.stringify(unqueued), "maria")
        yield* sql`DROP TRIGGER none`
        assert.isTrue(Option.isNone(yield* queue.status("invoice-1")))
        yield* queue.submit(payout("invoice-1"))
        yield* Queue.take(calls)
      })
    )
  )
})

describe("workers that run one after another on one database", () => {
  const client = Layer.provideMerge(
    PayoutQueue.layerClient({ poll: "20 millis" }),
    NodeSqlite.layer({ filename: ":memory:" })
  )
  const begin = (service: Layer.Layer<Payments>, options: PayoutQueueOptions) =>
    Layer.build(
      Layer.fresh(
        Layer.provide(
          PayoutQueue.layerWorker({ poll: "20 millis", drain: "1 millis", concurrency: 1, ...options }),
          service
        )
      )
    )
  const until = (reference: string, state: string) =>
    Effect.repeat(statusOf(reference), {
      until: (status) => status.state === state,
      schedule: Schedule.spaced("10 millis")
    })
  const limits = Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`SELECT day, spent FROM effect_pix_payout_days ORDER BY day`
  )

  live("a payout that is sent again counts once, also by a worker that has no cap", client, function* () {
    const queue = yield* PayoutQueue
    const { calls, layer } = yield* makeService
    yield* queue.submit(payout("invoice-1"))
    for (const dailyCap of [2000, undefined, 2000]) {
      yield* Effect.gen(function* () {
        yield* begin(layer, { dailyCap })
        const { answer, key } = yield* Queue.take(calls)
        yield* Deferred.fail(answer, lost(key))
        yield* until("invoice-1", "unknown")
      }).pipe(Effect.scoped)
      yield* queue.retry("invoice-1")
    }
    const [row] = yield* limits
    assert.strictEqual(row?.["spent"], 1000)
  })

  live(
    "each day has a sum of its own: a refused payout is subtracted from the day on which it was counted",
    client,
    function* () {
      const queue = yield* PayoutQueue
      const sql = yield* SqlClient.SqlClient
      const { calls, layer } = yield* makeService
      yield* begin(layer, { dailyCap: 1000 })
      yield* queue.submit(payout("invoice-1"))
      const first = yield* Queue.take(calls)
      // It was counted on the day before.
      yield* sql`UPDATE effect_pix_payout_days SET day = '2001-01-01'`
      yield* sql`UPDATE effect_pix_payouts SET counted_day = '2001-01-01', version = version + 1`
      yield* Effect.gen(function* () {
        yield* begin(layer, { dailyCap: 1000 })
        yield* queue.submit(payout("invoice-2"))
        const second = yield* Queue.take(calls)
        yield* Deferred.succeed(second.answer, record(second.key))
        yield* until("invoice-2", "posted")
      }).pipe(Effect.scoped)
      const sums = Effect.map(limits, (rows) => rows.map((row) => row["spent"]))
      assert.deepStrictEqual(yield* sums, [1000, 1000])
      yield* Deferred.fail(first.answer, refusal(first.key))
      yield* until("invoice-1", "refused")
      assert.deepStrictEqual(yield* sums, [0, 1000])
      // The sum of today is as it was.
      yield* queue.submit(payout("invoice-3"))
      yield* Effect.repeat(sql`SELECT 1 FROM effect_pix_payouts WHERE waits_for = 'DailyCap'`, {
        until: (rows) => rows.length === 1,
        schedule: Schedule.spaced("10 millis")
      })
      assert.strictEqual(yield* Queue.size(calls), 0)
    }
  )
})
