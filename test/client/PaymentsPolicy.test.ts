import { assert, describe, it } from "@effect/vitest"
import { Payments, PaymentsPolicy, PixKey } from "effect-pix"
import { Duration, Effect, Layer, Random, Schedule, Schema } from "effect"
import { TestClock } from "effect/testing"
import { balance, withdrawal } from "../support/operations.ts"
import { lostConnection, paymentsOn, refusedConnection, type Reply, respond, scripted } from "../support/Wire.ts"
import { type Call, pay, create, read, always, play, failureOf } from "../support/played.ts"
import { effect } from "../support/effect.ts"

describe("the waits between attempts", () => {
  effect(
    "the waits are a random part of a bound that doubles each time: by default from 100 ms for reads and 500 ms for writes",
    function* () {
      for (const part of [0, 0.5, 1]) {
        const reading = yield* always(part)(play(read, {}, respond(503)))
        assert.deepStrictEqual(reading.at, [0, 100 * part, 300 * part])
        const paying = yield* always(part)(play(pay, {}, respond(503)))
        assert.deepStrictEqual(paying.at, [0, 500 * part, 1500 * part])
      }
    }
  )

  effect("the waits differ from call to call and stay within their bounds", function* () {
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

  effect("the waits stop growing at the cap", function* () {
    const retryReads = PaymentsPolicy.fullJitter({ base: "1 second", times: 5, cap: "3 seconds" })
    const { at } = yield* always(1)(play(read, { retryReads }, respond(503)))
    assert.deepStrictEqual(at, [0, 1000, 3000, 6000, 9000, 12_000])
  })

  it("fullJitter throws a SchemaError for a wrong wait or a wrong number of tries", () => {
    const wrong: ReadonlyArray<unknown> = [
      { base: Number.NaN, times: 1 },
      { base: "garbage", times: 1 },
      { base: -1, times: 1 },
      { base: {}, times: 1 },
      { base: "1 second", times: 1, cap: Number.NaN },
      { base: "1 second", times: Number.NaN },
      { base: "1 second", times: -1 },
      { base: "1 second", times: "2" },
      { base: "1 second" },
      null
    ]
    for (const options of wrong) {
      try {
        PaymentsPolicy.fullJitter(options as Parameters<typeof PaymentsPolicy.fullJitter>[0]) // a caller without types may give it
      } catch (error) {
        assert.isTrue(Schema.isSchemaError(error), JSON.stringify(options))
        continue
      }
      assert.fail(`took ${JSON.stringify(options)}`)
    }
  })

  effect("the waits are those of the given schedules, one for reads and one for writes", function* () {
    const policy = {
      retryReads: Schedule.spaced("7 seconds").pipe(Schedule.upTo({ times: 1 })),
      retryWrites: Schedule.recurs(4)
    }
    assert.deepStrictEqual((yield* play(read, policy, respond(503))).at, [0, 7000])
    assert.deepStrictEqual((yield* play(pay, policy, respond(503))).at, [0, 0, 0, 0, 0])
    assert.deepStrictEqual((yield* play(create, policy, respond(503))).at, [0, 0, 0, 0, 0])
  })

  effect("the waits start again with each call", function* () {
    const twice = Effect.andThen(Effect.exit(read), read)
    const { at } = yield* always(1)(play(twice, {}, respond(503)))
    assert.deepStrictEqual(at, [0, 100, 300, 300, 400, 600])
  })
})

describe("Retry-After", () => {
  effect("reads and writes wait for a Retry-After in seconds or as a date, after 429 and 503", function* () {
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

  effect("a Retry-After does not shorten the wait of the schedule", function* () {
    const dates = ["0", "Thu, 01 Jan 1970 00:00:00 GMT"]
    for (const hint of dates) {
      const again = respond(503, "", { "retry-after": hint })
      const { at } = yield* always(1)(play(read, {}, again, respond(422)))
      assert.deepStrictEqual(at, [0, 100])
    }
  })

  effect("a Retry-After that is garbage counts as absent", function* () {
    const garbage = ["", "-1", "1.5", "1e3", "+5", "5;x", "soon", "2026-01-01T00:00:00Z", "NaN", "Infinity", "20, 30"]
    for (const hint of garbage) {
      const { at, result } = yield* always(1)(play(read, {}, respond(429, "", { "retry-after": hint })))
      assert.deepStrictEqual(at, [0, 100, 300], hint)
      const error = failureOf(result)
      assert.isTrue(error._tag === "RateLimited" && error.retryAfter === undefined, hint)
    }
  })

  effect(
    "the client waits for the longest allowed Retry-After; with a longer one the call fails at once, with its `retryAfter`",
    function* () {
      const allowed = yield* play(read, {}, respond(429, "", { "retry-after": "30" }), respond(200, balance))
      assert.deepStrictEqual([allowed.result._tag, allowed.at], ["Success", [0, 30_000]])
      const hints: ReadonlyArray<readonly [string, Duration.Duration]> = [
        ["31", Duration.seconds(31)],
        ["Thu, 01 Jan 1970 01:00:00 GMT", Duration.hours(1)],
        // The longest that is believed.
        ["99999999999999", Duration.days(365)]
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
    }
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

  effect("an attempt that is not answered ends at its timeout, and is tried again", function* () {
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

  effect("the timeout covers the body", function* () {
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

  effect(
    "a refusal whose body never ends becomes the error of its status, except for a key of undeclared past",
    function* () {
      const policy = { attemptTimeout: "10 seconds" } as const
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
        const { requests, result, took } = yield* play(call, policy, endless(status))
        assert.deepStrictEqual([failureOf(result)._tag, requests, took], [tag, 1, 10_000])
      }
    }
  )

  effect("the deadline limits the time of all attempts, and ends the last one", function* () {
    const policy = { attemptTimeout: "10 seconds", deadline: "25 seconds", retryReads: Schedule.recurs(99) } as const
    const { at, result, took } = yield* play(read, policy, "silence")
    assert.deepStrictEqual([at, took, failureOf(result).attempts], [[0, 10_000, 20_000], 25_000, 3])
  })

  effect("no wait lasts longer than the deadline", function* () {
    const policy = { deadline: "15 seconds", retryWrites: Schedule.spaced("10 seconds") } as const
    const spaced = yield* play(pay, policy, respond(503))
    assert.deepStrictEqual([spaced.at, spaced.took], [[0, 10_000], 10_000])
    const hinted = yield* play(pay, policy, respond(503, "", { "retry-after": "15" }))
    assert.deepStrictEqual([hinted.requests, hinted.took], [1, 0])
    const error = failureOf(hinted.result)
    assert.deepStrictEqual("retryAfter" in error ? error.retryAfter : undefined, Duration.seconds(15))
  })

  effect("an infinite timeout and deadline end no attempt and no wait", function* () {
    const policy = { attemptTimeout: Duration.infinity, deadline: Duration.infinity }
    const retryReads = Schedule.spaced("50 minutes")
    const late = yield* play(read, { ...policy, retryReads }, respond(503), respond(200, balance))
    assert.deepStrictEqual([late.result._tag, late.at], ["Success", [0, 3_000_000]])

    const { layer, sent } = scripted("silence")
    const silent = yield* Effect.forkChild(
      Effect.provide(read, Layer.provide(paymentsOn(layer), PaymentsPolicy.layer(policy)))
    )
    yield* TestClock.adjust("1 day")
    assert.deepStrictEqual([sent.length, silent.pollUnsafe()], [1, undefined])
  })
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

  effect.each(["same-key", "only-unsent", "never"] as const)(
    "the policy decides which writes are tried again: %s",
    function* (mode) {
      for (const call of [pay, create]) {
        const counted: Array<number> = []
        for (const [, reply] of faults) counted.push((yield* play(call, { writes: mode }, reply)).requests)
        assert.deepStrictEqual(counted, [...expected[mode]])
      }
    }
  )

  effect("the policy `writes` has no effect on reads", function* () {
    assert.strictEqual((yield* play(read, { writes: "never" }, respond(503))).requests, 3)
  })

  effect("the default policy tries three times, with the same key and the same bytes", function* () {
    const full = Effect.flatMap(Payments, (payments) =>
      payments.requestWithdrawal({ ...withdrawal, pixKey: PixKey.cpf("52998224725"), metadata: { b: 1, a: "é" } })
    )
    const { requests, result, sent } = yield* play(full, {}, lostConnection)
    assert.strictEqual(requests, 3)
    assert.strictEqual(new Set(sent.map(({ headers }) => headers["idempotency-key"])).size, 1)
    assert.isAbove(sent[0]?.bytes?.length ?? 0, 50)
    for (const { bytes } of sent) assert.deepStrictEqual(bytes, sent[0]?.bytes)
    assert.strictEqual(failureOf(result).attempts, 3)
  })

  effect("the policy of the call is used, else that of the scope, else that of the layer", function* () {
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
    // The policy of a program is used for a client that was built without one.
    yield* counted(read).pipe(
      Effect.map((count) => assert.strictEqual(count, 7)),
      Effect.provide(Layer.merge(paymentsOn(layer), Layer.succeed(PaymentsPolicy, times(6))))
    )
  })

  effect("PaymentsPolicy.once sends once, whatever the failure is", function* () {
    for (const call of [read, pay, create]) {
      for (const reply of [respond(503), respond(429), lostConnection, refusedConnection]) {
        assert.strictEqual((yield* play(call, PaymentsPolicy.once, reply)).requests, 1)
      }
    }
  })

  effect("PaymentsPolicy.interactive answers within ten seconds, after two attempts at most", function* () {
    for (const call of [read, pay]) {
      const { requests, took } = yield* play(call, PaymentsPolicy.interactive, "silence")
      assert.deepStrictEqual([requests, took], [2, 10_000])
    }
    const hinted = yield* play(read, PaymentsPolicy.interactive, respond(429, "", { "retry-after": "3" }))
    assert.strictEqual(hinted.requests, 1)
  })
})
