/**
 * What ends `IdempotencyKey.retry` while money may have moved: the hook of the policy gets the doubt, once for a key.
 */
import { assert, describe } from "@effect/vitest"
import { Cause, Data, Duration, Effect, Exit, Fiber, Layer, Logger, Option, Redacted, Schedule } from "effect"
import { TestClock } from "effect/testing"
import {
  Credentials,
  IdempotencyKey,
  IdempotencyKeyGen,
  OutcomeUnknown,
  Payments,
  PaymentsPolicy,
  type RequestWithdrawalError,
  type WriteOptions
} from "effect-pix"
import { record, withdrawal } from "../support/operations.ts"
import type { Script } from "../support/played.ts"
import { runs, seed, seeded } from "../support/seed.ts"
import { lostConnection, paymentsOn, refusedConnection, respond, scripted } from "../support/Wire.ts"
import { effect } from "../support/effect.ts"

const key = IdempotencyKey.fromReference("payout", "invoice-42")
const minutes = Schedule.spaced("1 minute")

/** A policy without retries of its own, and the reports that its hook got. */
const reporting = (hook: Effect.Effect<void> = Effect.void) => {
  const reports: Array<OutcomeUnknown> = []
  const policy = PaymentsPolicy.make({
    ...PaymentsPolicy.once,
    onInterruptedWrite: (report) =>
      Effect.andThen(
        Effect.sync(() => reports.push(report)),
        hook
      )
  })
  return { reports, policy }
}

type Write = (payments: Payments["Service"]) => (options: WriteOptions) => Effect.Effect<unknown, unknown>

const withdraw = (payments: Payments["Service"]) => (options: WriteOptions) =>
  payments.requestWithdrawal(withdrawal, options)

interface Played {
  readonly schedule?: Schedule.Schedule<unknown, unknown, unknown>
  readonly write?: Write
  readonly around?: <A, E, R>(retry: Effect.Effect<A, E, R>) => Effect.Effect<A, E | Cause.TimeoutError, R>
  /** When the repetition is interrupted. Default: it is not. */
  readonly interruptedAfter?: Duration.Input
}

/** Repeats a write at a gateway with these replies, until it ends or is interrupted. */
const play = Effect.fnUntraced(function* (played: Played, ...script: Script) {
  const { around = (retry) => retry, interruptedAfter, schedule = minutes, write = withdraw } = played
  const { layer, sent } = scripted(...script)
  const { policy, reports } = reporting()
  const lines: Array<string> = []
  const program = Effect.flatMap(Payments, (payments) => around(IdempotencyKey.retry(key, schedule, write(payments))))
  const exit = yield* Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(program)
    yield* TestClock.adjust(interruptedAfter ?? "1 day")
    if (interruptedAfter !== undefined) yield* Fiber.interrupt(fiber)
    return yield* Fiber.await(fiber)
  }).pipe(
    Effect.provide(
      Layer.merge(
        // The policy of the layer, which the fiber of the repetition does not have.
        Layer.provide(paymentsOn(layer), Layer.succeed(PaymentsPolicy, policy)),
        Logger.layer([Logger.make(({ logLevel, message }) => lines.push(`${logLevel} ${String(message)}`))])
      )
    )
  )
  return { exit, reports, sent, lines, error: Option.getOrUndefined(Exit.findErrorOption(exit)) }
})

const tagsOf = (reports: ReadonlyArray<OutcomeUnknown>) => reports.map(({ reason, status }) => [reason, status])

class Busy extends Data.TaggedError("Busy") {}

