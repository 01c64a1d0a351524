/** What `createTransaction` sends, which answers it takes, and which requests it refuses. */
import { assert, describe } from "@effect/vitest"
import { type CreateTransactionRequest, Money, type WriteOptions } from "effect-pix"
import { CreatedPixTransaction } from "../../src/contract/Transaction.ts"
import { DateTime, Effect, Redacted, Result, Schema } from "effect"
import { inspect } from "node:util"
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
import { evp, generate } from "../support/brCode.ts"
import { effect } from "../support/effect.ts"
import { charge, chargeBody, created, createTransaction, fullCharge, transactionId } from "../support/operations.ts"
import { respond } from "../support/Wire.ts"
import brcode from "../fixtures/field/created-brcode.json" with { type: "json" }
import qrcode from "../fixtures/field/created-qrcode.json" with { type: "json" }

const { customer } = charge
const { call: create, path } = createTransaction
const { data } = created

/** The call of a program without types. */
const creating =
  (change: object, options?: WriteOptions): Use =>
  (payments) =>
    payments.createTransaction({ ...charge, ...change }, options)

const extra = { boleto: { dueDate: "2026-12-01", fine: 2.5 }, softDescriptor: null, split: [1, { to: "a" }] }
const card = { ...chargeBody, paymentMethod: "CREDIT_CARD", installments: 3 } as const
const boleto = { ...card, paymentMethod: "BOLETO" } as const

