import { inspect } from "node:util"
import { generatePixPayload } from "@brazilian-utils/brazilian-utils/generate-pix-payload"
import { getPixPayloadInfo } from "@brazilian-utils/brazilian-utils/get-pix-payload-info"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Redacted, Result, Schema } from "effect"
import * as BrCode from "../../src/pix/BrCode.ts"
import * as Money from "../../src/pix/Money.ts"
import * as PixKey from "../../src/pix/PixKey.ts"

const evp = "123e4567-e12b-12d1-a456-426655440000"

// Of the manuals and of bacen/pix-api; the last one is a community example.
const vectors = {
  staticKey:
    "00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-4266554400005204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***63041D3D",
  dynamicUrl:
    "00020101021226700014br.gov.bcb.pix2548pix.example.com/8b3da2f39a4140d1a91abd93113bd4415204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***630464E4",
  amongOthers:
    "00020104141234567890123426580014BR.GOV.BCB.PIX0136123e4567-e12b-12d1-a456-42665544000027300012BR.COM.OUTRO011001234567895204000053039865406123.455802BR5917NOME DO RECEBEDOR6008BRASILIA61087007490062190515RP12345678-201980390012BR.COM.OUTRO01190123.ABCD.3456.WXYZ6304AD38",
  recurrenceOnly:
    "00020126180014br.gov.bcb.pix5204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***80800014br.gov.bcb.pix2558pix.example.com/qr/v2/rec/2353c790eefb11eaadc10242ac120002630462C9",
  urlAndRecurrence:
    "00020101021226760014br.gov.bcb.pix2554pix.example.com/qr/v2/8b3da2f39a4140d1a91abd93113bd4415204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***80800014br.gov.bcb.pix2558pix.example.com/qr/v2/rec/94ed2badcbc04c15b0bb7fa35319489063047741",
  dueUrlAndRecurrence:
    "00020101021226810014br.gov.bcb.pix2559pix.example.com/qr/v2/cobv/1e6c54d3ec9449b7a7fc53b6b0f998e75204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***80800014br.gov.bcb.pix2558pix.example.com/qr/v2/rec/3ffa640fa4f14080adccb949fa2dc0d06304A441",
  keyAndRecurrence:
    "00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-4266554400005204000053039865406100.505802BR5913Fulano de Tal6008BRASILIA62070503***80740014br.gov.bcb.pix2552pix.example.com/rec/2353c790eefb11eaadc10242ac12000263042875",
  longCity:
    "00020126580014br.gov.bcb.pix0136bee05743-4291-4f3c-9259-595df1307ba1520400005303986540510.005802BR5914Alexandre Lima6019Presidente Prudente62180514Um-Id-Qualquer6304D475"
}

const parse = (payload: string) => Result.getOrThrow(BrCode.parse(payload))
const generate = (options: BrCode.GenerateOptions) => Result.getOrThrow(BrCode.generate(options))
const verified = (payload: string) => Result.flatMap(BrCode.parse(payload), BrCode.verify)
const tlv = (id: string, value: string, length = value.length) => `${id}${String(length).padStart(2, "0")}${value}`
const withCrc = (text: string) => `${text}6304${BrCode.crc(`${text}6304`)}`
const reveal = (hidden: Redacted.Redacted | undefined) => (hidden === undefined ? undefined : Redacted.value(hidden))

const asides = new Set(["crc", "fields", "payload", "problems"])

/** A value's fields in plain text, without those that say nothing. */
const plain = (code: BrCode.BrCode) =>
  Object.fromEntries(
    Object.entries({
      ...code,
      key: reveal(code.key),
      url: reveal(code.url),
      recurrenceUrl: reveal(code.recurrenceUrl),
      additionalInfo: reveal(code.additionalInfo)
    }).filter(([name, value]) => value !== undefined && !asides.has(name))
  )

/** A static code for this amount. */
const priced = (written: string) =>
  parse(withCrc(vectors.staticKey.slice(0, -8).replace("5802BR", `${tlv("54", written)}5802BR`)))

const shown = (value: unknown) => [
  String(value),
  JSON.stringify(value),
  inspect(value, { depth: 9 }),
  inspect(value, { depth: 9, customInspect: false, showHidden: true }),
  Cause.pretty(Cause.fail(value))
]

