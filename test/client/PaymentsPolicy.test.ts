/** When a call is tried again, how long it waits and takes, and which policy it follows. */
import { assert, describe, it, vi } from "@effect/vitest"
import { Payments, PaymentsPolicy } from "effect-pix"
import { Duration, Effect, Layer, Random, Result, Schedule } from "effect"
import { TestClock } from "effect/testing"
import { effect, live } from "../support/effect.ts"
import { balance, record, withdrawal } from "../support/operations.ts"
import { always, type Call, create, failureOf, pay, play, read } from "../support/played.ts"
import { lostConnection, paymentsOn, refusedConnection, type Reply, respond, scripted } from "../support/Wire.ts"

const waiting = (status: number, retryAfter: string) => respond(status, "", { "retry-after": retryAfter })

describe("the waits between attempts", () => {
  effect(
    "are a random part of a bound that doubles each time: from 100 ms for reads and 500 ms for writes",
    function* () {
      for (const part of [0, 0.5, 1]) {
        const twice = Effect.andThen(Effect.exit(read), read)
        const reading = yield* always(part)(play(twice, {}, respond(503)))
        // They start again with each call.
        assert.deepStrictEqual(
          reading.at,
          [0, 1, 3, 3, 4, 6].map((times) => times * 100 * part)
        )
        const paying = yield* always(part)(play(pay, {}, respond(503)))
        assert.deepStrictEqual(paying.at, [0, 500 * part, 1500 * part])
      }
    }
  )

  effect("are whole milliseconds", function* () {
    assert.deepStrictEqual((yield* always(0.999)(play(read, {}, respond(503)))).at, [0, 99, 298])
    const { requests } = yield* play(
      read,
      { retryReads: PaymentsPolicy.fullJitter({ base: 1, times: 0 }) },
      respond(503)
    )
    assert.strictEqual(requests, 1)
  })

  effect("differ from call to call", function* () {
    const waits = new Set<number>()
    for (let seed = 0; seed < 20; seed++) {
      const { at } = yield* Random.withSeed(play(pay, {}, lostConnection), `seed-${seed}`)
      waits.add(at[1] ?? 0)
    }
    assert.isAbove(waits.size, 15)
  })

  effect("stop growing at the cap of fullJitter", function* () {
    const retryReads = PaymentsPolicy.fullJitter({ base: "1 second", times: 5, cap: "3 seconds" })
    const { at } = yield* always(1)(play(read, { retryReads }, respond(503)))
    assert.deepStrictEqual(at, [0, 1000, 3000, 6000, 9000, 12_000])
  })

  effect("are those of the given schedules, one for reads and one for writes", function* () {
    const policy = {
      retryReads: Schedule.upTo(Schedule.spaced("7 seconds"), { times: 1 }),
      retryWrites: Schedule.recurs(4)
    }
    assert.deepStrictEqual((yield* play(read, policy, respond(503))).at, [0, 7000])
    for (const write of [pay, create]) {
      assert.deepStrictEqual((yield* play(write, policy, respond(503))).at, [0, 0, 0, 0, 0])
    }
  })
})

describe("a Retry-After", () => {
  effect("in seconds or as a date is waited for, by reads and writes, after 429 and 503", function* () {
    for (const call of [read, pay]) {
      for (const status of [429, 503]) {
        yield* TestClock.setTime(Date.UTC(2026, 10, 21, 10, 0, 0))
        for (const hint of ["20", "Sat, 21 Nov 2026 10:00:20 GMT"]) {
          yield* TestClock.setTime(Date.UTC(2026, 10, 21, 10, 0, 0))
          assert.deepStrictEqual((yield* play(call, {}, waiting(status, hint), respond(422))).at, [0, 20_000])
        }
      }
    }
  })

  effect.each(["0", "Thu, 01 Jan 1970 00:00:00 GMT"])(
    "of %s does not shorten the wait of the schedule",
    function* (hint) {
      const { at } = yield* always(1)(play(read, {}, waiting(503, hint), respond(422)))
      assert.deepStrictEqual(at, [0, 100])
    }
  )

  effect.each([
    "",
    "-1",
    "1.5",
    "1e3",
    "+5",
    "5;x",
    "soon",
    "2026-01-01T00:00:00Z",
    "Infinity",
    "20, 30",
    "52998224725x"
  ])("of %j counts as absent", function* (hint) {
    const { at, result } = yield* always(1)(play(read, {}, waiting(429, hint)))
    assert.deepStrictEqual(at, [0, 100, 300])
    assert.propertyVal(failureOf(result), "_tag", "RateLimited")
    assert.notProperty(failureOf(result), "retryAfter")
  })

  effect("is waited for up to 30 seconds; with a longer one the call fails at once, with its time", function* () {
    const allowed = yield* play(read, {}, waiting(429, "30"), respond(200, balance))
    assert.deepStrictEqual([allowed.result._tag, allowed.at], ["Success", [0, 30_000]])
    const tooLong: ReadonlyArray<readonly [Call, Reply, Partial<PaymentsPolicy>, Duration.Duration]> = [
      [read, waiting(429, "31"), {}, Duration.seconds(31)],
      [read, waiting(429, "Thu, 01 Jan 1970 01:00:00 GMT"), {}, Duration.hours(1)],
      // The longest that is believed.
      [read, waiting(429, "99999999999999"), {}, Duration.days(365)],
      [pay, waiting(503, "6"), { maxRetryAfter: "5 seconds" }, Duration.seconds(6)],
      [pay, waiting(503, "15"), { deadline: "15 seconds" }, Duration.seconds(15)]
    ]
    for (const [call, reply, policy, time] of tooLong) {
      yield* TestClock.setTime(0)
      const { requests, result, took } = yield* play(call, policy, reply)
      const error = failureOf(result)
      assert.deepStrictEqual([requests, took], [1, 0])
      assert("retryAfter" in error && error.retryAfter !== undefined)
      assert.isTrue(Duration.Equivalence(error.retryAfter, time), Duration.format(time))
    }
  })
})

