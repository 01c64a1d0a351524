import { assert, describe, it } from "@effect/vitest"
import { BigDecimal, Equal, Option, Schema } from "effect"
import * as Money from "../../src/pix/Money.ts"
import * as samples from "../support/samples.ts"

const decode = Schema.decodeUnknownSync(Money.ReaisFromJson)
const encode = Schema.encodeSync(Money.ReaisFromJson)
const json = Schema.toCodecJson(Money.Reais)

/** The plain decimal text of reais at any scale. */
const text = Schema.toFormatter(Money.Reais)

const isNumeric = (written: string): written is `${number}` => Number.isFinite(Number(written))

const most = Number.MAX_SAFE_INTEGER
const max = Money.centavos(most)

/** Asserts that a value is refused, by the function for literals and its variant, without being quoted. */
const refuses = <A>(
  run: (input: A) => unknown,
  option: (input: A) => Option.Option<unknown>,
  ...inputs: ReadonlyArray<A>
) => {
  for (const input of inputs) {
    assert.deepStrictEqual(option(input), Option.none(), String(input))
    try {
      run(input)
    } catch (error) {
      assert.instanceOf(error, Schema.SchemaError)
      assert.include(error.message, "Expected a")
      const quoted = String(input).trim()
      if (quoted.length > 1) assert.notInclude(`${String(error)}${JSON.stringify(error)}`.replace("25.50", ""), quoted)
      continue
    }
    assert.fail(`${String(input)} was accepted`)
  }
}

it("Centavos are non-negative safe integers with one zero, and a JSON integer on the wire", () => {
  for (const right of [0, 1, most]) {
    assert.strictEqual<number>(Money.centavos(right), right)
    assert.deepStrictEqual<Option.Option<number>>(Money.centavosOption(right), Option.some(right))
  }
  refuses(Money.centavos, Money.centavosOption, -4321, 43.21, most + 1, 1e21, Number.NaN, Infinity)
  assert.isTrue(Object.is(Money.centavos(-0), 0))
  assert.strictEqual(JSON.stringify(Schema.encodeSync(Money.Centavos)(Money.centavos(2500))), "2500")
  for (const bad of ["2500", 25.5, -1, null, 2500n, true])
    assert.throws(() => Schema.decodeUnknownSync(Money.Centavos)(bad))
  const { schema } = Schema.toJsonSchemaDocument(Money.Centavos)
  for (const part of [`"type":"integer"`, `"minimum":0`, "R$ 25,00 is 2500"])
    assert.include(JSON.stringify(schema), part)
})

