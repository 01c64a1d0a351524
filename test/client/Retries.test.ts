/** The budget of retries, and schedules of the user's own. */
import { assert, describe } from "@effect/vitest"
import { type FailedAttempt, PaymentsPolicy } from "effect-pix"
import { Effect, Layer, Logger, Metric, Schedule } from "effect"
import { TestClock } from "effect/testing"
import { makeBudget, OwnBudget } from "../../src/internal/retryBudget.ts"
import { effect } from "../support/effect.ts"
import { balance, record } from "../support/operations.ts"
import { type Call, create, failureOf, pay, play, read, type Script } from "../support/played.ts"
import { lostConnection, paymentsOn, refusedConnection, respond, scripted } from "../support/Wire.ts"

const recurring = { retryReads: Schedule.recurs(2), retryWrites: Schedule.recurs(2) }
const withCapacity = (capacity: number) =>
  PaymentsPolicy.make({ ...recurring, retryBudget: { capacity, retryCost: 14, throttledRetryCost: 5, refund: 1 } })

/** Makes calls one after another on one client, and says how many requests each of them sent. */
const counts = Effect.fnUntraced(function* (policy: PaymentsPolicy, replies: Script, calls: ReadonlyArray<Call>) {
  const { layer, sent } = scripted(...replies)
  const counted = (call: Call) =>
    Effect.suspend(() => {
      const before = sent.length
      return Effect.map(Effect.exit(call), () => sent.length - before)
    })
  return yield* Effect.provide(
    Effect.forEach(calls, counted),
    Layer.provide(paymentsOn(layer), Layer.succeed(PaymentsPolicy, policy))
  )
})

const times = <A>(count: number, one: A): ReadonlyArray<A> => Array.from({ length: count }, () => one)
const good = respond(200, balance)
const bad = respond(500)
const limited = respond(429)
const freely = Effect.provideService(
  read,
  PaymentsPolicy,
  PaymentsPolicy.make({ ...recurring, retryBudget: "unlimited" })
)

/**
 * As smithy's standard retry strategy: a retry costs 14 tokens, a retry after a 429 costs 5, a first success returns 1 and a
 * later one the cost of its last retry.
 */
const rows: ReadonlyArray<
  readonly [what: string, capacity: number, Script, calls: ReadonlyArray<Call>, requests: ReadonlyArray<number>]
> = [
  ["of 500 pays for 35 retries, and then for none", 500, [bad], times(19, read), [...times(17, 3), 2, 1]],
  ...(
    [
      [14, 2],
      [20, 2],
      [28, 3],
      [13, 1],
      [0, 1]
    ] as const
  ).map(
    ([capacity, requests]) =>
      [`of ${capacity} pays for ${requests - 1} retries`, capacity, [bad], [read], [requests]] as const
  ),
  [
    "gets the cost of a retry back when it succeeds",
    30,
    [bad, bad, good, bad, good, bad],
    times(4, read),
    [3, 2, 2, 1]
  ],
  ["of 4 pays for no retry after a 429", 4, [limited], [read], [1]],
  ["of 9 pays for one retry after a 429", 9, [limited], [read, read], [2, 1]],
  [
    "of 5 gets the 5 of a retry after a 429 back",
    5,
    [limited, good, limited, good, limited],
    times(4, read),
    [2, 2, 2, 1]
  ],
  ["of 19 gets only 5 back for a retry after a 429", 19, [bad, bad, limited, good, bad], times(3, read), [2, 2, 1]],
  [
    "gets 1 back for each first success: 13 are too few for a retry",
    14,
    [bad, bad, ...times(13, good), bad],
    [read, ...times(13, read), read],
    [2, ...times(13, 1), 1]
  ],
  [
    "gets 1 back for each first success: 14 are enough for a retry",
    14,
    [bad, bad, ...times(14, good), bad],
    [read, ...times(14, read), read],
    [2, ...times(14, 1), 2]
  ],
  [
    "never holds more than its capacity",
    14,
    [good, ...times(49, good), bad],
    [...times(50, read), read, read],
    [...times(50, 1), 2, 1]
  ],
  ["is shared by all operations of a client", 42, [bad], [pay, read, create], [3, 2, 1]],
  // A success and retries of a call without a limit leave the budget of the other calls as it was.
  [
    "is not touched by a call whose budget is unlimited",
    14,
    [good, bad, good, bad],
    [...times(52, freely), read, read],
    [1, 2, ...times(50, 3), 2, 1]
  ]
]