describe("the request of createTransaction", () => {
  const sent: ReadonlyArray<readonly [what: string, request: CreateTransactionRequest, body: unknown]> = [
    ["a minimal PIX charge has amount, currency, method and customer", charge, chargeBody],
    ["a full PIX charge has each documented field under its documented name", fullCharge, fullCharge],
    [
      "a PIX charge has its undocumented fields beside the documented ones",
      { ...fullCharge, extra: { metadata: { order: 42 }, shipping: null } },
      { ...fullCharge, metadata: { order: 42 }, shipping: null }
    ],
    [
      "the address of its webhooks may be redacted",
      { ...charge, postbackUrl: Redacted.make(fullCharge.postbackUrl) },
      { ...chargeBody, postbackUrl: fullCharge.postbackUrl }
    ],
    ["a boleto has its undocumented fields beside the documented ones", { ...boleto, extra }, { ...boleto, ...extra }],
    ["a card charge has its undocumented fields beside them too", { ...card, extra }, { ...card, ...extra }]
  ]
  effect.each(sent)("%s, and nothing else", function* ([, request, body]) {
    const sent = yield* requestOf((payments) => payments.createTransaction(request), respond(200, created))
    assert.deepStrictEqual([sent.method, sent.path, sent.headers], ["POST", path, headersOf("tx_1")])
    assert.deepStrictEqual(JSON.parse(sent.text ?? ""), body)
  })

  effect("a key that the caller gives is sent unchanged, up to 255 visible characters of ASCII", function* () {
    for (const idempotencyKey of [`!"#$%&'()*+,-./:;<=>?@[\\]^_\`{|}~`, "k".repeat(255)]) {
      const options: WriteOptions = { idempotencyKey, earlier: "None" }
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
const renamed = { status: "EM_ANÁLISE", paymentMethod: " Pix" }
const ofCompany = { ...value, companyId: 7 }
const withData = (change: object) => ({ ...created, data: { ...data, ...change } })

describe("the answer of createTransaction", () => {
  const optional = { pix: { qrcode: "0002", ...nulls("expirationDate") }, ...nulls("paymentMethod companyId") }
  const read: ReadonlyArray<Read> = [
    ["the documented answer", created, value],
    ["an undocumented field, which is kept under extra", withData(undocumented), { ...value, extra: undocumented }],
    ["a company in the data", withData({ companyId: 7 }), ofCompany],
    ["a company in the envelope", { ...created, companyId: 7 }, ofCompany],
    ["a company that is null in the data", { ...withData({ companyId: null }), companyId: 7 }, ofCompany],
    [
      "nulls for all that is optional",
      { ...withData(optional), ...nulls("status message companyId") },
      { ...without(value, "paymentMethod"), pix: { qrcode: "0002" } }
    ],
    ["a new status, and its method in other letters", withData(renamed), { ...value, ...renamed }],
    [
      "optional fields of other types",
      { ...withData({ companyId: "7", pix: { ...data.pix, expirationDate: canary } }), status: "200", message: {} },
      { ...value, pix: without(value.pix, "expirationDate") },
      ["data.companyId", "data.pix.expirationDate", "message", "status"]
    ],
    ["an envelope of undocumented words for failure", { ...created, ok: false, error: "E-1", code: 500 }, value],
    ...[0, 399, 600].map((status): Read => [`an envelope of the status ${status}`, { ...created, status }, value])
  ]
  effect.each(read)("%s is read", function* (row) {
    yield* checkRead("createTransaction", create, row)
  })

  const wrong: ReadonlyArray<NotRead> = [
    ["Unreadable", "data", { status: 200, message: "ok" }, { ...created, data: null }],
    ["Unreadable", "data.id", ...[undefined, "", 5].map((id) => withData({ id }))],
    ["Unreadable", "data.amount", ...[null, 25.5].map((amount) => withData({ amount }))],
    ["Unreadable", "data.status", withData({ status: null })],
    ["NotAsAsked", "data.amount", withData({ amount: 2501 })],
    ["NotAsAsked", "data.paymentMethod", withData({ paymentMethod: "BOLETO" })],
    ["NotAsAsked", "data.status", withData({ status: "não-realizado" })],
    ["NotAsAsked", "companyId", withData({ companyId: 8 }), { ...created, companyId: 8 }],
    ["NotAsAsked", "status", ...[400, 599].map((status) => ({ ...created, status }))],
    ["UnsoundBrCode", "data.pix.qrcode", ...[undefined, null, ""].map((qrcode) => withData({ pix: { qrcode } }))]
  ]
  effect.each(wrong)(
    "an answer that is %s by its %s has an unknown outcome, and its error shows what was recorded",
    function* (row) {
      const [reason, , ...bodies] = row
      for (const body of bodies) {
        const error = yield* checkNotRead(create, row, body)
        if (reason === "Unreadable" || error._tag !== "OutcomeUnknown") continue
        const { amount, id, status } = { ...data, ...(body as typeof created).data } // the body of this row
        assert.deepStrictEqual({ ...error.seen }, { id, value: String(amount), status })
        assert.include(error.message, id)
      }
    }
  )

  effect(
    "a failure of the service that shows the charge is in doubt with its id, whatever comes after it",
    function* () {
      const { error } = yield* errorOf(create, [respond(500, created), respond(503, ""), respond(400, { id: "x-1" })])
      assert(error._tag === "OutcomeUnknown")
      assert.deepStrictEqual({ ...error.seen }, { id: data.id, value: "2500", status: data.status })
    }
  )

  effect("an id without an amount may be that of a request, and is not shown", function* () {
    const { error } = yield* errorOf(create, respond(500, { data: { id: data.id } }))
    assert(error._tag === "OutcomeUnknown")
    assert.isUndefined(error.seen)
  })

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

const code = qrcode.data.pix.qrcode
const base64 = (text: string) => Buffer.from(text).toString("base64")
const receiver = { merchantName: "Loja", merchantCity: "SAO PAULO" }
const at = (url: string, amount?: number) =>
  generate({ ...receiver, url, ...(amount !== undefined && { amount: Money.centavos(amount) }) })
const [one, dearer, elsewhere] = [at("a.bc/qr/v2/1", 2500), at("a.bc/qr/v2/1", 2600), at("a.bc/qr/v2/2", 2500)]
const keyed = generate({ ...receiver, key: evp, amount: Money.centavos(2500) })
const damaged = `${one.slice(0, -4)}0000`

/** The answer that was seen, with other names of its code and its expiry. */
const seen = (pix: object, id = "0A9f_-3fa94c1b7e2d4c8f9a6b") => ({
  ...brcode,
  data: { ...brcode.data, companyId: undefined, id, pix }
})
const creates = (body: unknown) => call(create, respond(200, body))
const codeOf = (body: unknown) =>
  Effect.map(creates(body), ({ result }) => {
    assert(Result.isSuccess(result), JSON.stringify(result))
    const { pix } = result.success as CreatedPixTransaction // the charge is a PIX charge
    return pix
  })

describe("an answer as it was seen in the field", () => {
  effect.each([brcode, qrcode])(
    "has its code and its expiry under the documented names",
    function* ({ data, ...body }) {
      const { result } = yield* creates({ ...body, data: { ...data, companyId: 7 } })
      assert(Result.isSuccess(result), JSON.stringify(result))
      const charge = result.success as CreatedPixTransaction // the charge is a PIX charge
      assert.strictEqual(charge.id, data.id)
      assert.deepStrictEqual(Object.keys(charge.pix), ["qrcode", "expirationDate"])
      assert.strictEqual(charge.pix.qrcode, code)
      assert.strictEqual(
        charge.pix.expirationDate && DateTime.formatIso(charge.pix.expirationDate),
        "2026-12-01T08:40:41.175Z"
      )
      assert.deepInclude(charge, { externalRef: "order-42", refundedAmount: Money.centavos(0) })
      assert.strictEqual(charge.postbackUrl && Redacted.value(charge.postbackUrl), data.postbackUrl)
      assert.notInclude(inspect(charge, { depth: 9, showHidden: true }), data.postbackUrl)
      // What is stored of it says by its offset that the expiry is exact.
      const stored = Schema.encodeSync(CreatedPixTransaction)(charge)
      assert.strictEqual(stored.pix.expirationDate, "2026-12-01T08:40:41.175+00:00")
      assert.isTrue(Schema.decodeSync(CreatedPixTransaction)(stored).pix.expirationDate?.isExact)
    }
  )

  const codes: ReadonlyArray<readonly [what: string, pix: object, code: string]> = [
    ["the documented name alone, whatever it holds", { qrcode: "0002" }, "0002"],
    ["the documented name first", { brcode: one, qrcode: one.replace("5904Loja", "5904Loja") }, one],
    ["brcode beside an empty text", { qrcode: " ", brcode: one }, one],
    ["brcode beside a picture", { qrcode: "data:image/png;base64,AA==", brcode: one }, one],
    ["brcode beside a damaged code", { qrcode: damaged, brcode: one }, one],
    ["base64 alone", { payloadBase64: base64(one) }, one],
    ["base64 beside a damaged code", { brcode: damaged, payloadBase64: base64(one) }, one],
    ["the documented name where nothing is a code", { qrcode: "0002", brcode: damaged, payloadBase64: "%" }, "0002"],
    ["an address in another case", { qrcode: at("a.bc/qr/v2/a"), brcode: at("a.bc/qr/v2/a") }, at("a.bc/qr/v2/a")],
    ["another type of the others", { qrcode: one, brcode: 7, payloadBase64: {} }, one]
  ]
  effect.each(codes)("has the code of %s", function* ([, pix, expected]) {
    assert.strictEqual((yield* codeOf(seen(pix))).qrcode, expected)
  })

  const wrong: ReadonlyArray<readonly [path: string, pix: object]> = [
    ["qrcode", {}],
    ["qrcode", { qrcode: null, brcode: "", payloadBase64: null }],
    ["brcode", { brcode: damaged }],
    ["brcode", { brcode: "https://pay.example", payloadBase64: "%%%" }],
    ["payloadBase64", { payloadBase64: base64("000201") }],
    ["brcode", { qrcode: one, brcode: dearer }],
    ["brcode", { qrcode: one, brcode: elsewhere }],
    ["brcode", { qrcode: keyed, brcode: one }],
    ["payloadBase64", { qrcode: one, brcode: one, payloadBase64: base64(dearer) }]
  ]
  effect.each(wrong)("of a doubtful %s is OutcomeUnknown with the id of the charge: %j", function* ([path, pix]) {
    for (const id of ["3fa94c1b7e2d4c8f9a6b5d0e1c", "7", "Z_-9".repeat(16)]) {
      const error = yield* checkNotRead(create, ["UnsoundBrCode", `data.pix.${path}`], seen(pix, id))
      assert.strictEqual(error._tag === "OutcomeUnknown" && error.seen?.id, id)
    }
  })

  const expiries: ReadonlyArray<readonly [pix: object, utc: string | undefined, isExact: boolean | undefined]> = [
    [{ expiresAt: "2026-12-01T08:40:41.1759895+00:00" }, "2026-12-01T08:40:41.175Z", true],
    [{ expiresAt: "2026-12-01T08:40:41-0300" }, "2026-12-01T11:40:41.000Z", true],
    [{ expiresAt: "2026-12-01T08:40:41.1759895Z" }, "2026-12-01T08:40:41.175Z", undefined],
    [{ expiresAt: "2026-12-01T08:40:41-00:00" }, "2026-12-01T08:40:41.000Z", undefined],
    [{ expiresAt: "2026-12-01T08:40:41" }, "2026-12-01T08:40:41.000Z", undefined],
    [{ expiresAt: "2026-12-01" }, "2026-12-02T03:00:00.000Z", true],
    [{ expirationDate: "2026-12-01", expiresAt: "2026-12-05" }, "2026-12-02T03:00:00.000Z", true],
    [{ expirationDate: null, expiresAt: "2026-12-05" }, "2026-12-06T03:00:00.000Z", true],
    [{ expirationDate: "soon", expiresAt: "2026-12-05" }, "2026-12-06T03:00:00.000Z", true],
    [{ expiresAt: 7 }, undefined, undefined]
  ]
  effect.each(expiries)("has the expiry of %j: %s, exact: %s", function* ([pix, utc, isExact]) {
    const { expirationDate } = yield* codeOf(seen({ ...pix, qrcode: one }))
    assert.strictEqual(expirationDate && DateTime.formatIso(expirationDate), utc)
    assert.strictEqual(expirationDate?.isExact, isExact)
  })
})

const withExtra = (extra: unknown) => ({ paymentMethod: "BOLETO", extra })
const customers = (...changes: ReadonlyArray<object>) =>
  changes.map((change) => ({ customer: { ...customer, ...change } }))
const item = { title: "Café", unitPrice: 100, quantity: 1 }
const addresses = ["localhost", "", "203.0.113", "203.0.113.7.9", "12ab", "::g", " ::1"]
const slow = [":", ".", "1.", "a:", "::1", " "].map((text) => `${long(text)}x`)

const refused: ReadonlyArray<Refused> = [
  ["amount", ...[-1, 25.5, 2 ** 53, canary, Number.NaN, Infinity, undefined].map((amount) => ({ amount }))],
  ["paymentMethod", ...[canary, "pix", "toString"].map((paymentMethod) => ({ paymentMethod }))],
  ["currency", { currency: canary }, { currency: long("A") }],
  ["canary", { canary }],
  ["dueDate", { paymentMethod: "BOLETO", dueDate: canary }],
  ["pix", { paymentMethod: "BOLETO", pix: { expiresInDays: 1 } }],
  ["pix.expiresInDays", { pix: { expiresInDays: 0.5 } }],
  ["installments", { installments: 0 }],
  ["customer", { customer: undefined }],
  ["customer.name", ...customers({ name: undefined }, { name: "" })],
  [
    "customer.email",
    ...customers({ email: undefined }, { email: canary }, { email: long("a") }, { email: long("a@") })
  ],
  ["customer.canary", ...customers({ canary })],
  ["customer.phone", ...customers({ phone: `+55 ${canary}` }, { phone: `${long("1")}x` })],
  ["customer.document.type", ...customers({ document: { number: canary } })],
  ["items.0.quantity", { items: [{ ...item, quantity: 0 }] }],
  ["items.1.unitPrice", { items: [item, { ...item, unitPrice: 0.5 }] }],
  ["ip", ...[...addresses, ...slow].map((ip) => ({ ip }))],
  ["postbackUrl", ...[`ftp://${canary}`, canary, `https://a b/${canary}`, 7].map((postbackUrl) => ({ postbackUrl }))],
  ["items.0.canary", { items: [{ ...item, canary }] }],
  ["extra", { extra: { postbackUrl: canary } }],
  ["extra", ...[{ amount: 1 }, canary, odd.cyclic, { canary: () => canary }, { canary: 1n }].map(withExtra)],
  ["extra", withExtra(JSON.parse(`{"__proto__":"${canary}"}`))],
  ["", ...[odd.deep, odd.throwing, { note: `${canary}${"x".repeat(1_000_000)}` }].map(withExtra)],
  // More than 65,536 characters.
  ["", { items: Array.from({ length: 2000 }, () => item) }]
]

describe("a request of createTransaction", () => {
  effect.each(refused)("is refused because of its %j, and nothing is sent", function* (row) {
    const [, ...changes] = row
    for (const change of changes) yield* checkRefused(creating(Object(change)), row, change)
  })

  effect("of a program without types is refused where it, its options or its key are none", function* () {
    // as from JavaScript
    yield* checkRefused((payments) => payments.createTransaction(null as never), ["paymentMethod"], null)
    yield* checkRefused((payments) => create(payments, 5 as never), [""], 5) // as from JavaScript
    for (const idempotencyKey of [`${canary}\r\nX-Evil: 1`, "k".repeat(256)])
      yield* checkRefused(creating({}, { idempotencyKey, earlier: "None" }), ["idempotencyKey"], idempotencyKey)
  })

  const unknown: ReadonlyArray<readonly [method: string, isExtra: boolean, change: object]> = [
    ["BOLETO", true, { boleto: { dueDate: canary } }],
    ["CREDIT_CARD", true, { card: canary }],
    ["BOLETO", false, { pix: { expiresInDays: 1 } }],
    ["BOLETO", false, { customer: { ...customer, canary } }],
    ["BOLETO", false, { amount: undefined }],
    ["PIX", true, { canary }]
  ]
  effect.each(unknown)(
    "of the method %s says (%s) that an unknown field may be put under `extra`: %j",
    function* ([paymentMethod, isExtra, change]) {
      const { error } = yield* errorOf(creating({ paymentMethod, ...change }), respond(200, created))
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
