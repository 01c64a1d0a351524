/**
 * The two values that authenticate a company (`docs/service.md`). They are read before each attempt.
 * `CredentialsReload.layer` loads them again, so that a rotated key takes effect without a restart.
 *
 * Gotcha: the company panel labels them confusingly. Its *API Key* is the client id (`X-Client-Id`), and its *Secret Key* is
 * the `apiKey` here (`X-API-Key`).
 */

import * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { type ConfigurationError, notSet } from "../contract/ConfigurationError.ts"
import { checkSettingsBy, readConfigs, readSettingsBy, reading } from "../contract/Options.ts"

/** A client id and its secret key. */
export interface ApiCredentials {
  /** Sent as `X-Client-Id`. The panel calls it *API Key*. */
  readonly clientId: string
  /** Sent as `X-API-Key`. The panel calls it *Secret Key*. */
  readonly apiKey: Redacted.Redacted<string>
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

  /** `PAYMENTS_CLIENT_ID` and `PAYMENTS_API_KEY`, to be read with settings of your own. `layerEnv` names both where both are wrong. */
  static get config(): Config.Config<ApiCredentials> {
    return Config.all({ clientId: Config.String("PAYMENTS_CLIENT_ID"), apiKey: Config.Redacted(label) })
  }

  /**
   * Fixed credentials with a `Config` for each: names and sources are yours. Fails with `ConfigurationError`, which names each that is
   * missing or wrong.
   *
   * ```ts
   * import { Config } from "effect"
   * import { Credentials } from "effect-pix"
   *
   * const Second = Credentials.layerConfig({
   *   clientId: Config.String("SECOND_CLIENT_ID"),
   *   apiKey: Config.Redacted("SECOND_API_KEY")
   * })
   * ```
   */
  static readonly layerConfig = (options: Config.Wrap<ApiCredentials>): Layer.Layer<Credentials, ConfigurationError> =>
    Layer.effect(Credentials, Effect.map(readConfigs(options, checkCredentials), makeFixed))

  /** Fixed credentials from `PAYMENTS_CLIENT_ID` and `PAYMENTS_API_KEY`. */
  static readonly layerEnv: Layer.Layer<Credentials, ConfigurationError> = Layer.suspend(() =>
    Layer.effect(Credentials, Effect.map(credentialsOfEnvironment, makeFixed))
  )
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

/** Checks a client id and its key, which a header must be able to hold. */
export const checkCredentials = checkSettingsBy(Schema.Struct({ clientId, apiKey: reading(readSecret) }), "credentials")

/** Reads `PAYMENTS_CLIENT_ID` and `PAYMENTS_API_KEY`. The key is labelled with its setting wherever it is printed. */
export const credentialsOfEnvironment: Effect.Effect<ApiCredentials, ConfigurationError> = Effect.map(
  readSettingsBy(
    Schema.Struct({
      PAYMENTS_CLIENT_ID: clientId,
      PAYMENTS_API_KEY: reading((text: string) => readSecret(Redacted.make(text)))
    })
  ),
  (read) => ({ clientId: read.PAYMENTS_CLIENT_ID, apiKey: read.PAYMENTS_API_KEY })
)

const makeFixed = (credentials: ApiCredentials) =>
  Credentials.of({ current: Effect.succeed(credentials), reload: () => Effect.succeed(false) })
