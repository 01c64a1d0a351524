import { assert, describe } from "@effect/vitest"
import { ConfigProvider, Deferred, Effect, Fiber, Layer, Redacted, Stream } from "effect"
import { HttpBody, HttpClient, HttpClientRequest } from "effect/http"
import { IdempotencyKeyGen, Payments } from "effect-pix"
import { NodePayments } from "effect-pix/node"
import { Sandbox } from "effect-pix/sandbox"
import * as Http from "node:http"
import type { AddressInfo } from "node:net"
import { Agent } from "undici"
import { serveRaw } from "../support/RawServer.ts"
import { charge } from "../support/operations.ts"
import { credentials } from "../support/Wire.ts"
import { effect, live } from "../support/effect.ts"

/** A server that echoes the request. Some paths get another answer. */
const serve = Effect.acquireRelease(
  Effect.callback<{ readonly url: string; readonly server: Http.Server }>((resume) => {
    const server = Http.createServer((request, response) => {
      const chunks: Array<Buffer> = []
      request.on("data", (chunk: Buffer) => chunks.push(chunk))
      request.on("end", () => {
        const { headers, method, url } = request
        if (url === "/empty") return response.writeHead(204).end()
        if (url === "/missing") return response.writeHead(404).end("nothing here")
        if (url === "/cookies") return response.writeHead(200, { "set-cookie": ["a=1; Path=/", "b=2"] }).end()
        if (url === "/moved") return response.writeHead(302, { location: "/elsewhere" }).end()
        if (url === "/silent") return
        response.writeHead(200, { "content-type": "application/json" })
        return response.end(JSON.stringify({ method, url, headers, body: Buffer.concat(chunks).toString("utf8") }))
      })
    })
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo // a TCP server has an address
      resume(Effect.succeed({ server, url: `http://127.0.0.1:${port}` }))
    })
  }),
  ({ server }) =>
    Effect.sync(() => {
      server.close()
      server.closeAllConnections()
    })
)

const layer = NodePayments.layerHttpClient()

const echoed = (request: HttpClientRequest.HttpClientRequest) =>
  Effect.flatMap(HttpClient.execute(request), ({ json }) => json)

