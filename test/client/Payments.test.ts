import { assert, describe, it } from "@effect/vitest"
import {
  type CreateTransactionRequest,
  IdempotencyKey,
  Money,
  Payments,
  type PaymentsError,
  PaymentsPolicy,
  PixKey,
  type WithdrawalRequest
} from "effect-pix"
import { Effect, Layer } from "effect"
import { type Answer, answer, type Arrived, json, makeGateway, reset } from "../support/Gateway.ts"
import { impatient } from "../support/policies.ts"
import {
  apiKey,
  balance,
  charge,
  clientId,
  created,
  detail,
  listed,
  paymentsOn,
  payout,
  record,
  respond,
  scripted,
  shown,
  transports
} from "../support/Wire.ts"

const transactionId = "6f1b9a3e-2f7c-4f0e-9d53-0c5a7e1b2d44"

const { customer } = charge

const fullPix = {
  amount: Money.centavos(12_345),
  currency: "BRL",
  paymentMethod: "PIX",
  installments: 1,
  customer: {
    id: "c-1",
    name: "José D'Ávila \u{1F600}",
    email: "jose+pix@example.com.br",
    document: { number: "52998224725", type: "CPF" },
    phone: "11987654321",
    externalRef: "crm/1"
  },
  items: [
    { title: "Café 500g", unitPrice: Money.centavos(6000), quantity: 2, tangible: true },
    { title: "Frete", unitPrice: Money.centavos(345), quantity: 1, tangible: false }
  ],
  pix: { expiresInDays: 2 },
  traceable: true,
  ip: "203.0.113.7"
} satisfies CreateTransactionRequest

/** Every header but those that a transport sets by itself. */
const ours = ({ headers }: Arrived) => {
  const transportsOwn = new Set(
    "host connection content-length user-agent accept-language accept-encoding sec-fetch-mode".split(" ")
  )
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !transportsOwn.has(name)))
}

const readHeaders = { accept: "application/json", "x-client-id": clientId, "x-api-key": apiKey }
const writeHeaders = (idempotencyKey: string) => ({
  ...readHeaders,
  "content-type": "application/json",
  "idempotency-key": idempotencyKey
})

const only = <A>(values: ReadonlyArray<A>): A => {
  const [value] = values
  if (value === undefined || values.length !== 1) throw new Error(`expected one, got ${values.length}`)
  return value
}

