/** What the reads send, which answers they take, and what they refuse. */
import { assert, describe } from "@effect/vitest"
import { Money } from "effect-pix"
import { Equal, Result } from "effect"
import {
  call,
  canary,
  checkNotRead,
  checkRead,
  checkRefused,
  errorOf,
  headersOf,
  long,
  type NotRead,
  nulls,
  odd,
  type Read,
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
  getWithdrawal,
  listed,
  listTransactions,
  lookupPath,
  operations,
  transactionId,
  withdrawalDetail,
  withdrawalPath
} from "../support/operations.ts"
import { respond } from "../support/Wire.ts"
import balancePending from "../fixtures/field/balance-pending.json" with { type: "json" }

type ReadName = "getTransaction" | "listTransactions" | "getBalance" | "getWithdrawal"

const { path: listPath } = listTransactions

/** The calls of a program without types. */
const calls: Readonly<Record<ReadName, (input?: unknown) => Use>> = {
  getTransaction: (id) => (payments) => payments.getTransaction(id as string),
  listTransactions: (options) => (payments) => payments.listTransactions(options as object),
  getBalance: (options) => (payments) => payments.getBalance(options as object),
  getWithdrawal: (id) => (payments) => payments.getWithdrawal(id as number)
}

const opaque = ["3fa94c1b7e2d4c8f9a6b5d0e1c", "order_42-A", "7", "a".repeat(64)]