/** A URL of this length. */
const urlOf = (length: number) => `pix.example.com/${"u".repeat(length - 16)}`

const usual = { mcc: "0000", currency: "986", country: "BR", merchantName: "Fulano de Tal", merchantCity: "BRASILIA" }

const readings: ReadonlyArray<readonly [keyof typeof vectors, object]> = [
  ["staticKey", { ...usual, kind: "static", key: evp }],
  [
    "dynamicUrl",
    { ...usual, kind: "dynamic", pointOfInitiation: "12", url: "pix.example.com/8b3da2f39a4140d1a91abd93113bd441" }
  ],
  [
    "amongOthers",
    {
      ...usual,
      kind: "static",
      merchantName: "NOME DO RECEBEDOR",
      key: evp,
      amount: 12345,
      postalCode: "70074900",
      txid: "RP12345678-2019"
    }
  ],
  [
    "recurrenceOnly",
    { ...usual, kind: "composite", recurrenceUrl: "pix.example.com/qr/v2/rec/2353c790eefb11eaadc10242ac120002" }
  ],
  [
    "urlAndRecurrence",
    {
      ...usual,
      kind: "composite",
      pointOfInitiation: "12",
      url: "pix.example.com/qr/v2/8b3da2f39a4140d1a91abd93113bd441",
      recurrenceUrl: "pix.example.com/qr/v2/rec/94ed2badcbc04c15b0bb7fa353194890"
    }
  ],
  [
    "dueUrlAndRecurrence",
    {
      ...usual,
      kind: "composite",
      pointOfInitiation: "12",
      url: "pix.example.com/qr/v2/cobv/1e6c54d3ec9449b7a7fc53b6b0f998e7",
      recurrenceUrl: "pix.example.com/qr/v2/rec/3ffa640fa4f14080adccb949fa2dc0d0"
    }
  ],
  [
    "keyAndRecurrence",
    {
      ...usual,
      kind: "composite",
      key: evp,
      amount: 10050,
      recurrenceUrl: "pix.example.com/rec/2353c790eefb11eaadc10242ac120002"
    }
  ],
  [
    "longCity",
    {
      ...usual,
      kind: "static",
      merchantName: "Alexandre Lima",
      merchantCity: "Presidente Prudente",
      key: "bee05743-4291-4f3c-9259-595df1307ba1",
      amount: 1000,
      txid: "Um-Id-Qualquer"
    }
  ]
]

const text = (pattern: RegExp) => Schema.String.check(Schema.isPattern(pattern))
const amount = Schema.optional(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 999_999_999_999 })))
const merchant = { merchantName: text(/^[A-Z][A-Za-z0-9]{0,24}$/), merchantCity: text(/^[A-Z][a-z]{0,14}$/), amount }
const StaticOptions = Schema.Struct({
  ...merchant,
  key: text(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/),
  txid: Schema.optional(text(/^[A-Za-z0-9]{1,25}$/)),
  additionalInfo: Schema.optional(text(/^[a-z0-9]{1,37}$/))
})
const DynamicOptions = Schema.Struct({
  ...merchant,
  url: text(/^[a-z]{1,9}\.[a-z]{2,5}\/qr\/v2\/[0-9a-f]{1,32}$/)
})

const toOptions = <A extends { readonly amount?: number | undefined }>(options: A) => ({
  ...options,
  amount: options.amount === undefined ? undefined : Money.centavos(options.amount)
})

describe("crc", () => {
  it("is CRC-16/CCITT-FALSE in four capital hexadecimal digits", () => {
    assert.strictEqual(BrCode.crc("123456789"), "29B1")
    assert.strictEqual(BrCode.crc(""), "FFFF")
    // The first text in counting order whose checksum begins with a zero.
    const padded = Array.from({ length: 100 }, (_, n) => BrCode.crc(String(n))).find((crc) => crc.startsWith("0"))
    assert.match(padded ?? "", /^0[\dA-F]{3}$/)
  })
})

