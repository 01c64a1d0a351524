/**
 * BR Codes: the copy-and-paste text of a PIX charge, which is also what its QR code holds (Bacen, Manual do BR Code).
 *
 * `parse` reads any code, also a wrong one, and lists what is wrong in `problems`: many test gateways, for example, write
 * a placeholder in place of the checksum. A code without problems is sound.
 *
 * Gotchas:
 * - The code of a live charge can be paid by everybody who reads it, and holds a PIX key. So `payload`, `key`, `url`,
 *   `additionalInfo` and `fields` are `Redacted`: logs, JSON and `inspect` do not show them. The
 *   receiver's name and city are plain. Errors and problems repeat nothing of the code.
 * - A dynamic code holds a URL, where the payer's bank reads the charge. The amount at that URL overrides the amount in the
 *   code, which often has none.
 * - A correct checksum proves that the text was not damaged. It does not prove that the charge exists, or who made it.
 */
declare module "./BrCode.ts" {}

import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { legible } from "../internal/legible.ts"
import { withSchemaError } from "../internal/refuse.ts"
import { type BrCode, ProblemCode } from "./internal/brCodeModel.ts"
import { readBrCode } from "./internal/brCodeReader.ts"
import type * as Money from "./Money.ts"

export type { BrCode, Problem, ProblemCode } from "./internal/brCodeModel.ts"

/** The text is not a BR Code. The error holds no part of the text. */
export class InvalidBrCode extends legible(
  Schema.TaggedError<InvalidBrCode>("effect-pix/InvalidBrCode")("InvalidBrCode", {
    /** The kind of the problem, for a program. */
    code: ProblemCode,
    /** The problem, as a predicate: "is cut off or not a BR Code". */
    reason: Schema.String
  })
) {
  override get message(): string {
    return `The BR Code ${this.reason}`
  }
}

/**
 * Reads a copy-and-paste text leniently: it accepts unknown fields, accounts of other systems, names that are too long,
 * and a `txid` of any characters. The lengths in a code may count UTF-16 units or UTF-8 bytes: the reader takes
 * the count that fits the checksum. Space around the text is ignored.
 *
 * It fails with `tlv` or `not-pix` only if no way to pay can be read. Every other error is listed in `problems`: look at them before
 * you show or pay a code.
 *
 * These parts are checked:
 *
 * | part | what must hold |
 * |---|---|
 * | checksum (63) | present, at the end, and correct |
 * | amount (54) | absent, or a number of reais with at most two decimals |
 * | format (00), point of initiation (01) | `01`; absent, `11` or `12` |
 * | category (52), currency (53), country (58) | present; `986`; `BR` |
 * | receiver (59), city (60) | present |
 * | additional data (62) | absent, or readable |
 * | any field, also inside a template | not repeated |
 * | PIX account (26 to 51) | one, with a key or a URL, not both |
 * | key (01 of the account) | absent, or in the form of the PIX directory: a CPF or CNPJ with its check digits and no punctuation, an e-mail address, a phone with `+` and its country, a UUID |
 * | URL (25 of the account) | a plain host and path: no scheme, account, port, address of digits, punycode, escape, space, backslash, `..` or character outside ASCII |
 *
 * Not checked: whether the amount is the one that you asked for ({@link checkAmount}), whether the key is
 * registered, how long the names are, and whether the charge exists.
 *
 * ```ts
 * import { BrCode } from "effect-pix"
 * import { Result } from "effect"
 *
 * const payload =
 *   "00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-426655440000" +
 *   "5204000053039865406123.455802BR5913Fulano de Tal6008BRASILIA62070503***6304E2CA"
 *
 * const code = Result.getOrThrow(BrCode.parse(payload))
 * code.kind // => "static"
 * code.amount // => 12345
 * code.crc.ok // => false
 * code.problems // => [{ code: "crc", reason: "has a wrong checksum" }]
 * String(code.key) // => "<redacted:key>"
 * ```
 */
export const parse = (payload: string): Result.Result<BrCode, InvalidBrCode> =>
  Result.mapError(readBrCode(payload), (problem) => new InvalidBrCode(problem))

/**
 * Compares the amount in a code with the amount that you asked for. With an amount of zero the payer chooses, so zero is
 * `not stated`. An amount that cannot be read is `different`. For a dynamic code `not stated` is normal.
 *
 * ```ts
 * import { BrCode, Money } from "effect-pix"
 * import { Result } from "effect"
 *
 * const payload =
 *   "00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-426655440000" +
 *   "520400005303986540525.005802BR5913Fulano de Tal6008BRASILIA62070503***63048A69"
 *
 * const code = Result.getOrThrow(BrCode.parse(payload))
 * BrCode.checkAmount(code, Money.centavos(2500)) // => "same"
 * BrCode.checkAmount(code, Money.centavos(250)) // => "different"
 * ```
 */
export const checkAmount: (code: BrCode, asked: Money.Centavos) => "same" | "different" | "not stated" =
  withSchemaError("Expected a code that `parse` made", (code, asked) => {
    if (code.problems.some(({ code }) => code === "amount")) return "different"
    if (code.amount === undefined || code.amount === 0) return "not stated"
    return code.amount === asked ? "same" : "different"
  })
