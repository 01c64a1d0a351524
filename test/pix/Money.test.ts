import { assert, describe, it } from "@effect/vitest"
import { BigDecimal, Equal, JsonSchema, Option, Schema } from "effect"
import * as Money from "../../src/pix/Money.ts"
import * as samples from "../support/samples.ts"

const decode = Schema.decodeUnknownSync(Money.ReaisFromJson)
const encode = Schema.encodeSync(Money.ReaisFromJson)
const toJson = Schema.encodeSync(Schema.toCodecJson(Money.Reais))
const fromJson = Schema.decodeUnknownSync(Schema.toCodecJson(Money.Reais))

/** The plain decimal text of reais at any scale. */
const text = Schema.toFormatter(Money.Reais)

const isNumeric = (written: string): written is `${number}` => Number.isFinite(Number(written))

const max = Money.centavos(Number.MAX_SAFE_INTEGER)

const refuses = (run: () => unknown, secret: string): void => {
  try {
    run()
  } catch (error) {
    assert.isTrue(Schema.isSchemaError(error))
    assert.notInclude(String(error), secret)
    assert.notInclude(JSON.stringify(error), secret)
    return
  }
  assert.fail("was accepted")
}

describe("Money.Centavos", () => {
  it("Centavos are non-negative safe integers, and the refusal does not quote the input", () => {
    assert.strictEqual(Money.centavos(0), 0)
    assert.strictEqual(Money.centavos(Number.MAX_SAFE_INTEGER), Number.MAX_SAFE_INTEGER)
    for (const bad of [-4321, 43.21, Number.MAX_SAFE_INTEGER + 1, 1e21, Number.NaN, Number.POSITIVE_INFINITY]) {
      refuses(() => Money.centavos(bad), String(bad))
      assert.deepStrictEqual(Money.centavosOption(bad), Option.none())
    }
  })

  it("Centavos have one zero", () => {
    assert.isTrue(Object.is(Money.centavos(-0), 0))
    assert.isTrue(Option.exists(Money.centavosOption(-0), (n) => Object.is(n, 0)))
  })

  it("Centavos are always a JSON integer on the wire", () => {
    assert.strictEqual(JSON.stringify(Schema.encodeSync(Money.Centavos)(Money.centavos(2500))), "2500")
    for (const bad of ["2500", 25.5, -1, null, 2500n, true]) {
      assert.throws(() => Schema.decodeUnknownSync(Money.Centavos)(bad))
    }
    const { schema } = Schema.toJsonSchemaDocument(Money.Centavos)
    assert.include(JSON.stringify(schema), `"type":"integer"`)
    assert.include(JSON.stringify(schema), `"minimum":0`)
  })
})