/** A body that starts and never ends. */
const endless = (status: number, headers: Record<string, string> = {}): Reply => ({
  response: () => {
    const start = (controller: ReadableStreamDefaultController) =>
      controller.enqueue(new TextEncoder().encode(`{"id":`))
    return new Response(new ReadableStream({ start }), { status, headers })
  }
})

/** More than the 2^31 - 1 ms that a timer of a platform takes. */
const forever: ReadonlyArray<Duration.Input> = ["Infinity", Duration.infinity, "25 days", 2 ** 31, Number.MAX_VALUE]

describe("the time of a call", () => {
  const twice = {
    attemptTimeout: "10 seconds",
    retryReads: Schedule.recurs(1),
    retryWrites: Schedule.recurs(1)
  } as const

  effect("is bounded for each attempt, with its body, and a next one follows", function* () {
    const replies = [
      ["silence", undefined, undefined],
      ...[{}, { "content-length": "9999" }].map((headers) => [endless(200, headers), 200, 201] as const)
    ] as const
    for (const [reply, status] of replies) {
      const reading = yield* play(read, twice, reply)
      assert.deepStrictEqual([reading.at, reading.took], [[0, 10_000], 20_000])
      const paying = yield* play(pay, twice, reply)
      for (const [{ result }, tag] of [
        [reading, "ServiceUnavailable"],
        [paying, "OutcomeUnknown"]
      ] as const) {
        const error = failureOf(result)
        assert.deepInclude(error, { _tag: tag, reason: "Timeout", attempts: 2 })
        assert.deepStrictEqual("status" in error ? error.status : undefined, status)
      }
    }
  })

  effect(
    "ends a refusal whose body never ends with the error of its status, except for a key of undeclared past",
    function* () {
      const given = Effect.flatMap(Payments, (payments) =>
        payments.requestWithdrawal(withdrawal, { idempotencyKey: "payout_1" })
      )
      for (const [call, status, tag] of [
        [pay, 401, "AuthError"],
        [pay, 403, "AuthError"],
        [pay, 422, "RequestRejected"],
        [given, 401, "AuthError"],
        [given, 403, "OutcomeUnknown"],
        [given, 422, "OutcomeUnknown"]
      ] as const) {
        const { requests, result, took } = yield* play(call, { attemptTimeout: "10 seconds" }, endless(status))
        assert.deepStrictEqual([failureOf(result)._tag, requests, took], [tag, 1, 10_000])
      }
    }
  )

  effect("is bounded by the deadline over all attempts and waits", function* () {
    const silent = yield* play(read, { ...twice, deadline: "25 seconds", retryReads: Schedule.recurs(99) }, "silence")
    assert.deepStrictEqual(
      [silent.at, silent.took, failureOf(silent.result).attempts],
      [[0, 10_000, 20_000], 25_000, 3]
    )
    const spaced = yield* play(
      pay,
      { deadline: "15 seconds", retryWrites: Schedule.spaced("10 seconds") },
      respond(503)
    )
    assert.deepStrictEqual([spaced.at, spaced.took], [[0, 10_000], 10_000])
  })

  effect("may be given in every form of a duration", function* () {
    const forms = ["2 seconds", 2000, 2_000_000_000n, [2, 0], { seconds: 1, milliseconds: 1000 }, Duration.seconds(2)]
    for (const attemptTimeout of forms as ReadonlyArray<Duration.Input>) {
      assert.strictEqual(
        (yield* play(read, { ...twice, attemptTimeout, retryReads: Schedule.recurs(0) }, "silence")).took,
        2000
      )
    }
    for (const maxRetryAfter of [0, { seconds: 0 }, "Infinity"] as const) {
      assert.strictEqual((yield* play(read, { maxRetryAfter, deadline: "Infinity" }, respond(429))).requests, 3)
    }
  })

  effect("may have no bound: a silent attempt lasts for days, and a wait for most of an hour", function* () {
    const policy = { attemptTimeout: Duration.infinity, deadline: Duration.infinity }
    const retryReads = Schedule.spaced("50 minutes")
    const late = yield* play(read, { ...policy, retryReads }, respond(503), respond(200, balance))
    assert.deepStrictEqual([late.result._tag, late.at], ["Success", [0, 3_000_000]])
    const { layer, sent } = scripted("silence")
    const silent = yield* Effect.forkChild(
      Effect.provide(read, Layer.provide(paymentsOn(layer), PaymentsPolicy.layer(policy)))
    )
    yield* TestClock.adjust("40 days")
    assert.deepStrictEqual([sent.length, silent.pollUnsafe()], [1, undefined])
  })

  live.each(forever)("of %s sets no timer that a platform would fire at once", function* (time) {
    const timers = vi.spyOn(globalThis, "setTimeout")
    const { layer, sent } = scripted(respond(201, record("wd_1")))
    for (const policy of [
      { attemptTimeout: time, deadline: time },
      { attemptTimeout: time, deadline: "1 hour" }
    ] as const) {
      const paid = yield* Effect.result(pay).pipe(
        Effect.provide(Layer.provide(paymentsOn(layer), PaymentsPolicy.layer(policy)))
      )
      assert.isTrue(Result.isSuccess(paid))
    }
    const longest = Math.max(0, ...timers.mock.calls.map(([, delay]) => delay ?? 0))
    timers.mockRestore()
    assert.isBelow(longest, 2 ** 31)
    assert.strictEqual(sent.length, 2)
  })
})

