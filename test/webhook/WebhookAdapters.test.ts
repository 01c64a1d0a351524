import { Agent, createServer, type IncomingMessage, request, type RequestListener } from "node:http"
import { type AddressInfo, connect } from "node:net"
import { assert, describe } from "@effect/vitest"
import { Clock, Deferred, Duration, Effect, Layer, Redacted } from "effect"
import { Hono } from "hono"
import { ConfigurationError, Money, Payments } from "effect-pix"
import { NodeWebhook, Webhook, type WebhookOptions, WebhookVerifier } from "effect-pix/webhook"
import { Sandbox } from "effect-pix/sandbox"
import { live } from "../support/effect.ts"

/** A web handler, a sandbox with one paid charge, and the ids that the handler confirmed. */
const shop = Effect.fnUntraced(function* (options: Partial<WebhookOptions> = {}, clock?: Clock.Clock) {
  const sandbox = yield* Layer.build(Sandbox.layerPayments)
  const paid = yield* Effect.gen(function* () {
    const payments = yield* Payments
    const { id } = yield* payments.createTransaction({
      amount: Money.centavos(2500),
      paymentMethod: "PIX",
      customer: { name: "Maria Silva", email: "maria@example.com" }
    })
    yield* (yield* Sandbox).markPaid(id)
    return id
  }).pipe(Effect.provideContext(sandbox))
  const confirmed: Array<string> = []
  const webhook = yield* Effect.acquireRelease(
    Effect.sync(() =>
      Webhook.toWebHandler(
        Webhook.layer({
          ...options,
          onPaid: ({ id }) => Effect.sync(() => confirmed.push(id)),
          onUnconfirmed: () => Effect.void
        }).pipe(
          Layer.provide(Layer.succeedContext(sandbox)),
          Layer.merge(clock === undefined ? Layer.empty : Layer.succeed(Clock.Clock, clock))
        )
      )
    ),
    ({ dispose }) => Effect.promise(dispose)
  )
  return { ...webhook, body: JSON.stringify({ transactionId: paid, status: "Paid" }), confirmed, event: `${paid}:Paid` }
})

const serve = (listener: RequestListener) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly port: number; readonly url: string; readonly close: () => void }>((resume) => {
      const server = createServer(listener)
      const close = () => {
        server.close()
        server.closeAllConnections()
      }
      server.listen(0, "127.0.0.1", () => {
        // A TCP server always has an address with a port.
        const { port } = server.address() as AddressInfo
        resume(Effect.succeed({ port, url: `http://127.0.0.1:${port}`, close }))
      })
    }),
    ({ close }) => Effect.sync(close)
  )

