/**
 * Repetitions under one key: a doubt of one attempt is in the options of the next, ends the repetition as an Unknown, and is
 * reported once where something ends the repetition before its caller has an error.
 */
import { assert, describe } from "@effect/vitest"
import { Cause, Data, Duration, Effect, Exit, Layer, Option, Schedule } from "effect"
import { IdempotencyKey, OutcomeUnknown, Payments, RequestRejected, type WriteOptions } from "effect-pix"
import { effect } from "../support/effect.ts"
import type { Service } from "../support/failing.ts"
import { record, withdrawal } from "../support/operations.ts"
import { runs, seed, seeded } from "../support/seed.ts"
import { watch } from "../support/watched.ts"
import { lostConnection, refusedConnection, respond, type Script } from "../support/Wire.ts"
import { oneAttempt } from "../support/policies.ts"

const key = IdempotencyKey.fromReference("payout", "invoice-42")
const common = { operation: "requestWithdrawal", attempts: 1, idempotencyKey: key } as const
const unknown = new OutcomeUnknown({ ...common, outcome: "Unknown", reason: "Timeout" })
const rejected = new RequestRejected({ ...common, outcome: "Rejected", status: 422 })
const refusal = respond(422, { message: "Chave inválida" })
const failedRecord = respond(201, { ...record(key), description: undefined, enTransaction: "Failure" })

class Failure extends Data.TaggedError("Failure")<{ readonly outcome?: string }> {}

type Write = (payments: Service) => (options: WriteOptions) => Effect.Effect<unknown, unknown>

const withdraw = (payments: Service) => (options: WriteOptions) => payments.requestWithdrawal(withdrawal, options)
const cutOffAfter =
  (limit: Duration.Input): Write =>
  (payments) =>
  (options) =>
    Effect.timeout(withdraw(payments)(options), limit)
const cutOff = cutOffAfter("1 second")
/** Over a copy of the client with a method of its own. */
const decorated: Write = (payments) =>
  withdraw({ ...payments, requestWithdrawal: (...given) => payments.requestWithdrawal(...given) })

const minutes = Schedule.spaced("1 minute")
const times = (count: number) => Schedule.upTo(minutes, { times: count })

interface Played {
  /** Default: each minute. */
  readonly schedule?: Schedule.Schedule<unknown, unknown, unknown>
  readonly write?: Write
  readonly around?: <A, E, R>(retry: Effect.Effect<A, E, R>) => Effect.Effect<A, E | Cause.TimeoutError, R>
  readonly interruptedAfter?: Duration.Input
  readonly payments?: Layer.Layer<Payments>
}

const first = { idempotencyKey: key, earlier: "None" } as const

/** Repeats a write at a gateway with these replies, until it ends or is interrupted. A call sends one request. */
const play = Effect.fnUntraced(function* (played: Played, ...script: Script) {
  const { around = (retry) => retry, interruptedAfter, payments, schedule = minutes, write = withdraw } = played
  const program = Effect.flatMap(Payments, (client) => around(IdempotencyKey.retry(first, schedule, write(client))))
  const found = yield* watch(program, { interruptedAfter, payments, settings: oneAttempt }, ...script)
  for (const { headers } of found.sent) assert.strictEqual(headers["idempotency-key"], key)
  return found
})

describe("a repetition", () => {
  effect.each<readonly [string, Played, Script, tag: string, requests: number]>([
    ["with a 422 after lost answers", {}, [lostConnection, lostConnection, refusal], "OutcomeUnknown", 4],
    ["over a decorated client", { write: decorated }, [lostConnection, lostConnection, refusal], "OutcomeUnknown", 4],
    ["with a 401 after a lost answer", {}, [lostConnection, respond(401)], "OutcomeUnknown", 4],
    ["with a 429 after a lost answer", {}, [lostConnection, respond(429)], "OutcomeUnknown", 4],
    ["with a record of a failure after a lost answer", {}, [lostConnection, failedRecord], "OutcomeUnknown", 4],
    ["that the service recorded as failed", {}, [failedRecord], "WithdrawalFailed", 4],
    ["that sends nothing after a lost answer", {}, [lostConnection, refusedConnection], "OutcomeUnknown", 4],
    ["after a request that a time limit cut off", { write: cutOff }, ["silence", refusal], "OutcomeUnknown", 4],
    ["that executed nothing", {}, [refusedConnection, respond(429), refusal], "RequestRejected", 4]
  ])("%s ends in the error of what is in doubt, or of its last attempt", function* ([, played, script, tag, requests]) {
    const { error, reports, sent } = yield* play({ schedule: times(3), ...played }, ...script)
    assert.propertyVal(error, "_tag", tag)
    // A call that was cut off reports itself.
    assert.deepStrictEqual([sent.length, reports.length], [requests, played.write === cutOff ? 1 : 0])
  })

  effect("sends nothing after the horizon, also after a call that the caller's time limit cut off", function* () {
    const schedule = Schedule.upTo(Schedule.spaced("5 hours"), { times: 4 })
    const { error, sent } = yield* play({ schedule, write: cutOff }, "silence")
    assert(error instanceof OutcomeUnknown)
    assert.deepStrictEqual([error.reason, sent.length], ["PastHorizon", 3])
  })
})

