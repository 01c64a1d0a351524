import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Option, Redacted, Result } from "effect"
import { TestClock } from "effect/testing"
import { inspect } from "node:util"
import * as WebhookVerifier from "../../src/webhook/WebhookVerifier.ts"
import { effect } from "../support/effect.ts"

const bytes = (text: string) => new TextEncoder().encode(text)

const delivery = (parts: Partial<Omit<WebhookVerifier.WebhookRequest, "body">> & { readonly body?: string } = {}) => ({
  headers: {},
  path: "/webhooks/pix",
  remoteAddress: Option.none<string>(),
  ...parts,
  body: bytes(parts.body ?? "")
})

const from = (address: string) => delivery({ remoteAddress: Option.some(address) })

/** `Accepted`, or the reason of the refusal. */
const verdict = (verifier: WebhookVerifier.WebhookVerifier, request: WebhookVerifier.WebhookRequest) =>
  Effect.map(Effect.result(verifier(request)), (result) =>
    Result.isSuccess(result) ? "Accepted" : result.failure.reason
  )

const secret = Redacted.make("It's a Secret to Everybody")

describe("sharedSecret", () => {
  effect("sharedSecret accepts the secret and nothing else, in any case of the header's name", function* () {
    const verifier = WebhookVerifier.sharedSecret({ header: "X-Webhook-Secret", secret })
    const given = (value: string) => verdict(verifier, delivery({ headers: { "x-webhook-secret": value } }))
    assert.strictEqual(yield* given(Redacted.value(secret)), "Accepted")
    for (const wrong of ["", "x", `${Redacted.value(secret)} `, Redacted.value(secret).toLowerCase()]) {
      assert.strictEqual(yield* given(wrong), "Mismatch")
    }
    assert.strictEqual(yield* verdict(verifier, delivery()), "Missing")
  })

  effect("sharedSecret accepts the old and the new secret while they are exchanged", function* () {
    const verifier = WebhookVerifier.sharedSecret({
      header: "s",
      secret: [Redacted.make("old"), Redacted.make("new")]
    })
    for (const value of ["old", "new"]) {
      assert.strictEqual(yield* verdict(verifier, delivery({ headers: { s: value } })), "Accepted")
    }
    assert.strictEqual(yield* verdict(verifier, delivery({ headers: { s: "oldnew" } })), "Mismatch")
  })
})

describe("pathSecret", () => {
  effect("pathSecret accepts the secret as the last segment of the path", function* () {
    const verifier = WebhookVerifier.pathSecret({ secret: Redacted.make("a b") })
    assert.strictEqual(yield* verdict(verifier, delivery({ path: "/webhooks/a%20b" })), "Accepted")
    assert.strictEqual(yield* verdict(verifier, delivery({ path: "/a%20b/webhooks" })), "Mismatch")
    assert.strictEqual(yield* verdict(verifier, delivery({ path: "/webhooks/" })), "Missing")
    assert.strictEqual(yield* verdict(verifier, delivery({ path: "/webhooks/%E0%A4%A" })), "Missing")
    assert.isTrue(verifier.secretInPath)
  })
})

describe("ipAllowList", () => {
  effect("ipAllowList accepts deliveries from its networks and addresses, in both families", function* () {
    // Ranges for documentation: RFC 5737 and RFC 3849.
    const verifier = WebhookVerifier.ipAllowList(["203.0.113.0/25", "198.51.100.7", "2001:db8:1::/48", "2001:db8::7"])
    for (const good of [
      "203.0.113.1",
      "203.0.113.127",
      "::ffff:203.0.113.5",
      "::FFFF:198.51.100.7",
      "198.51.100.7",
      "2001:db8:1:2::3",
      "2001:0db8:0000::0007"
    ]) {
      assert.strictEqual(yield* verdict(verifier, from(good)), "Accepted", good)
    }
    for (const bad of [
      "203.0.113.128",
      "198.51.100.8",
      "2001:db8:2::1",
      "2001:db8::8",
      "203.0.113.1, 10.0.0.1",
      "unknown",
      "::ffff:10.0.0.1"
    ]) {
      assert.strictEqual(yield* verdict(verifier, from(bad)), "Mismatch", bad)
    }
    assert.strictEqual(yield* verdict(verifier, delivery()), "Missing")
  })

  effect("ipAllowList ignores headers with an address", function* () {
    const verifier = WebhookVerifier.ipAllowList(["203.0.113.0/24"])
    const headers = { "x-forwarded-for": "203.0.113.1", forwarded: "for=203.0.113.1", "x-real-ip": "203.0.113.1" }
    assert.strictEqual(yield* verdict(verifier, { ...from("192.0.2.1"), headers }), "Mismatch")
  })

  effect("ipAllowList with an invalid network has a problem for the layer, and accepts no delivery", function* () {
    for (const wrong of ["203.0.113.0/33", "example.com", ""]) {
      const verifier = WebhookVerifier.ipAllowList([wrong])
      assert.include(verifier.problem?.message ?? "", "not an address or a network")
      assert.strictEqual(yield* verdict(verifier, from("203.0.113.1")), "Mismatch")
    }
  })
})

