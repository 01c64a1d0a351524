/**
 * An answer stays usable if an optional field does not fit the contract. It is unusable if a required field does not
 * fit.
 */
import { assert, describe } from "@effect/vitest"
import { type Operation, Payments, type PaymentsError } from "effect-pix"
import { Effect, Logger, Metric, Result } from "effect"
import {
  balance,
  createTransaction,
  created,
  detail,
  getBalance,
  getTransaction,
  listTransactions,
  listed,
  record,
  requestWithdrawal
} from "../support/operations.ts"
import { paymentsOn, respond, scripted, shown } from "../support/Wire.ts"
import { effect } from "../support/effect.ts"

type Use = (payments: Payments["Service"]) => Effect.Effect<unknown, PaymentsError>

const { call: create } = createTransaction
const { call: list } = listTransactions
const { call: look } = getTransaction
const { call: read } = getBalance
const { call: withdraw } = requestWithdrawal

/** Calls a service with this answer. Returns the result, the log lines and the counts of the metric. */
const answered = (body: unknown, use: Use, times = 1) =>
  Effect.gen(function* () {
    const { layer } = scripted(respond(200, body))
    const logged: Array<string> = []
    const logger = Logger.make(({ message }) => logged.push(String(message)))
    const [result, counted] = yield* Effect.gen(function* () {
      const payments = yield* Payments
      for (let call = 1; call < times; call++) yield* Effect.ignore(use(payments))
      const last = yield* Effect.result(use(payments))
      return [last, (yield* Metric.snapshot).filter(({ id }) => id === "effect_pix_misfits")] as const
    }).pipe(
      Effect.provide([paymentsOn(layer), Logger.layer([logger])]),
      Effect.provideService(Metric.MetricRegistry, new Map())
    )
    return {
      result: Result.map(result, shown),
      logged,
      fields: counted.map(({ attributes }) => String(attributes?.["field"])).toSorted(),
      counts: counted.map(({ state }) => ("count" in state ? Number(state.count) : Number.NaN))
    }
  })

const without = (value: object, ...names: ReadonlyArray<string>) =>
  Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)))

const [row] = listed.res.items
const canary = "canary-7f3e"

const odd: ReadonlyArray<
  readonly [what: string, operation: Operation, body: unknown, use: Use, good: unknown, fields: ReadonlyArray<string>]
> = [
  [
    "a withdrawal with an empty date, a numeric document and a list for a description",
    "requestWithdrawal",
    { ...record("wd_1"), createdAt: "", creditorDocument: 52_998_224_725, description: [canary] },
    withdraw,
    without(record("wd_1"), "createdAt", "creditorDocument", "description"),
    ["createdAt", "creditorDocument", "description"]
  ],
  [
    "a lookup with a company in text, dates that are none and a lead that is a list",
    "getTransaction",
    { ...detail, companyId: "7", updateDate: canary, createdAt: "21/11/2026", lead: [canary] },
    look,
    without(detail, "companyId", "updateDate", "createdAt", "lead"),
    ["companyId", "createdAt", "lead", "updateDate"]
  ],
  [
    "a lookup with a lead whose document is a number",
    "getTransaction",
    { ...detail, lead: { ...detail.lead, document: 5, id: -1 } },
    look,
    { ...detail, lead: without(detail.lead, "document", "id") },
    ["lead.document", "lead.id"]
  ],
  [
    "a page with one odd row",
    "listTransactions",
    { ok: "yes", res: { ...listed.res, items: [row, { ...row, leadId: 5, createdAt: 0, lead: { name: 1 } }, row] } },
    list,
    { ...listed.res, items: [row, { ...without(row ?? {}, "leadId", "createdAt"), lead: {} }, row] },
    ["ok", "res.items.createdAt", "res.items.lead.name", "res.items.leadId"]
  ],
  [
    "a page with a day that does not exist and an offset that does not",
    "listTransactions",
    {
      res: {
        ...listed.res,
        items: [{ ...row, createdAt: "2026-02-30T12:00:00Z", updatedAt: "2026-11-21T12:00:00+73:66" }]
      }
    },
    list,
    { ...listed.res, items: [without(row ?? {}, "createdAt", "updatedAt")] },
    ["res.items.createdAt", "res.items.updatedAt"]
  ],
  [
    "a lookup with a day that does not exist and an offset that does not",
    "getTransaction",
    { ...detail, createdAt: "2026-02-30", updateDate: "2026-11-21T12:00:00+73:66" },
    look,
    without(detail, "createdAt", "updateDate"),
    ["createdAt", "updateDate"]
  ],
  [
    "a balance with credits that are no decimals",
    "getBalance",
    { ...balance, accBalanceCredit: "1,50", accBalanceCreditAwaiting: {}, currency: 986 },
    read,
    without(balance, "accBalanceCredit", "accBalanceCreditAwaiting", "currency"),
    ["accBalanceCredit", "accBalanceCreditAwaiting", "currency"]
  ],
  [
    "a charge with an expiry that is none, and an envelope of other types",
    "createTransaction",
    {
      ...created,
      data: { ...created.data, companyId: "7", pix: { ...created.data.pix, expirationDate: canary } },
      status: "200",
      message: { text: canary }
    },
    create,
    { ...created.data, pix: without(created.data.pix, "expirationDate") },
    ["data.companyId", "data.pix.expirationDate", "message", "status"]
  ]
]

