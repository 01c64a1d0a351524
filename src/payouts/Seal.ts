/**
 * How the personal data of payouts is sealed before it is stored: the request, and the payee of its record.
 *
 * `Seal.aesGcm` seals with AES-256-GCM on the platform's own crypto, under a key of yours:
 *
 * ```ts
 * import { Effect, Layer, Redacted } from "effect"
 * import { Money, PixKey } from "effect-pix"
 * import { NodeSqlite } from "effect-pix/node"
 * import { PayoutQueue, Seal } from "effect-pix/payouts"
 * import { SqlClient } from "effect/sql"
 *
 * // Yours comes from a secret store: openssl rand -base64 32
 * const key = Redacted.make("MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=")
 *
 * const program = Effect.gen(function* () {
 *   const queue = yield* PayoutQueue
 *   const sql = yield* SqlClient.SqlClient
 *   yield* queue.submit({ reference: "invoice-42", amount: Money.centavos(2500), pixKey: PixKey.email("maria@example.com") })
 *   const [row] = yield* sql<{ request: string }>`SELECT request FROM effect_pix_payouts`
 *   return row?.request.slice(0, 12)
 * })
 *
 * const queue = PayoutQueue.layerClient({ seal: Seal.aesGcm(key) })
 * const layer = Layer.provideMerge(queue, NodeSqlite.layer({ filename: ":memory:" }))
 * const stored = await Effect.runPromise(Effect.provide(program, layer)) // => "v1.3eb1bd43."
 * ```
 */
declare module "./Seal.ts" {}

import { sha256 } from "@noble/hashes/sha2.js"
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js"
import * as Aead from "effect/crypto/Aead"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Base64Url from "effect/encoding/Base64Url"
import * as Hex from "effect/encoding/Hex"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { type ConfigurationError, settingError } from "../contract/ConfigurationError.ts"

/** Where a sealed text is stored: the account and the reference of its payout, and the column of its row. */
export interface Place {
  /** The name of the account. */
  readonly account: string
  /** The reference of the payout. */
  readonly reference: string
  /** What the text is: the request, the payee of its record, or why it was refused. */
  readonly column: "request" | "payee" | "reason"
}

/**
 * How the stored texts of a payout are sealed and opened. A text is bound to its `Place`: what was sealed for one account,
 * reference and column must open for no other, or who writes to the database moves a payee from one payout to another. A failure,
 * such as a key service that cannot be reached, is a defect: a submit dies, and a worker tries again.
 */
export interface Seal {
  /** From the text, such as the request as JSON, to what is stored. */
  readonly seal: (text: string, place: Place) => Effect.Effect<string>
  /** From what is stored to the text. It is interrupted after 30 seconds, and tried again later. */
  readonly open: (sealed: string, place: Place) => Effect.Effect<string>
  /** The names of the keys that open, as an error or a log may show them. */
  readonly keyIds?: ReadonlyArray<string> | undefined
}

/** What is authenticated with a sealed text: no two places have the same. */
const boundTo = ({ account, column, reference }: Place) => utf8ToBytes(JSON.stringify([account, reference, column]))

/** The bytes of a key, as base64 in either alphabet, or as hexadecimal digits. */
const bytesOf = (text: string) =>
  Option.filter(
    Result.getSuccess(
      /^[\da-f]{64}$/i.test(text)
        ? Hex.decode(text)
        : Base64Url.decode(
            text
              .replaceAll("+", "-")
              .replaceAll("/", "_")
              .replace(/={1,2}$/, "")
          )
    ),
    ({ length }) => length === Aead.aes256Gcm.keyLength
  )

const nonceLength = Aead.aes256Gcm.nonceLength
const crypto = Layer.provideMerge(Aead.layerWebCrypto, SecureRandom.layerWebCrypto)

/** The defect of a text that cannot be opened. A worker's log has its name, and not its message. */
const cannotOpen = (name: string, message: string) => Effect.die(Object.assign(new Error(message), { name }))