describe("Money.ReaisFromJson", () => {
  it("ReaisFromJson decodes a JSON number to the decimal that was written", () => {
    for (const [written, expected] of [
      ["0.1", "0.1"],
      ["1234567.89", "1234567.89"],
      ["10.005", "10.005"],
      ["-10.50", "-10.5"],
      ["1e21", "1000000000000000000000"],
      ["1e-7", "0.0000001"],
      ["-0", "0"],
      ["0", "0"],
      ["25.00", "25"]
    ] as const) {
      assert.strictEqual(text(decode(JSON.parse(written))), expected)
      assert.strictEqual(text(decode(written)), expected)
    }
  })

  it("ReaisFromJson decodes decimal text beyond a number's precision exactly", () => {
    for (const exact of ["12345678901234567.89", "0.10000000000000000001", "-9007199254740993"]) {
      assert.strictEqual(text(decode(exact)), exact)
    }
    assert.strictEqual(text(decode("1234567890123456789e-2")), "12345678901234567.89")
    assert.strictEqual(text(decode("1.5E+3")), "1500")
  })

  it("ReaisFromJson refuses a text that is not a JSON number, without quoting it", () => {
    for (const bad of ["", " ", " 43.21", "43.21 ", "1,50", "1.234,56", "0x43", "+4321", "4321.", ".4321", "04321"]) {
      assert.throws(() => decode(bad))
      assert.deepStrictEqual(Money.reaisOption(bad), Option.none())
    }
    for (const bad of ["NaN", "Infinity", "-", "e5", "1e", "1_000", "٣", "4321\n", Number.NaN, Infinity, null, {}]) {
      assert.throws(() => decode(bad))
    }
    refuses(() => decode("43,21"), "43")
    refuses(() => Money.reais("43,21"), "43")
  })

  it("ReaisFromJson refuses exponent bombs and more than 40 digits at once", () => {
    for (const bomb of ["1e999999999", "-1e-999999999", "1e40", "1e-40", "1e99999999999999999999", "9".repeat(41)]) {
      assert.throws(() => decode(bomb))
    }
    assert.throws(() => decode("9".repeat(1_000_000)))
    assert.throws(() => decode(5e-324))
    assert.throws(() => decode(Number.MAX_VALUE))
    assert.throws(() => Schema.decodeUnknownSync(Schema.toType(Money.ReaisFromJson))(BigDecimal.make(1n, -999_999_999)))
    assert.throws(() => Money.reais(BigDecimal.make(1n, 999_999_999)))
    assert.throws(() => Money.reais(BigDecimal.make(1n, 2 ** 60)))
    assert.strictEqual(text(decode("9".repeat(40))), "9".repeat(40))
    assert.strictEqual(text(decode("1e39")), `1${"0".repeat(39)}`)
    assert.strictEqual(text(decode("1e-39")), `0.${"0".repeat(38)}1`)
    assert.strictEqual(text(decode("0e999999999")), "0")
  })

  it("ReaisFromJson encodes a number if it is exact, and decimal text otherwise", () => {
    for (const [written, expected] of [
      ["0.10", 0.1],
      ["-10.005", -10.005],
      ["0", 0],
      ["1e21", 1e21],
      ["0.0000001", 1e-7],
      ["12345678901234567.89", "12345678901234567.89"],
      ["9007199254740993", "9007199254740993"],
      ["0.10000000000000000001", "0.10000000000000000001"],
      ["-1e-30", -1e-30]
    ] as const) {
      assert.strictEqual(encode(Money.reais(written)), expected)
    }
  })

  it.prop("an amount of reais is the same after encoding and decoding", { amount: samples.reais }, ({ amount }) => {
    const wire = JSON.parse(JSON.stringify(encode(amount)))
    assert.deepStrictEqual(decode(wire), amount)
    assert.deepStrictEqual(fromJson(toJson(amount)), amount)
  })

  it("ReaisFromJson is the same inside the JSON codec of a struct", () => {
    const codec = Schema.toCodecJson(Schema.Struct({ value: Money.ReaisFromJson, total: Money.Centavos }))
    const record = Schema.decodeSync(codec)({ value: 10.005, total: 2500 })
    assert.strictEqual(Money.format(record.value), "R$ 10,005")
    assert.deepStrictEqual<unknown>(Schema.encodeSync(codec)(record), { value: 10.005, total: 2500 })
  })

  it("ReaisFromJson is described as a number or a string", () => {
    const document = JSON.stringify(Schema.toJsonSchemaDocument(Money.ReaisFromJson).schema)
    assert.include(document, `"number"`)
    assert.include(document, `"string"`)
    assert.isObject(JsonSchema.toDocumentDraft07(Schema.toJsonSchemaDocument(Money.Reais)).schema)
  })
})

