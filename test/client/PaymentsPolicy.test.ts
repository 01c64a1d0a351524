import { assert, describe, it } from "@effect/vitest"
import {
  Credentials,
  IdempotencyKeyGen,
  type OutcomeUnknown,
  Payments,
  type PaymentsError,
  PaymentsPolicy,
  PixKey
} from "effect-pix"
import { Deferred, Duration, Effect, Exit, Fiber, Layer, Logger, Random, Redacted, Ref, Result, Schedule } from "effect"
import { FetchHttpClient } from "effect/http"
import { TestClock } from "effect/testing"
import { gzipSync } from "node:zlib"
import { type Answer, closedPort, json, makeGateway, reset, silence, stalled, truncated } from "../support/Gateway.ts"
import {
  balance,
  charge,
  created,
  credentials,
  detail,
  lostConnection,
  paymentsOn,
  payout,
  record,
  refusedConnection,
  type Reply,
  respond,
  scripted,
  transports
} from "../support/Wire.ts"

type Service = Payments["Service"]
type Call = Effect.Effect<unknown, PaymentsError, Payments>
type Script = readonly [Reply, ...ReadonlyArray<Reply>]

const pay = Effect.flatMap(Payments, (payments) => payments.requestWithdrawal(payout))
const create = Effect.flatMap(Payments, (payments) => payments.createTransaction(charge))
const read = Effect.flatMap(Payments, (payments) => payments.getBalance({ companyId: 7 }))

/** Every random number is this one. */
const always = (part: number) =>
  Effect.provideService(Random.Random, { nextDoubleUnsafe: () => part, nextIntUnsafe: () => 0 })

/** Lets an hour go by while it runs. */
const underTestClock = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(effect)
    yield* TestClock.adjust("1 hour")
    return yield* Fiber.join(fiber)
  })

/** Runs a call against the replies and says what came of it, when each request left, and when it ended. */
const play = Effect.fnUntraced(function* (call: Call, policy: Partial<PaymentsPolicy>, ...replies: Script) {
  const { layer, sent } = scripted(...replies)
  const start = yield* Effect.clockWith((clock) => clock.currentTimeMillis)
  const [result, end] = yield* underTestClock(
    Effect.all([Effect.result(call), Effect.clockWith((clock) => clock.currentTimeMillis)])
  ).pipe(Effect.provide(Layer.provide(paymentsOn(layer), PaymentsPolicy.layer(policy))))
  return { result, requests: sent.length, at: sent.map((one) => one.at - start), took: end - start, sent }
})

const failureOf = (result: Result.Result<unknown, PaymentsError>): PaymentsError => {
  if (Result.isSuccess(result)) throw new Error("it succeeded")
  return result.failure
}

describe("the waits between attempts", () => {
  it.effect(
    "the waits are a random part of the base, doubled every time: by default 100 ms for reads, 500 ms for writes",
    () =>
      Effect.gen(function* () {
        for (const part of [0, 0.5, 1]) {
          const reading = yield* always(part)(play(read, {}, respond(503)))
          assert.deepStrictEqual(reading.at, [0, 100 * part, 300 * part])
          const paying = yield* always(part)(play(pay, {}, respond(503)))
          assert.deepStrictEqual(paying.at, [0, 500 * part, 1500 * part])
        }
      })
  )

  it.effect("the waits differ from call to call and stay within their bounds", () =>
    Effect.gen(function* () {
      const waits = new Set<number>()
      for (let seed = 0; seed < 20; seed++) {
        const { at, requests } = yield* Effect.provideService(
          play(pay, {}, lostConnection),
          PaymentsPolicy,
          PaymentsPolicy.make()
        ).pipe(Random.withSeed(`seed-${seed}`))
        const [first = -1, second = -1, third = -1] = at
        assert.strictEqual(requests, 3)
        assert.isTrue(first === 0 && second <= 500 && third - second <= 1000)
        waits.add(second).add(third - second)
      }
      assert.isAbove(waits.size, 30)
    })
  )

  it.effect("the waits stop growing at the cap", () =>
    Effect.gen(function* () {
      const retryReads = PaymentsPolicy.fullJitter({ base: "1 second", times: 5, cap: "3 seconds" })
      const { at } = yield* always(1)(play(read, { retryReads }, respond(503)))
      assert.deepStrictEqual(at, [0, 1000, 3000, 6000, 9000, 12_000])
    })
  )

  it.effect("the waits are those of any schedule that is given, each for its kind of call", () =>
    Effect.gen(function* () {
      const policy = {
        retryReads: Schedule.spaced("7 seconds").pipe(Schedule.upTo({ times: 1 })),
        retryWrites: Schedule.recurs(4)
      }
      assert.deepStrictEqual((yield* play(read, policy, respond(503))).at, [0, 7000])
      assert.deepStrictEqual((yield* play(pay, policy, respond(503))).at, [0, 0, 0, 0, 0])
      assert.deepStrictEqual((yield* play(create, policy, respond(503))).at, [0, 0, 0, 0, 0])
    })
  )

  it.effect("the waits begin anew with each call", () =>
    Effect.gen(function* () {
      const twice = Effect.andThen(Effect.exit(read), read)
      const { at } = yield* always(1)(play(twice, {}, respond(503)))
      assert.deepStrictEqual(at, [0, 100, 300, 300, 400, 600])
    })
  )
})

