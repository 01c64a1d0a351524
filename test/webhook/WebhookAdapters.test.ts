/**
 * How a webhook is mounted: a route of Effect's, a plain web handler, and a listener of Node's own server.
 */
import { Agent, createServer, type IncomingMessage, request, type RequestListener } from "node:http"
import { type AddressInfo, connect, type Socket } from "node:net"
import { assert, describe } from "@effect/vitest"
import { Clock, Deferred, Duration, Effect, Fiber, Layer, Logger, Redacted } from "effect"
import { HttpRouter } from "effect/http"
import { Hono } from "hono"
import { ConfigurationError } from "effect-pix"
import { NodeWebhook, Webhook, type WebhookOptions, WebhookVerifier } from "effect-pix/webhook"
import { Sandbox } from "effect-pix/sandbox"
import { TestClock } from "effect/testing"
import { vi } from "vitest"
import { paidCharge } from "../support/charges.ts"
import { effect, live } from "../support/effect.ts"
import { delivery, world } from "../support/webhooks.ts"

const sesame = WebhookVerifier.pathSecret({ secret: Redacted.make("open sesame") })

/** A web handler for one paid charge, the body of its delivery, and the ids that the handler confirmed. */
const shop = Effect.fnUntraced(function* (options: WebhookOptions = {}, more: Layer.Layer<never> = Layer.empty) {
  const gateway = yield* Layer.build(Layer.fresh(Sandbox.layerPayments))
  const id = yield* Effect.provideContext(paidCharge, gateway)
  const confirmed: Array<string> = []
  const onPaid = (event: { readonly id: string }) => Effect.sync(() => confirmed.push(event.id))
  const layer = Webhook.layer({ ...options, onPaid, onUnconfirmed: () => Effect.void }).pipe(
    Layer.provide(Layer.succeedContext(gateway)),
    Layer.merge(more)
  )
  const webhook = yield* Effect.acquireRelease(
    Effect.sync(() => Webhook.toWebHandler(layer)),
    ({ dispose }) => Effect.promise(dispose)
  )
  return { ...webhook, id, body: JSON.stringify({ transactionId: id, status: "Paid" }), confirmed, event: `${id}:Paid` }
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

const post = (url: string, body: string, headers: Record<string, string> = {}) =>
  Effect.promise(async () => (await fetch(url, { method: "POST", body, headers })).status)

/** Sends the head of a delivery and five bytes of a hundred. */
const stall = (port: number, then: (socket: Socket) => void) => {
  const socket = connect(port, "127.0.0.1", () => {
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"a":', () => then(socket))
  })
  return socket
}

/** What Express does to Node's request on the way to a router that is mounted at `/webhooks`. */
const asExpress = (req: IncomingMessage, ip: string) => {
  const { url = "" } = req
  return Object.assign(req, { originalUrl: url, url: url.replace("/webhooks", ""), ip })
}

describe("NodeWebhook.toListener", () => {
  live("a listener reads the body, the headers, the whole path, and the address that Express trusts", function* () {
    const webhook = yield* shop({
      verifier: WebhookVerifier.all([
        WebhookVerifier.sharedSecret({ header: "X-Webhook-Secret", secret: Redacted.make("open sesame") }),
        sesame,
        WebhookVerifier.ipAllowList(["203.0.113.0/24"])
      ])
    })
    let ip = "203.0.113.9"
    const { url } = yield* serve((req, res) => void NodeWebhook.toListener(webhook.handler)(asExpress(req, ip), res))
    const secret = { "X-Webhook-Secret": "open sesame" }
    const send = (path: string, headers?: Record<string, string>) =>
      post(`${url}/webhooks/${path}`, webhook.body, headers)
    assert.strictEqual(yield* send("open%20sesame?x=/1", secret), 200)
    assert.deepStrictEqual(webhook.confirmed, [webhook.event])
    assert.deepStrictEqual([yield* send("open%20sesame"), yield* send("other", secret)], [401, 401])
    ip = "198.51.100.9"
    assert.strictEqual(yield* send("open%20sesame", secret), 401)
  })

  live("a listener without Express reads the address of the connection", function* () {
    for (const [address, status] of [
      ["127.0.0.1", 200],
      ["203.0.113.9", 401]
    ] as const) {
      const webhook = yield* shop({ verifier: WebhookVerifier.ipAllowList([address]) })
      const { url } = yield* serve(NodeWebhook.toListener(webhook.handler))
      assert.strictEqual(yield* post(url, webhook.body), status)
    }
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
    const fast = Object.assign(Object.create(clock) as Clock.Clock, { sleep })
    const webhook = yield* shop({}, Layer.succeed(Clock.Clock, fast))
    const { port } = yield* serve(NodeWebhook.toListener(webhook.handler))
    const answers = yield* Effect.callback<ReadonlyArray<string>>((resume) => {
      const answers: Array<string> = []
      let text = ""
      const socket = stall(port, () => {})
      socket.on("data", (chunk) => {
        text += String(chunk)
        if (!text.includes("\r\n\r\n")) return
        answers.push(text.slice(0, 12))
        text = ""
        if (answers.length === 1) return socket.write(`${" ".repeat(95)}GET / HTTP/1.1\r\nHost: x\r\n\r\n`)
        socket.destroy()
        return resume(Effect.succeed(answers))
      })
    })
    assert.deepStrictEqual(answers, ["HTTP/1.1 408", "HTTP/1.1 405"])
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
    stall(port, (socket) => socket.destroy())
    yield* Deferred.await(first)
    assert.strictEqual(yield* post(url, webhook.body), 200)
  })

  live("a listener gives Express a failure of its handler, or of a body parser before it; else a 503", function* () {
    const problem = new ConfigurationError({ settings: [{ setting: "X", reason: "Missing", problem: "is not set" }] })
    const broken = Webhook.toWebHandler(Layer.effect(Webhook, Effect.fail(problem)))
    const [good, bad] = [NodeWebhook.toListener((yield* shop()).handler), NodeWebhook.toListener(broken.handler)]
    const errors: Array<unknown> = []
    const { url } = yield* serve((req, res) => {
      const report = (error: unknown) => {
        errors.push(error)
        res.writeHead(500).end()
      }
      if (req.url === "/plain") return void bad(req, res)
      if (req.url === "/express") return void bad(req, res, report)
      req.once("end", () => void good(req, res, report))
      return void req.resume()
    })
    const statuses = [
      yield* post(`${url}/plain`, "{}"),
      yield* post(`${url}/express`, "{}"),
      yield* post(`${url}/parsed`, "{}")
    ]
    assert.deepStrictEqual(statuses, [503, 500, 500])
    assert.strictEqual(errors[0], problem)
    assert.include(String(errors[1]), "comes after a body parser")
    yield* Effect.promise(broken.dispose)
  })
})

describe("Webhook.toWebHandler", () => {
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
      yield* Effect.promise(() => Promise.all(waiting))
      assert.deepStrictEqual(webhook.confirmed, [webhook.event])
    }
  )

  live("a web handler answers 499 to a caller that went away, checks, and rejects after dispose", function* () {
    const webhook = yield* shop()
    const gone = new AbortController()
    const stopped: RequestInit & { duplex: "half" } = {
      body: new ReadableStream(),
      duplex: "half",
      signal: gone.signal
    }
    const answer = webhook.handler(delivery("", stopped))
    gone.abort()
    assert.strictEqual((yield* Effect.promise(() => answer)).status, 499)
    yield* Effect.promise(() => webhook.check(webhook.id))
    assert.deepStrictEqual(webhook.confirmed, [webhook.event])
    const invalid = yield* Effect.promise(() => webhook.check("").catch((error: unknown) => error))
    assert.propertyVal(invalid, "_tag", "InvalidRequest")
    yield* Effect.promise(webhook.dispose)
    yield* Effect.flip(Effect.tryPromise(() => webhook.handler(delivery(webhook.body))))
  })

  for (const [where, isRecorded] of [
    ["with waitUntil", false],
    ["with waitUntil", true],
    ["on Cloudflare's workers", false]
  ] as const)
    effect(
      `${isRecorded ? "layerSql" : "layer"} ${where} is built for each request and closed, and shares the bound`,
      world,
      function* () {
        const services = yield* Effect.context<Layer.Success<typeof world>>()
        const clock = Layer.succeed(Clock.Clock, yield* Clock.Clock)
        const id = yield* paidCharge
        const waiting: Array<Promise<unknown>> = []
        const events: Array<string> = []
        const layers: Array<string> = []
        const begin = yield* Clock.currentTimeMillis
        const counted = Layer.effectDiscard(
          Effect.acquireRelease(
            Effect.sync(() => layers.push("built")),
            () => Effect.sync(() => layers.push("closed"))
          )
        )
        const onPaid = (event: { readonly id: string }) => Effect.sync(() => events.push(event.id))
        const options = { firstLookupsPerSecond: 1, onPaid }
        const layer = (isRecorded ? Webhook.layerSql(options) : Webhook.layer(options)).pipe(
          Layer.provide(Layer.succeedContext(services)),
          Layer.merge(counted),
          Layer.provideMerge(clock)
        )
        if (where !== "with waitUntil") vi.stubGlobal("navigator", { userAgent: "Cloudflare-Workers" })
        const { check, dispose, handler, idle } = Webhook.toWebHandler(
          layer,
          where === "with waitUntil" ? { waitUntil: (work) => void waiting.push(work) } : {}
        )
        vi.unstubAllGlobals()
        const ended = Effect.fnUntraced(function* <A>(work: () => Promise<A>) {
          const fiber = yield* Effect.forkChild(Effect.promise(work), { startImmediately: true })
          yield* Effect.repeat(TestClock.adjust("100 millis"), { until: () => fiber.pollUnsafe() !== undefined })
          return yield* Fiber.join(fiber)
        })
        const send = ended(() => handler(delivery({ id })).then(({ status }) => status))
        assert.deepStrictEqual([yield* send, yield* send], [200, 200])
        if (!isRecorded) assert.isAtLeast((yield* Clock.currentTimeMillis) - begin, 1000)
        yield* ended(() => check(id))
        yield* ended(() => Promise.all([...waiting, idle(), dispose()]))
        assert.deepStrictEqual(new Set(events), new Set([`${id}:Paid`]))
        assert.deepStrictEqual(
          [events.length, layers.filter((step) => step === "built").length, layers.length, waiting.length],
          [isRecorded ? 1 : 3, 3, 6, where === "with waitUntil" ? 3 : 0]
        )
      }
    )
})

