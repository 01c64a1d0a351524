/**
 * End-to-end identifiers: the 32 characters by which the PIX system knows a settled payment.
 *
 * Keep an `endToEndId` that somebody reports as a plain, opaque string, and compare it with its case: the published
 * examples themselves break the format. This parser is for those who want to know what a well-formed one says.
 *
 * Do not match payments by its time: for a scheduled payment it is the time of the planned submission, and the payment
 * may settle up to twelve hours away from it.
 */
import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

/** What a well-formed identifier says. */
export interface EndToEndId {
  /** `E` is a payment, `D` the return of one. */
  readonly kind: "payment" | "return"
  /** The ISPB of the participant that made the identifier: eight digits or capital letters. */
  readonly ispb: string
  /** The minute in which it was made; for a scheduled payment, the one in which it was to be sent. */
  readonly at: DateTime.Utc
  /** Makes it unique within the minute: eleven letters or digits. Upper and lower case are different. */
  readonly suffix: string
}

/** The text is not a well-formed identifier. Does not carry it. */
export class InvalidEndToEndId extends Schema.TaggedError<InvalidEndToEndId>("effect-pix/InvalidEndToEndId")(
  "InvalidEndToEndId",
  {
    /** What is wrong, as a predicate: "names a minute that does not exist". */
    reason: Schema.String
  }
) {
  override get message(): string {
    return `The end-to-end identifier ${this.reason}`
  }
}

const form = /^([ED])([\dA-Z]{8})(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)([\dA-Za-z]{11})$/

/**
 * Reads an identifier strictly: `E` or `D`, ISPB, minute in UTC (`yyyyMMddHHmm`), eleven ASCII letters or digits. An
 * ISPB may hold capital letters, as Bacen's pix-api has it since 2.9.0.
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
    // The 31st of February is read as the 3rd of March.
    Option.filter((at) => DateTime.formatIso(at) === written),
    Result.fromOption(() => new InvalidEndToEndId({ reason: "names a minute that does not exist" })),
    Result.map((at) => ({ kind: letter === "E" ? "payment" : "return", ispb, at, suffix }))
  )
}
