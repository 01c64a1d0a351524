/** The transport for Node beyond the contract of `client/transports.test.ts`: its layers, its pool, its time limits and its end. */
import { assert, describe } from "@effect/vitest"
import { ConfigProvider, Context, Deferred, Effect, Exit, Fiber, Layer, Option, Redacted, Scope } from "effect"
import { constFalse } from "effect/Function"
import { HttpClient } from "effect/http"
import { Payments, PaymentsPolicy } from "effect-pix"
import { NodePayments } from "effect-pix/node"
import { Sandbox } from "effect-pix/sandbox"
import { Agent } from "undici"
import { HttpTransport, type Transport, type TransportFailure } from "../../src/internal/transport.ts"
import { effect, live } from "../support/effect.ts"
import { createTransaction, listed, listTransactions } from "../support/operations.ts"
import { answer, json, serveRaw, silence } from "../support/RawServer.ts"
import { paymentsOn } from "../support/Wire.ts"

const ownAgent = Effect.acquireRelease(
  Effect.sync(() => new Agent()),
  (agent) => Effect.promise(() => agent.destroy())
)

describe("NodePayments.layerHttpClient", () => {
  live("is an HttpClient on the dispatcher of the user, follows no redirect and closes no dispatcher", function* () {
    const server = yield* serveRaw(answer(302, "moved", { location: "/elsewhere" }))
    const client = NodePayments.layerHttpClient({ dispatcher: yield* ownAgent })
    const send = HttpClient.post(`${server.url}/path?a=1`, { urlParams: { b: "x y" } }).pipe(
      Effect.flatMap((response) => Effect.map(response.text, (text) => [response.status, text])),
      Effect.provide(client)
    )
    assert.deepStrictEqual(
      [yield* send, yield* send],
      [
        [302, "moved"],
        [302, "moved"]
      ]
    )
    for (const { method, path } of server.arrived) assert.deepStrictEqual([method, path], ["POST", "/path?a=1&b=x+y"])
  })

  effect.each<NodePayments.Options>([
    { connections: 0 },
    { connections: 1.5 },
    { connectTimeout: "0 seconds" },
    { keepAliveTimeout: -1 },
    { shutdownTimeout: Number.NaN }
  ])("refuses %o as a ConfigurationError that names the setting", function* (options) {
    const error = yield* Effect.flip(Effect.scoped(Layer.build(NodePayments.layerHttpClient(options))))
    assert.strictEqual(error._tag, "ConfigurationError")
    assert.include(error.message, Object.keys(options)[0] ?? "")
  })

  live("gives up a connection that is not made in time as not sent", function* () {
    const { port } = yield* serveRaw()
    const client = Layer.orDie(NodePayments.layerHttpClient({ connectTimeout: "1 millis" }))
    const error = yield* Effect.flip(createTransaction.run).pipe(
      Effect.provide([
        paymentsOn(client, { baseUrl: `https://127.0.0.1:${port}` }),
        PaymentsPolicy.layer(PaymentsPolicy.once)
      ])
    )
    assert.strictEqual(error.outcome, "NotSent")
  })

  live("lets Payments send over the dispatcher, and not over the layer's own client", function* () {
    const dispatched: Array<string> = []
    const dispatcher = (yield* ownAgent).compose((dispatch) => (options, handler) => {
      // Undici's own `request` makes a handler that is no class of this library.
      dispatched.push(handler.constructor.name)
      return dispatch(options, handler)
    })
    const { url } = yield* serveRaw(json(listed))
    const client = Layer.orDie(NodePayments.layerHttpClient({ dispatcher }))
    yield* Effect.provide(listTransactions.run, paymentsOn(client, { baseUrl: url }))
    assert.deepStrictEqual(dispatched, ["Exchange"])
  })
})

live("NodePayments.layer takes all settings from the environment", Sandbox.layerServer, function* () {
  const { baseUrl, credentials } = yield* Sandbox
  const { apiKey, clientId } = yield* credentials
  const provider = ConfigProvider.fromUnknown({
    PAYMENTS_BASE_URL: baseUrl,
    PAYMENTS_CLIENT_ID: clientId,
    PAYMENTS_API_KEY: Redacted.value(apiKey)
  })
  const created = Effect.flatMap(Payments, createTransaction.call)
  const client = Layer.provide(NodePayments.layer, ConfigProvider.layer(provider))
  assert.strictEqual((yield* Effect.provide(created, client)).status, "WAITING_PAYMENT")
})

type Reported =
  | { readonly status: number; readonly headers: Readonly<Record<string, unknown>>; readonly body: string }
  | TransportFailure

const transport = Effect.fnUntraced(function* (options?: NodePayments.Options) {
  const context = yield* Layer.build(NodePayments.layerHttpClient(options))
  return Option.getOrThrow(Context.getOption(context, HttpTransport)).transport
})

interface Request {
  readonly port: number
  readonly headers?: Readonly<Record<string, string>>
  readonly isLate?: () => boolean
}