describe("Money.Reais", () => {
  it("Reais are made from text, whole reais, and the results of BigDecimal", () => {
    const sum = Money.reais(BigDecimal.sum(Money.reais("0.1"), Money.reais("0.2")))
    assert.isTrue(Equal.equals(sum, Money.reais("0.3")))
    assert.deepStrictEqual(Money.reais("25.00"), Money.reais(25n))
    assert.deepStrictEqual(Money.reais("1500"), Money.reais(BigDecimal.make(15000n, 1)))
  })

  it("Reais compare by value", () => {
    const same = Money.reais("1.50")
    assert.isTrue(Equal.equals(same, Money.reais("1.5")))
    assert.isTrue(Schema.toEquivalence(Money.Reais)(same, Money.reais("1.5")))
    assert.isFalse(Equal.equals(same, Money.reais("1.51")))
    assert.strictEqual(Money.ReaisOrder(Money.reais("-10"), Money.reais("9.5")), -1)
    assert.strictEqual(Money.ReaisOrder(Money.reais("10"), Money.reais("9.5")), 1)
    assert.strictEqual(Money.ReaisOrder(same, Money.reais("1.5")), 0)
  })

  it("Reais print as decimal text in schema messages and formatters", () => {
    assert.strictEqual(Schema.toFormatter(Money.Reais)(Money.reais("-10.005")), "-10.005")
  })
})

describe("the conversions of Money", () => {
  it("fromReais converts decimal text to centavos exactly", () => {
    for (const [written, expected] of [
      ["25.00", 2500],
      ["25", 2500],
      ["25.5", 2550],
      ["0.01", 1],
      ["0", 0],
      ["0.29", 29],
      ["1.15", 115],
      ["4.35", 435],
      ["90071992547409.91", Number.MAX_SAFE_INTEGER]
    ] as const) {
      assert.strictEqual(Money.fromReais(written), expected)
      assert.strictEqual(Money.fromReais(Money.reais(written)), expected)
      assert.deepStrictEqual(Money.fromReaisOption(written), Option.some(expected))
    }
  })

  it("a conversion refuses floats and the other unit, by its types and at run time", () => {
    // @ts-expect-error a float is neither text nor Reais
    refuses(() => Money.fromReais(43.21), "43")
    // @ts-expect-error a float is neither text nor Reais
    refuses(() => Money.reais(43.21), "43")
    // @ts-expect-error a BigDecimal has no unit until Money.reais gives it one
    assert.deepStrictEqual(Money.toCentavos(BigDecimal.make(4321n, 2)), Option.some(Money.centavos(4321)))
    // @ts-expect-error reais are not centavos
    assert.throws(() => Money.add(Money.reais("43.21"), Money.centavos(1)))
    // @ts-expect-error a plain number is not centavos
    assert.strictEqual(Money.sum([4321]), 4321)
  })

  it("a conversion refuses an amount that centavos cannot hold, without quoting it", () => {
    for (const bad of ["-43.21", "43.211", "43.000", "90071992547409.92", "43,21", "4e3", "", " 43", "043", "R$ 43"]) {
      refuses(() => Money.fromReais(bad), "43")
      assert.deepStrictEqual(Money.fromReaisOption(bad), Option.none())
    }
    for (const bad of ["-0.01", "10.005", "90071992547409.92", "1e39"]) {
      refuses(() => Money.fromReais(Money.reais(bad)), "10")
      assert.deepStrictEqual(Money.toCentavos(Money.reais(bad)), Option.none())
    }
  })

  it.prop("a conversion from centavos to reais and back changes nothing", { amount: Money.Centavos }, ({ amount }) => {
    const inReais = Money.toReais(amount)
    assert.deepStrictEqual(Money.toCentavos(inReais), Option.some(Money.centavos(amount)))
    assert.deepStrictEqual(Money.fromReais(text(inReais)), Money.centavos(amount))
    assert.deepStrictEqual(decode(encode(inReais)), inReais)
  })
})