/** Returns the options of each attempt if the attempts end like this, and the error of the repetition. */
const attempts = Effect.fnUntraced(function* <E>(...exits: ReadonlyArray<Effect.Effect<string, E>>) {
  const given: Array<WriteOptions> = []
  const repeated = IdempotencyKey.retry(first, Schedule.recurs(exits.length - 1), (options) => {
    given.push(options)
    return exits[given.length - 1] ?? Effect.die("it was tried more often than it failed")
  })
  const exit = yield* Effect.exit(repeated)
  return { given, repeated, exit, error: Option.getOrUndefined(Exit.findErrorOption(exit)) }
})

const inDoubt = { idempotencyKey: key, earlier: "Unknown" }
const afterUnknown = { after: unknown }
const failWith = (outcome?: string) => Effect.fail<unknown>(new Failure(outcome === undefined ? {} : { outcome }))
const harmless = Effect.fail<unknown>(rejected)
const besides = (other: Cause.Cause<unknown>) => Effect.failCause(Cause.combine(Cause.fail<unknown>(rejected), other))

describe("an attempt of a repetition", () => {
  effect.each<readonly [string, Effect.Effect<never, unknown>, next: object]>([
    ["the outcome NotSent", failWith("NotSent"), first],
    ["the outcome Rejected", harmless, first],
    ["the outcome NoEffect", failWith("NoEffect"), first],
    ["an error that can be given as `after`", Effect.fail(unknown), afterUnknown],
    ["the outcome Unknown of another error", failWith("Unknown"), inDoubt],
    ["no outcome", failWith(), inDoubt],
    ["an outcome that is none", failWith("Perhaps"), inDoubt],
    ["a plain text", Effect.fail("failed"), inDoubt],
    ["a refusal and a doubt", besides(Cause.fail(unknown)), afterUnknown],
    ["a refusal and an interruption", besides(Cause.interrupt(1)), inDoubt]
  ])("that failed with %s gives the later ones its doubt, or none", function* ([, failed, next]) {
    const { given } = yield* attempts(harmless, failed, harmless, harmless)
    assert.deepStrictEqual<unknown>(given, [first, first, next, next])
  })

  effect("that proves nothing about an earlier one in doubt does not replace its error", function* () {
    const limit = new Failure({})
    const doubt = new OutcomeUnknown({ ...common, outcome: "Unknown", reason: "ConnectionLost" })
    for (const [failures, error] of [
      [[limit, new Failure({ outcome: "NotSent" })], limit],
      [[limit, rejected], limit],
      [[unknown, limit, new Failure({ outcome: "NotSent" })], unknown],
      [[doubt, unknown, limit], unknown]
    ] as const) {
      assert.strictEqual((yield* attempts<unknown>(...failures.map((one) => Effect.fail(one)))).error, error)
    }
  })

  effect("that succeeds or dies is the last one, and another run starts with no doubt", function* () {
    const paid = yield* attempts(Effect.fail(unknown), Effect.succeed("paid"))
    assert.deepStrictEqual(paid.exit, Exit.succeed("paid"))
    yield* Effect.exit(paid.repeated)
    assert.deepStrictEqual<unknown>(paid.given, [first, afterUnknown, first])
    const broken = yield* attempts(Effect.die("broken"), Effect.succeed("paid"))
    assert.deepStrictEqual([Exit.hasDies(broken.exit), broken.given.length], [true, 1])
  })
})

