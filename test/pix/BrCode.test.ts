import { inspect } from "node:util"
import { getPixPayloadInfo } from "@brazilian-utils/brazilian-utils/get-pix-payload-info"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Redacted, Result, Schema } from "effect"
import * as BrCode from "../../src/pix/BrCode.ts"
import * as Money from "../../src/pix/Money.ts"
import {
  DynamicOptions,
  evp,
  generate,
  parse,
  plain,
  reveal,
  StaticOptions,
  text,
  tlv,
  usual,
  vectors,
  verified,
  withCrc
} from "../support/brCode.ts"

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
    "urlAndRecurrence",
    {
      ...usual,
      kind: "dynamic",
      pointOfInitiation: "12",
      url: "pix.example.com/qr/v2/8b3da2f39a4140d1a91abd93113bd441"
    }
  ],
  [
    "dueUrlAndRecurrence",
    {
      ...usual,
      kind: "dynamic",
      pointOfInitiation: "12",
      url: "pix.example.com/qr/v2/cobv/1e6c54d3ec9449b7a7fc53b6b0f998e7"
    }
  ],
  ["keyAndRecurrence", { ...usual, kind: "static", key: evp, amount: 10050 }],
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

describe("BrCode.crc", () => {
  it("the checksum is CRC-16/CCITT-FALSE in four capital hexadecimal digits", () => {
    assert.strictEqual(BrCode.crc("123456789"), "29B1")
    assert.strictEqual(BrCode.crc(""), "FFFF")
    // The first text in counting order whose checksum begins with a zero.
    const padded = Array.from({ length: 100 }, (_, n) => BrCode.crc(String(n))).find((crc) => crc.startsWith("0"))
    assert.match(padded ?? "", /^0[\dA-F]{3}$/)
  })
})

