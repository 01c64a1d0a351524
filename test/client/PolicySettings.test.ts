/** Settings of a policy from programs without types. */
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Result, Schema } from "effect"
import { PaymentsPolicy } from "effect-pix"
import { effect } from "../support/effect.ts"
import { pay } from "../support/played.ts"
import { paymentsOn, respond, scripted } from "../support/Wire.ts"

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
  acceptValue: functions,
  refusal: functions,
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
  it("throws a SchemaError that names each wrong setting and no value", () => {
    for (const [settings, names] of rows) {
      const message = refusalOf(() => PaymentsPolicy.make(settings))
      assert.sameMembers(
        Array.from(message.matchAll(/(?:: |; )([\w.]+) /g), ([, name]) => name),
        [...names],
        message
      )
      assert.notInclude(message, "garbage")
      assert.strictEqual(
        refusalOf(() => PaymentsPolicy.layer(settings)),
        message
      )
    }
  })

  it.each(["garbage", null, 7])("throws where it is made of %j", (given: unknown) => {
    assert.include(
      refusalOf(() => PaymentsPolicy.make(given as object)),
      "made of an object"
    ) // as from JavaScript
  })

  it.each([
    { base: Number.NaN, times: 1 },
    { base: "garbage", times: 1 },
    { base: -1, times: 1 },
    { base: "1 second", times: 1, cap: Number.NaN },
    { base: "1 second", times: Number.NaN },
    { base: "1 second", times: -1 },
    { base: "1 second", times: "2" },
    { base: "1 second" },
    null
  ])("throws for the jitter %j", (options: unknown) => {
    assert.include(
      refusalOf(() => PaymentsPolicy.fullJitter(options as never)),
      "fullJitter takes"
    ) // as from JavaScript
  })

  it("cannot be changed after it was made", () => {
    assert.throws(() => Object.assign(PaymentsPolicy.make(), { deadline: Number.NaN }), TypeError)
  })
})

/** The defaults with one wrong time, as the types let it pass or as a caller without types gives it. */
const unmade: Readonly<Record<string, () => PaymentsPolicy>> = {
  "copied by Object.assign": () => Object.assign({}, PaymentsPolicy.once, { attemptTimeout: Number.NaN }),
  "made by Object.create": () =>
    Object.create(PaymentsPolicy.once, { attemptTimeout: { value: Number.NaN, enumerable: true } }),
  "stored as JSON": () => JSON.parse(JSON.stringify(PaymentsPolicy.once)),
  "read by a getter that throws": () =>
    Object.defineProperty(Object.assign({}, PaymentsPolicy.once), "deadline", {
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

describe("a policy that `make` did not make", () => {
  effect.each(Object.keys(unmade))(
    "is InvalidRequest of the call where it is %s, and nothing is sent",
    function* (how) {
      const { error, sent } = yield* payUnder(unmade[how]!())
      assert.deepStrictEqual([error._tag, error.outcome, sent], ["InvalidRequest", "NotSent", 0])
      assert.include(error.message, "PaymentsPolicy")
    }
  )

  effect("has the defaults for what it does not have, if all else in it is right", function* () {
    const older: unknown = { writes: "never" }
    const { error, sent } = yield* payUnder(older as PaymentsPolicy) // an object of an earlier version
    assert.deepStrictEqual([error._tag, sent], ["OutcomeUnknown", 1])
  })
})
