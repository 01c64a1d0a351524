/**
 * Instants, made cheaply: a page of 100 rows holds 200 of them.
 */
import * as DateTime from "effect/DateTime"

interface Instant {
  epochMilliseconds: number
}

/** `DateTime.makeUnsafe` defines a hidden cache on each value, which costs more than all else about it. */
const Utc = function (this: Instant, epochMilliseconds: number) {
  this.epochMilliseconds = epochMilliseconds
}
Utc.prototype = Object.getPrototypeOf(DateTime.makeUnsafe(0))

// A function with the prototype of a Utc constructs one: the cache is set where it is first needed.
const Constructor = Utc as unknown as new (epochMilliseconds: number) => DateTime.Utc

/** The instant of these milliseconds, which are a valid time. */
export const utc = (epochMilliseconds: number): DateTime.Utc => new Constructor(epochMilliseconds)

const zero = 48

/** The number of two digits, or `NaN`. */
const two = (text: string, at: number): number => {
  const tens = text.charCodeAt(at) - zero
  const ones = text.charCodeAt(at + 1) - zero
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : Number.NaN
}

/**
 * The milliseconds of `YYYY-MM-DDTHH:MM:SS[.mmm]Z`, which is what services write. `NaN` for any other text, and for days
 * that not every month has: these are for a slower reader to judge.
 */
export const plainMillis = (text: string): number => {
  const isWhole = text.length === 20
  if (!isWhole && text.length !== 24) return Number.NaN
  if (
    text[4] !== "-" ||
    text[7] !== "-" ||
    text[10] !== "T" ||
    text[13] !== ":" ||
    text[16] !== ":" ||
    text[19] !== (isWhole ? "Z" : ".") ||
    text[text.length - 1] !== "Z"
  ) {
    return Number.NaN
  }
  const year = two(text, 0) * 100 + two(text, 2)
  const month = two(text, 5)
  const day = two(text, 8)
  const hour = two(text, 11)
  const minute = two(text, 14)
  const second = two(text, 17)
  const tens = isWhole ? 0 : two(text, 20)
  const ones = isWhole ? 0 : text.charCodeAt(22) - zero
  const fits =
    year >= 1000 && month >= 1 && month <= 12 && day >= 1 && day <= 28 && hour <= 23 && minute <= 59 && second <= 59
  return fits && ones >= 0 && ones <= 9
    ? Date.UTC(year, month - 1, day, hour, minute, second, tens * 10 + ones)
    : Number.NaN
}
