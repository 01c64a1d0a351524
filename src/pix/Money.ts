/**
 * Amounts of Brazilian money in two units that cannot be mixed up.
 *
 * - `Centavos`: a whole, non-negative number of centavos. All requests and most responses use it: R$ 25,00 is 2500.
 * - `Reais`: an exact decimal number of reais, possibly negative. Balances and the value of a withdrawal use it.
 *
 * The service sends both as bare JSON numbers, so only the type says which one it is. Conversion is by name
 * (`fromReais`, `toReais`, `toCentavos`), exact, and refuses instead of rounding. Only `split` and `percent` round. No
 * float is used.
 *
 * Gotchas:
 * - `centavos`, `reais`, `fromReais`, `split` and `percent` are for literals in a program: they throw a `SchemaError`,
 *   which never quotes the input. For the input of a user there are `parseBRL`, and an `...Option` of the first three: they
 *   return none instead. Of the others: `Option.liftThrowable(Money.split)`.
 * - `Reais` are `BigDecimal`s: `BigDecimal.sum(a, b)` and the rest of "effect/BigDecimal" apply. Make `Reais` of a
 *   result with `Money.reais`. Compare them with `Equal.equals` or `BigDecimal.Order`, not with `<`.
 */
declare module "./Money.ts" {}

import * as BigDecimal from "effect/BigDecimal"
import type * as Brand from "effect/Brand"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import * as SchemaIssue from "effect/SchemaIssue"
import { maxDigits } from "../internal/bounds.ts"
import * as decimal from "../internal/decimal.ts"
import { orRefuse, withSchemaError } from "../internal/refuse.ts"
import { visibleText } from "./internal/typed.ts"

/**
 * A whole, non-negative number of centavos within the safe integers, on the wire as a JSON integer: the unit of
 * `amount`, `unitPrice` and `fee` (`docs/service.md`).
 */
export const Centavos = Schema.Natural.annotate({
  title: "Centavos",
  description: "A non-negative whole number of centavos: R$ 25,00 is 2500"
}).pipe(Schema.brand("effect-pix/Centavos: use Money.centavos"))

/** A number that the schema `Centavos` has checked. */
export type Centavos = typeof Centavos.Type

const isCentavos = (n: number): n is Centavos => Number.isSafeInteger(n) && n >= 0

/**
 * Brands a number of centavos. Throws a `SchemaError` unless it is a non-negative safe integer.
 *
 * ```ts
 * import { Money } from "effect-pix"
 *
 * Money.format(Money.centavos(2500)) // => "R$ 25,00"
 * ```
 */
export const centavos = (n: number): Centavos =>
  orRefuse(
    centavosOption(n),
    'Expected a whole number of centavos from 0, within the safe integers. Money.fromReais("25.50") takes reais'
  )

/** `centavos` as an `Option`: none for a number that it would refuse. */
export const centavosOption = (n: number): Option.Option<Centavos> => {
  const positive = Object.is(n, -0) ? 0 : n
  return isCentavos(positive) ? Option.some(positive) : Option.none()
}

/**
 * An exact decimal number of reais, possibly negative: an Effect `BigDecimal` of at most 40 digits in plain writing.
 * Its default JSON form is a decimal string; the service's wire form is `ReaisFromJson`.
 */
export type Reais = BigDecimal.BigDecimal & Brand.Brand<"effect-pix/Reais: use Money.reais">

const isReais = (u: unknown): u is Reais => BigDecimal.isBigDecimal(u) && decimal.isBounded(u)

const reaisExpected = `a decimal number of at most ${maxDigits} digits`

const decodeReais = SchemaGetter.transformEffect<Reais, number | string>((input, options) =>
  Effect.mapError(
    Effect.fromOption(reaisOption(String(input))),
    () => new SchemaIssue.InvalidValue({ expected: reaisExpected }, input, options)
  )
)

const encodeReais = SchemaGetter.transform<number | string, Reais>((value) => {
  const text = decimal.toText(value)
  const number = Number(text)
  return decimal.isExactNumber(number, text) ? number : text
})

/** The schema of `Reais` in memory; for the service's wire form use `ReaisFromJson`. */
export const Reais = Schema.declare(isReais, {
  title: "Reais",
  description: "An exact decimal amount in reais",
  expected: reaisExpected,
  toCodecJson: () =>
    Schema.link<Reais>()(Schema.String, { decode: decodeReais, encode: SchemaGetter.transform(decimal.toText) }),
  toEquivalence: () => BigDecimal.Equivalence,
  toFormatter: () => decimal.toText
})

/**
 * Reais as the service writes them: a JSON number, or the decimal text of one.
 *
 * A number decodes to the decimal that its shortest text shows (`0.1` is one tenth), a string to exactly what it
 * says; a string has to follow JSON's number grammar, so "1,50", "0x10", " 1" and "" are refused, and so are NaN,
 * infinities and anything over 40 digits ("1e999999999"). Encodes to a number where that loses nothing, and to the
 * decimal text otherwise. The string form is for a parser that gives long numbers as text: `JSON.parse` alone
 * rounds them before a schema reads them.
 */
