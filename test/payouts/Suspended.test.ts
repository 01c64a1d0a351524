import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Layer, Option, Redacted, Schedule } from "effect"
import { FetchHttpClient, type HttpClient } from "effect/http"
import { Credentials, IdempotencyKeyGen, Payments, PaymentsPolicy } from "effect-pix"
import { NodePayments } from "effect-pix/node"
import { PayoutQueue, type PayoutQueueOptions } from "effect-pix/payouts"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { Agent, buildConnector } from "undici"
import * as FetchTransport from "../support/FetchTransport.ts"
import { json, makeGateway } from "../support/Gateway.ts"
import { item, keyOf } from "../support/payouts.ts"
import { platformClock, testClock } from "../support/suspendFor.ts"
import { record } from "../support/operations.ts"
import { apiKey, clientId, credentials, lostConnection, respond, scripted } from "../support/Wire.ts"
import { memory } from "../support/payoutQueue.ts"
import { effect } from "../support/effect.ts"

const hours = 3_600_000

/** The transports that see the moment in which a request leaves; `suspendFor` is called when they have a connection. */
const transports: Record<
  string,
  (suspendFor: () => void) => Effect.Effect<Layer.Layer<HttpClient.HttpClient, unknown>>
> = {
  NodePayments: (suspendFor) =>
    Effect.sync(() => {
      const connect = buildConnector({})
      const dispatcher = new Agent({
        connect: (options, callback) =>
          connect(options, (...connected) => {
            suspendFor()
            callback(...connected)
          })
      })
      return NodePayments.layerHttpClient({ dispatcher })
    }),
  "the fetch transport": (suspendFor) =>
    Effect.sync(() => {
      const fetch: typeof globalThis.fetch = (...given) => {
        suspendFor()
        return globalThis.fetch(...given)
      }
      return Layer.provide(FetchTransport.layer, Layer.succeed(FetchHttpClient.Fetch, fetch))
    })
}

const once = PaymentsPolicy.layer(PaymentsPolicy.once)

const statusOf = Effect.flatMap(PayoutQueue, (queue) => Effect.map(queue.status("invoice-1"), Option.getOrThrow))

/** Why the payout is parked, and whether a request of it may have left. */
const parkedOf = Effect.map(statusOf, (status) =>
  status._tag === "Parked" ? [status.because, status.mayHaveLeftAt !== undefined] : [status.state]
)

/** A queue of these payments under a policy. */
const queueOf = (
  payments: Layer.Layer<Payments, unknown>,
  policy: Layer.Layer<never> = once,
  options: PayoutQueueOptions = {}
) =>
  PayoutQueue.layer(options).pipe(
    Layer.provide(payments),
    Layer.provideMerge(memory),
    Layer.provideMerge(policy),
    Layer.orDie
  )

describe("a process that is suspended until the horizon is over, when it has a connection and has sent nothing", () => {
  for (const [name, make] of Object.entries(transports)) {
    const paying = Effect.fnUntraced(function* (suspendedFor: number, isInDoubt: boolean) {
      const { suspendFor } = yield* platformClock
      const gateway = yield* makeGateway
      gateway.script(json(record(keyOf("invoice-1")), 201))
      const payments = Payments.layer({ baseUrl: gateway.url }).pipe(
        Layer.provide([yield* make(() => suspendFor(suspendedFor)), credentials, IdempotencyKeyGen.layerSequential])
      )
      const found = yield* Effect.gen(function* () {
        const queue = yield* PayoutQueue
        const sql = yield* SqlClient.SqlClient
        yield* queue.setPaused(true)
        yield* queue.submit(item("invoice-1"))
        const at = yield* Clock.currentTimeMillis
        if (isInDoubt) yield* sql`UPDATE effect_pix_payouts SET may_have_left_at = ${at}, version = version + 1`
        yield* queue.setPaused(false)
        yield* queue.await("invoice-1")
        return yield* parkedOf
      }).pipe(Effect.provide(queueOf(payments)))
      return [found, gateway.requests.length]
    })

    it.live(`sends nothing over ${name}, and no request is in doubt`, () =>
      Effect.map(paying(13 * hours, false), (found) => assert.deepStrictEqual(found, [["WaitedTooLong", false], 0]))
    )

    it.live(`sends nothing over ${name}, and a payout that may have been paid before stays in doubt`, () =>
      Effect.map(paying(13 * hours, true), (found) => assert.deepStrictEqual(found, [["PastHorizon", true], 0]))
    )

    it.live(`sends over ${name} a payout whose horizon is not over`, () =>
      Effect.map(paying(0, false), (found) => assert.deepStrictEqual(found, [["posted"], 1]))
    )
  }
})

/** Payments over a client in memory, whose credentials are read before each attempt. */
const paymentsOver = (
  client: Layer.Layer<HttpClient.HttpClient>,
  beforeAttempt: (attempt: number) => void = () => undefined
) => {
  let attempts = 0
  const current = Effect.sync(() => {
    attempts += 1
    beforeAttempt(attempts)
    return { clientId, apiKey: Redacted.make(apiKey) }
  })
  return Payments.layer({ baseUrl: "https://gateway.example" }).pipe(
    Layer.provide([
      client,
      Layer.succeed(Credentials, { current, reload: () => Effect.succeed(false) }),
      IdempotencyKeyGen.layerSequential
    ])
  )
}

