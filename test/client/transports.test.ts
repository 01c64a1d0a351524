/**
 * The contract of a transport, over real sockets: what each one makes of connections and bytes, whether the request may have
 * left, and how often it is sent. The attempts are ended by `TestClock`.
 */
import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe } from "@effect/vitest"
import { Clock, Duration, Effect, Exit, Fiber, Layer, Logger, Result, Schedule, type Scope } from "effect"
import { IdempotencyKeyGen, Money, Payments, type PaymentsError, PaymentsPolicy } from "effect-pix"
import { NodePayments } from "effect-pix/node"
import { FetchHttpClient, HttpClient } from "effect/http"
import { TestClock } from "effect/testing"
import type * as Net from "node:net"
import { effect, nextTurn } from "../support/effect.ts"
import { reasonOf } from "../support/failing.ts"
import { getBalance, type OperationCall, record, requestWithdrawal } from "../support/operations.ts"
import { answer, closedPort, json, serveBlindly, serveRaw, serveTls } from "../support/RawServer.ts"
import { serveTlsThenPlain, silence, written } from "../support/RawServer.ts"
import { drawn } from "../support/seed.ts"
import { headsRead, names, transports, trusting } from "../support/transports.ts"
import { watching } from "../support/watched.ts"
import { credentials } from "../support/Wire.ts"
import { type End, good, limit, ok, rows } from "../tables/answers.ts"
import { oneAttempt } from "../support/policies.ts"

const calls: ReadonlyArray<OperationCall> = [getBalance, requestWithdrawal]
const policy = PaymentsPolicy.make({
  retryReads: Schedule.recurs(1),
  retryWrites: Schedule.recurs(1),
  maxResponseBytes: limit,
  attemptTimeout: "1 hour",
  deadline: Duration.infinity
})

const clientOf = (baseUrl: string, over: Layer.Layer<HttpClient.HttpClient>) =>
  Layer.merge(
    Payments.layer({ baseUrl }).pipe(
      Layer.provide([over, credentials, IdempotencyKeyGen.layerSequential, Layer.succeed(PaymentsPolicy, policy)]),
      Layer.orDie
    ),
    Logger.layer([])
  )

/** What a caller acts on: the error's tag, outcome and reason, and the number of requests. */
const expected = (end: End, isWrite: boolean, isUnsent = false) => {
  const [word = "", again] = end.split(" ")
  const attempts = again === undefined ? 1 : 2
  if (word === "Success") return [word, attempts]
  if (word === "RequestRejected") return [word, "Rejected", undefined, attempts]
  const reason = word === "NoHttp" ? "Unreadable" : word
  if (isWrite && isUnsent) return ["ServiceUnavailable", "NotSent", reason, attempts]
  if (isWrite) return ["OutcomeUnknown", "Unknown", reason, attempts]
  const isUnusable = ["Unreadable", "TooLarge", "Redirect"].includes(word)
  return [isUnusable ? "UnexpectedResponse" : "ServiceUnavailable", "NoEffect", reason, attempts]
}

const resultOf = (result: Result.Result<unknown, PaymentsError>, requests: number) =>
  Result.match(result, {
    onSuccess: () => ["Success", requests],
    onFailure: (error) => [error._tag, error.outcome, reasonOf(error), error.attempts]
  })

const said = (end: End) => {
  const [, outcome, reason, attempts] = expected(end, true)
  if (outcome === 1) return "is read"
  return `leaves a write ${outcome}${reason === undefined ? "" : ` by ${reason}`} after ${attempts === 1 ? "one request" : "two requests"}`
}

