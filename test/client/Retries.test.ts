/** When a call is tried again, how long it waits and takes, and what a retry costs. */
import { assert, describe, vi } from "@effect/vitest"
import { type FailedAttempt, Payments, PaymentsPolicy } from "effect-pix"
import { Clock, Duration, Effect, Layer, Logger, Metric, Random, Result, Schedule } from "effect"
import { TestClock } from "effect/testing"
import { effect, live } from "../support/effect.ts"
import { balance, record, requestWithdrawal } from "../support/operations.ts"
import {
  always,
  type Call,
  create,
  failureOf,
  pay,
  play,
  read,
  type Script,
  underTestClock
} from "../support/played.ts"
import { optionsOf } from "../support/failing.ts"
import { lostConnection, paymentsOn, refusedConnection, type Reply, respond, scripted } from "../support/Wire.ts"
import { interactive, oneAttempt } from "../support/policies.ts"

const good = respond(200, balance)
const bad = respond(503)
const waiting = (status: number, retryAfter: string) => respond(status, "", { "retry-after": retryAfter })
const no = respond(422)

/** A body that starts and never ends. */
const endless = (status: number, headers: Record<string, string> = {}): Reply => ({
  response: () => {
    const start = (controller: ReadableStreamDefaultController) =>
      controller.enqueue(new TextEncoder().encode(`{"id":`))
    return new Response(new ReadableStream({ start }), { status, headers })
  }
})

/** Calls that get these replies: when each request is sent, fields of the error, and how long the call takes, in milliseconds. */
const row = (
  calls: Call | ReadonlyArray<Call>,
  script: Script,
  at: ReadonlyArray<number>,
  policy: Partial<PaymentsPolicy> = {},
  error: object = {},
  took = at.at(-1)
) => ({ calls: [calls].flat(), script, at, policy, error, took })

const { fullJitter } = PaymentsPolicy
const given = Effect.flatMap(Payments, (payments) =>
  requestWithdrawal.call(payments, optionsOf("requestWithdrawal", "None"))
)
const twice = { attemptTimeout: "10 seconds", retryReads: Schedule.recurs(1), retryWrites: Schedule.recurs(1) } as const
const timedOut = { reason: "Timeout", attempts: 2 }
const unbounded = { attemptTimeout: Duration.infinity, deadline: Duration.infinity }
const capped = fullJitter({ base: "1 second", times: 5, cap: "3 seconds" })

