/**
 * Checks the options of calls, layers and policies. A caller without types may give anything. Options are schemas, whose
 * defaults and sentences stand in their fields. One check names every mistake: a call fails with `InvalidRequest`, a layer
 * with `ConfigurationError`. A sentence shows no value, except a small number in place of another whole number.
 */
import * as Arr from "effect/Array"
import type * as Config from "effect/Config"
import * as ConfigProvider from "effect/ConfigProvider"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { constTrue } from "effect/Function"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import * as SchemaGetter from "effect/SchemaGetter"
import * as SchemaIssue from "effect/SchemaIssue"
import { ConfigurationError, notSet, type SettingProblem } from "./ConfigurationError.ts"
import { InvalidRequest, type Operation, type RequestIssue } from "./PaymentsError.ts"
import { issuesOf } from "./RequestIssues.ts"

/** An option that `convert` reads. It fails with a predicate after the option's name, such as `must be a date`. */
export const reading = <I, A>(convert: (input: I) => Result.Result<A, string>): Schema.Codec<A, I> =>
  Schema.declare((_input): _input is I => true).pipe(
    Schema.decodeTo(
      Schema.declare((_value): _value is A => true),
      {
        decode: SchemaGetter.transformEffect((input: I) =>
          Effect.fromResult(Result.mapError(convert(input), (message) => new SchemaIssue.InvalidValue({ message })))
        ),
        encode: SchemaGetter.forbidden(() => "Options are read only")
      }
    )
  )

const longestShown = 9_999

/** A whole number from `least` to `most`. If `most` is `Infinity`, that is allowed too. */
export const whole = (least: number, most = Number.MAX_SAFE_INTEGER): Schema.Codec<number> => {
  const expected = `a whole number from ${least}${most < Number.MAX_SAFE_INTEGER ? ` to ${most}` : ""}`
  return Schema.declare(Predicate.isNumber, { expected }).check(
    Schema.makeFilter((value) => {
      if (value >= least && value <= most && (Number.isSafeInteger(value) || value === most)) return true
      // A longer number may be a document.
      return `must be ${expected}${Math.abs(value) > longestShown ? "" : `, not ${value}`}`
    })
  )
}

/** A function. */
export const fn = <F extends (...args: never) => unknown>() =>
  Schema.declare((value): value is F => Predicate.isFunction(value), { expected: "a function" })

const unit = /^(?:weeks|days|hours|minutes|(?:milli|micro|nano)?seconds)$/

/** Effect reads `NaN`, and an object without a unit, as a duration of zero: here they are wrong. */
const isDuration = (input: unknown): input is Duration.Input => {
  if (!Predicate.isObjectOrArray(input) || Duration.isDuration(input)) return !Number.isNaN(input)
  const parts = Object.entries(input).filter(([, part]) => part !== undefined)
  const isPart = ([key, part]: readonly [string, unknown]) =>
    Predicate.isNumber(part) && !Number.isNaN(part) && (Array.isArray(input) || unit.test(key))
  return parts.length > 0 && parts.every(isPart)
}

/** The duration in milliseconds, from 0 to Infinity; `undefined` if the input is not a duration. */
export const millisOf = (input: unknown): number | undefined => {
  const millis = isDuration(input) ? Duration.fromInput(input).pipe(Option.map(Duration.toMillis)) : Option.none()
  return Option.getOrUndefined(Option.filter(millis, (value) => value >= 0))
}

const duration = (isFit: (millis: number) => boolean, problem: string) =>
  reading((input: Duration.Input): Result.Result<number, string> => {
    const millis = millisOf(input)
    return millis !== undefined && isFit(millis) ? Result.succeed(millis) : Result.fail(problem)
  })

/** A duration, which may be zero or without end, in milliseconds. */
export const time = duration(constTrue, "must be a duration")

/** A duration above zero, in milliseconds. */
export const period = duration((millis) => millis > 0, "must be a duration above zero")