describe("a policy", () => {
  const faults: ReadonlyArray<readonly [Reply, sameKey: number, onlyUnsent: number]> = [
    [lostConnection, 3, 1],
    [refusedConnection, 3, 3],
    ...[503, 408, 425, 429].map((status) => [respond(status), 3, 1] as const),
    ...[501, 409, 422].map((status) => [respond(status), 1, 1] as const),
    [respond(201, "oops"), 1, 1]
  ]
  effect("says which writes are tried again, and leaves reads alone", function* () {
    for (const write of [pay, create]) {
      for (const [reply, sameKey, onlyUnsent] of faults) {
        const requests = []
        for (const writes of ["same-key", "only-unsent", "never"] as const)
          requests.push((yield* play(write, { writes }, reply)).requests)
        assert.deepStrictEqual(requests, [sameKey, onlyUnsent, 1])
      }
    }
    assert.strictEqual((yield* play(read, { writes: "never" }, respond(503))).requests, 3)
  })

  effect("of a call goes before that of its scope, and that before the one of the layer", function* () {
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

  effect("once sends once, whatever fails; interactive sends twice at most and ends within ten seconds", function* () {
    for (const call of [read, pay, create]) {
      for (const reply of [respond(503), respond(429), lostConnection, refusedConnection]) {
        assert.strictEqual((yield* play(call, PaymentsPolicy.once, reply)).requests, 1)
      }
      const { requests, took } = yield* play(call, PaymentsPolicy.interactive, "silence")
      assert.deepStrictEqual([requests, took], [2, 10_000])
    }
    assert.strictEqual((yield* play(read, PaymentsPolicy.interactive, waiting(429, "3"))).requests, 1)
    assert.strictEqual((yield* play(read, PaymentsPolicy.interactive, waiting(429, "2"))).requests, 2)
  })

  it("made of another one takes over its settings, but those that are undefined", () => {
    const quick = PaymentsPolicy.make({ ...PaymentsPolicy.once, deadline: "5 seconds", horizon: undefined })
    assert.deepStrictEqual([quick.writes, quick.deadline], ["never", "5 seconds"])
    assert.isTrue(Duration.Equivalence(Duration.fromInputUnsafe(quick.horizon), Duration.hours(12)))
  })
})