/** The value that was read, in the form of the wire. */
const plain = (value: unknown): unknown => {
  const text = JSON.stringify(value)
    .replaceAll(/"utc ([^"]+)"/g, '"$1"')
    .replaceAll(/"([^" ]+) reais"/g, "$1")
  const { extra: _, idempotencyKey: __, ...rest } = JSON.parse(text)
  return rest
}

describe("an answer whose optional fields do not fit", () => {
  effect.each(odd)(
    "%s is read without the fields that do not fit, and their names are counted and logged",
    function* ([, operation, body, use, good, fields]) {
      const { fields: counted, logged, result } = yield* answered(body, use)
      const { result: expected } = yield* answered(
        use === create ? { ...created, data: good } : use === list ? { res: good } : good,
        use
      )
      assert.deepStrictEqual(plain(Result.getOrThrow(result)), plain(Result.getOrThrow(expected)))
      assert.deepStrictEqual(counted, [...fields])
      assert.deepStrictEqual(
        logged.toSorted(),
        fields.map((field) => `${operation}: ${field} of the answer does not fit the contract and was left out`)
      )
      assert.notInclude(logged.join(), canary)
    }
  )

  effect("a field is counted once a call and logged once a client, however many rows have it", function* () {
    const items = Array.from({ length: 100 }, () => ({ ...row, createdAt: "" }))
    const { counts, logged, result } = yield* answered({ ok: true, res: { ...listed.res, items } }, list, 3)
    assert.isTrue(Result.isSuccess(result))
    assert.deepStrictEqual(counts, [3])
    assert.strictEqual(logged.length, 1)
  })
})

const broken: ReadonlyArray<readonly [string, unknown, Use, path: string]> = [
  ["a row without an id", { res: { ...listed.res, items: [row, { ...row, id: null }] } }, list, "res.items.1.id"],
  [
    "a row with an amount in text",
    { res: { ...listed.res, items: [{ ...row, amount: "25" }] } },
    list,
    "res.items.0.amount"
  ],
  ["a row that is none", { res: { ...listed.res, items: [row, null] } }, list, "res.items.1"],
  ["a lookup with a numeric status", { ...detail, enStatusTransaction: 1 }, look, "enStatusTransaction"],
  ["a lookup without a value, and an odd date", { ...detail, value: null, createdAt: "" }, look, "value"],
  ["a balance without its amount", { ...balance, accBalance: true }, read, "accBalance"],
  ["a withdrawal without a status", { ...record("wd_1"), enTransaction: null }, withdraw, "enTransaction"],
  [
    "a withdrawal that echoes a key that is no text",
    { ...record("wd_1"), idempotencyKey: 1 },
    withdraw,
    "idempotencyKey"
  ],
  ["a charge with a numeric id", { data: { ...created.data, id: 5 } }, create, "data.id"]
]

describe("an answer whose identity, amount or status do not fit", () => {
  effect.each(broken)("%s is not a success, and the first issue names the field", function* ([, body, use, path]) {
    const { fields, result } = yield* answered(body, use)
    const error = Result.getOrThrow(Result.flip(result))
    assert.include(["OutcomeUnknown", "UnexpectedResponse"], error._tag)
    if (error._tag !== "OutcomeUnknown" && error._tag !== "UnexpectedResponse") return
    assert.strictEqual(error.reason, "Unreadable")
    assert.include(error.issues?.map((issue) => issue.path) ?? [], path)
    assert.deepStrictEqual(fields, [])
  })
})
