/**
 * Idempotency keys as values: their schema, and the key of a business reference.
 */

import { sha256 } from "@noble/hashes/sha2.js"
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js"
import type * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { maxReferenceLength } from "../internal/bounds.ts"
import { lanes } from "../internal/fingerprint.ts"
import { refuse } from "../internal/refuse.ts"

/**
 * A valid value of the `Idempotency-Key` header: 1 to 255 visible ASCII characters. The service documents no bound; 255 is
 * the largest that is common among gateways.
 */
export const IdempotencyKey = Schema.String.check(
  Schema.isPattern(/^[\x21-\x7e]{1,255}$/, { expected: "1 to 255 visible ASCII characters" })
)
export type IdempotencyKey = typeof IdempotencyKey.Type

/**
 * Characters that nobody can see (controls, format characters, lone surrogates, fillers, variation selectors, the blank
 * of Braille), and characters that look like a plain one (other spaces, full-width forms, two hyphens).
 */
const lookalike =
  /(?! )[\p{Cc}\p{Cf}\p{Cs}\p{Z}\p{Default_Ignorable_Code_Point}\u2010\u2011\u2800\uff01-\uff60\uffe0-\uffe6]/u

const codePoint = (character: string) =>
  `U+${Number(character.codePointAt(0)).toString(16).toUpperCase().padStart(4, "0")}`

const problemOf = (reference: unknown): string | undefined => {
  if (!Predicate.isString(reference) || reference.trim() === "") return "must be a text that is not blank"
  if (reference.length > maxReferenceLength) return `must not be longer than ${maxReferenceLength} characters`
  if (reference !== reference.trim()) return "must not have space around it"
  const [found] = lookalike.exec(reference) ?? []
  if (found !== undefined)
    return `must not hold ${codePoint(found)}, which a person cannot see or distinguish from another`
  return reference === reference.normalize("NFC") ? undefined : "must be in Unicode's composed form (NFC)"
}

const kindPattern = /^[A-Za-z0-9-]{1,32}$/

const fromChecked = (kind: string, reference: string): Result.Result<IdempotencyKey, string> => {
  if (!Predicate.isString(kind) || !kindPattern.test(kind)) {
    return Result.fail("The kind must be 1 to 32 letters, digits or hyphens")
  }
  const problem = problemOf(reference)
  return problem === undefined
    ? Result.succeed(`${kind}_${bytesToHex(sha256(utf8ToBytes(`${kind}\n${reference}`))).slice(0, 40)}`)
    : Result.fail(`The reference ${problem}`)
}

/**
 * The key of a business reference: the same for the same kind and reference, in any process, for ever.
 *
 * The reference itself is not in the key (it may be a person's data), only its SHA-256. Throws a `SchemaError`, which
 * does not repeat the reference, when
 *
 * - the kind is not 1 to 32 letters, digits or hyphens;
 * - the reference is longer than 1,000 characters;
 * - the reference is blank: many payouts would share one key, and only the first would be paid;
 * - the reference could look the same as another one: one invoice would be paid twice. So it has no space around it, is
 *   in Unicode's composed form (NFC), and has no character that a person cannot see or distinguish from another: control and
 *   format characters, lone surrogates, fillers and variation selectors, line separators, spaces other than the plain
 *   one, full-width forms, and the hyphens U+2010 and U+2011.
 *
 * Upper and lower case are different references, and so are letters of two alphabets that look alike. Unassigned and
 * private characters are accepted, since a newer runtime may assign them.
 *
 * ```ts
 * import { IdempotencyKey } from "effect-pix"
 *
 * const key = IdempotencyKey.fromReference("payout", "invoice-42")
 * const again = IdempotencyKey.fromReference("payout", "invoice-42") === key // => true
 * const other = IdempotencyKey.fromReference("payout", "invoice-43") === key // => false
 * ```
 */
export const fromReference = (kind: string, reference: string): IdempotencyKey =>
  Result.getOrElse(fromChecked(kind, reference), refuse)

/** {@link fromReference} as an `Option`: none for a kind or a reference that it would refuse. */
export const fromReferenceOption = (kind: string, reference: string): Option.Option<IdempotencyKey> =>
  Result.getSuccess(fromChecked(kind, reference))

/** A memo of one entry. */
let last = { key: "", hash: "" }

/**
 * A short hash of eight digits that names a key in spans and logs. 32 bits are too few to read a key from, whoever inverts
 * the hash; but a key that can be guessed, as a document, is found by trying. Two keys have one name once in four billion times, so a name finds lines, and
 * proves nothing. The lines of a call are about one key, so the last one is stored.
 */
export const fingerprint = (key: string): string => {
  if (!Predicate.isString(key)) return refuse("A key must be a text")
  if (last.key !== key || last.hash === "") last = { key, hash: lanes(key, 1) }
  return last.hash
}