/** Sends a request, and returns all reports to the sink. */
const send = (via: Transport, { headers = {}, isLate = constFalse, port }: Request) => {
  const reported: Array<Reported> = []
  const first = Deferred.makeUnsafe<Reported>()
  const report = (result: Reported) => {
    reported.push(result)
    Deferred.doneUnsafe(first, Effect.succeed(result))
  }
  const origin = `http://127.0.0.1:${port}`
  const request = {
    method: "GET",
    origin,
    path: "/",
    headers,
    body: undefined,
    isLate,
    context: Context.empty()
  } as const
  const sent = via.send(request, 1024, {
    onAnswer: (status, headers, body) => report({ status, headers, body }),
    onFailure: report
  })
  return { reported, first: Deferred.await(first), cancel: sent.cancel, expire: () => sent.expire() }
}

const failure = (reported: Reported) => ("kind" in reported ? reported : assert.fail("an answer arrived"))
const answered = (reported: Reported) => ("kind" in reported ? assert.fail(`failed: ${reported.kind}`) : reported)

/** A transport with one connection, on which a first request waits for its answer. */
const heldConnection = Effect.gen(function* () {
  const server = yield* serveRaw(silence, json({}))
  const via = yield* transport({ connections: 1 })
  const holding = send(via, server)
  const socket = yield* server.nextRequest
  const release = () => json({})(socket, server.arrived[0] ?? assert.fail("no request"))
  return { holding, release, server, via }
})

describe("the Node transport", () => {
  live("reports an answer with each header of it", function* () {
    const server = yield* serveRaw(answer(200, "{}", { "x-one": 1, "set-cookie": "a=1\r\nset-cookie: b=2" }))
    const { headers } = answered(yield* send(yield* transport(), server).first)
    assert.deepStrictEqual([headers["x-one"], headers["set-cookie"]], ["1", ["a=1", "b=2"]])
    assert.notMatch(server.arrived[0]?.head ?? "", /accept-encoding|transfer-encoding/i)
  })

  live("sends calls over the configured number of connections at most", function* () {
    const server = yield* serveRaw(json({}))
    const via = yield* transport({ connections: 1 })
    const calls = Array.from({ length: 5 }, () => send(via, server))
    for (const { first } of calls) answered(yield* first)
    assert.deepStrictEqual([server.requests(), server.connections()], [5, 1])
  })

  live.each(["while it waits for a connection", "when it gets its connection"])(
    "reports a request whose time is over %s as not sent, and keeps the connection open",
    function* (when) {
      const { holding, release, server, via } = yield* heldConnection
      let isLate = false
      const waiting = send(via, { ...server, isLate: () => isLate })
      if (when.startsWith("while")) waiting.expire()
      else isLate = true
      release()
      const { kind, sent } = failure(yield* waiting.first)
      assert.deepStrictEqual([kind, sent], ["Late", false])
      answered(yield* holding.first)
      answered(yield* send(via, server).first)
      assert.deepStrictEqual([server.requests(), server.connections(), waiting.reported.length], [2, 1, 1])
    }
  )

  live(
    "reports nothing of a request that is cancelled while it waits for a connection, and never sends it",
    function* () {
      const { holding, release, server, via } = yield* heldConnection
      const waiting = send(via, server)
      yield* waiting.cancel
      release()
      answered(yield* holding.first)
      answered(yield* send(via, server).first)
      assert.deepStrictEqual([waiting.reported.length, server.requests(), server.connections()], [0, 2, 1])
    }
  )

  live(
    "reports nothing more of a request that is cancelled or expires after its answer, and keeps its connection",
    function* () {
      const server = yield* serveRaw(json({}))
      const via = yield* transport({ connections: 1 })
      const { cancel, expire, first, reported } = send(via, server)
      answered(yield* first)
      expire()
      yield* cancel
      answered(yield* send(via, server).first)
      assert.deepStrictEqual([reported.length, server.requests()], [1, 2])
    }
  )

  effect("reports a request with a header that cannot be sent as not sent", function* () {
    const sent = send(yield* transport(), { port: 1, headers: { "x-a": "a\r\nb" } })
    assert.strictEqual(failure(yield* sent.first).sent, false)
  })
})

describe("the end of the Node transport's scope", () => {
  live("waits for a request that is under way", function* () {
    const server = yield* serveRaw(silence)
    const scope = yield* Scope.make()
    const call = send(yield* Effect.provideService(transport(), Scope.Scope, scope), server)
    const socket = yield* server.nextRequest
    const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
    json({})(socket, server.arrived[0] ?? assert.fail("no request"))
    assert.strictEqual(answered(yield* call.first).status, 200)
    yield* Fiber.join(closing)
  })

  live("ends a request that is still under way after the time to wait, and fails later ones as not sent", function* () {
    const server = yield* serveRaw(silence)
    const scope = yield* Scope.make()
    const via = yield* Effect.provideService(transport({ shutdownTimeout: "1 millis" }), Scope.Scope, scope)
    const call = send(via, server)
    yield* server.nextRequest
    yield* Scope.close(scope, Exit.void)
    const { kind, sent } = failure(yield* call.first)
    assert.deepStrictEqual([kind, sent], ["Broken", true])
    assert.strictEqual(failure(yield* send(via, server).first).sent, false)
    assert.strictEqual(server.requests(), 1)
  })
})
