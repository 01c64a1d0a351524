/** Options of every kind, given right and wrong. What each layer and call does with them is tested beside it. */
import { assert, describe } from "@effect/vitest"
import { ConfigProvider, DateTime, Duration, Effect, Schema } from "effect"
import * as Options from "../../src/contract/Options.ts"
import { effect } from "../support/effect.ts"

const Sample = Schema.Struct({
  size: Options.withDefault(Options.whole(1, 100), 50),
  limit: Schema.optional(Options.whole(0, Infinity)),
  wait: Options.withDefault(Options.time, "5 seconds"),
  every: Schema.optional(Options.period),
  since: Schema.optional(Options.instant),
  find: Schema.optional(Options.fn<() => void>()),
  nested: Schema.optional(Schema.Struct({ within: Options.period }))
})

const check = Options.checkOptionsBy("listTransactions", Sample)

/** What a caller without types may give. */
const checkAny = (given: unknown) => check(given as typeof Sample.Encoded)

const problems = (given: unknown) =>
  Effect.map(Effect.flip(checkAny(given)), ({ issues, outcome }) => {
    assert.strictEqual(outcome, "NotSent")
    return issues.map(({ path, problem }) => `${path} ${problem}`)
  })

const canary = 98_765_432_100

describe("the options of a call", () => {
  effect("that are left out or undefined have their defaults, and unknown names are ignored", function* () {
    for (const given of [{}, { size: undefined, wait: undefined }, { other: 7 }]) {
      assert.deepStrictEqual(yield* checkAny(given), { size: 50, wait: 5000 })
    }
  })

  const right: ReadonlyArray<readonly [name: string, given: unknown, read: unknown]> = [
    ["size", 1, 1],
    ["size", 100, 100],
    ["limit", Infinity, Infinity],
    ["wait", 0, 0],
    ["wait", Infinity, Infinity],
    ["wait", "2 minutes", 120_000],
    ["wait", [1, 500_000_000], 1500],
    ["wait", { minutes: 1, seconds: undefined }, 60_000],
    ["every", Duration.millis(1), 1],
    ["every", 3n, 3e-6],
    ["since", new Date(7), 7],
    ["since", DateTime.makeUnsafe(8), 8],
    ["nested", { within: "1 second" }, { within: 1000 }]
  ]
  effect.each(right)("%s may be %o", function* ([name, given, read]) {
    assert.deepInclude(yield* checkAny({ [name]: given }), { [name]: read })
  })

  const size = "size must be a whole number from 1 to 100"
  const every = "every must be a duration above zero"
  const wrong: ReadonlyArray<readonly [name: string, given: unknown, problem: string]> = [
    ["size", 0, `${size}, not 0`],
    ["size", 101, `${size}, not 101`],
    ["size", 2.5, `${size}, not 2.5`],
    ["size", Number.NaN, `${size}, not NaN`],
    ["size", canary, size],
    ["size", "7", size],
    ["size", null, size],
    ["limit", -1, "limit must be a whole number from 0, not -1"],
    ["wait", -1, "wait must be a duration"],
    ["wait", "-1 second", "wait must be a duration"],
    ["wait", "soon", "wait must be a duration"],
    ["wait", Number.NaN, "wait must be a duration"],
    ["wait", {}, "wait must be a duration"],
    ["wait", { minute: 5 }, "wait must be a duration"],
    ["wait", { hours: Number.NaN }, "wait must be a duration"],
    ["wait", [0, Number.NaN], "wait must be a duration"],
    ["every", 0, every],
    ["every", "0 seconds", every],
    ["since", "yesterday", "since must be a date"],
    ["since", new Date("x"), "since must be a date"],
    ["find", /x/, "find must be a function"],
    ["nested", { within: 0 }, "nested.within must be a duration above zero"]
  ]
  effect.each(wrong)("%s may not be %o", function* ([name, given, problem]) {
    assert.deepStrictEqual(yield* problems({ [name]: given }), [problem])
  })

  effect("are all named by one error where all are wrong", function* () {
    const names = Object.keys(Sample.fields)
    const all = yield* problems(Object.fromEntries(names.map((name) => [name, "wrong"])))
    assert.deepStrictEqual(
      all.map((problem) => problem.split(" ")[0]),
      names
    )
  })

  effect("must be an object, and the error lists the names", function* () {
    for (const given of [null, 7, "all", []]) {
      assert.deepStrictEqual(yield* problems(given), [
        "options must be { size?, limit?, wait?, every?, since?, find?, nested? }"
      ])
    }
  })
})

describe("the settings of a layer", () => {
  const Settings = Schema.Struct({ NAME: Schema.String, COUNT: Schema.optional(Schema.String) })

  effect("say whether they are missing, wrong or unreadable, under the prefix of their layer", function* () {
    const many = Schema.Struct(Object.fromEntries(Array.from({ length: 15 }, (_, at) => [`f${at}`, Schema.String])))
    const missing = yield* Effect.flip(Options.checkSettingsBy(many, "options", "Layer.")({}))
    assert.strictEqual(missing.settings.length, 15)
    assert.deepStrictEqual(missing.settings[0], { setting: "Layer.f0", reason: "Missing", problem: "is not set" })

    const given = { NAME: undefined, COUNT: 7 } as never // as a caller without types gives it
    const wrong = yield* Effect.flip(Options.checkSettingsBy(Settings)(given))
    assert.deepStrictEqual(
      wrong.settings.map(({ reason }) => reason),
      ["Missing", "Wrong"]
    )
    const away = ConfigProvider.make(([name]) =>
      name === "NAME"
        ? Effect.fail(new ConfigProvider.SourceError({ message: "away" }))
        : Effect.succeed(ConfigProvider.makeValue("7"))
    )
    const unread = yield* Effect.flip(Options.readSettingsBy(Settings)).pipe(Effect.provide(ConfigProvider.layer(away)))
    assert.deepStrictEqual(
      unread.settings.map(({ reason, setting }) => [setting, reason]),
      [["NAME", "Unreadable"]]
    )
  })

  effect("of two checks are all named by one error, whichever of them fails", function* () {
    const one = Options.checkSettingsBy(Schema.Struct({ a: Schema.String }))
    const other = Options.checkSettingsBy(Schema.Struct({ b: Schema.String }))
    const missing = {} as never // as a caller without types gives it
    const names = (first: { readonly a: string }, second: { readonly b: string }) =>
      Effect.map(Effect.result(Options.bothSettings(one(first), other(second))), (result) =>
        result._tag === "Failure" ? result.failure.settings.map(({ setting }) => setting) : result.success
      )
    assert.deepStrictEqual(yield* names(missing, missing), ["a", "b"])
    assert.deepStrictEqual(yield* names(missing, { b: "y" }), ["a"])
    assert.deepStrictEqual(yield* names({ a: "x" }, missing), ["b"])
    assert.deepStrictEqual(yield* names({ a: "x" }, { b: "y" }), [{ a: "x" }, { b: "y" }])
  })
})
