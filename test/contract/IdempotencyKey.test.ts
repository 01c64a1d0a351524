import { assert, describe, it } from "@effect/vitest"
import { IdempotencyKey, IdempotencyKeyGen, Payments } from "effect-pix"
import { Effect, Layer, Schema } from "effect"
import { charge, credentials, paymentsOn, payout, respond, scripted } from "../support/Wire.ts"
import { createHash } from "node:crypto"

const isKey = Schema.is(IdempotencyKey.IdempotencyKey)

describe("a key from a business reference", () => {
  // Frozen: keys that were sent under these must be made again by every later version.
  const frozen: ReadonlyArray<readonly [kind: string, reference: string, key: string]> = [
    ["payout", "invoice-42", "payout_9e27a39736b1fd741e1f6be1de4aa7cac85b921d"],
    ["payout", "1", "payout_0863a2197c8b51ac3a03eacda2bf7a1779b1c4df"],
    ["refund", "invoice-42", "refund_f42a408c0d2ec0a588282cce0730ae97bb56dd09"],
    ["charge", "pedido nº 7", "charge_317046fdc9fd7e2f5ae569644cd427199c90ba6c"],
    ["a", "💸", "a_45784437d963831073d39b62afa8ef362e8a78d4"],
    ["K-9", "spaced out", "K-9_80a823c5f7ff48f5307fdb318e71aabc2ce1690e"],
    ["k".repeat(32), "x".repeat(1000), "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk_436db706541752713134c6fe0189e6ffef006e57"]
  ]

  it.each(frozen)("of %s and %j is the same for ever", (kind, reference, key) => {
    assert.strictEqual(IdempotencyKey.fromReference(kind, reference), key)
    assert.isTrue(isKey(key))
  })

  it("is the kind and the first 40 hexadecimal digits of the SHA-256 of kind, line feed and reference", () => {
    const reference = "invoice-42"
    const digest = createHash("sha256").update(`payout\n${reference}`, "utf8").digest("hex")
    assert.strictEqual(IdempotencyKey.fromReference("payout", reference), `payout_${digest.slice(0, 40)}`)
  })

  it("differs where kind or reference differ, were it by case", () => {
    const keys = [
      IdempotencyKey.fromReference("payout", "invoice-42"),
      IdempotencyKey.fromReference("payout", "invoice-43"),
      IdempotencyKey.fromReference("payout", "Invoice-42"),
      IdempotencyKey.fromReference("refund", "invoice-42"),
      IdempotencyKey.fromReference("pay", "out\ninvoice-42"),
      IdempotencyKey.fromReference("payout", "caf\u00E9")
    ]
    assert.strictEqual(new Set(keys).size, keys.length)
  })

  it("does not hold the reference", () => {
    assert.notInclude(IdempotencyKey.fromReference("payout", "52998224725"), "52998224725")
  })

  it.each(["", " ", "\t\n"])("is refused for the blank reference %j: it would make one payout of many", (reference) => {
    assert.throws(() => IdempotencyKey.fromReference("payout", reference), Schema.SchemaError)
  })

  it.each(["invoice-42 ", "\tinvoice-42", "cafe\u0301"])(
    "is refused for the reference %j, which looks like another: it would make two payouts of one",
    (reference) => {
      assert.throws(() => IdempotencyKey.fromReference("payout", reference), Schema.SchemaError)
    }
  )

  it.each(["", "pay out", "pay_out", "pagaménto", "a\nb", "k".repeat(33)])("is refused for the kind %j", (kind) => {
    assert.throws(() => IdempotencyKey.fromReference(kind, "invoice-42"), Schema.SchemaError)
  })
})

describe("a caller's own key", () => {
  it("is 1 to 255 visible ASCII characters", () => {
    for (const key of ["k", "wd_1", "!~", "k".repeat(255)]) assert.isTrue(isKey(key), key)
    for (const key of ["", " ", "a b", "a\n", "a\r\nb", "a\0", "\u007F", "é", "k".repeat(256), 42, null]) {
      assert.isFalse(isKey(key), JSON.stringify(key))
    }
  })
})

describe("a key that is made", () => {
  const next = Effect.flatMap(IdempotencyKeyGen, (keys) => Effect.all([keys.next("tx"), keys.next("wd")]))

  it.effect("is a prefix and a random UUID", () =>
    Effect.gen(function* () {
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
  )

  it.effect("does not repeat from one build of the layer to the next, were it under a test's random numbers", () =>
    Effect.gen(function* () {
      const first = yield* Effect.provide(next, Layer.fresh(IdempotencyKeyGen.layer))
      const second = yield* Effect.provide(next, Layer.fresh(IdempotencyKeyGen.layer))
      assert.strictEqual(new Set([...first, ...second]).size, 4)
    })
  )

  it.effect("counts for tests: one sequence for both prefixes, from 1 in each build", () =>
    Effect.gen(function* () {
      const made = yield* Effect.all([next, next]).pipe(Effect.provide(IdempotencyKeyGen.layerSequential))
      assert.deepStrictEqual(made, [
        ["tx_1", "wd_2"],
        ["tx_3", "wd_4"]
      ])
      const again = yield* next.pipe(Effect.provide(Layer.fresh(IdempotencyKeyGen.layerSequential)))
      assert.deepStrictEqual(again, ["tx_1", "wd_2"])
    })
  )

  it.effect("is made once a call, tx_ for a charge and wd_ for a withdrawal, and is on the error", () =>
    Effect.gen(function* () {
      const { layer, sent } = scripted(respond(422))
      yield* Effect.gen(function* () {
        const payments = yield* Payments
        const first = yield* Effect.flip(payments.createTransaction(charge))
        const second = yield* Effect.flip(payments.requestWithdrawal(payout))
        const own = yield* Effect.flip(payments.requestWithdrawal(payout, { idempotencyKey: "own-1" }))
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
    })
  )

  it.effect("comes from the generator that the layer was given", () =>
    Effect.gen(function* () {
      const { layer, sent } = scripted(respond(422))
      const keys = Layer.succeed(IdempotencyKeyGen, { next: (prefix) => Effect.succeed(`${prefix}-mine`) })
      yield* Effect.flip(Effect.flatMap(Payments, (payments) => payments.requestWithdrawal(payout))).pipe(
        Effect.provide(
          Layer.provide(Payments.layer({ baseUrl: "https://gateway.example" }), [layer, credentials, keys])
        )
      )
      assert.strictEqual(sent[0]?.headers["idempotency-key"], "wd-mine")
    })
  )
})
