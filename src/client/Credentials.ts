/**
 * The two values that authenticate a company (`docs/service.md`). They are read before each attempt, so that a
 * rotated key takes effect without a restart.
 *
 * Gotcha: the company panel labels them confusingly. Its *API Key* is the client id (`X-Client-Id`), and its *Secret Key* is
 * the `apiKey` here (`X-API-Key`).
 */

import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberHandle from "effect/FiberHandle"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { type ConfigurationError, notSet, settingError } from "../contract/ConfigurationError.ts"
import { checkSettingsBy, period, readSettingsBy, reading, withDefault } from "../contract/Options.ts"
import { counter, update } from "../internal/metrics.ts"
import { log } from "../internal/spans.ts"
import { failureTag } from "./internal/failureTag.ts"

/** A client id and its secret key. */
export interface ApiCredentials {
  /** Sent as `X-Client-Id`. The panel calls it *API Key*. */
  readonly clientId: string
  /** Sent as `X-API-Key`. The panel calls it *Secret Key*. */
  readonly apiKey: Redacted.Redacted<string>
}

/** Options of `Credentials.layerReload`. */
interface ReloadOptions<E, R> {
  /** Loads the credentials, for example from a secret manager. */
  readonly load: Effect.Effect<ApiCredentials, E, R>
  /** How often to load again. Default: only after a 401. */
  readonly every?: Duration.Input | undefined
  /** How long one load may take. Default: 10 seconds. */
  readonly loadTimeout?: Duration.Input | undefined
}

/** The credentials of a client. */
export class Credentials extends Context.Service<
  Credentials,
  {
    /** The current credentials. They are read before each attempt. */
    readonly current: Effect.Effect<ApiCredentials>
    /**
     * Runs when the service answers 401 to the credentials `used`. Returns whether other credentials were loaded: the
     * call is then repeated once.
     */
    readonly reload: (used: ApiCredentials) => Effect.Effect<boolean>
  }
>()("effect-pix/Credentials") {
  /** Fixed credentials. Values that a header cannot hold are refused, and never shown. */
  static readonly layer = (credentials: ApiCredentials): Layer.Layer<Credentials, ConfigurationError> =>
    Layer.effect(Credentials, Effect.map(checkCredentials(credentials), makeFixed))

  /** Reads `PAYMENTS_CLIENT_ID` and `PAYMENTS_API_KEY`. The key is labelled with its setting wherever it is printed. */
  static readonly config: Effect.Effect<ApiCredentials, ConfigurationError> = Effect.suspend(() =>
    Effect.map(readCredentials, (read) => ({ clientId: read.PAYMENTS_CLIENT_ID, apiKey: read.PAYMENTS_API_KEY }))
  )

  /** Fixed credentials from `PAYMENTS_CLIENT_ID` and `PAYMENTS_API_KEY`. */
  static readonly layerConfig: Layer.Layer<Credentials, ConfigurationError> = Layer.suspend(() =>
    Layer.effect(Credentials, Effect.map(Credentials.config, makeFixed))
  )

  /**
   * Credentials that are loaded when the layer is built, again at an interval, and again when the service answers 401
   * (the call is then repeated once, if other credentials were loaded).
   *
   * One load runs at a time, and every call that is refused meanwhile waits for it. A load that fails, or that takes
   * longer than `loadTimeout`, leaves the last good credentials in use and logs a warning with the error's tag. After a
   * load that failed or returned the same credentials, a 401 starts no load for two seconds.
   */
  static readonly layerReload = <E, R>(
    options: ReloadOptions<E, R>
  ): Layer.Layer<Credentials, E | ConfigurationError, R> => Layer.effect(Credentials, makeReloading(options))
}

const label = "PAYMENTS_API_KEY"

const visibleAscii = /^[\x21-\x7e]{1,4096}$/

// The type is `unknown`, since a value from `process.env` or from plain JavaScript may be anything.
const readVisible = (value: unknown): Result.Result<string, string> => {
  if (value === undefined || value === null || value === "") return Result.fail(notSet)
  return typeof value === "string" && visibleAscii.test(value)
    ? Result.succeed(value)
    : Result.fail("may hold visible ASCII characters only, at most 4096 (is there a space or a line break at its end?)")
}