describe("parse", () => {
  it.each(readings)("reads the published example %s to the last field", (name, expected) => {
    const code = parse(vectors[name])
    assert.deepStrictEqual(plain(code), expected)
    assert.isTrue(code.crc.ok)
    assert.deepStrictEqual(code.problems, [])
    assert.strictEqual(Redacted.value(code.payload), vectors[name])
    assert.isTrue(Result.isSuccess(verified(vectors[name])))
  })

  it("keeps the fields that it does not know", () => {
    const fields = Redacted.value(parse(vectors.amongOthers).fields)
    assert.deepInclude(fields, { id: "04", value: "12345678901234" })
    assert.deepInclude(fields, { id: "27", value: "0012BR.COM.OUTRO01100123456789" })
    assert.strictEqual(fields.map(({ id, value }) => tlv(id, value)).join(""), vectors.amongOthers)
  })

  it("shows a placeholder checksum beside the right one, and only verify refuses it", () => {
    for (const stated of ["E2CA", "170E", "0000"]) {
      const payload = vectors.staticKey.replace(/1D3D$/, stated)
      const code = parse(payload)
      assert.deepStrictEqual(code.crc, { ok: false, stated, computed: "1D3D" })
      assert.deepStrictEqual(plain(code), { ...usual, kind: "static", key: evp })
      const refused = BrCode.verify(code)
      assert.isTrue(Result.isFailure(refused) && refused.failure.code === "crc")
    }
  })

  it("takes a checksum in lower case, and finds one that is missing, misplaced or no checksum", () => {
    assert.isTrue(parse(vectors.staticKey.replace(/1D3D$/, "1d3d")).crc.ok)
    const bare = vectors.staticKey.slice(0, -8)
    const misplaced = `${tlv("63", "1D3D")}${bare}`
    for (const payload of [bare, misplaced, `${bare}${tlv("63", "fulano@example.com")}`]) {
      const code = parse(payload)
      assert.isFalse(code.crc.ok)
      assert.isUndefined(code.crc.stated)
      assert.strictEqual(code.problems[0]?.code, "crc")
    }
    assert.strictEqual(parse(bare).crc.computed, "1D3D")
  })

  it("reads the mark of PIX in any case, in any of the accounts 26 to 51", () => {
    const rest = "5204000053039865802BR5906Fulano6008BRASILIA"
    for (const id of ["26", "38", "51"]) {
      const account = tlv(id, `${tlv("00", "Br.Gov.Bcb.Pix")}${tlv("01", evp)}`)
      assert.strictEqual(reveal(parse(withCrc(`000201${account}${rest}`)).key), evp)
      assert.deepStrictEqual(parse(withCrc(`000201${account}${rest}`)).problems, [])
    }
    for (const id of ["25", "52"]) {
      const account = tlv(id, `${tlv("00", "br.gov.bcb.pix")}${tlv("01", evp)}`)
      const refused = BrCode.parse(withCrc(`000201${account}${rest}`))
      assert.isTrue(Result.isFailure(refused) && refused.failure.code === "not-pix")
    }
  })

  it("reads the text for the payer and the ISPB of a PIX Saque", () => {
    const account = `${tlv("00", "br.gov.bcb.pix")}${tlv("01", evp)}${tlv("02", "Pedido 7")}${tlv("03", "12345678")}`
    const rest = "52040000530398654040.005802BR5906Fulano6008BRASILIA"
    const code = parse(withCrc(`000201${tlv("26", account)}${rest}`))
    assert.strictEqual(reveal(code.additionalInfo), "Pedido 7")
    assert.strictEqual(code.fss, "12345678")
    assert.strictEqual(code.amount, Money.centavos(0))
    assert.deepStrictEqual(code.problems, [])
  })

  it("takes lengths that count characters and lengths that count bytes", () => {
    const name = "Padaria São João"
    const head = `000201${tlv("26", `${tlv("00", "br.gov.bcb.pix")}${tlv("01", evp)}`)}5204000053039865802BR`
    const tail = `${tlv("60", "BRASILIA")}${tlv("62", tlv("05", "***"))}`
    for (const length of [name.length, new TextEncoder().encode(name).length]) {
      for (const payload of [
        withCrc(`${head}${tlv("59", name, length)}${tail}`),
        `${head}${tlv("59", name, length)}${tail}6304E2CA`
      ]) {
        const code = parse(payload)
        assert.strictEqual(code.merchantName, name)
        assert.strictEqual(code.merchantCity, "BRASILIA")
        assert.strictEqual(code.crc.ok, !payload.endsWith("E2CA"))
      }
    }
  })

  const counts = {
    "UTF-16 units": (value: string) => value.length,
    "code points": (value: string) => Array.from(value).length,
    "UTF-8 bytes": (value: string) => new TextEncoder().encode(value).length
  }

  it.each(Object.entries(counts))(
    "reads lengths that count %s, also beyond the basic plane and inside templates",
    (_, count) => {
      const field = (id: string, value: string) => tlv(id, value, count(value))
      for (const text of ["Açaí 🍇🍇", "𝐀𝐁 Ltda", "🛒", "e\u0301 🇧🇷", "\ufeffLoja"]) {
        const account = `${field("00", "br.gov.bcb.pix")}${field("01", evp)}${field("02", text)}`
        const code = parse(
          withCrc(
            `000201${field("26", account)}52040000530398654041.505802BR${field("59", text)}${field("60", text)}${field("62", field("05", "***"))}`
          )
        )
        assert.deepStrictEqual(code.problems, [], text)
        assert.strictEqual(code.merchantName, text)
        assert.strictEqual(code.merchantCity, text)
        assert.strictEqual(reveal(code.additionalInfo), text)
        assert.strictEqual(code.amount, 150)
      }
    }
  )

  it("ignores the space around a copied text", () => {
    assert.isTrue(parse(`\n ${vectors.dynamicUrl}\r\n`).crc.ok)
  })

  it("reads amounts exactly, and reports what is no amount", () => {
    for (const [written, centavos] of [
      ["0.01", 1],
      ["0.07", 7],
      ["10", 1000],
      ["10.", 1000],
      ["10.5", 1050],
      ["1.10", 110],
      ["8.70", 870],
      ["0010.00", 1000],
      ["4503599627370.49", 450_359_962_737_049]
    ] as const) {
      assert.strictEqual(priced(written).amount, Money.centavos(centavos), written)
      assert.deepStrictEqual(priced(written).problems, [], written)
    }
    for (const written of [
      "10.005",
      "10,00",
      "1e3",
      "-1.00",
      "NaN",
      "0x10",
      " 1",
      "1.000,00",
      ".5",
      "99999999999999999.99"
    ]) {
      const code = priced(written)
      assert.isUndefined(code.amount, written)
      assert.deepStrictEqual(
        code.problems.map(({ code }) => code),
        ["amount"],
        written
      )
      assert.isTrue(Result.isFailure(BrCode.verify(code)), written)
    }
  })

  it.each([
    ["format", vectors.staticKey.replace(/^000201/, "000202")],
    ["point of initiation", vectors.dynamicUrl.replace("010212", "010213")],
    ["merchant category", vectors.staticKey.replace("52040000", "")],
    ["BRL", vectors.staticKey.replace("5303986", "5303840")],
    ["Brazil", vectors.staticKey.replace("5802BR", "5802US")],
    ["receiver", vectors.staticKey.replace("5913Fulano de Tal", "")],
    ["city", vectors.staticKey.replace("6008BRASILIA", "6000")],
    ["additional data", vectors.staticKey.replace("62070503***", "62070599***")],
    ["repeats", vectors.staticKey.replace("5802BR", "5802BR5802BR")],
    [
      "several PIX accounts",
      vectors.staticKey.replace("5204", `${tlv("27", `${tlv("00", "br.gov.bcb.pix")}${tlv("01", "other")}`)}5204`)
    ],
    ["key and a URL", vectors.staticKey.replace("2658", "2678").replace("5204", `${tlv("25", "pix.example.br/7")}5204`)]
  ])("reads on past a wrong field, and reports it: %s", (words, payload) => {
    const code = parse(withCrc(payload.slice(0, -8)))
    assert.deepStrictEqual(
      code.problems.map(({ code }) => code),
      ["field"]
    )
    assert.include(code.problems[0]?.reason, words)
    assert.strictEqual(reveal(code.key ?? code.url)?.length, code.key === undefined ? 48 : 36)
    const refused = BrCode.verify(code)
    assert.isTrue(Result.isFailure(refused) && refused.failure.message.includes(words))
  })

  it.each([
    ["an account", tlv("26", `${tlv("00", "br.gov.bcb.pix")}${tlv("01", evp)}${tlv("01", evp)}`), ""],
    ["the mark of an account", tlv("26", `${tlv("00", "br.gov.bcb.pix").repeat(2)}${tlv("01", evp)}`), ""],
    ["additional data", undefined, tlv("62", `${tlv("05", "***")}${tlv("05", "abc")}`)],
    [
      "a template in additional data",
      undefined,
      tlv("62", `${tlv("05", "***")}${tlv("50", tlv("00", "a").repeat(2))}`)
    ],
    ["an unknown account", undefined, tlv("27", `${tlv("00", "br.com.outro")}${tlv("07", "1").repeat(2)}`)],
    ["the receiver in another language", undefined, tlv("64", `${tlv("00", "EN")}${tlv("01", "A").repeat(2)}`)],
    [
      "a recurrence",
      undefined,
      tlv("80", `${tlv("00", "br.gov.bcb.pix")}${tlv("25", "pix.example.com/rec/1").repeat(2)}`)
    ]
  ])(
    "reports an id that is repeated inside %s",
    (_, account = tlv("26", `${tlv("00", "br.gov.bcb.pix")}${tlv("01", evp)}`), rest) => {
      const code = parse(withCrc(`000201${account}5204000053039865802BR5901F6001B${rest}`))
      assert.deepStrictEqual(code.problems, [{ code: "field", reason: "repeats a field inside a template" }])
    }
  )

  const withUrl = (url: string, id = "26") => {
    const other = id === "26" ? "" : tlv("26", `${tlv("00", "br.gov.bcb.pix")}${tlv("01", evp)}`)
    return parse(
      withCrc(
        `000201${other}${tlv(id, `${tlv("00", "br.gov.bcb.pix")}${tlv("25", url)}`)}5204000053039865802BR5901F6001B`
      )
    )
  }

  it.each([
    "https://pix.example.com/a",
    "HTTP:pix.example.com/a",
    "javascript:alert(1)",
    "//pix.example.com/a",
    "/a",
    "pix.example.com",
    "pix.example.com/",
    "pix.example.com/a b",
    " pix.example.com/a",
    "pix.example.com/a\n",
    "pix.example.com\u0000/a",
    "user@pix.example.com/a",
    "user:pass@pix.example.com/a",
    "pix.example.com/@evil.example/a",
    "pix.example.com\\evil.example/a",
    "pix.example.com/a\\b",
    "pix.example.com:443/a",
    "pix.example.com:80@evil.example/a",
    "pix.example.com:/a",
    "localhost/a",
    "pix/a",
    ".example.com/a",
    "pix..example.com/a",
    "pix.example.com./a",
    "-pix.example.com/a",
    "pix-.example.com/a",
    "192.168.0.1/a",
    "0x7f.1/a",
    "[::1]/a",
    "pix%2eexample.com/a",
    "pix.example.com/%2e%2e/a",
    "pix.example.com/../a",
    "pix.example.com/a/..",
    "pix.example.com/./a",
    "pix.example.com//a",
    "pix.example.com/a?b=1",
    "pix.example.com/a#b",
    "pix.exàmple.com/a",
    "pix.example。com/a",
    "xn--px-mia.example.com/a",
    "pix.example.xn--p1ai/a",
    "pix_example.com/a"
  ])("reports the URL %j, of a charge and of a recurrence", (url) => {
    for (const id of ["26", "80"]) {
      assert.deepStrictEqual(withUrl(url, id).problems, [
        { code: "field", reason: "has a URL that is not a plain host and path (id 25)" }
      ])
    }
  })

  it.each([
    "pix.example.com/a",
    "PIX.Example.COM.br/qr/v2/9d36b84f-c70b-478f-b95c-12729b90ca25",
    "a.bc/d",
    "p1x-1.example.com/qr/v2/cobv/1e6c54d3ec9449b7a7fc53b6b0f998e7/",
    "pix.example.com/..a/b..c/~d_e-f.g"
  ])("finds nothing wrong with the URL %j", (url) => {
    assert.deepStrictEqual(withUrl(url).problems, [])
  })

  it.each([
    ["", "not-pix"],
    ["000201", "not-pix"],
    ["00020126180014br.gov.bcb.pix", "not-pix"],
    ["00020126300012BR.COM.OUTRO01100123456789", "not-pix"],
    ["hello", "tlv"],
    ["00", "tlv"],
    ["0005ab", "tlv"],
    ["00-1", "tlv"],
    ["0002٠١", "not-pix"],
    ["٠٠0201", "tlv"],
    [vectors.staticKey.slice(0, -1), "tlv"],
    [`${vectors.staticKey}0`, "tlv"],
    ["34191.79001 01043.510047 91020.150008 1 96610000014500", "tlv"]
  ])("refuses %j with %s", (payload, code) => {
    const refused = BrCode.parse(payload)
    assert.isTrue(Result.isFailure(refused) && refused.failure.code === code)
  })

  it.prop("gives a value or a typed error for any text", [Schema.String], ([any]) => {
    for (const payload of [any, `${vectors.staticKey}${any}`, `000201${tlv("26", any.slice(0, 99))}${any}`]) {
      const read = BrCode.parse(payload)
      assert.isTrue(Result.isSuccess(read) || read.failure instanceof BrCode.InvalidBrCode)
    }
  })

  it.prop(
    "survives any edit of a code",
    [Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 260 })), Schema.String],
    ([at, text]) => {
      for (const payload of Object.values(vectors)) {
        const read = BrCode.parse(payload.slice(0, at) + text + payload.slice(at + 1))
        if (Result.isSuccess(read)) assert.strictEqual(typeof read.success.crc.ok, "boolean")
      }
    }
  )

  it.prop(
    "agrees with brazilian-utils on what that accepts",
    [Schema.Union([StaticOptions, DynamicOptions])],
    ([options]) => {
      for (const payload of [...Object.values(vectors), generate(toOptions(options))]) {
        const theirs = getPixPayloadInfo(payload)
        const ours = parse(payload)
        assert.isTrue(theirs !== null || payload === vectors.recurrenceOnly)
        if (theirs === null) continue
        assert.isTrue(Result.isSuccess(BrCode.verify(ours)))
        assert.strictEqual(ours.merchantName, theirs.merchantName)
        assert.strictEqual(ours.merchantCity, theirs.merchantCity)
        assert.strictEqual(reveal(ours.key), theirs.key)
        assert.strictEqual(reveal(ours.url), theirs.url)
        assert.strictEqual(reveal(ours.additionalInfo), theirs.description)
        assert.strictEqual(ours.txid, theirs.txid)
        // Theirs drops the amount next to a URL, and is a float.
        if (theirs.amount !== undefined) assert.strictEqual(ours.amount, Math.round(theirs.amount * 100))
        if (theirs.url === undefined) assert.strictEqual(ours.amount === undefined, theirs.amount === undefined)
      }
    }
  )
})