describe("Retry-After", () => {
  it.effect("a Retry-After is waited for, as seconds or as a date, by reads and writes, for 429 and 503", () =>
    Effect.gen(function* () {
      for (const call of [read, pay]) {
        for (const status of [429, 503]) {
          const seconds = respond(status, "", { "retry-after": "20" })
          assert.deepStrictEqual((yield* play(call, {}, seconds, respond(422))).at, [0, 20_000])
        }
      }
      yield* TestClock.setTime(Date.UTC(2026, 10, 21, 10, 0, 0))
      const date = respond(429, "", { "retry-after": "Sat, 21 Nov 2026 10:00:20 GMT" })
      assert.deepStrictEqual((yield* play(pay, {}, date, respond(422))).at, [0, 20_000])
    })
  )

  it.effect("a Retry-After does not shorten the wait of the schedule", () =>
    Effect.gen(function* () {
      const dates = ["0", "Thu, 01 Jan 1970 00:00:00 GMT"]
      for (const hint of dates) {
        const again = respond(503, "", { "retry-after": hint })
        const { at } = yield* always(1)(play(read, {}, again, respond(422)))
        assert.deepStrictEqual(at, [0, 100])
      }
    })
  )

  it.effect("a Retry-After that is garbage counts as absent", () =>
    Effect.gen(function* () {
      const garbage = ["", "-1", "1.5", "1e3", "+5", "5;x", "soon", "2026-01-01T00:00:00Z", "NaN", "Infinity", "20, 30"]
      for (const hint of garbage) {
        const { at, result } = yield* always(1)(play(read, {}, respond(429, "", { "retry-after": hint })))
        assert.deepStrictEqual(at, [0, 100, 300], hint)
        const error = failureOf(result)
        assert.isTrue(error._tag === "RateLimited" && error.retryAfter === undefined, hint)
      }
    })
  )

  it.effect("a Retry-After of as long as allowed is waited for; beyond it the call fails at once, with the hint", () =>
    Effect.gen(function* () {
      const allowed = yield* play(read, {}, respond(429, "", { "retry-after": "30" }), respond(200, balance))
      assert.deepStrictEqual([allowed.result._tag, allowed.at], ["Success", [0, 30_000]])
      const hints: ReadonlyArray<readonly [string, Duration.Duration]> = [
        ["31", Duration.seconds(31)],
        ["Thu, 01 Jan 1970 01:00:00 GMT", Duration.hours(1)],
        ["99999999999999", Duration.nanos(99_999_999_999_999n * 1_000_000_000n)]
      ]
      for (const [hint, expected] of hints) {
        const { layer, sent } = scripted(respond(429, "", { "retry-after": hint }))
        yield* TestClock.setTime(0)
        const error = yield* Effect.flip(read).pipe(Effect.provide(paymentsOn(layer)))
        assert.strictEqual(sent.length, 1)
        assert.strictEqual(error._tag, "RateLimited")
        assert.isTrue(
          error._tag === "RateLimited" && Duration.Equivalence(error.retryAfter ?? Duration.zero, expected),
          hint
        )
      }
      const unavailable = yield* play(pay, { maxRetryAfter: "5 seconds" }, respond(503, "", { "retry-after": "6" }))
      assert.deepStrictEqual([unavailable.requests, unavailable.took], [1, 0])
      const error = failureOf(unavailable.result)
      assert.isTrue(error._tag === "OutcomeUnknown")
      assert.deepStrictEqual("retryAfter" in error ? error.retryAfter : undefined, Duration.seconds(6))
    })
  )
})

