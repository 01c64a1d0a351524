import { getPixPayloadInfo } from "@brazilian-utils/brazilian-utils/get-pix-payload-info"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Redacted, Result, Schema } from "effect"
import * as BrCode from "../../src/pix/BrCode.ts"
import * as Money from "../../src/pix/Money.ts"
import { mayBeShown } from "../../docs/examples/checkout.ts"
import {
  broken,
  codes,
  DynamicOptions,
  evp,
  generate,
  parse,
  placeholders,
  plain,
  recurrence,
  reveal,
  StaticOptions,
  text,
  tlv,
  urls,
  usual,
  vectors,
  verified,
  withCrc,
  wrongUrls
} from "../support/brCode.ts"
import { renderings } from "../support/canary.ts"

const { staticKey } = vectors
const dynamic = { ...usual, kind: "dynamic", pointOfInitiation: "12" } as const
const fixed = { ...usual, kind: "static", key: evp } as const
const fulano = { ...fixed, merchantName: "Fulano" }

/** A code whose account and whose last fields are chosen. */
const account = (fields: string, id = "26") => tlv(id, tlv("00", "br.gov.bcb.pix") + fields)
const code = (accounts: string, rest = "", name = "Fulano", city = "BRASILIA", length = name.length) =>
  withCrc(`000201${accounts}5204000053039865802BR${tlv("59", name, length)}${tlv("60", city)}${rest}`)

/** A static code for this amount. */
const priced = (written: string) =>
  parse(withCrc(staticKey.slice(0, -8).replace("5802BR", `${tlv("54", written)}5802BR`)))

/** A static code for this key. */
const keyed = (key: string) => parse(code(account(tlv("01", key))))

const failureOf = (result: Result.Result<unknown, BrCode.Problem>) => {
  assert(Result.isFailure(result), "was accepted")
  return result.failure
}

const Options = Schema.Union([StaticOptions, DynamicOptions])