describe.each(Object.entries(transports))("over %s", (_, transport) => {
  /** Runs calls against a gateway which answers as scripted, and gives what it received. */
  const against = <A>(
    given: Answer,
    use: (payments: Payments["Service"]) => Effect.Effect<A, PaymentsError>,
    options: { readonly prefix?: string; readonly companyId?: number } = {}
  ) =>
    Effect.gen(function* () {
      const { requests, script, url } = yield* makeGateway
      script(given)
      const baseUrl = `${url}${options.prefix ?? ""}`
      const result = yield* Effect.result(Effect.flatMap(Payments, use)).pipe(
        Effect.provide(Layer.provide(paymentsOn(transport, { baseUrl, companyId: options.companyId }), impatient))
      )
      return { result, requests }
    })

  const succeeds = <A>(
    given: Answer,
    use: (payments: Payments["Service"]) => Effect.Effect<A, PaymentsError>,
    options: { readonly prefix?: string; readonly companyId?: number } = {}
  ) =>
    Effect.flatMap(against(given, use, options), ({ requests, result }) =>
      Effect.map(Effect.fromResult(result), (value) => ({ value, request: only(requests) }))
    )

  describe("what is sent", () => {
    const posted = (request: Arrived, path: string, key: string, body: string) => {
      assert.strictEqual(request.method, "POST")
      assert.strictEqual(request.path, path)
      assert.deepStrictEqual(ours(request), writeHeaders(key))
      assert.strictEqual(request.text, body)
      assert.strictEqual(request.headers["content-length"], String(Buffer.byteLength(body)))
    }

    it.live("a minimal PIX charge carries amount, currency, method and customer, and nothing else", () =>
      Effect.gen(function* () {
        const { request } = yield* succeeds(json(created), (payments) => payments.createTransaction(charge))
        posted(
          request,
          "/api/v1/transactions/create",
          "tx_1",
          `{"amount":2500,"currency":"BRL","paymentMethod":"PIX","customer":{"name":"Maria Silva","email":"maria@example.com"}}`
        )
      })
    )

    it.live("a full PIX charge carries each documented field under its documented name, in UTF-8", () =>
      Effect.gen(function* () {
        const same = { data: { ...created.data, amount: fullPix.amount } }
        const { request } = yield* succeeds(json(same), (payments) => payments.createTransaction(fullPix))
        assert.deepStrictEqual(JSON.parse(request.text), fullPix)
        assert.strictEqual(request.headers["content-length"], String(request.bytes.length))
      })
    )

    it.live("a boleto and a card carry their undocumented fields beside the documented ones, as they are", () =>
      Effect.gen(function* () {
        const extra = { boleto: { dueDate: "2026-12-01", fine: 2.5 }, softDescriptor: null, split: [1, { to: "a" }] }
        for (const paymentMethod of ["BOLETO", "CREDIT_CARD"] as const) {
          const { request } = yield* succeeds(json(created), (payments) =>
            payments.createTransaction({ amount: Money.centavos(1), paymentMethod, installments: 3, customer, extra })
          )
          assert.deepStrictEqual(JSON.parse(request.text), {
            amount: 1,
            currency: "BRL",
            paymentMethod,
            installments: 3,
            customer,
            ...extra
          })
        }
      })
    )

    it.live("a minimal payout carries amount and currency", () =>
      Effect.gen(function* () {
        const { request } = yield* succeeds(json(record("wd_1"), 201), (payments) => payments.requestWithdrawal(payout))
        posted(request, "/api/Withdraw/request", "wd_1", `{"amount":1000,"currency":"BRL"}`)
      })
    )

    it.live("a full payout carries key, kind, description and metadata; a PixKey and a plain pair send the same", () =>
      Effect.gen(function* () {
        const rest = {
          amount: Money.centavos(150_000),
          currency: "BRL",
          description: "Aluguel nº 4",
          metadata: { invoice: 42, tags: ["rent", null], nested: { deep: true } }
        }
        const asked: ReadonlyArray<WithdrawalRequest> = [
          { ...rest, pixKey: PixKey.cpf("529.982.247-25") },
          { ...rest, pixKey: "52998224725", pixKeyType: "CPF" },
          { ...rest, pixKey: "529.982.247-25", pixKeyType: "CPF" }
        ]
        for (const request of asked) {
          const sent = yield* succeeds(json(record("wd_1"), 201), (payments) => payments.requestWithdrawal(request))
          assert.deepStrictEqual(JSON.parse(sent.request.text), {
            ...rest,
            pixKey: "52998224725",
            pixKeyType: "CPF"
          })
        }
      })
    )

    it.live("metadata that is text is sent as that text", () =>
      Effect.gen(function* () {
        const { request } = yield* succeeds(json(record("wd_1"), 201), (payments) =>
          payments.requestWithdrawal({ ...payout, metadata: `{"a": 1}` })
        )
        assert.strictEqual(request.text, String.raw`{"amount":1000,"currency":"BRL","metadata":"{\"a\": 1}"}`)
      })
    )

    it.live("each kind of PIX key is sent as the directory writes it", () =>
      Effect.gen(function* () {
        const kinds: ReadonlyArray<readonly [PixKey.PixKey, string, string]> = [
          [PixKey.cpf("111.444.777-35"), "CPF", "11144477735"],
          [PixKey.cnpj("12.ABC.345/01DE-35"), "CNPJ", "12ABC34501DE35"],
          [PixKey.email("Maria@Example.com"), "EMAIL", "maria@example.com"],
          [PixKey.phone("(11) 91234-5684"), "PHONE", "+5511912345684"],
          [PixKey.evp("123E4567-E12B-12D1-A456-426655440000"), "EVP", "123e4567-e12b-12d1-a456-426655440000"]
        ]
        for (const [pixKey, pixKeyType, text] of kinds) {
          const { request } = yield* succeeds(json(record("wd_1"), 201), (payments) =>
            payments.requestWithdrawal({ ...payout, pixKey })
          )
          assert.deepStrictEqual(JSON.parse(request.text), {
            amount: 1000,
            currency: "BRL",
            pixKey: text,
            pixKeyType
          })
        }
      })
    )

    it.live("a caller's own key is the header, byte for byte", () =>
      Effect.gen(function* () {
        const idempotencyKey = `!"#$%&'()*+,-./:;<=>?@[\\]^_\`{|}~${"k".repeat(200)}`
        const charged = yield* succeeds(json(created), (payments) =>
          payments.createTransaction(charge, { idempotencyKey })
        )
        assert.strictEqual(charged.request.headers["idempotency-key"], idempotencyKey)
        assert.strictEqual(charged.value.idempotencyKey, idempotencyKey)
        const paid = yield* succeeds(json(record(idempotencyKey), 201), (payments) =>
          payments.requestWithdrawal(payout, { idempotencyKey })
        )
        assert.strictEqual(paid.request.headers["idempotency-key"], idempotencyKey)
      })
    )

    it.live("a read is a GET without body, content type and key", () =>
      Effect.gen(function* () {
        const looked = yield* succeeds(json(detail), (payments) => payments.getTransaction(transactionId))
        assert.strictEqual(looked.request.method, "GET")
        assert.strictEqual(looked.request.path, `/api/Transaction/transactionByTransactionId/${transactionId}`)
        assert.deepStrictEqual(ours(looked.request), readHeaders)
        assert.strictEqual(looked.request.bytes.length, 0)
        assert.isUndefined(looked.request.headers["content-length"])
      })
    )

    it.live("a list asks for what was given and leaves the rest to the service", () =>
      Effect.gen(function* () {
        const path = "/api/Transaction/company/transactions"
        const cases: ReadonlyArray<readonly [Parameters<Payments["Service"]["listTransactions"]>[0], string]> = [
          [undefined, path],
          [{}, path],
          [{ page: 2 }, `${path}?page=2`],
          [{ pageSize: 100, sort: "createdAt_asc" }, `${path}?pageSize=100&sort=createdAt_asc`],
          [{ page: 1, pageSize: 1, sort: "createdAt_desc" }, `${path}?page=1&pageSize=1&sort=createdAt_desc`]
        ]
        for (const [options, expected] of cases) {
          const { request } = yield* succeeds(json(listed), (payments) => payments.listTransactions(options))
          assert.deepStrictEqual([request.method, request.path], ["GET", expected])
          assert.deepStrictEqual(ours(request), readHeaders)
        }
      })
    )

    it.live("a balance is that of the company named, or else of the configured one, in BRL unless said", () =>
      Effect.gen(function* () {
        const path = "/api/Balance/balance"
        const cases: ReadonlyArray<readonly [Parameters<Payments["Service"]["getBalance"]>[0], string]> = [
          [undefined, `${path}/7?currency=BRL`],
          [{ companyId: 8 }, `${path}/8?currency=BRL`],
          [{ companyId: 0 }, `${path}/0?currency=BRL`],
          [{ currency: "USD" }, `${path}/7?currency=USD`],
          [{ companyId: undefined, currency: undefined }, `${path}/7?currency=BRL`]
        ]
        for (const [options, expected] of cases) {
          const { request } = yield* succeeds(json(balance), (payments) => payments.getBalance(options), {
            companyId: 7
          })
          assert.deepStrictEqual([request.method, request.path], ["GET", expected])
          assert.deepStrictEqual(ours(request), readHeaders)
        }
      })
    )

    it.live("a path prefix of the base URL stands before every path", () =>
      Effect.gen(function* () {
        for (const prefix of ["/pix/v2", "/pix/v2/", "/pix/v2//"]) {
          const charged = yield* succeeds(json(created), (payments) => payments.createTransaction(charge), { prefix })
          assert.strictEqual(charged.request.path, "/pix/v2/api/v1/transactions/create")
          const read = yield* succeeds(json(balance), (payments) => payments.getBalance({ companyId: 7 }), { prefix })
          assert.strictEqual(read.request.path, "/pix/v2/api/Balance/balance/7?currency=BRL")
        }
      })
    )

    it.live("an id with signs of its own stays one segment of the path", () =>
      Effect.gen(function* () {
        for (const id of ["a?b#c", "%2e%2e", "...", "a:b@c;d", "a%2Fb"]) {
          const own = json({ ...detail, transactionId: id })
          const { request } = yield* succeeds(own, (payments) => payments.getTransaction(id))
          assert.strictEqual(
            request.path,
            `/api/Transaction/transactionByTransactionId/${encodeURIComponent(id)}`,
            `for ${id}`
          )
        }
      })
    )

    it.live("a retry sends the same key and the same bytes", () =>
      Effect.gen(function* () {
        const { requests, script, url } = yield* makeGateway
        const pay = Effect.flatMap(Payments, (payments) =>
          payments.requestWithdrawal({
            ...payout,
            pixKey: PixKey.email("maria@example.com"),
            description: "Aluguel \u{1F3E0}",
            metadata: { z: 1, a: [0.1, "é"] }
          })
        ).pipe(Effect.provide(Layer.provide(paymentsOn(transport, { baseUrl: url }), impatient)))
        script(answer(503), reset, json(record("wd_1"), 201))
        yield* pay
        assert.strictEqual(requests.length, 3)
        const [first, ...others] = requests
        assert.isAbove(first?.bytes.length ?? 0, 100)
        for (const other of others) {
          assert.deepStrictEqual(other.bytes, first?.bytes)
          assert.deepStrictEqual(ours(other), writeHeaders("wd_1"))
        }
      })
    )
  })

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

    const create = (payments: Payments["Service"]) => payments.createTransaction(charge)
    const look = (payments: Payments["Service"]) => payments.getTransaction(transactionId)
    const list = (payments: Payments["Service"]) => payments.listTransactions()
    const read = (payments: Payments["Service"]) => payments.getBalance({ companyId: 7 })
    const withdraw = (payments: Payments["Service"]) => payments.requestWithdrawal(payout)

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
        "JSON that calls itself text",
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

    it.live.each(cases)("the answer %s decodes", ([, given, use, expected]) =>
      Effect.gen(function* () {
        const { value } = yield* succeeds(given, use)
        assert.deepStrictEqual(shown(value), expected)
      })
    )

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
      ["2026-11-21T10:00", "2026-11-21T10:00:00.000Z"]
    ]

    it.live("timestamps with and without offset, with up to seven digits of a second, become UTC", () =>
      Effect.gen(function* () {
        const { requests, script, url } = yield* makeGateway
        yield* Effect.gen(function* () {
          const payments = yield* Payments
          for (const [written, expected] of instants) {
            script(json({ ...detail, updateDate: written, createdAt: written }))
            const { createdAt, updateDate } = yield* payments.getTransaction(transactionId)
            assert.deepStrictEqual(shown([createdAt, updateDate]), [`utc ${expected}`, `utc ${expected}`], written)
          }
        }).pipe(Effect.provide(paymentsOn(transport, { baseUrl: url })))
        assert.strictEqual(requests.length, instants.length)
      })
    )

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

    it.live("a decimal of reais comes out as exactly what was written", () =>
      Effect.gen(function* () {
        const { script, url } = yield* makeGateway
        yield* Effect.gen(function* () {
          const payments = yield* Payments
          for (const [written, expected] of decimals) {
            script(json(`{"id":3,"enBalanceStatus":"Released","accBalance":${written}}`))
            const { accBalance } = yield* payments.getBalance({ companyId: 7 })
            assert.isTrue(Money.ReaisEquivalence(accBalance, Money.reais(expected)), written)
            script(json(`{"id":55,"enTransaction":"Awaiting","value":${written}}`, 201))
            const { value } = yield* payments.requestWithdrawal(payout)
            assert.isTrue(Money.ReaisEquivalence(value, Money.reais(expected)), written)
          }
        }).pipe(
          Effect.provide([paymentsOn(transport, { baseUrl: url }), PaymentsPolicy.layer({ acceptValue: () => true })])
        )
      })
    )

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
      ["a balance with a comma", json({ ...balance, accBalance: "1,50" }), read],
      ["a page of HTML with success", answer(200, "<html><b>ok</b></html>", { "content-type": "text/html" }), look],
      ["nothing with success", answer(200), read],
      ["null with success", json("null"), look],
      ["204", answer(204), list]
    ]

    it.live.each(wrong)("the answer %s is no success, and is asked once", ([, given, use]) =>
      Effect.gen(function* () {
        const { requests, result } = yield* against(given, use)
        assert.strictEqual(result._tag, "Failure")
        if (result._tag !== "Failure") return
        const isWrite = use === create || use === withdraw
        assert.strictEqual(result.failure._tag, isWrite ? "OutcomeUnknown" : "UnexpectedResponse")
        assert.strictEqual(requests.length, 1)
      })
    )
  })
})

