import { assert, describe, it } from "@effect/vitest"
import * as WebhookHint from "../../src/webhook/WebhookHint.ts"
import cashIn from "../fixtures/field/webhook-cashin.json" with { type: "json" }
import outFailure from "../fixtures/field/webhook-cashout-failure.json" with { type: "json" }
import outPending from "../fixtures/field/webhook-cashout-pending.json" with { type: "json" }
import outRefunded from "../fixtures/field/webhook-cashout-refunded.json" with { type: "json" }
import outSuccessful from "../fixtures/field/webhook-cashout-successful.json" with { type: "json" }

const id = "9f1c8c52-6a3e-4b1f-9d57-0f4f5e1f2a11"
const other = "00000000-0000-4000-8000-000000000000"
const { findAll } = WebhookHint
const find = (payload: unknown) => findAll(payload)[0]

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
    [[{ transactionId: id }], `Transaction ${id}`],
    [{ transactionId: 42 }, "Transaction 42"],
    [{ transactionId: `${id}/x` }, "Unknown"],
    [{ transactionId: "ch_0-Z" }, "Transaction ch_0-Z"],
    [{ transactionId: long }, `Transaction ${long}`],
    [{ transactionId: longer }, "Unknown"],
    [{ transactionId: "maria@example.com" }, "Unknown"],
    [{ type: "test", id: "evt_1" }, "Unknown"],
    [{ id: "ch_1", status: "Paid" }, "Transaction ch_1 Paid"],
    [{ object: "transaction", id: "ch_1" }, "Transaction ch_1"],
    [{ object: "transaction", status: "Paid" }, "Unknown Paid"],
    [{ object: "transaction", transactionId: id, idempotencyKey: "mine", withdrawId: 7 }, `Transaction ${id} mine`],
    [{ type: "cash_out", transactionId: id }, "Withdrawal"],
    [{ withdrawId: null, transactionId: id }, `Transaction ${id}`],
    [{ withdrawId: "0007184" }, "Withdrawal 7184"],
    [{ withdrawId: "9007199254740993" }, "Withdrawal"],
    [{ withdrawId: "7e3", id: "8" }, "Withdrawal 8"],
    [{ withdrawId: 7, endToEndId: "52998224725", externalRef: { a: 1 } }, "Withdrawal 7"],
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

  for (const [body, amount] of [
    [{ value: 2550, amount: 25.5 }, 2550],
    [{ value: "2550", amount: "25.50" }, 2550],
    [{ value: 19.99, valueInCents: 1999 }, 1999],
    [{ amount: 0.29, valueInCents: 29 }, 29],
    [{ value: 25, amount: 25 }, undefined],
    [{ value: 25, valueInCents: 25 }, undefined],
    [{ value: 25.005, valueInCents: 2500 }, undefined],
    [{ value: 2500 }, undefined],
    [{ amount: 25 }, undefined],
    [{ value: -25, valueInCents: -2500 }, undefined]
  ] as const)
    it(`the amount of ${JSON.stringify(body)} is ${amount}, since both units have to say it`, () => {
      assert.strictEqual<unknown>(find({ transactionId: id, ...body }).amount, amount)
    })

  for (const [reason, shown] of [
    ["Invalid Pix Entry", "Invalid Pix Entry"],
    ["Conta de PESSOA EXEMPLO bloqueada", "Conta de [redacted] bloqueada"],
    ["Chave 529.982.247-25 inválida", "Chave [redacted] inválida"],
    ["maria@example.com", "[redacted]"],
    ["", undefined]
  ] as const)
    it(`the reason of a failure, "${reason}", is shown as ${shown}`, () => {
      assert.strictEqual(find({ ...outFailure, providerErrorDescription: reason }).reason, shown)
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

type Body = Readonly<Record<string, unknown>>

const renamed = (body: Body, name: (name: string) => string): Body =>
  Object.fromEntries(Object.entries(body).map(([key, value]) => [name(key), value]))
const words = new Set(["object", "type", "status"])
const mapped = (body: Body, map: (value: unknown, name: string) => unknown): Body =>
  Object.fromEntries(Object.entries(body).map(([name, value]) => [name, map(value, name)]))

/** The same body as another deployment of the gateway may write it. */
const variants: Readonly<Record<string, (body: Body) => unknown>> = {
  "as it was seen": (body) => body,
  "with its members in another order": (body) => Object.fromEntries(Object.entries(body).toReversed()),
  "with names in capitals": (body) => renamed(body, (name) => name.toUpperCase()),
  "with names of small letters and _": (body) =>
    renamed(body, (name) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)),
  "with words in capitals": (body) =>
    mapped(body, (value, name) => (words.has(name) ? String(value).toUpperCase() : value)),
  "with numbers as text": (body) => mapped(body, (value) => (typeof value === "number" ? String(value) : value)),
  "without what is null, and with more": (body) => ({
    ...Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null)),
    provider: { id: other, status: "x", withdrawId: 1 },
    customer: { id: other }
  }),
  "in data": (body) => ({ id: other, event: "x", status: "ok", data: body }),
  "in data, with what it is beside it": ({ object, type, ...body }) => ({ object, type, data: body }),
  "in a list": (body) => [body],
  "in a list in data": ({ object, type, ...body }) => ({ object, type, data: [body] })
}