/** Calls whose random numbers are all the greatest, 1. */
const rows: Readonly<Record<string, ReadonlyArray<ReturnType<typeof row>>>> = {
  "waits up to a bound that doubles each time, from 100 ms for reads and 500 ms for writes": [
    row(read, [bad], [0, 100, 300], { writes: "never" }),
    row([pay, create], [bad], [0, 500, 1500]),
    // They start again with each call.
    row(Effect.andThen(Effect.exit(read), read), [bad], [0, 100, 300, 300, 400, 600])
  ],
  "waits no longer than the cap of fullJitter": [
    row(read, [bad], [0, 1000, 3000, 6000, 9000, 12_000], { retryReads: capped }),
    row(read, [bad], [0], { retryReads: fullJitter({ base: 1, times: 0 }) })
  ],
  "waits by a schedule for reads and one for writes": [
    row(read, [bad], [0, 7000], { retryReads: Schedule.upTo(Schedule.spaced("7 seconds"), { times: 1 }) }),
    row([pay, create], [bad], [0, 0, 0, 0, 0], { retryWrites: Schedule.recurs(4) })
  ],
  "waits for a Retry-After in seconds or as a date": ["20", "Thu, 01 Jan 1970 00:00:20 GMT"].flatMap((time) =>
    [429, 503].map((status) => row([read, pay], [waiting(status, time), no], [0, 20_000]))
  ),
  "waits no less for a Retry-After that is over": ["0", "Thu, 01 Jan 1970 00:00:00 GMT"].map((time) =>
    row(read, [waiting(503, time), no], [0, 100])
  ),
  "waits as it would without a Retry-After that cannot be read": ["", "-1", "1.5", "soon", "20, 30"].map((time) =>
    row(read, [waiting(429, time)], [0, 100, 300])
  ),
  "waits for a Retry-After of 30 seconds, and fails at once with a longer one and its time": [
    row(read, [waiting(429, "30"), good], [0, 30_000]),
    row(read, [waiting(429, "31")], [0], {}, { retryAfter: Duration.seconds(31) }),
    row(read, [waiting(429, "Thu, 01 Jan 1970 01:00:00 GMT")], [0], {}, { retryAfter: Duration.hours(1) }),
    // The longest that is believed.
    row(read, [waiting(429, "99999999999999")], [0], {}, { retryAfter: Duration.days(365) }),
    row(pay, [waiting(503, "6")], [0], { maxRetryAfter: "5 seconds" }),
    row(pay, [waiting(503, "15")], [0], { deadline: "15 seconds" }),
    row(read, [respond(429)], [0, 100, 300], { maxRetryAfter: 0 })
  ],
  "limits the time of each attempt, with its body, and tries again": [
    row(read, ["silence"], [0, 10_000], twice, { ...timedOut, _tag: "ServiceUnavailable" }, 20_000),
    ...[{}, { "content-length": "9999" }].flatMap((headers) => [
      row(read, [endless(200, headers)], [0, 10_000], twice, { ...timedOut, status: 200 }, 20_000),
      row(pay, [endless(201, headers)], [0, 10_000], twice, { ...timedOut, _tag: "OutcomeUnknown" }, 20_000)
    ]),
    row(read, ["silence"], [0], { ...oneAttempt, attemptTimeout: { seconds: 1, milliseconds: 1000 } }, {}, 2000)
  ],
  "leaves a refusal whose body never ends in doubt, unless its status decides": [
    row(pay, [endless(422)], [0], twice, { _tag: "OutcomeUnknown", reason: "Timeout" }, 10_000),
    row(given, [endless(401)], [0], twice, { _tag: "AuthError" }, 10_000),
    row(given, [endless(407)], [0], twice, { _tag: "RequestRejected" }, 10_000),
    row(given, [endless(422)], [0], twice, { _tag: "OutcomeUnknown", reason: "Timeout" }, 10_000)
  ],
  "limits the time over all attempts and waits": [
    row(read, ["silence"], [0, 11_000, 23_000], { ...twice, deadline: "25 seconds", retryReads: capped }, {}, 25_000),
    row(pay, [bad], [0, 10_000], { deadline: "15 seconds", retryWrites: Schedule.spaced("10 seconds") }),
    row(pay, [bad], [0], { horizon: "100 millis" }, { reason: "ServerError" })
  ],
  "is sent once under `once`, whatever fails": [bad, respond(429), lostConnection, refusedConnection].map((reply) =>
    row([read, pay, create], [reply], [0], oneAttempt)
  ),
  "ends within ten seconds under the recipe for a person who waits": [
    row(read, ["silence"], [0, 6100], interactive, {}, 10_000),
    row([pay, create], ["silence"], [0, 6500], interactive, {}, 10_000),
    row(read, [waiting(429, "3")], [0], interactive),
    row(read, [waiting(429, "2")], [0, 2000, 4000], interactive)
  ]
}

describe("a call", () => {
  effect.each(Object.entries(rows))("%s", function* ([, all]) {
    for (const { at, calls, error, policy, script, took } of all) {
      for (const call of calls) {
        yield* TestClock.setTime(0)
        const played = yield* always(1)(play(call, policy, ...script))
        assert.deepStrictEqual([played.at, played.took], [at, took])
        if (Result.isFailure(played.result)) assert.deepInclude<object>(played.result.failure, error)
        else assert.deepStrictEqual(error, {})
      }
    }
  })

  effect("waits a random part of its bound, in whole milliseconds, and another one each time", function* () {
    assert.deepStrictEqual((yield* always(0.999)(play(read, {}, bad))).at, [0, 99, 298])
    assert.deepStrictEqual((yield* always(0)(play(read, {}, bad))).at, [0, 0, 0])
    const waits = new Set<number | undefined>()
    for (let seed = 0; seed < 20; seed++)
      waits.add((yield* Random.withSeed(play(pay, {}, lostConnection), `seed-${seed}`)).at[1])
    assert.isAbove(waits.size, 15)
  })

  effect("may be silent for days where the policy has no limit", function* () {
    const { layer, sent } = scripted("silence")
    const silent = yield* Effect.forkChild(
      Effect.provide(read, Layer.provide(paymentsOn(layer), PaymentsPolicy.layer(unbounded)))
    )
    yield* TestClock.adjust("40 days")
    assert.deepStrictEqual([sent.length, silent.pollUnsafe()], [1, undefined])
  })

  // A timer of a platform takes at most 2^31 - 1 ms, and fires at once for more.
  live.each<Duration.Input>(["Infinity", "25 days", 2 ** 31, Number.MAX_VALUE])(
    "with a limit of %s sets no timer that a platform would fire at once",
    function* (time) {
      const timers = vi.spyOn(globalThis, "setTimeout")
      const client = paymentsOn(scripted(respond(201, record("wd_1"))).layer)
      for (const deadline of [time, "1 hour"] as const) {
        const policy = PaymentsPolicy.layer({ attemptTimeout: time, deadline })
        assert.isTrue(Result.isSuccess(yield* Effect.result(pay).pipe(Effect.provide(Layer.provide(client, policy)))))
      }
      const longest = Math.max(0, ...timers.mock.calls.map(([, delay]) => delay ?? 0))
      timers.mockRestore()
      assert.isBelow(longest, 2 ** 31)
    }
  )
})

