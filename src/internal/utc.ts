/**
 * The parser of timestamps, and the zone in which days are counted. A page of 100 rows holds 200 of them, for which `DateTime.make` takes seven times as long. It also
 * reads the 31st of February as the 3rd of March.
 */
import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"

/** Where the days of a cap, of a limit and of a bank's statement begin, and those that a person names. */
export const saoPaulo = (): DateTime.TimeZone.Named => (made ??= DateTime.zoneMakeNamedUnsafe("America/Sao_Paulo"))

/** Made at its first use: a zone loads Node's tables of zones. */
let made: DateTime.TimeZone.Named | undefined

/** The day of a time in São Paulo, as `2026-11-28`. */
export const dayInSaoPaulo = (at: DateTime.DateTime): string => DateTime.formatIsoDate(DateTime.setZone(at, saoPaulo()))

/** The common form: in seconds or finer, in UTC, at an offset, or without a zone, which is read as UTC. */
const common =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?|24:00:00(?:\.0+)?)(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)?$/

/** Other forms of ISO 8601: a date alone, no seconds, a space for the T, a comma, lower case, a short offset. */
const loose = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(:\d{2}(?:[.,]\d+)?)?(?:Z|([+-]\d{2})(?::?(\d{2}))?)?)?$/i

/** Converts a timestamp to the common form; `undefined` if it is not a timestamp. */
const toCommon = (text: string): string | undefined => {
  if (common.test(text)) return text
  const match = loose.exec(text)
  if (match === null) return undefined
  const [, date, time = "00:00", seconds = ":00", hours = "+00", minutes = "00"] = match
  const written = `${date}T${time}${seconds.replace(",", ".")}${hours}:${minutes}`
  return common.test(written) ? written : undefined
}

const digit = (text: string, at: number) => text.charCodeAt(at) - 48

/** Reads a number of two digits. It makes no text of its own, which halves the time. */
const twoDigits = (text: string, at: number) => digit(text, at) * 10 + digit(text, at + 1)

/** The milliseconds of the fraction of a second. Digits after the third are dropped. */
const fraction = (text: string): number => {
  if (text[19] !== ".") return 0
  let millis = 0
  for (let at = 20, weight = 100; weight >= 1; at++, weight /= 10) {
    const found = digit(text, at)
    if (!(found >= 0 && found <= 9)) break
    millis += found * weight
  }
  return millis
}

/** Minutes east of UTC. */
const offset = (text: string): number => {
  const sign = text[text.length - 6]
  if (sign !== "+" && sign !== "-") return 0
  const minutes = twoDigits(text, text.length - 5) * 60 + twoDigits(text, text.length - 2)
  return sign === "+" ? minutes : -minutes
}

/** Days since 1970-01-01, of a year that begins in March: its leap day is its last. Month 13 is the next January. */
const daysTo = (year: number, month: number, day: number): number => {
  const y = month > 2 ? year : year - 1
  const m = month > 2 ? month - 3 : month + 9
  const leaps = Math.floor(y / 4) - Math.floor(y / 100) + Math.floor(y / 400)
  return y * 365 + leaps + Math.floor((153 * m + 2) / 5) + day - 719_469
}

/** `DateTime.fromDateUnsafe` keeps the time of a date and not the date, so one serves all: a quarter less than a number costs. */
const date = DateTime.toDateUtc(DateTime.makeUnsafe(0))

/** Reads an ISO 8601 timestamp; `undefined` for any other text, and for a day that does not exist. */
export const parseInstant = (input: string): DateTime.Utc | undefined => {
  const text = toCommon(input)
  if (text === undefined) return undefined
  const year = twoDigits(text, 0) * 100 + twoDigits(text, 2)
  const month = twoDigits(text, 5)
  const day = twoDigits(text, 8)
  const days = daysTo(year, month, day)
  // Every month has 28 days.
  if (day > 28 && days >= daysTo(year, month + 1, 1)) return undefined
  const minutes = (days * 24 + twoDigits(text, 11)) * 60 + twoDigits(text, 14) - offset(text)
  date.setTime((minutes * 60 + twoDigits(text, 17)) * 1000 + fraction(text))
  return DateTime.fromDateUnsafe(date)
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
