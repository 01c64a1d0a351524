/**
 * What a BR Code is, once it was read.
 */
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type { Centavos } from "../Money.ts"

/**
 * What is wrong, by its kind:
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
/** See the schema of the same name. */
export type ProblemCode = typeof ProblemCode.Type

/** A finding about a code that could be read. It repeats nothing of the code. */
export interface Problem {
  readonly code: ProblemCode
  /** What is wrong, as a predicate: "states an amount that is not ...". */
  readonly reason: string
}

/** A BR Code as it was read. What it does not state is `undefined`. */
export interface BrCode {
  /**
   * How it is paid: to a key in the code itself (`static`), to a charge kept at a URL (`dynamic`), or with a consent to
   * recurring payments (`composite`, PIX Automático), next to which there may be a key, a URL, or neither.
   */
  readonly kind: "static" | "dynamic" | "composite"
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
  /** Centavos (id 54, where it is written in reais). Undefined also where it is written wrongly; see `problems`. */
  readonly amount: Centavos | undefined
  /** The identifier of the charge (id 62-05); undefined for `***`, which stands for none. */
  readonly txid: string | undefined
  /** `11` for a code that may be paid again, `12` for one that may be paid once (id 01). */
  readonly pointOfInitiation: string | undefined
  /** The PIX key (id 26-01), as written. */
  readonly key: Redacted.Redacted | undefined
  /** Where a dynamic charge is kept (id 26-25), without `https://`. */
  readonly url: Redacted.Redacted | undefined
  /** Free text for the payer (id 26-02). */
  readonly additionalInfo: Redacted.Redacted | undefined
  /** The ISPB of who pays out cash, in a code for PIX Saque (id 26-03). */
  readonly fss: string | undefined
  /** Where the terms of recurring payments are kept (id 80-25), without `https://`. */
  readonly recurrenceUrl: Redacted.Redacted | undefined
  /** The checksum in the code, undefined where there is none, and what it should be. */
  readonly crc: { readonly ok: boolean; readonly stated: string | undefined; readonly computed: string }
  /** All that is wrong with it, the checksum first. */
  readonly problems: ReadonlyArray<Problem>
  /** All fields in their order, also those that are not read here. The values of templates (26 to 51, 62, 80) are lists. */
  readonly fields: Redacted.Redacted<ReadonlyArray<{ readonly id: string; readonly value: string }>>
  /** The copy-and-paste text, without the space around it. */
  readonly payload: Redacted.Redacted
}
