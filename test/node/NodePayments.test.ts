import { assert, describe } from "@effect/vitest"
import { ConfigProvider, Effect, Fiber, Layer, Redacted, Stream } from "effect"
import { HttpClient } from "effect/http"
import { Payments, PaymentsPolicy } from "effect-pix"
import { NodePayments } from "effect-pix/node"
import { Sandbox } from "effect-pix/sandbox"
import { Agent } from "undici"
import { effect, live } from "../support/effect.ts"
import { createTransaction, listed, listTransactions } from "../support/operations.ts"
import { answer, closedPort, json, serveRaw, silence } from "../support/RawServer.ts"
import { paymentsOn } from "../support/Wire.ts"

const layer = NodePayments.layerHttpClient()

const ownAgent = Effect.acquireRelease(
  Effect.sync(() => new Agent()),
  (agent) => Effect.promise(() => agent.destroy())
)

describe("the HttpClient of NodePayments", () => {
  live("sends over the dispatcher, and follows no redirect", layer, function* () {
    const server = yield* serveRaw(answer(302, "moved", { location: "/elsewhere" }))
    const response = yield* HttpClient.post(`${server.url}/path?a=1`, { urlParams: { b: "x y" } })
    assert.deepStrictEqual([response.status, yield* response.text], [302, "moved"])
    assert.deepStrictEqual(
      server.arrived.map(({ method, path }) => [method, path]),
      [["POST", "/path?a=1&b=x+y"]]
    )
  })

  live("fails with a TransportError if no server listens", layer, function* () {
    assert.strictEqual((yield* Effect.flip(HttpClient.get(closedPort))).reason._tag, "TransportError")
  })

  live("still works after many answers were cancelled while they arrived", layer, function* () {
    const { requests, url } = yield* serveRaw(answer(200, "x".repeat(1000), { "content-length": 99_999_999 }))
    // The stream is opened and closed before it is read, as the client does to cancel a body that is too large.
    const give = Effect.flatMap(HttpClient.get(url), ({ stream }) => Effect.scoped(Stream.toPull(stream)))
    yield* Effect.forEach(Array.from({ length: 100 }), () => give, { concurrency: 16, discard: true })
    assert.strictEqual(requests(), 100)
  })

  live("closes the connection of a request that is interrupted", layer, function* () {
    const server = yield* serveRaw(silence)
    const fiber = yield* Effect.forkChild(HttpClient.get(server.url))
    const socket = yield* server.nextRequest
    const closed = Effect.callback<void>((resume) => void socket.once("close", () => resume(Effect.void)))
    const closing = yield* Effect.forkChild(closed, { startImmediately: true })
    yield* Fiber.interrupt(fiber)
    yield* Fiber.join(closing)
  })
})

describe("NodePayments.layerHttpClient", () => {
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

  live("sends over the dispatcher of the user, and does not close it", function* () {
    const { url } = yield* serveRaw(json({}))
    const get = Effect.provide(HttpClient.get(url), NodePayments.layerHttpClient({ dispatcher: yield* ownAgent }))
    assert.deepStrictEqual([(yield* get).status, (yield* get).status], [200, 200])
  })

  live("gives up a connection that is not made in time as not sent", function* () {
    const { port } = yield* serveRaw()
    const client = NodePayments.layerHttpClient({ connectTimeout: "1 millis" })
    const payments = paymentsOn(Layer.orDie(client), { baseUrl: `https://127.0.0.1:${port}` })
    const error = yield* Effect.flip(createTransaction.run).pipe(
      Effect.provideService(PaymentsPolicy, PaymentsPolicy.once),
      Effect.provide(payments)
    )
    assert.strictEqual(error.outcome, "NotSent")
  })
})

describe("Payments over NodePayments", () => {
  const listOver = Effect.fnUntraced(function* <E>(client: Layer.Layer<HttpClient.HttpClient, E>) {
    const { url } = yield* serveRaw(json(listed))
    yield* Effect.provide(listTransactions.run, paymentsOn(Layer.orDie(client), { baseUrl: url }))
  })

  live.each([Layer.provideMerge, Layer.provide])("sends over a client that a user wrapped, %#", function* (provide) {
    const seen: Array<string> = []
    const tapped = HttpClient.tapRequest((request) => Effect.sync(() => seen.push(request.method)))
    const wrapped = Layer.effect(HttpClient.HttpClient, Effect.map(HttpClient.HttpClient, tapped))
    yield* listOver(provide(wrapped, layer))
    assert.deepStrictEqual(seen, ["GET"])
  })

  live("sends over the dispatcher, and not over the layer's own client", function* () {
    const dispatched: Array<string> = []
    const dispatcher = (yield* ownAgent).compose((dispatch) => (options, handler) => {
      // Undici's own `request` makes a handler that is no class of this library.
      dispatched.push(handler.constructor.name)
      return dispatch(options, handler)
    })
    yield* listOver(NodePayments.layerHttpClient({ dispatcher }))
    assert.deepStrictEqual(dispatched, ["Exchange"])
  })

  live("takes all settings of NodePayments.layer from the environment", Sandbox.layerServer, function* () {
    const sandbox = yield* Sandbox
    const { apiKey, clientId } = yield* sandbox.credentials
    const provider = ConfigProvider.fromUnknown({
      PAYMENTS_BASE_URL: sandbox.baseUrl,
      PAYMENTS_CLIENT_ID: clientId,
      PAYMENTS_API_KEY: Redacted.value(apiKey)
    })
    const client = Layer.provide(NodePayments.layer, ConfigProvider.layer(provider))
    const { status } = yield* Effect.provide(
      Effect.flatMap(Payments, (payments) => createTransaction.call(payments)),
      client
    )
    assert.strictEqual(status, "WAITING_PAYMENT")
  })
})
