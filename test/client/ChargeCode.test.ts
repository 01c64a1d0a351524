import { inspect } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import { ChargeCode, Money } from "effect-pix"
import { Result, Schema } from "effect"
import * as BrCode from "../../src/pix/BrCode.ts"
import { requestOf } from "../support/calls.ts"
import { generate } from "../support/brCode.ts"
import { published } from "../support/brCodes.ts"
import { effect } from "../support/effect.ts"
import { created, createTransaction } from "../support/operations.ts"
import { respond } from "../support/Wire.ts"

const amount = Money.centavos(2500)
const secret = "fulano@example.com"
const receiver = { merchantName: "Loja Exemplo", merchantCity: "SAO PAULO" }

const priced = (centavos: number) => generate({ ...receiver, key: secret, amount: centavos })
const unpriced = generate({ ...receiver, url: "pix.example.com/qr/v2/8b3da2f39a4140d1a91abd93113bd441" })
const damaged = (text: string) => `${text.slice(0, -4)}0000`
const recurrence = published["a recurrence alone"] ?? ""

/** The code with its amount written so, and with a right checksum. */
const restated = (payload: string, written: string) => {
  const bare = payload.slice(0, -4).replace(/54\d\d[\d.]+5802BR/, "5802BR")
  const field = written === "" ? "" : `54${String(written.length).padStart(2, "0")}${written}`
  const text = bare.replace("5802BR", `${field}5802BR`)
  return text + BrCode.crc(text)
}

const read = (qrcode: string | undefined) => ChargeCode.of({ amount, pix: qrcode === undefined ? {} : { qrcode } })

type Row = readonly [
  what: string,
  qrcode: string | undefined,
  amount: ChargeCode.ChargeCode["amount"],
  ...reasons: ReadonlyArray<string>
]
const other = "states another amount than the one asked for"
const open = "leaves the amount to the payer"
const crc = "has a wrong checksum"

const rows: ReadonlyArray<Row> = [
  ["of the requested amount", priced(2500), "same"],
  ...["25", "25.0", "25.00", "0025.00"].map((text): Row => [`that states ${text}`, restated(priced(1), text), "same"]),
  ...[2499, 2501, 25, 250_000].map((centavos): Row => [
    `of ${centavos} centavos`,
    priced(centavos),
    "different",
    other
  ]),
  ...["", "0", "0.0", "0.00", "00.00"].map((text): Row => [
    `that states "${text}"`,
    restated(priced(2500), text),
    "not stated",
    open
  ]),
  ["with a damaged checksum", damaged(priced(2500)), "same", crc],
  ["with two problems", damaged(priced(100)), "different", crc, other],
  ["with a URL and no amount", unpriced, "not stated"],
  ["with a URL and the amount", restated(unpriced, "25.00"), "same"],
  ["with a URL and another amount", restated(unpriced, "24.99"), "different", other],
  ["of no PIX account", "000201", "not stated", "has no PIX account"],
  ["that is missing", undefined, "not stated", "is missing from the charge"],
  ...["https://pay.example.com/7", "<svg></svg>", priced(2500).slice(0, -5)].map((text): Row => [
    `that is no BR Code: ${text.slice(0, 12)}`,
    text,
    "not stated",
    "is cut off or not a BR Code"
  ])
]

describe("ChargeCode.of", () => {
  it.each(rows)("a code %s", (_, qrcode, stated, ...reasons) => {
    const { amount, code, isSound, problems } = read(qrcode)
    assert.deepStrictEqual(
      problems.map(({ reason }) => reason),
      reasons
    )
    assert.deepStrictEqual([amount, isSound], [stated, reasons.length === 0])
    assert.strictEqual(
      code === undefined,
      reasons.some((reason = "") => /missing|cut off|no PIX/.test(reason))
    )
    for (const printed of [JSON.stringify(problems), inspect(read(qrcode), { depth: 9 })]) {
      assert.notInclude(printed, secret)
      assert.notInclude(printed, "br.gov.bcb.pix")
    }
  })

  it("reports an amount that cannot be read once", () => {
    for (const qrcode of [priced(2500), unpriced]) {
      const { amount, problems } = read(restated(qrcode, "25,00"))
      assert.deepStrictEqual([amount, problems.map(({ code }) => code)], ["different", ["amount"]])
    }
  })

  it("reports a code that requests only a consent to recurring payments, with and without an amount", () => {
    for (const payload of [recurrence, restated(recurrence, "25.00")]) {
      assert.deepStrictEqual(
        read(payload).problems.map(({ code }) => code),
        ["not-pix"]
      )
    }
  })

  it("compares the code with the requested amount if it is given, and not with that of the answer", () => {
    const charge = { amount: Money.centavos(25), pix: { qrcode: priced(25) } }
    assert.isTrue(ChargeCode.of(charge).isSound)
    assert.strictEqual(ChargeCode.of(charge, amount).amount, "different")
    assert.deepStrictEqual(ChargeCode.of({ amount }).problems, [
      { code: "not-pix", reason: "is missing from the charge" }
    ])
  })

  it.each(Object.entries(published))(
    "finds the published code of %s sound if it states the amount or names a URL",
    (_, payload) => {
      const code = Result.getOrUndefined(BrCode.parse(payload))
      const { isSound } = ChargeCode.of({ amount: code?.amount ?? amount, pix: { qrcode: payload } })
      assert.strictEqual(isSound, code?.amount !== undefined || code?.url !== undefined)
    }
  )

  it.prop(
    "finds a code sound for its own amount and for no other amount",
    [Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 999_999 }))],
    ([n]) => {
      const of = (centavos: number) =>
        ChargeCode.of({ amount: Money.centavos(n), pix: { qrcode: priced(centavos) } }).isSound
      assert.deepStrictEqual([of(n), of(n + 1)], [true, false])
    }
  )
})

effect.each([damaged(priced(2500)), priced(250_000), "https://pay.example.com/7"])(
  "a charge whose code is unsound is created: ChargeCode is the caller's to ask (%s)",
  function* (qrcode) {
    const body = { ...created, data: { ...created.data, pix: { qrcode } } }
    const { value } = yield* requestOf(createTransaction.call, respond(200, body))
    assert.deepInclude(value, { pix: { qrcode } })
  }
)
