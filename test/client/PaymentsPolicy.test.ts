/** The settings of a policy, also of programs without types, and which policy a call follows. */
import { assert, describe, it } from "@effect/vitest"
import { PaymentsPolicy } from "effect-pix"
import { Duration, Effect, Layer, Result, Schedule, Schema } from "effect"
import { effect } from "../support/effect.ts"
import { pay, read } from "../support/played.ts"
import { paymentsOn, respond, scripted } from "../support/Wire.ts"
import { oneAttempt } from "../support/policies.ts"

const durations = ["garbage", "10", "", Number.NaN, -1, "-1 second", true, null, {}, [], { seconds: Number.NaN }]
const functions = ["garbage", true, null, 7, {}]
const numbers = ["1", Number.NaN, -1, Infinity, null, true]
const schedules = ["1 second", 3, true, null, {}, () => 1]

const wrong: { readonly [Setting in keyof PaymentsPolicy]: ReadonlyArray<unknown> } = {
  attemptTimeout: [...durations, 0, Duration.zero],
  deadline: [...durations, 0, Duration.zero, [Number.NaN, 0], new Date(0)],
  retryReads: schedules,
  retryWrites: schedules,
  writes: ["", "Never", "garbage", true, null, 1],
  horizon: [...durations, 0, Duration.zero],
  maxRetryAfter: durations,
  maxResponseBytes: [...numbers, 0, 0.5],
  retryBudget: ["garbage", 500, true, null, []],
  onInterruptedWrite: functions
}
const budget = { capacity: 500, retryCost: 14, throttledRetryCost: 5, refund: 1 }

/** Wrong settings, and the names that the error must have. */
const rows: ReadonlyArray<readonly [settings: object, names: ReadonlyArray<string>]> = [
  ...Object.entries(wrong).flatMap(([setting, values]) =>
    values.map((value) => [{ [setting]: value }, [setting]] as const)
  ),
  ...Object.keys(budget).flatMap((name) =>
    [...numbers, undefined].map(
      (value) => [{ retryBudget: { ...budget, [name]: value } }, [`retryBudget.${name}`]] as const
    )
  ),
  [Object.fromEntries(Object.entries(wrong).map(([setting, [value]]) => [setting, value])), Object.keys(wrong)],
  [{ deadLine: "1 second" }, ["deadLine"]]
]

/** The message with which the settings are refused. */
const refusalOf = (make: () => unknown): string => {
  const made = Result.try(make)
  assert(Result.isFailure(made) && Schema.isSchemaError(made.failure))
  return made.failure.message
}

describe("PaymentsPolicy", () => {
  effect("names each wrong setting and no value: make throws, and the layer fails", function* () {
    for (const [settings, names] of rows) {
      const message = refusalOf(() => PaymentsPolicy.make(settings))
      const found = Array.from(message.matchAll(/(?:: |; )([\w.]+) /g), ([, name]) => name)
      assert.sameMembers(found, [...names], message)
      assert.notInclude(message, "garbage")
      const error = yield* Effect.flip(Effect.scoped(Layer.build(PaymentsPolicy.layer(settings))))
      assert.sameMembers(
        error.settings.map(({ setting }) => setting),
        [...names]
      )
      assert.notInclude(error.message, "garbage")
    }
  })

  it.each<readonly [name: "make" | "fullJitter", options: unknown, words: string]>([
    ...["garbage", null, 7].map((options) => ["make", options, "made of an object"] as const),
    ...[
      { base: Number.NaN, times: 1 },
      { base: "garbage", times: 1 },
      { base: -1, times: 1 },
      { base: "1 second", times: 1, cap: Number.NaN },
      { base: "1 second", times: Number.NaN },
      { base: "1 second", times: -1 },
      { base: "1 second", times: "2" },
      { base: "1 second" },
      null
    ].map((options) => ["fullJitter", options, "fullJitter takes"] as const)
  ])("%s throws for the options %j", (name, options, words) => {
    const made = refusalOf(() => PaymentsPolicy[name](options as never)) // as from JavaScript
    assert.include(made, words)
  })

  it("made of another one takes over its settings, but those that are undefined, and cannot be changed", () => {
    const quick = PaymentsPolicy.make({ ...oneAttempt, deadline: "5 seconds", horizon: undefined })
    assert.deepStrictEqual([quick.writes, quick.deadline], ["never", "5 seconds"])
    assert.isTrue(Duration.Equivalence(Duration.fromInputUnsafe(quick.horizon), Duration.hours(12)))
    assert.throws(() => Object.assign(quick, { deadline: Number.NaN }), TypeError)
  })
})

/** The defaults with one wrong time, as the types let it pass or as a caller without types gives it. */
const unmade: Readonly<Record<string, () => PaymentsPolicy>> = {
  "copied by Object.assign": () => Object.assign({}, oneAttempt, { attemptTimeout: Number.NaN }),
  "made by Object.create": () => Object.create(oneAttempt, { attemptTimeout: { value: Number.NaN, enumerable: true } }),
  "stored as JSON": () => JSON.parse(JSON.stringify(oneAttempt)),
  "read by a getter that throws": () =>
    Object.defineProperty(Object.assign({}, oneAttempt), "deadline", {
      enumerable: true,
      get: () => assert.fail("read")
    })
}

const payUnder = (policy: PaymentsPolicy) => {
  const { layer, sent } = scripted(respond(503))
  return Effect.map(
    Effect.flip(pay).pipe(Effect.provideService(PaymentsPolicy, policy), Effect.provide(paymentsOn(layer))),
    (error) => ({ error, sent: sent.length })
  )
}

describe("the policy of a call", () => {
  effect.each(Object.entries(unmade))("is InvalidRequest where it is %s, and nothing is sent", function* ([, make]) {
    const { error, sent } = yield* payUnder(make())
    assert.deepStrictEqual([error._tag, error.outcome, sent], ["InvalidRequest", "NotSent", 0])
    assert.include(error.message, "PaymentsPolicy")
  })

  effect("has the defaults for what it does not have, if all else in it is right", function* () {
    const older: unknown = { writes: "never" }
    const { error, sent } = yield* payUnder(older as PaymentsPolicy) // an object of an earlier version
    assert.deepStrictEqual([error._tag, sent], ["OutcomeUnknown", 1])
  })

  effect("goes before that of its scope, and that before the one of the layer or of the program", function* () {
    const { layer, sent } = scripted(respond(503))
    const times = (count: number) => PaymentsPolicy.make({ retryReads: Schedule.recurs(count) })
    const counted = Effect.suspend(() => {
      const before = sent.length
      return Effect.map(Effect.exit(read), () => sent.length - before)
    })
    yield* Effect.gen(function* () {
      assert.strictEqual(yield* counted, 5)
      const scope = Effect.all([counted, Effect.provideService(counted, PaymentsPolicy, times(0))])
      assert.deepStrictEqual(yield* Effect.provideService(scope, PaymentsPolicy, times(2)), [3, 1])
      assert.strictEqual(yield* counted, 5)
    }).pipe(Effect.provide(Layer.provide(paymentsOn(layer), Layer.succeed(PaymentsPolicy, times(4)))))
    // The policy of a program is used for a client that was built without one.
    const program = Layer.merge(paymentsOn(layer), Layer.succeed(PaymentsPolicy, times(6)))
    assert.strictEqual(yield* Effect.provide(counted, program), 7)
  })
})