describe("a repetition that something ends while money may have moved", () => {
  effect(
    "an interruption between two calls is reported once, with the doubt of the last call, and logged",
    function* () {
      const { exit, lines, reports, sent } = yield* play({ interruptedAfter: "90 seconds" }, respond(503))
      assert.isTrue(Exit.hasInterrupts(exit))
      assert.deepStrictEqual([tagsOf(reports), sent.length], [[["ServerError", 503]], 2])
      assert.strictEqual(reports[0]?.idempotencyKey, key)
      assert.match(reports[0]?.fingerprint ?? "", /^[0-9a-f]{40}$/)
      assert.isDefined(reports[0]?.firstSentAt)
      assert.include(lines.at(-1), key)
      assert.match(lines.at(-1) ?? "", /^Warn/)
    }
  )

  effect("a time limit around the repetition is reported once", function* () {
    const { error, reports } = yield* play({ around: Effect.timeout("5 minutes") }, respond(503), lostConnection)
    assert.isTrue(Cause.isTimeoutError(error))
    assert.deepStrictEqual(tagsOf(reports), [["ConnectionLost", undefined]])
  })

  effect("an interruption of a later call is reported once, by that call", function* () {
    const { reports, sent } = yield* play({ interruptedAfter: "61 seconds" }, respond(503), "silence")
    assert.deepStrictEqual([tagsOf(reports), sent.length], [[["Interrupted", undefined]], 2])
  })

  effect("a schedule that throws, dies or fails ends in the OutcomeUnknown, which is reported once", function* () {
    const throwing = Schedule.while(minutes, () => {
      throw new Error("a bug of the schedule")
    })
    for (const schedule of [
      throwing,
      Schedule.tap(minutes, () => Effect.die("a bug")),
      Schedule.tap(minutes, () => Effect.fail("the store of the schedule is away")),
      Schedule.fromStep<unknown, never, never, never, never, never>(Effect.die("a bug at the start"))
    ]) {
      const { error, reports, sent } = yield* play({ schedule }, respond(503))
      assert(error instanceof OutcomeUnknown)
      assert.deepStrictEqual([error.reason, error.idempotencyKey, sent.length], ["ServerError", key, 1])
      assert.strictEqual(reports.length, 1)
      assert.strictEqual(reports[0], error)
    }
  })

  effect("a schedule that fails where nothing is in doubt fails as it does, and nothing is reported", function* () {
    const failing = Schedule.tap(minutes, () => Effect.fail("away"))
    const { error, reports } = yield* play({ schedule: failing }, respond(422, { message: "Recusado" }))
    assert.deepStrictEqual([error, reports], ["away", []])
    const dying = Schedule.tap(minutes, () => Effect.die("a bug"))
    const { exit } = yield* play({ schedule: dying }, refusedConnection)
    assert.isTrue(Exit.hasDies(exit))
  })

  effect("a defect of the caller's own code after a doubt is reported once, and stays a defect", function* () {
    let calls = 0
    const write: Write = (payments) => (options) =>
      calls++ === 0 ? withdraw(payments)(options) : Effect.die("a bug of the caller")
    const { exit, reports } = yield* play({ write }, respond(503))
    assert.isTrue(Exit.hasDies(exit))
    assert.deepStrictEqual(tagsOf(reports), [["ServerError", 503]])
  })

  effect(
    "a call that a time limit of the caller cut off is reported once, also where the repetition is ended later",
    function* () {
      const write: Write = (payments) => (options) => Effect.timeout(withdraw(payments)(options), "1 second")
      const { reports, sent } = yield* play({ write, interruptedAfter: "90 seconds" }, "silence", respond(503))
      assert.deepStrictEqual([tagsOf(reports), sent.length], [[["Interrupted", undefined]], 2])
    }
  )

  effect(
    "an error of the caller without an outcome hides no doubt: the call's own error is reported and repeated",
    function* () {
      const given: Array<WriteOptions> = []
      const write: Write = (payments) => (options) => {
        given.push(options)
        return Effect.mapError(withdraw(payments)(options), () => new Busy())
      }
      const { reports } = yield* play({ write, interruptedAfter: "90 seconds" }, respond(503))
      assert.deepStrictEqual(tagsOf(reports), [["ServerError", 503]])
      assert.deepStrictEqual(
        given.map(({ after, earlier }) => [earlier, after?._tag]),
        [
          [undefined, undefined],
          ["Unknown", "OutcomeUnknown"]
        ]
      )
    }
  )

  effect("a conflict is reported with its key, its sender and its time", function* () {
    const { reports } = yield* play({ interruptedAfter: "30 seconds" }, respond(409))
    assert.deepStrictEqual(
      reports.map(({ fingerprint, firstSentAt, idempotencyKey, reason, status }) => [
        idempotencyKey,
        reason,
        status,
        fingerprint?.length,
        firstSentAt !== undefined
      ]),
      [[key, "Interrupted", 409, 40, true]]
    )
  })

  effect("nothing is reported where nothing is in doubt, or where the caller gets the result", function* () {
    const cases: ReadonlyArray<readonly [Played, Script]> = [
      [{ interruptedAfter: "90 seconds" }, [respond(429)]],
      [{ interruptedAfter: "90 seconds" }, [refusedConnection]],
      [{ schedule: Schedule.recurs(1) }, [respond(503)]],
      [{}, [respond(503), respond(201, record(key))]]
    ]
    for (const [played, script] of cases) {
      const { reports } = yield* play(played, ...script)
      assert.deepStrictEqual(reports, [])
    }
  })

  effect("a hook that hangs holds the repetition for ten seconds, and one that fails is logged", function* () {
    for (const [hook, waited] of [
      [Effect.never, 10_000],
      [Effect.die("a bug of the hook"), 0]
    ] as const) {
      const { layer } = scripted(respond(503))
      const { policy } = reporting(hook)
      const lines: Array<string> = []
      const clock = Effect.clockWith((clock) => clock.currentTimeMillis)
      const limited = Effect.flatMap(Payments, (payments) =>
        Effect.exit(Effect.timeout(IdempotencyKey.retry(key, minutes, withdraw(payments)), "30 seconds"))
      )
      const fiber = yield* Effect.forkChild(
        Effect.andThen(limited, clock).pipe(
          Effect.provideService(PaymentsPolicy, policy),
          Effect.provide(
            Layer.merge(paymentsOn(layer), Logger.layer([Logger.make(({ message }) => lines.push(String(message)))]))
          )
        )
      )
      const start = yield* clock
      yield* TestClock.adjust("1 hour")
      assert.strictEqual((yield* Fiber.join(fiber)) - start, 30_000 + waited)
      assert.strictEqual(
        lines.some((line) => line.includes("onInterruptedWrite failed")),
        waited === 0
      )
    }
  })

  effect("a client that somebody else made is reported by the policy of the program", function* () {
    const { policy, reports } = reporting()
    const unknown = new OutcomeUnknown({
      operation: "requestWithdrawal",
      attempts: 1,
      idempotencyKey: key,
      outcome: "Unknown",
      reason: "Timeout"
    })
    const mock = Layer.mock(Payments, { requestWithdrawal: () => Effect.fail(unknown) })
    const repeated = Effect.flatMap(Payments, (payments) =>
      Effect.timeout(IdempotencyKey.retry(key, minutes, withdraw(payments)), "90 seconds")
    )
    const fiber = yield* Effect.forkChild(
      Effect.exit(repeated).pipe(Effect.provideService(PaymentsPolicy, policy), Effect.provide(mock))
    )
    yield* TestClock.adjust("1 hour")
    yield* Fiber.join(fiber)
    assert.deepStrictEqual(reports, [unknown])
  })
})