describe("the hint of a body that was seen", () => {
  for (const [how, variant] of Object.entries(variants))
    it(`is the same of one ${how}`, () => {
      const endToEndId = cashIn.endToEndId
      const out = { about: "Withdrawal", withdrawalId: 7184, amount: 2500, metadata: outPending.metadata }
      const charge = {
        about: "Transaction",
        transactionId: cashIn.transactionId,
        externalRef: "order-42",
        amount: 2500
      }
      for (const [body, expected] of [
        [cashIn, { ...charge, status: "successful", endToEndId }],
        [outPending, { ...out, status: "pending" }],
        [outSuccessful, { ...out, status: "successful", endToEndId }],
        [outFailure, { ...out, status: "failure", reason: "Invalid Pix Entry" }],
        [outRefunded, { ...out, status: "refunded", endToEndId }]
      ] as const) {
        const hints = findAll(variant(body))
        assert.lengthOf(hints, 1)
        const [{ status, ...hint }] = hints
        assert.deepStrictEqual<unknown>({ ...hint, status: status?.toLowerCase() }, expected)
        assert.deepStrictEqual(find(variant(body)), hints[0])
      }
    })

  it("is one of several of a list, at the top or in data; what names nothing is one hint", () => {
    const list = [{}, outPending, cashIn, null, 42, [[outPending]], { data: [outFailure, "x"] }]
    const shown = ["Withdrawal pending", "Transaction successful", "Withdrawal failure", "Unknown undefined"]
    for (const payload of [list, { data: [outPending, cashIn, 42, outFailure] }])
      assert.deepStrictEqual(
        findAll(payload).map(({ about, status }) => `${about} ${status}`),
        shown
      )
    for (const payload of [[], { data: [] }, [[]]]) assert.deepStrictEqual(findAll(payload), [{ about: "Unknown" }])
  })

  it("of a list of more than 100 items is one of 101, and no more are read", () => {
    for (const payload of [
      Array(500).fill(1),
      { data: Array(500).fill(1) },
      Array.from({ length: 60 }, () => ({ data: [cashIn, 1] }))
    ])
      assert.lengthOf(findAll(payload), 101)
  })

  it("has neither the reason nor the metadata that stand once beside a list of several", () => {
    const [of] = [{ withdrawId: 7, reason: "no", metadata: "mine" }]
    assert.deepStrictEqual(find({ data: [of] }), {
      about: "Withdrawal",
      withdrawalId: 7,
      reason: "no",
      metadata: "mine"
    })
    assert.deepStrictEqual<unknown>(
      findAll({ reason: "no", metadata: "theirs", status: "x", data: [of, { withdrawId: 8 }] }),
      [
        { about: "Withdrawal", withdrawalId: 7, status: "x", metadata: "mine" },
        { about: "Withdrawal", withdrawalId: 8, status: "x" }
      ]
    )
  })

  it("is found in a body that is nested as deeply as a body may be", () => {
    const deep: unknown = JSON.parse(`{"message":"no","withdrawId":7,"a":${"[".repeat(130_000)}${"]".repeat(130_000)}}`)
    assert.deepStrictEqual(find(deep), { about: "Withdrawal", withdrawalId: 7, reason: "no" })
  })
})
