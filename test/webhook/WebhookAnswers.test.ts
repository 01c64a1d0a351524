/**
 * How a webhook is mounted, and what it answers.
 */
import { assert, describe } from "@effect/vitest"
import { Clock, Effect, Fiber, Latch, Layer, Logger, Option, Redacted, References } from "effect"
import { HttpRouter } from "effect/http"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { Sandbox } from "effect-pix/sandbox"
import { Webhook, WebhookVerifier } from "effect-pix/webhook"
import { Hono } from "hono"
import { inspect } from "node:util"
import { vi } from "vitest"
import { paidCharge } from "../support/charges.ts"
import { effect, live } from "../support/effect.ts"
import { makeWarnings } from "../support/payoutQueue.ts"
import { recordingTracer } from "../support/spans.ts"
import { webShop } from "../support/webHandlers.ts"
import { delivery, type Options, recording, world } from "../support/webhooks.ts"

/** The largest body that is read: docs/webhooks.md. */
const maxBodyBytes = 262_144
const stream = (body: ReadableStream<Uint8Array>): RequestInit & { duplex: "half" } => ({ body, duplex: "half" })
const text = (length: number) => `"${"x".repeat(length - 2)}"`
const secret = (value: Effect.Effect<never, string>) => WebhookVerifier.sharedSecret({ header: "s", secret: value })
const refused = (reason: WebhookVerifier.WebhookRefused["reason"]): Options => ({
  verifier: () => Effect.fail(new WebhookVerifier.WebhookRefused({ by: "test", reason }))
})
const bug = () => {
  throw new Error("a bug")
}

