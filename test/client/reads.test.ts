/** What `getTransaction`, `listTransactions` and `getBalance` send, which answers they take, and which requests they refuse. */
import { assert, describe } from "@effect/vitest"
import { Money, type Operation } from "effect-pix"
import { Equal, Result } from "effect"
import {
  call,
  canary,
  checkNotRead,
  checkRead,
  checkRefused,
  headersOf,
  long,
  type NotRead,
  nulls,
  odd,
  type Read,
  type Refused,
  requestOf,
  type Use,
  without
} from "../support/calls.ts"
import { effect } from "../support/effect.ts"
import {
  balance,
  balancePath,
  detail,
  getBalance,
  getTransaction,
  listed,
  listTransactions,
  lookupPath,
  operations,
  transactionId
} from "../support/operations.ts"
import { respond } from "../support/Wire.ts"

const { call: look } = getTransaction
const { call: list, path: listPath } = listTransactions
const { call: readBalance } = getBalance

// The arguments of programs without types.
const looking =
  (id: unknown): Use =>
  (payments) =>
    payments.getTransaction(id as string)
const listing =
  (options?: unknown): Use =>
  (payments) =>
    payments.listTransactions(options as object)
const reading =
  (options?: unknown): Use =>
  (payments) =>
    payments.getBalance(options as object)

const strange = ["a?b#c", "%2e%2e", "...", "a:b@c;d", "a%2Fb", "a".repeat(128)]

describe("the request of a read", () => {
  const sent: ReadonlyArray<readonly [what: string, use: Use, answer: object, path: string]> = [
    ["a lookup", look, detail, lookupPath(transactionId)],
    ...strange.map(
      (id) =>
        [
          `a lookup of ${id.slice(0, 8)}, which stays one segment of the path`,
          looking(id),
          { ...detail, transactionId: id },
          lookupPath(encodeURIComponent(id))
        ] as const
    ),
    ["a list without options", listing(), listed, listPath],
    ["a list with empty options", listing({}), listed, listPath],
    ["a list of a page", listing({ page: 2 }), listed, `${listPath}?page=2`],
    [
      "a list of an order",
      listing({ pageSize: 100, sort: "createdAt_asc" }),
      listed,
      `${listPath}?pageSize=100&sort=createdAt_asc`
    ],
    [
      "a list with all options",
      listing({ page: 1, pageSize: 1, sort: "createdAt_desc" }),
      listed,
      `${listPath}?page=1&pageSize=1&sort=createdAt_desc`
    ],
    ["a balance of the configured company", reading(), balance, `${balancePath(7)}?currency=BRL`],
    ["a balance of a named company", reading({ companyId: 8 }), balance, `${balancePath(8)}?currency=BRL`],
    ["a balance of the company 0", reading({ companyId: 0 }), balance, `${balancePath(0)}?currency=BRL`],
    ["a balance in another currency", reading({ currency: "USD" }), balance, `${balancePath(7)}?currency=USD`],
    [
      "a balance of options that are undefined",
      reading({ companyId: undefined, currency: undefined }),
      balance,
      `${balancePath(7)}?currency=BRL`
    ]
  ]
  effect.each(sent)("%s is a GET without body, content type and key", function* ([, use, answer, path]) {
    const { headers, method, path: place, text } = yield* requestOf(use, respond(200, answer))
    assert.deepStrictEqual([method, place, headers, text], ["GET", path, headersOf(), undefined])
  })
})

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

const refused: ReadonlyArray<Refused> = [
  ...[
    "",
    ".",
    "..",
    `../${canary}`,
    `..\\${canary}`,
    `${canary}\r\n`,
    ` ${canary}`,
    `${canary}é`,
    "a".repeat(129),
    91,
    undefined
  ].map((id): Refused => [`a lookup of ${JSON.stringify(id)}`, looking(id), "transactionId"]),
  ...[
    { pageSize: 0 },
    { pageSize: 101 },
    { pageSize: 1.5 },
    { page: 0 },
    { page: "1" },
    { sort: canary },
    { pagesize: 10 }
  ].map((options): Refused => [`a list of ${JSON.stringify(options)}`, listing(options), Object.keys(options).join()]),
  ["a list of a list", listing([]), ""],
  ["a list of null", listing(null), ""],
  ["a balance of a number", reading(42), ""],
  ["a balance of a text", reading(canary), ""],
  ["a balance of options that throw when they are read", reading(odd.throwing), ""],
  ["a balance of a negative company", reading({ companyId: -1 }), "companyId"],
  ["a balance of half a company", reading({ companyId: 7.5 }), "companyId"],
  ["a balance of a company in text", reading({ companyId: `../${canary}` }), "companyId"],
  ["a balance in a currency that is none", reading({ currency: `BRL&x=${canary}` }), "currency"],
  ["a balance with a misspelt option", reading({ canary }), "canary"]
]

describe("a request of a read", () => {
  effect.each(refused)("%s is refused, and nothing is sent", function* (row) {
    yield* checkRefused(row)
  })

  effect("a balance is refused where neither the call nor the client names a company", function* () {
    yield* checkRefused(["", reading({}), "companyId"], { companyId: undefined })
  })

  effect("a path before every path may be in the base URL, however long it is", function* () {
    for (const [prefix, path] of [
      ["/pix/v2", "/pix/v2"],
      ["/pix/v2//", "/pix/v2"],
      [`${long("/")}x//`, `${long("/")}x`]
    ]) {
      const sent = yield* requestOf(readBalance, respond(200, balance), { baseUrl: `https://gateway.example${prefix}` })
      assert.strictEqual(sent.path, `${path}${balancePath(7)}?currency=BRL`)
    }
  })
})
