/**
 * Compares the times of an answer with the `Date` header that it came with. Gateways were seen that write the time of Brasília as if
 * it was UTC: three hours late.
 */
import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import { brasilia } from "../../contract/Expiry.ts"
import { hasOffset, isDate, parseInstant, toUtcText } from "../../internal/utc.ts"

/** How far a new row and the clock may be apart. */
const tolerance = 600_000

const fields = ["createdAt", "updatedAt", "updateDate"] as const

/** The times of a row that are not those of the clock of the service, and the setting that mends them. */
export const wrongTimes = (
  { date, row }: { readonly row: Readonly<Record<string, unknown>>; readonly date: string },
  { zone }: { readonly zone: DateTime.TimeZone | undefined }
): string | undefined => {
  const clock = Option.getOrUndefined(Option.map(DateTime.make(date), DateTime.toEpochMillis))
  // A time with its offset, and a date alone, say what they mean.
  const times = fields.flatMap((field) => {
    const text = String(row[field])
    const at = parseInstant(zone === undefined ? text : toUtcText(text, zone))
    return at === undefined || isDate(text) || hasOffset(text)
      ? []
      : [{ field, text, millis: DateTime.toEpochMillis(at) }]
  })
  const seen = times.flatMap(({ field, millis, text }) => {
    const late = clock === undefined ? 0 : clock - millis
    const isUtc = /z$/i.test(text)
    if (Math.abs(late - brasilia) <= tolerance) {
      return isUtc
        ? [
            `${field} ends in Z and is three hours behind it. If the row is new, the Z cannot be true, and no setting mends it`
          ]
        : [
            `${field} is three hours behind it. If the row is new, set PAYMENTS_ZONE=America/Sao_Paulo (the option zone)`
          ]
    }
    return late < -tolerance
      ? [`${field} is ahead of it${isUtc ? ", so its Z cannot be true" : ": PAYMENTS_ZONE is wrong"}`]
      : []
  })
  return seen.length === 0 ? undefined : seen.join("; ")
}