export const ReaisFromJson = Schema.Union([Schema.Finite, Schema.String]).pipe(
  Schema.decodeTo(Reais, { decode: decodeReais, encode: encodeReais })
)

/**
 * Makes reais from decimal text (`"10.005"`, as in `ReaisFromJson`), from whole reais, or from the result of a
 * `BigDecimal` operation. Throws a `SchemaError` for other text, and over 40 digits.
 *
 * ```ts
 * import { Money } from "effect-pix"
 * import { BigDecimal } from "effect"
 *
 * const balance = Money.reais("1234567.89")
 * Money.format(Money.reais(BigDecimal.negate(balance))) // => "-R$ 1.234.567,89"
 * ```
 */
export const reais = (input: string | bigint | BigDecimal.BigDecimal): Reais =>
  orRefuse(reaisOption(input), `Expected ${reaisExpected}`)

/** `reais` as an `Option`: none for an input that it would refuse. */
export const reaisOption = (input: string | bigint | BigDecimal.BigDecimal): Option.Option<Reais> => {
  const made = Predicate.isString(input)
    ? decimal.fromText(input)
    : Option.some(Predicate.isBigInt(input) ? BigDecimal.fromBigInt(input) : input)
  return made.pipe(Option.filter(isReais), Option.map(BigDecimal.normalize), Option.filter(isReais))
}

const reaisText = /^(?:0|[1-9]\d*)(?:\.\d{1,2})?$/

/**
 * The centavos of an amount in reais: decimal text with a point and at most two decimals (`"25"`, `"25.5"`,
 * `"25.00"`), or `Reais`. Throws a `SchemaError` for a negative amount, for fractions of a centavo, and beyond the safe
 * integers. Text with three decimals is refused even if they are zeros: in Brazil `25.000` reads as 25 thousand.
 *
 * ```ts
 * import { Money } from "effect-pix"
 *
 * Money.fromReais("25.00") // => 2500
 * ```
 */
export const fromReais = (input: string | Reais): Centavos =>
  orRefuse(fromReaisOption(input), "Expected a non-negative amount in reais, with a point and at most two decimals")

/** `fromReais` as an `Option`: none for an input that it would refuse. */
export const fromReaisOption = (input: string | Reais): Option.Option<Centavos> => {
  if (Predicate.isString(input) && !reaisText.test(input)) return Option.none()
  return Option.flatMap(reaisOption(input), toCentavos)
}

/** The same amount in reais. Always exact. */
export const toReais = (amount: Centavos): Reais => reais(BigDecimal.make(BigInt(centavos(amount)), 2))

/**
 * The same amount in centavos, or none if it is negative, has fractions of a centavo, or exceeds the safe integers.
 *
 * ```ts
 * import { Money } from "effect-pix"
 * import { Option } from "effect"
 *
 * Money.toCentavos(Money.reais("25.5")) // => Option.some(2550)
 * Money.toCentavos(Money.reais("10.005")) // => Option.none()
 * ```
 */
export const toCentavos = (amount: Reais): Option.Option<Centavos> => {
  if (!isReais(amount)) return Option.none()
  const [sign, whole, fraction] = decimal.toParts(amount)
  // `Number` rounds an integer that is too long, and the result is not a safe integer.
  return sign === "" && fraction.length <= 2
    ? centavosOption(Number(`${whole}${fraction.padEnd(2, "0")}`))
    : Option.none()
}

const pointText = /^(?:0|[1-9]\d*)\.\d{2}$/
const commaText = /^(?!\d+\.\d{3}$)(?:0|[1-9]\d*|[1-9]\d{0,2}(?:\.\d{3})+)(?:,\d{1,2})?$/

/**
 * Reads an amount as people write it in Brazil. Accepted, after an optional `R$` and with spaces around it:
 *
 * | written | |
 * |---|---|
 * | `25`, `1234` | whole reais |
 * | `25,00`, `25,5`, `1234,56` | a comma and one or two decimals |
 * | `25.00`, `1234.56` | a point and exactly two decimals |
 * | `1.234,56`, `1.234,5` | points between thousands, a comma, one or two decimals |
 * | `1.234.567` | points between thousands, twice or more |
 *
 * Everything else is none: `1.234` (one thousand and something, or one real and something?), `25.5`, `1,234.56`,
 * three or more decimals, misplaced points, leading zeros, signs, and amounts beyond the safe integers.
 *
 * ```ts
 * import { Money } from "effect-pix"
 * import { Option } from "effect"
 *
 * Money.parseBRL("R$ 1.234,56") // => Option.some(123456)
 * Money.parseBRL("1.234") // => Option.none()
 * ```
 */
export const parseBRL = (text: string): Option.Option<Centavos> => {
  if (!Predicate.isString(text)) return Option.none()
  const written = visibleText(text).replace(/^R\$ */, "")
  if (pointText.test(written)) return fromReaisOption(written)
  return commaText.test(written) ? fromReaisOption(written.replaceAll(".", "").replace(",", ".")) : Option.none()
}

