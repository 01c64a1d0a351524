import { assert, describe, test } from "@effect/vitest"
import { Clock, DateTime, Duration, Effect, Exit, Fiber, Random, Result, Schedule, Schema } from "effect"
import { TestClock } from "effect/testing"
import { GatewayFacts, type GetTransactionError, type TransactionDetail, TransactionWait } from "effect-pix"
import { TransactionHints } from "../../src/transactions/TransactionHints.ts"
import * as Lookup from "../support/payments.ts"
import { effect } from "../support/effect.ts"
import { wrongClock } from "../support/exported.ts"

const awaiting = Lookup.detailOf("t", "Awaiting")
const paid = Lookup.detailOf("t")
const review = Lookup.detailOf("t", "UnderReview")
const refunded = Lookup.detailOf("t", "Refunded")

type Answer = TransactionDetail | GetTransactionError | "hangs"

/** Lookups with these answers, the last one again and again, and the second at which each began. */
const script = (answers: ReadonlyArray<Answer>, takes: Duration.Input = 0) => {
  const at: Array<number> = []
  const get: Lookup.GetTransaction = () =>
    Effect.gen(function* () {
      at.push((yield* Clock.currentTimeMillis) / 1000)
      const answer = answers[Math.min(at.length, answers.length) - 1] ?? awaiting
      if (answer === "hangs") return yield* Effect.never
      yield* Effect.sleep(takes)
      return "_tag" in answer ? yield* answer : answer
    })
  return { get, at }
}

const finalBy = (getTransaction: Lookup.GetTransaction, options?: TransactionWait.Options, id = "t") =>
  Effect.provide(TransactionWait.final(id, options), Lookup.mockPayments({ getTransaction }))

/** A lookup every so many seconds. */
const each = (seconds: number) => ({ schedule: Schedule.spaced(Duration.seconds(seconds)) })
const steady = each(10)
const upTo = (end: number, step: number) => Array.from({ length: end / step + 1 }, (_, n) => n * step)

/** How a wait ended: with a status, or with an error and when, the last status and the last failure. */
const endOf = (wait: Effect.Effect<TransactionDetail, TransactionWait.WaitError>) =>
  Effect.gen(function* () {
    const result = yield* Effect.result(wait)
    if (Result.isSuccess(result)) return result.success.enStatusTransaction
    const error = result.failure
    if (error._tag !== "TimedOut") return error._tag
    const seconds = (yield* Clock.currentTimeMillis) / 1000
    return [error.reason, seconds, error.attempts, error.lastStatus ?? "-", error.lastFailure ?? "-"].join(" ")
  })

