/** What `createTransaction` sends, which answers it takes, and which requests it refuses. */
import { assert, describe } from "@effect/vitest"
import { type CreateTransactionRequest, Money, type WriteOptions } from "effect-pix"
import { Result } from "effect"
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
  type Refused,
  requestOf,
  type Use,
  without
} from "../support/calls.ts"
import { effect } from "../support/effect.ts"
import { charge, chargeBody, created, createTransaction, transactionId } from "../support/operations.ts"
import { respond } from "../support/Wire.ts"

const { customer } = charge
const { call: create, path } = createTransaction
const { data } = created

/** The call of a program without types. */
const creating =
  (change: object, options?: object): Use =>
  (payments) =>
    payments.createTransaction({ ...charge, ...change }, options)

const full = {
  amount: Money.centavos(2500),
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
    { title: "Café 500g", unitPrice: Money.centavos(1200), quantity: 2, tangible: true },
    { title: "Frete", unitPrice: Money.centavos(100), quantity: 1, tangible: false }
  ],
  traceable: true,
  ip: "203.0.113.7",
  pix: { expiresInDays: 2 }
} satisfies CreateTransactionRequest

const extra = { boleto: { dueDate: "2026-12-01", fine: 2.5 }, softDescriptor: null, split: [1, { to: "a" }] }
const other = { amount: Money.centavos(2500), installments: 3, customer }

describe("the request of createTransaction", () => {
  const sent: ReadonlyArray<readonly [what: string, request: CreateTransactionRequest, body: unknown]> = [
    ["a minimal PIX charge has amount, currency, method and customer", charge, chargeBody],
    ["a full PIX charge has each documented field under its documented name", full, full],
    ...(["BOLETO", "CREDIT_CARD"] as const).map(
      (paymentMethod) =>
        [
          `a charge by ${paymentMethod} has its undocumented fields beside the documented ones`,
          { ...other, paymentMethod, extra },
          { ...other, currency: "BRL", paymentMethod, ...extra }
        ] as const
    )
  ]
  effect.each(sent)("%s, and nothing else", function* ([, request, body]) {
    const sent = yield* requestOf((payments) => payments.createTransaction(request), respond(200, created))
    assert.deepStrictEqual([sent.method, sent.path, sent.headers], ["POST", path, headersOf("tx_1")])
    assert.deepStrictEqual(JSON.parse(sent.text ?? ""), body)
  })

  effect("a key that the caller gives is sent unchanged, up to 255 visible characters of ASCII", function* () {
    for (const idempotencyKey of [`!"#$%&'()*+,-./:;<=>?@[\\]^_\`{|}~`, "k".repeat(255)]) {
      const options: WriteOptions = { idempotencyKey }
      const sent = yield* requestOf((payments) => create(payments, options), respond(200, created))
      assert.deepInclude(sent.value, { idempotencyKey })
      assert.deepStrictEqual(sent.headers, headersOf(idempotencyKey))
    }
  })
})

const value = {
  id: transactionId,
  amount: 2500,
  paymentMethod: "PIX",
  status: "WAITING_PAYMENT",
  pix: { qrcode: "00020126580014br.gov.bcb.pix", expirationDate: "utc 2026-11-22T12:00:00.000Z" },
  extra: {},
  idempotencyKey: "tx_1"
}
const undocumented = { boletoUrl: "https://x.example", fee: { fixed: 99 }, extra: "own" }
const withData = (change: object) => ({ ...created, data: { ...data, ...change } })