const post = (url: string, body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
  Effect.promise(async () => (await fetch(url, { method: "POST", body, headers })).status)

/** What Express does to Node's request on the way to a router that is mounted at `/webhooks`. */
const asExpress = (req: IncomingMessage, ip: string) => {
  const { url = "" } = req
  return Object.assign(req, { originalUrl: url, url: url.replace("/webhooks", ""), ip })
}

describe("NodeWebhook.toListener", () => {
  live(
    "a listener reads a delivery from the wire: body, headers, the whole path, and the address that Express trusts",
    function* () {
      const webhook = yield* shop({
        verifier: WebhookVerifier.all([
          WebhookVerifier.sharedSecret({ header: "X-Webhook-Secret", secret: Redacted.make("open sesame") }),
          WebhookVerifier.pathSecret({ secret: Redacted.make("p a t h") }),
          WebhookVerifier.ipAllowList(["203.0.113.0/24"])
        ])
      })
      let ip = "203.0.113.9"
      const { url } = yield* serve((req, res) => void NodeWebhook.toListener(webhook.handler)(asExpress(req, ip), res))
      const secret = { "X-Webhook-Secret": "open sesame" }
      assert.strictEqual(yield* post(`${url}/webhooks/p%20a%20t%20h?x=/1`, webhook.body, secret), 200)
      yield* Effect.promise(webhook.idle)
      assert.deepStrictEqual(webhook.confirmed, [webhook.event])
      assert.strictEqual(yield* post(`${url}/webhooks/p%20a%20t%20h`, webhook.body), 401)
      assert.strictEqual(yield* post(`${url}/webhooks/path`, webhook.body, secret), 401)
      ip = "198.51.100.9"
      assert.strictEqual(yield* post(`${url}/webhooks/p%20a%20t%20h`, webhook.body, secret), 401)
    }
  )

  live("a listener without Express reads the address of the connection", function* () {
    const webhook = yield* shop({ verifier: WebhookVerifier.ipAllowList(["127.0.0.1"]) })
    const { url } = yield* serve(NodeWebhook.toListener(webhook.handler))
    assert.strictEqual(yield* post(url, webhook.body), 200)
  })

  live("a listener answers a refused delivery, and the connection stays open", function* () {
    const webhook = yield* shop()
    const { url } = yield* serve(NodeWebhook.toListener(webhook.handler))
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const sockets = new Set<unknown>()
    const send = (method: string, body: string) =>
      Effect.callback<readonly [number | undefined, string | undefined]>((resume) => {
        const call = request(url, { method, agent }, (response) => {
          sockets.add(response.socket)
          response.resume()
          response.once("end", () => resume(Effect.succeed([response.statusCode, response.headers.allow])))
        })
        call.end(body)
      })
    assert.deepStrictEqual(yield* send("POST", "x".repeat(1_000_000)), [413, undefined])
    assert.deepStrictEqual(yield* send("GET", ""), [405, "POST"])
    assert.deepStrictEqual(yield* send("POST", "{"), [400, undefined])
    assert.deepStrictEqual(yield* send("POST", webhook.body), [200, undefined])
    assert.strictEqual(sockets.size, 1)
    agent.destroy()
  })

  live("a listener answers 408 to a body that stops, and the connection is usable when the rest arrives", function* () {
    const clock = yield* Clock.Clock
    // A body may take 10 seconds: here these are 50 milliseconds.
    const sleep: Clock.Clock["sleep"] = (duration) => clock.sleep(Duration.millis(Duration.toMillis(duration) / 200))
    // `Object.create` has no type of its own: the clock's other methods are those of the prototype.
    const webhook = yield* shop({}, Object.assign(Object.create(clock) as Clock.Clock, { sleep }))
    const { port } = yield* serve(NodeWebhook.toListener(webhook.handler))
    const { rest, status } = yield* Effect.callback<{ readonly status: string; readonly rest: string }>((resume) => {
      const socket = connect(port, "127.0.0.1", () => {
        socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"a":')
      })
      let text = ""
      let status = ""
      socket.on("data", (chunk) => {
        text += String(chunk)
        if (!text.includes("\r\n\r\n")) return
        if (status === "") {
          status = text
          text = ""
          socket.write(`${" ".repeat(95)}GET / HTTP/1.1\r\nHost: x\r\n\r\n`)
        } else {
          socket.destroy()
          resume(Effect.succeed({ status, rest: text }))
        }
      })
    })
    assert.match(status, /^HTTP\/1\.1 408 /)
    assert.match(rest, /^HTTP\/1\.1 405 /)
  })

  live("a listener survives a caller that closes the connection in the middle of its body", function* () {
    const webhook = yield* shop()
    const first = yield* Deferred.make<void>()
    const { port, url } = yield* serve((req, res) => {
      const ended = NodeWebhook.toListener(webhook.handler)(req, res)
      Deferred.doneUnsafe(
        first,
        Effect.promise(() => ended)
      )
    })
    yield* Effect.callback<void>((resume) => {
      const socket = connect(port, "127.0.0.1", () => {
        socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"a":', () => {
          socket.destroy()
          resume(Effect.void)
        })
      })
    })
    yield* Deferred.await(first)
    assert.strictEqual(yield* post(url, webhook.body), 200)
  })

  live("a listener passes the failure of a handler to Express, and answers 503 without Express", function* () {
    const problem = new ConfigurationError({ settings: [{ setting: "X", reason: "Missing", problem: "is not set" }] })
    const broken = Webhook.toWebHandler(Layer.effect(Webhook, Effect.fail(problem)))
    const handler = NodeWebhook.toListener(broken.handler)
    const errors: Array<unknown> = []
    const { url } = yield* serve((req, res) => {
      if (req.url === "/plain") void handler(req, res)
      else
        void handler(req, res, (error) => {
          errors.push(error)
          res.writeHead(500).end()
        })
    })
    assert.strictEqual(yield* post(`${url}/plain`, "{}"), 503)
    assert.strictEqual(yield* post(`${url}/express`, "{}"), 500)
    assert.deepStrictEqual(errors, [problem])
    yield* Effect.promise(broken.dispose)
  })

  live("a listener fails for a body that a body parser has read, and does not answer 400", function* () {
    const webhook = yield* shop()
    const handler = NodeWebhook.toListener(webhook.handler)
    const errors: Array<unknown> = []
    const { url } = yield* serve((req, res) => {
      req.once("end", () => {
        void handler(req, res, (error) => {
          errors.push(error)
          res.writeHead(500).end()
        })
      })
      req.resume()
    })
    assert.strictEqual(yield* post(url, webhook.body), 500)
    assert.include(String(errors[0]), "comes after a body parser")
  })
})

/** A delivery whose body never arrives. */
const slowCall = () => {
  const gone = new AbortController()
  const body = new ReadableStream<Uint8Array>()
  const init: RequestInit & { duplex: "half" } = { method: "POST", body, duplex: "half", signal: gone.signal }
  return { request: new Request("https://shop.example/webhooks/pix", init), hangUp: () => gone.abort() }
}

describe("a plain web handler", () => {
  live(
    "a web handler is a route of Hono, with the address that Hono knows and the work after the answer",
    function* () {
      const webhook = yield* shop({ verifier: WebhookVerifier.ipAllowList(["203.0.113.9"]) })
      const waiting: Array<Promise<unknown>> = []
      const app = new Hono<{ Bindings: { readonly ip: string } }>()
      app.all("/webhooks/pix", (c) => {
        c.executionCtx.waitUntil(webhook.idle())
        return webhook.handler(c.req.raw, { remoteAddress: c.env.ip })
      })
      const context = {
        waitUntil: (promise: Promise<unknown>) => void waiting.push(promise),
        passThroughOnException: () => {},
        props: {}
      }
      const send = (init: RequestInit, ip = "203.0.113.9") =>
        Effect.promise(async () => (await app.request("/webhooks/pix", init, { ip }, context)).status)
      assert.strictEqual(yield* send({ method: "POST", body: webhook.body }), 200)
      assert.strictEqual(yield* send({ method: "POST", body: webhook.body }, "203.0.113.10"), 401)
      assert.strictEqual(yield* send({ method: "PUT", body: webhook.body }), 405)
      assert.strictEqual(yield* send({ method: "POST", body: "{" }), 400)
      yield* Effect.promise(webhook.idle)
      assert.deepStrictEqual(webhook.confirmed, [webhook.event])
      yield* Effect.promise(() => Promise.all(waiting))
    }
  )

  live("a web handler answers 499 and does not fail if the caller closes the connection", function* () {
    const webhook = yield* shop()
    const { hangUp, request } = slowCall()
    const answer = webhook.handler(request)
    hangUp()
    assert.strictEqual((yield* Effect.promise(() => answer)).status, 499)
  })
})
