import { assert, it } from "@effect/vitest"
import { DateTime, Result, Schema } from "effect"
import { CreatedPixTransaction, UndocumentedFields } from "../../src/contract/Transaction.ts"

const json = Schema.toCodecJson(CreatedPixTransaction)

const stored = {
  id: "6f1b9a3e",
  amount: 2500,
  status: "WAITING_PAYMENT",
  pix: { qrcode: "00020126580014br.gov.bcb.pix", expirationDate: "2026-11-21T12:00:00.000Z" },
  extra: { fee: 12 },
  idempotencyKey: "tx_1"
}

it("a stored charge is read with its expiry as a time, also without it, and written as it was", () => {
  const expirationDate = DateTime.makeUnsafe("2026-11-21T12:00:00Z")
  const { qrcode } = stored.pix
  for (const charge of [
    { ...stored, companyId: 7, paymentMethod: "PIX" },
    { ...stored, pix: { qrcode } }
  ]) {
    const read = Schema.decodeUnknownSync(json)(charge)
    const pix = "expirationDate" in charge.pix ? { qrcode, expirationDate } : { qrcode }
    assert.deepStrictEqual<unknown>(read, { ...charge, pix })
    assert.deepStrictEqual<unknown>(Schema.encodeSync(json)(read), charge)
  }
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
