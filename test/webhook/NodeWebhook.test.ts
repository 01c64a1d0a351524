import { Agent, createServer, type IncomingMessage, request, type RequestListener } from "node:http"
import { type AddressInfo, connect } from "node:net"
import { NodeHttpServer } from "@effect/platform-node"
import { assert, describe } from "@effect/vitest"
import { Deferred, Effect, Layer, Option, Redacted } from "effect"
import { HttpServer } from "effect/http"
import { Sandbox } from "effect-pix/sandbox"
import { NodeWebhook, Webhook, WebhookVerifier } from "effect-pix/webhook"
import { live } from "../support/effect.ts"
import { webShop } from "../support/webHandlers.ts"

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

const fromAddress =
  (address: string): WebhookVerifier.WebhookVerifier =>
  ({ remoteAddress }) =>
    Option.contains(remoteAddress, address)
      ? Effect.void
      : new WebhookVerifier.WebhookRefused({ by: "address", reason: "Mismatch" })

/** What Express does to Node's request on the way to a router that is mounted at `/webhooks`. */
const asExpress = (req: IncomingMessage, ip: string) => {
  const { url = "" } = req
  return Object.assign(req, { originalUrl: url, url: url.replace("/webhooks", ""), ip })
}

describe("NodeWebhook.toListener", () => {
  live("a listener reads the body, the headers, the whole path, and the address that Express trusts", function* () {
    const webhook = yield* webShop({
      verifier: WebhookVerifier.all([
        WebhookVerifier.sharedSecret({ header: "X-Webhook-Secret", secret: Redacted.make("open sesame") }),
        WebhookVerifier.pathSecret({ secret: Redacted.make("open sesame") }),
        fromAddress("203.0.113.9")
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

  live("a listener without Express reads the address of the connection, which a refusal leaves open", function* () {
    const webhook = yield* webShop({ verifier: fromAddress("127.0.0.1") })
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

  live("a listener survives a caller that closes the connection in the middle of its body", function* () {
    const webhook = yield* webShop()
    const first = yield* Deferred.make<void>()
    const { port, url } = yield* serve((req, res) => {
      const ended = NodeWebhook.toListener(webhook.handler)(req, res)
      Deferred.doneUnsafe(
        first,
        Effect.promise(() => ended)
      )
    })
    const socket = connect(port, "127.0.0.1", () =>
      socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"a":', () => socket.destroy())
    )
    yield* Deferred.await(first)
    assert.strictEqual(yield* post(url, webhook.body), 200)
  })

  live("a listener gives Express a failure of its handler, or of a body parser before it; else a 503", function* () {
    const broken = Webhook.toWebHandler(Layer.effect(Webhook, Effect.fail("the layer")))
    const [good, bad] = [NodeWebhook.toListener((yield* webShop()).handler), NodeWebhook.toListener(broken.handler)]
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
    assert.strictEqual(errors[0], "the layer")
    assert.include(String(errors[1]), "comes after a body parser")
    yield* Effect.promise(broken.dispose)
  })
})

describe("NodeWebhook.layerServe", () => {
  live(
    "a server listens only when the webhook can answer, and a delivery before that is refused at the door",
    function* () {
      const server = createServer()
      const listened: Array<boolean> = []
      const look = Effect.sync(() => listened.push(server.listening))
      const webhook = Webhook.layer({}).pipe(Layer.provide([Sandbox.layerPayments, Layer.effectDiscard(look)]))
      const served = NodeWebhook.layerServe(
        Layer.merge(Webhook.route("/webhooks/pix"), Layer.effectDiscard(Effect.addFinalizer(() => look))),
        NodeHttpServer.layer(() => server, { host: "127.0.0.1", port: 0 })
      ).pipe(Layer.provide(webhook))
      yield* Effect.gen(function* () {
        const url = yield* HttpServer.addressFormattedWith(Effect.succeed)
        assert.strictEqual(yield* post(`${url}/webhooks/pix`, "{}"), 200)
      }).pipe(Effect.provide(served))
      // As the webhook was built, and as its route was closed.
      assert.deepStrictEqual(listened, [false, false])
    }
  )
})