describe("time", () => {
  /** A body that starts and never ends. */
  const endless = (status: number, headers: Record<string, string> = {}): Reply => ({
    response: () =>
      new Response(
        new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode(`{"id":`)) }),
        { status, headers }
      )
  })

  it.effect("an attempt that is not answered ends at its timeout, and is tried again", () =>
    Effect.gen(function* () {
      const policy = {
        attemptTimeout: "10 seconds",
        retryReads: Schedule.recurs(2),
        retryWrites: Schedule.recurs(2)
      } as const
      const reading = yield* play(read, policy, "silence")
      assert.deepStrictEqual([reading.at, reading.took], [[0, 10_000, 20_000], 30_000])
      const error = failureOf(reading.result)
      assert.isTrue(error._tag === "ServiceUnavailable" && error.reason === "Timeout" && error.status === undefined)
      const paying = failureOf((yield* play(pay, policy, "silence")).result)
      assert.isTrue(paying._tag === "OutcomeUnknown" && paying.reason === "Timeout" && paying.attempts === 3)
    })
  )

  it.effect("the timeout covers the body", () =>
    Effect.gen(function* () {
      const policy = {
        attemptTimeout: "10 seconds",
        retryReads: Schedule.recurs(1),
        retryWrites: Schedule.recurs(1)
      } as const
      for (const headers of [{}, { "content-length": "9999" }]) {
        const reading = yield* play(read, policy, endless(200, headers))
        assert.deepStrictEqual([reading.at, reading.took], [[0, 10_000], 20_000])
        const error = failureOf(reading.result)
        assert.isTrue(error._tag === "ServiceUnavailable" && error.reason === "Timeout" && error.status === 200)
        const paying = failureOf((yield* play(pay, policy, endless(201, headers))).result)
        assert.isTrue(paying._tag === "OutcomeUnknown" && paying.reason === "Timeout" && paying.status === 201)
      }
    })
  )

  it.effect("a refusal whose words never end is what its status says, but for a withdrawal whose words decide", () =>
    Effect.gen(function* () {
      const policy = { attemptTimeout: "10 seconds" } as const
      for (const [status, tag] of [
        [401, "AuthError"],
        [403, "OutcomeUnknown"]
      ] as const) {
        const { requests, result, took } = yield* play(pay, policy, endless(status))
        assert.deepStrictEqual([failureOf(result)._tag, requests, took], [tag, 1, 10_000])
      }
    })
  )

  it.effect("the deadline is over all attempts, and cuts the last one", () =>
    Effect.gen(function* () {
      const policy = { attemptTimeout: "10 seconds", deadline: "25 seconds", retryReads: Schedule.recurs(99) } as const
      const { at, result, took } = yield* play(read, policy, "silence")
      assert.deepStrictEqual([at, took, failureOf(result).attempts], [[0, 10_000, 20_000], 25_000, 3])
    })
  )

  it.effect("no wait goes past the deadline", () =>
    Effect.gen(function* () {
      const policy = { deadline: "15 seconds", retryWrites: Schedule.spaced("10 seconds") } as const
      const spaced = yield* play(pay, policy, respond(503))
      assert.deepStrictEqual([spaced.at, spaced.took], [[0, 10_000], 10_000])
      const hinted = yield* play(pay, policy, respond(503, "", { "retry-after": "15" }))
      assert.deepStrictEqual([hinted.requests, hinted.took], [1, 0])
      const error = failureOf(hinted.result)
      assert.deepStrictEqual("retryAfter" in error ? error.retryAfter : undefined, Duration.seconds(15))
    })
  )

  it.effect("may be unbounded", () =>
    Effect.gen(function* () {
      const policy = { attemptTimeout: Duration.infinity, deadline: Duration.infinity }
      assert.strictEqual((yield* play(read, policy, respond(503), respond(200, balance))).requests, 2)
    })
  )
})

