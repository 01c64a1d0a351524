/**
 * Reads and checks the settings of layers and calls. All settings are checked, so that one `ConfigurationError` lists every
 * wrong one.
 */

import * as Arr from "effect/Array"
import * as Config from "effect/Config"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { millisOf } from "../internal/duration.ts"
import { ConfigurationError, type SettingProblem } from "./ConfigurationError.ts"

const fail = (setting: string, reason: SettingProblem["reason"], problem: string) =>
  new ConfigurationError({ settings: [{ setting, reason, problem }] })

/** The error of a setting whose value cannot be used. `problem` is a predicate after the setting's name. */
export const wrong = (setting: string, problem: string): ConfigurationError => fail(setting, "Wrong", problem)

/** The error of a setting that is absent. */
export const missing = (setting: string, problem = "is not set"): ConfigurationError =>
  fail(setting, "Missing", problem)

/** The error of a setting whose source could not be read. */
export const unreadable = (setting: string, problem: string): ConfigurationError => fail(setting, "Unreadable", problem)

/** Reads a setting that may be absent. The message of the source is dropped: it may show the value. */
export const optional = <A>(
  config: (name: string) => Config.Config<A>,
  setting: string,
  problem = "cannot be read as text"
): Effect.Effect<A | undefined, ConfigurationError> =>
  Effect.mapBoth(Config.option(config(setting)), {
    onSuccess: Option.getOrUndefined,
    onFailure: ({ cause }) =>
      cause._tag === "SourceError"
        ? unreadable(setting, "could not be read: the ConfigProvider failed")
        : wrong(setting, problem)
  })

/** Reads a setting that must be present. */
export const required = <A>(
  config: (name: string) => Config.Config<A>,
  setting: string,
  problem?: string
): Effect.Effect<A, ConfigurationError> =>
  Effect.filterMapOrFail(
    optional(config, setting, problem),
    Result.fromNullishOr(() => missing(setting)),
    (error) => error
  )

/** The value, if `isRight`. */
export const checked = <A>(
  setting: string,
  value: A,
  isRight: boolean,
  problem: string
): Effect.Effect<A, ConfigurationError> => (isRight ? Effect.succeed(value) : wrong(setting, problem))

/** Checks a setting that may be left out. */
export const ifGiven = <A, B>(
  value: A | undefined,
  check: (value: A) => Effect.Effect<B, ConfigurationError>
): Effect.Effect<B | undefined, ConfigurationError> => (value === undefined ? Effect.undefined : check(value))

/** Checks a duration, which must be above zero. */
export const period = (setting: string, input: Duration.Input): Effect.Effect<Duration.Duration, ConfigurationError> =>
  Option.match(Option.filter(Duration.fromInput(input), Duration.isPositive), {
    onNone: () => wrong(setting, "is not a time above zero"),
    onSome: Effect.succeed
  })

/** Checks a duration, which may be zero or without end, and converts it to milliseconds. */
export const millis = (setting: string, input: Duration.Input): Effect.Effect<number, ConfigurationError> => {
  const found = millisOf(input)
  return found === undefined ? wrong(setting, "must be a duration") : Effect.succeed(found)
}

/** Checks a whole number, which must be 1 or more. */
export const count = (setting: string, value: number): Effect.Effect<number, ConfigurationError> =>
  Number.isSafeInteger(value) && value > 0 ? Effect.succeed(value) : wrong(setting, "is not a whole number from 1")

/** Runs every check, and fails with all wrong settings. */
export const all = Effect.fnUntraced(function* <A extends object>(parts: {
  readonly [K in keyof A]: Effect.Effect<A[K], ConfigurationError>
}) {
  const problems: Array<SettingProblem> = []
  const values: Partial<A> = {}
  for (const name in parts) {
    const result = yield* Effect.result(parts[name])
    if (Result.isSuccess(result)) values[name] = result.success
    else problems.push(...result.failure.settings)
  }
  if (Arr.isReadonlyArrayNonEmpty(problems)) return yield* new ConfigurationError({ settings: problems })
  return values as A // no part failed, so each has its value
})