describe("the schedule of a repetition", () => {
  effect("that throws, dies or fails ends in the OutcomeUnknown, which is reported once", function* () {
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

  effect("that fails where nothing is in doubt fails as it does, and nothing is reported", function* () {
    const { error, reports } = yield* play({ schedule: Schedule.tap(minutes, () => Effect.fail("away")) }, refusal)
    assert.deepStrictEqual([error, reports], ["away", []])
    const { exit } = yield* play({ schedule: Schedule.tap(minutes, () => Effect.die("a bug")) }, refusedConnection)
    assert.isTrue(Exit.hasDies(exit))
  })
})

const busy: Write = (payments) => (options) => Effect.mapError(withdraw(payments)(options), () => new Failure({}))
const secondDies = (): Write => {
  let calls = 0
  return (payments) => (options) => (calls++ === 0 ? withdraw(payments)(options) : Effect.die("a bug of the caller"))
}
const later = { interruptedAfter: "90 seconds" } as const
const minutesOnly = { around: Effect.timeout("5 minutes") } as const
const mock = Layer.mock(Payments, { requestWithdrawal: () => Effect.fail(unknown) })

describe("a repetition that something ends while money may have moved", () => {
  effect.each<readonly [string, Played, Script, report: unknown, requests: number]>([
    ["an interruption between two calls is reported once", later, [respond(503)], ["ServerError", 503], 2],
    ["an interruption after a conflict is reported", { interruptedAfter: 1 }, [respond(409)], ["Interrupted", 409], 1],
    [
      "a time limit around it is reported",
      minutesOnly,
      [respond(503), lostConnection],
      ["ConnectionLost", undefined],
      5
    ],
    [
      "a call that a time limit of the caller cut off is reported by the call alone",
      { write: cutOff, ...later },
      ["silence", respond(503)],
      ["Interrupted", undefined],
      2
    ],
    ["a defect of the caller's own code is reported", { write: secondDies() }, [respond(503)], ["ServerError", 503], 1],
    [
      "an error of the caller without an outcome hides no doubt",
      { write: busy, ...later },
      [respond(503)],
      ["ServerError", 503],
      2
    ],
    [
      "a client that somebody else made is reported by the policy of the program",
      { payments: mock, ...later },
      [respond(500)],
      ["Timeout", undefined],
      0
    ],
    ["a success after a doubt is not reported", {}, [respond(503), respond(201, record(key))], undefined, 2]
  ])("%s", function* ([, played, script, expected, requests]) {
    const { lines, reports, sent } = yield* play(played, ...script)
    const found = reports.map(({ idempotencyKey, reason, status }) => [idempotencyKey, reason, status])
    assert.deepStrictEqual(found, Array.isArray(expected) ? [[key, ...expected]] : [])
    assert.strictEqual(sent.length, requests)
    for (const { fingerprint, firstSentAt } of sent.length === 0 ? [] : reports) {
      assert.match(fingerprint ?? "", /^[0-9a-f]{40}$/)
      assert.isDefined(firstSentAt)
    }
    const said = lines.filter((line) => line.startsWith("Warn") && line.includes(key))
    assert.isAtLeast(said.length, reports.length)
  })

  effect("is reported once if one of its requests may have been executed, and else not at all", function* () {
    const replies = [
      { reply: respond(503), isDoubt: true },
      { reply: lostConnection, isDoubt: true },
      { reply: respond(409), isDoubt: true },
      { reply: "silence", isDoubt: true },
      { reply: refusedConnection, isDoubt: false },
      { reply: respond(429), isDoubt: false },
      { reply: refusal, isDoubt: false }
    ] as const
    const { below, pick } = seeded(seed)
    let doubts = 0
    for (let run = 0; run < runs(60, 1500); run++) {
      const script = [pick(replies), ...Array.from({ length: 6 }, () => pick(replies))] as const
      const [start, ...rest] = script
      const { exit, reports, sent } = yield* play(
        { write: cutOffAfter(Duration.seconds(pick([1, 3600]))), interruptedAfter: Duration.seconds(below(360)) },
        start.reply,
        ...rest.map(({ reply }) => reply)
      )
      const isDoubt = script.slice(0, sent.length).some((one) => one.isDoubt)
      assert.isTrue(Exit.hasInterrupts(exit))
      assert.strictEqual(reports.length, isDoubt ? 1 : 0, `seed ${seed}, run ${run}`)
      doubts += reports.length
    }
    assert.isAbove(doubts, 10)
  })
})