describe("PaymentsPolicy", () => {
  const faults: ReadonlyArray<readonly [string, Reply]> = [
    ["a lost connection", lostConnection],
    ["a refused connection", refusedConnection],
    ["503", respond(503)],
    ["408", respond(408)],
    ["425", respond(425)],
    ["429", respond(429)],
    ["501", respond(501)],
    ["409", respond(409)],
    ["422", respond(422)],
    ["an unreadable success", respond(201, "oops")]
  ]
  const expected = {
    "same-key": [3, 3, 3, 3, 3, 3, 1, 1, 1, 1],
    "only-unsent": [1, 3, 1, 1, 1, 1, 1, 1, 1, 1],
    never: [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]
  } as const

  it.effect.each(["same-key", "only-unsent", "never"] as const)(
    "the policy says which writes are tried again: %s",
    (mode) =>
      Effect.gen(function* () {
        for (const call of [pay, create]) {
          const counted: Array<number> = []
          for (const [, reply] of faults) counted.push((yield* play(call, { writes: mode }, reply)).requests)
          assert.deepStrictEqual(counted, [...expected[mode]])
        }
      })
  )

  it.effect("the policy says nothing about reads by its mode of writes", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* play(read, { writes: "never" }, respond(503))).requests, 3)
    })
  )

  it.effect("the default policy tries three times, with the same key and the same bytes", () =>
    Effect.gen(function* () {
      const full = Effect.flatMap(Payments, (payments) =>
        payments.requestWithdrawal({ ...payout, pixKey: PixKey.cpf("52998224725"), metadata: { b: 1, a: "é" } })
      )
      const { requests, result, sent } = yield* play(full, {}, lostConnection)
      assert.strictEqual(requests, 3)
      assert.strictEqual(new Set(sent.map(({ headers }) => headers["idempotency-key"])).size, 1)
      assert.isAbove(sent[0]?.bytes?.length ?? 0, 50)
      for (const { bytes } of sent) assert.deepStrictEqual(bytes, sent[0]?.bytes)
      assert.strictEqual(failureOf(result).attempts, 3)
    })
  )

  it.effect("the policy is the call's own, else the scope's, else that of the layer", () =>
    Effect.gen(function* () {
      const { layer, sent } = scripted(respond(503))
      const times = (count: number) => PaymentsPolicy.make({ retryReads: Schedule.recurs(count) })
      const counted = Effect.fnUntraced(function* (call: Call) {
        const before = sent.length
        yield* Effect.exit(call)
        return sent.length - before
      })
      yield* Effect.gen(function* () {
        assert.strictEqual(yield* counted(read), 5)
        assert.strictEqual(yield* counted(Effect.provideService(read, PaymentsPolicy, times(1))), 2)
        assert.strictEqual(yield* counted(read), 5)
        const scope = Effect.all([counted(read), counted(Effect.provideService(read, PaymentsPolicy, times(0)))])
        assert.deepStrictEqual(yield* Effect.provideService(scope, PaymentsPolicy, times(2)), [3, 1])
      }).pipe(Effect.provide(Layer.provide(paymentsOn(layer), Layer.succeed(PaymentsPolicy, times(4)))))
      // A program's policy holds for a client that was built without one.
      yield* counted(read).pipe(
        Effect.map((count) => assert.strictEqual(count, 7)),
        Effect.provide(Layer.merge(paymentsOn(layer), Layer.succeed(PaymentsPolicy, times(6))))
      )
    })
  )

  it.effect("PaymentsPolicy.once sends once, whatever the failure is", () =>
    Effect.gen(function* () {
      for (const call of [read, pay, create]) {
        for (const reply of [respond(503), respond(429), lostConnection, refusedConnection]) {
          assert.strictEqual((yield* play(call, PaymentsPolicy.once, reply)).requests, 1)
        }
      }
    })
  )

  it.effect("PaymentsPolicy.interactive answers within ten seconds, after two attempts at most", () =>
    Effect.gen(function* () {
      for (const call of [read, pay]) {
        const { requests, took } = yield* play(call, PaymentsPolicy.interactive, "silence")
        assert.deepStrictEqual([requests, took], [2, 10_000])
      }
      const hinted = yield* play(read, PaymentsPolicy.interactive, respond(429, "", { "retry-after": "3" }))
      assert.strictEqual(hinted.requests, 1)
    })
  )

  it.effect("PaymentsPolicy.background goes on for up to six attempts, within five minutes", () =>
    Effect.gen(function* () {
      for (const call of [read, pay]) {
        assert.strictEqual((yield* play(call, PaymentsPolicy.background, respond(503))).requests, 6)
        const silent = yield* play(call, PaymentsPolicy.background, "silence")
        assert.isAtMost(silent.took, 300_001)
        assert.isAtLeast(silent.requests, 5)
      }
      const hinted = yield* play(
        read,
        PaymentsPolicy.background,
        respond(429, "", { "retry-after": "120" }),
        respond(200, balance)
      )
      assert.deepStrictEqual(hinted.at, [0, 120_000])
    })
  )
})

/**
 * The vectors of smithy's standard retry strategy. What the bucket holds is seen from outside by how many retries it
 * still pays for: here a retry costs 14, after a 429 it costs 5, and a first success gives 1 back.
 */
