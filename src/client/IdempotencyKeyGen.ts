/**
 * Makes the idempotency key of a write if the caller gives none: one key for each call, before the first attempt. A client
 * that is built without this service makes random keys, as `layer` does: only a test needs another.
 *
 * Gotcha: such a key is lost with the process. For a payout that must not be repeated after a crash, give a key of your own:
 * see `IdempotencyKey.fromReference`.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
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
  /** What a client uses without this service. Random keys: the prefix and a UUIDv4 of the platform's secure random source (`effect/crypto/WebCrypto`). */
  static readonly layer: Layer.Layer<IdempotencyKeyGen> = Layer.suspend(() =>
    Layer.effect(IdempotencyKeyGen, makeRandom)
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

const makeRandom = Effect.map(WebCrypto.WebCrypto, (crypto) =>
  IdempotencyKeyGen.of({ next: (prefix) => Effect.sync(() => `${prefix}_${crypto.randomUUID()}`) })
)

/** The `IdempotencyKeyGen` of the context, or random keys where there is none. */
export const orRandom: Effect.Effect<IdempotencyKeyGen["Service"]> = Effect.flatMap(
  Effect.serviceOption(IdempotencyKeyGen),
  Option.match({ onNone: () => makeRandom, onSome: Effect.succeed })
)