describe("a parsed code", () => {
  const secrets = ["fulano@example.com", "Pedido de Maria", "pix.example.com", "br.gov.bcb.pix"]

  it("shows neither key, URLs, text for the payer nor payload, however it is printed", () => {
    for (const payload of [
      generate({ key: "fulano@example.com", additionalInfo: "Pedido de Maria", merchantName: "F", merchantCity: "B" }),
      vectors.urlAndRecurrence
    ]) {
      for (const output of shown(parse(payload))) {
        for (const secret of secrets) assert.notInclude(output, secret)
      }
    }
  })

  it("does not come back out of an error", () => {
    const key = "fulano@example.com"
    const payload = generate({ key, merchantName: "F", merchantCity: "B", amount: Money.centavos(777_123) })
    const errors: ReadonlyArray<Result.Result<unknown, BrCode.InvalidBrCode>> = [
      verified(`${payload.slice(0, -4)}0000`),
      verified(payload.slice(0, -5)),
      verified(payload.replace(/^000201/, "000202")),
      verified(withCrc(payload.slice(0, -8).replace("br.gov.bcb.pix", "br.com.fulano1"))),
      verified(withCrc(payload.slice(0, -8).replace("7771.23", "777,123"))),
      BrCode.generate({ key: `${key} ${key}`, merchantName: "F", merchantCity: "B" }),
      BrCode.generate({ url: `https://pix.example.com/${key}`, merchantName: "F", merchantCity: "B" }),
      BrCode.generate({ key: "k", merchantName: `${key} ${key}`, merchantCity: "B" })
    ]
    for (const result of errors) {
      assert.isTrue(Result.isFailure(result))
      if (Result.isFailure(result)) {
        for (const output of shown(result.failure)) {
          assert.notInclude(output, "fulano")
          assert.notInclude(output, "777")
        }
      }
    }
  })
})

