import { createHash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option, Schema } from "effect"
import { WebCrypto } from "effect/crypto"
import { IdempotencyKey, IdempotencyKeyGen, Payments } from "effect-pix"
import { charge, withdrawal } from "../support/operations.ts"
import { paymentsOn, respond, scripted } from "../support/Wire.ts"
import { seed, seeded } from "../support/seed.ts"
import { effect } from "../support/effect.ts"

const { fromReference, fromReferenceOption } = IdempotencyKey
const isKey = Schema.is(IdempotencyKey.IdempotencyKey)

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

describe("IdempotencyKey.fromReference", () => {
  // Frozen keys: every later version must make the same keys again.
  it.each([
    ["payout", "invoice-42", "payout_9e27a39736b1fd741e1f6be1de4aa7cac85b921d"],
    ["payout", "1", "payout_0863a2197c8b51ac3a03eacda2bf7a1779b1c4df"],
    ["refund", "invoice-42", "refund_f42a408c0d2ec0a588282cce0730ae97bb56dd09"],
    ["charge", "pedido nº 7", "charge_317046fdc9fd7e2f5ae569644cd427199c90ba6c"],
    ["a", "💸", "a_45784437d963831073d39b62afa8ef362e8a78d4"],
    ["a", "\u{e000}", "a_e3b9a679eeab34bf0b0e75d3b0a81d0bb51e545e"],
    ["a", "\u{378}", "a_25233758451c12673d2d40fecf9393f6c7b7c692"],
    ["a", "\u{ff71}", "a_472bd15f13986420bd2361ee22d809b2f034016c"],
    ["a", "raz\u00e3o 2\u20135", "a_ba9d8013eb1627e3e5856a0cb521427a0c54ff58"],
    ["a", "\u0440aypal", "a_dd47167d3df85e1a7c69e1875893b085e50570af"],
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
    ["must not hold U+200B, which a person cannot see or distinguish from another", ["invoice\u200b-42"]],
    ["must not hold U+D83D, which", ["invoice-\ud83d"]],
    ["must not hold U+FF14, which", ["invoice-\uff14\uff12"]],
    ["must not hold U+0009, which", ["invoice\t42"]],
    ["must not hold U+E0041, which", ["invoice-42\u{e0041}"]]
  ])("a reference %s: %j is refused", (words, references) => {
    for (const reference of references) assert.include(refusal("payout", reference), `The reference ${words}`)
  })

  it.each(["", "pay out", "pay_out", "pagaménto", "a\nb", "k".repeat(33)])("the kind %j is refused", (kind) => {
    assert.strictEqual(refusal(kind, "invoice-42"), "The kind must be 1 to 32 letters, digits or hyphens")
  })

  // The ranges are written out, so that they do not depend on the Unicode table of the runtime. Unassigned characters
  // are accepted.
  const isRefused = (point: number) =>
    /^[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]$/u.test(String.fromCodePoint(point)) ||
    [0xa0, 0x1680, 0x202f, 0x205f, 0x3000, 0x2010, 0x2011, 0x2800].includes(point) ||
    [
      [0x2000, 0x200a],
      [0xff01, 0xff60],
      [0xffe0, 0xffe6]
    ].some(([from = 0, to = 0]) => point >= from && point <= to)

  /** Every refused character and its neighbours, the first 12,288 characters, and one of each 64 others. */
  const characters = () => {
    const { below } = seeded(seed)
    const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index)
    // No other plane has a character that is refused.
    const refused = [...range(0, 0x20000), ...range(0xe0000, 0xe1000)].filter(isRefused)
    const drawn = range(0, 0x110000 / 64).map((block) => block * 64 + below(64))
    const neighbours = refused.flatMap((point) => [point - 1, point, point + 1])
    return new Set([...range(0, 0x3000), ...neighbours, ...drawn])
  }

  it("a reference is refused for a character that a person cannot see or distinguish from another, and for no other", () => {
    const wrong: Array<string> = []
    for (const point of characters()) {
      if (point < 0) continue
      const reference = `a${String.fromCodePoint(point)}b`
      // A mark may combine with the letter before it: then the composed form decides.
      if (reference !== reference.normalize("NFC")) continue
      if (Option.isSome(fromReferenceOption("payout", reference)) === isRefused(point)) wrong.push(point.toString(16))
    }
    assert.deepStrictEqual(wrong, [])
  })
})

describe("IdempotencyKey", () => {
  it("a caller's own key is 1 to 255 visible ASCII characters", () => {
    for (const key of ["k", "wd_1", "!~", "k".repeat(255)]) assert.isTrue(isKey(key), key)
    for (const key of ["", " ", "a b", "a\n", "a\r\nb", "a\0", "\u007F", "é", "k".repeat(256), 42, null]) {
      assert.isFalse(isKey(key), JSON.stringify(key))
    }
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

  effect(
    "a call makes one key, tx_ for a charge and wd_ for a withdrawal, unless it is given one; the error has it",
    function* () {
      const { layer, sent } = scripted(respond(422))
      const errors = yield* Effect.flatMap(Payments, (payments) =>
        Effect.all([
          Effect.flip(payments.createTransaction(charge)),
          Effect.flip(payments.requestWithdrawal(withdrawal)),
          Effect.flip(payments.requestWithdrawal(withdrawal, { idempotencyKey: "own-1" })),
          Effect.flip(payments.createTransaction(charge, { idempotencyKey: undefined }))
        ])
      ).pipe(Effect.provide(paymentsOn(layer)))
      const keys = ["tx_1", "wd_2", "own-1", "tx_3"]
      assert.deepStrictEqual(
        errors.map(({ idempotencyKey }) => idempotencyKey),
        keys
      )
      assert.deepStrictEqual(
        sent.map(({ headers }) => headers["idempotency-key"]),
        keys
      )
    }
  )
})
