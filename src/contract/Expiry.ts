/**
 * The expiry of a charge, and when it proves that a code is dead: the one place that says so.
 *
 * - A time counts with the offset that the service wrote. One without an offset, and one that ends in `Z`, were seen to be the
 *   time of Brasília: they prove nothing before three hours have passed. A date alone ends with its day in Brasília.
 * - An expiry before the creation of its charge, or more than 400 days after it, is not believable: it counts as absent.
 */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import { hasOffset, Instant, isDate, parseInstant } from "../internal/utc.ts"
import { notTimestamp } from "../internal/wire.ts"

/**
 * The time until which a charge can be paid. `isExact`: the service wrote its offset, or its day alone, so that the charge is
 * over then. It is not listed by `Object.keys`, and is lost where the time is made anew: then the charge counts as over three
 * hours later.
 */
export interface Expiry extends DateTime.Utc {
  readonly isExact?: boolean
}

const hour = 3_600_000
const day = 24 * hour
const longest = 400 * day
/** A creation that is longer ago is none: programs write the first year, or 1970, for no time. */
const oldest = 10 * 365 * day

/** By how much a time of Brasília is late, if it is read as one in UTC. */
export const brasilia = 3 * hour

/** The first and the last moment of the years 0 to 9999. */
const firstYear = Date.parse("0000-01-01T00:00:00.000Z")
const lastYear = Date.parse("9999-12-31T23:59:59.999Z")

/** Reads the expiry in an answer; `undefined` for a text that is no timestamp, or one that ends in the year 10000. */
export const parseExpiry = (text: string): Expiry | undefined => {
  const time = parseInstant(text)
  if (time === undefined) return undefined
  const isDay = isDate(text)
  // Midnight of the next day in Brasília.
  const end = DateTime.toEpochMillis(time) + (isDay ? day + brasilia : 0)
  // A year outside of 0 to 9999 has a form of its own, in which what is stored could not be read again.
  if (end < firstYear || end > lastYear) return undefined
  return isDay || hasOffset(text) ? new Instant(end, true) : time
}

// A time is written as it was read: with an offset where it is exact.
const written = (time: Expiry): string =>
  time.isExact === true ? DateTime.formatIso(time).replace("Z", "+00:00") : DateTime.formatIso(time)

/** An expiry in an answer, and in what is stored of it. */
export const ExpiryTime = Schema.String.annotate({ format: "date-time" }).pipe(
  Schema.decodeTo(
    Schema.declare((value): value is Expiry => DateTime.isDateTime(value) && DateTime.isUtc(value), {
      expected: "a time in UTC"
    }),
    {
      decode: SchemaGetter.transformEffect((text: string) => {
        const expiry = parseExpiry(text)
        return expiry === undefined ? notTimestamp : Effect.succeed(expiry)
      }),
      encode: SchemaGetter.transform(written)
    }
  )
)

/** Reads an expiry that a caller gives. A text and a time in UTC count as the service's, everything else as exact. */
export const expiryOf = (input: DateTime.DateTime.Input): Option.Option<Expiry> => {
  const own = typeof input === "string" ? parseExpiry(input) : undefined
  if (own !== undefined) return Option.some(own)
  return Option.map(DateTime.make(input), (time) =>
    DateTime.isDateTime(input) && DateTime.isUtc(time) ? time : new Instant(DateTime.toEpochMillis(time), true)
  )
}

/** What is known of a charge: its creation, if a lookup said it, and the time now, in milliseconds since 1970. */
export interface Known {
  readonly createdAt: DateTime.Utc | undefined
  readonly now: number
}

/** When a charge was made, in milliseconds since 1970; `undefined` if nothing credible says so. */
export const creationOf = ({ createdAt, now }: Known): number | undefined => {
  const created = createdAt === undefined ? undefined : DateTime.toEpochMillis(createdAt)
  return created === undefined || created < now - oldest ? undefined : created
}

/** Whether an expiry may be that of this charge. Of one without a creation time, it may have been made in the last 400 days. */
export const isBelievable = (expiry: Expiry, known: Known): boolean => {
  const millis = DateTime.toEpochMillis(expiry)
  const created = creationOf(known)
  return millis >= (created ?? known.now - longest) && millis <= (created ?? known.now) + longest
}

/** From when on the code of a charge is provably dead, in milliseconds since 1970; `Infinity` if nothing proves it. */
export const provedEnd = (expiry: Expiry | undefined, known: Known): number =>
  expiry === undefined || !isBelievable(expiry, known)
    ? Infinity
    : DateTime.toEpochMillis(expiry) + (expiry.isExact === true ? 0 : brasilia)
