/**
 * End-to-end identifiers: the 32 characters that name a settled payment in the PIX system. `parse` reads the parts of a
 * well-formed one.
 *
 * Gotchas:
 * - Store an `endToEndId` that somebody reports as a plain string, and compare it case-sensitively: even published
 *   examples break the format.
 * - Do not match payments by the time in it: for a scheduled payment that is the planned time, and the payment may settle
 *   up to twelve hours before or after it.
 */
declare module "./EndToEndId.ts" {}

import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { legible } from "../internal/legible.ts"

/** The parts of a well-formed identifier. */
export interface EndToEndId {
  /** `E` is a payment, `D` the return of one. */
  readonly kind: "payment" | "return"
  /** The ISPB of the participant that made the identifier: eight digits or capital letters. */
  readonly ispb: string
  /** The minute in which it was made; for a scheduled payment, the minute for which it was planned. */
  readonly at: DateTime.Utc
  /** Makes it unique within the minute: eleven letters or digits. Upper and lower case are different. */
  readonly suffix: string
}

/** The text is not a well-formed identifier. The error does not hold the text. */
export class InvalidEndToEndId extends legible(
  Schema.TaggedError<InvalidEndToEndId>("effect-pix/InvalidEndToEndId")("InvalidEndToEndId", {
    /** The problem, as a predicate: "names a minute that does not exist". */
    reason: Schema.String
  })
) {
  override get message(): string {
    return `The end-to-end identifier ${this.reason}`
  }
}

const form = /^([ED])([\dA-Z]{8})(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)([\dA-Za-z]{11})$/

/**
 * Reads an identifier strictly: `E` or `D`, ISPB, minute in UTC (`yyyyMMddHHmm`), eleven ASCII letters or digits. An
 * ISPB may hold capital letters, as in Bacen's pix-api since 2.9.0.
 *
 * ```ts
 * import { EndToEndId } from "effect-pix"
 * import { DateTime, Result } from "effect"
 *
 * const id = Result.getOrThrow(EndToEndId.parse("E12345678202009091221abcdef12345"))
 * id.ispb // => "12345678"
 * DateTime.formatIso(id.at) // => "2020-09-09T12:21:00.000Z"
 * ```
 */
export const parse = (text: string): Result.Result<EndToEndId, InvalidEndToEndId> => {
  const [, letter, ispb = "", year, month, day, hour, minute, suffix = ""] =
    (Predicate.isString(text) && form.exec(text)) || []
  if (letter === undefined) {
    return Result.fail(
      new InvalidEndToEndId({ reason: "is not E or D, an ISPB, twelve digits of time and eleven letters or digits" })
    )
  }
  const written = `${year}-${month}-${day}T${hour}:${minute}:00.000Z`
  return DateTime.make(written).pipe(
    Option.map(DateTime.toUtc),
    // `DateTime.make` reads the 31st of February as the 3rd of March.
    Option.filter((at) => DateTime.formatIso(at) === written),
    Result.fromOption(() => new InvalidEndToEndId({ reason: "names a minute that does not exist" })),
    Result.map((at) => ({ kind: letter === "E" ? "payment" : "return", ispb, at, suffix }))
  )
}
