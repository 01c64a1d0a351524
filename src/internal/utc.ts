/**
 * The parser of timestamps, and the zone in which days are counted. A page of 100 rows holds 200 timestamps, for which `DateTime.make`
 * takes seven times as long, and reads the 31st of February as the 3rd of March.
 */
import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"

/** Where the days of a cap, of a limit and of a bank's statement begin, and those that a person names. */
export const saoPaulo = (): DateTime.TimeZone.Named => (made ??= DateTime.zoneMakeNamedUnsafe("America/Sao_Paulo"))

/** Made at its first use: a zone loads Node's tables of zones. */
let made: DateTime.TimeZone.Named | undefined

/** The day of a time in São Paulo, as `2026-11-28`. */
export const dayInSaoPaulo = (at: DateTime.DateTime): string => DateTime.formatIsoDate(DateTime.setZone(at, saoPaulo()))

/**
 * Makes a time in UTC, as `DateTime.makeUnsafe` does: it compares, prints and counts as one of Effect's. Effect defines a hidden
 * property of each, which takes three quarters of the time in which a timestamp is read. Here it is a private field. `isExact` is
 * that of an `Expiry`.
 */
export const Instant = (() => {
  class Utc implements Pick<DateTime.Utc, "epochMilliseconds" | "partsUtc"> {
    readonly epochMilliseconds: number
    readonly #isExact: boolean | undefined
    #parts: DateTime.DateTime.PartsWithWeekday | undefined
    constructor(epochMilliseconds: number, isExact: boolean | undefined) {
      this.epochMilliseconds = epochMilliseconds
      this.#isExact = isExact
    }
    get isExact() {
      return this.#isExact
    }
    get partsUtc() {
      return this.#parts
    }
    set partsUtc(parts) {
      this.#parts = parts
    }
  }
  Object.setPrototypeOf(Utc.prototype, Object.getPrototypeOf(DateTime.makeUnsafe(0)))
  // Strict comparisons ask whether two objects have one constructor, and Effect's have none.
  Reflect.deleteProperty(Utc.prototype, "constructor")
  // The other members of a `DateTime.Utc` are those of Effect's prototype.
  return Utc as unknown as new (epochMilliseconds: number, isExact?: boolean) => DateTime.Utc & Exactness
})()

interface Exactness {
  readonly isExact?: boolean
}

/** Other forms of ISO 8601: a date alone, no seconds, a space for the T, a comma, lower case, a short offset. */
const loose = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(:\d{2}(?:[.,]\d+)?)?(?:Z|([+-]\d{2})(?::?(\d{2}))?)?)?$/i

/** Writes a timestamp in the common form; an empty text if it is none. */
const toCommon = (text: string): string => {
  const match = loose.exec(text)
  if (match === null) return ""
  const [, date, time = "00:00", seconds = ":00", hours = "+00", minutes = "00"] = match
  return `${date}T${time}${seconds.replace(",", ".")}${hours}:${minutes}`
}

/** What is no digit counts as this: a number of which it is a part is below zero. */
const noDigit = -100_000

const digit = (text: string, at: number): number => {
  const value = text.charCodeAt(at) - 48
  return value >= 0 && value <= 9 ? value : noDigit
}

/** Reads a number of two digits. It makes no text of its own, and calls nothing: each halves the time. */
const twoDigits = (text: string, at: number): number => {
  const tens = text.charCodeAt(at) - 48
  const units = text.charCodeAt(at + 1) - 48
  return tens >= 0 && tens <= 9 && units >= 0 && units <= 9 ? tens * 10 + units : noDigit
}

const isWithin = (value: number, least: number, most: number): boolean => value >= least && value <= most

/** Where the fraction of a second ends. */
const endOfFraction = (text: string): number => {
  let end = 19
  if (end === text.length || text[end] !== ".") return end
  do end++
  while (end < text.length && digit(text, end) >= 0)
  return end
}

/** The milliseconds of the fraction. Digits after the third are dropped. */
const fraction = (text: string, end: number): number => {
  let millis = 0
  if (end > 20) millis += digit(text, 20) * 100
  if (end > 21) millis += digit(text, 21) * 10
  if (end > 22) millis += digit(text, 22)
  return millis
}

