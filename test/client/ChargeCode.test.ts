import { inspect } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import { ChargeCode, Money, Payments, PaymentsPolicy } from "effect-pix"
import { Fault, Sandbox } from "effect-pix/sandbox"
import * as BrCode from "../../src/pix/BrCode.ts"
import { Effect, Result, Schema } from "effect"
import { generate } from "../support/brCode.ts"
import { published } from "../support/brCodes.ts"
import { effect } from "../support/effect.ts"

const amount = Money.centavos(2500)
const transactionId = "3f1d8f0e-8a0f-4a54-9d7e-6f2f0d7f3f10"
const receiver = { merchantName: "Loja Exemplo", merchantCity: "SAO PAULO" }
const secret = "fulano@example.com"

const priced = (centavos: number) => generate({ ...receiver, key: secret, amount: centavos })
const unpriced = generate({ ...receiver, url: "pix.example.com/qr/v2/8b3da2f39a4140d1a91abd93113bd441" })
const damaged = `${priced(2500).slice(0, -4)}0000`

const read = (qrcode: string | undefined) => ChargeCode.of({ amount, pix: qrcode === undefined ? {} : { qrcode } })
const codesOf = ({ problems }: ChargeCode.ChargeCode) => problems.map(({ code }) => code)

describe("ChargeCode.of", () => {
  it("ChargeCode.of finds a code of the requested amount sound, and returns it parsed", () => {
    const { code, ...rest } = read(priced(2500))
    assert.deepStrictEqual(rest, { amount: "same", problems: [], isSound: true })
    assert.strictEqual(code?.merchantName, "Loja Exemplo")
    assert.strictEqual(code?.amount, 2500)
  })

  it("ChargeCode.of finds a dynamic code that states no amount sound", () => {
    const { amount, isSound } = read(unpriced)
    assert.deepStrictEqual({ amount, isSound }, { amount: "not stated", isSound: true })
  })

  it("ChargeCode.of reports a damaged checksum, and still returns the code", () => {
    const charge = read(damaged)
    assert.deepStrictEqual(codesOf(charge), ["crc"])
    assert.isFalse(charge.isSound)
    assert.strictEqual(charge.amount, "same")
    assert.strictEqual(charge.code?.amount, 2500)
  })

  it("ChargeCode.of reports a code for another amount, by a centavo or by a factor of a hundred", () => {
    for (const centavos of [2499, 2501, 25, 250_000]) {
      const charge = read(priced(centavos))
      assert.strictEqual(charge.amount, "different")
      assert.deepStrictEqual(charge.problems, [
        { code: "amount", reason: "states another amount than the one asked for" }
      ])
      assert.isFalse(charge.isSound)
    }
  })

  it("ChargeCode.of compares the code with the requested amount if it is given, and not with the amount in the service's answer", () => {
    const created = { amount: Money.centavos(25), pix: { qrcode: priced(25) } }
    assert.isTrue(ChargeCode.of(created).isSound)
    assert.strictEqual(ChargeCode.of(created, amount).amount, "different")
  })

  it("ChargeCode.of reports an amount that cannot be read once", () => {
    const text = priced(2500).slice(0, -4).replace("540525.00", "540525,00")
    const charge = read(text + BrCode.crc(text))
    assert.strictEqual(charge.amount, "different")
    assert.deepStrictEqual(codesOf(charge), ["amount"])
  })

  it("ChargeCode.of reports every problem of a code", () => {
    assert.deepStrictEqual(codesOf(read(`${priced(100).slice(0, -4)}0000`)), ["crc", "amount"])
  })

  it("ChargeCode.of reports a charge without a code, and one without PIX", () => {
    const missing = { code: undefined, amount: "not stated", isSound: false }
    const problems = [{ code: "not-pix", reason: "is missing from the charge" }]
    assert.deepStrictEqual<unknown>(read(undefined), { ...missing, problems })
    assert.deepStrictEqual<unknown>(ChargeCode.of({ amount }), { ...missing, problems })
  })

  it("ChargeCode.of reports a text that is no BR Code", () => {
    const texts = ["", "https://pay.example.com/7", "<svg></svg>", priced(2500).slice(0, -5), "000201"]
    for (const text of texts) {
      const charge = read(text)
      assert.isUndefined(charge.code)
      assert.isFalse(charge.isSound)
      assert.strictEqual(charge.problems.length, 1)
    }
  })

  it("ChargeCode.of finds a published example sound if it states the amount or names a URL", () => {
    for (const [name, payload] of Object.entries(published)) {
      const code = Result.getOrUndefined(BrCode.parse(payload))
      const asks = code?.amount !== undefined || code?.url !== undefined
      const charge = ChargeCode.of({ amount: code?.amount ?? amount, pix: { qrcode: payload } })
      assert.strictEqual(charge.isSound, asks, name)
    }
  })

  const withCrc = (text: string) => text + BrCode.crc(text)
  const restated = (payload: string, written: string) => {
    const bare = payload.slice(0, -4).replace(/54\d\d[\d.]+5802BR/, "5802BR")
    const field = written === "" ? "" : `54${String(written.length).padStart(2, "0")}${written}`
    return withCrc(bare.replace("5802BR", `${field}5802BR`))
  }

  it("ChargeCode.of reports a static code that leaves the amount to the payer", () => {
    for (const written of ["", "0", "0.0", "0.00", "00.00"]) {
      const charge = read(restated(priced(2500), written))
      assert.deepStrictEqual(charge.problems, [{ code: "amount", reason: "leaves the amount to the payer" }], written)
      assert.deepStrictEqual([charge.amount, charge.isSound], ["not stated", false])
    }
  })

  it("ChargeCode.of reads the amount of a static code in each of its spellings", () => {
    for (const written of ["25", "25.0", "25.00", "0025.00"]) {
      assert.isTrue(read(restated(priced(1), written)).isSound, written)
    }
  })

  it("ChargeCode.of accepts a dynamic code without an amount, and reports a wrong amount in one", () => {
    assert.isTrue(read(unpriced).isSound)
    assert.isTrue(read(restated(unpriced, "25.00")).isSound)
    assert.deepStrictEqual(codesOf(read(restated(unpriced, "24.99"))), ["amount"])
    assert.deepStrictEqual(codesOf(read(restated(unpriced, "25,00"))), ["amount"])
  })

  it("ChargeCode.of reports a code that requests only a consent to recurring payments, with and without an amount", () => {
    const consent = published["a recurrence alone"] ?? ""
    for (const payload of [consent, restated(consent, "25.00")]) {
      const charge = read(payload)
      assert.deepStrictEqual(codesOf(charge), ["not-pix"])
      assert.isFalse(charge.isSound)
    }
  })

  it("ChargeCode.of repeats nothing of the code, however it is printed", () => {
    for (const charge of [read(priced(100)), read(damaged), read(`${priced(2500)}9`)]) {
      for (const printed of [JSON.stringify(charge), inspect(charge, { depth: 9 })]) {
        assert.notInclude(printed, secret)
        assert.notInclude(printed, "br.gov.bcb.pix")
      }
    }
  })

  it.prop(
    "a code is sound for its own amount and for no other amount",
    [Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 999_999 }))],
    ([n]) => {
      assert.isTrue(ChargeCode.of({ amount: Money.centavos(n), pix: { qrcode: priced(n) } }).isSound)
      assert.isFalse(ChargeCode.of({ amount: Money.centavos(n), pix: { qrcode: priced(n + 1) } }).isSound)
    }
  )
})

