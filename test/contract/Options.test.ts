/** Options of every kind, given right and wrong. What each layer and call does with them is tested beside it. */
import { assert, describe } from "@effect/vitest"
import { DateTime, Duration, Effect, Schema } from "effect"
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
    ["every", 3n, 3e-6],
    ["since", new Date(7), 7],
    ["since", DateTime.makeUnsafe(8), 8],
    ["nested", { within: Duration.seconds(1) }, { within: 1000 }]
  ]
  effect.each(right)("%s may be %o", function* ([name, given, read]) {
    assert.deepInclude(yield* checkAny({ [name]: given }), { [name]: read })
  })

  const size = "must be a whole number from 1 to 100"
  const wrong: ReadonlyArray<readonly [name: string, problem: string, given: ReadonlyArray<unknown>]> = [
    ["size", `${size}, not 0`, [0]],
    ["size", `${size}, not 101`, [101]],
    ["size", `${size}, not 2.5`, [2.5]],
    ["size", `${size}, not NaN`, [Number.NaN]],
    ["size", size, [canary, "7", null]],
    ["limit", "must be a whole number from 0, not -1", [-1]],
    ["wait", "must be a duration", [-1, "-1 second", "soon", Number.NaN, {}, { minute: 5 }, { hours: Number.NaN }]],
    ["wait", "must be a duration", [[0, Number.NaN]]],
    ["every", "must be a duration above zero", [0, "0 seconds"]],
    ["since", "must be a date", ["yesterday", new Date("x")]],
    ["find", "must be a function", [/x/]]
  ]
  effect.each(wrong)("%s %s: it may not be one of %o", function* ([name, problem, values]) {
    for (const given of values) assert.deepStrictEqual(yield* problems({ [name]: given }), [`${name} ${problem}`])
  })

  effect("are all named by one error where all are wrong, each with its path", function* () {
    const given = { size: "x", limit: "x", wait: "x", every: "x", since: "x", find: "x", nested: { within: 0 } }
    assert.deepStrictEqual(
      (yield* problems(given)).map((problem) => problem.split(" ")[0]),
      ["size", "limit", "wait", "every", "since", "find", "nested.within"]
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