/** A point in time, in milliseconds since 1970. */
export const instant = reading((input: DateTime.DateTime.Input) =>
  Result.fromOption(Option.map(DateTime.make(input), DateTime.toEpochMillis), () => "must be a date")
)

/** Fills in a default, which is checked and converted as a given value is. */
export const withDefault = <A, I>(schema: Schema.Codec<A, I>, value: I) =>
  Schema.withDecodingDefault<Schema.Codec<A, I>>(Effect.succeed(value))(schema)

/** The names of the options, as `{ baseUrl, companyId? }`. */
const shapeOf = (fields: Schema.Struct.Fields): string => {
  const names = Object.entries(fields).map(
    ([name, { ast }]) => `${name}${SchemaAST.isOptional(SchemaAST.toEncoded(ast)) ? "?" : ""}`
  )
  return `must be { ${names.join(", ")} }`
}

type Options = Schema.Codec<unknown, object> & { readonly fields: Schema.Struct.Fields }

/**
 * Makes the check of options. `name` stands for all of them. Each mistake has the path of its option. `onExcessProperty` says
 * whether an option that the schema does not name is a mistake.
 */
export const checkBy = <S extends Options>(
  schema: S,
  name = "options",
  onExcessProperty: "ignore" | "error" = "ignore"
) => {
  const decode = Schema.decodeUnknownResult(schema, { errors: "all", onExcessProperty })
  return (given: S["Encoded"]): Result.Result<S["Type"], Arr.NonEmptyReadonlyArray<RequestIssue>> =>
    Predicate.isObject(given)
      ? Result.mapError(decode(given), (error) => issuesOf(error, Infinity))
      : Result.fail([{ path: name, problem: shapeOf(schema.fields) }])
}

/** The error of a wrong input or wrong options. */
export const invalidRequest = (
  operation: Operation,
  issues: ReadonlyArray<RequestIssue>,
  idempotencyKey?: string
): InvalidRequest =>
  new InvalidRequest({
    operation,
    attempts: 0,
    outcome: "NotSent",
    issues,
    ...(idempotencyKey !== undefined && { idempotencyKey })
  })

/** Makes the check of the options of a call. */
export const checkOptionsBy = <S extends Options>(operation: Operation, schema: S) => {
  const check = checkBy(schema)
  return (given: S["Encoded"]): Effect.Effect<S["Type"], InvalidRequest> =>
    Effect.suspend(() =>
      Effect.fromResult(Result.mapError(check(given), (issues) => invalidRequest(operation, issues)))
    )
}

/** Stands for a value whose source could not be read. It fits no setting. */
const unreadable = {}
const unread = { reason: "Unreadable", problem: "could not be read: the ConfigProvider failed" } as const

/** Makes the check of the settings of a layer. `prefix` stands before their names. */
export const checkSettingsBy = <S extends Options>(
  schema: S,
  name = "options",
  prefix = "",
  ...excess: [onExcessProperty?: "ignore" | "error"]
) => {
  const check = checkBy(schema, name, ...excess)
  const problemOf = (given: object, { path, problem }: RequestIssue): SettingProblem => {
    const setting = prefix + path
    const value: unknown = Object.hasOwn(schema.fields, path) ? Reflect.get(given, path) : problem
    if (value === unreadable) return { setting, ...unread }
    return value === undefined || problem === notSet
      ? { setting, reason: "Missing", problem: notSet }
      : { setting, reason: "Wrong", problem }
  }
  return (given: S["Encoded"]): Effect.Effect<S["Type"], ConfigurationError> =>
    Effect.suspend(() =>
      Effect.fromResult(
        Result.mapError(
          check(given),
          (issues) => new ConfigurationError({ settings: Arr.map(issues, (issue) => problemOf(given, issue)) })
        )
      )
    )
}