describe("BrCode.parse", () => {
  it.each([
    "52998224725",
    "12ABC34501DE35",
    "fulano@example.com",
    "FULANO@example.com",
    "+5511912345684",
    "+551132345678",
    evp,
    evp.toUpperCase()
  ])("parse finds no problem in the key %s", (key) => {
    assert.deepStrictEqual(keyed(key).problems, [])
  })

  it.each([
    "529.982.247-25",
    "52998224726",
    "11222333000182",
    "fulano",
    "fulano@",
    "11 91234-5684",
    "5511912345684",
    "21912345678",
    "(11) 91234-5684",
    evp.replaceAll("-", ""),
    `${evp} `,
    `\u200b${evp}`,
    "0",
    "+",
    "a b@x.com"
  ])("parse finds that no bank can look up the key %j", (key) => {
    assert.deepStrictEqual(keyed(key).problems, [
      { code: "field", reason: "has a key that no bank can look up (id 01)" }
    ])
  })

  it.each(Object.entries(codes))("parse reads %s to the last field", (_, { payload, says }) => {
    const code = parse(payload)
    assert.deepStrictEqual(plain(code), says)
    assert.isTrue(code.crc.ok)
    // The URL of a developer's gateway is on localhost, and the manual of 2019 has a space in place of an @.
    assert.strictEqual(code.problems.length, /localhost:5001|FULANO2019 EXAMPLE/.test(payload) ? 1 : 0)
    assert.strictEqual(Redacted.value(code.payload), payload)
    const fields = Redacted.value(code.fields)
    assert.strictEqual(fields.map(({ id, value }) => tlv(id, value)).join(""), payload)
  })

  it.each([
    ...placeholders,
    ...["E2CA", "170E", "0000"].map((crc) => staticKey.replace(/1D3D$/, crc)),
    staticKey.slice(0, -8),
    staticKey.slice(0, -8) + tlv("90", "1D3D"),
    tlv("63", "1D3D") + staticKey.slice(0, -8),
    staticKey.slice(0, -8) + tlv("63", "fulano@example.com")
  ])("parse reads a code whose checksum is a placeholder, missing or misplaced: %s", (payload) => {
    const code = parse(payload)
    const [, stated] = /6304(.{4})$/.exec(payload) ?? []
    const reason = stated === undefined ? "does not end in a checksum" : "has a wrong checksum"
    assert.deepStrictEqual(code.problems, [{ code: "crc", reason }])
    assert.deepStrictEqual([code.crc.ok, code.crc.stated], [false, stated])
    if (payload === staticKey.slice(0, -8)) assert.strictEqual(code.crc.computed, "1D3D")
    assert.isDefined(code.key)
  })

  it.each([
    ["a checksum in lower case", staticKey.replace(/1D3D$/, "1d3d"), fixed],
    ["the space around a copied text", `\n ${staticKey}\r\n`, fixed],
    ["the first id of an account, in any case", code(tlv("26", tlv("00", "Br.Gov.Bcb.Pix") + tlv("01", evp))), fulano],
    ["the last id of an account", code(account(tlv("01", evp), "51")), fulano],
    [
      "the text for the payer, beside a field that it does not know",
      code(account(tlv("01", evp) + tlv("02", "Pedido 7") + tlv("03", "12345678"))),
      { ...fulano, additionalInfo: "Pedido 7" }
    ],
    [
      "a value of a template that reads as two fields of one id",
      code(account(tlv("01", evp)), tlv("62", tlv("05", "0001a0001b"))),
      { ...fulano, txid: "0001a0001b" }
    ],
    [
      "a name whose bytes are counted, where its characters give another code with a right checksum",
      code(account(tlv("01", evp)), tlv("62", tlv("05", "1234")), "é", "2", 2),
      { ...fixed, merchantName: "é", merchantCity: "2", txid: "1234" }
    ]
  ] as const)("parse accepts %s", (_, payload, expected) => {
    assert.deepStrictEqual(plain(Result.getOrThrow(verified(payload))), expected)
  })

  const counts = [
    ["UTF-16 units", (value: string) => value.length],
    ["UTF-8 bytes", (value: string) => new TextEncoder().encode(value).length]
  ] as const
  const names = ["Padaria São João", "Açaí 🍇🍇", "e\u0301 🇧🇷", "\ufeffLoja"]
  it.each(counts.flatMap(([unit, count]) => names.map((name) => ({ unit, count, name }))))(
    "parse reads $name where lengths count $unit, also with a placeholder of a checksum",
    ({ count, name }) => {
      const field = (id: string, value: string) => tlv(id, value, count(value))
      const head = field("26", field("00", "br.gov.bcb.pix") + field("01", evp) + field("02", name))
      const rest = `${field("59", name)}${field("60", name)}${field("62", field("05", "***"))}`
      const payload = withCrc(`000201${head}52040000530398654041.505802BR${rest}`)
      const expected = { ...fixed, merchantName: name, merchantCity: name, additionalInfo: name, amount: 150 }
      assert.deepStrictEqual(plain(Result.getOrThrow(verified(payload))), expected)
      const other = parse(`${payload.slice(0, -4)}0000`)
      assert.deepStrictEqual([plain(other), other.crc.ok], [expected, false])
    }
  )

  it.each([
    ["0.01", 1],
    ["0.07", 7],
    ["0.00", 0],
    ["10.", 1000],
    ["10.5", 1050],
    ["0010.00", 1000],
    ["4503599627370.49", 450_359_962_737_049]
  ])("parse reads the amount %s exactly", (written, centavos) => {
    assert.deepStrictEqual([priced(written).amount, priced(written).problems], [Money.centavos(centavos), []])
  })

  it.each("10.005 10,00 1e3 -1.00 NaN 0x10 1.000,00 .5 99999999999999999.99".split(" ").concat(" 1"))(
    "parse reports %j, which is no amount",
    (written) => {
      const code = priced(written)
      assert.deepStrictEqual([code.amount, code.problems.map(({ code }) => code)], [undefined, ["amount"]])
      assert.include(code.problems[0]?.reason, "states an amount that is not a number of reais")
    }
  )

  const change = (from: string | RegExp, to: string) => staticKey.replace(from, to)
  const twoInside = "repeats a field inside a template"
  it.each<readonly [string, string]>([
    ["does not have format 01 (id 00)", change(/^000201/, "000202")],
    ["has an unknown point of initiation (id 01)", change(/^000201/, "000201010213")],
    ["states no merchant category (id 52)", change("52040000", "")],
    ["is not in BRL (id 53)", change("5303986", "5303840")],
    ["is not for Brazil (id 58)", change("5802BR", "5802US")],
    ["states no receiver (id 59)", change("5913Fulano de Tal", "")],
    ["states no city (id 60)", change("6008BRASILIA", "6000")],
    ["has additional data that cannot be read (id 62)", change("62070503***", "62070599***")],
    ["repeats a field", change("5802BR", "5802BR5802BR")],
    ["has several PIX accounts", change("5204", `${account(tlv("01", "other"), "27")}5204`)],
    ["has both a key and a URL", change("2658", "2678").replace("5204", `${tlv("25", "pix.example.br/7")}5204`)],
    [twoInside, code(account(tlv("01", evp).repeat(2)))],
    [twoInside, code(account(tlv("00", "br.gov.bcb.pix") + tlv("01", evp)))],
    ...[
      tlv("62", `${tlv("05", "***")}${tlv("05", "abc")}`),
      tlv("62", `${tlv("05", "***")}${tlv("50", tlv("00", "a").repeat(2))}`),
      tlv("27", `${tlv("00", "br.com.outro")}${tlv("07", "1").repeat(2)}`),
      tlv("64", `${tlv("00", "EN")}${tlv("01", "A").repeat(2)}`),
      account(tlv("25", "pix.example.com/rec/1").repeat(2), "80")
    ].map((rest): readonly [string, string] => [twoInside, code(account(tlv("01", evp)), rest)])
  ])("parse reads the fields of a code that %s, a problem: %s", (reason, payload) => {
    const code = parse(payload.includes("6304") ? withCrc(payload.slice(0, -8)) : payload)
    assert.deepStrictEqual(code.problems, [{ code: "field", reason }])
    assert.strictEqual(reveal(code.key), evp)
  })

  const problemsOf = (url: string) => parse(code(account(tlv("25", url)))).problems.map(({ reason }) => reason)

  it.each(wrongUrls)("parse reports the URL %j", (url) => {
    assert.deepStrictEqual(problemsOf(url), ["has a URL that is not a plain host and path (id 25)"])
  })

  it.each(urls)("parse accepts the URL %j", (url) => {
    assert.deepStrictEqual(problemsOf(url), [])
  })

  const notPix = ["", "000201", "00020126180014br.gov.bcb.pix", "00020126300012BR.COM.OUTRO01100123456789", "0002٠١"]
  const tooLong = withCrc(staticKey.slice(0, -8) + tlv("90", "x".repeat(99)).repeat(80))
  const cut = ["hello", "00", "0005ab", "00-1", "٠٠0201", staticKey.slice(0, -1), `${staticKey}0`, tooLong]
  const boleto = "34191.79001 01043.510047 91020.150008 1 96610000014500"
  it.each([
    ...notPix.map((payload) => ["not-pix", "has no", payload] as const),
    ["not-pix", "neither a PIX key nor a URL", recurrence] as const,
    ...["25", "52"].map((id) => ["not-pix", "has no PIX account", code(account(tlv("01", evp), id))] as const),
    ...[...cut, boleto, ...broken].map((payload) => ["tlv", "is cut off", payload] as const)
  ])("parse refuses with %s, since it %s: %j", (code, _, payload) => {
    assert.strictEqual(failureOf(BrCode.parse(payload)).code, code)
  })

  it.prop("parse reads back every field of a code, and agrees with brazilian-utils", [Options], ([options]) => {
    const payload = generate(options)
    const ours = plain(Result.getOrThrow(verified(payload)))
    const defined = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
    const kind = "url" in options ? dynamic : { ...usual, kind: "static" }
    assert.deepStrictEqual(ours, { ...kind, ...defined })
    const { amount, description, key, merchantCity, merchantName, txid, url } = getPixPayloadInfo(payload) ?? {}
    const theirs = { key, url, merchantName, merchantCity, additionalInfo: description, txid }
    for (const [name, value] of Object.entries(theirs)) assert.strictEqual(ours[name], value, name)
    // brazilian-utils drops the amount next to a URL, and returns a float.
    if (url === undefined) assert.strictEqual(ours["amount"], amount === undefined ? amount : Math.round(amount * 100))
  })

  it.prop("any single wrong character of a code is noticed", [Options, text(/^[\x20-\x7e]$/)], ([options, wrong]) => {
    const payload = generate(options)
    for (let at = 0; at < payload.length; at++) {
      // The checksum in lower case is the same checksum.
      const kept = payload.slice(at, at + 1)
      if (kept === wrong || (at >= payload.length - 4 && kept === wrong.toUpperCase())) continue
      assert.isTrue(Result.isFailure(verified(payload.slice(0, at) + wrong + payload.slice(at + 1))), `at ${at}`)
    }
  })
})

