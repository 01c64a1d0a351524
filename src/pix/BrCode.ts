/**
 * BR Codes: the copy-and-paste text of a PIX charge, which is also what its QR code holds (Bacen, Manual do BR Code).
 *
 * `parse` reads any code, also a wrong one, and lists what is wrong in `problems`: many test gateways, for example, write
 * a placeholder in place of the checksum. `verify` fails with the first problem. `generate` makes correct codes only.
 *
 * Gotchas:
 * - The code of a live charge can be paid by everybody who reads it, and holds a PIX key. So `payload`, `key`, `url`,
 *   `recurrenceUrl`, `additionalInfo` and `fields` are `Redacted`: logs, JSON and `inspect` do not show them. The
 *   receiver's name and city are plain. Errors and problems repeat nothing of the code.
 * - A dynamic code holds a URL, where the payer's bank reads the charge. The amount at that URL overrides the amount in the
 *   code, which often has none.
 * - A correct checksum proves that the text was not damaged. It does not prove that the charge exists, or who made it.
 */
declare module "./BrCode.ts" {}

import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { legible } from "../internal/legible.ts"
import { withSchemaError } from "../internal/refuse.ts"
import { type BrCode, ProblemCode } from "./internal/brCodeModel.ts"
import { gui, location, noTxid, readBrCode } from "./internal/brCodeReader.ts"
import { crc16 } from "./internal/crc16.ts"
import * as tlv from "./internal/tlv.ts"
import type * as Money from "./Money.ts"
import { isPixKey, make, type PixKey, PixKeyType, value } from "./PixKey.ts"

export { type BrCode, type Problem, ProblemCode } from "./internal/brCodeModel.ts"

/** The text is not a BR Code, a code cannot be made, or `verify` found a problem. The error holds no part of the text. */
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
 * The CRC-16/CCITT-FALSE of a text, as four capital hexadecimal digits. The checksum of a BR Code covers its text up to
 * and including `6304`.
 *
 * ```ts
 * import { BrCode } from "effect-pix"
 *
 * BrCode.crc("123456789") // => "29B1"
 * ```
 */
export const crc: (text: string) => string = withSchemaError("Expected a text", crc16)

const invalid = (code: ProblemCode, reason: string) => Result.fail(new InvalidBrCode({ code, reason }))

/**
 * Reads a copy-and-paste text leniently: it accepts unknown fields, accounts of other systems, names that are too long,
 * and a `txid` of any characters. The lengths in a code may count UTF-16 units, code points or UTF-8 bytes: the reader
 * takes the count that fits the checksum. Space around the text is ignored.
 *
 * It fails with `tlv` or `not-pix` only if no way to pay can be read. Every other error is listed in `problems`: call
 * {@link verify} before you show or pay a code.
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
 * Returns the code if it has no `problems`, and fails with the first of them otherwise.
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
 * | URL (25 of the account, and of the recurrence) | a plain host and path: no scheme, account, port, address of digits, punycode, escape, space, backslash, `..` or character outside ASCII |
 *
 * Not checked: whether the amount is the one that you asked for ({@link checkAmount}), whether the key is well-formed,
 * how long the names are, and whether the charge exists.
 *
 * ```ts
 * import { BrCode } from "effect-pix"
 * import { Result } from "effect"
 *
 * const cut = Result.flatMap(BrCode.parse("000201"), BrCode.verify)
 * Result.mapError(cut, ({ message }) => message) // => Result.fail("The BR Code has no PIX account")
 * ```
 */
export const verify = (code: BrCode): Result.Result<BrCode, InvalidBrCode> =>
  Result.flatMap(firstProblem(code), (error) => (error === undefined ? Result.succeed(code) : Result.fail(error)))

const firstProblem = (code: BrCode) =>
  Result.try({
    try: () => {
      const [problem] = code.problems
      return problem === undefined ? undefined : new InvalidBrCode(problem)
    },
    catch: () => new InvalidBrCode({ code: "tlv", reason: "was not made by `parse`" })
  })

/**
 * Compares the amount in a code with the amount that you asked for. With an amount of zero the payer chooses, so zero is
 * `not stated`. An amount that cannot be read is `different`. For a dynamic code `not stated` is normal.
 *
 * ```ts
 * import { BrCode, Money } from "effect-pix"
 * import { Result } from "effect"
 *
 * const code = Result.flatMap(
 *   BrCode.generate({
 *     key: "123e4567-e12b-12d1-a456-426655440000",
 *     merchantName: "Padaria São João",
 *     merchantCity: "Brasília",
 *     amount: Money.centavos(2500)
 *   }),
 *   BrCode.parse
 * )
 * Result.map(code, (code) => BrCode.checkAmount(code, Money.centavos(2500))) // => Result.succeed("same")
 * Result.map(code, (code) => BrCode.checkAmount(code, Money.centavos(250))) // => Result.succeed("different")
 * ```
 */
export const checkAmount: (code: BrCode, asked: Money.Centavos) => "same" | "different" | "not stated" =
  withSchemaError("Expected a code that `parse` made", (code, asked) => {
    if (code.problems.some(({ code }) => code === "amount")) return "different"
    if (code.amount === undefined || code.amount === 0) return "not stated"
    return code.amount === asked ? "same" : "different"
  })