describe("the answer of createTransaction", () => {
  const read: ReadonlyArray<Read> = [
    ["the documented answer", created, value],
    ["an answer after a byte order mark", `\uFEFF${JSON.stringify(created)}`, value],
    [
      "undocumented fields, which are kept under extra",
      { ...withData(undocumented), requestId: "r-1" },
      { ...value, extra: undocumented }
    ],
    ["a company in the data", withData({ companyId: 7 }), { ...value, companyId: 7 }],
    ["a company in the envelope", { ...created, companyId: 7 }, { ...value, companyId: 7 }],
    [
      "a company that is null in the data",
      { ...withData({ companyId: null }), companyId: 7 },
      { ...value, companyId: 7 }
    ],
    [
      "nulls for all that is optional",
      {
        data: { ...data, pix: { qrcode: "0002", ...nulls("expirationDate") }, ...nulls("paymentMethod companyId") },
        ...nulls("status message companyId")
      },
      { ...without(value, "paymentMethod"), pix: { qrcode: "0002" } }
    ],
    [
      "a new status, and its method in other letters",
      withData({ status: "EM_ANÁLISE", paymentMethod: " Pix" }),
      { ...value, status: "EM_ANÁLISE", paymentMethod: " Pix" }
    ],
    [
      "optional fields of other types",
      {
        data: { ...data, companyId: "7", pix: { ...data.pix, expirationDate: canary } },
        status: "200",
        message: { text: canary }
      },
      { ...value, pix: without(value.pix, "expirationDate") },
      ["data.companyId", "data.pix.expirationDate", "message", "status"]
    ],
    ...[
      { ok: false, success: false, error: "E-1", code: 500, result: 0 },
      { status: 0 },
      { status: 399 },
      { status: 600 }
    ].map((change): Read => [`an envelope with ${JSON.stringify(change)}`, { ...created, ...change }, value])
  ]
  effect.each(read)("%s is read", function* (row) {
    yield* checkRead("createTransaction", create, row)
  })

  const wrong: ReadonlyArray<NotRead> = [
    ["no data", { status: 200, message: "ok" }, "Unreadable", "data"],
    ["null as data", { ...created, data: null }, "Unreadable", "data"],
    ["no id", withData({ id: undefined }), "Unreadable", "data.id"],
    ["an empty id", withData({ id: "" }), "Unreadable", "data.id"],
    ["a numeric id", withData({ id: 5 }), "Unreadable", "data.id"],
    ["no amount", withData({ amount: null }), "Unreadable", "data.amount"],
    ["a fraction of a centavo", withData({ amount: 25.5 }), "Unreadable", "data.amount"],
    ["no status", withData({ status: null }), "Unreadable", "data.status"],
    ["another amount", withData({ amount: 2501 }), "NotAsAsked", "data.amount"],
    ["another method", withData({ paymentMethod: "BOLETO" }), "NotAsAsked", "data.paymentMethod"],
    ["a status of failure", withData({ status: "payment-failed" }), "NotAsAsked", "data.status"],
    ["another company in the data", withData({ companyId: 8 }), "NotAsAsked", "companyId"],
    ["another company in the envelope", { ...created, companyId: 8 }, "NotAsAsked", "companyId"],
    ...[400, 422, 500, 599].map((status): NotRead => [
      `status ${status}`,
      { ...created, status },
      "NotAsAsked",
      "status"
    ]),
    ...[undefined, null, ""].map((qrcode): NotRead => [
      `${qrcode ?? String(qrcode)} as its code`,
      withData({ pix: { qrcode } }),
      "UnsoundBrCode",
      "data.pix.qrcode"
    ])
  ]
  effect.each(wrong)(
    "an answer with %s has an unknown outcome, and its error shows what was recorded",
    function* (row) {
      const error = yield* checkNotRead(create, row)
      if (row[2] === "Unreadable" || error._tag !== "OutcomeUnknown") return
      const recorded = { ...data, ...(row[1] as typeof created).data } // the body of this row
      const { amount, id, status } = recorded
      assert.deepStrictEqual({ ...error.seen }, { id, value: String(amount), status })
      assert.include(error.message, id)
    }
  )

  effect("a card charge whose answer reports a refusal is a charge, since its answer is not documented", function* () {
    const body = withData({ amount: 2600, paymentMethod: "CreditCard", status: "REFUSED", pix: undefined })
    const { result } = yield* call(creating({ paymentMethod: "CREDIT_CARD" }), respond(200, body))
    assert.isTrue(Result.isSuccess(result))
  })

  effect("an undocumented field called __proto__ stays data and changes no prototype", function* () {
    const body = JSON.stringify(created).replace(`"data":{`, `"data":{"__proto__":{"polluted":true},"constructor":1,`)
    const { value } = yield* requestOf(create, respond(200, body))
    assert.isUndefined(Reflect.get(Object(value).extra, "polluted"))
    assert.isUndefined(Reflect.get({}, "polluted"))
  })

  effect(
    "an answer is compared with the amount that was sent, also if the caller has changed the request since",
    function* () {
      const given: { amount: Money.Centavos } & Omit<typeof charge, "amount"> = { ...charge }
      const response = () => {
        given.amount = Money.centavos(1)
        return new Response(JSON.stringify(created))
      }
      const { result } = yield* call((payments) => payments.createTransaction(given), { response })
      assert.isTrue(Result.isSuccess(result))
    }
  )
})

const customerWith = (change: object) => creating({ customer: { ...customer, ...change } })
const item = { title: "Café", unitPrice: 100, quantity: 1 }
const boleto = (extra: unknown) => creating({ paymentMethod: "BOLETO", extra })

