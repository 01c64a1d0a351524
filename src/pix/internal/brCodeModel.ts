/**
 * The result of reading a BR Code: its fields, and the problems that were found.
 */
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type { Centavos } from "../Money.ts"

/**
 * The kinds of problems:
 *
 * | code | |
 * |---|---|
 * | `tlv` | the text is not a list of ids, lengths and values: it is cut off, or no BR Code |
 * | `not-pix` | a list of that kind, with no PIX account or no way to pay in it |
 * | `crc` | the checksum is wrong or missing |
 * | `amount` | the amount is not a decimal number of reais with at most two decimals |
 * | `field` | another field is missing, repeated, or has a value that is not allowed |
 */
export const ProblemCode = Schema.Literals(["tlv", "not-pix", "crc", "amount", "field"])
export type ProblemCode = typeof ProblemCode.Type

/** A problem of a code that could be read. It repeats nothing of the code. */
export interface Problem {
  /** The kind of the problem, for a program. */
  readonly code: ProblemCode
  /** The problem, as a predicate: "states an amount that is not ...". */
  readonly reason: string
}

/** A BR Code as it was read. A value that it does not state is `undefined`. */
export interface BrCode {
  /** How the code is paid. `static`: to a key in the code. `dynamic`: to the charge at a URL. */
  readonly kind: "static" | "dynamic"
  /** The name of the receiver (id 59). */
  readonly merchantName: string | undefined
  /** The city of the receiver (id 60). */
  readonly merchantCity: string | undefined
  /** The CEP of the receiver (id 61), as written. */
  readonly postalCode: string | undefined
  /** The merchant category (id 52); `0000` is none. */
  readonly mcc: string | undefined
  /** The numeric currency (id 53); `986` is BRL. */
  readonly currency: string | undefined
  /** The country (id 58). */
  readonly country: string | undefined
  /** In centavos (id 54, where it is written in reais). Also undefined if it is not a valid amount; see `problems`. */
  readonly amount: Centavos | undefined
  /** The identifier of the charge (id 62-05); undefined for `***`, which means none. */
  readonly txid: string | undefined
  /** `11` for a code that may be paid again, `12` for one that may be paid once (id 01). */
  readonly pointOfInitiation: string | undefined
  /** The PIX key (id 26-01), as written. */
  readonly key: Redacted.Redacted | undefined
  /** The URL of a dynamic charge (id 26-25), without `https://`. */
  readonly url: Redacted.Redacted | undefined
  /** Free text for the payer (id 26-02). */
  readonly additionalInfo: Redacted.Redacted | undefined
  /** `stated` is the checksum in the code, undefined if it has none; `computed` is the correct one. */
  readonly crc: { readonly ok: boolean; readonly stated: string | undefined; readonly computed: string }
  /** All problems, the checksum's first. */
  readonly problems: ReadonlyArray<Problem>
  /** All fields in their order, also the unknown ones. The values of templates (26 to 51, 62, 80) are lists. */
  readonly fields: Redacted.Redacted<ReadonlyArray<{ readonly id: string; readonly value: string }>>
  /** The copy-and-paste text, without the space around it. */
  readonly payload: Redacted.Redacted
}
