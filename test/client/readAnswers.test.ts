/** Which answers `getTransaction`, `listTransactions` and `getBalance` take. */
import { assert, describe } from "@effect/vitest"
import { Money, type Operation } from "effect-pix"
import { Equal, Result } from "effect"
import {
  call,
  canary,
  checkNotRead,
  checkRead,
  type NotRead,
  nulls,
  type Read,
  requestOf,
  without
} from "../support/calls.ts"
import { effect } from "../support/effect.ts"
import {
  balance,
  detail,
  getBalance,
  getTransaction,
  listed,
  listTransactions,
  operations,
  transactionId
} from "../support/operations.ts"
import { respond } from "../support/Wire.ts"

const { call: look } = getTransaction
const { call: list } = listTransactions
const { call: readBalance } = getBalance

const [row = assert.fail("no row")] = listed.res.items
const at = "utc 2026-11-21T10:00:00.000Z"
const later = "utc 2026-11-21T10:05:00.000Z"
const item = { ...row, lead: without(row.lead, "externalId"), createdAt: at, updatedAt: later }
const found = { ...detail, updateDate: later, createdAt: at }
const funds = {
  ...balance,
  accBalance: "1234567.89 reais",
  accBalanceCredit: "0.1 reais",
  accBalanceCreditAwaiting: "0 reais"
}
const withItems = (...items: ReadonlyArray<unknown>) => ({ ok: true, res: { ...listed.res, items } })
const pageOf = (...items: ReadonlyArray<unknown>) => ({ ...listed.res, items })
const badTimes = { createdAt: "2026-02-30T12:00:00Z", updatedAt: "2026-11-21T12:00:00+73:66" }