const readSecret = (value: Redacted.Redacted<string>): Result.Result<Redacted.Redacted<string>, string> => {
  if (!Redacted.isRedacted(value)) return Result.fail("must be wrapped: Redacted.make(...)")
  // `Redacted.value` throws if the value was wiped.
  const held = Result.getOrUndefined(Result.try(() => Redacted.value(value)))
  return Result.map(readVisible(held), (text) => Redacted.make(text, { label: value.label ?? label }))
}

const clientId = reading<string, string>(readVisible)

const checkCredentials = checkSettingsBy(Schema.Struct({ clientId, apiKey: reading(readSecret) }), "credentials")

const readCredentials = readSettingsBy(
  Schema.Struct({
    PAYMENTS_CLIENT_ID: clientId,
    PAYMENTS_API_KEY: reading((text: string) => readSecret(Redacted.make(text, { label })))
  })
)

const checkReload = checkSettingsBy(
  Schema.Struct({ every: Schema.optional(period), loadTimeout: withDefault(period, "10 seconds") })
)

const makeFixed = (credentials: ApiCredentials) =>
  Credentials.of({ current: Effect.succeed(credentials), reload: () => Effect.succeed(false) })

const areSame = (one: ApiCredentials, other: ApiCredentials) =>
  one.clientId === other.clientId && Redacted.value(one.apiKey) === Redacted.value(other.apiKey)

/** After a load that failed or returned the same credentials, a 401 starts no new load for this time. */
const pause = Duration.seconds(2)

const loads = counter("effect_pix_credential_loads", "{load}", "Loads of credentials by result: New, Same or Failed")

const count = (result: "New" | "Same" | "Failed", errorType?: string) =>
  update(loads, 1, { result, "error.type": errorType })

const reportFailure = (cause: Cause.Cause<unknown>) =>
  Effect.andThen(
    count("Failed", failureTag(cause)),
    log("Warn", `Loading credentials failed (${failureTag(cause)}): the last good ones stay in use.`, {
      "payments.result": "Failed",
      "error.type": failureTag(cause)
    })
  )

const makeReloading = Effect.fnUntraced(function* <E, R>(options: ReloadOptions<E, R>) {
  const { every, loadTimeout } = yield* checkReload(options)
  const context = yield* Effect.context<R>()
  /** Loads once, within the time limit. A `load` that cannot be interrupted runs on in the background, so that no call waits for it. */
  const load = <E2>(timeoutError: E2) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(Effect.forkDetach(restore(Effect.provideContext(options.load, context))), (fiber) =>
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
  const keepCurrent = Effect.map(Clock.currentTimeMillis, (now) => {
    notBefore = now + Duration.toMillis(pause)
  })
  const handle = yield* FiberHandle.make<void, never>()
  const refresh = load(new Cause.TimeoutError()).pipe(
    Effect.matchCauseEffect({
      onSuccess: (loaded) => {
        if (areSame(loaded, current)) return Effect.andThen(count("Same"), keepCurrent)
        current = loaded
        const line = "Other credentials were loaded: they are used from now on."
        return Effect.andThen(count("New"), log("Info", line, { "payments.result": "New" }))
      },
      onFailure: (cause) =>
        Effect.andThen(Cause.hasInterruptsOnly(cause) ? Effect.void : reportFailure(cause), keepCurrent)
    }),
    (one) => FiberHandle.run(handle, one, { onlyIfMissing: true }),
    Effect.andThen(FiberHandle.awaitEmpty(handle))
  )
  if (every !== undefined) yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep(every), refresh)))

  return Credentials.of({
    current: Effect.sync(() => current),
    reload: Effect.fnUntraced(function* (used) {
      if (!areSame(current, used)) return true
      if ((yield* Clock.currentTimeMillis) < notBefore) return false
      yield* refresh
      return !areSame(current, used)
    })
  })
})