/** What lookups answer, the options, when lookups begin, how the wait ends, and when hints come, in seconds. */
type Row = readonly [
  title: string,
  answers: ReadonlyArray<Answer>,
  options: TransactionWait.Options,
  at: ReadonlyArray<number>,
  end: string,
  hints?: ReadonlyArray<number>
]
const rows: ReadonlyArray<Row> = [
  ["ends at once with a status that is final", [Lookup.detailOf("t", "Cancelled")], steady, [0], "Cancelled"],
  ["ends with the first poll after the payment", [awaiting, awaiting, paid], steady, [0, 10, 20], "Paid"],
  ["continues after an outage", [Lookup.unavailable, paid], steady, [0, 10], "Paid"],
  ["continues after a page of a proxy", [awaiting, Lookup.unreadable, paid], steady, [0, 10, 20], "Paid"],
  ["continues after a limit without a time", [Lookup.limited(), paid], steady, [0, 10], "Paid"],
  ["waits as long as the service asks", [Lookup.limited(45), paid], steady, [0, 45], "Paid"],
  ["polls where the service asks for less", [Lookup.limited(4), paid], steady, [0, 10], "Paid"],
  ["continues after an undocumented status", [review, paid], steady, [0, 10], "Paid"],
  [
    "ends where `until` says so, and not with a final status",
    [paid, refunded],
    { ...steady, until: ({ enStatusTransaction }) => enStatusTransaction === "Refunded" },
    [0, 10],
    "Refunded"
  ],
  ["ends at once with a refusal that waiting cannot change", [Lookup.rejected(422)], steady, [0], "RequestRejected"],
  ["ends at once with a redirect", [Lookup.rejected(301)], steady, [0], "RequestRejected"],
  ["ends at once with refused credentials", [Lookup.unauthorized], steady, [0], "AuthError"],
  ["ends at once where nobody knows the transaction", [Lookup.missing], steady, [0], "TransactionNotFound"],
  ["finds a payment with its last lookup", [awaiting, paid], { ...each(7200), expiresAt: 60_000 }, [0, 60], "Paid"],
  ["finds a payment after a lookup that hangs", ["hangs", paid], { ...steady, expiresAt: 60_000 }, [0, 60], "Paid"],
  ["finds a payment after its expiry", [paid], { expiresAt: 0 }, [0], "Paid"],
  ["lasts an hour by default", [], each(600), upTo(3600, 600), "Deadline 3600 7 Awaiting -"],
  ["lasts to its deadline", [], { ...each(600), deadline: "90 seconds" }, [0, 90], "Deadline 90 2 Awaiting -"],
  [
    "lasts to the expiry, also for hours",
    [],
    { ...each(600), expiresAt: 7_200_000 },
    upTo(7200, 600),
    "Expired 7200 13 Awaiting -"
  ],
  [
    "lasts to the deadline if that is before the expiry",
    [],
    { ...each(600), expiresAt: DateTime.makeUnsafe(7_200_000), deadline: "1 minute" },
    [0, 60],
    "Deadline 60 2 Awaiting -"
  ],
  [
    "lasts to the expiry if that is before the deadline",
    [],
    { ...each(600), expiresAt: 60_000, deadline: "2 minutes" },
    [0, 60],
    "Expired 60 2 Awaiting -"
  ],
  [
    "lasts to the expiry if the service wrote its offset",
    [],
    { ...each(600), expiresAt: "1970-01-01T00:01:00+00:00" },
    [0, 60],
    "Expired 60 2 Awaiting -"
  ],
  ...[DateTime.makeUnsafe(60_000), "1970-01-01T00:01:00", "1970-01-01T00:01:00Z"].map((expiresAt): Row => [
    `lasts three hours longer, since the expiry ${String(expiresAt)} may be of Brasília`,
    [],
    { ...each(600), expiresAt },
    [...upTo(10_800, 600), 10_860],
    "Expired 10860 20 Awaiting -"
  ]),
  [
    "lasts an hour if its expiry is none",
    [],
    { ...each(600), expiresAt: "0001-01-01T00:00:00" },
    upTo(3600, 600),
    "Deadline 3600 7 Awaiting -"
  ],
  [
    "lasts an hour if its expiry is before the charge's creation",
    [{ ...awaiting, createdAt: DateTime.makeUnsafe(-1000) }],
    { ...each(600), expiresAt: -2000 },
    [0, ...upTo(3600, 600).slice(1)],
    "Deadline 3600 7 Awaiting -"
  ],
  [
    "finds a payment by a word for it that is not listed with none of its lookups",
    [Lookup.detailOf("t", "Successful")],
    { ...each(600), deadline: "10 minutes" },
    [0, 600],
    "Deadline 600 2 Successful -"
  ],
  ["ends with a listed word in any case", [Lookup.detailOf("t", "CANCELLED")], steady, [0], "CANCELLED"],
  ["lasts to the end of its schedule", [], { schedule: Schedule.recurs(2) }, [0, 0, 0], "Deadline 0 3 Awaiting -"],
  ["makes one lookup after the expiry", [], { expiresAt: -1 }, [0], "Expired 0 1 Awaiting -"],
  [
    "ends with the failure of its last lookup and the status before it",
    [awaiting, Lookup.unreadable],
    { ...steady, deadline: "15 seconds" },
    [0, 10, 15],
    "Deadline 15 3 Awaiting UnexpectedResponse"
  ],
  [
    "lasts to the deadline if the service asks for a longer wait",
    [Lookup.limited(600)],
    { deadline: "1 minute" },
    [0],
    "Deadline 60 1 - RateLimited"
  ],
  [
    "gives a last lookup 5 seconds, after one that hung until the deadline",
    ["hangs"],
    { deadline: "1 second" },
    [0, 1],
    "Deadline 6 2 - ServiceUnavailable"
  ],
  ["looks up at once after a hint, in any case of the id", [awaiting, paid], steady, [0, 1], "Paid", [1]],
  ["waits as long as the service asks, despite a hint", [Lookup.limited(45), paid], steady, [0, 45], "Paid", [44]],
  [
    "looks up after five hints between two polls, and delays no poll",
    [awaiting, awaiting, awaiting, awaiting, awaiting, awaiting, awaiting, paid],
    steady,
    [0, 1, 2, 3, 4, 5, 10, 11],
    "Paid",
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 11]
  ]
]

