/**
 * A process that is suspended until the horizon is over, at any step before its request leaves: it sends nothing more.
 */
import { assert, describe } from "@effect/vitest"
import { Clock, Effect, Layer, Redacted, Schedule } from "effect"
import { FetchHttpClient, type HttpClient } from "effect/http"
import { Credentials, IdempotencyKeyGen, Payments, PaymentsPolicy } from "effect-pix"
import { NodePayments } from "effect-pix/node"
import { PayoutQueue, type PayoutQueueOptions } from "effect-pix/payouts"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { Agent, buildConnector } from "undici"
import { effect, live } from "../support/effect.ts"
import * as FetchTransport from "../support/FetchTransport.ts"
import { record } from "../support/operations.ts"
import { keyOf, memory, payout } from "../support/payoutQueue.ts"
import { isInDoubt, shown } from "../support/payoutSeen.ts"
import { serveRaw } from "../support/RawServer.ts"
import { platformClock, testClock } from "../support/suspendFor.ts"
import { apiKey, clientId, lostConnection, respond, scripted } from "../support/Wire.ts"

const hours = 3_600_000
const answer = record(keyOf("invoice-1"))

/** A queue over this transport. Each attempt reads the credentials, and so does a worker at its start and before each mark. */
const queueOver = (
  transport: Layer.Layer<HttpClient.HttpClient, unknown>,
  policy: Parameters<typeof PaymentsPolicy.layer>[0],
  {
    baseUrl = "https://gateway.example",
    onCall,
    onRead = (_read: number): void => undefined,
    ...options
  }: PayoutQueueOptions & { baseUrl?: string; onCall?: () => void; onRead?: (read: number) => void } = {}
) => {
  let reads = 0
  const current = Effect.sync(() => {
    onRead(++reads)
    return { clientId, apiKey: Redacted.make(apiKey) }
  })
  const payments = Payments.layer({ baseUrl }).pipe(
    Layer.provide([
      transport,
      Layer.succeed(Credentials, { current, reload: () => Effect.succeed(false) }),
      IdempotencyKeyGen.layerSequential
    ])
  )
  // A wrapped client shows no sender, so its credentials are not read before a mark.
  const calling = Effect.map(Payments, (client) => {
    if (onCall === undefined) return client
    const requestWithdrawal: typeof client.requestWithdrawal = (...given) => {
      onCall()
      return client.requestWithdrawal(...given)
    }
    return { ...client, requestWithdrawal }
  })
  return PayoutQueue.layer(options).pipe(
    Layer.provide(Layer.provide(Layer.effect(Payments, calling), payments)),
    Layer.provideMerge(memory),
    Layer.provideMerge(PaymentsPolicy.layer(policy)),
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

const connected = [
  { name: "NodePayments", suspended: 13, before: "clean", ended: "parked WaitedTooLong", sent: 0 },
  { name: "fetch", suspended: 13, before: "in doubt", ended: "parked PastHorizon", sent: 0 },
  { name: "fetch", suspended: 0, before: "clean", ended: "posted", sent: 1 }
] as const

describe("a process that is suspended when it has a connection and has sent nothing", () => {
  live.each(connected)(
    "over $name sends $sent request(s) of a payout that was $before where that is for $suspended hours: it is $ended",
    function* ({ before, ended, name, sent, suspended }) {
      const { suspendFor } = yield* platformClock
      const body = JSON.stringify(answer)
      const server = yield* serveRaw((socket) =>
        socket.end(
          `HTTP/1.1 201 Created\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
        )
      )
      const baseUrl = `http://127.0.0.1:${server.port}`
      yield* Effect.gen(function* () {
        const queue = yield* PayoutQueue
        const sql = yield* SqlClient.SqlClient
        const now = yield* Clock.currentTimeMillis
        const doubt = sql`UPDATE effect_pix_payouts SET may_have_left_at = ${now} WHERE ${before !== "clean"}`
        yield* sql.withTransaction(Effect.andThen(queue.submit(payout("invoice-1")), doubt))
        yield* queue.await("invoice-1")
        assert.deepStrictEqual([yield* shown(), yield* isInDoubt()], [ended, before !== "clean"])
        assert.strictEqual(server.requests(), sent)
      }).pipe(
        Effect.provide(
          queueOver(
            transports[name](() => suspendFor(suspended * hours)),
            PaymentsPolicy.once,
            { baseUrl, poll: "20 millis" }
          )
        )
      )
    }
  )
})

const patient = { deadline: "3 days", retryWrites: Schedule.spaced("10 seconds") } as const
const steps = [
  { step: "between its mark and the start of its call", read: "call", policy: PaymentsPolicy.once, isLost: false },
  { step: "in its call, before the request", read: 3, policy: PaymentsPolicy.once, isLost: false },
  { step: "between a lost answer and the next try", read: 5, policy: PaymentsPolicy.once, isLost: true },
  { step: "in the wait of a call before its retry", read: undefined, policy: patient, isLost: true },
  { step: "after the wait of a call before its retry", read: 4, policy: patient, isLost: true }
] as const

describe("a process that is suspended", () => {
  effect.each(steps)("$step sends nothing more, and a person decides", function* ({ isLost, policy, read }) {
    const { clock, suspendFor } = yield* testClock
    const gateway = isLost ? scripted(lostConnection, respond(201, answer)) : scripted(respond(201, answer))
    const onRead = (one: number) => void (one === read && suspendFor(13 * hours))
    let calls = 0
    const onCall = read === "call" ? () => void (++calls === 1 && suspendFor(13 * hours)) : undefined
    yield* Effect.gen(function* () {
      const queue = yield* PayoutQueue
      yield* queue.submit(payout("invoice-1"))
      yield* TestClock.adjust("5 seconds")
      if (read === undefined) suspendFor(13 * hours)
      yield* TestClock.adjust("1 minute")
      const ended = isLost ? "parked PastHorizon" : "parked WaitedTooLong"
      assert.deepStrictEqual([yield* shown(), yield* isInDoubt()], [ended, isLost])
      assert.lengthOf(gateway.sent, isLost ? 1 : 0)
      const resumed = yield* Effect.exit(queue.resume("invoice-1"))
      assert.strictEqual(resumed._tag, isLost ? "Failure" : "Success")
      yield* TestClock.adjust("1 minute")
      assert.lengthOf(gateway.sent, 1)
    }).pipe(
      Effect.provide(queueOver(gateway.layer, policy, { onRead, ...(onCall && { onCall }) })),
      Effect.provideService(Clock.Clock, clock)
    )
  })
})