/** Makes both checks, and fails with the mistakes of both. */
export const bothSettings = Effect.fnUntraced(function* <A, B>(
  one: Effect.Effect<A, ConfigurationError>,
  other: Effect.Effect<B, ConfigurationError>
) {
  const [first, second] = [yield* Effect.result(one), yield* Effect.result(other)]
  if (Result.isSuccess(first)) return [first.success, yield* Effect.fromResult(second)] as const
  if (Result.isSuccess(second)) return yield* first.failure
  return yield* new ConfigurationError({ settings: [...first.failure.settings, ...second.failure.settings] })
})

// The message of the source is dropped: it may show the value.
const readAt = (path: ConfigProvider.Path) =>
  Effect.match(
    Effect.flatMap(ConfigProvider.ConfigProvider, (provider) => provider.load(path)),
    { onSuccess: (node) => node?.value, onFailure: () => unreadable }
  )
const readText = (name: string) => Effect.map(readAt([name]), (value) => [name, value] as const)

/**
 * Reads each setting as text, by the name of its field, from the `ConfigProvider`, and checks all. Without `Config`, whose
 * reader of schemas is 2 kB of a bundle: the fields are schemas already, and each is one text.
 */
export const readSettingsBy = <S extends Options>(schema: S): Effect.Effect<S["Type"], ConfigurationError> =>
  Effect.flatMap(Effect.forEach(Object.keys(schema.fields), readText), (texts) =>
    checkSettingsBy(schema)(Object.fromEntries(texts))
  )

/** What is wrong with a setting whose `Config` failed, by the name that the `Config` has for it. It shows no value. */
const problemOfConfig = Effect.fnUntraced(function* (option: string, { cause }: Config.ConfigError) {
  const path = cause._tag === "SchemaError" && cause.issue._tag === "Pointer" ? cause.issue.path.map(String) : []
  const setting = path.length === 0 ? option : path.join("_")
  const value = cause._tag === "SchemaError" ? yield* readAt(path) : unreadable
  if (value === unreadable) return { setting, ...unread }
  const isMissing = path.length > 0 && (value === undefined || value === "")
  return isMissing
    ? ({ setting, reason: "Missing", problem: notSet } as const)
    : ({ setting, reason: "Wrong", problem: "is not what its Config reads" } as const)
})

/** What is no `Config` is an option of a program without types. */
const isConfig = (value: unknown): value is Config.Config<unknown> => Effect.isEffect(value)

/**
 * Reads each option by its own `Config`, or all by one, and checks all. Not by `Config.unwrap`, which stops at the first that fails: one
 * error names every setting that is missing or wrong.
 */
export const readConfigs = Effect.fnUntraced(function* <I extends object, A>(
  wrapped: Config.Wrap<I>,
  check: (given: I) => Effect.Effect<A, ConfigurationError>
) {
  const failed = new Map<string, SettingProblem>()
  const read = Effect.fnUntraced(function* (option: string, config: Effect.Effect<unknown, Config.ConfigError>) {
    const result = yield* Effect.result(config)
    if (Result.isSuccess(result)) return result.success
    failed.set(option, yield* problemOfConfig(option, result.failure))
    return undefined
  })
  const readOne = (option: string, config: unknown) =>
    isConfig(config) ? read(option, config) : Effect.succeed(config)
  const entries = Effect.forEach(isConfig(wrapped) ? [] : Object.entries(wrapped), ([option, config]) =>
    Effect.map(readOne(option, config), (value) => [option, value] as const)
  )
  const given = isConfig(wrapped) ? yield* read("options", wrapped) : Object.fromEntries(yield* entries)
  // What each `Config` gives has the type of its option.
  const checked = yield* Effect.result(check(given as I))
  const problems = Result.isFailure(checked)
    ? checked.failure.settings.filter(({ setting }) => !failed.has(setting))
    : []
  const [first, ...rest] = failed.has("options") ? failed.values() : [...failed.values(), ...problems]
  return first === undefined
    ? yield* Effect.fromResult(checked)
    : yield* new ConfigurationError({ settings: [first, ...rest] })
})