describe.each(names)("over %s", (transport) => {
  const over = transports[transport]

  for (const { but = {}, end, name, play, stalls } of drawn(rows)) {
    const own = but[transport] ?? end
    effect.each(calls.map((call) => ({ call, operation: call.operation })))(
      `${name} ${said(own)}: $operation`,
      function* ({ call }) {
        const server = yield* serveRaw(play(call))
        const fiber = yield* Effect.forkChild(Effect.result(Effect.provide(call.run, clientOf(server.url, over))))
        for (const attempt of stalls === undefined ? [] : [1, 2]) {
          yield* server.nextRequest
          if (stalls === "head") yield* headsRead(server.url, attempt)
          yield* TestClock.adjust("1 hour")
        }
        const result = yield* Fiber.join(fiber)
        assert.deepStrictEqual(resultOf(result, server.requests()), expected(own, call.isWrite))
        const fetchTwice = name === "a 421" && transport.endsWith("fetch") ? 2 : undefined
        assert.strictEqual(server.requests(), fetchTwice ?? expected(own, call.isWrite).at(-1))
        assert.isAtMost(
          new Set(server.arrived.map(({ headers, text }) => `${headers["idempotency-key"]} ${text}`)).size,
          1
        )
      }
    )
  }

  effect("a request has the prepared bytes and their length, and an answer is read as UTF-8", function* () {
    const bytes = Buffer.from(JSON.stringify({ ...record("wd_1"), description: "ação 💸" }))
    const server = yield* serveRaw((socket) => {
      socket.setNoDelay(true)
      socket.write(`HTTP/1.1 201 Created\r\ncontent-length: ${bytes.length}\r\n\r\n`)
      for (const byte of bytes) socket.write(Buffer.of(byte))
    })
    const paid = yield* Effect.flatMap(Payments, (payments) =>
      payments.requestWithdrawal({ amount: Money.centavos(1000), description: "João" })
    ).pipe(Effect.provide(clientOf(server.url, over)))
    assert.strictEqual(paid.description, "ação 💸")
    const [request] = server.arrived
    assert(request !== undefined)
    const body = `{"amount":1000,"currency":"BRL","description":"João"}`
    assert.deepStrictEqual([request.method, request.path, request.text], ["POST", requestWithdrawal.path, body])
    assert.strictEqual(request.headers["content-length"], String(Buffer.byteLength(body)))
    assert.strictEqual(request.headers["content-type"], "application/json")
    assert.isUndefined(request.headers["traceparent"])
  })

  effect("a redirect's target gets no request, whatever a RequestInit of the user's own says", function* () {
    const target = yield* serveRaw(json({}))
    const server = yield* serveRaw()
    const init = Layer.succeed(FetchHttpClient.RequestInit, { redirect: "follow", headers: { "x-proxy": "yes" } })
    const client = clientOf(server.url, over)
    for (const status of [301, 302, 303, 307, 308]) {
      server.script(answer(status, "", { location: `${target.url.replace("127.0.0.1", "localhost")}/stolen` }))
      for (const { run } of calls) {
        yield* Effect.exit(Effect.provide(run, Layer.provide(client, init)))
        yield* Effect.exit(Effect.provide(run, Layer.merge(client, init)))
      }
    }
    assert.deepStrictEqual([server.requests(), target.connections()], [20, 0])
    const own = new Set(server.arrived.map(({ headers }) => headers["x-proxy"]))
    assert.deepStrictEqual([...own], [transport.endsWith("fetch") ? "yes" : undefined])
  })

  effect("a client that a user made of it is used as it is", function* () {
    const server = yield* serveRaw(json(getBalance.answer))
    const mapped = HttpClient.mapRequest((request) => ({ ...request, url: `${server.url}/mapped` }))
    const wrapped = Layer.effect(HttpClient.HttpClient, Effect.map(HttpClient.HttpClient, mapped))
    for (const layer of [Layer.provide(wrapped, over), Layer.provideMerge(wrapped, over)])
      yield* Effect.exit(Effect.provide(getBalance.run, clientOf("https://nothing.invalid", layer)))
    assert.deepStrictEqual(
      server.arrived.map(({ path }) => path),
      ["/mapped", "/mapped"]
    )
  })

  const ended = (socket: Net.Socket) =>
    Effect.callback<void>((resume) => {
      if (socket.destroyed) resume(Effect.void)
      else socket.once("close", () => resume(Effect.void))
    })

  effect("an answer that declares more than the bound is given up at once, and its connection is closed", function* () {
    const server = yield* serveRaw(written(ok, "content-length: 99999999", "", "{"))
    const result = yield* Effect.result(Effect.provide(getBalance.run, clientOf(server.url, over)))
    assert.deepStrictEqual(resultOf(result, 1), expected("TooLarge", false))
    yield* ended(yield* server.nextRequest)
  })

  effect.each(calls)("a call that is interrupted closes its connection, and is not sent again", function* (call) {
    const server = yield* serveRaw(silence)
    const fiber = yield* Effect.forkChild(Effect.provide(call.run, clientOf(server.url, over)))
    const socket = yield* server.nextRequest
    yield* Fiber.interrupt(fiber)
    assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(fiber)))
    yield* ended(socket)
    assert.strictEqual(server.requests(), 1)
  })

  effect.each(calls)("a request whose reused connection breaks is not sent again by the transport", function* (call) {
    const used = new WeakSet<Net.Socket>()
    const server = yield* serveRaw((socket, request) => {
      if (used.has(socket)) return void socket.destroy()
      used.add(socket)
      written(...good(call))(socket, request)
    })
    // By default this transport does not use a connection again.
    const keeping = transport === "node:http" ? NodeHttpClient.layerNodeHttpOptions({ keepAlive: true }) : over
    yield* Effect.gen(function* () {
      // A transport may open another connection first, so the call is repeated until a connection is used again.
      for (let count = 1; count <= 50; count++) {
        const result = yield* Effect.result(call.run)
        if (Result.isSuccess(result)) continue
        assert.deepStrictEqual(resultOf(result, 1), expected("ConnectionLost", call.isWrite))
        return assert.strictEqual(server.requests(), count)
      }
      assert.fail("no connection was used again")
    }).pipe(Effect.provideService(PaymentsPolicy, oneAttempt), Effect.provide(clientOf(server.url, keeping)))
  })

  describe("a connection that is never made", () => {
    const failure = (call: OperationCall, baseUrl: string, layer: Layer.Layer<HttpClient.HttpClient> = over) =>
      Effect.map(Effect.result(Effect.provide(call.run, clientOf(baseUrl, layer))), (result) => resultOf(result, 0))
    const secure = (server: { readonly port: number }) => `https://127.0.0.1:${server.port}`
    const nothing = json({})
    // The errors of the others do not show whether the request left. These transports know.
    const knows = transport === "effect-pix/node" || transport === "our fetch"

    const unmade: ReadonlyArray<readonly [string, End, isUnsent: boolean, Effect.Effect<string, never, Scope.Scope>]> =
      [
        ["a port that refuses", "NoConnection again", true, Effect.succeed(closedPort)],
        ["a name that does not resolve", "NameNotResolved again", true, Effect.succeed("https://nothing.invalid")],
        ["a self-signed certificate", "Tls", true, Effect.map(serveTls(nothing), secure)],
        ["a port without TLS", "Tls", true, Effect.map(serveBlindly("HTTP/1.1 400 No\r\n\r\n"), secure)],
        [
          "a connection that ends in the TLS handshake",
          "ConnectionLost again",
          knows,
          Effect.map(serveBlindly(""), secure)
        ]
      ]
    effect.each(unmade)(`%s ends in %s, and is unsent: %s`, function* ([, end, isUnsent, url]) {
      const baseUrl = yield* url
      for (const call of calls)
        assert.deepStrictEqual<unknown>(yield* failure(call, baseUrl), expected(end, call.isWrite, isUnsent))
    })

    // The layer does not wait at its end for a connection that is never made.
    const impatient = Layer.orDie(NodePayments.layerHttpClient({ shutdownTimeout: "1 millis" })).pipe(
      Layer.provide(Layer.succeed(Clock.Clock, Clock.Clock.defaultValue()))
    )

    const refusal = `a TLS handshake that is refused ${knows ? "proves that nothing was sent" : "leaves a write Unknown"}`
    effect(refusal, function* () {
      const alert = Buffer.from("15030300020228", "hex").toString("latin1")
      const server = yield* serveBlindly(alert)
      for (const call of calls) {
        const [, outcome, reason] = yield* failure(call, secure(server))
        const ofWrite = knows ? "NotSent" : "Unknown"
        assert.deepStrictEqual<unknown>([outcome, reason], [call.isWrite ? ofWrite : "NoEffect", "Tls"])
      }
    })

    // Effect's client over fetch can trust no certificate.
    const trusted = effect.skipIf(trusting(transport) === undefined)
    trusted("a trusted certificate of another host proves that nothing was sent", function* () {
      const baseUrl = secure(yield* serveTls(nothing))
      for (const call of calls) {
        const found = yield* failure(call, baseUrl, trusting(transport))
        assert.deepStrictEqual<unknown>(found, expected("Tls", call.isWrite, true))
      }
    })

    trusted("plain bytes that answer a request over TLS leave a write Unknown", function* () {
      const server = yield* serveTlsThenPlain("HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n")
      const layer = trusting(transport, { servername: "another.example" })
      for (const call of calls) {
        const [, outcome, , attempts] = yield* failure(call, secure(server), layer)
        assert.deepStrictEqual([outcome, attempts], [call.isWrite ? "Unknown" : "NoEffect", 2])
      }
      assert.strictEqual(server.requests(), 4)
    })

    const proof = knows ? "proves that nothing was sent" : "leaves a write Unknown"
    effect(`a TLS handshake that stalls ${proof}`, function* () {
      for (const call of calls) {
        const server = yield* serveBlindly(null)
        const fiber = yield* Effect.forkChild(
          failure(call, secure(server), transport === "effect-pix/node" ? impatient : over)
        )
        yield* server.nextConnection
        const expire = Effect.andThen(TestClock.adjust("1 hour"), nextTurn)
        yield* Effect.repeat(expire, { while: () => fiber.pollUnsafe() === undefined })
        assert.deepStrictEqual<unknown>(yield* Fiber.join(fiber), expected("Timeout again", call.isWrite, knows))
      }
    })

    const heard = knows ? "is not reported" : "is reported, since it may have left"
    effect(`a write that is interrupted in the TLS handshake ${heard}`, function* () {
      const server = yield* serveBlindly(null)
      const { lines, logger, policy, reports } = watching({})
      const client = Layer.mergeAll(
        clientOf(secure(server), transport === "effect-pix/node" ? impatient : over),
        policy
      )
      const fiber = yield* Effect.forkChild(Effect.provide(requestWithdrawal.run, Layer.merge(client, logger)))
      yield* server.nextConnection
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual([reports.length, lines.length], knows ? [0, 0] : [1, 1])
    })
  })
})
