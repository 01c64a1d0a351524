/**
 * The two values that authenticate a company (service interface, section 5), read anew at each call, so that a rotated
 * key takes effect without a restart.
 *
 * The company panel labels them confusingly: what it calls *API Key* is the client id (`X-Client-Id`), what it calls
 * *Secret Key* is the `apiKey` here (`X-API-Key`).
 */
import * as Config from "effect/Config"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Semaphore from "effect/Semaphore"
import { ConfigurationError } from "../contract/PaymentsError.ts"

/** A client id and its secret key. */
export interface ApiCredentials {
  /** Sent as `X-Client-Id`. The panel calls it *API Key*. */
  readonly clientId: string
  /** Sent as `X-API-Key`. The panel calls it *Secret Key*. */
  readonly apiKey: Redacted.Redacted<string>
}

const visibleAscii = /^[\x21-\x7e]{1,4096}$/

// `unknown`: what comes out of `process.env` may be absent, whatever its type says.
const checked = (setting: string, value: unknown) =>
  typeof value === "string" && visibleAscii.test(value)
    ? Effect.void
    : new ConfigurationError({
        setting,
        problem:
          value === "" || value === undefined
            ? "is empty"
            : "may hold visible ASCII characters only, at most 4096 (is there a space or a line break at its end?)"
      })

const validate = (
  credentials: ApiCredentials,
  settings: { readonly clientId: string; readonly apiKey: string } = { clientId: "clientId", apiKey: "apiKey" }
): Effect.Effect<ApiCredentials, ConfigurationError> =>
  Effect.as(
    Effect.andThen(
      checked(settings.clientId, credentials.clientId),
      checked(settings.apiKey, Redacted.value(credentials.apiKey))
    ),
    credentials
  )

/** Gives the credentials of a call. */
export class Credentials extends Context.Service<
  Credentials,
  {
    /** The credentials to use now. Read once a call. */
    readonly current: Effect.Effect<ApiCredentials>
    /**
     * Called when the service answers 401 to `used`. Answers whether there are others to try: the call is then
     * repeated, once.
     */
    readonly reload: (used: ApiCredentials) => Effect.Effect<boolean>
  }
>()("effect-pix/client/Credentials") {
  /** Fixed credentials. Values that cannot travel in a header are refused, and never shown. */
  static readonly layer = (credentials: ApiCredentials): Layer.Layer<Credentials, ConfigurationError> =>
    Layer.effect(Credentials, Effect.map(validate(credentials), fixed))

  /** Fixed credentials from `PAYMENTS_CLIENT_ID` and `PAYMENTS_API_KEY`. */
  static readonly layerConfig: Layer.Layer<Credentials, ConfigurationError> = Layer.effect(
    Credentials,
    Effect.gen(function* () {
      const clientId = yield* Effect.mapError(Config.String("PAYMENTS_CLIENT_ID"), missing("PAYMENTS_CLIENT_ID"))
      const apiKey = yield* Effect.mapError(Config.Redacted("PAYMENTS_API_KEY"), missing("PAYMENTS_API_KEY"))
      const settings = { clientId: "PAYMENTS_CLIENT_ID", apiKey: "PAYMENTS_API_KEY" }
      return fixed(yield* validate({ clientId, apiKey }, settings))
    })
  )

  /**
   * Credentials that are loaded when the layer is built, again at an interval, and again when the service answers 401
   * (the call is then repeated once). When a later load fails, the last good credentials stay in use and a warning is
   * logged.
   *
   * `load` is your effect, such as a read from a secret manager. `every` is the interval; left out, only a 401 reloads.
   */
  static readonly layerReload = <E, R>(options: {
    readonly load: Effect.Effect<ApiCredentials, E, R>
    readonly every?: Duration.Input | undefined
  }): Layer.Layer<Credentials, E | ConfigurationError, R> =>
    Layer.effect(
      Credentials,
      Effect.gen(function* () {
        const context = yield* Effect.context<R>()
        const load = Effect.provideContext(
          Effect.flatMap(options.load, (loaded) => validate(loaded)),
          context
        )
        const one = yield* Semaphore.make(1)
        let current = yield* load
        let loads = 0
        const refresh = load.pipe(
          Effect.map((loaded) => {
            current = loaded
            return true
          }),
          // The cause may name the secret: it stays out of the log.
          Effect.catchCause(() =>
            Effect.as(Effect.logWarning("Loading credentials failed: the last good ones stay in use."), false)
          ),
          Effect.tap(() => Effect.sync(() => loads++))
        )
        if (options.every !== undefined) {
          yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep(options.every), one.withPermit(refresh))))
        }
        return Credentials.of({
          current: Effect.sync(() => current),
          reload: (used) =>
            Effect.suspend(() => {
              const before = loads
              return one.withPermit(
                Effect.suspend(() => {
                  if (current !== used) return Effect.succeed(true)
                  // The load that was waited for failed: many calls refused together do not load one after another.
                  return loads === before ? refresh : Effect.succeed(false)
                })
              )
            })
        })
      })
    )
}

const fixed = (credentials: ApiCredentials) =>
  Credentials.of({ current: Effect.succeed(credentials), reload: () => Effect.succeed(false) })

const missing = (setting: string) => () => new ConfigurationError({ setting, problem: "is not set" })
