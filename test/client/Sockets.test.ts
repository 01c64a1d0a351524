import { assert, describe } from "@effect/vitest"
import { IdempotencyKeyGen, type OutcomeUnknown, Payments, type PaymentsError, PaymentsPolicy } from "effect-pix"
import { Deferred, Effect, Fiber, Layer, Logger, Schedule } from "effect"
import { FetchHttpClient } from "effect/http"
import { gzipSync } from "node:zlib"
import { type Answer, json, makeGateway } from "../support/Gateway.ts"
import { balance, charge, created, detail } from "../support/operations.ts"
import { credentials, paymentsOn, respond, scripted, transports } from "../support/Wire.ts"
import { type Service, type Call, pay, create, read, failureOf } from "../support/played.ts"
import { effect, live } from "../support/effect.ts"

describe.each(Object.entries(transports))("over a socket, with %s", (name, transport) => {
  /** Runs a call once and returns its result. */
  const once = Effect.fnUntraced(function* (call: Call, answer: Answer, policy: Partial<PaymentsPolicy> = {}) {
    const gateway = yield* makeGateway
    gateway.script(answer)
    const result = yield* Effect.result(call).pipe(
      Effect.provide(
        Layer.provide(
          paymentsOn(transport, { baseUrl: gateway.url }),
          PaymentsPolicy.layer({ retryReads: Schedule.recurs(1), retryWrites: Schedule.recurs(1), ...policy })
        )
      )
    )
    return { result, requests: gateway.requests.length }
  })

  const limit = 10_000
  const large = (bytes: number) => JSON.stringify(balance).padEnd(bytes, " ")
  const plain =
    (status: number, body: string): Answer =>
    (response) => {
      response.writeHead(status, { "content-type": "application/json", "content-length": body.length }).end(body)
    }
  const chunked =
    (status: number, body: string): Answer =>
    (response) => {
      response.writeHead(status, { "content-type": "application/json" })
      for (let at = 0; at < body.length; at += 1000) response.write(body.slice(at, at + 1000))
      response.end()
    }
  const gzipped =
    (status: number, body: string): Answer =>
    (response) => {
      response.writeHead(status, { "content-type": "application/json", "content-encoding": "gzip" }).end(gzipSync(body))
    }
  // The Node transports neither ask for compression nor undo it.
  const framings = name.startsWith("Fetch") ? { plain, chunked, gzipped } : { plain, chunked }

  live.each(Object.entries(framings))("a response beyond the limit is not read to its end: %s", function* ([, framed]) {
    const policy = { maxResponseBytes: limit }
    const within = yield* once(read, framed(200, large(limit)), policy)
    assert.strictEqual(within.result._tag, "Success")
    for (const size of [limit + 1, 3_000_000]) {
      const reading = yield* once(read, framed(200, large(size)), policy)
      const error = failureOf(reading.result)
      assert.isTrue(error._tag === "UnexpectedResponse" && error.reason === "TooLarge" && error.status === 200)
      const paying = yield* once(pay, framed(201, large(size)), policy)
      const unknown = failureOf(paying.result)
      assert.isTrue(unknown._tag === "OutcomeUnknown" && unknown.reason === "TooLarge" && unknown.status === 201)
      const refused = yield* once(pay, framed(401, large(size)), policy)
      assert.strictEqual(failureOf(refused.result)._tag, "AuthError")
      assert.deepStrictEqual([reading.requests, paying.requests, refused.requests], [1, 1, 1])
    }
  })

  live("an interrupted write closes its connection and is reported", function* () {
    const gateway = yield* makeGateway
    const closed = yield* Deferred.make<void>()
    const reported = yield* Deferred.make<OutcomeUnknown>()
    gateway.script((response) => {
      response.once("close", () => Deferred.doneUnsafe(closed, Effect.void))
    })
    const policy = PaymentsPolicy.layer({
      onInterruptedWrite: (report) => Effect.asVoid(Deferred.succeed(reported, report))
    })
    yield* Effect.gen(function* () {
      const fiber = yield* Effect.forkChild(pay)
      yield* gateway.arrived(1)
      yield* Fiber.interrupt(fiber)
    }).pipe(
      Effect.provide(
        Layer.merge(Layer.provide(paymentsOn(transport, { baseUrl: gateway.url }), policy), Logger.layer([]))
      )
    )
    yield* Deferred.await(closed)
    assert.strictEqual((yield* Deferred.await(reported)).idempotencyKey, "wd_1")
    assert.strictEqual(gateway.requests.length, 1)
  })

  live("a redirect is not followed, and its target gets no request", function* () {
    const target = yield* makeGateway
    target.script(json(detail))
    for (const status of [301, 302, 303, 307, 308]) {
      for (const call of [read, pay]) {
        const redirect: Answer = (response) => {
          response.writeHead(status, { location: `${target.url}/stolen` }).end()
        }
        const { requests, result } = yield* once(call, redirect)
        const isElsewhere = status === 301 || status > 303
        const expected = isElsewhere ? "RequestRejected" : call === pay ? "OutcomeUnknown" : "UnexpectedResponse"
        assert.deepStrictEqual([failureOf(result)._tag, requests], [expected, 1])
      }
    }
    assert.strictEqual(target.requests.length, 0)
  })
})

describe("a RequestInit of the user's own", () => {
  live("a RequestInit of the user is used, except for its `redirect`", function* () {
    const target = yield* makeGateway
    const gateway = yield* makeGateway
    gateway.script((response) => response.writeHead(307, { location: target.url }).end())
    const init = Layer.succeed(FetchHttpClient.RequestInit, { redirect: "follow", headers: { "x-proxy": "yes" } })
    const asked = (use: (payments: Service) => Effect.Effect<unknown, PaymentsError>) =>
      Effect.flip(Effect.flatMap(Payments, use))
    const client = Payments.layer({ baseUrl: gateway.url }).pipe(
      Layer.provide([FetchHttpClient.layer, credentials, IdempotencyKeyGen.layerSequential])
    )
    const ofLayer = yield* asked((payments) => payments.createTransaction(charge)).pipe(
      Effect.provide(Layer.provide(client, init))
    )
    const ofCall = yield* asked((payments) => payments.createTransaction(charge)).pipe(
      Effect.provide(Layer.merge(client, init))
    )
    assert.deepStrictEqual([ofLayer._tag, ofCall._tag], ["RequestRejected", "RequestRejected"])
    assert.deepStrictEqual(
      gateway.requests.map(({ headers }) => headers["x-proxy"]),
      ["yes", "yes"]
    )
    assert.strictEqual(target.requests.length, 0)
  })

  effect("a client needs no RequestInit of the user's own", function* () {
    const { layer } = scripted(respond(200, created))
    const { status } = yield* Effect.provide(create, paymentsOn(layer))
    assert.strictEqual(status, "WAITING_PAYMENT")
  })
})
