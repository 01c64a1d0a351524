import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber, Latch, Layer, Logger, Redacted } from "effect"
import { HttpRouter } from "effect/http"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { Fault, Sandbox } from "effect-pix/sandbox"
import { Webhook, WebhookVerifier } from "effect-pix/webhook"
import { charge } from "../support/charges.ts"
import { nobody, recording, testWebhook } from "../support/webhooks.ts"

describe("the answer of a webhook", () => {
  const stream = (chunks: number, bytes: number) => {
    let sent = 0
    return {
      sent: () => sent,
      body: new ReadableStream<Uint8Array>({
        pull: (controller) => {
          if (sent++ < chunks) controller.enqueue(new Uint8Array(bytes).fill(32))
          else controller.close()
        }
      })
    }
  }
  const request = (init: RequestInit) => new Request("https://shop.example/webhooks/pix", { method: "POST", ...init })

  testWebhook(
    "the answer to another method is 405 and names the allowed method",
    Effect.gen(function* () {
      const { answer } = yield* recording()
      for (const method of ["GET", "PUT", "DELETE", "OPTIONS"]) {
        const response = yield* answer(request({ method }))
        assert.strictEqual(response.status, 405)
        assert.strictEqual(response.headers.get("allow"), "POST")
      }
    })
  )

  testWebhook(
    "the answer to a body that is too large is 413, by its content-length or while it streams",
    Effect.gen(function* () {
      const { answer, post } = yield* recording()
      assert.strictEqual(yield* post(`"${"x".repeat(64 * 1024)}"`), 413)
      assert.strictEqual(yield* post(`"${"x".repeat(64 * 1024 - 2)}"`), 200)
      assert.strictEqual(yield* post("{}", { "Content-Length": "65537" }), 413)
      const endless = stream(1_000_000, 1024)
      const init: RequestInit & { duplex: "half" } = { body: endless.body, duplex: "half" }
      assert.strictEqual((yield* answer(request(init))).status, 413)
      assert.isBelow(endless.sent(), 100)
    })
  )

  testWebhook(
    "the answer to an unreadable body is 400 and does not repeat the body",
    Effect.gen(function* () {
      const { answer, post, reports } = yield* recording()
      for (const body of ["", "{", "secret=1", '{"a":1}}', "\u0000"]) assert.strictEqual(yield* post(body), 400)
      assert.strictEqual((yield* answer(request({}))).status, 400)
      const notUtf8 = yield* answer(request({ body: new Uint8Array([0x22, 0xff, 0xfe, 0x22]) }))
      assert.strictEqual(notUtf8.status, 400)
      assert.strictEqual(yield* Effect.promise(() => notUtf8.text()), "")
      assert.deepStrictEqual(reports, [])
    })
  )

  testWebhook(
    "the answer to a body for which the user's finder throws is 400",
    Effect.gen(function* () {
      const { post } = yield* recording({
        find: () => {
          throw new Error("a bug")
        }
      })
      assert.strictEqual(yield* post({ transactionId: nobody() }), 400)
    })
  )

  testWebhook(
    "the answer is 503 if the delivery could not be recorded for 10 seconds",
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { post } = yield* recording()
      const isHeld = yield* Latch.make()
      yield* Effect.forkScoped(sql.withTransaction(Effect.andThen(isHeld.open, Effect.never)))
      yield* isHeld.await
      const fiber = yield* Effect.forkChild(post({ withdrawalId: 7 }))
      yield* TestClock.adjust("9 seconds")
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* Fiber.join(fiber), 503)
    })
  )

  testWebhook(
    "the answer to a body that does not arrive is 408",
    Effect.gen(function* () {
      const { answer } = yield* recording()
      const init: RequestInit & { duplex: "half" } = { body: new ReadableStream<Uint8Array>(), duplex: "half" }
      const fiber = yield* Effect.forkChild(answer(request(init)))
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual((yield* Fiber.join(fiber)).status, 408)
    })
  )

  testWebhook(
    "the answer to a delivery that names nothing is 200, and the delivery is reported",
    Effect.gen(function* () {
      const { idle, post, reasons } = yield* recording()
      for (const body of ["null", "[]", '"ping"', '{"type":"test"}', "1e999"])
        assert.strictEqual(yield* post(body), 200)
      yield* idle
      assert.deepStrictEqual(
        reasons(),
        Array.from({ length: 5 }, () => "Unrecognised")
      )
    })
  )

  testWebhook(
    "the answer is 503 with a retry-after if the verifier itself dies",
    Effect.gen(function* () {
      const { answer } = yield* recording({ verifier: () => Effect.die("a bug") })
      const { headers, status } = yield* answer(request({ body: "{}" }))
      assert.deepStrictEqual([status, headers.get("retry-after")], [503, "30"])
    })
  )

  testWebhook(
    "the answer is 503 if the verifier's secret cannot be read",
    Effect.gen(function* () {
      const { post } = yield* recording({
        verifier: WebhookVerifier.sharedSecret({ header: "s", secret: Effect.fail("the secret store is away") })
      })
      assert.deepStrictEqual([yield* post({}, { s: "x" }), yield* post({})], [503, 401])
    })
  )

  testWebhook(
    "the answer is 401 if the verifier refuses, and nothing is recorded",
    Effect.gen(function* () {
      const verifier: WebhookVerifier.WebhookVerifier = ({ headers }) =>
        headers["x-test"] === "yes"
          ? Effect.void
          : Effect.fail(new WebhookVerifier.WebhookRefused({ by: "test", reason: "Missing" }))
      const { idle, post, reports } = yield* recording({ verifier })
      assert.strictEqual(yield* post("not even json"), 401)
      assert.strictEqual(yield* post({ withdrawalId: 1 }), 401)
      yield* idle
      assert.deepStrictEqual(reports, [])
      assert.strictEqual(yield* post({ withdrawalId: 1 }, { "X-Test": "yes" }), 200)
      yield* idle
      assert.strictEqual(reports.length, 1)
    })
  )

  testWebhook(
    "the answer is sent before the handlers are called",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const { id } = yield* charge
      yield* sandbox.fault("getTransaction", Fault.latency("20 seconds"))
      const { post } = yield* recording()
      const before = yield* Clock.currentTimeMillis
      assert.strictEqual(yield* post({ transactionId: id }), 200)
      assert.strictEqual(yield* Clock.currentTimeMillis, before)
    })
  )
})

