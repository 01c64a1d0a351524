import { assert, describe } from "@effect/vitest"
import { ConfigProvider, Effect, Layer, Redacted } from "effect"
import { HttpClient } from "effect/http"
import { Payments, PaymentsPolicy } from "effect-pix"
import { NodePayments } from "effect-pix/node"
import { Sandbox } from "effect-pix/sandbox"
import { Agent } from "undici"
import { effect, live } from "../support/effect.ts"
import { createTransaction, listed, listTransactions } from "../support/operations.ts"
import { answer, json, serveRaw } from "../support/RawServer.ts"
import { paymentsOn } from "../support/Wire.ts"

const ownAgent = Effect.acquireRelease(
  Effect.sync(() => new Agent()),
  (agent) => Effect.promise(() => agent.destroy())
)

describe("the HttpClient of NodePayments", () => {
  live("sends over the dispatcher, and follows no redirect", NodePayments.layerHttpClient(), function* () {
    const server = yield* serveRaw(answer(302, "moved", { location: "/elsewhere" }))
    const response = yield* HttpClient.post(`${server.url}/path?a=1`, { urlParams: { b: "x y" } })
    assert.deepStrictEqual([response.status, yield* response.text], [302, "moved"])
    assert.deepStrictEqual(
      server.arrived.map(({ method, path }) => [method, path]),
      [["POST", "/path?a=1&b=x+y"]]
    )
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
  live("sends over the dispatcher, and not over the layer's own client", function* () {
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