describe("Money.Reais", () => {
  it.each([
    ["0.1", "0.1", 0.1],
    ["1234567.89", "1234567.89", 1234567.89],
    ["10.005", "10.005", 10.005],
    ["-10.50", "-10.5", -10.5],
    ["1e21", `1${"0".repeat(21)}`, 1e21],
    ["1e-7", "0.0000001", 1e-7],
    ["-1e-30", `-0.${"0".repeat(29)}1`, -1e-30],
    ["1.5E+3", "1500", 1500],
    ["-0", "0", 0],
    ["0e999999999", "0", 0],
    ["25.00", "25", 25],
    ["12345678901234567.89", "12345678901234567.89", "12345678901234567.89"],
    ["0.10000000000000000001", "0.10000000000000000001", "0.10000000000000000001"],
    ["-9007199254740993", "-9007199254740993", "-9007199254740993"],
    ["9".repeat(40), "9".repeat(40), "9".repeat(40)],
    ["1e39", `1${"0".repeat(39)}`, 1e39],
    ["1e-39", `0.${"0".repeat(38)}1`, 1e-39]
  ] as const)("%s is read as %s, and sent as the number if that is exact: %s", (written, plain, sent) => {
    const amount = Money.reais(written)
    assert.strictEqual(text(amount), plain)
    assert.deepStrictEqual(Money.reaisOption(written), Option.some(amount))
    assert.isTrue(Equal.equals(decode(written), amount))
    if (typeof sent === "number") assert.isTrue(Equal.equals(decode(JSON.parse(written)), amount))
    assert.strictEqual(encode(amount), sent)
    assert.strictEqual(Schema.encodeSync(json)(amount), plain)
  })

  it("a text or a decimal that is no JSON number of at most 40 digits is refused, at once and without being quoted", () => {
    const wrong = " | 43.21|43.21 |1,50|1.234,56|0x43|+4321|4321.|.4321|04321|NaN|Infinity|-|e5|1e|1_000|٣|4321\n|43,21"
    const bombs = "1e999999999|-1e-999999999|1e40|1e-40|1e99999999999999999999|"
    const long = ["9".repeat(41), "9".repeat(1_000_000), `1.${"0".repeat(99)}`]
    const bad = [...wrong.split("|"), ...bombs.split("|"), ...long]
    refuses<string>(Money.reais, Money.reaisOption, ...bad)
    for (const given of [...bad, Number.NaN, Infinity, null, {}, 5e-324, Number.MAX_VALUE])
      assert.throws(() => decode(given))
    for (const scale of [-999_999_999, 999_999_999, 40, -40]) {
      const bomb = BigDecimal.make(1n, scale)
      assert.deepStrictEqual(Money.reaisOption(bomb), Option.none())
      assert.throws(() => Money.reais(bomb), /Expected a/)
      assert.throws(() => Schema.decodeUnknownSync(Schema.toType(Money.ReaisFromJson))(bomb))
    }
  })

  it("an amount is made from text, whole reais and the results of BigDecimal, and is compared by value", () => {
    const sum = Money.reais(BigDecimal.sum(Money.reais("0.1"), Money.reais("0.2")))
    assert.isTrue(Equal.equals(sum, Money.reais("0.3")))
    assert.deepStrictEqual(Money.reais("25.00"), Money.reais(25n))
    assert.deepStrictEqual(Money.reais("1500"), Money.reais(BigDecimal.make(15000n, 1)))
    const [same, other] = [Money.reais("1.50"), Money.reais("1.51")]
    const areEqual = Schema.toEquivalence(Money.Reais)
    assert.deepStrictEqual([areEqual(same, Money.reais("1.5")), areEqual(same, other)], [true, false])
    const compared = ["-10", "1.51", "1.5"].map((amount) => BigDecimal.Order(Money.reais(amount), same))
    assert.deepStrictEqual(compared, [-1, 1, 0])
  })

  it.prop("an amount is the same after encoding and decoding", { amount: samples.reais }, ({ amount }) => {
    assert.deepStrictEqual(decode(JSON.parse(JSON.stringify(encode(amount)))), amount)
    assert.deepStrictEqual(Schema.decodeUnknownSync(json)(Schema.encodeSync(json)(amount)), amount)
  })
})