/** The input of {@link generate}. */
export type GenerateOptions = {
  /** The receiver's name. Accents are dropped; at most 25 characters. */
  readonly merchantName: string
  /** The receiver's city. Accents are dropped; at most 15 characters. */
  readonly merchantCity: string
  /** In centavos, from 1 to 999999999999 (13 characters of reais). Default: the payer or the URL decides. */
  readonly amount?: Money.Centavos | undefined
} & (
  | {
      /** The PIX key of a static code: a `PixKey`, or the text of one in the directory's form. */
      readonly key: PixKey | string
      readonly url?: undefined
      /** The identifier of the charge: 1 to 25 ASCII letters and digits. Default: none, written `***`. */
      readonly txid?: string | undefined
      /** Free text for the payer. Accents are dropped; with the key at most 73 characters. Default: none. */
      readonly additionalInfo?: string | undefined
    }
  | {
      /** The URL of a dynamic charge: host and path without `https://`, at most 77 characters. */
      readonly url: string
      readonly key?: undefined
      readonly txid?: undefined
      readonly additionalInfo?: undefined
    }
)

const toAscii = (text: string) => text.normalize("NFKD").replaceAll(/\p{M}/gu, "").replaceAll(/\s+/g, " ").trim()

const asciiField = (name: string, text: string, max: number): Result.Result<string, InvalidBrCode> => {
  const ascii = Predicate.isString(text) ? toAscii(text) : ""
  return /^[\x20-\x7e]+$/.test(ascii) && ascii.length <= max
    ? Result.succeed(ascii)
    : invalid("field", `needs ${name} in ASCII (accents are dropped), of 1 to ${max} characters`)
}

const patternField = (name: string, text: string, pattern: RegExp): Result.Result<string, InvalidBrCode> =>
  Predicate.isString(text) && pattern.test(text) ? Result.succeed(text) : invalid("field", `needs ${name}`)

const plainTxid = /^[A-Za-z0-9]{1,25}$/

/** The directory's forms of the five kinds do not overlap, so the kind of a key need not be given. */
const keyOf = (key: PixKey | string): Result.Result<string, InvalidBrCode> => {
  if (isPixKey(key)) return Result.succeed(value(key))
  const isKey = PixKeyType.literals.some((type) =>
    Result.match(make(type, key), { onSuccess: (made) => value(made) === key, onFailure: () => false })
  )
  return isKey
    ? Result.succeed(key)
    : invalid("field", "needs a PIX key: a PixKey, or the text of one in the directory's form")
}

const accountOf = (options: GenerateOptions): Result.Result<string, InvalidBrCode> =>
  Result.gen(function* () {
    const { additionalInfo, key, url } = options
    if (url !== undefined) {
      // The type forbids a key together with a URL. A caller without types can still give both.
      if (key !== undefined) return yield* invalid("field", "needs a key or a URL, not both")
      if (additionalInfo !== undefined) return yield* invalid("field", "has no additional information next to a URL")
      return tlv.write(
        "25",
        yield* patternField("a URL of a plain host and path, of at most 77 characters", url, location)
      )
    }
    const keyField = tlv.write("01", yield* keyOf(key))
    if (additionalInfo === undefined) return keyField
    return (
      keyField +
      tlv.write("02", yield* asciiField("additional information", additionalInfo, Math.max(77 - keyField.length, 0)))
    )
  })

const amountOf = (amount: Money.Centavos): Result.Result<string, InvalidBrCode> => {
  const centavos = amount % 100
  const written = `${(amount - centavos) / 100}.${String(centavos).padStart(2, "0")}`
  return Number.isSafeInteger(amount) && amount > 0 && written.length <= 13
    ? Result.succeed(tlv.write("54", written))
    : invalid("amount", "needs an amount from 1 to 999999999999 centavos")
}

/**
 * Makes the copy-and-paste text of a charge: strictly by the manual, and with its checksum. A value that does not fit is
 * never shortened: it fails with `field` or `amount`.
 *
 * ```ts
 * import { BrCode } from "effect-pix"
 * import { Result } from "effect"
 *
 * const payload = BrCode.generate({
 *   url: "pix.example.com/8b3da2f39a4140d1a91abd93113bd441",
 *   merchantName: "Fulano de Tal",
 *   merchantCity: "BRASÍLIA"
 * })
 * payload // => Result.succeed("00020101021226700014br.gov.bcb.pix2548pix.example.com/8b3da2f39a4140d1a91abd93113bd4415204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***630464E4")
 *
 * const long = BrCode.generate({ key: "fulano@example.com", merchantName: "F".repeat(26), merchantCity: "BRASILIA" })
 * Result.mapError(long, ({ code }) => code) // => Result.fail("field")
 * ```
 */
export const generate = (options: GenerateOptions): Result.Result<string, InvalidBrCode> =>
  Result.flatMap(
    // A caller without types may give anything, so every step may throw.
    Result.try({
      try: () => writePayload(options),
      catch: () => new InvalidBrCode({ code: "field", reason: "needs options of their types" })
    }),
    (made) => made
  )

const writePayload = (options: GenerateOptions): Result.Result<string, InvalidBrCode> =>
  Result.gen(function* () {
    const { amount, txid, url } = options
    if (url !== undefined && txid !== undefined) return yield* invalid("field", "has no txid next to a URL")
    const account = yield* accountOf(options)
    const stated = amount === undefined ? "" : yield* amountOf(amount)
    const name = yield* asciiField("a merchant name", options.merchantName, 25)
    const city = yield* asciiField("a merchant city", options.merchantCity, 15)
    const id =
      txid === undefined ? noTxid : yield* patternField("a txid of 1 to 25 letters and digits", txid, plainTxid)
    const text = [
      tlv.write("00", "01"),
      url === undefined ? "" : tlv.write("01", "12"),
      tlv.write("26", tlv.write("00", gui) + account),
      tlv.write("52", "0000"),
      tlv.write("53", "986"),
      stated,
      tlv.write("58", "BR"),
      tlv.write("59", name),
      tlv.write("60", city),
      tlv.write("62", tlv.write("05", id)),
      "6304"
    ].join("")
    return text + crc16(text)
  })
