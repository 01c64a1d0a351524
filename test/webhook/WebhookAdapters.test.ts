/**
 * How a webhook is mounted: a route of Effect's, and a plain web handler.
 */
import { assert, describe } from "@effect/vitest"
import { Clock, Effect, Fiber, Layer, Logger, Redacted } from "effect"
import { HttpRouter } from "effect/http"
import { TestClock } from "effect/testing"
import { Hono } from "hono"
import { Webhook, WebhookVerifier } from "effect-pix/webhook"
import { Sandbox } from "effect-pix/sandbox"
import { vi } from "vitest"
import { paidCharge } from "../support/charges.ts"
import { effect, live } from "../support/effect.ts"
import { webShop } from "../support/webHandlers.ts"
import { delivery, world } from "../support/webhooks.ts"

const sesame = WebhookVerifier.pathSecret({ secret: Redacted.make("open sesame") })

describe("Webhook.toWebHandler", () => {
  live("a web handler is a route of Hono, with the address that Hono knows", function* () {
    const webhook = yield* webShop({ verifier: WebhookVerifier.ipAllowList(["203.0.113.9"]) })
    const app = new Hono<{ Bindings: { readonly ip: string } }>()
    app.all("/webhooks/pix", (c) => webhook.handler(c.req.raw, { remoteAddress: c.env.ip }))
    const send = (method: string, ip: string) =>
      Effect.promise(async () => (await app.request("/webhooks/pix", { method, body: webhook.body }, { ip })).status)
    assert.strictEqual(yield* send("POST", "203.0.113.9"), 200)
    assert.strictEqual(yield* send("POST", "203.0.113.10"), 401)
    assert.strictEqual(yield* send("PUT", "203.0.113.9"), 405)
    yield* Effect.promise(() => webhook.idle())
    assert.deepStrictEqual(webhook.confirmed, [webhook.event])
  })

  live("a web handler answers 499 to a caller that went away, checks, and rejects after dispose", function* () {
    const webhook = yield* webShop()
    const gone = AbortSignal.abort()
    assert.strictEqual((yield* Effect.promise(() => webhook.handler(delivery("", { signal: gone })))).status, 499)
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
    [WebhookVerifier.none, true]
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
})