describe("the answer to a delivery", () => {
  for (const [what, status, init, options] of [
    ["that names nothing: null", 200, { body: "null" }],
    ["that names nothing: a list", 200, { body: "[]" }],
    ["that names nothing: a test of the service", 200, { body: '{"type":"test"}' }],
    ["with the largest body", 200, { body: text(maxBodyBytes) }],
    ["with an image in it", 200, { body: JSON.stringify({ providerPayload: "A".repeat(200_000) }) }],
    ["with a body of a byte more", 413, { body: text(maxBodyBytes + 1) }],
    ["that says its body is too large", 413, { body: "{}", headers: { "content-length": `${maxBodyBytes + 1}` } }],
    ["that says its body has the largest size", 200, { body: "{}", headers: { "content-length": `${maxBodyBytes}` } }],
    ["with an empty body", 400, { body: "" }],
    ["with more than JSON", 400, { body: '{"a":1}}' }],
    ["with a text that is not UTF-8", 200, { body: new Uint8Array([0x22, 0xff, 0xfe, 0x22]) }],
    ["with bytes that are no JSON", 400, { body: new Uint8Array([0xff, 0xfe, 0x22]) }],
    ["with a form", 400, { body: "a=1", headers: { "content-type": "application/x-www-form-urlencoded" } }],
    ["with an empty body, for a finder of the user's", 200, { body: "" }, { find: () => ({ about: "Unknown" }) }],
    ["for which the user's finder throws", 400, { body: "{}" }, { find: bug }],
    ["that is a list of 101 items that name nothing", 413, { body: JSON.stringify({ data: Array(101).fill(1) }) }],
    ["that is a list of 100 such items", 200, { body: JSON.stringify({ data: Array(100).fill(1) }) }],
    [
      "in which the user's finder finds 101 hints",
      413,
      { body: "{}" },
      { find: () => Array.from({ length: 101 }, () => ({ about: "Unknown" as const })) }
    ],
    [
      "that names 101 withdrawals",
      413,
      { body: JSON.stringify(Array.from({ length: 101 }, () => ({ withdrawId: 7 }))) }
    ],
    [
      "for which the user's finder finds nothing of several",
      200,
      { body: "{}" },
      { find: () => [{ about: "Unknown" }] }
    ],
    ["that is a GET", 405, { method: "GET", body: null }],
    ["that is a PUT", 405, { method: "PUT", body: "{}" }],
    ["that the verifier refuses", 401, { body: "not even json" }, refused("Mismatch")],
    ["that lacks what the verifier compares", 401, { body: "{}" }, refused("Missing")],
    [
      "whose secret cannot be read",
      503,
      { body: "{}", headers: { s: "x" } },
      { verifier: secret(Effect.fail("away")) }
    ],
    ["for which the verifier dies", 503, { body: "{}" }, { verifier: () => Effect.die("a bug") }]
  ] as ReadonlyArray<readonly [string, number, RequestInit, Options?]>)
    effect(`the answer to a delivery ${what} is ${status}, without a body`, world, function* () {
      const { answer, idle, reasons } = yield* recording(options)
      const response = yield* answer(new Request("https://shop.example/webhooks/pix", { method: "POST", ...init }))
      const { headers } = response
      assert.deepStrictEqual(
        [response.status, headers.get("allow"), headers.get("retry-after")],
        [status, status === 405 ? "POST" : null, status === 503 ? "30" : null]
      )
      assert.strictEqual(yield* Effect.promise(() => response.text()), "")
      yield* idle
      assert.deepStrictEqual(reasons(), status === 200 ? ["Unrecognised"] : [])
    })

  effect("the verifier gets the headers, the path, the address and the body byte for byte", world, function* () {
    const seen: Array<unknown> = []
    const verifier: WebhookVerifier.WebhookVerifier = ({ body, headers, path, remoteAddress }) =>
      Effect.sync(() =>
        seen.push([new TextDecoder().decode(body), headers["x-test"], path, Option.getOrNull(remoteAddress)])
      )
    const { answer } = yield* recording({ verifier })
    const request = delivery(' {"a": 1}', { headers: { "X-Test": "yes" } })
    yield* answer(new Request("https://shop.example/a%20b?x=/1#y", request), { remoteAddress: "203.0.113.9" })
    yield* answer(delivery("{}"))
    assert.deepStrictEqual(seen, [
      [' {"a": 1}', "yes", "/a%20b", "203.0.113.9"],
      ["{}", undefined, "/webhooks/pix", null]
    ])
  })

  effect("the finder of the user gets the text, the type and the query of what is no JSON", world, function* () {
    const seen: Array<unknown> = []
    const { answer, events, idle } = yield* recording({
      find: (json, { query, text, type }) => {
        seen.push([json, text, type, query.get("x")])
        const transactionId = new URLSearchParams(text).get("id") ?? query.get("id") ?? undefined
        return { about: "Transaction", transactionId }
      }
    })
    const id = yield* paidCharge
    const form = { headers: { "content-type": "Application/X-WWW-Form-Urlencoded; charset=UTF-8" } }
    const post = (query: string, body: string, init: RequestInit = {}) =>
      answer(new Request(`https://shop.example/webhooks/pix${query}`, { method: "POST", body, ...init }))
    assert.strictEqual((yield* post("?x=1&y=%2F#z", `id=${id}`, form)).status, 200)
    assert.strictEqual((yield* post(`?id=${id}`, "")).status, 200)
    yield* post("", "[1]", { headers: { "content-type": "application/json" } })
    yield* idle
    assert.deepStrictEqual(seen, [
      [undefined, `id=${id}`, "application/x-www-form-urlencoded", "1"],
      [undefined, "", "text/plain", null],
      [[1], "[1]", "application/json", null]
    ])
    assert.deepStrictEqual(
      events.map(({ transaction }) => transaction.transactionId),
      [id]
    )
  })

  effect.each([
    ["application/octet-stream"],
    ["application/json"],
    ["application/json; charset=iso-8859-1"],
    ["text/json; charset=windows-1252"]
  ] as const)(
    "a delivery in ISO-8859-1 is read whatever names are in it, and the verifier gets its bytes: %s",
    world,
    function* ([type]) {
      const seen: Array<Uint8Array> = []
      const { answer, events, idle } = yield* recording({ verifier: ({ body }) => Effect.sync(() => seen.push(body)) })
      const id = yield* paidCharge
      const body = Buffer.from(`{"transactionId":"${id}","status":"Paid","lead":{"name":"José Conceição"}}`, "latin1")
      assert.strictEqual((yield* answer(delivery("", { body, headers: { "content-type": type } }))).status, 200)
      yield* idle
      assert.deepStrictEqual(
        events.map(({ transaction }) => transaction.transactionId),
        [id]
      )
      assert.deepStrictEqual(Buffer.from(seen[0] ?? []), body)
    }
  )

  effect("a body that never ends is read as far as 256 KiB", world, function* () {
    const { answer } = yield* recording()
    let sent = 0
    const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
      sent++
      controller.enqueue(new Uint8Array(1024).fill(32))
    }
    assert.strictEqual((yield* answer(delivery("", stream(new ReadableStream({ pull }))))).status, 413)
    assert.isBelow(sent, 300)
  })

  effect("a body that does not arrive for 10 seconds is answered with 408, as a timeout", world, function* () {
    const { layer, lines } = makeWarnings(
      (_, { fiber }) => fiber.getRef(References.CurrentLogAnnotations)["error.type"]
    )
    const { answer } = yield* recording()
    const delivered = Effect.provide(answer(delivery("", stream(new ReadableStream()))), layer)
    const fiber = yield* Effect.forkChild(delivered, { startImmediately: true })
    yield* TestClock.adjust("9 seconds")
    assert.isUndefined(fiber.pollUnsafe())
    yield* TestClock.adjust("1 second")
    assert.deepStrictEqual([(yield* Fiber.join(fiber)).status, lines], [408, ["Timeout"]])
  })

  effect(
    "a delivery that waits 8 seconds for a connection to the database is answered with 503, which is an error",
    world,
    function* () {
      const sql = yield* SqlClient.SqlClient
      const { layer, lines } = makeWarnings((line, { logLevel }) => `${logLevel} ${line}`)
      const { post } = yield* recording()
      const isHeld = yield* Latch.make()
      yield* Effect.forkScoped(sql.withTransaction(Effect.andThen(isHeld.open, Effect.never)))
      yield* isHeld.await
      const fiber = yield* Effect.forkChild(Effect.provide(post({ withdrawalId: 7 }), layer))
      yield* TestClock.adjust("7 seconds")
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* Fiber.join(fiber), 503)
      const words = "a delivery was answered with 503: record failed on the database (NoConnection)"
      assert.isTrue(lines.at(-1)?.startsWith(`Error Webhook: ${words}`), lines.at(-1))
    }
  )
})