describe("Webhook.route", () => {
  const routed = (options: WebhookOptions, logged: (line: string) => void, disableLogger: boolean) =>
    Effect.acquireRelease(
      Effect.sync(() =>
        HttpRouter.toWebHandler(
          Webhook.route("/webhooks/:secret").pipe(
            Layer.provide(Webhook.layer(options)),
            Layer.provide(Sandbox.layerPayments),
            Layer.provideMerge(Logger.layer([Logger.map(Logger.formatJson, logged)]))
          ),
          { disableLogger }
        )
      ),
      ({ dispose }) => Effect.promise(dispose)
    )

  live("a route answers on Effect's HttpRouter, under a prefix too", function* () {
    const { handler } = yield* routed({ verifier: sesame }, () => {}, true)
    for (const [path, method, statuses] of [
      ["/webhooks/open%20sesame", "POST", [200]],
      ["/webhooks/open%20sesame?x=/1", "POST", [200]],
      ["/webhooks/other", "POST", [401]],
      ["/webhooks/%E0%A4%A", "POST", [400, 401, 404]],
      ["/webhooks/open%20sesame", "GET", [405]],
      ["/elsewhere", "POST", [404]]
    ] as const) {
      const init = method === "POST" ? { method, body: "{}" } : { method }
      const { status } = yield* Effect.promise(() => handler(new Request(`https://shop.example${path}`, init)))
      assert.include(statuses, status, path)
    }
  })

  for (const [verifier, isLogged] of [
    [WebhookVerifier.all([sesame]), false],
    [WebhookVerifier.none, true]
  ] as const)
    live(`a route with ${isLogged ? "no secret is" : "a secret in its path is not"} in the access log`, function* () {
      const lines: Array<string> = []
      const { handler } = yield* routed({ verifier }, (line) => void lines.push(line), false)
      for (const path of ["open%20sesame", "wrong"]) {
        yield* Effect.promise(() =>
          handler(new Request(`https://shop.example/webhooks/${path}`, { method: "POST", body: "{}" }))
        )
      }
      assert.strictEqual(/sesame|wrong/.test(lines.join("\n")), isLogged)
    })
})