describe("the ways to receive a delivery", () => {
  it("a route answers on Effect's HttpRouter, under a prefix too", async () => {
    const app = Webhook.route("/webhooks/:secret").pipe(
      Layer.provide(
        Webhook.layer({
          verifier: WebhookVerifier.pathSecret({ secret: Redacted.make("open sesame") })
        })
      ),
      Layer.provide(Sandbox.layerPayments),
      Layer.provide(Logger.layer([]))
    )
    const { dispose, handler } = HttpRouter.toWebHandler(app, { disableLogger: true })
    const post = (path: string, method = "POST") =>
      handler(new Request(`https://shop.example${path}`, method === "POST" ? { method, body: "{}" } : { method }))
    const statuses = [
      await post("/webhooks/open%20sesame"),
      await post("/webhooks/open%20sesame?x=/1"),
      await post("/webhooks/other"),
      await post("/webhooks/%E0%A4%A"),
      await post("/webhooks/open%20sesame", "GET"),
      await post("/elsewhere")
    ].map(({ status }) => status)
    await dispose()
    assert.deepStrictEqual(statuses.toSpliced(3, 1), [200, 200, 401, 405, 404])
    assert.include([400, 401, 404], statuses[3])
  })

  it("a route whose path holds the secret is in no access log, and another one is", async () => {
    const logged = async (verifier: WebhookVerifier.WebhookVerifier) => {
      const lines: Array<string> = []
      const app = Webhook.route("/webhooks/:secret").pipe(
        Layer.provide(Webhook.layer({ verifier })),
        Layer.provide(Sandbox.layerPayments),
        Layer.provideMerge(Logger.layer([Logger.map(Logger.formatJson, (line) => void lines.push(line))]))
      )
      const { dispose, handler } = HttpRouter.toWebHandler(app)
      for (const secret of ["sesame", "wrong-one"]) {
        await handler(new Request(`https://shop.example/webhooks/${secret}`, { method: "POST", body: "{}" }))
      }
      await dispose()
      return lines.join("\n")
    }
    const inPath = WebhookVerifier.pathSecret({ secret: Redacted.make("sesame") })
    assert.notMatch(await logged(WebhookVerifier.all([inPath])), /sesame|wrong-one/)
    assert.match(await logged(WebhookVerifier.none), /sesame/)
  })
})
