/**
 * Idempotency keys: one per logical write, so that a repetition is recognised and not executed again.
 *
 * A key must outlive the process that made it. Take it from your own business reference (`fromReference`), or store it
 * before you send: whoever retries after a crash must use the same key.
 */
import { sha256 } from "@noble/hashes/sha2.js"
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js"
import * as Schema from "effect/Schema"

/**
 * A key that can travel in the `Idempotency-Key` header: 1 to 255 visible ASCII characters. The service documents no
 * bound; 255 is the widest that is common among gateways.
 */
export const IdempotencyKey = Schema.String.check(
  Schema.isPattern(/^[\x21-\x7e]{1,255}$/, { expected: "1 to 255 visible ASCII characters" })
)
/** See the schema of the same name. */
export type IdempotencyKey = typeof IdempotencyKey.Type

/** How a write may be sent. */
export interface WriteOptions {
  /**
   * The key of this logical write: 1 to 255 visible ASCII characters, the same whenever it is repeated. Default: a new
   * one from `IdempotencyKeyGen`, which is lost with the process.
   */
  readonly idempotencyKey?: string | undefined
}

const checkKind = Schema.decodeUnknownSync(
  Schema.String.check(
    Schema.isPattern(/^[A-Za-z0-9-]{1,32}$/, { expected: "a kind of 1 to 32 letters, digits or hyphens" })
  )
)
const checkReference = Schema.decodeUnknownSync(
  Schema.NonEmptyString.check(
    Schema.makeFilter((text) => text === text.trim() && text === text.normalize("NFC"), {
      expected: "a reference without space around it, in Unicode's composed form (NFC)"
    })
  )
)

/**
 * The key of a business reference: the same for the same kind and reference, in any process, for ever.
 *
 * The reference itself is not in the key (it may be a person's data), only its SHA-256. Throws a `SchemaError` when
 * the kind is not 1 to 32 letters, digits or hyphens, or the reference is blank (one payout would be made of many), has
 * space around it or is not in Unicode's composed form (two would be made of one).
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
  `${checkKind(kind)}_${fingerprint(`${kind}\n${checkReference(reference)}`)}`

/** A short, one-way name for a key: what spans and logs may carry. */
export const fingerprint = (text: string): string => bytesToHex(sha256(utf8ToBytes(text))).slice(0, 40)
