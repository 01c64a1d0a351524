import { createHash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option, Schema } from "effect"
import { WebCrypto } from "effect/crypto"
import { IdempotencyKey, IdempotencyKeyGen } from "effect-pix"
import { IdempotencyKey as Key } from "../../src/contract/IdempotencyKey.ts"
import { effect } from "../support/effect.ts"

const { fromReference, fromReferenceOption } = IdempotencyKey
const isKey = Schema.is(Key)

/** What the refusal of a reference or of a kind says: never the text. */
const refusal = (kind: string, reference: string) => {
  assert.isTrue(Option.isNone(fromReferenceOption(kind, reference)))
  try {
    fromReference(kind, reference)
  } catch (error) {
    assert.instanceOf(error, Schema.SchemaError)
    assert.notInclude(error.message, "invoice")
    return error.message
  }
  return assert.fail("was accepted")
}

it("the name of a key in logs never changes, and has too few bits to read the key from it", () => {
  assert.strictEqual(IdempotencyKey.fingerprint("invoice-42"), "65a99293")
})

describe("IdempotencyKey.fromReference", () => {
  // Frozen keys: every later version must make the same keys again.
  it.each([
    ["payout", "invoice-42", "payout_9e27a39736b1fd741e1f6be1de4aa7cac85b921d"],
    ["refund", "invoice-42", "refund_f42a408c0d2ec0a588282cce0730ae97bb56dd09"],
    ["charge", "pedido nº 7", "charge_317046fdc9fd7e2f5ae569644cd427199c90ba6c"],
    ["a", "💸", "a_45784437d963831073d39b62afa8ef362e8a78d4"],
    ["a", "raz\u00e3o 2\u20135", "a_ba9d8013eb1627e3e5856a0cb521427a0c54ff58"],
    ["K-9", "spaced out", "K-9_80a823c5f7ff48f5307fdb318e71aabc2ce1690e"],
    ["k".repeat(32), "x".repeat(1000), "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk_436db706541752713134c6fe0189e6ffef006e57"]
  ])("the key of %s and %j never changes", (kind, reference, key) => {
    assert.strictEqual(fromReference(kind, reference), key)
    assert.deepStrictEqual(fromReferenceOption(kind, reference), Option.some(key))
    assert.isTrue(isKey(key))
    // The start of the SHA-256 of kind, line feed and reference.
    const digest = createHash("sha256").update(`${kind}\n${reference}`, "utf8").digest("hex")
    assert.strictEqual(key, `${kind}_${digest.slice(0, 40)}`)
  })

  it.each([
    ["must be a text that is not blank", ["", " ", "\t\n"]],
    ["must not be longer than 1000 characters", ["a".repeat(1001), `a${"\u0f73\u0344".repeat(500)}`]],
    ["must not have space around it", ["invoice-42 ", "\tinvoice-42", "\ufeffinvoice-42"]],
    ["must be in Unicode's composed form (NFC)", ["cafe\u0301"]],
    ["must not hold U+0009, which a person cannot see or distinguish from another", ["invoice\t42"]],
    ["must not hold U+D83D, which", ["invoice-\ud83d"]],
    ["must not hold U+E0041, which", ["invoice-42\u{e0041}"]]
  ])("a reference %s: %j is refused", (words, references) => {
    for (const reference of references) assert.include(refusal("payout", reference), `The reference ${words}`)
  })

  it.each(["", "pay out", "pay_out", "pagaménto", "a\nb", "k".repeat(33)])("the kind %j is refused", (kind) => {
    assert.strictEqual(refusal(kind, "invoice-42"), "The kind must be 1 to 32 letters, digits or hyphens")
  })

  /** Characters of each kind that a person cannot see or distinguish from another, and the bounds of each range. */
  const refused = [
    ..."\0\u001f\u007f\u009f\u00a0\u00ad\u034f\u115f\u1680\u180b\u2000\u200a\u200b\u200f\u2010\u2011\u2028\u2029",
    ..."\u202a\u202f\u205f\u2060\u2800\u3000\u3164\ud800\ufe0f\udfff\ufeff\uff01\uff5e\uff60\uffa0\uffe0\uffe6\u{1bca0}\u{e0100}"
  ]
  const accepted = [
    ..." -~é\u00a1\u0378\u0440\u2012\u2013\u27ff\u2801\u4e00\ue000\uff00\uff61\uff71\uffe7\u{1f4b8}\u{10fffd}"
  ]

  it("a reference is refused for a character that a person cannot see or distinguish from another, and for no other", () => {
    const isRefused = (character: string) => Option.isNone(fromReferenceOption("payout", `a${character}b`))
    assert.deepStrictEqual(refused.filter(isRefused), refused)
    assert.deepStrictEqual(accepted.filter(isRefused), [])
  })
})

describe("IdempotencyKeyGen", () => {
  const next = Effect.flatMap(IdempotencyKeyGen, (keys) => Effect.all([keys.next("tx"), keys.next("wd")]))
  const built = (layer: Layer.Layer<IdempotencyKeyGen>) => Effect.provide(next, Layer.fresh(layer))

  effect("the random layer makes a prefix and a random UUID, which two builds never repeat", function* () {
    const made = yield* Effect.all(Array.from({ length: 100 }, () => built(IdempotencyKeyGen.layer)))
    const uuid = "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
    for (const [tx, wd] of made) {
      assert.match(`${tx} ${wd}`, new RegExp(`^tx_${uuid} wd_${uuid}$`))
      assert.isTrue(isKey(tx) && isKey(wd))
    }
    assert.strictEqual(new Set(made.flat().map((key) => key.slice(3))).size, 200)
  })

  effect("the random layer takes the UUID that the WebCrypto in context makes", function* () {
    const uuid = "00000000-0000-4000-8000-000000000042"
    const platform: Crypto = Object.create(crypto, { randomUUID: { value: () => uuid } })
    const layer = Layer.provide(Layer.fresh(IdempotencyKeyGen.layer), WebCrypto.layer(platform))
    assert.deepStrictEqual(yield* Effect.provide(next, layer), [`tx_${uuid}`, `wd_${uuid}`])
  })

  effect("the sequential layer counts one sequence for both prefixes, from 1 in each build", function* () {
    const made = yield* Effect.all([next, next]).pipe(Effect.provide(IdempotencyKeyGen.layerSequential))
    assert.deepStrictEqual(made.flat(), ["tx_1", "wd_2", "tx_3", "wd_4"])
    assert.deepStrictEqual(yield* built(IdempotencyKeyGen.layerSequential), ["tx_1", "wd_2"])
  })
})