describe("the budget of retries", () => {
  effect.each(rows)("%s", function* ([, capacity, replies, calls, requests]) {
    assert.deepStrictEqual(yield* counts(withCapacity(capacity), replies, calls), [...requests])
  })

  effect("is 500 by default", function* () {
    const counted = yield* counts(PaymentsPolicy.make(recurring), [bad], times(20, read))
    assert.strictEqual(
      counted.reduce((sum, count) => sum + count),
      20 + 35
    )
  })

  effect("that is spent leaves the error as it is", function* () {
    const error = failureOf((yield* play(pay, withCapacity(0), respond(503))).result)
    assert.deepInclude(error, { _tag: "OutcomeUnknown", attempts: 1, reason: "ServerError" })
  })

  effect("that refuses a retry is counted each time, and logged once a minute for an operation", function* () {
    const { layer } = scripted(bad)
    const lines: Array<string> = []
    const refusals = yield* Effect.gen(function* () {
      for (let minute = 0; minute < 3; minute++) {
        yield* Effect.replicateEffect(Effect.exit(read), 5)
        yield* Effect.replicateEffect(Effect.exit(pay), 2)
        yield* TestClock.adjust("61 seconds")
      }
      return (yield* Metric.snapshot).flatMap(({ attributes, id, state }) =>
        id === "effect_pix_retries_refused" && "count" in state
          ? [[attributes?.["operation"], Number(state.count)]]
          : []
      )
    }).pipe(
      Effect.provideService(Metric.MetricRegistry, new Map()),
      Effect.provide([
        Layer.provide(paymentsOn(layer), Layer.succeed(PaymentsPolicy, withCapacity(0))),
        Logger.layer([Logger.make(({ message }) => void lines.push(String(message)))])
      ])
    )
    assert.deepStrictEqual(refusals, [
      ["getBalance", 15],
      ["requestWithdrawal", 6]
    ])
    assert.strictEqual(lines.filter((line) => line.startsWith("The retry budget is spent: getBalance")).length, 3)
  })

  effect("of its own takes none of a client's tokens, and returns none", function* () {
    const own = Effect.provideService(read, OwnBudget, makeBudget())
    assert.deepStrictEqual(yield* counts(withCapacity(28), [bad], [own, own, read, read]), [3, 1, 3, 1])
  })
})

/** A schedule that repeats five times while the predicate holds. */
const whileOf = (again: (attempt: FailedAttempt) => boolean) =>
  Schedule.recurs(5).pipe(
    Schedule.setInputType<FailedAttempt>(),
    Schedule.while(({ input }) => again(input))
  )

describe("a schedule of the user's own", () => {
  effect("is given each failed attempt, with its outcome, and no more", function* () {
    const seen: Array<FailedAttempt> = []
    const retryWrites = whileOf((attempt) => seen.push(attempt) > 0)
    const { requests, result } = yield* play(
      pay,
      { retryWrites },
      respond(429, "", { "retry-after": "7" }),
      refusedConnection,
      lostConnection,
      respond(502),
      respond(201, record("wd_1"))
    )
    assert.deepStrictEqual([result._tag, requests], ["Success", 5])
    assert.deepStrictEqual(
      seen.map(({ retryAfter, ...rest }) => ({ ...rest, hasTime: retryAfter !== undefined })),
      [
        { outcome: "Rejected", status: 429, reason: undefined, hasTime: true },
        { outcome: "NotSent", status: undefined, reason: "NoConnection", hasTime: false },
        { outcome: "Unknown", status: undefined, reason: "ConnectionLost", hasTime: false },
        { outcome: "Unknown", status: 502, reason: "ServerError", hasTime: false }
      ]
    )
  })

  effect("may end at a status", function* () {
    const { requests } = yield* play(
      pay,
      { retryWrites: whileOf(({ status }) => status !== 503) },
      respond(502),
      respond(503)
    )
    assert.strictEqual(requests, 2)
  })

  const throws = Schedule.recurs(5).pipe(Schedule.while((): boolean => assert.fail("a schedule's own mistake")))
  const hangs = Schedule.recurs(5).pipe(Schedule.while(() => Effect.never))
  effect.each([
    ["throws", throws, 0],
    ["never answers", hangs, 7000]
  ] as const)(
    "that %s ends the call with the error of its last attempt, at the deadline at the latest",
    function* ([, schedule, time]) {
      for (const [call, reply, tag, outcome] of [
        [pay, lostConnection, "OutcomeUnknown", "Unknown"],
        [pay, refusedConnection, "ServiceUnavailable", "NotSent"],
        [pay, limited, "RateLimited", "Rejected"],
        [read, respond(503), "ServiceUnavailable", "NoEffect"]
      ] as const) {
        const policy = { retryReads: schedule, retryWrites: schedule, deadline: "7 seconds" } as const
        const { requests, result, took } = yield* play(call, policy, reply)
        const error = failureOf(result)
        assert.deepStrictEqual([error._tag, error.outcome, requests, took], [tag, outcome, 1, time])
      }
    }
  )
})