const read: Readonly<Record<"getTransaction" | "listTransactions" | "getBalance", ReadonlyArray<Read>>> = {
  getTransaction: [
    ["the documented detail", detail, found],
    ["a detail with white space around it", ` \r\n\t${JSON.stringify(detail, null, 2)}\n`, found],
    ["a detail with undocumented fields", { ...detail, fee: 99, lead: { ...detail.lead, vip: true } }, found],
    [
      "a detail of nulls",
      {
        ...nulls("leadId lead companyId enPaymentSystem updateDate createdAt"),
        id: 91,
        value: 2500,
        transactionId,
        enStatusTransaction: "Paid"
      },
      { id: 91, value: 2500, transactionId, enStatusTransaction: "Paid" }
    ],
    [
      "a detail of a new status",
      { ...detail, enStatusTransaction: "ChargedBack", enPaymentSystem: "Ted" },
      { ...found, enStatusTransaction: "ChargedBack", enPaymentSystem: "Ted" }
    ],
    [
      "a detail whose id is in other letters",
      { ...detail, transactionId: transactionId.toUpperCase() },
      { ...found, transactionId: transactionId.toUpperCase() }
    ],
    [
      "a company in text, dates that are none and a lead that is a list",
      { ...detail, companyId: "7", updateDate: canary, createdAt: "21/11/2026", lead: [canary] },
      without(found, "companyId", "updateDate", "createdAt", "lead"),
      ["companyId", "createdAt", "lead", "updateDate"]
    ],
    [
      "a lead whose document is a number",
      { ...detail, lead: { ...detail.lead, document: 5, id: -1 } },
      { ...found, lead: without(detail.lead, "document", "id") },
      ["lead.document", "lead.id"]
    ],
    [
      "a day and an offset that do not exist",
      { ...detail, createdAt: "2026-02-30", updateDate: badTimes.updatedAt },
      without(found, "createdAt", "updateDate"),
      ["createdAt", "updateDate"]
    ]
  ],
  listTransactions: [
    ["the documented page", listed, pageOf(item)],
    [
      "a page with undocumented fields",
      { ...listed, took: 3, success: false, res: { ...listed.res, hasNext: false, items: [{ ...row, fee: 1 }] } },
      pageOf(item)
    ],
    [
      "an external id",
      withItems({ ...row, lead: { ...row.lead, externalId: "e-1" } }),
      pageOf({ ...item, lead: { ...item.lead, externalId: "e-1" } })
    ],
    [
      "rows of nulls",
      {
        ...withItems(
          { ...nulls("leadId lead paymentMethod providerTxId createdAt updatedAt"), id: 1, amount: 1, status: "X" },
          { id: 2, amount: 2, status: "Y", lead: nulls("id externalId name email phone documentNumber documentType") }
        ),
        ok: null
      },
      pageOf({ id: 1, amount: 1, status: "X" }, { id: 2, amount: 2, status: "Y", lead: {} })
    ],
    ["an empty page", withItems(), pageOf()],
    [
      "a row with odd fields between others",
      { ...withItems(row, { ...row, leadId: 5, createdAt: 0, lead: { name: 1 } }, row), ok: "false" },
      pageOf(item, { ...without(item, "leadId", "createdAt"), lead: {} }, item),
      ["ok", "res.items.createdAt", "res.items.lead.name", "res.items.leadId"]
    ],
    [
      "a day and an offset that do not exist in a row",
      withItems({ ...row, ...badTimes }),
      pageOf(without(item, "createdAt", "updatedAt")),
      ["res.items.createdAt", "res.items.updatedAt"]
    ]
  ],
  getBalance: [
    ["the documented balance", balance, funds],
    ["a balance with an undocumented field", { ...balance, blocked: 1.5 }, funds],
    ["a balance of a new status", { ...balance, enBalanceStatus: "Held" }, { ...funds, enBalanceStatus: "Held" }],
    [
      "a balance of nulls",
      {
        ...nulls("companyId currency accBalanceCredit accBalanceCreditAwaiting"),
        id: 3,
        enBalanceStatus: "X",
        accBalance: -0.5
      },
      { id: 3, enBalanceStatus: "X", accBalance: "-0.5 reais" }
    ],
    [
      "credits that are no decimals",
      { ...balance, accBalanceCredit: "1,50", accBalanceCreditAwaiting: {}, currency: 986 },
      without(funds, "accBalanceCredit", "accBalanceCreditAwaiting", "currency"),
      ["accBalanceCredit", "accBalanceCreditAwaiting", "currency"]
    ]
  ]
}

const wrong: ReadonlyArray<readonly [Operation, NotRead]> = [
  ["getTransaction", ["no value, and an odd date", { ...detail, value: null, createdAt: "" }, "Unreadable", "value"]],
  ["getTransaction", ["no transaction id", { ...detail, transactionId: null }, "Unreadable", "transactionId"]],
  ["getTransaction", ["a numeric status", { ...detail, enStatusTransaction: 1 }, "Unreadable", "enStatusTransaction"]],
  [
    "getTransaction",
    ["an id beyond the safe integers", JSON.stringify(detail).replace("91", "9007199254740993"), "Unreadable", "id"]
  ],
  [
    "getTransaction",
    ["the id of another transaction", { ...detail, transactionId: "t-2" }, "NotAsAsked", "transactionId"]
  ],
  ["getTransaction", ["a page of HTML", "<html><b>ok</b></html>", "Unreadable", ""]],
  ["getTransaction", ["null", "null", "Unreadable", ""]],
  ["listTransactions", ["ok: false", { ...listed, ok: false }, "NotAsAsked", "ok"]],
  ["listTransactions", ["no items", withItems().res, "Unreadable", "res"]],
  ["listTransactions", ["null as its items", { res: { ...listed.res, items: null } }, "Unreadable", "res.items"]],
  ["listTransactions", ["a row without an id", withItems(row, { ...row, id: null }), "Unreadable", "res.items.1.id"]],
  ["listTransactions", ["an amount in text", withItems({ ...row, amount: "25" }), "Unreadable", "res.items.0.amount"]],
  ["listTransactions", ["null as a row", withItems(row, null), "Unreadable", "res.items.1"]],
  ["getBalance", ["no amount", { ...balance, accBalance: null }, "Unreadable", "accBalance"]],
  ["getBalance", ["true as its amount", { ...balance, accBalance: true }, "Unreadable", "accBalance"]],
  ["getBalance", ["a decimal comma", { ...balance, accBalance: "1,50" }, "Unreadable", "accBalance"]],
  [
    "getBalance",
    [
      "a thousand million digits",
      JSON.stringify(balance).replace("1234567.89", "1e999999999"),
      "Unreadable",
      "accBalance"
    ]
  ],
  ["getBalance", ["nothing in its body", "", "Unreadable", ""]]
]