describe("what is shown of a BrCode", () => {
  const key = "fulano@example.com"
  const secrets = [key, "Pedido de Maria", "pix.example.com", "br.gov.bcb.pix", "777"]
  const merchant = { merchantName: "F", merchantCity: "B" }
  const payload = generate({ ...merchant, key, amount: 777_123 })
  const { amount: _, ...read } = parse(
    generate({ ...merchant, key, amount: 777_123, additionalInfo: "Pedido de Maria" })
  )
  it.each<[string, unknown]>([
    ["a code with a key", read],
    ["a code with a URL", parse(codes["a URL and a recurrence"].payload)],
    ["a wrong checksum", failureOf(verified(`${payload.slice(0, -4)}0000`))],
    ["a code that is cut", failureOf(verified(payload.slice(0, -5)))],
    ["a wrong field", failureOf(verified(payload.replace(/^000201/, "000202")))],
    ["no account", failureOf(verified(withCrc(payload.slice(0, -8).replace("br.gov.bcb.pix", "br.com.fulano1"))))],
    ["a wrong amount", failureOf(verified(withCrc(payload.slice(0, -8).replace("7771.23", "777,123"))))],
    ["a wrong URL", failureOf(verified(generate({ ...merchant, url: `https://pix.example.com/${key}` })))]
  ])("neither key, URL, text, amount nor payload is shown by %s, however it is printed", (_, value) => {
    const shown = [...Object.values(renderings(value)), Cause.pretty(Cause.fail(value))]
    for (const secret of secrets) assert.notInclude(shown.join(), secret)
  })

  it("the name of each hidden part is shown in its place", () => {
    assert.deepStrictEqual(Object.values(read).filter(Redacted.isRedacted).map(String), [
      "<redacted:key>",
      "<redacted:additionalInfo>",
      "<redacted:fields>",
      "<redacted:payload>"
    ])
  })
})