describe("TransactionWait", () => {
  effect.each(rows)("a wait %s", TransactionHints.layer, function* ([, answers, options, at, end, hints = []]) {
    const lookups = script(answers)
    const fiber = yield* Effect.forkChild(endOf(finalBy(lookups.get, options)), { startImmediately: true })
    for (const seconds of [...hints, 20_000]) {
      yield* TestClock.setTime(seconds * 1000)
      yield* (yield* TransactionHints).publish("T")
    }
    assert.strictEqual(yield* Fiber.join(fiber), end)
    assert.deepStrictEqual(lookups.at, at)
  })

  effect("a wait ends with a word that the facts list as paid, in any case", function* () {
    const { get } = script([Lookup.detailOf("t", "SUCCESSFUL")])
    const facts = GatewayFacts.make({ statuses: { charge: { paid: ["Successful"] } } })
    const { enStatusTransaction } = yield* Effect.provideService(finalBy(get), GatewayFacts, facts)
    assert.strictEqual(enStatusTransaction, "SUCCESSFUL")
  })

  effect("a hint during a lookup is not lost", TransactionHints.layer, function* () {
    const { get } = script([awaiting, paid], "1 second")
    const fiber = yield* Effect.forkChild(finalBy(get, steady))
    yield* TestClock.adjust("500 millis")
    yield* (yield* TransactionHints).publish("t")
    yield* TestClock.adjust("1500 millis")
    assert.strictEqual((yield* Fiber.join(fiber)).enStatusTransaction, "Paid")
  })

  effect(
    "a wait that is interrupted between lookups, in one, or in a longer wait ends at once, and no hint starts a lookup",
    TransactionHints.layer,
    function* () {
      const hints = yield* TransactionHints
      const [polled, throttled] = [script([]), script([Lookup.limited(1000)])]
      let stopped = 0
      const hanging = () => Effect.onInterrupt(Effect.never, () => Effect.sync(() => stopped++))
      for (const get of [polled.get, hanging, throttled.get]) {
        const fiber = yield* Effect.forkChild(finalBy(get, steady))
        yield* TestClock.adjust("2 seconds")
        yield* hints.publish("another transaction")
        yield* TestClock.adjust("2 seconds")
        yield* Fiber.interrupt(fiber)
        assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(fiber)))
      }
      yield* hints.publish("t")
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual([stopped, polled.at.length, throttled.at.length], [1, 1, 1])
    }
  )

  test("a wait that timed out says what it saw, and that this proves nothing, also after it was stored", () => {
    const timedOut = { operation: "getTransaction", outcome: "NoEffect", transactionId: "t", attempts: 4 } as const
    const seen = new TransactionWait.TimedOut({ ...timedOut, reason: "Expired", lastStatus: "Awaiting" })
    const unseen = new TransactionWait.TimedOut({ ...timedOut, reason: "Deadline", lastFailure: "AuthError" })
    assert.match(
      seen.message,
      /^The charge expired for transaction t: its status was not final yet after 4 lookup\(s\)\. This/
    )
    assert.match(
      unseen.message,
      /^The time to wait was over .* no lookup succeeded .* the last one failed with AuthErr/
    )
    const codec = Schema.fromJsonString(Schema.toCodecJson(TransactionWait.TimedOut))
    for (const error of [seen, unseen]) {
      assert.include(error.message, "does not prove that it was not paid")
      assert.strictEqual(Schema.decodeSync(codec)(Schema.encodeSync(codec)(error)).message, error.message)
    }
  })

  effect(
    "the default schedule is fast at first, then slower, jittered, and a minute and a fifth at most",
    function* () {
      const { at, get } = script([])
      const wait = Effect.exit(finalBy(get, { deadline: "2 hours" })).pipe(Random.withSeed("seed"))
      const fiber = yield* Effect.forkChild(wait)
      yield* TestClock.adjust("2 hours")
      yield* Fiber.join(fiber)
      const waits = at.slice(1, -1).map((time, n) => time - (at[n] ?? 0))
      const late = waits.slice(-60)
      const lookupsIn = (seconds: number) => at.filter((time) => time <= seconds).length
      assert.isTrue((waits[0] ?? 0) >= 0.8 && (waits[0] ?? 0) <= 1.2)
      assert.isTrue(lookupsIn(60) >= 12 && lookupsIn(60) <= 17, `${lookupsIn(60)} in the first minute`)
      assert.isTrue(lookupsIn(600) >= 25 && lookupsIn(600) <= 33, `${lookupsIn(600)} in the first ten minutes`)
      assert.isTrue(late.every((wait) => wait >= 48 && wait <= 72.001))
      assert.isAbove(new Set(late).size, 30)
    }
  )
})

const jumps: ReadonlyArray<readonly [title: string, hours: number]> = [
  ["forward", 3],
  ["back", -3]
]
effect.each(jumps)("a wait lasts to its deadline where the clock is set %s meanwhile", function* ([, hours]) {
  const world = { ahead: 0 }
  const wait = finalBy(script([]).get, { ...steady, deadline: "2 minutes" })
  const clock = wrongClock(yield* Clock.Clock, world)
  const ended = yield* Effect.forkChild(Effect.flip(Effect.provideService(wait, Clock.Clock, clock)))
  yield* TestClock.adjust("1 minute")
  world.ahead = hours * 3_600_000
  yield* TestClock.adjust("59 seconds")
  assert.isUndefined(ended.pollUnsafe())
  yield* TestClock.adjust("1 second")
  assert.strictEqual((yield* Fiber.join(ended))._tag, "TimedOut")
})