const refused: ReadonlyArray<Refused> = [
  ...[-1, 25.5, 2 ** 53, canary, Number.NaN, Infinity, undefined].map((amount): Refused => [
    `${amount} as its amount`,
    creating({ amount }),
    "amount"
  ]),
  ["an unknown method", creating({ paymentMethod: canary }), "paymentMethod"],
  ["a method in small letters", creating({ paymentMethod: "pix" }), "paymentMethod"],
  ["a method that is a name of every object", creating({ paymentMethod: "toString" }), "paymentMethod"],
  ["a currency that is none", creating({ currency: canary }), "currency"],
  ["a currency of half a million letters", creating({ currency: long("A") }), "currency"],
  ["a field that the contract does not name", creating({ canary }), "canary"],
  ["an extra of a PIX charge", creating({ extra: { canary } }), "extra"],
  ["pix options of a boleto", creating({ paymentMethod: "BOLETO", pix: { expiresInDays: 1 } }), "pix"],
  ["an undocumented field outside extra", creating({ paymentMethod: "BOLETO", dueDate: canary }), "dueDate"],
  ["no customer", creating({ customer: undefined }), "customer"],
  ["a customer without a name", customerWith({ name: undefined }), "customer.name"],
  ["a customer with an empty name", customerWith({ name: "" }), "customer.name"],
  ["a customer without an e-mail", customerWith({ email: undefined }), "customer.email"],
  ["an e-mail that is none", customerWith({ email: canary }), "customer.email"],
  ["half a million letters as an e-mail", customerWith({ email: long("a") }), "customer.email"],
  ["an e-mail of a quarter of a million signs @", customerWith({ email: long("a@") }), "customer.email"],
  ["an undocumented field of the customer", customerWith({ canary }), "customer.canary"],
  ["a phone with signs", customerWith({ phone: `+55 ${canary}` }), "customer.phone"],
  ["a phone of half a million digits", customerWith({ phone: `${long("1")}x` }), "customer.phone"],
  ["a document without a type", customerWith({ document: { number: canary } }), "customer.document.type"],
  ["an item of quantity 0", creating({ items: [{ ...item, quantity: 0 }] }), "items.0.quantity"],
  ["an item with half a centavo", creating({ items: [item, { ...item, unitPrice: 0.5 }] }), "items.1.unitPrice"],
  ["an expiry of half a day", creating({ pix: { expiresInDays: 0.5 } }), "pix.expiresInDays"],
  ["no installment", creating({ installments: 0 }), "installments"],
  ...[
    "localhost",
    "",
    "203.0.113",
    "203.0.113.7.9",
    "12ab",
    "::g",
    " ::1",
    ...[":", ".", "1.", "a:", "::1", " "].map((text) => `${long(text)}x`)
  ].map((ip): Refused => [`the address ${ip.slice(0, 12)}`, creating({ ip }), "ip"]),
  ["an extra that names a documented field", boleto({ amount: 1 }), "extra"],
  ["an extra that is no record", boleto(canary), "extra"],
  ["an extra that contains itself", boleto(odd.cyclic), "extra"],
  ["an extra with a function", boleto({ canary: () => canary }), "extra"],
  ["an extra with a bigint", boleto({ canary: 1n }), "extra"],
  ["an extra with a __proto__", boleto(JSON.parse(`{"__proto__":"${canary}"}`)), "extra"],
  ["an extra nested too deep to be written", boleto(odd.deep), ""],
  ["an extra that throws when it is read", boleto(odd.throwing), ""],
  ["an extra of a megabyte", boleto({ note: `${canary}${"x".repeat(1_000_000)}` }), ""],
  ["more than 65536 characters", creating({ items: Array.from({ length: 2000 }, () => item) }), ""],
  ["null as the request", (payments) => payments.createTransaction(null as never), "paymentMethod"], // as from JavaScript
  ["a number as its options", (payments) => create(payments, 5 as never), ""], // as from JavaScript
  [
    "an idempotency key with a line break",
    creating({}, { idempotencyKey: `${canary}\r\nX-Evil: 1` }),
    "idempotencyKey"
  ],
  ["an idempotency key of 256 characters", creating({}, { idempotencyKey: "k".repeat(256) }), "idempotencyKey"]
]

describe("a request of createTransaction", () => {
  effect.each(refused)("with %s is refused, and nothing is sent", function* (row) {
    yield* checkRefused(row)
  })

  const unknown: ReadonlyArray<readonly [what: string, create: Parameters<typeof errorOf>[0], isExtra: boolean]> = [
    ["an unknown field of a boleto", creating({ paymentMethod: "BOLETO", boleto: { dueDate: canary } }), true],
    ["an unknown field of a card charge", creating({ paymentMethod: "CREDIT_CARD", card: canary }), true],
    ["pix options of a boleto", creating({ paymentMethod: "BOLETO", pix: { expiresInDays: 1 } }), false],
    [
      "an unknown field of a boleto's customer",
      creating({ paymentMethod: "BOLETO", customer: { ...customer, canary } }),
      false
    ],
    ["a boleto without an amount", creating({ paymentMethod: "BOLETO", amount: undefined }), false],
    ["an unknown field of a PIX charge, which takes no extra", creating({ canary }), false]
  ]
  effect.each(unknown)(
    "with %s is refused, and told of `extra` where that takes the field",
    function* ([, create, isExtra]) {
      const { error } = yield* errorOf(create, respond(200, created))
      const advice =
        " is no field of this request: put fields that the service has and this library does not know under `extra`."
      assert.strictEqual(error.message.includes(advice), isExtra, error.message)
      assert.strictEqual(error.message.includes("extra"), isExtra, error.message)
    }
  )

  effect("may have the payer's address in each of its plain forms", function* () {
    for (const ip of ["203.0.113.7", "2001:db8::1", "::", "::ffff:203.0.113.7", "FE80::A", "1:2:3:4:5:6:7:8"]) {
      const { error, requests } = yield* errorOf(creating({ ip }), respond(422))
      assert.deepStrictEqual([error._tag, requests], ["RequestRejected", 1])
    }
  })
})
