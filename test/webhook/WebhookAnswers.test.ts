import { assert, describe } from "@effect/vitest"
import { Clock, Effect, Fiber, Latch, Option } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { Fault, Sandbox } from "effect-pix/sandbox"
import { WebhookVerifier } from "effect-pix/webhook"
import { charge, paidCharge } from "../support/charges.ts"
import { effect } from "../support/effect.ts"
import { makeWarnings } from "../support/payoutQueue.ts"
import { delivery, nobody, type Options, recording, world } from "../support/webhooks.ts"

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
    ["with the largest body", 200, { body: text(65_536) }],
    ["with a body of a byte more", 413, { body: text(65_537) }],
    ["that says its body is too large", 413, { body: "{}", headers: { "content-length": "65537" } }],
    ["that says its body has the largest size", 200, { body: "{}", headers: { "content-length": "65536" } }],
    ["with an empty body", 400, { body: "" }],
    ["with more than JSON", 400, { body: '{"a":1}}' }],
    ["with a body that is not UTF-8", 400, { body: new Uint8Array([0x22, 0xff, 0xfe, 0x22]) }],
    ["for which the user's finder throws", 400, { body: "{}" }, { find: bug }],
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

  effect("a body that never ends is read as far as 64 KiB", world, function* () {
    const { answer } = yield* recording()
    let sent = 0
    const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
      sent++
      controller.enqueue(new Uint8Array(1024).fill(32))
    }
    assert.strictEqual((yield* answer(delivery("", stream(new ReadableStream({ pull }))))).status, 413)
    assert.isBelow(sent, 100)
  })

  effect("a body that does not arrive for 10 seconds is answered with 408", world, function* () {
    const { answer } = yield* recording()
    const fiber = yield* Effect.forkChild(answer(delivery("", stream(new ReadableStream()))), {
      startImmediately: true
    })
    yield* TestClock.adjust("9 seconds")
    assert.isUndefined(fiber.pollUnsafe())
    yield* TestClock.adjust("1 second")
    assert.strictEqual((yield* Fiber.join(fiber)).status, 408)
  })

  effect("the answer of a recorded delivery or check is given before its lookup", world, function* () {
    const { id } = yield* charge
    yield* (yield* Sandbox).fault("getTransaction", Fault.latency("20 seconds"))
    const { check, claim } = yield* recording()
    const before = yield* Clock.currentTimeMillis
    assert.strictEqual(yield* claim(id), 200)
    yield* check(id)
    assert.strictEqual(yield* Clock.currentTimeMillis, before)
  })

  effect("a delivery that could not be recorded for 10 seconds is answered with 503", world, function* () {
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

  effect("a delivery on a full disk is answered with 503, which is an error in the log", world, function* () {
    const sql = yield* SqlClient.SqlClient
    const { layer, lines } = makeWarnings((line, { logLevel }) => `${logLevel} ${line}`)
    const { claim, idle, statuses } = yield* Effect.provide(recording(), layer)
    yield* sql`PRAGMA max_page_count = 1`
    for (let n = 0, status = 200; status === 200; n++) status = yield* Effect.provide(claim(nobody(n)), layer)
    const words = "a delivery was answered with 503: record failed on the database (DiskFull)"
    assert.isTrue(lines.some((line) => line.startsWith(`Error Webhook: ${words}`)))
    yield* sql`PRAGMA max_page_count = 1000000`
    assert.strictEqual(yield* claim(yield* paidCharge), 200)
    yield* TestClock.adjust("5 minutes")
    yield* idle
    assert.deepStrictEqual(statuses(), ["Paid"])
  })
})