describe("the retry budget", () => {
  const withCapacity = (capacity: number) =>
    PaymentsPolicy.make({
      retryBudget: { capacity, retryCost: 14, throttledRetryCost: 5, refund: 1 },
      retryReads: Schedule.recurs(2),
      retryWrites: Schedule.recurs(2)
    })

  /** Plays calls in turn on one client and says how many requests each of them sent. */
  const counts = Effect.fnUntraced(function* (policy: PaymentsPolicy, replies: Script, calls: ReadonlyArray<Call>) {
    const { layer, sent } = scripted(...replies)
    return yield* Effect.forEach(calls, (call) =>
      Effect.gen(function* () {
        const before = sent.length
        yield* Effect.exit(call)
        return sent.length - before
      })
    ).pipe(Effect.provide(Layer.provide(paymentsOn(layer), Layer.succeed(PaymentsPolicy, policy))))
  })

  const good = respond(200, balance)
  const bad = respond(500)
  const limited = respond(429)

  it.effect("the retry budget of 500 pays for 35 retries at 14 each (500, 486, 472, ...), and then for none", () =>
    Effect.gen(function* () {
      const counted = yield* counts(
        withCapacity(500),
        [bad],
        Array.from({ length: 30 }, () => read)
      )
      assert.deepStrictEqual(
        counted.slice(0, 17),
        Array.from({ length: 17 }, () => 3)
      )
      assert.deepStrictEqual(counted.slice(17), [2, ...Array.from({ length: 12 }, () => 1)])
    })
  )

  it.effect("the retry budget of 500 is the default", () =>
    Effect.gen(function* () {
      const policy = PaymentsPolicy.make({ retryReads: Schedule.recurs(2) })
      const counted = yield* counts(
        policy,
        [bad],
        Array.from({ length: 20 }, () => read)
      )
      assert.strictEqual(
        counted.reduce((sum, count) => sum + count),
        20 + 35
      )
    })
  )

  it.effect("the retry budget that starts at 14 pays once, at 20 once, at 28 twice, at 13 and at 0 never", () =>
    Effect.gen(function* () {
      for (const [capacity, requests] of [
        [14, 2],
        [20, 2],
        [28, 3],
        [13, 1],
        [0, 1]
      ] as const) {
        assert.deepStrictEqual(yield* counts(withCapacity(capacity), [bad], [read]), [requests])
      }
    })
  )

  it.effect(
    "the retry budget gets the cost of the retry that succeeded back: 30, 16, 2, success 16, 2, success 16",
    () =>
      Effect.gen(function* () {
        const counted = yield* counts(withCapacity(30), [bad, bad, good, bad, good, bad], [read, read, read, read])
        assert.deepStrictEqual(counted, [3, 2, 2, 1])
      })
  )

  it.effect("the retry budget charges 5 for a retry after a 429, and gives 5 back", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* counts(withCapacity(4), [limited], [read]), [1])
      assert.deepStrictEqual(yield* counts(withCapacity(9), [limited], [read, read]), [2, 1])
      assert.deepStrictEqual(
        yield* counts(withCapacity(5), [limited, good, limited, good, limited], [read, read, read, read]),
        [2, 2, 2, 1]
      )
    })
  )

  it.effect("the retry budget gets back what a retry after a 429 cost, and no more", () =>
    Effect.gen(function* () {
      // 19: a retry leaves 5; the one after a 429 takes these and gives them back, which is too little for another.
      const counted = yield* counts(withCapacity(19), [bad, bad, limited, good, bad], [read, read, read])
      assert.deepStrictEqual(counted, [2, 2, 1])
    })
  )

  it.effect("the retry budget gets 1 back for each first success, and never holds more than its capacity", () =>
    Effect.gen(function* () {
      const successes = (count: number) => Array.from({ length: count }, () => good)
      const reads = (count: number) => Array.from({ length: count }, () => read)
      // Spent to 0; 13 successes are not enough for a retry, the 14th is.
      const counted = yield* counts(
        withCapacity(14),
        [bad, bad, ...successes(13), bad, good, bad, bad, ...successes(50), bad],
        [...reads(1), ...reads(13), ...reads(1), ...reads(1), ...reads(1), ...reads(50), read, read]
      )
      assert.strictEqual(counted[0], 2)
      assert.deepStrictEqual(counted.slice(14, 17), [1, 1, 2])
      assert.deepStrictEqual(counted.slice(67), [2, 1])
    })
  )

  it.effect("the retry budget is shared by all operations of one client, and not by two clients", () =>
    Effect.gen(function* () {
      const policy = withCapacity(42)
      assert.deepStrictEqual(yield* counts(policy, [bad], [pay, read, create]), [3, 2, 1])
      assert.deepStrictEqual(yield* counts(policy, [bad], [create]), [3])
    })
  )

  it.effect("the retry budget may be unlimited", () =>
    Effect.gen(function* () {
      const policy = PaymentsPolicy.make({ retryBudget: "unlimited", retryReads: Schedule.recurs(2) })
      const counted = yield* counts(
        policy,
        [bad],
        Array.from({ length: 100 }, () => read)
      )
      assert.deepStrictEqual(
        counted,
        Array.from({ length: 100 }, () => 3)
      )
    })
  )

  it.effect("the retry budget that is spent leaves the error what it is", () =>
    Effect.gen(function* () {
      const { result } = yield* play(pay, withCapacity(0), respond(503))
      const error = failureOf(result)
      assert.isTrue(error._tag === "OutcomeUnknown" && error.attempts === 1 && error.reason === "ServerError")
    })
  )
})

