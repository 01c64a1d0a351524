import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { find } from "../../src/webhook/WebhookHint.ts"

const id = "9f1c8c52-6a3e-4b1f-9d57-0f4f5e1f2a11"
const other = "00000000-0000-4000-8000-000000000000"

describe("find", () => {
  it("finds the transaction by the documented names, at the top or in `data`", () => {
    for (const payload of [
      { transactionId: id },
      { id },
      { data: { id } },
      { data: { transactionId: id, id: 7 } },
      { id: other, event: "transaction.paid", data: { id } },
      { id: other, transactionId: id },
      { id: 12, customer: { id: other }, lead: { id: other }, leadId: other, data: { id } }
    ]) {
      assert.strictEqual(find(payload).transactionId, id, JSON.stringify(payload))
      assert.strictEqual(find(payload).about, "Transaction")
    }
  })

  it("takes no other id for it: not a customer's, not an item's, not one in the metadata, not a number", () => {
    for (const payload of [
      { customer: { id } },
      { lead: { transactionId: id } },
      { metadata: { transactionId: id } },
      { metadata: JSON.stringify({ transactionId: id }) },
      { items: [{ id }] },
      [{ transactionId: id }],
      { transactionId: 42 },
      { transactionId: "../balance/7" },
      { transactionId: `${id}/x` },
      { id: "42" },
      { a: { b: { c: { d: { transactionId: id } } } } },
      { data: { data: { transactionId: id } } },
      { transaction: { id } },
      { transaction_id: id },
      id,
      null
    ]) {
      assert.strictEqual(find(payload).about, "Unknown", JSON.stringify(payload))
      assert.isUndefined(find(payload).transactionId)
    }
  })

  it("finds the status beside the transaction rather than that of the envelope, and only if it is a word", () => {
    assert.strictEqual(find({ status: "ok", data: { id, status: "Paid" } }).status, "Paid")
    assert.strictEqual(find({ status: 200, data: { id, enStatusTransaction: "Paid" } }).status, "Paid")
    assert.strictEqual(find({ transactionId: id, status: "Paid", data: {} }).status, "Paid")
    assert.isUndefined(find({ transactionId: id, status: 200 }).status)
    assert.isUndefined(find({ transactionId: id, status: "x".repeat(65) }).status)
    assert.isUndefined(find({ transactionId: id, status: "" }).status)
  })

  it("takes for a withdrawal whatever may be about one", () => {
    for (const [payload, expected] of [
      [{ withdrawalId: 7 }, { withdrawalId: 7 }],
      [
        { id: 7, enTransaction: "Awaiting" },
        { withdrawalId: 7, status: "Awaiting" }
      ],
      [{ data: { withdrawalId: 7 }, transactionId: id }, { withdrawalId: 7 }],
      [{ idempotencyKey: "wd_1", transactionId: id }, { idempotencyKey: "wd_1" }],
      [{ idempotencyKey: "mine" }, { idempotencyKey: "mine" }],
      [{ withdrawalId: -7, idempotencyKey: "wd_1" }, { idempotencyKey: "wd_1" }],
      [{ enTransaction: "Awaiting", id: 1.5 }, { status: "Awaiting" }]
    ] as const) {
      assert.deepStrictEqual(find(payload), { about: "Withdrawal", ...expected }, JSON.stringify(payload))
    }
    assert.strictEqual(find({ idempotencyKey: "tx_1", transactionId: id }).about, "Transaction")
    assert.strictEqual(find({ idempotencyKey: "tx_1" }).about, "Unknown")
  })

  it("returns the metadata as it came: text or an object", () => {
    for (const metadata of ['{"invoice":42}', "plain", { invoice: 42 }]) {
      assert.deepStrictEqual(find({ data: { id, metadata } }).metadata, metadata)
    }
    for (const metadata of [42, null, [], ""]) assert.isUndefined(find({ id, metadata }).metadata)
  })

  it.prop("never fails, and never names a transaction that is no UUID", [Schema.Json], ([json]) => {
    const hint = find({ data: json, transaction: json })
    assert.isTrue(hint.transactionId === undefined || /^[\da-f-]{36}$/i.test(hint.transactionId))
  })

  it("is not slowed down by what is wide or deep", () => {
    let deep: unknown = { transactionId: id }
    for (let i = 0; i < 10_000; i++) deep = { data: deep }
    assert.strictEqual(find(deep).about, "Unknown")
    const wide = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`data${"_".repeat(i)}`, { n: i }]))
    assert.strictEqual(find({ ...wide, transactionId: id }).transactionId, id)
  })
})
