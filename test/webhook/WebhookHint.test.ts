import { assert, describe, it } from "@effect/vitest"
import * as WebhookHint from "../../src/webhook/WebhookHint.ts"

const id = "9f1c8c52-6a3e-4b1f-9d57-0f4f5e1f2a11"
const other = "00000000-0000-4000-8000-000000000000"
const { find } = WebhookHint

/** A hint as text: its subject and what else it has. */
const shown = ({ about, ...more }: WebhookHint.Hint) =>
  [about, ...Object.values(more).map((value) => (typeof value === "string" ? value : JSON.stringify(value)))].join(" ")

const [long, longer] = ["x".repeat(64), "x".repeat(65)]
const [longKey, longerKey] = ["x".repeat(255), "x".repeat(256)]
const ours = { invoice: 42 }

describe("a hint", () => {
  for (const [payload, hint] of [
    [{ id: id.toUpperCase() }, `Transaction ${id.toUpperCase()}`],
    [{ data: { id } }, `Transaction ${id}`],
    [{ id: other, event: "transaction.paid", data: { id } }, `Transaction ${id}`],
    [{ id: other, transactionId: id }, `Transaction ${id}`],
    [{ id: 12, customer: { id: other }, lead: { id: other }, leadId: other, data: { id } }, `Transaction ${id}`],
    [{ customer: { id } }, "Unknown"],
    [[{ transactionId: id }], "Unknown"],
    [{ transactionId: 42 }, "Unknown"],
    [{ transactionId: `${id}/x` }, "Unknown"],
    [{ transactionId: `x${id}` }, "Unknown"],
    [{ data: { data: { transactionId: id } } }, "Unknown"],
    [null, "Unknown"],
    [{ metadata: { transactionId: id } }, `Unknown {"transactionId":"${id}"}`],
    [{ status: "ok", data: { id, status: "Paid" } }, `Transaction ${id} Paid`],
    [{ status: "ok", data: { id, enStatusTransaction: "Paid", status: "x" } }, `Transaction ${id} Paid`],
    [{ transactionId: id, status: "Paid", data: {} }, `Transaction ${id} Paid`],
    [{ transactionId: id, status: long }, `Transaction ${id} ${long}`],
    [{ transactionId: id, status: longer }, `Transaction ${id}`],
    [{ transactionId: id, status: 200 }, `Transaction ${id}`],
    [{ transactionId: id, status: "" }, `Transaction ${id}`],
    [{ withdrawalId: 0 }, "Withdrawal 0"],
    [{ id: 7, enTransaction: "Awaiting", status: "x" }, "Withdrawal 7 Awaiting"],
    [{ data: { withdrawalId: 7 }, transactionId: id }, "Withdrawal 7"],
    [{ idempotencyKey: "wd_1", transactionId: id }, "Withdrawal wd_1"],
    [{ idempotencyKey: "mine" }, "Withdrawal mine"],
    [{ idempotencyKey: longKey }, `Withdrawal ${longKey}`],
    [{ idempotencyKey: longerKey }, "Unknown"],
    [{ withdrawalId: -7, idempotencyKey: "wd_1" }, "Withdrawal wd_1"],
    [{ withdrawalId: 1.5, id: 8 }, "Withdrawal 8"],
    [{ idempotencyKey: "mine", transactionId: id }, `Transaction ${id} mine`],
    [{ idempotencyKey: "tx_1", transactionId: id }, `Transaction ${id} tx_1`],
    [{ idempotencyKey: "tx_1", id: 7 }, "Unknown tx_1"],
    [{ data: { id, metadata: '{"invoice":42}' } }, `Transaction ${id} {"invoice":42}`],
    [{ data: { id, metadata: ours } }, `Transaction ${id} {"invoice":42}`],
    [{ id, metadata: 42 }, `Transaction ${id}`],
    [{ id, metadata: [] }, `Transaction ${id}`],
    [{ id, metadata: "" }, `Transaction ${id}`]
  ] as const)
    it(`a hint of ${JSON.stringify(payload).slice(0, 110)} is ${hint.slice(0, 90)}`, () => {
      assert.strictEqual(shown(find(payload)), hint)
    })

  it("a hint has the fields of its subject by their names, and metadata as it came", () => {
    assert.deepStrictEqual<unknown>(find({ id, status: "Paid", idempotencyKey: "tx_1", metadata: ours }), {
      about: "Transaction",
      transactionId: id,
      status: "Paid",
      idempotencyKey: "tx_1",
      metadata: ours
    })
  })
})