describe("an interrupted write", () => {
  /** Interrupts a call after `after`, and gives what was reported to the hook and to the log. */
  const interrupting = Effect.fnUntraced(function* (
    call: Call,
    after: Duration.Input,
    payments: Layer.Layer<Payments, unknown>
  ) {
    const reports: Array<OutcomeUnknown> = []
    const lines: Array<readonly [string, string]> = []
    const logger = Logger.make(({ logLevel, message }) => lines.push([logLevel, String(message)]))
    const policy = PaymentsPolicy.make({
      retryWrites: Schedule.spaced("10 seconds"),
      retryReads: Schedule.spaced("10 seconds"),
      onInterruptedWrite: (report) => Effect.sync(() => reports.push(report))
    })
    yield* Effect.gen(function* () {
      const fiber = yield* Effect.forkChild(call)
      yield* TestClock.adjust(after)
      yield* Fiber.interrupt(fiber)
      assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(fiber)))
    }).pipe(
      Effect.provideService(PaymentsPolicy, policy),
      Effect.provide(Layer.merge(payments, Logger.layer([logger])))
    )
    return { reports, lines }
  })

  it.effect(
    "an interrupted write whose request is under way is reported with its key, to the hook and to the log",
    () =>
      Effect.gen(function* () {
        for (const [call, key, at] of [
          [pay, "wd_1", "MONEY MAY HAVE MOVED"],
          [create, "tx_1", "THE CHARGE MAY EXIST"]
        ] as const) {
          const { layer } = scripted("silence")
          const { lines, reports } = yield* interrupting(call, "1 second", paymentsOn(layer))
          assert.deepStrictEqual(
            reports.map(({ attempts, idempotencyKey, outcome, reason }) => [idempotencyKey, outcome, reason, attempts]),
            [[key, "Unknown", "Interrupted", 1]]
          )
          assert.deepStrictEqual(
            lines.map(([level]) => level),
            ["Warn"]
          )
          assert.include(lines[0]?.[1], key)
          assert.include(lines[0]?.[1], at)
        }
      })
  )

  it.effect(
    "an interrupted write that waits for its next attempt is reported if an earlier one may have been executed",
    () =>
      Effect.gen(function* () {
        for (const reply of [lostConnection, respond(503)]) {
          const { layer, sent } = scripted(reply)
          const { reports } = yield* interrupting(pay, "5 seconds", paymentsOn(layer))
          assert.deepStrictEqual([reports.map(({ attempts }) => attempts), sent.length], [[1], 1])
        }
      })
  )

  it.effect("an interrupted write that waits after a refusal, or after what was not sent, is not reported", () =>
    Effect.gen(function* () {
      for (const reply of [respond(429), refusedConnection]) {
        const { layer, sent } = scripted(reply)
        const { lines, reports } = yield* interrupting(pay, "5 seconds", paymentsOn(layer))
        assert.deepStrictEqual([reports, lines, sent.length], [[], [], 1])
      }
    })
  )

  it.effect("an interrupted write that has not sent anything yet is not reported", () =>
    Effect.gen(function* () {
      const { layer, sent } = scripted("silence")
      const waiting = Layer.succeed(Credentials, { current: Effect.never, reload: () => Effect.succeed(false) })
      const payments = Payments.layer({ baseUrl: "https://gateway.example" }).pipe(
        Layer.provide([layer, waiting, IdempotencyKeyGen.layerSequential])
      )
      const { lines, reports } = yield* interrupting(pay, "5 seconds", payments)
      assert.deepStrictEqual([reports, lines, sent.length], [[], [], 0])
    })
  )

  it.effect("an interrupted read is not reported", () =>
    Effect.gen(function* () {
      const { layer, sent } = scripted("silence")
      const { lines, reports } = yield* interrupting(read, "5 seconds", paymentsOn(layer))
      assert.deepStrictEqual([reports, lines, sent.length], [[], [], 1])
    })
  )

  it.effect("an interrupted write that its caller's timeout cuts off is reported too", () =>
    Effect.gen(function* () {
      const { layer } = scripted("silence")
      const reported = yield* Deferred.make<OutcomeUnknown>()
      const policy = PaymentsPolicy.make({
        onInterruptedWrite: (report) => Effect.asVoid(Deferred.succeed(reported, report))
      })
      yield* underTestClock(Effect.exit(Effect.timeout(pay, "1 second"))).pipe(
        Effect.provideService(PaymentsPolicy, policy),
        Effect.provide(Layer.merge(paymentsOn(layer), Logger.layer([])))
      )
      assert.strictEqual((yield* Deferred.await(reported)).idempotencyKey, "wd_1")
    })
  )

  it.effect("an interrupted write is not held by a hook that hangs for longer than ten seconds", () =>
    Effect.gen(function* () {
      const { layer } = scripted("silence")
      const started = yield* Deferred.make<void>()
      const policy = PaymentsPolicy.make({
        onInterruptedWrite: () => Effect.andThen(Deferred.succeed(started, undefined), Effect.never)
      })
      const fiber = yield* Effect.forkChild(
        pay.pipe(
          Effect.timeout("1 second"),
          Effect.provideService(PaymentsPolicy, policy),
          Effect.provide(Layer.merge(paymentsOn(layer), Logger.layer([])))
        )
      )
      yield* TestClock.adjust("1 second")
      yield* Deferred.await(started)
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual((yield* Effect.flip(Fiber.join(fiber)))._tag, "TimeoutError")
    })
  )

  it.effect("an interrupted write that has its answer already reports nothing", () =>
    Effect.gen(function* () {
      const { layer } = scripted(respond(201, record("wd_1")))
      const { reports } = yield* interrupting(Effect.andThen(pay, Effect.never), "1 second", paymentsOn(layer))
      assert.deepStrictEqual(reports, [])
    })
  )
})

