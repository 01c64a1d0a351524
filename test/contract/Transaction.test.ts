import { assert, describe, it } from "@effect/vitest"
import { DateTime, Result, Schema } from "effect"
import { CreatedPixTransaction, Payments } from "effect-pix"
import { Sandbox } from "effect-pix/sandbox"
import { UndocumentedFields } from "../../src/contract/Transaction.ts"
import { charge } from "../support/operations.ts"
import { effect } from "../support/effect.ts"

const json = Schema.toCodecJson(CreatedPixTransaction)

const stored = {
  id: "6f1b9a3e",
  amount: 2500,
  status: "WAITING_PAYMENT",
  pix: { qrcode: "00020126580014br.gov.bcb.pix", expirationDate: "2026-11-21T12:00:00.000Z" },
  extra: { fee: 12 },
  idempotencyKey: "tx_1"
}

describe("CreatedPixTransaction", () => {
  effect(
    "a created charge is stored as JSON, and read again with all of its fields",
    Sandbox.layerPayments,
    function* () {
      const created = yield* (yield* Payments).createTransaction(charge)
      const expected = ["amount", "companyId", "extra", "id", "idempotencyKey", "paymentMethod", "pix", "status"]
      assert.includeMembers(expected, Object.keys(created))
      assert.isTrue("paymentMethod" in created)
      const text = JSON.stringify(yield* Schema.encodeEffect(json)(created))
      assert.deepStrictEqual(yield* Schema.decodeUnknownEffect(json)(JSON.parse(text)), created)
    }
  )

  effect("a stored charge is read with its expiry as a time, also without it", function* () {
    const read = yield* Schema.decodeUnknownEffect(json)(stored)
    const expirationDate = DateTime.makeUnsafe("2026-11-21T12:00:00Z")
    assert.deepStrictEqual<unknown>(read, { ...stored, pix: { ...stored.pix, expirationDate } })
    assert.deepStrictEqual<unknown>(yield* Schema.encodeEffect(json)(read), stored)
    const { qrcode } = stored.pix
    assert.deepStrictEqual((yield* Schema.decodeUnknownEffect(json)({ ...stored, pix: { qrcode } })).pix, { qrcode })
  })

  it.each([
    ...["id", "amount", "status", "idempotencyKey", "pix", "extra"].map((name) => ({ [name]: undefined })),
    ...[null, {}, { qrcode: "" }, { qrcode: null }, { ...stored.pix, expirationDate: "soon" }].map((pix) => ({ pix })),
    { id: "" },
    { amount: 25.5 }
  ])("a stored charge is refused if it has %j", (wrong) => {
    assert.isTrue(Result.isFailure(Schema.decodeUnknownResult(json)({ ...stored, ...wrong })))
  })

  it.each(["amount", "customer", "pix", "extra", "paymentMethod", "__proto__", "constructor"])(
    "an undocumented field may not be called %s",
    (name) => {
      const read = Schema.decodeUnknownResult(UndocumentedFields)
      assert.isTrue(Result.isSuccess(read({ discount: { days: 3 } })))
      assert.match(String(read(JSON.parse(`{"${name}":1}`))), new RegExp(`contract does not name[^]*${name}`))
    }
  )
})