describe("several verifiers", () => {
  const a = WebhookVerifier.sharedSecret({ header: "a", secret: Redacted.make("1") })
  const b = WebhookVerifier.sharedSecret({ header: "b", secret: Redacted.make("2") })
  const path = WebhookVerifier.pathSecret({ secret: Redacted.make("pix") })

  effect("all accepts a delivery that each of its verifiers accepts", function* () {
    const both = WebhookVerifier.all([a, b])
    for (const [headers, expected] of [
      [{ a: "1", b: "2" }, "Accepted"],
      [{ a: "1" }, "Missing"],
      [{ b: "2" }, "Missing"],
      [{ a: "1", b: "x" }, "Mismatch"],
      [{}, "Missing"]
    ] as const) {
      assert.strictEqual(yield* verdict(both, delivery({ headers })), expected)
    }
    assert.strictEqual(yield* verdict(WebhookVerifier.none, delivery()), "Accepted")
  })

  it("say whether one of them has its secret in the path", () => {
    assert.isTrue(WebhookVerifier.all([a, path]).secretInPath)
    assert.isFalse(WebhookVerifier.all([a, b]).secretInPath)
  })
})

describe("secrets", () => {
  it("may not be empty", () => {
    for (const empty of [Redacted.make(""), Redacted.make("  "), [], [secret, Redacted.make("")]]) {
      for (const verifier of [
        WebhookVerifier.sharedSecret({ header: "s", secret: empty }),
        WebhookVerifier.pathSecret({ secret: empty })
      ]) {
        assert.include(verifier.problem?.message ?? "", "has an empty secret")
      }
    }
  })

  effect("a secret that is an effect is read at each delivery that has the checked part", function* () {
    let current: WebhookVerifier.Secrets = Redacted.make("old")
    let reads = 0
    const read = Effect.sync(() => (reads++, current))
    const verifier = WebhookVerifier.sharedSecret({ header: "s", secret: read })
    const given = (s: string) => verdict(verifier, delivery({ headers: { s } }))
    assert.deepStrictEqual([yield* given("old"), yield* given("new")], ["Accepted", "Mismatch"])
    current = [Redacted.make("old"), Redacted.make("new")]
    assert.deepStrictEqual([yield* given("old"), yield* given("new")], ["Accepted", "Accepted"])
    current = Redacted.make("new")
    assert.strictEqual(yield* given("old"), "Mismatch")
    assert.strictEqual(yield* verdict(verifier, delivery()), "Missing")
    assert.strictEqual(reads, 5)
    const path = WebhookVerifier.pathSecret({ secret: read })
    assert.strictEqual(yield* verdict(path, delivery({ path: "/webhooks/new" })), "Accepted")
  })

  effect("a secret that cannot be read, is empty, or takes 10 seconds accepts nothing, and says so", function* () {
    for (const read of [
      Effect.fail("hush"),
      Effect.die("hush"),
      Effect.never,
      Effect.succeed(Redacted.make(" ")),
      Effect.succeed([])
    ]) {
      const verifier = WebhookVerifier.sharedSecret({ header: "s", secret: read })
      const fiber = yield* Effect.forkChild(verdict(verifier, delivery({ headers: { s: " " } })))
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(yield* Fiber.join(fiber), "NoSecret")
    }
  })

  effect("secrets are in no rendering of a verifier or of its refusal", function* () {
    const verifier = WebhookVerifier.all([
      WebhookVerifier.sharedSecret({ header: "s", secret }),
      WebhookVerifier.pathSecret({ secret: Effect.succeed(secret) })
    ])
    const refused = yield* Effect.flip(verifier(delivery({ body: "hush", headers: { s: "hush" } })))
    const shown = [inspect(verifier, { depth: 9 }), inspect(refused), JSON.stringify(refused), refused.message].join()
    assert.notInclude(shown, "Everybody")
    assert.notInclude(shown, "hush")
    assert.include(refused.message, "sharedSecret")
  })
})
