/**
 * A process that is suspended until the horizon is over, at any step before its request leaves: it sends nothing more.
 */
import { assert, describe } from "@effect/vitest"
import { Clock, Effect, Layer, Redacted } from "effect"
import { FetchHttpClient, type HttpClient } from "effect/http"
import { Credentials, IdempotencyKeyGen, Payments, PaymentsPolicy } from "effect-pix"
import { NodePayments } from "effect-pix/node"
import { PayoutQueue } from "effect-pix/payouts"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { Agent, buildConnector } from "undici"
import { vi } from "vitest"
import { effect, live } from "../support/effect.ts"
import * as FetchTransport from "../support/FetchTransport.ts"
import { record } from "../support/operations.ts"
import { keyOf, memory, payout } from "../support/payoutQueue.ts"
import { isInDoubt, shown } from "../support/payoutSeen.ts"
import { serveRaw } from "../support/RawServer.ts"
import { apiKey, clientId, lostConnection, respond, scripted } from "../support/Wire.ts"
import { oneAttempt } from "../support/policies.ts"

/** What advances the clocks of a process while none of its timers runs, as in a process that is stopped. */
const suspension = 13 * 3_600_000
const answer = record(keyOf("invoice-1"))

/** The platform's clocks, as a stopped process finds them. `suspendFor` advances both by milliseconds, until the scope ends. */
const platformClock = Effect.acquireRelease(
  Effect.sync(() => {
    const real = Date.now
    let later = 0
    const realMonotonic = process.hrtime.bigint.bind(process.hrtime)
    const spy = vi.spyOn(Date, "now").mockImplementation(() => real() + later)
    const monotonic = vi.spyOn(process.hrtime, "bigint")
    monotonic.mockImplementation(() => realMonotonic() + BigInt(later) * 1_000_000n)
    const suspendFor = (millis: number) => {
      later += millis
    }
    return { suspendFor, spy, monotonic }
  }),
  ({ monotonic, spy }) =>
    Effect.sync(() => {
      monotonic.mockRestore()
      spy.mockRestore()
    })
)

/** A `Clock` on the test's clock. `suspendFor` advances only this clock, as in a stopped process; `TestClock` runs the timers. */
const testClock = Effect.map(Clock.Clock, (clock) => {
  let later = 0
  const currentTimeMillisUnsafe = () => clock.currentTimeMillisUnsafe() + later
  const monotonicTimeNanosUnsafe = () => clock.monotonicTimeNanosUnsafe() + BigInt(later) * 1_000_000n
  const suspendFor = (millis: number) => {
    later += millis
  }
  const suspended: Clock.Clock = {
    ...clock,
    currentTimeMillisUnsafe,
    currentTimeMillis: Effect.sync(currentTimeMillisUnsafe),
    monotonicTimeNanosUnsafe,
    monotonicTimeNanos: Effect.sync(monotonicTimeNanosUnsafe)
  }
  return { clock: suspended, suspendFor }
})

/** A queue over this transport, that tells of each call and of each reading of the credentials, which an attempt reads too. */
const queueOver = (
  transport: Layer.Layer<HttpClient.HttpClient, unknown>,
  policy: Parameters<typeof PaymentsPolicy.layer>[0] = oneAttempt,
  { baseUrl = "https://gateway.example", on }: { readonly baseUrl?: string; readonly on?: (what: string) => void } = {}
) => {
  const counts = { call: 0, read: 0 }
  const current = Effect.sync(() => {
    on?.(`read ${++counts.read}`)
    return { clientId, apiKey: Redacted.make(apiKey) }
  })
  const payments = Layer.provide(Payments.layer({ baseUrl }), [
    transport,
    Layer.succeed(Credentials, { current, reload: () => Effect.succeed(false) }),
    IdempotencyKeyGen.layerSequential
  ])
  const calling = Effect.map(Payments, (client) => {
    const send = client.requestWithdrawal
    const requestWithdrawal: typeof send = (...given) => {
      on?.(`call ${++counts.call}`)
      return send(...given)
    }
    return Object.assign(client, { requestWithdrawal })
  })
  return PayoutQueue.layer({ poll: "20 millis" }).pipe(
    Layer.provide(Layer.provideMerge(Layer.effect(Payments, calling), payments)),
    Layer.provideMerge(Layer.merge(memory, PaymentsPolicy.layer(policy))),
    Layer.orDie
  )
}

