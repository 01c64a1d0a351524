/**
 * Credentials that are loaded again, for a key that is rotated without a restart.
 *
 * ```ts
 * import { Effect, Layer, Redacted } from "effect"
 * import { CredentialsReload, Payments } from "effect-pix"
 * import { Sandbox } from "effect-pix/sandbox"
 *
 * // A read of your own store of secrets.
 * const load = Effect.succeed({ clientId: "sandbox-client", apiKey: Redacted.make("sandbox-key") })
 *
 * const layer = Payments.layer({ baseUrl: "https://sandbox.example", companyId: 1 }).pipe(
 *   Layer.provide([CredentialsReload.layer({ load, every: "10 minutes" }), Sandbox.layer])
 * )
 *
 * const balance = Effect.flatMap(Payments, (payments) => payments.getBalance())
 * const { companyId } = await Effect.runPromise(Effect.provide(balance, layer))
 * companyId // => 1
 * ```
 */
declare module "./CredentialsReload.ts" {}

import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberHandle from "effect/FiberHandle"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { type ConfigurationError, settingError } from "../contract/ConfigurationError.ts"
import { checkSettingsBy, period, withDefault } from "../contract/Options.ts"
import { counter, update } from "../internal/metrics.ts"
import { monotonicMillis } from "../internal/monotonic.ts"
import { log } from "../internal/spans.ts"
import { type ApiCredentials, checkCredentials, Credentials } from "./Credentials.ts"
import { failureTag } from "./internal/failureTag.ts"
import { CurrentMerchant } from "./internal/currentMerchant.ts"

/** Options of `CredentialsReload.layer`. */
export interface CredentialsReloadOptions<E, R> {
  /** Loads the credentials, for example from a secret manager. If a later load fails, the last good ones stay in use. */
  readonly load: Effect.Effect<ApiCredentials, E, R>
  /** How often to load again. Default: only after a 401. */
  readonly every?: Duration.Input | undefined
  /** How long one load may take. Default: 10 seconds. */
  readonly loadTimeout?: Duration.Input | undefined
}

const areSame = (one: ApiCredentials, other: ApiCredentials) =>
  one.clientId === other.clientId && Redacted.value(one.apiKey) === Redacted.value(other.apiKey)

/** After a load that failed or returned the same credentials, a 401 starts no new load for this time. */
const pause = Duration.seconds(2)

const loads = counter(
  "effect_pix_credential_loads_total",
  "{load}",
  "Loads of credentials by result: New, Same or Failed"
)

type Count = (result: "New" | "Same" | "Failed", errorType?: string) => Effect.Effect<void>

const reportFailure = (count: Count, cause: Cause.Cause<unknown>, merchant: string | undefined) =>
  Effect.andThen(
    count("Failed", failureTag(cause)),
    log("Warn", `Loading credentials failed (${failureTag(cause)}): the last good ones stay in use.`, {
      "payments.result": "Failed",
      "payments.merchant": merchant,
      "error.type": failureTag(cause)
    })
  )

const checkOptions = <E, R>(options: CredentialsReloadOptions<E, R>) =>
  checkSettingsBy(
    Schema.Struct({
      load: Schema.declare((value): value is typeof options.load => Effect.isEffect(value), { expected: "an Effect" }),
      every: Schema.optional(period),
      loadTimeout: withDefault(period, "10 seconds")
    })
  )(options)

const makeReloading = Effect.fnUntraced(function* <E, R>(options: CredentialsReloadOptions<E, R>) {
  const { every, load: loadGiven, loadTimeout } = yield* checkOptions(options)
  const context = yield* Effect.context<R>()
  const merchant = yield* CurrentMerchant
  const count: Count = (result, errorType) =>
    Effect.suspend(() => update(loads, 1, { result, "error.type": errorType, merchant: merchant.label() }))
  /** Loads once, within the time limit. A `load` that cannot be interrupted runs on in the background, so that no call waits for it. */
  const load = <E2>(timeoutError: E2) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(Effect.forkDetach(restore(Effect.provideContext(loadGiven, context))), (fiber) =>
        restore(
          Effect.timeoutOrElse(Fiber.join(fiber), { duration: loadTimeout, orElse: () => Effect.fail(timeoutError) })
        ).pipe(Effect.onExit((exit) => Effect.sync(() => Exit.isSuccess(exit) || fiber.interruptUnsafe())))
      )
    ).pipe(Effect.flatMap(checkCredentials))

  const timeoutError = settingError(
    "load",
    `gave no credentials within ${Duration.format(Duration.millis(loadTimeout))}`
  )
  let current = yield* load(timeoutError).pipe(Effect.tapCause((cause) => count("Failed", failureTag(cause))))
  yield* count("New")
  let notBefore = -Infinity
  const keepCurrent = Effect.map(monotonicMillis, (now) => {
    notBefore = now + Duration.toMillis(pause)
  })
  const handle = yield* FiberHandle.make<void, never>()
  const refresh = load(new Cause.TimeoutError()).pipe(
    Effect.matchCauseEffect({
      onSuccess: (loaded) => {
        if (areSame(loaded, current)) return Effect.andThen(count("Same"), keepCurrent)
        current = loaded
        const line = "Other credentials were loaded: they are used from now on."
        return Effect.andThen(
          count("New"),
          log("Info", line, { "payments.result": "New", "payments.merchant": merchant.id })
        )
      },
      onFailure: (cause) => Effect.andThen(reportFailure(count, cause, merchant.id), keepCurrent)
    }),
    (one) => FiberHandle.run(handle, one, { onlyIfMissing: true }),
    Effect.andThen(FiberHandle.awaitEmpty(handle))
  )
  if (every !== undefined) yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep(every), refresh)))

  return Credentials.of({
    current: Effect.sync(() => current),
    reload: Effect.fnUntraced(function* (used) {
      if (!areSame(current, used)) return true
      if ((yield* monotonicMillis) < notBefore) return false
      yield* refresh
      return !areSame(current, used)
    })
  })
})

/**
 * Credentials that are loaded when the layer is built, again at an interval, and again when the service answers 401
 * (the call is then repeated once, if other credentials were loaded). Values that a header cannot hold are refused, and never
 * shown.
 *
 * One load runs at a time, and every call that is refused meanwhile waits for it. A load that fails, or that takes
 * longer than `loadTimeout`, leaves the last good credentials in use and logs a warning with the error's tag. After a
 * load that failed or returned the same credentials, a 401 starts no load for two seconds.
 */
export const layer = <E, R>(
  options: CredentialsReloadOptions<E, R>
): Layer.Layer<Credentials, E | ConfigurationError, R> => Layer.effect(Credentials, makeReloading(options))