describe("a 401", () => {
  it.effect("a 401 reloads the credentials and repeats the call once, with the same key and the same bytes", () =>
    Effect.gen(function* () {
      const loads = yield* Ref.make(0)
      const load = Effect.map(
        Ref.updateAndGet(loads, (count) => count + 1),
        (count) => ({ clientId: "client", apiKey: Redacted.make(`key-${count}`) })
      )
      const payments = (layer: ReturnType<typeof scripted>["layer"]) =>
        Payments.layer({ baseUrl: "https://gateway.example" }).pipe(
          Layer.provide([layer, Credentials.layerReload({ load }), IdempotencyKeyGen.layerSequential])
        )
      const rotated = scripted(respond(401), respond(201, record("wd_1")))
      const paid = yield* Effect.provide(pay, payments(rotated.layer))
      assert.strictEqual(paid.idempotencyKey, "wd_1")
      assert.deepStrictEqual(
        rotated.sent.map(({ headers }) => [headers["x-api-key"], headers["idempotency-key"]]),
        [
          ["key-1", "wd_1"],
          ["key-2", "wd_1"]
        ]
      )
      assert.deepStrictEqual(rotated.sent[1]?.bytes, rotated.sent[0]?.bytes)

      const revoked = scripted(respond(401))
      const error = yield* Effect.flip(pay).pipe(Effect.provide(payments(revoked.layer)))
      assert.deepStrictEqual([error._tag, error.attempts, revoked.sent.length], ["AuthError", 2, 2])
    })
  )

  it.effect("a 401 sends nothing past the deadline, however long the reload takes", () =>
    Effect.gen(function* () {
      const reloads = ["10 minutes", "90 seconds"] as const
      for (const reload of [Effect.never, ...reloads.map((time) => Effect.as(Effect.sleep(time), true))]) {
        const { layer, sent } = scripted(respond(401))
        const credentials = { clientId: "client", apiKey: Redacted.make("key") }
        const slow = Layer.succeed(Credentials, { current: Effect.succeed(credentials), reload: () => reload })
        const payments = Payments.layer({ baseUrl: "https://gateway.example" }).pipe(
          Layer.provide([layer, slow, IdempotencyKeyGen.layerSequential])
        )
        const error = yield* underTestClock(Effect.flip(pay)).pipe(Effect.provide(payments))
        assert.deepStrictEqual([error._tag, error.outcome, sent.length], ["AuthError", "Rejected", 1])
      }
    })
  )

  it.effect("a 401 is final where the credentials are fixed, and a 403 always", () =>
    Effect.gen(function* () {
      for (const status of [401, 403]) {
        for (const call of [read, pay]) {
          const { requests, result } = yield* play(call, {}, respond(status))
          assert.deepStrictEqual([failureOf(result)._tag, requests], ["AuthError", 1])
        }
      }
    })
  )
})