describe("the conversions of Money", () => {
  it.each([
    ["25.00", 2500],
    ["25", 2500],
    ["25.5", 2550],
    ["0.01", 1],
    ["0", 0],
    ["0.29", 29],
    ["1.15", 115],
    ["4.35", 435],
    ["90071992547409.91", most]
  ] as const)("%s reais are %d centavos", (written, centavos) => {
    const expected = Money.centavos(centavos)
    assert.deepStrictEqual([Money.fromReais(written), Money.fromReais(Money.reais(written))], [expected, expected])
    assert.deepStrictEqual(Money.fromReaisOption(written), Option.some(expected))
    assert.deepStrictEqual(Money.toCentavos(Money.reais(written)), Option.some(expected))
    assert.isTrue(Equal.equals(Money.toReais(expected), Money.reais(written)))
  })

  it("an amount that centavos cannot hold is refused without being quoted", () => {
    const texts = ["-43.21", "43.211", "43.000", "90071992547409.92", "43,21", "4e3", "", " 43", "043", "R$ 43"]
    refuses<string>(Money.fromReais, Money.fromReaisOption, ...texts)
    for (const bad of ["-0.01", "10.005", "90071992547409.92", "1e39"]) {
      assert.throws(() => Money.fromReais(Money.reais(bad)), /Expected a non-negative amount/)
      assert.deepStrictEqual(Money.toCentavos(Money.reais(bad)), Option.none())
    }
  })

  it("floats and the other unit are refused, by the types and at run time", () => {
    // @ts-expect-error a float is neither text nor Reais
    assert.throws(() => Money.fromReais(43.21), Schema.SchemaError)
    // @ts-expect-error a float is neither text nor Reais
    assert.throws(() => Money.reais(43.21), Schema.SchemaError)
    // @ts-expect-error a BigDecimal has no unit until Money.reais gives it one
    assert.deepStrictEqual(Money.toCentavos(BigDecimal.make(4321n, 2)), Option.some(Money.centavos(4321)))
    // @ts-expect-error reais are not centavos
    assert.throws(() => Money.sum([Money.reais("43.21"), Money.centavos(1)]))
    // @ts-expect-error a plain number is not centavos
    assert.strictEqual(Money.sum([4321]), 4321)
  })

  it.prop("centavos become reais, text and Brazilian text, and back", { amount: Money.Centavos }, ({ amount }) => {
    const inReais = Money.toReais(amount)
    assert.deepStrictEqual(Money.toCentavos(inReais), Option.some(Money.centavos(amount)))
    assert.deepStrictEqual(Money.fromReais(text(inReais)), Money.centavos(amount))
    assert.deepStrictEqual(decode(encode(inReais)), inReais)
    const written = Money.format(amount)
    assert.deepStrictEqual(Money.parseBRL(written), Option.some(Money.centavos(amount)))
    assert.strictEqual(Money.format(inReais), written)
    const [exact, intl] = [`${amount}e-2`, new Intl.NumberFormat("pt-BR", { style: "currency", currency: "BRL" })]
    assert.isTrue(isNumeric(exact) && written === intl.format(exact).replace("\u00a0", " "))
  })
})

describe("a Brazilian text", () => {
  const written: ReadonlyArray<readonly [centavos: number, row: string]> = [
    [2500, "25|25.00|25,00|R$ 25|R$25,00|R$\u00a025,00|R$\u202f25,00|  R$ 25,00\n|\u202aR$\u200925,00\u202c"],
    [2550, "25,5|25,50|25.50"],
    [1, "0,01|0.01"],
    [0, "0|0,00"],
    [123456, "R$ 1.234,56|1.234,56|1234,56|1234.56"],
    [123450, "1.234,5"],
    [123400, "1234"],
    [123456700, "1.234.567"],
    [most, "90.071.992.547.409,91"]
  ]
  it.each(written)("of %d centavos is read by parseBRL from each of %j", (centavos, row) => {
    for (const text of row.split("|"))
      assert.deepStrictEqual<Option.Option<number>>(Money.parseBRL(text), Option.some(centavos), text)
  })

  it.each([
    "1.234|R$ 1.234|1,234|1,234.56|1,234,567|25.5|25,000|25.000|25,001|25.001|-25|R$ -25|-R$ 25,00|+25|",
    " |R$|25,|25.|,25|.25|25,00,00|1.23,45|1.2345,67|1234.567,89|0.123,45|012|1.234.56|25 00|R$ R$ 25",
    `US$ 25|25,00 R$|2 5|25e2|0x19|NaN|Infinity|٢٥|vinte|90.071.992.547.409,92|1_000|${"9".repeat(400)}`
  ])("that is ambiguous or malformed is refused by parseBRL: %j", (row) => {
    for (const bad of row.split("|")) assert.deepStrictEqual(Money.parseBRL(bad), Option.none(), bad)
  })

  it.each([
    [Money.centavos(0), "R$ 0,00"],
    [Money.centavos(5), "R$ 0,05"],
    [Money.centavos(123456), "R$ 1.234,56"],
    [max, "R$ 90.071.992.547.409,91"],
    [Money.reais("10.005"), "R$ 10,005"],
    [Money.reais("10.5"), "R$ 10,50"],
    [Money.reais("-1234.56"), "-R$ 1.234,56"],
    [Money.reais("1e21"), "R$ 1.000.000.000.000.000.000.000,00"]
  ])("of %s is written by format as %s", (money, written) => {
    assert.strictEqual(Money.format(money), written)
  })
})

