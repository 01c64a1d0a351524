import { assert, describe, it } from "@effect/vitest"
import { IdempotencyKey, IdempotencyKeyGen, Payments } from "effect-pix"
import { WebCrypto } from "effect/crypto"
import { Effect, Layer, Option, Schema } from "effect"
import { charge, withdrawal } from "../support/operations.ts"
import { credentials, paymentsOn, respond, scripted } from "../support/Wire.ts"
import { seed, seeded } from "../support/seed.ts"
import { createHash } from "node:crypto"
import { effect } from "../support/effect.ts"

const isKey = Schema.is(IdempotencyKey.IdempotencyKey)

describe("IdempotencyKey.fromReference", () => {
  // Frozen keys: every later version must make the same keys again.
  const frozen: ReadonlyArray<readonly [kind: string, reference: string, key: string]> = [
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
  ]

  it("a very long reference is refused before it is composed, which takes quadratic time", () => {
    assert.isTrue(Option.isSome(IdempotencyKey.fromReferenceOption("payout", "a".repeat(1000))))
    for (const reference of ["a".repeat(1001), `a${"\u0f73\u0344".repeat(500_000)}`]) {
      assert.isTrue(Option.isNone(IdempotencyKey.fromReferenceOption("payout", reference)))
    }
  })

  it.each(frozen)("the key of %s and %j never changes", (kind, reference, key) => {
    assert.strictEqual(IdempotencyKey.fromReference(kind, reference), key)
    assert.isTrue(isKey(key))
  })

  it("a key is the kind and the first 40 hexadecimal digits of the SHA-256 of kind, line feed and reference", () => {
    const reference = "invoice-42"
    const digest = createHash("sha256").update(`payout\n${reference}`, "utf8").digest("hex")
    assert.strictEqual(IdempotencyKey.fromReference("payout", reference), `payout_${digest.slice(0, 40)}`)
  })

  it("two keys differ if kind or reference differ, also if only by case", () => {
    const keys = [
      IdempotencyKey.fromReference("payout", "invoice-42"),
      IdempotencyKey.fromReference("payout", "invoice-43"),
      IdempotencyKey.fromReference("payout", "Invoice-42"),
      IdempotencyKey.fromReference("refund", "invoice-42"),
      IdempotencyKey.fromReference("pay", "out invoice-42"),
      IdempotencyKey.fromReference("payout", "caf\u00E9")
    ]
    assert.strictEqual(new Set(keys).size, keys.length)
  })

  it("a key does not hold its reference", () => {
    assert.notInclude(IdempotencyKey.fromReference("payout", "52998224725"), "52998224725")
  })

  it.each(["", " ", "\t\n"])(
    "the blank reference %j is refused, since many payouts would share its key",
    (reference) => {
      assert.throws(() => IdempotencyKey.fromReference("payout", reference), Schema.SchemaError)
    }
  )

  it.each(["invoice-42 ", "\tinvoice-42", "cafe\u0301"])(
    "the reference %j, which looks like another, is refused, since one invoice could be paid twice",
    (reference) => {
      assert.throws(() => IdempotencyKey.fromReference("payout", reference), Schema.SchemaError)
    }
  )

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
    const refused = Array.from({ length: 0x110000 }, (_, point) => point).filter(isRefused)
    const drawn = Array.from({ length: 0x110000 / 64 }, (_, block) => block * 64 + below(64))
    const neighbours = refused.flatMap((point) => [point - 1, point, point + 1])
    return new Set([...Array.from({ length: 0x3000 }, (_, point) => point), ...neighbours, ...drawn])
  }

  it("a reference is refused for a character that a person cannot see or distinguish from another, and for no other", () => {
    const wrong: Array<string> = []
    for (const point of characters()) {
      if (point < 0 || point > 0x10ffff) continue
      const reference = `a${String.fromCodePoint(point)}b`
      // A mark may combine with the letter before it: then the composed form decides.
      if (reference !== reference.normalize("NFC")) continue
      const taken = Option.isSome(IdempotencyKey.fromReferenceOption("payout", reference))
      if (taken === isRefused(point)) wrong.push(point.toString(16))
    }
    assert.deepStrictEqual(wrong, [])
  })

  it.each([
    ["a zero-width space", "invoice\u200b-42"],
    ["a joiner", "invoice\u200d-42"],
    ["a byte order mark", "\ufeffinvoice-42"],
    ["a direction mark", "invoice\u202e-42"],
    ["a soft hyphen", "in\u00advoice-42"],
    ["a lone surrogate", "invoice-\ud83d"],
    ["another lone surrogate", "invoice-\ude00"],
    ["a line separator", "invoice\u202842"],
    ["a no-break space", "invoice\u00a042"],
    ["an ideographic space", "invoice\u300042"],
    ["a full-width digit", "invoice-\uff14\uff12"],
    ["a hyphen", "invoice\u201042"],
    ["a no-break hyphen", "invoice\u201142"],
    ["a filler", "invoice\u316442"],
    ["a variation selector", "invoice-4\ufe0f2"],
    ["a tag", "invoice-42\u{e0041}"],
    ["a tab", "invoice\t42"]
  ])("a reference with %s is refused with the character's number and without the reference", (_, reference) => {
    try {
      IdempotencyKey.fromReference("payout", reference)
      assert.fail("was accepted")
    } catch (error) {
      assert.instanceOf(error, Schema.SchemaError)
      assert.match(error.message, /^The reference must not (hold U\+[\dA-F]{4,6}, which|have space)/)
      assert.notInclude(error.message, "invoice")
    }
  })

  it.each(["", "pay out", "pay_out", "pagaménto", "a\nb", "k".repeat(33)])("the kind %j is refused", (kind) => {
    assert.throws(() => IdempotencyKey.fromReference(kind, "invoice-42"), Schema.SchemaError)
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

  effect("a key that is made is a prefix and a random UUID", function* () {
    const made = yield* Effect.all(Array.from({ length: 100 }, () => next)).pipe(
      Effect.provide(IdempotencyKeyGen.layer)
    )
    const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
    for (const [tx, wd] of made) {
      assert.isTrue(tx.startsWith("tx_") && uuid.test(tx.slice(3)))
      assert.isTrue(wd.startsWith("wd_") && uuid.test(wd.slice(3)))
      assert.isTrue(isKey(tx) && isKey(wd))
    }
    assert.strictEqual(new Set(made.flat().map((key) => key.slice(3))).size, 200)
  })

  effect("a key that is made holds the UUID that the WebCrypto in context made", function* () {
    const uuid = "00000000-0000-4000-8000-000000000042"
    const platform: Crypto = Object.create(crypto, { randomUUID: { value: () => uuid } })
    const made = yield* next.pipe(
      Effect.provide(Layer.provide(Layer.fresh(IdempotencyKeyGen.layer), WebCrypto.layer(platform)))
    )
    assert.deepStrictEqual(made, [`tx_${uuid}`, `wd_${uuid}`])
  })

  effect("the random layer never repeats a key in two builds, even if a test fixes the random numbers", function* () {
    const first = yield* Effect.provide(next, Layer.fresh(IdempotencyKeyGen.layer))
    const second = yield* Effect.provide(next, Layer.fresh(IdempotencyKeyGen.layer))
    assert.strictEqual(new Set([...first, ...second]).size, 4)
  })

  effect("the sequential layer counts one sequence for both prefixes, from 1 in each build", function* () {
    const made = yield* Effect.all([next, next]).pipe(Effect.provide(IdempotencyKeyGen.layerSequential))
    assert.deepStrictEqual(made, [
      ["tx_1", "wd_2"],
      ["tx_3", "wd_4"]
    ])
    const again = yield* next.pipe(Effect.provide(Layer.fresh(IdempotencyKeyGen.layerSequential)))
    assert.deepStrictEqual(again, ["tx_1", "wd_2"])
  })

  effect(
    "a key is made once for each call, with tx_ for a charge and wd_ for a withdrawal, and the error has it",
    function* () {
      const { layer, sent } = scripted(respond(422))
      yield* Effect.gen(function* () {
        const payments = yield* Payments
        const first = yield* Effect.flip(payments.createTransaction(charge))
        const second = yield* Effect.flip(payments.requestWithdrawal(withdrawal))
        const own = yield* Effect.flip(payments.requestWithdrawal(withdrawal, { idempotencyKey: "own-1" }))
        const third = yield* Effect.flip(payments.createTransaction(charge, { idempotencyKey: undefined }))
        const expected = ["tx_1", "wd_2", "own-1", "tx_3"]
        assert.deepStrictEqual(
          [first, second, own, third].map(({ idempotencyKey }) => idempotencyKey),
          expected
        )
        assert.deepStrictEqual(
          sent.map(({ headers }) => headers["idempotency-key"]),
          expected
        )
      }).pipe(Effect.provide(paymentsOn(layer)))
    }
  )

  effect("a call gets its key from the generator of the layer", function* () {
    const { layer, sent } = scripted(respond(422))
    const keys = Layer.succeed(IdempotencyKeyGen, { next: (prefix) => Effect.succeed(`${prefix}-mine`) })
    yield* Effect.flip(Effect.flatMap(Payments, (payments) => payments.requestWithdrawal(withdrawal))).pipe(
      Effect.provide(Layer.provide(Payments.layer({ baseUrl: "https://gateway.example" }), [layer, credentials, keys]))
    )
    assert.strictEqual(sent[0]?.headers["idempotency-key"], "wd-mine")
  })
})