describe("checkAmount", () => {
  const asked = Money.centavos(12345)

  it("tells an equal amount, another, and none", () => {
    assert.strictEqual(BrCode.checkAmount(parse(vectors.amongOthers), asked), "same")
    assert.strictEqual(BrCode.checkAmount(parse(vectors.amongOthers), Money.centavos(12346)), "different")
    assert.strictEqual(BrCode.checkAmount(parse(vectors.dynamicUrl), asked), "not stated")
  })

  it("takes zero for an open amount, and an amount that cannot be read for another", () => {
    assert.strictEqual(BrCode.checkAmount(priced("0.00"), asked), "not stated")
    assert.strictEqual(BrCode.checkAmount(priced("123,45"), asked), "different")
    assert.strictEqual(BrCode.checkAmount(priced("12345"), asked), "different")
  })
})

describe("generate", () => {
  it("makes the manuals' own examples", () => {
    const receiver = { merchantName: "Fulano de Tal", merchantCity: "BRASÍLIA" }
    assert.strictEqual(generate({ ...receiver, key: evp }), vectors.staticKey)
    const url = "pix.example.com/8b3da2f39a4140d1a91abd93113bd441"
    assert.strictEqual(generate({ ...receiver, url }), vectors.dynamicUrl)
  })

  it.prop(
    "makes what parse reads back and verify accepts",
    [Schema.Union([StaticOptions, DynamicOptions])],
    ([options]) => {
      const payload = generate(toOptions(options))
      const code = Result.getOrThrow(verified(payload))
      const defined = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
      assert.deepStrictEqual(plain(code), {
        ...usual,
        ...defined,
        ...("url" in options ? { kind: "dynamic", pointOfInitiation: "12" } : { kind: "static" })
      })
      assert.match(payload, /^[\x20-\x7e]+$/)
    }
  )

  it.prop("makes to the letter what brazilian-utils makes of the same", [StaticOptions], ([options]) => {
    const { additionalInfo, amount, txid, ...rest } = options
    const theirs = generatePixPayload({
      ...rest,
      ...(txid !== undefined && { txid }),
      ...(amount !== undefined && { amount: amount / 100 }),
      ...(additionalInfo !== undefined && { description: additionalInfo })
    })
    if (theirs !== null) assert.strictEqual(generate(toOptions(options)), theirs)
    // Theirs refuses amounts whose float is off.
    else assert.isAbove(amount ?? 0, 100_000_000)
  })

  it.prop(
    "makes a code in which any single wrong character is noticed",
    [Schema.Union([StaticOptions, DynamicOptions]), text(/^[\x20-\x7e]$/)],
    ([options, wrong]) => {
      const payload = generate(toOptions(options))
      for (let at = 0; at < payload.length; at++) {
        // The checksum in lower case is the same checksum.
        const kept = payload.slice(at, at + 1)
        if (kept === wrong || (at >= payload.length - 4 && kept === wrong.toUpperCase())) continue
        assert.isTrue(Result.isFailure(verified(payload.slice(0, at) + wrong + payload.slice(at + 1))), `at ${at}`)
      }
    }
  )

  it("drops accents and spare space, and refuses what has no ASCII form", () => {
    const code = parse(generate({ key: evp, merchantName: "  Açaí\u00a0&  Cia  nº 1 ", merchantCity: "São Luís" }))
    assert.strictEqual(code.merchantName, "Acai & Cia no 1")
    assert.strictEqual(code.merchantCity, "Sao Luis")
    for (const merchantName of ["", "   ", "Søren", "商店", "Loja 🛒", "a\u0007b"]) {
      const refused = BrCode.generate({ key: evp, merchantName, merchantCity: "BRASILIA" })
      assert.isTrue(Result.isFailure(refused) && refused.failure.code === "field", merchantName)
    }
  })

  const fits: BrCode.GenerateOptions = {
    key: evp,
    merchantName: "N".repeat(25),
    merchantCity: "C".repeat(15),
    txid: "t".repeat(25),
    additionalInfo: "i".repeat(37),
    amount: Money.centavos(999_999_999_999)
  }
  const receiver = { merchantName: fits.merchantName, merchantCity: fits.merchantCity, amount: fits.amount }

  const longest = `${"k".repeat(65)}@example.com`

  it("takes a PixKey of any kind, and the same key as text", () => {
    for (const key of [
      PixKey.cpf("529.982.247-25"),
      PixKey.cnpj("12.abc.345/01de-35"),
      PixKey.email("Fulano@Example.com"),
      PixKey.phone("(11) 91234-5684"),
      PixKey.phone("+1 202 555 0123"),
      PixKey.evp(evp)
    ]) {
      const payload = generate({ ...receiver, key })
      assert.strictEqual(reveal(parse(payload).key), PixKey.value(key))
      assert.strictEqual(generate({ ...receiver, key: PixKey.value(key) }), payload)
    }
  })

  it("takes each field at its greatest length", () => {
    for (const options of [fits, { ...receiver, key: longest }, { ...receiver, url: urlOf(77) }]) {
      assert.isTrue(Result.isSuccess(verified(generate(options))))
    }
    assert.strictEqual(parse(generate(fits)).amount, 999_999_999_999)
  })

  it.each<readonly [string, BrCode.GenerateOptions]>([
    ["name", { ...fits, merchantName: "N".repeat(26) }],
    ["city", { ...fits, merchantCity: "C".repeat(16) }],
    ["txid", { ...fits, txid: "t".repeat(26) }],
    ["txid", { ...fits, txid: "" }],
    ["txid", { ...fits, txid: "Um-Id" }],
    ["additional information", { ...fits, additionalInfo: "i".repeat(38) }],
    ["additional information", { ...fits, key: longest, additionalInfo: "i" }],
    ["key", { ...receiver, key: `k${longest}` }],
    ["key", { ...receiver, key: "k".repeat(36) }],
    ["key", { ...receiver, key: "12345678901" }],
    ["key", { ...receiver, key: "5511912345684" }],
    ["key", { ...receiver, key: "+551132345678" }],
    ["key", { ...receiver, key: "529.982.247-25" }],
    ["key", { ...receiver, key: evp.toUpperCase() }],
    ["key", { ...receiver, key: "fulano" }],
    ["key", { ...receiver, key: "" }],
    ["key", { ...receiver, key: "chave aleatória" }],
    ["URL", { ...receiver, url: urlOf(78) }],
    ["URL", { ...receiver, url: "https://pix.example.com/a" }],
    ["URL", { ...receiver, url: "pix.example.com" }],
    ["URL", { ...receiver, url: "pix.example.com/a?b" }],
    ["URL", { ...receiver, url: "user@pix.example.com/a" }],
    ["URL", { ...receiver, url: "pix.example.com/a\nb" }],
    ["amount", { ...fits, amount: Money.centavos(0) }],
    ["amount", { ...fits, amount: Money.centavos(1_000_000_000_000) }]
  ])("refuses a wrong %s instead of cutting it", (words, options) => {
    const refused = BrCode.generate(options)
    assert.isTrue(Result.isFailure(refused))
    if (Result.isFailure(refused)) {
      assert.include(refused.failure.message, words)
      assert.strictEqual(refused.failure.code, words === "amount" ? "amount" : "field")
    }
  })

  it("refuses next to a URL what only a static code has", () => {
    const dynamic = { ...receiver, url: urlOf(40) }
    for (const refused of [
      // @ts-expect-error the types refuse it too
      BrCode.generate({ ...dynamic, key: evp }),
      // @ts-expect-error the types refuse it too
      BrCode.generate({ ...dynamic, txid: "abc" }),
      // @ts-expect-error the types refuse it too
      BrCode.generate({ ...dynamic, additionalInfo: "abc" }),
      // @ts-expect-error the types refuse it too
      BrCode.generate({ merchantName: "N", merchantCity: "C" })
    ]) {
      assert.isTrue(Result.isFailure(refused) && refused.failure.code === "field")
    }
  })
})
