import { assert, describe, it } from "@effect/vitest"
import { Clock, DateTime, Effect, Exit, Fiber, Layer, Option, Redacted, Schedule } from "effect"
import { FetchHttpClient, type HttpClient } from "effect/http"
import { Credentials, IdempotencyKeyGen, Payments, PaymentsPolicy } from "effect-pix"
import { NodePayments } from "effect-pix/node"
import { type PayoutEvent, PayoutQueue, Payouts } from "effect-pix/payouts"
import { TestClock } from "effect/testing"
import { Agent, buildConnector } from "undici"
import * as FetchTransport from "../../src/client/internal/transport/fetchTransport.ts"
import { json, makeGateway } from "../support/Gateway.ts"
import { item, keyOf } from "../support/payouts.ts"
import { platformClock, testClock } from "../support/suspendFor.ts"
import { record } from "../support/operations.ts"
import { apiKey, clientId, credentials, lostConnection, respond, scripted } from "../support/Wire.ts"
import { memory } from "../support/payoutQueue.ts"

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

const started = (reference: string, at: DateTime.Utc): PayoutEvent => ({
  _tag: "Started",
  index: 0,
  reference,
  idempotencyKey: keyOf(reference),
  amount: item(reference).amount,
  at
})

describe("a process that is suspended until the horizon is over, when it has a connection and has sent nothing", () => {
  for (const [name, make] of Object.entries(transports)) {
    const paying = Effect.fnUntraced(function* (standsFor: number, previous: ReadonlyArray<PayoutEvent>) {
      const { suspendFor } = yield* platformClock
      const gateway = yield* makeGateway
      gateway.script(json(record(keyOf("invoice-1")), 201))
      const payments = Payments.layer({ baseUrl: gateway.url }).pipe(
        Layer.provide([yield* make(() => suspendFor(standsFor)), credentials, IdempotencyKeyGen.layerSequential])
      )
      const report = yield* Payouts.run([item("invoice-1")], { previous }).pipe(Effect.provide(payments))
      return { report, requests: gateway.requests.length }
    })

    it.live(`sends nothing over ${name}, and the payout is not sent`, () =>
      Effect.gen(function* () {
        const { report, requests } = yield* paying(13 * hours, [])
        assert.deepStrictEqual(
          report.refused.map(({ error }) => error.outcome),
          ["NotSent"]
        )
        assert.strictEqual(requests, 0)
      })
    )

    it.live(`sends nothing over ${name}, and a payout that an earlier run may have paid stays unknown`, () =>
      Effect.gen(function* () {
        const { report, requests } = yield* paying(13 * hours, [started("invoice-1", yield* DateTime.now)])
        assert.deepStrictEqual([report.unknown.length, requests], [1, 0])
      })
    )

    it.live(`sends over ${name} a payout whose horizon is not over`, () =>
      Effect.gen(function* () {
        const { report, requests } = yield* paying(0, [])
        assert.deepStrictEqual([report.done.length, requests], [1, 1])
      })
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

const once = PaymentsPolicy.layer(PaymentsPolicy.once)
const paid = respond(201, record(keyOf("invoice-1")))

describe("a process that is suspended until the horizon is over, between two steps of a call", () => {
  it.effect("sends nothing where that is before the first attempt", () =>
    Effect.gen(function* () {
      const { clock, suspendFor } = yield* testClock
      const gateway = scripted(paid)
      const report = yield* Payouts.run([item("invoice-1")]).pipe(
        Effect.provide(paymentsOver(gateway.layer, () => suspendFor(13 * hours))),
        Effect.provideService(Clock.Clock, clock)
      )
      assert.deepStrictEqual(
        report.refused.map(({ error }) => error.outcome),
        ["NotSent"]
      )
      assert.strictEqual(gateway.sent.length, 0)
    })
  )

  for (const [when, step, attempts] of [
    ["in the wait before a retry", "wait", 1],
    ["after the wait before a retry", "attempt", 2]
  ] as const)
    it.effect(`sends nothing more where that is ${when}, and the payout stays unknown`, () =>
      Effect.gen(function* () {
        const { clock, suspendFor } = yield* testClock
        const gateway = scripted(lostConnection, paid)
        const payments = paymentsOver(gateway.layer, (attempt) => {
          if (step === "attempt" && attempt === 2) suspendFor(13 * hours)
        })
        const run = yield* Payouts.run([item("invoice-1")]).pipe(
          Effect.provide([
            payments,
            PaymentsPolicy.layer({ deadline: "3 days", retryWrites: Schedule.spaced("10 seconds") })
          ]),
          Effect.provideService(Clock.Clock, clock),
          Effect.forkChild
        )
        yield* TestClock.adjust("5 seconds")
        if (step === "wait") suspendFor(13 * hours)
        yield* TestClock.adjust("1 minute")
        const report = yield* Fiber.join(run)
        assert.deepStrictEqual(
          report.unknown.map(({ error }) => error.attempts),
          [attempts]
        )
        assert.strictEqual(gateway.sent.length, 1)
      })
    )
})

describe("an attempt that is not answered", () => {
  it.effect("ends at the horizon, however long the attempt timeout of the policy is", () =>
    Effect.gen(function* () {
      const gateway = scripted("silence")
      const run = yield* Payouts.run([item("invoice-1")], { keyHorizon: "10 minutes" }).pipe(
        Effect.provide([
          paymentsOver(gateway.layer),
          PaymentsPolicy.layer({ attemptTimeout: "1 hour", deadline: "2 hours" })
        ]),
        Effect.forkChild
      )
      yield* TestClock.adjust("599 seconds")
      assert.isUndefined(run.pollUnsafe())
      yield* TestClock.adjust("1 second")
      const ended = run.pollUnsafe()
      assert.isTrue(ended !== undefined && Exit.isSuccess(ended) && ended.value.unknown.length === 1)
      assert.strictEqual(gateway.sent.length, 1)
    })
  )
})

describe("a worker of the queue that is suspended until the horizon is over", () => {
  const stateOf = (queue: PayoutQueue["Service"]) => Effect.map(queue.status("invoice-1"), Option.getOrThrow)

  it.effect("sends nothing, and parks the payout, until a person wants it sent", () =>
    Effect.gen(function* () {
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
  )

  it.effect("parks a payout that may have been paid and sends nothing", () =>
    Effect.gen(function* () {
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
  )
})
