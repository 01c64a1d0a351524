/**
 * Makes the idempotency key of a write if the caller gives none: one key for each call, before the first attempt.
 *
 * Gotcha: such a key is lost with the process. For a payout that must not be repeated after a crash, give a key of your own:
 * see `IdempotencyKey.fromReference`.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Ref from "effect/Ref"
import * as WebCrypto from "effect/crypto/WebCrypto"
import type { Endpoint } from "../contract/Endpoints.ts"
import type { IdempotencyKey } from "../contract/IdempotencyKey.ts"

/** The documented prefixes: `tx` for a charge, `wd` for a withdrawal (`docs/service.md`). */
export type IdempotencyKeyPrefix = NonNullable<Endpoint["keyPrefix"]>

/** Makes idempotency keys. */
export class IdempotencyKeyGen extends Context.Service<
  IdempotencyKeyGen,
  {
    /** Makes a new key. */
    readonly next: (prefix: IdempotencyKeyPrefix) => Effect.Effect<IdempotencyKey>
  }
>()("effect-pix/IdempotencyKeyGen") {
  /**
   * Random keys: the prefix and a UUIDv4 from the platform's secure random source (`effect/crypto/WebCrypto`). It
   * reads the bytes of many keys at a time.
   */
  static readonly layer: Layer.Layer<IdempotencyKeyGen> = Layer.effect(
    IdempotencyKeyGen,
    WebCrypto.WebCrypto.use((crypto) => {
      const uuidV4 = makePool(crypto)
      return Effect.succeed(IdempotencyKeyGen.of({ next: (prefix) => Effect.sync(() => `${prefix}_${uuidV4()}`) }))
    })
  )

  /** `tx_1`, `wd_2`, `tx_3` and so on. For tests only: each process starts over. */
  static readonly layerSequential: Layer.Layer<IdempotencyKeyGen> = Layer.effect(
    IdempotencyKeyGen,
    Effect.map(Ref.make(0), (count) =>
      IdempotencyKeyGen.of({
        next: (prefix) =>
          Effect.map(
            Ref.updateAndGet(count, (n) => n + 1),
            (n) => `${prefix}_${n}`
          )
      })
    )
  )
}

const uuidBytes = 16
const pooledUuids = 128

const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"))

/** Makes UUIDs from a pool of random bytes. Each byte is used once and then overwritten. */
const makePool = (crypto: Crypto) => {
  const pool = new Uint8Array(uuidBytes * pooledUuids)
  let at = pool.length
  const take = () => {
    const byte = pool[at] ?? 0
    pool[at++] = 0
    return byte
  }
  const octet = () => hex[take()]
  return () => {
    if (at === pool.length) {
      crypto.getRandomValues(pool)
      at = 0
    }
    const time = `${octet()}${octet()}${octet()}${octet()}-${octet()}${octet()}`
    // Version 4, variant 10 (RFC 9562, section 5.4).
    const version = hex[(take() & 0x0f) | 0x40]
    const middle = octet()
    const variant = hex[(take() & 0x3f) | 0x80]
    return `${time}-${version}${middle}-${variant}${octet()}-${octet()}${octet()}${octet()}${octet()}${octet()}${octet()}`
  }
}
