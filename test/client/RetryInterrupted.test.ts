/**
 * What ends `IdempotencyKey.retry` while money may have moved: the hook of the policy gets the doubt, once for a key.
 */
import { assert, describe } from "@effect/vitest"
import { type Cause, Data, Duration, Effect, Exit, Fiber, Layer, Logger, Option, Redacted, Schedule } from "effect"
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

const busy: Write = (payments) => (options) => Effect.mapError(withdraw(payments)(options), () => new Busy())
const secondDies = (): Write => {
  let calls = 0
  return (payments) => (options) => (calls++ === 0 ? withdraw(payments)(options) : Effect.die("a bug of the caller"))
}
const cutOff: Write = (payments) => (options) => Effect.timeout(withdraw(payments)(options), "1 second")
const later = { interruptedAfter: "90 seconds" } as const
const serverError = ["ServerError", 503]
const interruption = ["Interrupted", undefined]

describe("a repetition that something ends while money may have moved", () => {
  effect.each<readonly [string, Played, Script, reports: ReadonlyArray<unknown>, requests: number]>([
    ["an interruption between two calls is reported once", later, [respond(503)], [serverError], 2],
    [
      "an interruption of a later call is reported by it",
      { interruptedAfter: "61 seconds" },
      [respond(503), "silence"],
      [interruption],
      2
    ],
    [
      "an interruption after a conflict is reported",
      { interruptedAfter: "30 seconds" },
      [respond(409)],
      [["Interrupted", 409]],
      1
    ],
    [
      "a time limit around the repetition is reported once",
      { around: Effect.timeout("5 minutes") },
      [respond(503), lostConnection],
      [["ConnectionLost", undefined]],
      5
    ],
    [
      "a call that a time limit of the caller cut off is reported once, and not by the repetition",
      { write: cutOff, ...later },
      ["silence", respond(503)],
      [interruption],
      2
    ],
    [
      "a defect of the caller's own code after a doubt is reported once",
      { write: secondDies() },
      [respond(503)],
      [serverError],
      1
    ],
    [
      "an error of the caller without an outcome hides no doubt",
      { write: busy, ...later },
      [respond(503)],
      [serverError],
      2
    ],
    ["an interruption after a rate limit is not reported", later, [respond(429)], [], 2],
    ["an interruption after a refused connection is not reported", later, [refusedConnection], [], 2],
    ["an error that the caller gets is not reported", { schedule: Schedule.recurs(1) }, [respond(503)], [], 2],
    ["a success after a doubt is not reported", {}, [respond(503), respond(201, record(key))], [], 2]
  ])("%s", function* ([, played, script, expected, requests]) {
    const { lines, reports, sent } = yield* play(played, ...script)
    assert.deepStrictEqual([tagsOf(reports), sent.length], [expected, requests])
    for (const { fingerprint, firstSentAt, idempotencyKey } of reports) {
      assert.strictEqual(idempotencyKey, key)
      assert.match(fingerprint ?? "", /^[0-9a-f]{40}$/)
      assert.isDefined(firstSentAt)
    }
    const said = lines.filter((line) => line.startsWith("Warn") && line.includes(key))
    assert.isAtLeast(said.length, reports.length)
    for (const { headers } of sent) assert.strictEqual(headers["idempotency-key"], key)
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

  effect.each([
    ["hangs", Effect.never, 40_000],
    ["fails", Effect.die("a bug of the hook"), 30_000]
  ] as const)(
    "a hook that %s holds the repetition for ten seconds at most, and a failed one is logged",
    function* ([, hook, end]) {
      const { layer } = scripted(respond(503))
      const lines: Array<string> = []
      const logger = Logger.layer([Logger.make(({ message }) => lines.push(String(message)))])
      const limited = Effect.flatMap(Payments, (payments) =>
        Effect.exit(Effect.timeout(IdempotencyKey.retry(key, minutes, withdraw(payments)), "30 seconds"))
      )
      const fiber = yield* Effect.forkChild(
        limited.pipe(
          Effect.provideService(PaymentsPolicy, reporting(hook).policy),
          Effect.provide(Layer.merge(paymentsOn(layer), logger))
        )
      )
      yield* TestClock.adjust(end - 1)
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust(1)
      yield* Fiber.join(fiber)
      assert.strictEqual(
        lines.some((line) => line.includes("onInterruptedWrite failed")),
        end === 30_000
      )
    }
  )

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
    for (let run = 0; run < runs(60, 1500); run++) {
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
    assert.isAbove(doubts, 10)
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
    const hours = Schedule.upTo(Schedule.spaced("5 hours"), { times: 4 })
    const { error, sent } = yield* play({ schedule: hours, write: cutOff }, "silence")
    assert.strictEqual(sent.length, 3)
    assert(error instanceof OutcomeUnknown)
    assert.strictEqual(error.reason, "PastHorizon")
  })
})