it("a sum of Money is a whole, safe number, or it is refused", () => {
  const [one, two, three] = [Money.centavos(1), Money.centavos(2), Money.centavos(3)]
  assert.deepStrictEqual([Money.sum([one, two]), Money.sum([]), Money.sum(new Set([one, two, three]))], [3, 0, 6])
  assert.throws(() => Money.sum([max, one]), Schema.SchemaError)
  assert.throws(() => Money.sum([max, max, max]), /Expected centavos whose sum is within the safe integers/)
})

describe("the shares of an amount", () => {
  const split = (amount: number, weights: ReadonlyArray<number>) => Money.split(Money.centavos(amount), weights)

  it.each([
    [1000, [1, 1, 1], [334, 333, 333]],
    [5, [50, 50], [3, 2]],
    [2501, [87.5, 12.5], [2188, 313]],
    [100, [0.1, 0.2, 0.7], [10, 20, 70]],
    [2, [1, 4, 4], [0, 1, 1]],
    [7, [0, 3, 0], [0, 7, 0]],
    [0, [3, 4], [0, 0]],
    [most, [1, 2], [3_002_399_751_580_330, 6_004_799_503_160_661]],
    [100, [1e30, 1e-9], [100, 0]]
  ] as const)("of %d by %j are %j", (amount, weights, shares) => {
    assert.deepStrictEqual<ReadonlyArray<number>>(split(amount, weights), shares)
  })

  it("of weights without one above 0, or with one that is no number from 0, are refused", () => {
    const wrong = [[], [0], [0, -0], [1, -0.01], [Number.NaN], [1, Infinity], [1e40], [1e-40]]
    refuses(
      (weights: ReadonlyArray<number>) => split(4321, weights),
      (weights) => Option.liftThrowable(Money.split)(max, weights),
      ...wrong
    )
    // @ts-expect-error a plain number is not centavos
    assert.throws(() => Money.split(43.21, [1]), Schema.SchemaError)
    assert.deepStrictEqual(Option.liftThrowable(Money.split)(max, Array(3)), Option.none())
  })

  const weight = Schema.Union([
    Schema.Natural.check(Schema.isLessThan(1_000)),
    Schema.Literals([0, 0.1, 33.3, 12.5, 1e15])
  ])
  const weights = Schema.NonEmptyArray(weight)

  it.prop(
    "have the amount as their sum, are less than a centavo from the exact ones, and follow their weights",
    { amount: Money.Centavos, weights },
    ({ amount, weights }) => {
      const total = weights.reduce((sum, of) => sum + BigInt(of * 10), 0n)
      if (total === 0n) return assert.deepStrictEqual(Option.liftThrowable(Money.split)(amount, weights), Option.none())
      const shares = Money.split(amount, weights)
      assert.strictEqual(Money.sum(shares), amount)
      for (const [n, share] of shares.entries()) {
        const distance = BigInt(share) * total - BigInt(amount) * BigInt(weights[n]! * 10)
        assert.isTrue(-total < distance && distance < total)
        for (const [m, other] of shares.entries()) if (weights[n]! > weights[m]!) assert.isAtLeast(share, other)
      }
    }
  )

  it.each([
    [2990, 2.5, 75],
    [5, 10, 1],
    [4, 10, 0],
    [100, 0, 0],
    [100, 0.1, 0],
    [500, 0.1, 1],
    [1000, 33.3, 333],
    [1000, 150, 1500],
    [most, 100, most]
  ])("are, of %d at %d percent, %d", (amount, percentage, expected) => {
    const of = Money.centavos(amount)
    assert.strictEqual<number>(Money.percent(of, percentage), expected)
  })

  it("are refused for a percentage below 0, one that is not finite, and beyond the safe integers", () => {
    const wrong = [-0.01, Number.NaN, Infinity, 1e40, 100.1]
    refuses(
      (of: number) => Money.percent(max, of),
      (of) => Option.liftThrowable(Money.percent)(max, of),
      ...wrong
    )
  })

  const percentage = Schema.Natural.check(Schema.isLessThanOrEqualTo(100))

  it.prop(
    "are by a percentage the first of two by it and the rest",
    { amount: Money.Centavos, percentage },
    (given) => {
      const { amount, percentage } = given
      assert.strictEqual(Money.percent(amount, percentage), Money.split(amount, [percentage, 100 - percentage])[0])
    }
  )
})
