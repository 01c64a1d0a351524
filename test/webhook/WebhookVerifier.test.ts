import { assert, describe } from "@effect/vitest"
import { Effect, Fiber, Option, Redacted, Result } from "effect"
import { TestClock } from "effect/testing"
import { inspect } from "node:util"
import * as WebhookVerifier from "../../src/webhook/WebhookVerifier.ts"
import { effect } from "../support/effect.ts"

const { all, pathSecret, sharedSecret } = WebhookVerifier

type Parts = Partial<WebhookVerifier.WebhookRequest>

const request = (parts: Parts): WebhookVerifier.WebhookRequest => ({
  headers: {},
  path: "/webhooks/pix",
  remoteAddress: Option.none(),
  body: new Uint8Array(),
  ...parts
})
const header = (s: string) => ({ headers: { s } })
const path = (path: string) => ({ path })

/** `Accepted`, or the reason of the refusal. */
const verdict = (verifier: WebhookVerifier.WebhookVerifier, delivery: Parts) =>
  Effect.map(Effect.result(verifier(request(delivery))), (result) =>
    Result.isSuccess(result) ? "Accepted" : result.failure.reason
  )

const secret = Redacted.make("It's a Secret to Everybody")
const rotated = [Redacted.make("old"), Redacted.make("new")]
const byHeader = sharedSecret({ header: "S", secret })
const byPath = pathSecret({ secret: Redacted.make("a b") })
const both = all([sharedSecret({ header: "a", secret: rotated }), sharedSecret({ header: "b", secret: rotated })])

describe("a verifier", () => {
  for (const [name, verifier, delivery, expected] of [
    ["sharedSecret", byHeader, header("It's a Secret to Everybody"), "Accepted"],
    ["sharedSecret", byHeader, header("It's a Secret to Everybody "), "Mismatch"],
    ["sharedSecret", byHeader, header("it's a secret to everybody"), "Mismatch"],
    ["sharedSecret", byHeader, header(""), "Mismatch"],
    ["sharedSecret", byHeader, {}, "Missing"],
    ["pathSecret", byPath, path("/webhooks/a%20b"), "Accepted"],
    ["pathSecret", byPath, path("/a%20b/webhooks"), "Mismatch"],
    ["pathSecret", byPath, path("/webhooks/"), "Missing"],
    ["pathSecret", byPath, path("/webhooks/%E0%A4%A"), "Missing"],
    ["all", both, { headers: { a: "old", b: "new" } }, "Accepted"],
    ["all", both, { headers: { a: "old" } }, "Missing"],
    ["all", both, { headers: { a: "old", b: "x" } }, "Mismatch"],
    ["all of no verifiers", all([]), {}, "Accepted"]
  ] as const)
    effect(`${name} says ${expected} of a delivery with ${JSON.stringify(delivery)}`, function* () {
      assert.strictEqual(yield* verdict(verifier, delivery), expected)
    })

  for (const [name, wrong, problem] of [
    ...["s\n", " s", "s ", "\ufeffs", "segredo-ção", "a\tb", "s\u200b"].flatMap((text) => [
      [
        "sharedSecret with a secret that no header holds",
        sharedSecret({ header: "s", secret: Redacted.make(text) }),
        "no header"
      ] as const,
      [
        "pathSecret with a secret that no header holds",
        pathSecret({ secret: [secret, Redacted.make(text)] }),
        "no header"
      ] as const
    ]),
    ...[Redacted.make(""), Redacted.make("  "), [], [secret, Redacted.make("")]].flatMap((empty) => [
      ["sharedSecret without a secret", sharedSecret({ header: "s", secret: empty }), "has an empty secret"] as const,
      ["pathSecret without a secret", pathSecret({ secret: empty }), "has an empty secret"] as const
    ])
  ] as const)
    effect(`${name} has a problem for the layer, and accepts no delivery`, function* () {
      assert.include(wrong.problem?.message ?? "", problem)
      assert.strictEqual(yield* verdict(wrong, header("")), "Mismatch")
    })

  effect("a secret that is an effect is read at each delivery that has the checked part", function* () {
    let current: WebhookVerifier.Secrets = Redacted.make("old")
    let reads = 0
    const read = Effect.sync(() => (reads++, current))
    const verifier = sharedSecret({ header: "s", secret: read })
    const said: Array<string> = []
    for (current of [Redacted.make("old"), rotated, Redacted.make("new")])
      for (const s of ["old", "new"]) said.push(yield* verdict(verifier, header(s)))
    assert.deepStrictEqual(said, ["Accepted", "Mismatch", "Accepted", "Accepted", "Mismatch", "Accepted"])
    assert.strictEqual(yield* verdict(verifier, {}), "Missing")
    assert.strictEqual(reads, 6)
    assert.strictEqual(yield* verdict(pathSecret({ secret: read }), path("/webhooks/new")), "Accepted")
  })

  effect("a secret that cannot be read, is empty, or takes 10 seconds accepts nothing, and says so", function* () {
    for (const read of [
      Effect.fail("hush"),
      Effect.die("hush"),
      Effect.never,
      Effect.succeed(Redacted.make(" ")),
      Effect.succeed(Redacted.make("s\n")),
      Effect.succeed([])
    ]) {
      const fiber = yield* Effect.forkChild(verdict(sharedSecret({ header: "s", secret: read }), header(" ")))
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(yield* Fiber.join(fiber), "NoSecret")
    }
  })

  effect("a secret that was read with a line break is named in the error of the refusal", function* () {
    const verifier = pathSecret({ secret: Effect.succeed([secret, Redacted.make("hush\n")]) })
    const { message } = yield* Effect.flip(verifier(request(path("/webhooks/hush"))))
    assert.match(message, /NoSecret\. The verifier has a secret that no header can hold.*line break at its end/)
    assert.notInclude(message, "hush")
  })

  effect("secrets and what was given for them are in no rendering of a verifier or of its refusal", function* () {
    const verifier = all([byHeader, pathSecret({ secret: Effect.succeed(secret) })])
    const refused = yield* Effect.flip(verifier(request(header("hush"))))
    const shown = [inspect(verifier, { depth: 9 }), inspect(refused), JSON.stringify(refused), refused.message].join()
    assert.notMatch(shown, /Everybody|hush/)
    assert.strictEqual(refused.message, "The webhook delivery was refused by sharedSecret: Mismatch.")
  })
})