/** A clock whose wall time is set by `jump` after 2 seconds. Its monotonic time and its timers are those of the test. */
const jumping = (jump: Duration.Input) =>
  Effect.map(Clock.Clock, (clock): Clock.Clock => {
    const start = clock.currentTimeMillisUnsafe()
    const currentTimeMillisUnsafe = () => {
      const now = clock.currentTimeMillisUnsafe()
      return now - start < 2000 ? now : now + Duration.toMillis(jump)
    }
    return { ...clock, currentTimeMillisUnsafe, currentTimeMillis: Effect.sync(currentTimeMillisUnsafe) }
  })

describe("a write with a deadline of 10 seconds, tried again each second", () => {
  effect.each([
    ["ends after 10 seconds where the wall clock is set back by 11 hours", Duration.hours(-11), 10],
    ["ends after 10 seconds where the wall clock is set ahead by 3 hours", Duration.hours(3), 10],
    ["is not sent again where the wall clock is set ahead by more than the horizon", Duration.hours(13), 2]
  ] as const)("%s", function* ([, jump, requests]) {
    yield* TestClock.setTime(Date.UTC(2026, 0, 1))
    const { layer, sent } = scripted(bad)
    const policy = PaymentsPolicy.layer({ deadline: "10 seconds", retryWrites: Schedule.spaced("1 second") })
    const error = yield* Effect.flip(pay).pipe(
      Effect.provideService(Clock.Clock, yield* jumping(jump)),
      Effect.provide([paymentsOn(layer), policy]),
      underTestClock
    )
    assert.deepInclude(error, { _tag: "OutcomeUnknown", reason: "ServerError", attempts: requests })
    assert.strictEqual(sent.length, requests)
  })
})

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
const limited = respond(429)
const freely = Effect.provideService(
  read,
  PaymentsPolicy,
  PaymentsPolicy.make({ ...recurring, retryBudget: "unlimited" })
)
const spent = [2, ...times(14, 1)]

/**
 * As smithy's standard retry strategy: a retry costs 14 tokens, a retry after a 429 costs 5, a first success returns 1 and a
 * later one the cost of its last retry.
 */
const budgets: ReadonlyArray<
  readonly [what: string, capacity: number, Script, calls: ReadonlyArray<Call>, requests: ReadonlyArray<number>]