describe("a request", () => {
  const list = (options: object | undefined, query: string) =>
    ["listTransactions", options, listed, `${listPath}${query}`] as const
  const funds = (options: object | undefined, company: number, currency = "BRL") =>
    ["getBalance", options, balance, `${balancePath(company)}?currency=${currency}`] as const
  const sent: ReadonlyArray<readonly [operation: ReadName, input: unknown, answer: object, path: string]> = [
    ["getTransaction", transactionId, detail, lookupPath(transactionId)],
    ...opaque.map((id) => ["getTransaction", id, { ...detail, transactionId: id }, lookupPath(id)] as const),
    list(undefined, ""),
    list({}, ""),
    list({ page: 2 }, "?page=2"),
    list({ pageSize: 100, sort: "createdAt_asc" }, "?pageSize=100&sort=createdAt_asc"),
    list({ page: 1, pageSize: 1, sort: "createdAt_desc" }, "?page=1&pageSize=1&sort=createdAt_desc"),
    funds(undefined, 7),
    funds({ companyId: 8 }, 8),
    funds({ companyId: 0, currency: "USD" }, 0, "USD"),
    funds({ companyId: undefined, currency: undefined }, 7),
    ...[7184, 0, 2 ** 53 - 1].map(
      (id) => ["getWithdrawal", id, { ...withdrawalDetail, id }, withdrawalPath(id)] as const
    )
  ]
  effect.each(sent)("of %s with %j is a GET without body, content type and key", function* (row) {
    const [operation, input, answer, path] = row
    const sent = yield* requestOf(calls[operation](input), respond(200, answer))
    assert.deepStrictEqual([sent.method, sent.path, sent.headers, sent.text], ["GET", path, headersOf(), undefined])
  })

  effect("is sent below the path of the base URL, however long that is", function* () {
    for (const [prefix, path] of [
      ["/pix/v2//", "/pix/v2"],
      [`${long("/")}x//`, `${long("/")}x`]
    ]) {
      const baseUrl = `https://gateway.example${prefix}`
      const sent = yield* requestOf(getBalance.call, respond(200, balance), { baseUrl })
      assert.strictEqual(sent.path, `${path}${balancePath(7)}?currency=BRL`)
    }
  })

  const ids = [
    "",
    ".",
    "..",
    `../${canary}`,
    `..\\${canary}`,
    `${canary}\r\n`,
    ` ${canary}`,
    `${canary}é`,
    91,
    undefined
  ]
  const refused: ReadonlyArray<readonly [operation: ReadName, path: string, ...inputs: ReadonlyArray<unknown>]> = [
    ["getTransaction", "transactionId", ...ids, "a?b#c", "a:b", "a%2Fb", "a".repeat(65)],
    ["listTransactions", "pageSize", ...[0, 101, 1.5].map((pageSize) => ({ pageSize }))],
    ["listTransactions", "page", { page: 0 }, { page: "1" }],
    ["listTransactions", "sort", { sort: canary }],
    ["listTransactions", "pagesize", { pagesize: 10 }],
    ["listTransactions", "", [], null],
    ["getBalance", "", 42, canary, odd.throwing],
    ["getBalance", "companyId", ...[-1, 7.5, `../${canary}`].map((companyId) => ({ companyId }))],
    ["getBalance", "currency", { currency: `BRL&x=${canary}` }],
    ["getBalance", "canary", { canary }],
    ["getWithdrawal", "withdrawalId", -1, 7.5, 2 ** 53, "7184", `../${canary}`, undefined, odd.throwing]
  ]
  effect.each(refused)("of %s is refused because of its %j, and nothing is sent", function* ([name, path, ...inputs]) {
    for (const input of inputs) yield* checkRefused(calls[name](input), [path], input)
  })

  effect("of a balance is refused where neither the call nor the client names a company", function* () {
    yield* checkRefused(calls.getBalance({}), ["companyId"], {}, { companyId: undefined })
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
const looked = {
  ...without(withdrawalDetail, "description", "providerEndToEndId"),
  value: "25 reais",
  providerAmount: "25 reais",
  createdAt: "utc 2026-11-27T11:07:14.997Z",
  updateDate: "utc 2026-11-27T11:07:19.120Z"
}
const certain = { id: 7184, value: 25, enTransaction: "Successful" }
const optional =
  "companyId idempotencyKey pixKey pixKeyType creditorDocument description currency createdAt amount provider " +
  "providerStatus providerTid providerEndToEndId providerPaymentId providerAmount providerErrorDescription updateDate"
const withItems = (...items: ReadonlyArray<unknown>) => ({ ok: true, res: { ...listed.res, items } })
const pageOf = (...items: ReadonlyArray<unknown>) => ({ ...listed.res, items })
const paid = { id: 91, value: 2500, transactionId, enStatusTransaction: "Paid" }
const renamed = {
  transactionId: transactionId.toUpperCase(),
  enStatusTransaction: "ChargedBack",
  enPaymentSystem: "Ted"
}
const little = { id: 3, enBalanceStatus: "Held", accBalance: -0.5 }
const noDates = { createdAt: "2026-02-30T12:00:00Z", updatedAt: "2026-11-21T12:00:00+73:66" }

const read: ReadonlyArray<readonly [operation: ReadName, ...Read]> = [
  ["getTransaction", "the documented detail", detail, found],
  ["getTransaction", "white space around a detail", ` \r\n\t${JSON.stringify(detail, null, 2)}\n`, found],
  ["getTransaction", "a byte order mark before a detail", `\uFEFF${JSON.stringify(detail)}`, found],
  ["getTransaction", "undocumented fields", { ...detail, fee: 99, lead: { ...detail.lead, vip: true } }, found],
  [
    "getTransaction",
    "nulls",
    { ...nulls("leadId lead companyId enPaymentSystem updateDate createdAt"), ...paid },
    paid
  ],
  ["getTransaction", "new words, and an id in other letters", { ...detail, ...renamed }, { ...found, ...renamed }],
  [
    "getTransaction",
    "a company in text, dates that are none and a lead that is a list",
    { ...detail, companyId: "7", updateDate: canary, createdAt: "2026-02-30", lead: [canary] },
    without(found, "companyId", "updateDate", "createdAt", "lead"),
    ["companyId", "createdAt", "lead", "updateDate"]
  ],
  [
    "getTransaction",
    "a lead whose document is a number",
    { ...detail, lead: { ...detail.lead, document: 5, id: -1 } },
    { ...found, lead: without(detail.lead, "document", "id") },
    ["lead.document", "lead.id"]
  ],
  ["listTransactions", "the documented page", listed, pageOf(item)],
  ["listTransactions", "an empty page", withItems(), pageOf()],
  [
    "listTransactions",
    "undocumented fields",
    { ...withItems({ ...row, fee: 1 }), took: 3, success: false },
    pageOf(item)
  ],
  [
    "listTransactions",
    "an external id",
    withItems({ ...row, lead: { ...row.lead, externalId: "e-1" } }),
    pageOf({ ...item, lead: { ...item.lead, externalId: "e-1" } })
  ],
  [
    "listTransactions",
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
  [
    "listTransactions",
    "a row with odd fields between others",
    { ...withItems(row, { ...row, leadId: 5, ...noDates, lead: { name: 1 } }, row), ok: "false" },
    pageOf(item, { ...without(item, "leadId", "createdAt", "updatedAt"), lead: {} }, item),
    ["ok", "res.items.createdAt", "res.items.lead.name", "res.items.leadId", "res.items.updatedAt"]
  ],
  ["getBalance", "the documented balance", balance, funds],
  [
    "getBalance",
    "the balance that was seen, without an id",
    balancePending,
    { ...balancePending, accBalance: "1234.56 reais" }
  ],
  ["getBalance", "an undocumented field", { ...balance, blocked: 1.5 }, funds],
  [
    "getBalance",
    "nulls, and a new word",
    { ...nulls("companyId currency accBalanceCredit accBalanceCreditAwaiting"), ...little },
    { ...little, accBalance: "-0.5 reais" }
  ],
  [
    "getBalance",
    "credits that are no decimals",
    { ...balance, accBalanceCredit: "1,50", accBalanceCreditAwaiting: {}, currency: 986 },
    without(funds, "accBalanceCredit", "accBalanceCreditAwaiting", "currency"),
    ["accBalanceCredit", "accBalanceCreditAwaiting", "currency"]
  ],
  ["getWithdrawal", "the record that was seen", withdrawalDetail, looked],
  ["getWithdrawal", "undocumented fields", { ...withdrawalDetail, providerPayload: "{}" }, looked],
  ["getWithdrawal", "nulls", { ...nulls(optional), ...certain }, { ...certain, value: "25 reais" }],
  [
    "getWithdrawal",
    "numbers for words, and an end-to-end id",
    { ...withdrawalDetail, providerStatus: 1, providerTid: 55, providerPaymentId: 7.5, providerEndToEndId: "E1" },
    { ...looked, providerStatus: "1", providerTid: "55", providerPaymentId: "7.5", providerEndToEndId: "E1" }
  ],
  [
    "getWithdrawal",
    "a value below the amount, which may be without a fee",
    { ...withdrawalDetail, value: "24.01" },
    { ...looked, value: "24.01 reais" }
  ],
  [
    "getWithdrawal",
    "odd fields that are not needed",
    { ...withdrawalDetail, amount: "2500", providerAmount: {}, providerStatus: [1], updateDate: "2026-02-30" },
    without(looked, "amount", "providerAmount", "providerStatus", "updateDate"),
    ["amount", "providerAmount", "providerStatus", "updateDate"]
  ]
]

const wrong: ReadonlyArray<readonly [operation: ReadName, ...NotRead]> = [
  ["getTransaction", "Unreadable", "value", { ...detail, value: null, createdAt: "" }],
  ["getTransaction", "Unreadable", "transactionId", { ...detail, transactionId: null }],
  ["getTransaction", "Unreadable", "enStatusTransaction", { ...detail, enStatusTransaction: 1 }],
  ["getTransaction", "Unreadable", "id", JSON.stringify(detail).replace("91", "9007199254740993")],
  ["getTransaction", "Unreadable", "", "<html><b>ok</b></html>", "null", ""],
  ["getTransaction", "NotAsAsked", "transactionId", { ...detail, transactionId: "t-2" }],
  ["listTransactions", "NotAsAsked", "ok", { ...listed, ok: false }],
  ["listTransactions", "Unreadable", "", ...["[]", "{}"].map((part) => `[${`${part},`.repeat(65_536)}1]`)],
  ["listTransactions", "NotAsAsked", "res.items", ...[row, {}].map((item) => withItems(...Array(101).fill(item)))],
  ["listTransactions", "Unreadable", "res", withItems().res],
  ["listTransactions", "Unreadable", "res.items", { res: { ...listed.res, items: null } }],
  ["listTransactions", "Unreadable", "res.items.1.id", withItems(row, { ...row, id: null })],
  ["listTransactions", "Unreadable", "res.items.0.amount", withItems({ ...row, amount: "25" })],
  ["listTransactions", "Unreadable", "res.items.1", withItems(row, null)],
  ["getBalance", "Unreadable", "accBalance", ...[null, true, "1,50"].map((accBalance) => ({ ...balance, accBalance }))],
  ["getBalance", "Unreadable", "accBalance", JSON.stringify(balance).replace("1234567.89", "1e999999999")],
  ["getWithdrawal", "NotAsAsked", "id", { ...withdrawalDetail, id: 7185 }],
  ["getWithdrawal", "NotAsAsked", "value", ...[25.01, 2500, 0, -25].map((value) => ({ ...withdrawalDetail, value }))],
  ["getWithdrawal", "Unreadable", "id", { ...withdrawalDetail, id: "7184" }],
  ["getWithdrawal", "Unreadable", "value", { ...withdrawalDetail, value: null }],
  ["getWithdrawal", "Unreadable", "enTransaction", { ...withdrawalDetail, enTransaction: null }],
  ["getWithdrawal", "Unreadable", "idempotencyKey", { ...withdrawalDetail, idempotencyKey: 7 }]
]

describe("an answer", () => {
  effect.each(read)("of %s is read with %s", function* ([operation, ...row]) {
    yield* checkRead(operation, operations[operation].call, row)
  })

  effect.each(wrong)("of %s is unexpected where it is %s by its %j", function* ([operation, reason, path, ...bodies]) {
    for (const body of bodies) {
      const error = yield* checkNotRead(operations[operation].call, [reason, path], body)
      assert.strictEqual(error.outcome, "NoEffect")
    }
  })

  effect(
    "with a field that does not fit is counted once a call and logged once a client, in however many rows",
    function* () {
      const body = withItems(...Array.from({ length: 100 }, () => ({ ...row, createdAt: "" })))
      const { lines, misfits } = yield* call(listTransactions.call, respond(200, body), { times: 3 })
      assert.deepStrictEqual([misfits, lines.length], [{ "res.items.createdAt": 3 }, 1])
    }
  )

  effect.each(["12345678901234567.89", "0.1", "25.00", "9007199254740993"])(
    "of a balance has exactly the digits %s",
    function* (written) {
      const body = `{"id":3,"enBalanceStatus":"Released","accBalance":${written}}`
      const { value } = yield* requestOf(getBalance.call, respond(200, body))
      assert.isTrue(Equal.equals(Object(value).accBalance, Money.reais(written)))
    }
  )

  effect("of a withdrawal with a value above its amount is read where the facts accept the fee in it", function* () {
    const facts = {
      acceptValue: ({ asked, value }: { asked: number; value: Money.Reais }) =>
        asked === 2500 && Money.toCentavos(value)._tag === "Some"
    }
    const { value } = yield* requestOf(getWithdrawal.call, respond(200, { ...withdrawalDetail, value: 25.5 }), {
      facts
    })
    assert.isTrue(Equal.equals(Object(value).value, Money.reais("25.50")))
  })

  effect("of a withdrawal with a status that nobody knows is read, counted and logged", function* () {
    const unlisted = { ...withdrawalDetail, enTransaction: "EmAnalise" }
    const { lines, misfits, result } = yield* call(getWithdrawal.call, respond(200, unlisted), { times: 3 })
    assert.isTrue(Result.isSuccess(result))
    assert.deepStrictEqual(misfits, { enTransaction: 3 })
    const line = "getWithdrawal: enTransaction of the answer is no listed status."
    assert.deepStrictEqual(lines, [["Warn", `${line} It does not say what became of the withdrawal`]])
  })

  effect("that is no record of a gateway without the lookup is WithdrawalNotFound, and a page is not", function* () {
    for (const [body, tag] of [
      ["", "WithdrawalNotFound"],
      [{ message: "Rota não encontrada" }, "WithdrawalNotFound"],
      ["<html><b>404</b></html>", "UnexpectedResponse"]
    ]) {
      const { error, requests } = yield* errorOf(getWithdrawal.call, respond(404, body))
      assert.deepStrictEqual([error._tag, requests], [tag, 1])
    }
  })

  effect("of another status of success, or of another content type, is read too, and a 204 is none", function* () {
    for (const status of [200, 203]) {
      const reply = respond(status, detail, { "content-type": "text/plain; charset=utf-8" })
      assert.isTrue(Result.isSuccess((yield* call(getTransaction.call, reply)).result))
    }
    const { issues } = yield* checkNotRead(listTransactions.call, ["Unreadable", ""], "", 204)
    assert.deepStrictEqual(issues, [{ path: "", problem: "is not JSON" }])
  })
})
