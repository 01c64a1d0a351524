import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Layer, Result, Schedule, Schema } from "effect"
import { PaymentsPolicy } from "effect-pix"
import { NodePayments } from "effect-pix/node"
import { type Answer, json, makeGateway } from "../support/Gateway.ts"
import { record } from "../support/operations.ts"
import { paymentsOn, respond, scripted, transports } from "../support/Wire.ts"
import { pay, play, read } from "../support/played.ts"
import { effect, live } from "../support/effect.ts"

const durations = [
  "garbage",
  "soon",
  "10",
  "",
  Number.NaN,
  -1,
  "-1 second",
  true,
  null,
  {},
  [],
  { seconds: Number.NaN }
]
const words = ["", "Never", "garbage", true, null, 1]
const functions = ["garbage", true, null, 7, {}]
const numbers = ["1", Number.NaN, -1, Number.POSITIVE_INFINITY, null, true]
const schedules = ["1 second", 3, true, null, {}, () => 1]

/** Wrong values for each setting, from a caller without types. */
const wrong: { readonly [Setting in keyof PaymentsPolicy]: ReadonlyArray<unknown> } = {
  attemptTimeout: [...durations, 0, Duration.zero],
  deadline: [...durations, 0, Duration.zero, [Number.NaN, 0], new Date(0)],
  retryReads: schedules,
  retryWrites: schedules,
  writes: words,
  horizon: [...durations, 0, Duration.zero],
  maxRetryAfter: durations,
  maxResponseBytes: [...numbers, 0, 0.5],
  acceptValue: functions,
  refusal: functions,
  retryBudget: ["garbage", 500, true, null, []],
  onInterruptedWrite: functions
}

/** A policy from a caller without types. */
const policyOf = (settings: Record<string, unknown>) => PaymentsPolicy.make(settings)

/** The message with which `make` refuses the settings. */
const refusalOf = (settings: Record<string, unknown>): string => {
  const made = Result.try(() => policyOf(settings))
  assert(Result.isFailure(made), JSON.stringify(settings))
  assert(Schema.isSchemaError(made.failure))
  return made.failure.message
}

/** The settings that the message of a refusal names. */
const namedIn = (message: string): ReadonlyArray<string> =>
  Array.from(message.matchAll(/(?:: |; )([\w.]+) /g), ([, name = ""]) => name)