describe("BrCode.parse", () => {
  it.each(readings)("parse reads the published example %s to the last field", (name, expected) => {
    const code = parse(vectors[name])
    assert.deepStrictEqual(plain(code), expected)
    assert.isTrue(code.crc.ok)
    assert.deepStrictEqual(code.problems, [])
    assert.strictEqual(Redacted.value(code.payload), vectors[name])
    assert.isTrue(Result.isSuccess(verified(vectors[name])))
  })

  it("parse keeps the fields that it does not know", () => {
    const fields = Redacted.value(parse(vectors.amongOthers).fields)
    assert.deepInclude(fields, { id: "04", value: "12345678901234" })
    assert.deepInclude(fields, { id: "27", value: "0012BR.COM.OUTRO01100123456789" })
    assert.strictEqual(fields.map(({ id, value }) => tlv(id, value)).join(""), vectors.amongOthers)
  })

  it("parse returns a placeholder checksum beside the right one, and only verify refuses it", () => {
    for (const stated of ["E2CA", "170E", "0000"]) {
      const payload = vectors.staticKey.replace(/1D3D$/, stated)
      const code = parse(payload)
      assert.deepStrictEqual(code.crc, { ok: false, stated, computed: "1D3D" })
      assert.deepStrictEqual(plain(code), { ...usual, kind: "static", key: evp })
      const refused = BrCode.verify(code)
      assert.isTrue(Result.isFailure(refused) && refused.failure.code === "crc")
    }
  })

  it("parse accepts a checksum in lower case, and reports one that is missing, misplaced or malformed", () => {
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

  it("parse reads the identifier of PIX in any case, in any of the accounts 26 to 51", () => {
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

  it("parse reads the text for the payer, beside a field that it does not know", () => {
    const account = `${tlv("00", "br.gov.bcb.pix")}${tlv("01", evp)}${tlv("02", "Pedido 7")}${tlv("03", "12345678")}`
    const rest = "52040000530398654040.005802BR5906Fulano6008BRASILIA"
    const code = parse(withCrc(`000201${tlv("26", account)}${rest}`))
    assert.strictEqual(reveal(code.additionalInfo), "Pedido 7")
    assert.strictEqual(code.amount, Money.centavos(0))
    assert.deepStrictEqual(code.problems, [])
  })

  it("parse accepts lengths that count characters and lengths that count bytes", () => {
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
    "UTF-8 bytes": (value: string) => new TextEncoder().encode(value).length
  }

  it.each(Object.entries(counts))(
    "parse reads lengths that count %s, also beyond the basic plane and inside templates",
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

  it("parse ignores the space around a copied text", () => {
    assert.isTrue(parse(`\n ${vectors.dynamicUrl}\r\n`).crc.ok)
  })

  it("parse reads amounts exactly, and reports a text that is not an amount", () => {
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
  ])("parse reads the fields after a wrong field, and reports it: %s", (words, payload) => {
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
    "parse reports an id that is repeated inside %s",
    (_, account = tlv("26", `${tlv("00", "br.gov.bcb.pix")}${tlv("01", evp)}`), rest) => {
      const code = parse(withCrc(`000201${account}5204000053039865802BR5901F6001B${rest}`))
      assert.deepStrictEqual(code.problems, [{ code: "field", reason: "repeats a field inside a template" }])
    }
  )

  const withUrl = (url: string) =>
    parse(
      withCrc(`000201${tlv("26", `${tlv("00", "br.gov.bcb.pix")}${tlv("25", url)}`)}5204000053039865802BR5901F6001B`)
    )

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
  ])("parse reports the URL %j", (url) => {
    assert.deepStrictEqual(withUrl(url).problems, [
      { code: "field", reason: "has a URL that is not a plain host and path (id 25)" }
    ])
  })

  it.each([
    "pix.example.com/a",
    "PIX.Example.COM.br/qr/v2/9d36b84f-c70b-478f-b95c-12729b90ca25",
    "a.bc/d",
    "p1x-1.example.com/qr/v2/cobv/1e6c54d3ec9449b7a7fc53b6b0f998e7/",
    "pix.example.com/..a/b..c/~d_e-f.g"
  ])("parse accepts the URL %j", (url) => {
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
    [vectors.recurrenceOnly, "not-pix"],
    [vectors.staticKey.slice(0, -1), "tlv"],
    [`${vectors.staticKey}0`, "tlv"],
    ["34191.79001 01043.510047 91020.150008 1 96610000014500", "tlv"]
  ])("parse refuses %j with %s", (payload, code) => {
    const refused = BrCode.parse(payload)
    assert.isTrue(Result.isFailure(refused) && refused.failure.code === code)
  })

  it.prop("parse returns a value or a typed error for any text", [Schema.String], ([any]) => {
    for (const payload of [any, `${vectors.staticKey}${any}`, `000201${tlv("26", any.slice(0, 99))}${any}`]) {
      const read = BrCode.parse(payload)
      assert.isTrue(Result.isSuccess(read) || read.failure instanceof BrCode.InvalidBrCode)
    }
  })

  it.prop(
    "parse never throws for an edited code",
    [Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 260 })), Schema.String],
    ([at, text]) => {
      for (const payload of Object.values(vectors)) {
        const read = BrCode.parse(payload.slice(0, at) + text + payload.slice(at + 1))
        if (Result.isSuccess(read)) assert.strictEqual(typeof read.success.crc.ok, "boolean")
      }
    }
  )

  it.prop(
    "parse agrees with brazilian-utils on every code that it accepts",
    [Schema.Union([StaticOptions, DynamicOptions])],
    ([options]) => {
      const { recurrenceOnly: _, ...payable } = vectors
      for (const payload of [...Object.values(payable), generate(options)]) {
        const theirs = getPixPayloadInfo(payload)
        const ours = parse(payload)
        assert.isNotNull(theirs)
        assert.isTrue(Result.isSuccess(BrCode.verify(ours)))
        assert.strictEqual(ours.merchantName, theirs.merchantName)
        assert.strictEqual(ours.merchantCity, theirs.merchantCity)
        assert.strictEqual(reveal(ours.key), theirs.key)
        assert.strictEqual(reveal(ours.url), theirs.url)
        assert.strictEqual(reveal(ours.additionalInfo), theirs.description)
        assert.strictEqual(ours.txid, theirs.txid)
        // brazilian-utils drops the amount next to a URL, and returns a float.
        if (theirs.amount !== undefined) assert.strictEqual(ours.amount, Math.round(theirs.amount * 100))
        if (theirs.url === undefined) assert.strictEqual(ours.amount === undefined, theirs.amount === undefined)
      }
    }
  )

  it.prop(
    "parse reads back every field of a code, and verify accepts it",
    [Schema.Union([StaticOptions, DynamicOptions])],
    ([options]) => {
      const defined = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
      assert.deepStrictEqual(plain(Result.getOrThrow(verified(generate(options)))), {
        ...usual,
        ...defined,
        ...("url" in options ? { kind: "dynamic", pointOfInitiation: "12" } : { kind: "static" })
      })
    }
  )

  it.prop(
    "any single wrong character of a code is noticed",
    [Schema.Union([StaticOptions, DynamicOptions]), text(/^[\x20-\x7e]$/)],
    ([options, wrong]) => {
      const payload = generate(options)
      for (let at = 0; at < payload.length; at++) {
        // The checksum in lower case is the same checksum.
        const kept = payload.slice(at, at + 1)
        if (kept === wrong || (at >= payload.length - 4 && kept === wrong.toUpperCase())) continue
        assert.isTrue(Result.isFailure(verified(payload.slice(0, at) + wrong + payload.slice(at + 1))), `at ${at}`)
      }
    }
  )
})

describe("the result of BrCode.parse", () => {
  const secrets = ["fulano@example.com", "Pedido de Maria", "pix.example.com", "br.gov.bcb.pix"]

  it("a parsed code shows neither key, URLs, text for the payer nor payload, however it is printed", () => {
    for (const payload of [
      generate({ key: "fulano@example.com", additionalInfo: "Pedido de Maria", merchantName: "F", merchantCity: "B" }),
      vectors.urlAndRecurrence
    ]) {
      for (const output of shown(parse(payload))) {
        for (const secret of secrets) assert.notInclude(output, secret)
      }
    }
  })

  it("the error of a refused code does not show the code", () => {
    const key = "fulano@example.com"
    const payload = generate({ key, merchantName: "F", merchantCity: "B", amount: 777_123 })
    const errors: ReadonlyArray<Result.Result<unknown, BrCode.InvalidBrCode>> = [
      verified(`${payload.slice(0, -4)}0000`),
      verified(payload.slice(0, -5)),
      verified(payload.replace(/^000201/, "000202")),
      verified(withCrc(payload.slice(0, -8).replace("br.gov.bcb.pix", "br.com.fulano1"))),
      verified(withCrc(payload.slice(0, -8).replace("7771.23", "777,123"))),
      verified(generate({ url: `https://pix.example.com/${key}`, merchantName: "F", merchantCity: "B" }))
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

describe("BrCode.checkAmount", () => {
  const asked = Money.centavos(12345)

  it("checkAmount distinguishes an equal amount, another, and none", () => {
    assert.strictEqual(BrCode.checkAmount(parse(vectors.amongOthers), asked), "same")
    assert.strictEqual(BrCode.checkAmount(parse(vectors.amongOthers), Money.centavos(12346)), "different")
    assert.strictEqual(BrCode.checkAmount(parse(vectors.dynamicUrl), asked), "not stated")
  })

  it("checkAmount reads zero as not stated, and an unreadable amount as different", () => {
    assert.strictEqual(BrCode.checkAmount(priced("0.00"), asked), "not stated")
    assert.strictEqual(BrCode.checkAmount(priced("123,45"), asked), "different")
    assert.strictEqual(BrCode.checkAmount(priced("12345"), asked), "different")
  })
})