describe("a field of the service's own naming", () => {
  it.effect("a field of the service's own naming called __proto__ stays data and changes no prototype", () =>
    Effect.gen(function* () {
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
  )
})

describe("what is refused before anything is sent", () => {
  const canary = "canary-7f3e"

  type Use = (payments: Payments["Service"]) => Effect.Effect<unknown, PaymentsError>

  /** What a caller without types may pass. */
  const create =
    (change: object, options?: object): Use =>
    (payments) =>
      payments.createTransaction({ ...charge, ...change }, options)
  const withdraw =
    (change: object, options?: object): Use =>
    (payments) =>
      payments.requestWithdrawal({ ...payout, ...change }, options)
  const look =
    (id: unknown): Use =>
    (payments) =>
      payments.getTransaction(id as string)
  const list =
    (options: unknown): Use =>
    (payments) =>
      payments.listTransactions(options as object)
  const read =
    (options: unknown): Use =>
    (payments) =>
      payments.getBalance(options as object)

  const throwing = Object.defineProperty({}, "companyId", { get: () => assert.fail(canary), enumerable: true })
  Object.defineProperty(throwing, "idempotencyKey", { get: () => assert.fail(canary), enumerable: true })

  const cyclic: Record<string, unknown> = { canary }
  cyclic["self"] = cyclic

  const deep = (levels: number): unknown => {
    let value: unknown = canary
    for (let level = 0; level < levels; level++) value = { level: value }
    return value
  }

  const customerWith = (change: object) => ({ customer: { ...customer, ...change } })
  const item = { title: "Café", unitPrice: 100, quantity: 1 }
  const boleto = (extra: unknown) => ({ paymentMethod: "BOLETO", extra })

  const cases: ReadonlyArray<readonly [name: string, use: Use, path: string]> = [
    ["a negative amount", create({ amount: -1 }), "amount"],
    ["an amount with a fraction", create({ amount: 25.5 }), "amount"],
    ["an amount beyond the safe integers", create({ amount: 2 ** 53 }), "amount"],
    ["an amount that is text", create({ amount: canary }), "amount"],
    ["an amount that is not a number", create({ amount: Number.NaN }), "amount"],
    ["an infinite amount", create({ amount: Infinity }), "amount"],
    ["no amount", create({ amount: undefined }), "amount"],
    ["an unknown method", create({ paymentMethod: canary }), "paymentMethod"],
    ["a method in small letters", create({ paymentMethod: "pix" }), "paymentMethod"],
    ["a currency that is none", create({ currency: canary }), "currency"],
    ["a field that the contract does not name", create({ canary }), "canary"],
    ["an extra of a PIX charge", create({ extra: { canary } }), "extra"],
    ["pix options of a boleto", create({ paymentMethod: "BOLETO", pix: { expiresInDays: 1 } }), "pix"],
    [
      "an undocumented field of a boleto outside extra",
      create({ paymentMethod: "BOLETO", dueDate: canary }),
      "dueDate"
    ],
    ["no customer", create({ customer: undefined }), "customer"],
    ["a customer without a name", create(customerWith({ name: undefined })), "customer.name"],
    ["a customer with an empty name", create(customerWith({ name: "" })), "customer.name"],
    ["a customer without an e-mail", create(customerWith({ email: undefined })), "customer.email"],
    ["an e-mail that is none", create(customerWith({ email: canary })), "customer.email"],
    ["an undocumented field of the customer", create(customerWith({ canary })), "customer.canary"],
    [
      "an undocumented field of a boleto's customer",
      create({ paymentMethod: "BOLETO", ...customerWith({ canary }) }),
      "customer.canary"
    ],
    ["a phone with signs", create(customerWith({ phone: `+55 ${canary}` })), "customer.phone"],
    ["a document without a type", create(customerWith({ document: { number: canary } })), "customer.document.type"],
    ["an item of quantity 0", create({ items: [{ ...item, quantity: 0 }] }), "items.0.quantity"],
    ["an item with half a centavo", create({ items: [item, { ...item, unitPrice: 0.5 }] }), "items.1.unitPrice"],
    ["an expiry of half a day", create({ pix: { expiresInDays: 0.5 } }), "pix.expiresInDays"],
    ["no installment", create({ installments: 0 }), "installments"],
    ["a payer's address that is none", create({ ip: canary }), "ip"],
    ["an extra that names a documented field", create(boleto({ amount: 1 })), "extra"],
    ["an extra that is no record", create(boleto(canary)), "extra"],
    ["an extra that contains itself", create(boleto(cyclic)), "extra"],
    ["an extra with a function", create(boleto({ canary: () => canary })), "extra"],
    ["an extra with a bigint", create(boleto({ canary: 1n })), "extra"],
    ["an extra with a __proto__", create(boleto(JSON.parse(`{"__proto__":"${canary}"}`))), "extra"],

    ["an extra nested too deep to be written", create(boleto(deep(50_000))), ""],
    ["a charge that is no object", (payments) => payments.createTransaction(null as never), "paymentMethod"],
    ["a payout that is no object", (payments) => payments.requestWithdrawal(null as never), ""],
    ["a PIX key that is no text", withdraw({ pixKey: 42, pixKeyType: "EVP" }), "pixKeyType"],
    ["options of a balance that are no object", read(42), ""],

    ["a negative payout", withdraw({ amount: -1000 }), "amount"],
    ["a payout with a fraction", withdraw({ amount: 1000.5 }), "amount"],
    ["a payout without an amount", withdraw({ amount: undefined }), "amount"],
    ["a payout in a currency that is none", withdraw({ currency: "brl" }), "currency"],
    ["a kind of key without a key", withdraw({ pixKeyType: "CPF" }), "pixKeyType"],
    ["a plain key without its kind", withdraw({ pixKey: "52998224725" }), "pixKeyType"],
    ["a plain key of an unknown kind", withdraw({ pixKey: canary, pixKeyType: canary }), "pixKey"],
    ["a CPF with wrong check digits", withdraw({ pixKey: "12345678901", pixKeyType: "CPF" }), "pixKey"],
    ["an empty key", withdraw({ pixKey: "", pixKeyType: "EVP" }), "pixKey"],
    [
      "a PixKey with a kind beside it",
      withdraw({ pixKey: PixKey.cpf("52998224725"), pixKeyType: "CPF" }),
      "pixKeyType"
    ],
    ["an undocumented field of a payout", withdraw({ canary }), "canary"],
    ["a description that is no text", withdraw({ description: 42 }), "description"],
    ["metadata with a __proto__", withdraw({ metadata: JSON.parse(`{"a":{"__proto__":"${canary}"}}`) }), "metadata"],
    ["metadata with a constructor", withdraw({ metadata: { constructor: canary } }), "metadata"],
    ["metadata that contains itself", withdraw({ metadata: cyclic }), "metadata"],
    ["metadata nested too deep", withdraw({ metadata: deep(9) }), "metadata"],
    ["metadata of a list", withdraw({ metadata: [canary] }), "metadata"],
    ["metadata of a number", withdraw({ metadata: 42 }), "metadata"],

    ["a description of a megabyte", withdraw({ description: `${canary}${"x".repeat(1_000_000)}` }), "description"],
    ["a charge of more than 65536 characters", create({ items: Array.from({ length: 2000 }, () => item) }), ""],
    ["an extra of a megabyte", create(boleto({ note: `${canary}${"x".repeat(1_000_000)}` })), ""],
    ["options of a charge that are a number", create({}, 5 as unknown as object), ""],
    ["options of a withdrawal that are null", withdraw({}, null as unknown as object), ""],
    ["options that throw when they are read", withdraw({}, throwing), ""],
    ["a charge that throws when it is read", create(boleto(throwing)), ""],
    ["a query that is a list", list([]), ""],
    ["a query that is null", list(null), ""],
    ["a balance of options that are a text", read(canary), ""],
    ["a balance of options that throw when they are read", read(throwing), ""],

    ["an empty idempotency key", withdraw({}, { idempotencyKey: "" }), "idempotencyKey"],
    [
      "an idempotency key with a line break",
      create({}, { idempotencyKey: `${canary}\r\nX-Evil: 1` }),
      "idempotencyKey"
    ],
    ["an idempotency key with NUL", withdraw({}, { idempotencyKey: `${canary}\0` }), "idempotencyKey"],
    ["an idempotency key with a space", withdraw({}, { idempotencyKey: `${canary} ` }), "idempotencyKey"],
    ["an idempotency key beyond ASCII", withdraw({}, { idempotencyKey: `${canary}é` }), "idempotencyKey"],
    ["an idempotency key of 256 characters", create({}, { idempotencyKey: "k".repeat(256) }), "idempotencyKey"],
    ["an idempotency key that is a number", withdraw({}, { idempotencyKey: 42 }), "idempotencyKey"],
    ["an option that is misspelt", withdraw({}, { idempotencykey: canary }), "idempotencykey"],

    ["an empty id", look(""), "transactionId"],
    ["the id .", look("."), "transactionId"],
    ["the id ..", look(".."), "transactionId"],
    ["an id with a slash", look(`../${canary}`), "transactionId"],
    ["an id with a backslash", look(`..\\${canary}`), "transactionId"],
    ["an id with a line break", look(`${canary}\r\n`), "transactionId"],
    ["an id with a space", look(` ${canary}`), "transactionId"],
    ["an id beyond ASCII", look(`${canary}é`), "transactionId"],
    ["an id of 129 characters", look("a".repeat(129)), "transactionId"],
    ["an id that is a number", look(91), "transactionId"],
    ["no id", look(undefined), "transactionId"],

    ["a page size of 0", list({ pageSize: 0 }), "pageSize"],
    ["a page size of 101", list({ pageSize: 101 }), "pageSize"],
    ["half a row", list({ pageSize: 1.5 }), "pageSize"],
    ["page 0", list({ page: 0 }), "page"],
    ["a page that is text", list({ page: "1" }), "page"],
    ["an order that the service does not know", list({ sort: canary }), "sort"],
    ["a misspelt option of a list", list({ pagesize: 10 }), "pagesize"],

    ["no company", read({}), "companyId"],
    ["a negative company", read({ companyId: -1 }), "companyId"],
    ["half a company", read({ companyId: 7.5 }), "companyId"],
    ["a company that is text", read({ companyId: `../${canary}` }), "companyId"],
    ["a balance in a currency that is none", read({ companyId: 7, currency: `BRL&x=${canary}` }), "currency"],
    ["a misspelt option of a balance", read({ companyId: 7, canary }), "canary"]
  ]

  it.effect.each(cases)("%s is refused as InvalidRequest, and nothing is sent", ([, use, path]) =>
    Effect.gen(function* () {
      const { layer, sent } = scripted(respond(500))
      const error = yield* Effect.flip(Effect.flatMap(Payments, use)).pipe(Effect.provide(paymentsOn(layer)))
      assert.strictEqual(error._tag, "InvalidRequest")
      if (error._tag !== "InvalidRequest") return
      assert.deepStrictEqual([error.outcome, error.attempts, sent.length], ["NotSent", 0, 0])
      assert.include(
        error.issues.map((issue) => issue.path),
        path
      )
      const printed = `${String(error)} ${JSON.stringify(error)}`
      // The name of a field may be shown; its value never is.
      assert.notInclude(path.includes("canary") ? printed.replaceAll(path, "") : printed, canary)
    })
  )

  it.effect("a withdrawal of 999 centavos is BelowMinimum, of 1000 it is sent", () =>
    Effect.gen(function* () {
      const { layer, sent } = scripted(respond(201, record("wd_2")))
      yield* Effect.gen(function* () {
        const payments = yield* Payments
        const error = yield* Effect.flip(payments.requestWithdrawal({ amount: Money.centavos(999) }))
        assert.strictEqual(error._tag, "BelowMinimum")
        if (error._tag !== "BelowMinimum") return
        assert.deepStrictEqual(
          [error.outcome, error.attempts, error.amount, error.minimum, error.idempotencyKey, sent.length],
          ["NotSent", 0, 999, 1000, "wd_1", 0]
        )
        yield* payments.requestWithdrawal({ amount: Money.centavos(1000) })
        assert.strictEqual(sent.length, 1)
      }).pipe(Effect.provide(paymentsOn(layer)))
    })
  )

  it.effect("the bounds themselves are accepted: a page of 100 rows, an id of 128 characters, a key of 255", () =>
    Effect.gen(function* () {
      const id = "a".repeat(128)
      const { layer, sent } = scripted(
        respond(200, listed),
        respond(200, { ...detail, transactionId: id }),
        respond(200, created)
      )
      const idempotencyKey = IdempotencyKey.IdempotencyKey.make("k".repeat(255))
      yield* Effect.gen(function* () {
        const payments = yield* Payments
        yield* payments.listTransactions({ pageSize: 100 })
        yield* payments.getTransaction(id)
        yield* payments.createTransaction(charge, { idempotencyKey })
      }).pipe(Effect.provide(paymentsOn(layer)))
      assert.strictEqual(sent.length, 3)
    })
  )
})