const sesame = WebhookVerifier.pathSecret({ secret: Redacted.make("open sesame") })

describe("Webhook.toWebHandler", () => {
  live("a web handler is a route of Hono", function* () {
    const webhook = yield* webShop()
    const app = new Hono()
    app.all("/webhooks/pix", (c) => webhook.handler(c.req.raw))
    const send = { method: "POST", body: webhook.body }
    assert.strictEqual((yield* Effect.promise(async () => app.request("/webhooks/pix", send))).status, 200)
    assert.deepStrictEqual(webhook.confirmed, [webhook.event])
  })

  live("a web handler answers 499 to a caller that went away, checks, and rejects after dispose", function* () {
    const webhook = yield* webShop()
    const gone = AbortSignal.abort()
    assert.strictEqual((yield* Effect.promise(() => webhook.handler(delivery("", { signal: gone })))).status, 499)
    yield* Effect.promise(() => webhook.check(webhook.id))
    yield* Effect.promise(webhook.idle)
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
        assert.deepStrictEqual(layers.toSorted(), ["built", "built", "built", "closed", "closed", "closed"])
        assert.deepStrictEqual(
          [events.length, waiting.length],
          [isRecorded ? 1 : 3, where === "with waitUntil" ? 3 : 0]
        )
      }
    )
})

describe("Webhook.route", () => {
  for (const [verifier, isLogged] of [
    [WebhookVerifier.all([sesame]), false],
    [undefined, true]
  ] as const)
    live(`a route with ${isLogged ? "no secret is" : "a secret in its path is not"} in the access log`, function* () {
      const lines: Array<string> = []
      const routes = Webhook.route("/webhooks/:secret").pipe(
        Layer.provide(Webhook.layer({ verifier })),
        Layer.provide(Sandbox.layerPayments),
        Layer.provideMerge(Logger.layer([Logger.map(Logger.formatJson, (line) => void lines.push(line))]))
      )
      const { dispose, handler } = HttpRouter.toWebHandler(routes)
      yield* Effect.addFinalizer(() => Effect.promise(dispose))
      for (const [path, method, status] of [
        ["/webhooks/open%20sesame", "POST", 200],
        ["/webhooks/open%20sesame?x=/1", "POST", 200],
        ["/webhooks/wrong", "POST", isLogged ? 200 : 401],
        ["/webhooks/open%20sesame", "GET", 405],
        ["/elsewhere", "POST", 404]
      ] as const) {
        const init = method === "POST" ? { method, body: "{}" } : { method }
        const answer = yield* Effect.promise(() => handler(new Request(`https://shop.example${path}`, init)))
        assert.strictEqual(answer.status, status, path)
      }
      assert.strictEqual(/sesame|wrong/.test(lines.join("\n")), isLogged)
    })

  for (const route of ["/webhooks/:secret", "/webhooks/sesame"] as const)
    live(`a secret in the path is in no span of the server of ${route}, also where it answers 503`, function* () {
      const { layer: tracer, spans } = recordingTracer()
      const routes = Webhook.route(route).pipe(
        Layer.provide(
          Webhook.layer({
            verifier: WebhookVerifier.pathSecret({ secret: Redacted.make("sesame") }),
            onUnconfirmed: () => Effect.fail("later")
          })
        ),
        Layer.provide(Sandbox.layerPayments),
        Layer.provideMerge(tracer),
        Layer.provideMerge(Logger.layer([]))
      )
      const { dispose, handler } = HttpRouter.toWebHandler(routes)
      yield* Effect.addFinalizer(() => Effect.promise(dispose))
      const statuses = yield* Effect.forEach(["POST", "GET"], (method) =>
        Effect.promise(async () => {
          const init = method === "POST" ? { method, body: "{}" } : { method }
          return (await handler(new Request("https://shop.example/webhooks/sesame?a=/1", init))).status
        })
      )
      assert.deepStrictEqual(statuses, [503, 405])
      const servers = spans.filter(({ kind }) => kind === "server")
      assert.lengthOf(servers, 2)
      for (const { attributes } of servers) {
        assert.strictEqual(attributes.get("url.path"), "/webhooks/[redacted]")
        assert.strictEqual(attributes.get("http.route"), route.replace("sesame", "[redacted]"))
      }
      assert.strictEqual(servers[0]?.status._tag, "Ended")
      assert.notMatch(
        inspect(
          spans.map(({ attributes, name, status }) => [attributes, name, status]),
          { depth: 9 }
        ),
        /sesame/
      )
    })
})