describe("BrCode.checkAmount, and the checkout's mayBeShown", () => {
  const key = "fulano@example.com"
  const receiver = { merchantName: "Loja Exemplo", merchantCity: "SAO PAULO" }
  const paid = (centavos: number) => generate({ ...receiver, key, amount: centavos })
  const unpriced = generate({ ...receiver, url: "pix.example.com/qr/v2/8b3da2f39a4140d1a91abd93113bd441" })
  const damaged = (payload: string) => `${payload.slice(0, -4)}0000`

  /** The code with its amount written so, and with a right checksum. */
  const restated = (payload: string, written: string) =>
    withCrc(
      payload
        .slice(0, -8)
        .replace(/54\d\d[\d.]+5802BR/, "5802BR")
        .replace("5802BR", `${written === "" ? "" : tlv("54", written)}5802BR`)
    )

  it.each([
    ["of the amount", paid(2500), "same", true],
    ...["25", "25.0", "25.00", "0025.00"].map(
      (it) => [`that states ${it}`, restated(paid(1), it), "same", true] as const
    ),
    ["of a centavo less", paid(2499), "different", false],
    ["of a centavo more", paid(2501), "different", false],
    ["of as many reais as centavos were asked for", paid(250_000), "different", false],
    ...["", "0", "0.00"].map((it) => [`that states "${it}"`, restated(paid(2500), it), "not stated", false] as const),
    ["with a damaged checksum", damaged(paid(2500)), "same", false],
    ["with a damaged checksum and another amount", damaged(paid(100)), "different", false],
    ["whose amount is no number", restated(paid(2500), "25,00"), "different", false],
    ["with a URL whose amount is no number", restated(unpriced, "25,00"), "different", false],
    ["with a URL and no amount", unpriced, "not stated", true],
    ["with a URL and the amount", restated(unpriced, "25.00"), "same", true],
    ["with a URL and another amount", restated(unpriced, "24.99"), "different", false]
  ] as const)("a code %s is compared with what was asked for", (_, payload, amount, isShown) => {
    const asked = Money.centavos(2500)
    assert.deepStrictEqual([BrCode.checkAmount(parse(payload), asked), mayBeShown(payload, asked)], [amount, isShown])
  })

  it.each([
    "",
    "000201",
    "https://pay.example.com/7",
    paid(2500).slice(0, -5),
    recurrence,
    restated(recurrence, "25.00")
  ])("what is no code to pay is not shown: %j", (payload) => assert.isFalse(mayBeShown(payload, Money.centavos(2500))))
})