/**
 * Writes an amount for people, with an ordinary space: `R$ 1.234,56`, `-R$ 0,50`. Exact: decimals beyond centavos
 * are shown and not rounded away (`R$ 10,005`). `parseBRL` reads back what it writes for `Centavos`.
 */
export const format = (money: Centavos | Reais): string => {
  const [sign, whole, fraction] = decimal.toParts(Predicate.isNumber(money) ? toReais(money) : reais(money))
  return sign + decimal.inReais(whole, fraction)
}

/** The sum of all in centavos, 0 for none. Throws a `SchemaError` beyond the safe integers. */
export const sum: (amounts: Iterable<Centavos>) => Centavos = withSchemaError(
  "Expected centavos whose sum is within the safe integers",
  (amounts) => {
    let total = 0
    for (const amount of amounts) total = centavos(total + centavos(amount))
    return centavos(total)
  }
)

/** The decimal that the shortest text of a number shows, where it is not negative. */
const ratioOption = (n: number): Option.Option<BigDecimal.BigDecimal> =>
  Predicate.isNumber(n)
    ? Option.filter(reaisOption(String(n)), (ratio) => !BigDecimal.isNegative(ratio))
    : Option.none()

/** Non-negative decimals as whole numbers that have the same ratios. */
const toWholes = (ratios: ReadonlyArray<BigDecimal.BigDecimal>): ReadonlyArray<bigint> => {
  const scale = ratios.reduce((most, ratio) => Math.max(most, ratio.scale), 0)
  return ratios.map((ratio) => BigDecimal.scale(ratio, scale).value)
}

/** One share for each weight. */
type Shares<Weights extends ReadonlyArray<number>> = { readonly [I in keyof Weights]: Centavos }

/**
 * Divides an amount by weights, such as percentages or prices, into centavos whose sum is exactly the amount. Each share
 * is rounded down; the centavos that are left go, one each, to the shares that lost most by that, and of equals to the
 * first (the largest remainder). A weight of 0 gets nothing.
 *
 * Throws a `SchemaError` if no weight is above 0, and for a weight that is negative, not finite or over 40 digits.
 *
 * ```ts
 * import { Money } from "effect-pix"
 *
 * Money.split(Money.centavos(1000), [1, 1, 1]) // => [334, 333, 333]
 * Money.split(Money.centavos(2501), [87.5, 12.5]) // => [2188, 313]
 * ```
 */
export const split = <const Weights extends ReadonlyArray<number>>(
  amount: Centavos,
  weights: Weights
): Shares<Weights> =>
  orRefuse(
    splitOption(amount, weights),
    "Expected an amount in centavos, and weights from 0 of which at least one is above 0"
  )

const splitOption = <const Weights extends ReadonlyArray<number>>(
  amount: Centavos,
  weights: Weights
): Option.Option<Shares<Weights>> => {
  const ratios = Array.isArray(weights) ? Option.all(Array.from(weights, ratioOption)) : Option.none()
  if (Option.isNone(ratios) || !isCentavos(amount)) return Option.none()
  const parts = toWholes(ratios.value)
  const total = parts.reduce((sum, part) => sum + part, 0n)
  if (total === 0n) return Option.none()
  const products = parts.map((part) => BigInt(amount) * part)
  const shares = products.map((product) => Number(product / total))
  const byLoss = [...products.keys()].toSorted((a, b) => Number((products[b]! % total) - (products[a]! % total)))
  const left = amount - shares.reduce((sum, share) => sum + share, 0)
  for (const index of byLoss.slice(0, left)) shares[index]! += 1
  // The compiler does not know that `map` keeps the length of a tuple.
  return Option.some(shares.map(centavos) as unknown as Shares<Weights>)
}

/**
 * A percentage of an amount: `percent(amount, 2.5)` is 2.5 % of it. Half a centavo is rounded up, so that it is the first
 * share of `split(amount, [2.5, 97.5])`. The number counts as the decimal that you write. It may be over 100.
 *
 * Throws a `SchemaError` for a percentage that is negative, not finite or over 40 digits, and beyond the safe integers.
 *
 * ```ts
 * import { Money } from "effect-pix"
 *
 * Money.percent(Money.centavos(2990), 2.5) // => 75
 * ```
 */
export const percent = (amount: Centavos, percentage: number): Centavos =>
  orRefuse(
    percentOption(amount, percentage),
    "Expected an amount in centavos, and a percentage from 0 whose result is a safe integer"
  )

const percentOption = (amount: Centavos, percentage: number): Option.Option<Centavos> => {
  const ratio = ratioOption(percentage)
  if (Option.isNone(ratio) || !isCentavos(amount)) return Option.none()
  const [part = 0n, whole = 1n] = toWholes([ratio.value, BigDecimal.fromBigInt(100n)])
  return centavosOption(Number((2n * BigInt(amount) * part + whole) / (2n * whole)))
}