> = [
  ["of 500, the default, pays for 35 retries", 500, [bad], times(19, read), [...times(17, 3), 2, 1]],
  ["of 27 pays for one retry", 27, [bad], [read], [2]],
  ["of 28 pays for two retries", 28, [bad], [read], [3]],
  ["gets the cost of a good retry back", 30, [bad, bad, good, bad, good, bad], times(4, read), [3, 2, 2, 1]],
  ["of 4 pays for no retry after a 429", 4, [limited], [read], [1]],
  ["of 9 pays for one retry after a 429", 9, [limited], [read, read], [2, 1]],
  ["of 5 gets the 5 of a 429 back", 5, [limited, good, limited, good, limited], times(4, read), [2, 2, 2, 1]],
  ["of 19 gets only 5 back for a retry after a 429", 19, [bad, bad, limited, good, bad], times(3, read), [2, 2, 1]],
  ["gets 1 back for a first success: 13 are too few", 14, [bad, bad, ...times(13, good), bad], times(15, read), spent],
  [
    "gets 1 back for a first success: 14 are enough",
    14,
    [bad, bad, ...times(14, good), bad],
    times(16, read),
    [...spent, 2]
  ],
  ["never holds more than its capacity", 14, [good, ...times(49, good), bad], times(52, read), [...times(50, 1), 2, 1]],
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
  effect.each(budgets)("%s", function* ([, capacity, replies, calls, requests]) {
    const policy = capacity === 500 ? PaymentsPolicy.make(recurring) : withCapacity(capacity)
    assert.deepStrictEqual(yield* counts(policy, replies, calls), [...requests])
  })

  effect("that refuses a retry is counted each time, and logged once a minute for an operation", function* () {
    const lines: Array<string> = []
    const refusals = yield* Effect.gen(function* () {
      for (let minute = 0; minute < 3; minute++) {
        yield* Effect.replicateEffect(Effect.exit(read), 5)
        yield* Effect.replicateEffect(Effect.exit(pay), 2)
        yield* TestClock.adjust("61 seconds")
      }
      return (yield* Metric.snapshot).flatMap(({ attributes, id, state }) =>
        id === "effect_pix_retries_refused_total" && "count" in state
          ? [[attributes?.["operation"], Number(state.count)]]
          : []
      )
    }).pipe(
      Effect.provideService(Metric.MetricRegistry, new Map()),
      Effect.provide([
        Layer.provide(paymentsOn(scripted(bad).layer), Layer.succeed(PaymentsPolicy, withCapacity(0))),
        Logger.layer([Logger.make(({ message }) => void lines.push(String(message)))])
      ])
    )
    assert.deepStrictEqual(refusals, [
      ["getBalance", 15],
      ["requestWithdrawal", 6]
    ])
    assert.strictEqual(lines.filter((line) => line.startsWith("The retry budget is spent: getBalance")).length, 3)
  })
})

/** A schedule that repeats five times while the predicate holds. */
const whileOf = (again: (attempt: FailedAttempt) => boolean) =>
  Schedule.recurs(5).pipe(
    Schedule.setInputType<FailedAttempt>(),
    Schedule.while(({ input }) => again(input))
  )

describe("a schedule of the user's own", () => {
  effect("is given each failed attempt, with its outcome, and may end at one", function* () {
    const seen: Array<FailedAttempt> = []
    const { requests, result } = yield* play(
      pay,
      { retryWrites: whileOf((attempt) => seen.push(attempt) > 0 && attempt.status !== 502) },
      waiting(429, "7"),
      refusedConnection,
      lostConnection,
      respond(502)
    )
    assert.deepStrictEqual([result._tag, requests], ["Failure", 4])
    assert.deepStrictEqual(seen, [
      { outcome: "Rejected", status: 429, reason: undefined, retryAfter: Duration.seconds(7) },
      { outcome: "NotSent", status: undefined, reason: "NoConnection", retryAfter: undefined },
      { outcome: "Unknown", status: undefined, reason: "ConnectionLost", retryAfter: undefined },
      { outcome: "Unknown", status: 502, reason: "ServerError", retryAfter: undefined }
    ])
  })

  effect.each([
    ["throws", () => assert.fail("a schedule's own mistake"), 0],
    ["never answers", () => Effect.never, 7000]
  ] as const)(
    "that %s ends the call with the error of its last attempt, at the deadline at the latest",
    function* ([, answer, time]) {
      const schedule = Schedule.recurs(5).pipe(Schedule.while((): Effect.Effect<boolean> => answer()))
      for (const [call, reply, tag, outcome] of [
        [pay, lostConnection, "OutcomeUnknown", "Unknown"],
        [pay, refusedConnection, "ServiceUnavailable", "NotSent"],
        [pay, limited, "RateLimited", "Rejected"],
        [read, bad, "ServiceUnavailable", "NoEffect"]
      ] as const) {
        const policy = { retryReads: schedule, retryWrites: schedule, deadline: "7 seconds" } as const
        const { requests, result, took } = yield* play(call, policy, reply)
        const error = failureOf(result)
        assert.deepStrictEqual([error._tag, error.outcome, requests, took], [tag, outcome, 1, time])
      }
    }
  )
})