/** The transports that see the moment in which a request leaves; `onConnected` is called when they have a connection. */
const transports = {
  NodePayments: (onConnected: () => void) => {
    const connect = buildConnector({})
    const dispatcher = new Agent({
      connect: (options, callback) =>
        connect(options, (...connected) => {
          onConnected()
          callback(...connected)
        })
    })
    return NodePayments.layerHttpClient({ dispatcher })
  },
  fetch: (onConnected: () => void) => {
    const fetch: typeof globalThis.fetch = (...given) => {
      onConnected()
      return globalThis.fetch(...given)
    }
    return Layer.provide(FetchTransport.layer, Layer.succeed(FetchHttpClient.Fetch, fetch))
  }
}

describe("a process that is suspended when it has a connection and has sent nothing", () => {
  live.each([
    { name: "NodePayments", before: "clean", ended: "parked WaitedTooLong" },
    { name: "fetch", before: "in doubt", ended: "parked PastHorizon" }
  ] as const)(
    "over $name sends no request of a payout that was $before: it is $ended",
    function* ({ before, ended, name }) {
      const { suspendFor } = yield* platformClock
      const server = yield* serveRaw((socket) => socket.end())
      const baseUrl = `http://127.0.0.1:${server.port}`
      yield* Effect.gen(function* () {
        const queue = yield* PayoutQueue
        const sql = yield* SqlClient.SqlClient
        const now = yield* Clock.currentTimeMillis
        const doubt = sql`UPDATE effect_pix_payouts SET may_have_left_at = ${now} WHERE ${before !== "clean"}`
        yield* sql.withTransaction(Effect.andThen(queue.submit(payout("invoice-1")), doubt))
        yield* queue.await("invoice-1")
        assert.deepStrictEqual([yield* shown(), yield* isInDoubt()], [ended, before !== "clean"])
        assert.strictEqual(server.requests(), 0)
      }).pipe(
        Effect.provide(
          queueOver(
            transports[name](() => suspendFor(suspension)),
            undefined,
            { baseUrl }
          )
        )
      )
    }
  )
})

describe("a process that is suspended", () => {
  effect.each([
    { step: "between its mark and the start of its call", at: "call 1", isLost: false },
    { step: "in its call, before the request", at: "read 3", isLost: false },
    { step: "between a lost answer and the next try", at: "read 5", isLost: true }
  ] as const)("$step sends nothing more, and a person decides", function* ({ at, isLost }) {
    const { clock, suspendFor } = yield* testClock
    const gateway = isLost ? scripted(lostConnection, respond(201, answer)) : scripted(respond(201, answer))
    const on = (what: string) => void (what === at && suspendFor(suspension))
    yield* Effect.gen(function* () {
      const queue = yield* PayoutQueue
      yield* queue.submit(payout("invoice-1"))
      yield* TestClock.adjust("5 seconds")
      yield* TestClock.adjust("1 minute")
      const ended = isLost ? "parked PastHorizon" : "parked WaitedTooLong"
      assert.deepStrictEqual([yield* shown(), yield* isInDoubt()], [ended, isLost])
      assert.lengthOf(gateway.sent, isLost ? 1 : 0)
      const resumed = yield* Effect.exit(queue.resume("invoice-1"))
      assert.strictEqual(resumed._tag, isLost ? "Failure" : "Success")
      yield* TestClock.adjust("1 minute")
      assert.lengthOf(gateway.sent, 1)
    }).pipe(Effect.provide(queueOver(gateway.layer, oneAttempt, { on })), Effect.provideService(Clock.Clock, clock))
  })
})