describe("PaymentsPolicy.make", () => {
  for (const [setting, values] of Object.entries(wrong)) {
    it(`throws, and names the setting and no value, when ${setting} is wrong`, () => {
      for (const value of values) {
        const message = refusalOf({ [setting]: value })
        assert.deepStrictEqual(namedIn(message), [setting], message)
        assert.notInclude(message, "garbage")
      }
    })
  }

  it("names a number of the budget that is wrong or missing", () => {
    const budget = { capacity: 500, retryCost: 14, throttledRetryCost: 5, refund: 1 }
    for (const name of Object.keys(budget)) {
      for (const value of numbers) {
        const message = refusalOf({ retryBudget: { ...budget, [name]: value } })
        assert.deepStrictEqual(namedIn(message), [`retryBudget.${name}`], message)
      }
      const { [name]: _, ...others } = budget as Record<string, number>
      assert.deepStrictEqual(namedIn(refusalOf({ retryBudget: others })), [`retryBudget.${name}`])
    }
  })

  it("names every wrong setting at once", () => {
    const all = Object.fromEntries(Object.entries(wrong).map(([setting, [value]]) => [setting, value]))
    assert.sameMembers([...namedIn(refusalOf(all))], Object.keys(wrong))
  })

  it("refuses a setting that it does not know, such as one with a slip of the pen", () => {
    assert.deepStrictEqual(namedIn(refusalOf({ deadLine: "1 second" })), ["deadLine"])
    assert.deepStrictEqual(namedIn(refusalOf({ brCode: "require" })), ["brCode"])
    for (const options of ["garbage", null, 7]) {
      const given: unknown = options
      assert.throws(() => PaymentsPolicy.make(given as Partial<PaymentsPolicy>), /made of an object/)
    }
  })

  it("throws also where a layer is made of the settings", () => {
    const given: unknown = { deadline: "garbage" }
    assert.throws(() => PaymentsPolicy.layer(given as Partial<PaymentsPolicy>), /deadline must be a duration/)
  })

  it("makes a policy of another one, whose settings it takes over", () => {
    const quick = PaymentsPolicy.make({ ...PaymentsPolicy.once, deadline: "5 seconds", horizon: undefined })
    assert.deepStrictEqual([quick.writes, quick.deadline], ["never", "5 seconds"])
    assert.isTrue(Duration.Equivalence(Duration.fromInputUnsafe(quick.horizon), Duration.hours(12)))
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

describe("a policy that `make` did not make", () => {
  for (const [how, policy] of Object.entries(unmade)) {
    effect(`is InvalidRequest of the call if it is ${how}, and nothing is sent`, function* () {
      const { layer, sent } = scripted(respond(503))
      const client = paymentsOn(layer)
      const error = yield* Effect.flip(pay).pipe(
        Effect.provideService(PaymentsPolicy, policy()),
        Effect.provide(client)
      )
      assert.deepStrictEqual([error._tag, error.outcome, sent.length], ["InvalidRequest", "NotSent", 0])
      assert.include(error.message, "PaymentsPolicy")
    })
  }

  effect("has the defaults for what it does not have, if all else in it is right", function* () {
    const { layer, sent } = scripted(respond(503))
    const client = paymentsOn(layer)
    const older: unknown = { writes: "never" }
    const error = yield* Effect.flip(pay).pipe(
      Effect.provideService(PaymentsPolicy, older as PaymentsPolicy), // an object of an earlier version
      Effect.provide(client)
    )
    assert.deepStrictEqual([error._tag, sent.length], ["OutcomeUnknown", 1])
  })

  it("cannot come of one that is changed after it was made", () => {
    assert.throws(() => Object.assign(PaymentsPolicy.make(), { deadline: Number.NaN }), TypeError)
  })
})

describe("a policy that is right", () => {
  effect("may have its times in every form of a duration, and may wait for no Retry-After", function* () {
    const forms = ["2 seconds", 2000, 2_000_000_000n, [2, 0], { seconds: 1, milliseconds: 1000 }, Duration.seconds(2)]
    for (const attemptTimeout of forms as ReadonlyArray<Duration.Input>) {
      const { took } = yield* play(read, { attemptTimeout, retryReads: Schedule.recurs(0) }, "silence")
      assert.strictEqual(took, 2000)
    }
    for (const maxRetryAfter of [0, { seconds: 0 }, "Infinity"] as const) {
      const { requests } = yield* play(read, { maxRetryAfter, deadline: "Infinity" }, respond(429))
      assert.strictEqual(requests, 3)
    }
  })
})

/** More than the 2^31 - 1 ms that a timer of a platform takes. */
const endless: ReadonlyArray<Duration.Input> = ["Infinity", Duration.infinity, "25 days", 2 ** 31, Number.MAX_VALUE]

describe.each(Object.entries({ ...transports, NodePayments: Layer.orDie(NodePayments.layerHttpClient()) }))(
  "a time without end, over %s",
  (_, transport) => {
    live("sets no limit: a withdrawal succeeds with one request", function* () {
      const gateway = yield* makeGateway
      // The answer comes after a timer of 1 ms has fired that was set before the request: what a platform makes of a
      // time that is too long for it.
      const answered: Answer = (response, request) => {
        setTimeout(() => json(record(request.headers["idempotency-key"] ?? ""), 201)(response, request), 5)
      }
      gateway.script(answered)
      const client = paymentsOn(transport, { baseUrl: gateway.url })
      for (const time of endless) {
        for (const policy of [
          { attemptTimeout: time, deadline: time },
          { attemptTimeout: time, deadline: "1 hour" }
        ]) {
          const before = gateway.requests.length
          const result = yield* Effect.result(pay).pipe(
            Effect.provideService(PaymentsPolicy, policyOf(policy)),
            Effect.provide(client)
          )
          assert.isTrue(Result.isSuccess(result), JSON.stringify(policy))
          assert.strictEqual(gateway.requests.length - before, 1)
        }
      }
    })
  }
)
