/**
 * A layer that cannot be built from its settings. One error lists every setting that is wrong, so that all can be
 * corrected at once. For each it says whether it is missing, could not be read, or has a wrong value.
 *
 * ```ts
 * import { ConfigProvider, Effect, Layer } from "effect"
 * import { Payments } from "effect-pix"
 *
 * const env = ConfigProvider.layer(ConfigProvider.fromUnknown({ PAYMENTS_BASE_URL: "gateway", PAYMENTS_CLIENT_ID: "me" }))
 * const program = Effect.provide(Effect.asVoid(Payments), Layer.provide(Payments.layerFetch, env))
 *
 * const error = await Effect.runPromise(Effect.flip(program))
 * const message = error.message // => "PAYMENTS_BASE_URL is not a URL; PAYMENTS_API_KEY is not set"
 * ```
 */
import * as Schema from "effect/Schema"
import { legible } from "../internal/legible.ts"

/** One setting that is wrong. It holds no value, except a small number in place of another whole number. */
export const SettingProblem = Schema.Struct({
  /** Which setting, such as `baseUrl` or `PAYMENTS_API_KEY`. */
  setting: Schema.String,
  /**
   * - `Missing`: it is not set, or empty.
   * - `Unreadable`: its source could not be read. Whether it is set there is not known.
   * - `Wrong`: it is set, and its value cannot be used.
   */
  reason: Schema.Literals(["Missing", "Unreadable", "Wrong"]),
  /** What is wrong, as a predicate after the setting's name: `is not set`. */
  problem: Schema.String
})
export interface SettingProblem extends Schema.Schema.Type<typeof SettingProblem> {}

/** A layer cannot be built from its settings. The message names every setting that is wrong. */
export class ConfigurationError extends legible(
  Schema.TaggedError<ConfigurationError>("effect-pix/ConfigurationError")("ConfigurationError", {
    settings: Schema.NonEmptyArray(SettingProblem)
  })
) {
  override get message(): string {
    return this.settings.map(({ problem, setting }) => `${setting} ${problem}`).join("; ")
  }
}

/** The problem of a setting that is absent. */
export const notSet = "is not set"

/** The error of one setting. `problem` is a predicate after its name. */
export const settingError = (
  setting: string,
  problem: string,
  reason: SettingProblem["reason"] = "Wrong"
): ConfigurationError => new ConfigurationError({ settings: [{ setting, reason, problem }] })