const paid = respond(201, record(keyOf("invoice-1")))

describe("a process that is suspended until the horizon is over, between two steps of a call", () => {
  for (const [when, step, attempts] of [
    ["in the wait before a retry", "wait", 1],
    ["after the wait before a retry", "attempt", 2]
  ] as const)
    effect(`sends nothing more where that is ${when}, and the payout stays in doubt`, function* () {
      const { clock, suspendFor } = yield* testClock
      const gateway = scripted(lostConnection, paid)
      // A worker reads the credentials when it starts and before each mark, and each attempt reads them again.
      const payments = paymentsOver(gateway.layer, (read) => {
        if (step === "attempt" && read === 4) suspendFor(13 * hours)
      })
      const policy = PaymentsPolicy.layer({ deadline: "3 days", retryWrites: Schedule.spaced("10 seconds") })
      yield* Effect.gen(function* () {
        const queue = yield* PayoutQueue
        yield* queue.submit(item("invoice-1"))
        yield* TestClock.adjust("5 seconds")
        if (step === "wait") suspendFor(13 * hours)
        yield* TestClock.adjust("1 minute")
        const status = yield* statusOf
        assert.deepStrictEqual(yield* parkedOf, ["PastHorizon", true])
        assert.strictEqual(status._tag === "Parked" && status.error?.attempts, attempts)
        assert.strictEqual(gateway.sent.length, 1)
      }).pipe(Effect.provide(queueOf(payments, policy)), Effect.provideService(Clock.Clock, clock))
    })
})

describe("an attempt that is not answered", () => {
  effect("ends at the horizon, however long the attempt timeout of the policy is", function* () {
    const gateway = scripted("silence")
    const policy = PaymentsPolicy.layer({ attemptTimeout: "1 hour", deadline: "2 hours" })
    yield* Effect.gen(function* () {
      const queue = yield* PayoutQueue
      yield* queue.submit(item("invoice-1"))
      yield* TestClock.adjust("599 seconds")
      assert.strictEqual((yield* statusOf).state, "accepted")
      yield* TestClock.adjust("2 seconds")
      assert.notStrictEqual((yield* statusOf).state, "accepted")
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(yield* parkedOf, ["PastHorizon", true])
      assert.strictEqual(gateway.sent.length, 1)
    }).pipe(Effect.provide(queueOf(paymentsOver(gateway.layer), policy, { horizon: "10 minutes" })))
  })
})

describe("a worker of the queue that is suspended until the horizon is over", () => {
  const stateOf = (queue: PayoutQueue["Service"]) => Effect.map(queue.status("invoice-1"), Option.getOrThrow)

  effect("sends nothing, and parks the payout, until a person wants it sent", function* () {
    const { clock, suspendFor } = yield* testClock
    const gateway = scripted(paid)
    // A worker reads the credentials when it starts and before each mark. Each attempt reads them again.
    const payments = paymentsOver(gateway.layer, (read) => {
      if (read === 3) suspendFor(13 * hours)
    })
    yield* Effect.gen(function* () {
      const queue = yield* PayoutQueue
      yield* queue.submit(item("invoice-1"))
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(gateway.sent.length, 0)
      const parked = yield* stateOf(queue)
      assert.isTrue(parked._tag === "Parked" && parked.because === "WaitedTooLong")
      assert.isTrue(parked._tag === "Parked" && parked.mayHaveLeftAt === undefined)
      yield* queue.resume("invoice-1")
      yield* TestClock.adjust("1 minute")
      assert.strictEqual((yield* stateOf(queue)).state, "posted")
      assert.strictEqual(gateway.sent.length, 1)
    }).pipe(
      Effect.provide(Layer.provideMerge(Layer.provide(PayoutQueue.layer(), [payments, memory]), once)),
      Effect.provideService(Clock.Clock, clock)
    )
  })

  effect("parks a payout that may have been paid and sends nothing", function* () {
    const { clock, suspendFor } = yield* testClock
    const gateway = scripted(lostConnection, paid)
    const payments = paymentsOver(gateway.layer, (read) => {
      if (read === 5) suspendFor(13 * hours)
    })
    yield* Effect.gen(function* () {
      const queue = yield* PayoutQueue
      yield* queue.submit(item("invoice-1"))
      yield* TestClock.adjust("1 hour")
      const parked = yield* stateOf(queue)
      assert.isTrue(parked._tag === "Parked" && parked.because === "PastHorizon")
      assert.isTrue(parked._tag === "Parked" && parked.mayHaveLeftAt !== undefined)
      assert.strictEqual(gateway.sent.length, 1)
    }).pipe(
      Effect.provide(Layer.provideMerge(Layer.provide(PayoutQueue.layer(), [payments, memory]), once)),
      Effect.provideService(Clock.Clock, clock)
    )
  })
})
