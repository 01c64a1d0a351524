import { inspect } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import { ChargeCode, Money } from "effect-pix"
import { generate, recurrence, withCrc } from "../support/brCode.ts"

const amount = Money.centavos(2500)
const secret = "fulano@example.com"
const receiver = { merchantName: "Loja Exemplo", merchantCity: "SAO PAULO" }

const priced = (centavos: number) => generate({ ...receiver, key: secret, amount: centavos })
const unpriced = generate({ ...receiver, url: "pix.example.com/qr/v2/8b3da2f39a4140d1a91abd93113bd441" })
const damaged = (text: string) => `${text.slice(0, -4)}0000`

/** The code with its amount written so, and with a right checksum. */
const restated = (payload: string, written: string) => {
  const bare = payload.slice(0, -4).replace(/54\d\d[\d.]+5802BR/, "5802BR")
  const field = written === "" ? "" : `54${String(written.length).padStart(2, "0")}${written}`
  return withCrc(bare.replace("5802BR", `${field}5802BR`).slice(0, -4))
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
const noAmount = "states an amount that is not a number of reais with at most two decimals"
const cut = "is cut off or not a BR Code"
const neither = "has neither a PIX key nor a URL"

const rows: ReadonlyArray<Row> = [
  ["of the requested amount", priced(2500), "same"],
  ...["25", "25.0", "25.00", "0025.00"].map((text): Row => [`that states ${text}`, restated(priced(1), text), "same"]),
  ["of a centavo less", priced(2499), "different", other],
  ["of a centavo more", priced(2501), "different", other],
  ["of as many reais as centavos were asked for", priced(250_000), "different", other],
  ["that states no amount", restated(priced(2500), ""), "not stated", open],
  ["that states 0", restated(priced(2500), "0"), "not stated", open],
  ["that states 0.00", restated(priced(2500), "0.00"), "not stated", open],
  ["with a damaged checksum", damaged(priced(2500)), "same", crc],
  ["with two problems", damaged(priced(100)), "different", crc, other],
  ["whose amount is no number", restated(priced(2500), "25,00"), "different", noAmount],
  ["with a URL whose amount is no number", restated(unpriced, "25,00"), "different", noAmount],
  ["that requests a consent to recurring payments", recurrence, "not stated", neither],
  ["that requests such a consent and an amount", restated(recurrence, "25.00"), "not stated", neither],
  ["with a URL and no amount", unpriced, "not stated"],
  ["with a URL and the amount", restated(unpriced, "25.00"), "same"],
  ["with a URL and another amount", restated(unpriced, "24.99"), "different", other],
  ["of no PIX account", "000201", "not stated", "has no PIX account"],
  ["that is missing", undefined, "not stated", "is missing from the charge"],
  ["that is an address", "https://pay.example.com/7", "not stated", cut],
  ["that is cut off", priced(2500).slice(0, -5), "not stated", cut]
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
      reasons.some((reason = "") => /missing|cut off|no PIX|neither/.test(reason))
    )
    for (const printed of [JSON.stringify(problems), inspect(read(qrcode), { depth: 9 })]) {
      assert.notInclude(printed, secret)
      assert.notInclude(printed, "br.gov.bcb.pix")
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
})