/** Minutes east of UTC, by what follows the seconds; `undefined` for what is no zone. */
const offset = (text: string, at: number): number | undefined => {
  if (at === text.length) return 0
  const sign = text[at]
  if (sign === "Z") return at + 1 === text.length ? 0 : undefined
  if ((sign !== "+" && sign !== "-") || at + 6 !== text.length || text[at + 3] !== ":") return undefined
  const hours = twoDigits(text, at + 1)
  const minutes = twoDigits(text, at + 4)
  if (!isWithin(hours, 0, 23) || !isWithin(minutes, 0, 59)) return undefined
  return sign === "+" ? hours * 60 + minutes : -hours * 60 - minutes
}

/** Days since 1970-01-01, of a year that begins in March: its leap day is its last. Month 13 is the next January. */
const daysTo = (year: number, month: number, day: number): number => {
  const y = month > 2 ? year : year - 1
  const m = month > 2 ? month - 3 : month + 9
  const leaps = Math.floor(y / 4) - Math.floor(y / 100) + Math.floor(y / 400)
  return y * 365 + leaps + Math.floor((153 * m + 2) / 5) + day - 719_469
}

const hasSeparators = (text: string): boolean =>
  text[4] === "-" && text[7] === "-" && text[10] === "T" && text[13] === ":" && text[16] === ":"

/**
 * Reads the common form to milliseconds since 1970: in seconds or finer, in UTC, at an offset, or without a zone, which is read as
 * UTC.
 */
const readCommon = (text: string): number | undefined => {
  if (text.length < 19 || !hasSeparators(text)) return undefined
  const year = twoDigits(text, 0) * 100 + twoDigits(text, 2)
  const month = twoDigits(text, 5)
  const day = twoDigits(text, 8)
  const hours = twoDigits(text, 11)
  const minutes = twoDigits(text, 14)
  const seconds = twoDigits(text, 17)
  if (year < 0 || !isWithin(month, 1, 12) || !isWithin(day, 1, 31)) return undefined
  if (!isWithin(hours, 0, 24) || !isWithin(minutes, 0, 59) || !isWithin(seconds, 0, 59)) return undefined
  const days = daysTo(year, month, day)
  // Every month has 28 days.
  if (day > 28 && days >= daysTo(year, month + 1, 1)) return undefined
  const end = endOfFraction(text)
  const east = offset(text, end)
  // A point without digits is no fraction.
  if (end === 20 || east === undefined) return undefined
  const sinceHour = (minutes * 60 + seconds) * 1000 + fraction(text, end)
  // A day may end at 24:00:00 alone.
  if (hours === 24 && sinceHour > 0) return undefined
  return ((days * 24 + hours) * 60 - east) * 60_000 + sinceHour
}

/** Reads an ISO 8601 timestamp; `undefined` for any other text, and for a day that does not exist. */
export const parseInstant = (text: string): DateTime.Utc | undefined => {
  const millis = readCommon(text) ?? readCommon(toCommon(text))
  return millis === undefined ? undefined : new Instant(millis)
}

/** Whether a timestamp is a date alone. */
export const isDate = (text: string): boolean => /^\d{4}-\d{2}-\d{2}$/.test(text)

/** Whether a timestamp says its offset from UTC. A `Z` was seen on times that are not UTC, and `-00:00` means that it is not known. */
export const hasOffset = (text: string): boolean =>
  /:\d{2}.*[+-]\d{2}(?::?\d{2})?$/.test(text) && !/-00(?::?00)?$/.test(text)

const local = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?$/i

/** Writes a time without an offset, which is one of this zone, in UTC. Any other text stays as it is. */
export const toUtcText = (text: string, timeZone: DateTime.TimeZone): string => {
  const time = local.test(text) ? parseInstant(text) : undefined
  if (time === undefined) return text
  return Option.match(DateTime.makeZoned(time, { timeZone, adjustForTimeZone: true }), {
    onNone: () => text,
    onSome: DateTime.formatIso
  })
}