describe("the HttpClient of NodePayments", () => {
  for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const) {
    live(`sends ${method} with headers and query`, layer, function* () {
      const { url } = yield* serve
      const request = HttpClientRequest.make(method)(`${url}/path?a=1`, {
        urlParams: { b: "x y" },
        headers: { "x-one": "1" }
      })
      const seen = yield* echoed(request)
      assert.deepInclude(seen, { method, url: "/path?a=1&b=x+y" })
      assert.deepNestedInclude(seen, { "headers.x-one": "1" })
    })
  }

  live("answers HEAD without a body", layer, function* () {
    const { url } = yield* serve
    const response = yield* HttpClient.head(url)
    assert.deepStrictEqual([response.status, yield* response.text], [200, ""])
  })

  const bodies: Record<string, HttpBody.HttpBody> = {
    text: HttpBody.text("plain", "text/plain"),
    bytes: HttpBody.uint8Array(new TextEncoder().encode("plain")),
    "a stream": HttpBody.stream(Stream.make(new TextEncoder().encode("pl"), new TextEncoder().encode("ain"))),
    "a raw value": HttpBody.raw("plain")
  }
  for (const [name, body] of Object.entries(bodies)) {
    live(`sends a body that is ${name}`, layer, function* () {
      const { url } = yield* serve
      assert.deepInclude(yield* echoed(HttpClientRequest.post(url, { body })), { body: "plain" })
    })
  }

  live("sends a form with its boundary", layer, function* () {
    const { url } = yield* serve
    const form = new FormData()
    form.append("name", "Maria")
    const seen = JSON.stringify(yield* echoed(HttpClientRequest.post(url, { body: HttpBody.formData(form) })))
    assert.match(seen, /"content-type":"multipart\/form-data; boundary=/)
    assert.include(seen, 'name=\\"name\\"')
  })

  live("returns the body as text, JSON, bytes and a stream", layer, function* () {
    const { url } = yield* serve
    const get = HttpClient.get(`${url}/missing`)
    const text = yield* Effect.flatMap(get, (response) => response.text)
    assert.strictEqual(text, "nothing here")
    const bytes = yield* Effect.flatMap(get, (response) => response.arrayBuffer)
    assert.strictEqual(bytes.byteLength, text.length)
    const chunks = yield* Effect.flatMap(get, (response) => Stream.runCollect(response.stream))
    assert.strictEqual(Buffer.concat(chunks).toString("utf8"), text)
  })

  live("returns the status unchanged, an empty answer, and each cookie", layer, function* () {
    const { url } = yield* serve
    const missing = yield* HttpClient.get(`${url}/missing`)
    assert.deepStrictEqual([missing.status, yield* missing.text], [404, "nothing here"])
    const empty = yield* HttpClient.get(`${url}/empty`)
    assert.deepStrictEqual([empty.status, yield* empty.text], [204, ""])
    const { cookies } = yield* HttpClient.get(`${url}/cookies`)
    assert.deepStrictEqual(Object.keys(cookies.cookies), ["a", "b"])
  })

  live("returns the address of the request, and follows no redirect", layer, function* () {
    const { url } = yield* serve
    const response = yield* HttpClient.get(`${url}/moved#there`)
    assert.deepStrictEqual([response.status, response.url], [302, `${url}/moved`])
  })

  live("fails with a TransportError if no server listens", layer, function* () {
    const error = yield* Effect.flip(HttpClient.get("http://127.0.0.1:4/"))
    assert.strictEqual(error.reason._tag, "TransportError")
  })

  live("still works after many answers were cancelled while they arrived", layer, function* () {
    const { port, requests } = yield* serveRaw((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 99999999\r\n\r\n${"x".repeat(1000)}`)
    })
    // The stream is opened and closed before it is read, as the client does to cancel a body that is too large.
    const give = HttpClient.get(`http://127.0.0.1:${port}/`).pipe(
      Effect.flatMap(({ stream }) => Effect.scoped(Stream.toPull(stream)))
    )
    yield* Effect.forEach(Array.from({ length: 100 }), () => give, { concurrency: 16, discard: true })
    assert.strictEqual(requests(), 100)
  })

  live("closes the connection of a request that is interrupted", layer, function* () {
    const { server, url } = yield* serve
    const opened = Deferred.makeUnsafe<void>()
    const closed = Deferred.makeUnsafe<void>()
    server.on("request", (request) => {
      Deferred.doneUnsafe(opened, Effect.void)
      request.socket.once("close", () => Deferred.doneUnsafe(closed, Effect.void))
    })
    const fiber = yield* Effect.forkChild(HttpClient.get(`${url}/silent`))
    yield* Deferred.await(opened)
    yield* Fiber.interrupt(fiber)
    yield* Deferred.await(closed)
  })
})

describe("NodePayments.layerHttpClient", () => {
  for (const options of [
    { connections: 0 },
    { connections: 1.5 },
    { connectTimeout: "0 seconds" },
    { keepAliveTimeout: -1 },
    { shutdownTimeout: Number.NaN }
  ] satisfies ReadonlyArray<NodePayments.Options>) {
    effect(`refuses ${JSON.stringify(options)} as a ConfigurationError that names the setting`, function* () {
      const error = yield* Effect.flip(Effect.scoped(Layer.build(NodePayments.layerHttpClient(options))))
      assert.strictEqual(error._tag, "ConfigurationError")
      assert.include(error.message, Object.keys(options)[0] ?? "")
    })
  }

  live("sends over the dispatcher of the user, and does not close it", function* () {
    const { url } = yield* serve
    const dispatcher = yield* Effect.acquireRelease(
      Effect.sync(() => new Agent()),
      (agent) => Effect.promise(() => agent.destroy())
    )
    const get = Effect.provide(HttpClient.get(url), NodePayments.layerHttpClient({ dispatcher }))
    assert.strictEqual((yield* get).status, 200)
    assert.strictEqual((yield* get).status, 200)
  })
})

/** A client that a user wrapped, which notes the methods of its requests. */
const tapped = (seen: Array<string>) =>
  Layer.effect(
    HttpClient.HttpClient,
    Effect.map(HttpClient.HttpClient, (client) =>
      HttpClient.tapRequest(client, (request) => Effect.sync(() => seen.push(request.method)))
    )
  )

/** Lists the transactions of a server over a client, whatever it answers. */
const listOver = <E>(client: Layer.Layer<HttpClient.HttpClient, E>) =>
  Effect.flatMap(serve, ({ url }) => {
    const payments = Payments.layer({ baseUrl: url }).pipe(
      Layer.provide([client, credentials, IdempotencyKeyGen.layerSequential])
    )
    return Effect.provide(
      Effect.flatMap(Payments, ({ listTransactions }) => Effect.exit(listTransactions())),
      payments
    )
  })

describe("Payments over NodePayments", () => {
  live("a client that a user wraps is used also where the layer's own client is still in the context", function* () {
    const seen: Array<string> = []
    const wrapped = tapped(seen).pipe(Layer.provideMerge(layer))
    yield* listOver(wrapped)
    assert.deepStrictEqual(seen, ["GET"])
  })

  live("the layer's own client is not used: Payments sends over its dispatcher", function* () {
    const dispatched: Array<string> = []
    const agent = yield* Effect.acquireRelease(
      Effect.sync(() => new Agent()),
      (agent) => Effect.promise(() => agent.destroy())
    )
    const dispatcher = agent.compose((dispatch) => (options, handler) => {
      // Undici's own `request` makes a handler that is no class of this library.
      dispatched.push(handler.constructor.name)
      return dispatch(options, handler)
    })
    yield* listOver(NodePayments.layerHttpClient({ dispatcher }))
    assert.deepStrictEqual(dispatched, ["Exchange"])
  })

  live("NodePayments.layer reads all settings from the environment", Sandbox.layerServer, function* () {
    const sandbox = yield* Sandbox
    const { apiKey, clientId } = yield* sandbox.credentials
    const provider = ConfigProvider.fromUnknown({
      PAYMENTS_BASE_URL: sandbox.baseUrl,
      PAYMENTS_CLIENT_ID: clientId,
      PAYMENTS_API_KEY: Redacted.value(apiKey)
    })
    const program = Effect.flatMap(Payments, (payments) => payments.createTransaction(charge))
    const { status } = yield* Effect.provide(program, Layer.provide(NodePayments.layer, ConfigProvider.layer(provider)))
    assert.strictEqual(status, "WAITING_PAYMENT")
  })

  live("a change that a user wraps around the client has its effect", function* () {
    const seen: Array<string> = []
    const wrapped = tapped(seen).pipe(Layer.provide(layer))
    yield* listOver(wrapped)
    assert.deepStrictEqual(seen, ["GET"])
  })
})
