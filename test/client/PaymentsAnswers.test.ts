import { assert, describe } from "@effect/vitest"
import { Money, Payments, type PaymentsError, PaymentsPolicy } from "effect-pix"
import { Effect, Equal } from "effect"
import { type Answer, answer, json, makeGateway } from "../support/Gateway.ts"
import {
  balance,
  charge,
  createTransaction,
  created,
  detail,
  getBalance,
  getTransaction,
  listTransactions,
  listed,
  record,
  requestWithdrawal,
  transactionId,
  withdrawal
} from "../support/operations.ts"
import { paymentsOn, respond, scripted, shown, transports } from "../support/Wire.ts"
import { on, only } from "../support/against.ts"
import { effect, live } from "../support/effect.ts"

describe.each(Object.entries(transports))("over %s", (_, transport) => {
  const { against, succeeds } = on(transport)

  describe("the answers of the operations", () => {
    const createdValue = {
      id: transactionId,
      amount: 2500,
      paymentMethod: "PIX",
      status: "WAITING_PAYMENT",
      pix: { qrcode: "00020126580014br.gov.bcb.pix", expirationDate: "utc 2026-11-22T12:00:00.000Z" },
      extra: {},
      idempotencyKey: "tx_1"
    }
    const recordValue = {
      ...record("wd_1"),
      value: "10 reais",
      createdAt: "utc 2026-11-21T10:00:00.000Z"
    }
    const listedItem = only(listed.res.items)
    const { externalId: _, ...leadValue } = listedItem.lead
    const itemValue = {
      ...listedItem,
      lead: leadValue,
      createdAt: "utc 2026-11-21T10:00:00.000Z",
      updatedAt: "utc 2026-11-21T10:05:00.000Z"
    }
    const detailValue = {
      ...detail,
      updateDate: "utc 2026-11-21T10:05:00.000Z",
      createdAt: "utc 2026-11-21T10:00:00.000Z"
    }
    const balanceValue = {
      ...balance,
      accBalance: "1234567.89 reais",
      accBalanceCredit: "0.1 reais",
      accBalanceCreditAwaiting: "0 reais"
    }

    const { call: create } = createTransaction
    const { call: list } = listTransactions
    const { call: look } = getTransaction
    const { call: read } = getBalance
    const { call: withdraw } = requestWithdrawal

    const nulls = (names: string) => Object.fromEntries(names.split(" ").map((name) => [name, null]))

    type Case = readonly [
      name: string,
      given: Answer,
      use: (payments: Payments["Service"]) => Effect.Effect<unknown, PaymentsError>,
      expected: unknown
    ]

    const cases: ReadonlyArray<Case> = [
      ["the documented charge", json(created), create, createdValue],
      ["the documented detail", json(detail), look, detailValue],
      ["the documented list", json(listed), list, { ...listed.res, items: [itemValue] }],
      ["the documented balance", json(balance), read, balanceValue],
      ["the documented withdrawal", json(record("wd_1"), 201), withdraw, recordValue],

      ["another success status: a charge with 201", json(created, 201), create, createdValue],
      ["another success status: a withdrawal with 200", json(record("wd_1"), 200), withdraw, recordValue],
      ["another success status: a withdrawal with 202", json(record("wd_1"), 202), withdraw, recordValue],
      ["another success status: a detail with 203", json(detail, 203), look, detailValue],

      [
        "JSON that is declared as text",
        json(created, 200, { "content-type": "text/plain; charset=utf-8" }),
        create,
        createdValue
      ],
      ["JSON without a content type", answer(200, JSON.stringify(balance)), read, balanceValue],
      ["JSON after a byte order mark", json(`\uFEFF${JSON.stringify(balance)}`), read, balanceValue],
      [
        "a withdrawal after a byte order mark",
        json(`\uFEFF${JSON.stringify(record("wd_1"))}`, 201),
        withdraw,
        recordValue
      ],
      [
        "JSON in pieces, a character cut in two",
        (response) => {
          const bytes = Buffer.from(JSON.stringify({ ...detail, lead: { name: "Conceição" } }))
          const cut = bytes.indexOf(0xc3) + 1
          response.writeHead(200, { "content-type": "application/json" })
          response.write(bytes.subarray(0, cut), () => response.end(bytes.subarray(cut)))
        },
        look,
        { ...detailValue, lead: { name: "Conceição" } }
      ],
      ["JSON with white space around it", json(` \r\n\t${JSON.stringify(detail, null, 2)}\n`), look, detailValue],

      [
        "undocumented fields of a charge, kept under extra",
        json({
          ...created,
          requestId: "r-1",
          data: { ...created.data, boletoUrl: "https://x.example", fee: { fixed: 99 }, extra: "own" }
        }),
        create,
        { ...createdValue, extra: { boletoUrl: "https://x.example", fee: { fixed: 99 }, extra: "own" } }
      ],
      [
        "undocumented fields elsewhere, left out",
        json({ ...detail, fee: 99, lead: { ...detail.lead, vip: true } }),
        look,
        detailValue
      ],
      [
        "undocumented fields of a list's row and page",
        json({ ...listed, took: 3, res: { ...listed.res, hasNext: false, items: [{ ...listedItem, fee: 1 }] } }),
        list,
        { ...listed.res, items: [itemValue] }
      ],
      ["an undocumented field of a balance", json({ ...balance, blocked: 1.5 }), read, balanceValue],
      ["an undocumented field of a withdrawal", json({ ...record("wd_1"), fee: 1.5 }, 201), withdraw, recordValue],

      [
        "the company of a charge, from the data",
        json({ ...created, data: { ...created.data, companyId: 7 } }),
        create,
        { ...createdValue, companyId: 7 }
      ],
      [
        "the company of a charge, from the envelope",
        json({ ...created, companyId: 7 }),
        create,
        { ...createdValue, companyId: 7 }
      ],
      [
        "the company of a charge, null in the data",
        json({ ...created, companyId: 7, data: { ...created.data, companyId: null } }),
        create,
        { ...createdValue, companyId: 7 }
      ],
      [
        "an external id",
        json({
          ...listed,
          res: { ...listed.res, items: [{ ...listedItem, lead: { ...listedItem.lead, externalId: "e-1" } }] }
        }),
        list,
        { ...listed.res, items: [{ ...itemValue, lead: { ...leadValue, externalId: "e-1" } }] }
      ],

      [
        "nulls for all optional fields of a charge",
        json({
          data: {
            id: "t-1",
            amount: 2500,
            status: "WAITING_PAYMENT",
            pix: { qrcode: "0002", ...nulls("expirationDate") },
            ...nulls("paymentMethod companyId")
          },
          ...nulls("status message companyId")
        }),
        create,
        {
          id: "t-1",
          amount: 2500,
          status: "WAITING_PAYMENT",
          pix: { qrcode: "0002" },
          extra: {},
          idempotencyKey: "tx_1"
        }
      ],
      [
        "nulls for all optional fields of a detail",
        json({
          ...nulls("leadId lead companyId enPaymentSystem updateDate createdAt"),
          id: 91,
          value: 2500,
          transactionId,
          enStatusTransaction: "Paid"
        }),
        look,
        { id: 91, value: 2500, transactionId, enStatusTransaction: "Paid" }
      ],
      [
        "nulls for all optional fields of a list's row, and of its lead",
        json({
          ok: null,
          res: {
            ...listed.res,
            items: [
              { ...nulls("leadId lead paymentMethod providerTxId createdAt updatedAt"), id: 1, amount: 1, status: "X" },
              {
                id: 2,
                amount: 2,
                status: "Y",
                lead: nulls("id externalId name email phone documentNumber documentType")
              }
            ]
          }
        }),
        list,
        {
          ...listed.res,
          items: [
            { id: 1, amount: 1, status: "X" },
            { id: 2, amount: 2, status: "Y", lead: {} }
          ]
        }
      ],
      [
        "nulls for all optional fields of a balance",
        json({
          ...nulls("companyId currency accBalanceCredit accBalanceCreditAwaiting"),
          id: 3,
          enBalanceStatus: "Released",
          accBalance: -0.5
        }),
        read,
        { id: 3, enBalanceStatus: "Released", accBalance: "-0.5 reais" }
      ],
      [
        "nulls for all optional fields of a withdrawal",
        json(
          {
            ...nulls("companyId idempotencyKey pixKey pixKeyType creditorDocument description currency createdAt"),
            id: 55,
            value: 10,
            enTransaction: "Awaiting"
          },
          201
        ),
        withdraw,
        { id: 55, value: "10 reais", enTransaction: "Awaiting", idempotencyKey: "wd_1" }
      ],
      [
        "the least of each: only what is required",
        json({ res: { items: [], totalItems: 0, totalPages: 0, currentPage: 1, pageSize: 50 } }),
        list,
        { items: [], totalItems: 0, totalPages: 0, currentPage: 1, pageSize: 50 }
      ],

      [
        "a new status of a charge",
        json({ data: { ...created.data, status: "EM_ANÁLISE", paymentMethod: "Pix" } }),
        create,
        { ...createdValue, status: "EM_ANÁLISE", paymentMethod: "Pix" }
      ],
      [
        "a new status of a detail",
        json({ ...detail, enStatusTransaction: "ChargedBack", enPaymentSystem: "Ted" }),
        look,
        { ...detailValue, enStatusTransaction: "ChargedBack", enPaymentSystem: "Ted" }
      ],
      [
        "a new status of a balance",
        json({ ...balance, enBalanceStatus: "Held" }),
        read,
        { ...balanceValue, enBalanceStatus: "Held" }
      ],
      [
        "a new status and kind of key of a withdrawal",
        json({ ...record("wd_1"), enTransaction: "Settled", pixKeyType: "HANDLE" }, 201),
        withdraw,
        { ...recordValue, enTransaction: "Settled", pixKeyType: "HANDLE" }
      ]
    ]

    live.each(cases)("the answer %s decodes", function* ([, given, use, expected]) {
      const { value } = yield* succeeds(given, use)
      assert.deepStrictEqual(shown(value), expected)
    })

    const instants: ReadonlyArray<readonly [string, string]> = [
      ["2026-11-21T10:00:00Z", "2026-11-21T10:00:00.000Z"],
      ["2026-11-21T10:00:00.1Z", "2026-11-21T10:00:00.100Z"],
      ["2026-11-21T07:00:00-03:00", "2026-11-21T10:00:00.000Z"],
      ["2026-11-21T07:00:00.1234567-03:00", "2026-11-21T10:00:00.123Z"],
      ["2026-11-21T10:00:00.1234567", "2026-11-21T10:00:00.123Z"],
      ["2026-11-21T10:00:00.1234567Z", "2026-11-21T10:00:00.123Z"],
      ["2026-11-21T10:00:00", "2026-11-21T10:00:00.000Z"],
      ["2026-11-21T10:00:00+0000", "2026-11-21T10:00:00.000Z"],
      ["2026-11-21T13:30:00+0330", "2026-11-21T10:00:00.000Z"],
      ["2026-11-21 10:00:00", "2026-11-21T10:00:00.000Z"],
      ["2026-11-21T10:00", "2026-11-21T10:00:00.000Z"],
      ["2026-11-21T10:00:00,5", "2026-11-21T10:00:00.500Z"],
      ["2026-11-21T07:00:00-03", "2026-11-21T10:00:00.000Z"],
      ["2026-11-21", "2026-11-21T00:00:00.000Z"]
    ]

    live("timestamps with and without offset, with up to seven digits of a second, become UTC", function* () {
      const { requests, script, url } = yield* makeGateway
      yield* Effect.gen(function* () {
        const payments = yield* Payments
        for (const [written, expected] of instants) {
          script(json({ ...detail, updateDate: written, createdAt: written }))
          const { createdAt, updateDate } = yield* payments.getTransaction(transactionId)
          assert.deepStrictEqual(shown([createdAt, updateDate]), [`utc ${expected}`, `utc ${expected}`], written)
        }
        script(json({ ...detail, updateDate: "2026-13-45T10:00:00Z" }))
        assert.isUndefined((yield* payments.getTransaction(transactionId)).updateDate)
      }).pipe(Effect.provide(paymentsOn(transport, { baseUrl: url })))
      assert.strictEqual(requests.length, instants.length + 1)
    })

    const decimals: ReadonlyArray<readonly [string, string]> = [
      ["12345678901234567.89", "12345678901234567.89"],
      ["0.1", "0.1"],
      ["10.005", "10.005"],
      ["1234567.89", "1234567.89"],
      ["1e21", "1000000000000000000000"],
      ["1E-7", "0.0000001"],
      ["25.00", "25"],
      ["0.30000000000000004", "0.30000000000000004"],
      ["9007199254740993", "9007199254740993"],
      [`"12345678901234567.89"`, "12345678901234567.89"]
    ]

    live("a decimal of reais has exactly the written value", function* () {
      const { script, url } = yield* makeGateway
      yield* Effect.gen(function* () {
        const payments = yield* Payments
        for (const [written, expected] of decimals) {
          script(json(`{"id":3,"enBalanceStatus":"Released","accBalance":${written}}`))
          const { accBalance } = yield* payments.getBalance({ companyId: 7 })
          assert.isTrue(Equal.equals(accBalance, Money.reais(expected)), written)
          script(json(`{"id":55,"enTransaction":"Awaiting","value":${written}}`, 201))
          const { value } = yield* payments.requestWithdrawal(withdrawal)
          assert.isTrue(Equal.equals(value, Money.reais(expected)), written)
        }
      }).pipe(
        Effect.provide([paymentsOn(transport, { baseUrl: url }), PaymentsPolicy.layer({ acceptValue: () => true })])
      )
    })

    const wrong: ReadonlyArray<
      readonly [string, Answer, (payments: Payments["Service"]) => Effect.Effect<unknown, PaymentsError>]
    > = [
      ["an envelope without data", json({ status: 200, message: "ok" }), create],
      ["an envelope with null data", json({ ...created, data: null }), create],
      ["a charge without an id", json({ data: { ...created.data, id: undefined } }), create],
      ["a charge with an empty id", json({ data: { ...created.data, id: "" } }), create],
      ["a charge without an amount", json({ data: { ...created.data, amount: null } }), create],
      ["a charge without a status", json({ data: { ...created.data, status: null } }), create],
      ["a charge of a fraction of a centavo", json({ data: { ...created.data, amount: 25.5 } }), create],
      ["a withdrawal without a value", json({ ...record("wd_1"), value: null }, 201), withdraw],
      ["a withdrawal without an id", json({ ...record("wd_1"), id: undefined }, 201), withdraw],
      ["a withdrawal without a status", json({ ...record("wd_1"), enTransaction: null }, 201), withdraw],
      ["a list that says it is not ok", json({ ...listed, ok: false }), list],
      ["a list without items", json({ ok: true, res: { ...listed.res, items: null } }), list],
      ["a detail without a value", json({ ...detail, value: null }), look],
      ["a detail without a transaction id", json({ ...detail, transactionId: null }), look],
      [
        "a detail with an id beyond the safe integers",
        json(JSON.stringify(detail).replace("91", "9007199254740993")),
        look
      ],
      ["a balance without its amount", json({ ...balance, accBalance: null }), read],
      [
        "a balance of a thousand million digits",
        json(JSON.stringify(balance).replace("1234567.89", "1e999999999")),
        read
      ],
      ["a balance with a comma", json({ ...balance, accBalance: "1,50" }), read],
      ["a page of HTML with success", answer(200, "<html><b>ok</b></html>", { "content-type": "text/html" }), look],
      ["nothing with success", answer(200), read],
      ["null with success", json("null"), look],
      ["204", answer(204), list]
    ]

    live.each(wrong)("the answer %s is not a success, and no request is repeated", function* ([, given, use]) {
      const { requests, result } = yield* against(given, use)
      assert.strictEqual(result._tag, "Failure")
      if (result._tag !== "Failure") return
      const isWrite = use === create || use === withdraw
      assert.strictEqual(result.failure._tag, isWrite ? "OutcomeUnknown" : "UnexpectedResponse")
      assert.strictEqual(requests.length, 1)
    })
  })
})

describe("a field of the service's own naming", () => {
  effect("a field of the service's own naming called __proto__ stays data and changes no prototype", function* () {
    const { layer } = scripted(
      respond(
        200,
        `{"data":{"id":"t-1","amount":2500,"status":"X","pix":{"qrcode":"0002"},"__proto__":{"polluted":true},"constructor":1}}`
      )
    )
    const { extra } = yield* Effect.flatMap(Payments, (payments) => payments.createTransaction(charge)).pipe(
      Effect.provide(paymentsOn(layer))
    )
    assert.isUndefined(Reflect.get(extra, "polluted"))
    assert.isUndefined(Reflect.get({}, "polluted"))
  })
})