/** Creates a charge of 2500 centavos that a gateway answers with this code. */
const chargeWithCode = (
  qrcode: string | null | undefined,
  options: { readonly paymentMethod?: "BOLETO"; readonly policy?: Partial<PaymentsPolicy> } = {}
) =>
  Effect.gen(function* () {
    const payments = yield* Payments
    const sandbox = yield* Sandbox
    const { paymentMethod = "PIX", policy = {} } = options
    const body = JSON.stringify({
      data: { id: transactionId, amount: 2500, paymentMethod, status: "WAITING_PAYMENT", pix: { qrcode } },
      status: 200,
      message: "Transação criada"
    })
    const headers = { "content-type": "application/json" }
    yield* sandbox.fault("createTransaction", Fault.answer(200, { headers, body, executed: true }))
    const result = yield* payments
      .createTransaction(
        { amount, paymentMethod, customer: { name: "Maria Silva", email: "maria@example.com" } },
        { idempotencyKey: "order_1" }
      )
      .pipe(Effect.provideService(PaymentsPolicy, PaymentsPolicy.make(policy)), Effect.result)
    return { result, requests: (yield* sandbox.requests).length }
  }).pipe(Effect.provide(Sandbox.layerPayments))

const unsound: ReadonlyArray<readonly [string, string, string]> = [
  ["is damaged", damaged, "has a wrong checksum"],
  ["is for another amount", priced(250_000), "states another amount than the one asked for"],
  ["is no BR Code", "https://pay.example.com/7", "is cut off or not a BR Code"]
]

const lacking: ReadonlyArray<readonly [string, string | null | undefined]> = [
  ["is missing", undefined],
  ["is null", null],
  ["is empty", ""]
]

describe("createTransaction and the code of its charge", () => {
  effect.each(lacking)("a charge whose code %s is OutcomeUnknown, with the id of the charge", function* ([, qrcode]) {
    const { requests, result } = yield* chargeWithCode(qrcode)
    const error = Result.getOrThrow(Result.flip(result))
    assert.strictEqual(error._tag, "OutcomeUnknown")
    if (error._tag !== "OutcomeUnknown") return
    assert.strictEqual(error.reason, "UnsoundBrCode")
    assert.deepStrictEqual(error.issues, [{ path: "data.pix.qrcode", problem: "is missing from the charge" }])
    assert.deepStrictEqual({ ...error.seen }, { id: transactionId, value: "2500", status: "WAITING_PAYMENT" })
    assert.include(error.message, transactionId)
    assert.strictEqual(requests, 1)
  })

  effect.each(unsound)(
    "a charge whose code %s is created, and ChargeCode lists its problem",
    function* ([, qrcode, problem]) {
      const { result } = yield* chargeWithCode(qrcode)
      const created = Result.getOrThrow(result)
      assert.strictEqual(created.id, transactionId)
      assert.strictEqual(created.pix?.qrcode, qrcode)
      assert.deepStrictEqual(
        ChargeCode.of(created).problems.map(({ reason }) => reason),
        [problem]
      )
    }
  )

  effect("a charge that is not PIX is accepted without a code", function* () {
    const { result } = yield* chargeWithCode(null, { paymentMethod: "BOLETO" })
    assert.strictEqual(Result.getOrThrow(result).id, transactionId)
  })

  effect("a charge whose code comes from the sandbox is sound", Sandbox.layerPayments, function* () {
    const payments = yield* Payments
    const created = yield* payments.createTransaction({
      amount,
      paymentMethod: "PIX",
      customer: { name: "Maria Silva", email: "maria@example.com" }
    })
    const { amount: stated, isSound } = ChargeCode.of(created, amount)
    assert.deepStrictEqual([stated, isSound], ["same", true])
  })
})
