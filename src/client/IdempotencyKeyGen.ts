/**
 * Where the idempotency key of a write comes from when its caller gives none: made once, before the first attempt.
 *
 * A key that is made here is lost with the process. For a payout that must not be repeated after a crash, give a key
 * of your own: see `IdempotencyKey.fromReference`.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Ref from "effect/Ref"
import * as SecureRandom from "effect/crypto/SecureRandom"
import type { IdempotencyKey } from "../contract/IdempotencyKey.ts"

/** The documented prefixes: `tx` for a charge, `wd` for a withdrawal (service interface, sections 4.1 and 4.5). */
export type IdempotencyKeyPrefix = "tx" | "wd"

/** Makes idempotency keys. */
export class IdempotencyKeyGen extends Context.Service<
  IdempotencyKeyGen,
  {
    /** A key that was never made before. */
    readonly next: (prefix: IdempotencyKeyPrefix) => Effect.Effect<IdempotencyKey>
  }
>()("effect-pix/client/IdempotencyKeyGen") {
  /** Random keys: the prefix and a UUIDv4 from the platform's secure random source. */
  static readonly layer: Layer.Layer<IdempotencyKeyGen> = Layer.effect(
    IdempotencyKeyGen,
    Effect.map(SecureRandom.SecureRandom, (random) =>
      IdempotencyKeyGen.of({ next: (prefix) => Effect.map(random.uuidV4(), (uuid) => `${prefix}_${uuid}`) })
    )
  ).pipe(Layer.provide(SecureRandom.layerWebCrypto))

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