/**
 * A seal with AES-256-GCM on the platform's own crypto. Each text has a random nonce, and is bound to its account,
 * reference and column: it opens in no other place, and not where a byte of it was changed.
 *
 * `key` is 32 random bytes, as base64 or as 64 hexadecimal digits: `openssl rand -base64 32`. It is the same in every process of
 * the account. Fails with `ConfigurationError` where a key is not so; the key is never shown.
 *
 * Details: the stored text is `v1.<key id>.<nonce and ciphertext>`, the last part in base64url. The id is the first 8 hexadecimal
 * digits of the key's SHA-256. For another key, give the new one first and the earlier ones after it: all of them open, and the
 * first seals.
 *
 * Gotchas:
 * - A text of a key that is not given cannot be opened: a submit of the same reference dies, and a worker tries again until the
 *   key is there. The defect is named `UnknownSealKey`; of a text that was changed or moved, `SealBroken`; of one that was stored
 *   without this seal, `NotSealed`.
 * - A key is good for 2^32 texts.
 * - The key of the examples is known to everybody: a worker with it starts on a sandbox alone.
 */
export const aesGcm = (
  key: Redacted.Redacted,
  ...earlier: ReadonlyArray<Redacted.Redacted>
): Effect.Effect<Seal, ConfigurationError> =>
  Effect.gen(function* () {
    const aead = yield* Aead.Aead
    const random = yield* SecureRandom.SecureRandom
    const keyOf = Effect.fnUntraced(function* (text: Redacted.Redacted) {
      const bytes = yield* Effect.mapError(Effect.fromOption(bytesOf(Redacted.value(text).trim())), () =>
        settingError("seal", "has a key that is not 32 bytes, as base64 or as 64 hexadecimal digits")
      )
      const id = bytesToHex(sha256(bytes)).slice(0, 8)
      // The length was checked.
      return { id, key: yield* Effect.orDie(Aead.key(Aead.aes256Gcm, bytes)) }
    })
    const first = yield* keyOf(key)
    const keys = [first, ...(yield* Effect.forEach(earlier, keyOf))] as const
    const made: Seal = {
      seal: Effect.fnUntraced(function* (text, place) {
        const nonce = yield* random.randomBytes(nonceLength)
        const sealed = yield* Effect.orDie(aead.encrypt(first.key, utf8ToBytes(text), { nonce, aad: boundTo(place) }))
        return `v1.${first.id}.${Base64Url.encode(Uint8Array.of(...nonce, ...sealed))}`
      }),
      open: Effect.fnUntraced(function* (text, place) {
        const [, id, encoded = ""] = /^v1\.([\da-f]{8})\.([\w-]+)$/.exec(text) ?? []
        if (id === undefined) return yield* cannotOpen("NotSealed", "The stored text was not sealed by Seal.aesGcm.")
        const used = keys.find((known) => known.id === id)
        if (used === undefined) {
          return yield* cannotOpen(
            "UnknownSealKey",
            `The stored text was sealed with the key ${id}, which Seal.aesGcm was not given: it has ${keys.map((known) => known.id).join(", ")}.`
          )
        }
        const bytes = Result.getOrElse(Base64Url.decode(encoded), () => new Uint8Array())
        const nonce = bytes.subarray(0, nonceLength)
        const opened = aead.decrypt(used.key, bytes.subarray(nonceLength), { nonce, aad: boundTo(place) })
        return yield* Effect.matchEffect(opened, {
          onSuccess: (bytes) => Effect.succeed(new TextDecoder().decode(bytes)),
          onFailure: () =>
            cannotOpen("SealBroken", "The stored text was changed, or sealed for another place: it does not open.")
        })
      }),
      keyIds: keys.map(({ id }) => id)
    }
    return made
  }).pipe(Effect.provide(crypto))