describe("the answer of a read", () => {
  for (const operation of ["getTransaction", "listTransactions", "getBalance"] as const) {
    effect.each(read[operation])(`%s is read by ${operation}`, function* (row) {
      yield* checkRead(operation, operations[operation].call, row)
    })
  }

  effect.each(wrong.map(([operation, row]) => [row[0], operation, row] as const))(
    "an answer with %s is an unexpected response of %s",
    function* ([, operation, row]) {
      const error = yield* checkNotRead(operations[operation].call, row)
      assert.strictEqual(error.outcome, "NoEffect")
    }
  )

  effect(
    "a field that does not fit is counted once a call and logged once a client, in however many rows",
    function* () {
      const body = withItems(...Array.from({ length: 100 }, () => ({ ...row, createdAt: "" })))
      const { lines, misfits } = yield* call(list, respond(200, body), { times: 3 })
      assert.deepStrictEqual([misfits, lines.length], [{ "res.items.createdAt": 3 }, 1])
    }
  )

  effect.each([
    ["2026-11-21T10:00:00.1Z", "2026-11-21T10:00:00.100Z"],
    ["2026-11-21T07:00:00-03:00", "2026-11-21T10:00:00.000Z"],
    ["2026-11-21T07:00:00.1234567-03:00", "2026-11-21T10:00:00.123Z"],
    ["2026-11-21T10:00:00.1234567", "2026-11-21T10:00:00.123Z"],
    ["2026-11-21T13:30:00+0330", "2026-11-21T10:00:00.000Z"],
    ["2026-11-21 10:00:00", "2026-11-21T10:00:00.000Z"],
    ["2026-11-21T10:00", "2026-11-21T10:00:00.000Z"],
    ["2026-11-21T10:00:00,5", "2026-11-21T10:00:00.500Z"],
    ["2026-11-21T07:00:00-03", "2026-11-21T10:00:00.000Z"],
    ["2026-11-21", "2026-11-21T00:00:00.000Z"]
  ] as const)("the time %s is %s", function* ([written, instant]) {
    const body = { ...detail, updateDate: written, createdAt: written }
    yield* checkRead("getTransaction", look, [
      "",
      body,
      { ...found, updateDate: `utc ${instant}`, createdAt: `utc ${instant}` }
    ])
  })

  effect.each(["12345678901234567.89", "0.1", "25.00", "9007199254740993"])(
    "the balance %s has exactly these digits",
    function* (written) {
      const body = `{"id":3,"enBalanceStatus":"Released","accBalance":${written}}`
      const { value } = yield* requestOf(readBalance, respond(200, body))
      assert.isTrue(Equal.equals(Object(value).accBalance, Money.reais(written)))
    }
  )

  effect("a success of another status, or of another content type, is read too", function* () {
    for (const status of [200, 203]) {
      const reply = respond(status, detail, { "content-type": "text/plain; charset=utf-8" })
      assert.isTrue(Result.isSuccess((yield* call(look, reply)).result))
    }
  })

  effect("a 204 is an unexpected response", function* () {
    const { result } = yield* call(list, { response: () => new Response(undefined, { status: 204 }) })
    assert.strictEqual(Result.getOrThrow(Result.flip(result))._tag, "UnexpectedResponse")
  })
})