describe.each(Object.entries(transports))("over a socket, with %s", (name, transport) => {
  /** Runs a call once and says what came of it. */
  const once = Effect.fnUntraced(function* (call: Call, answer: Answer, policy: Partial<PaymentsPolicy> = {}) {
    const gateway = yield* makeGateway
    gateway.script(answer)
    const result = yield* Effect.result(call).pipe(
      Effect.provide(
        Layer.provide(
          paymentsOn(transport, { baseUrl: gateway.url }),
          PaymentsPolicy.layer({ retryReads: Schedule.recurs(1), retryWrites: Schedule.recurs(1), ...policy })
        )
      )
    )
    return { result, requests: gateway.requests.length }
  })

  const limit = 10_000
  const large = (bytes: number) => JSON.stringify(balance).padEnd(bytes, " ")
  const plain =
    (status: number, body: string): Answer =>
    (response) => {
      response.writeHead(status, { "content-type": "application/json", "content-length": body.length }).end(body)
    }
  const chunked =
    (status: number, body: string): Answer =>
    (response) => {
      response.writeHead(status, { "content-type": "application/json" })
      for (let at = 0; at < body.length; at += 1000) response.write(body.slice(at, at + 1000))
      response.end()
    }
  const gzipped =
    (status: number, body: string): Answer =>
    (response) => {
      response.writeHead(status, { "content-type": "application/json", "content-encoding": "gzip" }).end(gzipSync(body))
    }
  // The Node transports neither ask for compression nor undo it.
  const framings = name.startsWith("Fetch") ? { plain, chunked, gzipped } : { plain, chunked }

  it.live.each(Object.entries(framings))("a response beyond the limit is not read to its end: %s", ([, framed]) =>
    Effect.gen(function* () {
      const policy = { maxResponseBytes: limit }
      const within = yield* once(read, framed(200, large(limit)), policy)
      assert.strictEqual(within.result._tag, "Success")
      for (const size of [limit + 1, 3_000_000]) {
        const reading = yield* once(read, framed(200, large(size)), policy)
        const error = failureOf(reading.result)
        assert.isTrue(error._tag === "UnexpectedResponse" && error.reason === "TooLarge" && error.status === 200)
        const paying = yield* once(pay, framed(201, large(size)), policy)
        const unknown = failureOf(paying.result)
        assert.isTrue(unknown._tag === "OutcomeUnknown" && unknown.reason === "TooLarge" && unknown.status === 201)
        const refused = yield* once(pay, framed(401, large(size)), policy)
        assert.strictEqual(failureOf(refused.result)._tag, "AuthError")
        assert.deepStrictEqual([reading.requests, paying.requests, refused.requests], [1, 1, 1])
      }
    })
  )

  it.live("silence, a stalled body and a body cut off are timeouts and truncations, not hangs", () =>
    Effect.gen(function* () {
      const impatient = { attemptTimeout: "150 millis" } as const
      const cases: ReadonlyArray<readonly [Answer, Answer, string]> = [
        [silence, silence, "Timeout"],
        [stalled(200, `{"id":`), stalled(201, `{"id":`), "Timeout"],
        [truncated(200, `{"id":`), truncated(201, `{"id":`), "Truncated"]
      ]
      for (const [toRead, toPay, reason] of cases) {
        const policy = reason === "Timeout" ? impatient : {}
        const reading = yield* once(read, toRead, policy)
        const error = failureOf(reading.result)
        assert.deepStrictEqual(
          [error._tag, "reason" in error && error.reason, reading.requests],
          ["ServiceUnavailable", reason, 2]
        )
        const paying = yield* once(pay, toPay, policy)
        const unknown = failureOf(paying.result)
        assert.deepStrictEqual(
          [unknown._tag, "reason" in unknown && unknown.reason, paying.requests],
          ["OutcomeUnknown", reason, 2]
        )
      }
    })
  )

  it.live("a reset is an unknown outcome, a port on which nothing listens provably none", () =>
    Effect.gen(function* () {
      const broken = yield* once(pay, reset)
      const unknown = failureOf(broken.result)
      assert.deepStrictEqual(
        [unknown._tag, "reason" in unknown && unknown.reason, broken.requests],
        ["OutcomeUnknown", "ConnectionLost", 2]
      )
      const baseUrl = yield* closedPort
      const error = yield* Effect.flip(pay).pipe(
        Effect.provide(Layer.provide(paymentsOn(transport, { baseUrl }), PaymentsPolicy.layer(PaymentsPolicy.once)))
      )
      assert.deepStrictEqual(
        [error._tag, error.outcome, "reason" in error && error.reason],
        ["ServiceUnavailable", "NotSent", "NoConnection"]
      )
    })
  )

  it.live("an interrupted write closes its connection and is reported", () =>
    Effect.gen(function* () {
      const gateway = yield* makeGateway
      const closed = yield* Deferred.make<void>()
      const reported = yield* Deferred.make<OutcomeUnknown>()
      gateway.script((response) => {
        response.once("close", () => Deferred.doneUnsafe(closed, Effect.void))
      })
      const policy = PaymentsPolicy.layer({
        onInterruptedWrite: (report) => Effect.asVoid(Deferred.succeed(reported, report))
      })
      yield* Effect.gen(function* () {
        const fiber = yield* Effect.forkChild(pay)
        yield* gateway.arrived(1)
        yield* Fiber.interrupt(fiber)
      }).pipe(
        Effect.provide(
          Layer.merge(Layer.provide(paymentsOn(transport, { baseUrl: gateway.url }), policy), Logger.layer([]))
        )
      )
      yield* Deferred.await(closed)
      assert.strictEqual((yield* Deferred.await(reported)).idempotencyKey, "wd_1")
      assert.strictEqual(gateway.requests.length, 1)
    })
  )

  it.live("a redirect is not followed, and its target learns nothing", () =>
    Effect.gen(function* () {
      const target = yield* makeGateway
      target.script(json(detail))
      for (const status of [301, 302, 303, 307, 308]) {
        for (const call of [read, pay]) {
          const redirect: Answer = (response) => {
            response.writeHead(status, { location: `${target.url}/stolen` }).end()
          }
          const { requests, result } = yield* once(call, redirect)
          const isElsewhere = status === 301 || status > 303
          const expected = isElsewhere ? "RequestRejected" : call === pay ? "OutcomeUnknown" : "UnexpectedResponse"
          assert.deepStrictEqual([failureOf(result)._tag, requests], [expected, 1])
        }
      }
      assert.strictEqual(target.requests.length, 0)
    })
  )
})

describe("a RequestInit of the user's own", () => {
  it.live("a RequestInit of the user's own is kept, but for its redirects", () =>
    Effect.gen(function* () {
      const target = yield* makeGateway
      const gateway = yield* makeGateway
      gateway.script((response) => response.writeHead(307, { location: target.url }).end())
      const init = Layer.succeed(FetchHttpClient.RequestInit, { redirect: "follow", headers: { "x-proxy": "yes" } })
      const asked = (use: (payments: Service) => Effect.Effect<unknown, PaymentsError>) =>
        Effect.flip(Effect.flatMap(Payments, use))
      const client = Payments.layer({ baseUrl: gateway.url }).pipe(
        Layer.provide([FetchHttpClient.layer, credentials, IdempotencyKeyGen.layerSequential])
      )
      const ofLayer = yield* asked((payments) => payments.createTransaction(charge)).pipe(
        Effect.provide(Layer.provide(client, init))
      )
      const ofCall = yield* asked((payments) => payments.createTransaction(charge)).pipe(
        Effect.provide(Layer.merge(client, init))
      )
      assert.deepStrictEqual([ofLayer._tag, ofCall._tag], ["RequestRejected", "RequestRejected"])
      assert.deepStrictEqual(
        gateway.requests.map(({ headers }) => headers["x-proxy"]),
        ["yes", "yes"]
      )
      assert.strictEqual(target.requests.length, 0)
    })
  )

  it.effect("a client needs no RequestInit of the user's own", () =>
    Effect.gen(function* () {
      const { layer } = scripted(respond(200, created))
      const { status } = yield* Effect.provide(create, paymentsOn(layer))
      assert.strictEqual(status, "WAITING_PAYMENT")
    })
  )
})