describe("Money.parseBRL", () => {
  it("parseBRL reads the Brazilian writings", () => {
    for (const [written, expected] of [
      ["25", 2500],
      ["25.00", 2500],
      ["25,00", 2500],
      ["25,5", 2550],
      ["0,01", 1],
      ["0", 0],
      ["R$ 25", 2500],
      ["R$25,00", 2500],
      ["R$\u00a025,00", 2500],
      ["  R$ 25,00\n", 2500],
      ["R$ 1.234,56", 123456],
      ["1.234,56", 123456],
      ["1.234,5", 123450],
      ["1234", 123400],
      ["1234,56", 123456],
      ["1234.56", 123456],
      ["1.234.567", 123456700],
      ["1.234.567,89", 123456789],
      ["90.071.992.547.409,91", Number.MAX_SAFE_INTEGER]
    ] as const) {
      assert.deepStrictEqual(Money.parseBRL(written), Option.some(expected), written)
    }
  })

  it("parseBRL refuses ambiguous and malformed texts", () => {
    for (const bad of [
      ["1.234", "R$ 1.234", "1,234", "1,234.56", "1,234,567", "25.5", "25,000", "25.000", "25,001", "25.001"],
      ["-25", "R$ -25", "-R$ 25,00", "+25", "", " ", "R$", "25,", "25.", ",25", ".25", "25,00,00", "1.23,45"],
      ["1.2345,67", "1234.567,89", "0.123,45", "012", "1.234.56", "25 00", "R$ R$ 25", "US$ 25", "25,00 R$", "2 5"],
      ["25e2", "0x19", "NaN", "Infinity", "٢٥", "vinte", "90.071.992.547.409,92", "9".repeat(400), "1_000"]
    ].flat()) {
      assert.deepStrictEqual(Money.parseBRL(bad), Option.none(), bad)
    }
  })

  it.prop("parseBRL reads the texts that format writes", { amount: Money.Centavos }, ({ amount }) => {
    assert.deepStrictEqual(Money.parseBRL(Money.format(amount)), Option.some(Money.centavos(amount)))
    assert.strictEqual(Money.format(Money.toReais(amount)), Money.format(amount))
  })
})

describe("Money.format", () => {
  it("format writes Brazilian money with an ordinary space", () => {
    assert.strictEqual(Money.format(Money.centavos(2500)), "R$ 25,00")
    assert.strictEqual(Money.format(Money.centavos(0)), "R$ 0,00")
    assert.strictEqual(Money.format(Money.centavos(5)), "R$ 0,05")
    assert.strictEqual(Money.format(Money.centavos(123456)), "R$ 1.234,56")
    assert.strictEqual(Money.format(max), "R$ 90.071.992.547.409,91")
  })

  it("format writes every decimal of reais, and negative balances", () => {
    assert.strictEqual(Money.format(Money.reais("10.005")), "R$ 10,005")
    assert.strictEqual(Money.format(Money.reais("10.5")), "R$ 10,50")
    assert.strictEqual(Money.format(Money.reais("-0.5")), "-R$ 0,50")
    assert.strictEqual(Money.format(Money.reais("-1234.56")), "-R$ 1.234,56")
    assert.strictEqual(Money.format(Money.reais("12345678901234567.89")), "R$ 12.345.678.901.234.567,89")
    assert.strictEqual(Money.format(Money.reais("1e21")), "R$ 1.000.000.000.000.000.000.000,00")
  })

  it.prop("format writes the same as Intl if Intl is exact", { amount: Money.Centavos }, ({ amount }) => {
    const intl = new Intl.NumberFormat("pt-BR", { style: "currency", currency: "BRL" })
    const exact = `${amount}e-2`
    assert.isTrue(isNumeric(exact) && Money.format(amount) === intl.format(exact).replace("\u00a0", " "))
  })
})

describe("the arithmetic of Money", () => {
  it("Money adds and subtracts, and its results are always whole, non-negative, safe numbers", () => {
    assert.strictEqual(Money.add(Money.centavos(1), Money.centavos(2)), 3)
    assert.deepStrictEqual(Money.subtract(Money.centavos(3), Money.centavos(2)), Option.some(1))
    assert.deepStrictEqual(Money.subtract(Money.centavos(3), Money.centavos(3)), Option.some(0))
    assert.deepStrictEqual(Money.subtract(Money.centavos(2), Money.centavos(3)), Option.none())
    assert.throws(() => Money.add(max, Money.centavos(1)))
  })

  it("Money sums any number of amounts", () => {
    assert.strictEqual(Money.sum([]), 0)
    assert.strictEqual(Money.sum(new Set([Money.centavos(1), Money.centavos(20), Money.centavos(300)])), 321)
    assert.throws(() => Money.sum([max, max, max]))
  })
})
