import { assert, describe, it } from "@effect/vitest"
import { CreatedPixTransaction, Payments } from "effect-pix"
import { Sandbox } from "effect-pix/sandbox"
import { Result, Schema } from "effect"
import { charge } from "../support/operations.ts"
import { effect } from "../support/effect.ts"

describe("CreatedPixTransaction", () => {
  const json = Schema.toCodecJson(CreatedPixTransaction)

  effect(
    "the schema of a PIX charge stores a created charge as JSON, and reads all of it again",
    Sandbox.layerPayments,
    function* () {
      const payments = yield* Payments
      const created = yield* payments.createTransaction(charge)
      assert.sameMembers(
        ["amount", "extra", "id", "idempotencyKey", "paymentMethod", "pix", "status"],
        Object.keys(created).filter((name) => name !== "companyId")
      )
      const stored = JSON.stringify(yield* Schema.encodeEffect(json)(created))
      assert.deepStrictEqual(yield* Schema.decodeUnknownEffect(json)(JSON.parse(stored)), created)
    }
  )

  it("the schema of a PIX charge refuses one without its code, its id, its amount or its key", () => {
    const whole = {
      id: "6f1b9a3e",
      amount: 2500,
      status: "WAITING_PAYMENT",
      pix: { qrcode: "00020126580014br.gov.bcb.pix" },
      extra: {},
      idempotencyKey: "tx_1"
    }
    const isRead = (stored: unknown) => Result.isSuccess(Schema.decodeUnknownResult(json)(stored))
    assert.isTrue(isRead(whole))
    for (const pix of [undefined, null, {}, { qrcode: "" }, { qrcode: null }]) assert.isFalse(isRead({ ...whole, pix }))
    for (const name of ["id", "amount", "status", "idempotencyKey"])
      assert.isFalse(isRead({ ...whole, [name]: undefined }))
  })
})