describe("random repetitions that are interrupted", () => {
  const replies = [
    { reply: respond(503), isDoubt: true },
    { reply: lostConnection, isDoubt: true },
    { reply: respond(409), isDoubt: true },
    { reply: "silence", isDoubt: true },
    { reply: refusedConnection, isDoubt: false },
    { reply: respond(429), isDoubt: false },
    { reply: respond(422, { message: "Conta bloqueada" }), isDoubt: false }
  ] as const

  effect("each is reported once if one of its requests may have been executed, and else not at all", function* () {
    const { below, pick } = seeded(seed)
    let doubts = 0
    for (let run = 0; run < runs(150, 1500); run++) {
      const first = pick(replies)
      const script = [first, ...Array.from({ length: 6 }, () => pick(replies))]
      const limit = Duration.seconds(pick([1, 3600]))
      const write: Write = (payments) => (options) => Effect.timeout(withdraw(payments)(options), limit)
      const { exit, reports, sent } = yield* play(
        { write, interruptedAfter: Duration.seconds(below(360)) },
        first.reply,
        ...script.slice(1).map(({ reply }) => reply)
      )
      const isDoubt = script.slice(0, sent.length).some((one) => one.isDoubt)
      assert.isTrue(Exit.hasInterrupts(exit))
      assert.strictEqual(reports.length, isDoubt ? 1 : 0, `seed ${seed}, run ${run}`)
      doubts += reports.length
    }
    assert.isAbove(doubts, 20)
  })
})

describe("a repetition under a key in doubt", () => {
  effect("sends nothing under another client id, and stays unknown until the first one is back", function* () {
    const { layer, sent } = scripted(respond(503), respond(201, record(key)))
    const known = { clientId: "client-a", apiKey: Redacted.make("key") }
    const other = { clientId: "client-b", apiKey: Redacted.make("key") }
    let calls = 0
    const credentials = Layer.succeed(Credentials, {
      current: Effect.sync(() => (calls++ === 1 ? other : known)),
      reload: () => Effect.succeed(false)
    })
    const payments = Payments.layer({ baseUrl: "https://gateway.example", companyId: 7 }).pipe(
      Layer.provide([layer, credentials, IdempotencyKeyGen.layerSequential])
    )
    const reasons: Array<unknown> = []
    const seen = Schedule.tap(Schedule.setInputType<RequestWithdrawalError>()(minutes), ({ input }) =>
      Effect.sync(() => reasons.push("reason" in input && input.reason))
    )
    const fiber = yield* Effect.forkChild(
      Effect.flatMap(Payments, (payments) => IdempotencyKey.retry(key, seen, withdraw(payments))).pipe(
        Effect.provideService(PaymentsPolicy, PaymentsPolicy.once),
        Effect.provide(payments)
      )
    )
    yield* TestClock.adjust("1 hour")
    yield* Fiber.join(fiber)
    assert.deepStrictEqual(reasons, ["ServerError", "OtherClientId"])
    assert.deepStrictEqual(
      sent.map(({ headers }) => headers["x-client-id"]),
      ["client-a", "client-a"]
    )
  })

  effect("sends nothing after the horizon, also after a call that the caller's time limit cut off", function* () {
    const write: Write = (payments) => (options) => Effect.timeout(withdraw(payments)(options), "1 second")
    const hours = Schedule.upTo(Schedule.spaced("5 hours"), { times: 4 })
    const { error, sent } = yield* play({ schedule: hours, write }, "silence")
    assert.strictEqual(sent.length, 3)
    assert(error instanceof OutcomeUnknown)
    assert.strictEqual(error.reason, "PastHorizon")
  })
})
