/**
 * Reads and writes decimal text, without floats. A huge exponent costs no memory and no time.
 */
import * as BigDecimal from "effect/BigDecimal"
import * as Option from "effect/Option"
import { maxDigits } from "./bounds.ts"

const maxTextLength = 100

const decimalText = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/**
 * Whether the plain text has at most `maxDigits` digits. The digits are counted without writing the text, so
 * `1e999999999` is safe.
 */
export const isBounded = (decimal: BigDecimal.BigDecimal): boolean => {
  const { scale, value } = BigDecimal.normalize(decimal)
  const digits = `${value < 0n ? -value : value}`.length
  return (scale > 0 ? Math.max(digits, scale + 1) : digits - scale) <= maxDigits
}

/** Parses the text of a JSON number. The scale may be any: check `isBounded` before you write the decimal. */
export const fromText = (text: string): Option.Option<BigDecimal.BigDecimal> =>
  text.length <= maxTextLength && decimalText.test(text) ? BigDecimal.fromString(text) : Option.none()

/** Sign, whole part and fraction, in plain digits at any scale. */
export const toParts = (decimal: BigDecimal.BigDecimal): readonly [sign: string, whole: string, fraction: string] => {
  const { scale, value } = BigDecimal.normalize(decimal)
  const digits = `${value < 0n ? -value : value}`
  const plain = scale > 0 ? digits.padStart(scale + 1, "0") : digits.padEnd(digits.length - scale, "0")
  const point = plain.length - Math.max(scale, 0)
  return [value < 0n ? "-" : "", plain.slice(0, point), plain.slice(point)]
}

/** Plain decimal text. `BigDecimal.format` writes exponents from 16 places on. */
export const toText = (decimal: BigDecimal.BigDecimal): string => {
  const [sign, whole, fraction] = toParts(decimal)
  return fraction === "" ? `${sign}${whole}` : `${sign}${whole}.${fraction}`
}

/** Whether the number's shortest text has exactly the value of this decimal text. */
export const isExactNumber = (number: number, text: string): boolean => {
  const shortest = String(number)
  if (shortest === text) return true
  const decimal = fromText(text)
  const rounded = fromText(shortest)
  return Option.isSome(decimal) && Option.isSome(rounded) && BigDecimal.Equivalence(decimal.value, rounded.value)
}

// `Intl.NumberFormat` is not used, since it takes up to 100 ms of a program's start.
const groupThousands = (whole: string): string =>
  whole.length <= 3 ? whole : `${groupThousands(whole.slice(0, -3))}.${whole.slice(-3)}`

/** Writes an amount of reais for people: `R$ 1.234,56`. */
export const inReais = (whole: string, fraction: string): string =>
  `R$ ${groupThousands(whole)},${fraction.padEnd(2, "0")}`

/**
 * Writes a non-negative number of centavos for people. Messages of errors use it in place of decimals, so that a bundle
 * can leave the decimals out.
 */
export const centavosInReais = (centavos: number): string => {
  const digits = String(centavos).padStart(3, "0")
  return inReais(digits.slice(0, -2), digits.slice(-2))
}

/** How a decimal of reais compares with centavos, to the centavo: a service that calculates with floats may write 0.30000000000000004. */
export const compareToCentavo = (reais: BigDecimal.BigDecimal, centavos: number): -1 | 0 | 1 =>
  BigDecimal.Order(BigDecimal.round(reais, { scale: 2, mode: "half-from-zero" }), BigDecimal.make(BigInt(centavos), 2))
