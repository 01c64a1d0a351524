import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Layer, Result, Schedule } from "effect"
import { Payments, PaymentsPolicy } from "effect-pix"
import { NodePayments } from "effect-pix/node"
import { type Answer, json, makeGateway } from "../support/Gateway.ts"
import { balance, calls, record, withdrawal } from "../support/operations.ts"
import { lostConnection, paymentsOn, respond, scripted, transports } from "../support/Wire.ts"
import { pay, play, read } from "../support/played.ts"

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

/** An object whose properties throw when they are read. */
const throwing: unknown = new Proxy({}, { get: () => assert.fail(), has: () => assert.fail() })

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
  brCode: words,
  acceptValue: functions,
  refusal: functions,
  retryBudget: ["garbage", 500, true, null, []],
  onInterruptedWrite: functions
}

/** A policy from a caller without types. */
const policyOf = (settings: Record<string, unknown>) => PaymentsPolicy.make(settings)

/** Makes each call under a policy, and returns the issues of its error. */
const refusalsUnder = Effect.fnUntraced(function* (policy: PaymentsPolicy) {
  const { layer, sent } = scripted(respond(500))
  const seen: Array<ReadonlyArray<string>> = []
  for (const { isWrite, operation, run } of calls) {
    const error = yield* Effect.flip(run).pipe(
      Effect.provideService(PaymentsPolicy, policy),
      Effect.provide(paymentsOn(layer))
    )
    assert(error._tag === "InvalidRequest", operation)
    assert.deepStrictEqual([error.operation, error.outcome, error.attempts], [operation, "NotSent", 0])
    assert.strictEqual(error.idempotencyKey !== undefined, isWrite, "the error of a write holds its key")
    for (const { path } of error.issues) assert.include(error.message, path)
    seen.push(error.issues.map(({ path }) => path))
  }
  assert.strictEqual(sent.length, 0)
  const [first = []] = seen
  for (const other of seen) assert.deepStrictEqual(other, first)
  return first
})

describe("a policy with a wrong setting", () => {
  for (const [setting, values] of Object.entries(wrong)) {
    it.effect(`is InvalidRequest of each call, and nothing is sent, when ${setting} is wrong`, () =>
      Effect.gen(function* () {
        for (const value of values) {
          const paths = yield* refusalsUnder(policyOf({ [setting]: value }))
          assert.deepStrictEqual(paths, [`PaymentsPolicy.${setting}`], String(value))
        }
      })
    )
  }

  it.effect("is InvalidRequest of each call, and nothing is sent, when a setting throws as it is read", () =>
    Effect.gen(function* () {
      for (const setting of Object.keys(wrong)) {
        const [path] = yield* refusalsUnder(policyOf({ [setting]: throwing }))
        assert.include(path, `PaymentsPolicy.${setting}`)
      }
      const getter = Object.defineProperty({}, "deadline", { enumerable: true, get: () => assert.fail() })
      assert.include(yield* refusalsUnder(policyOf(getter)), "PaymentsPolicy.deadline")
    })
  )

  it.effect("is InvalidRequest when a number of the budget is wrong or missing", () =>
    Effect.gen(function* () {
      const budget = { capacity: 500, retryCost: 14, throttledRetryCost: 5, refund: 1 }
      for (const name of Object.keys(budget)) {
        for (const value of [...numbers, undefined]) {
          const paths = yield* refusalsUnder(policyOf({ retryBudget: { ...budget, [name]: value } }))
          assert.deepStrictEqual(paths, [`PaymentsPolicy.retryBudget.${name}`])
        }
      }
    })
  )

  it.effect("names each of them at once", () =>
    Effect.gen(function* () {
      const all = Object.fromEntries(Object.entries(wrong).map(([setting, [value]]) => [setting, value]))
      const paths = Object.keys(wrong).map((setting) => `PaymentsPolicy.${setting}`)
      assert.sameMembers([...(yield* refusalsUnder(policyOf(all)))], paths)
      // A policy that `make` has not completed.
      const bare: unknown = {}
      assert.sameMembers([...(yield* refusalsUnder(bare as PaymentsPolicy))], paths)
      const none: unknown = "garbage"
      assert.deepStrictEqual(yield* refusalsUnder(PaymentsPolicy.make(none as PaymentsPolicy)), ["PaymentsPolicy"])
    })
  )

  it.effect("is InvalidRequest also where the layer of a program or of the client has it", () =>
    Effect.gen(function* () {
      const unbounded: unknown = { deadline: "garbage" }
      const layer = PaymentsPolicy.layer(unbounded as Partial<PaymentsPolicy>)
      const client = paymentsOn(scripted(respond(500)).layer)
      for (const context of [Layer.merge(client, layer), Layer.provide(client, layer)]) {
        const error = yield* Effect.flip(pay).pipe(Effect.provide(context))
        assert.deepStrictEqual([error._tag, error.outcome], ["InvalidRequest", "NotSent"])
      }
    })
  )

  it.effect("is InvalidRequest of this call alone where an earlier one may have been executed", () =>
    Effect.gen(function* () {
      const { layer, sent } = scripted(lostConnection)
      const error = yield* Effect.flatMap(Payments, (payments) =>
        Effect.flip(payments.requestWithdrawal(withdrawal, { idempotencyKey: "k", earlier: "Unknown" }))
      ).pipe(
        Effect.provideService(PaymentsPolicy, policyOf({ attemptTimeout: Number.NaN })),
        Effect.provide(paymentsOn(layer))
      )
      assert.deepStrictEqual([error._tag, error.outcome, sent.length], ["InvalidRequest", "NotSent", 0])
    })
  )

  it.effect("is searched for once for each policy, and not at each call", () =>
    Effect.gen(function* () {
      let reads = 0
      const retryBudget = {
        get capacity() {
          reads++
          return 500
        },
        retryCost: 14,
        throttledRetryCost: 5,
        refund: 1
      }
      const policy = PaymentsPolicy.make({ retryBudget })
      const { layer, sent } = scripted(respond(200, balance))
      const once = Effect.provideService(read, PaymentsPolicy, policy)
      yield* Effect.provide(Effect.repeat(once, { times: 9 }), paymentsOn(layer))
      assert.deepStrictEqual([sent.length, reads], [10, 1])
    })
  )
})

describe("a policy that is right", () => {
  it.effect("may have its times in every form of a duration, and may wait for no Retry-After", () =>
    Effect.gen(function* () {
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
  )
})

/** More than the 2^31 - 1 ms that a timer of a platform takes. */
const endless: ReadonlyArray<Duration.Input> = ["Infinity", Duration.infinity, "25 days", 2 ** 31, Number.MAX_VALUE]

describe.each(Object.entries({ ...transports, NodePayments: Layer.orDie(NodePayments.layerHttpClient()) }))(
  "a time without end, over %s",
  (_, transport) => {
    it.live("sets no limit: a withdrawal succeeds with one request", () =>
      Effect.gen(function* () {
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
    )
  }
)
