/**
 * Payouts that cannot be sent now: when they are sent again, what they wait for and for how long, and what limits them.
 */
import { assert, describe } from "@effect/vitest"
import { DateTime, Effect, Layer, Stream } from "effect"
import { PaymentsPolicy } from "effect-pix"
import { type PayoutBecause, PayoutQueue, type PayoutQueueOptions, type PayoutState } from "effect-pix/payouts"
import { Fault } from "effect-pix/sandbox"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { effect } from "../support/effect.ts"
import { meetAll, poor, refused, unauthorised } from "../support/payoutAnswers.ts"
import { keyOf, pass, payout, payouts, queued, settle, startClient, warmUp, world } from "../support/payoutQueue.ts"
import { count, isInDoubt, paid, requests, sentAt, shown } from "../support/payoutSeen.ts"

const forbidden = Fault.refusal(403, "Acesso negado")
const lost = Fault.resetAfter
/** The gateway has moved: no request of the account is taken. */
const elsewhere = Fault.answer(308)

/** A poll that does not slow hours of the test's clock down. */
const slow = { poll: "5 minutes", lease: "10 minutes" } as const
const hour: PayoutQueueOptions = { ...slow, horizon: "1 hour" }
const minutes: PayoutQueueOptions = { ...slow, horizon: "10 minutes" }
const doubling = [0, 1, 3, 7, 15, 31]

describe("a payout that cannot be sent now", () => {
  /** What the requests of a payout meet, and at which seconds they are sent. */
  const timed: Record<string, readonly [Fault.Fault, ReadonlyArray<number>]> = {
    "no connection": [Fault.refuse, doubling],
    "a 403": [forbidden, doubling],
    "a lost answer, and then none": [Fault.resetBefore, doubling],
    "a 503 that asks for no time": [Fault.retryAfter(0, { status: 503 }), doubling],
    "a 503 that asks for 1 second": [
      Fault.retryAfter("1 second", { status: 503 }),
      Array.from({ length: 40 }, (_, at) => at)
    ],
    "a 503 that asks for 15 seconds": [Fault.retryAfter("15 seconds", { status: 503 }), [0, 15, 30]]
  }
  const script = Object.fromEntries(Object.entries(timed).map(([met, [fault]]) => [met, fault]))
  queued("is sent again after 1, 2, 4 seconds and so on, or as told", { ...slow, script }, function* ({ queue }) {
    yield* warmUp(queue)
    for (const [met, [, seconds]] of Object.entries(timed)) {
      yield* queue.submit(payout(met))
      yield* pass(39.9)
      assert.deepStrictEqual(yield* sentAt(met), seconds, met)
      yield* queue.park(met)
      yield* queue.submit(payout(`after ${met}`))
      yield* pass(1)
    }
  })

  queued("waits for at most an hour as told, and for a balance ever longer", slow, function* ({ queue, sandbox }) {
    yield* sandbox.fault("requestWithdrawal", Fault.retryAfter("30 days"))
    yield* sandbox.fault("requestWithdrawal", poor, { times: 1e6 })
    yield* queue.submit(payout("invoice-1"))
    yield* Effect.repeat(TestClock.adjust("5 seconds"), { times: 1000 })
    const seconds = yield* sentAt()
    const waits = seconds.slice(1).map((second, at) => second - (seconds[at] ?? 0))
    // A worker looks once a second.
    const expected = [3600, 5, 10, 20, 40, 80, 160, 320, 640]
    for (const [at, wait] of expected.entries()) assert.closeTo(waits[at] ?? 0, wait, 6, waits.join(" "))
  })

  queued("waits until the horizon, again after a retry, and then for a person", minutes, function* ({ queue }) {
    yield* meetAll(elsewhere)
    yield* queue.submit(payout("invoice-1"))
    yield* TestClock.adjust("9 minutes")
    assert.strictEqual(yield* shown(), "accepted Setup")
    const before = yield* requests()
    yield* queue.retry("invoice-1")
    yield* pass(5)
    assert.isAbove(yield* requests(), before)
    yield* TestClock.adjust("9 minutes")
    assert.strictEqual(yield* shown(), "accepted Setup")
    yield* TestClock.adjust("11 minutes")
    assert.strictEqual(yield* shown(), "parked WaitedTooLong")
    const sent = yield* requests()
    yield* meetAll()
    yield* TestClock.adjust("1 hour")
    assert.strictEqual(yield* requests(), sent)
    yield* queue.resume("invoice-1", { by: "ana" })
    yield* TestClock.adjust("6 minutes")
    assert.deepStrictEqual([yield* shown(), yield* paid], ["posted", 1])
  })
})

describe("the horizon", () => {
  queued("of a payout in doubt is that of its first request", hour, function* ({ queue }) {
    yield* meetAll(lost)
    yield* queue.submitMany(payouts(2))
    yield* settle
    yield* meetAll(poor)
    yield* TestClock.adjust("50 minutes")
    assert.deepStrictEqual([yield* shown(), yield* isInDoubt()], ["unknown", true])
    yield* queue.retry("invoice-1")
    yield* queue.setPaused(true)
    yield* TestClock.adjust("11 minutes")
    yield* queue.setPaused(false)
    yield* TestClock.adjust("5 minutes")
    const sent = yield* requests()
    assert.deepStrictEqual([yield* shown(), yield* shown("invoice-2")], ["parked PastHorizon", "parked PastHorizon"])
    assert.include((yield* Effect.flip(queue.resume("invoice-1"))).message, "settle it")
    yield* TestClock.adjust("2 hours")
    assert.strictEqual(yield* requests(), sent)
  })

  const patient = Layer.orDie(PaymentsPolicy.layer({ attemptTimeout: "1 hour", deadline: "2 hours" }))
  queued(
    "bounds an attempt that has no answer",
    { horizon: "15 seconds", policy: patient },
    function* ({ queue, sandbox }) {
      yield* sandbox.fault("requestWithdrawal", [lost, Fault.silence()])
      yield* queue.submit(payout("invoice-1"))
      yield* TestClock.adjust("5 minutes")
      assert.deepStrictEqual([yield* shown(), yield* isInDoubt(), yield* requests()], ["parked PastHorizon", true, 2])
    }
  )
})

effect("a payout says what it waits for, by itself or with its account, and is listed by that", world, function* () {
  const queue = yield* startClient()
  const sql = yield* SqlClient.SqlClient
  const notBefore = DateTime.makeUnsafe("2026-12-05T12:00:00Z")
  yield* queue.submitMany([payout("now"), { ...payout("later"), notBefore }, payout("parked")])
  yield* queue.park("parked")
  const listed = (because: PayoutBecause, state?: PayoutState) =>
    Effect.map(Stream.runCollect(queue.list({ because, state })), (found) => found.map(({ reference }) => reference))
  const statuses = Effect.provideService(
    Effect.forEach(["now", "later", "parked"], (reference) => shown(reference)),
    PayoutQueue,
    queue
  )
  assert.deepStrictEqual(yield* statuses, ["accepted", "accepted NotBefore", "parked Operator"])
  const account = (changes: string) => sql.unsafe(`UPDATE effect_pix_payout_accounts SET ${changes}`)
  const held = [
    ["Balance", "held_at = 1, held_because = 'Balance'"],
    ["Window", "window_from = 1, window_to = 2"],
    ["Paused", "paused = 1"]
  ] as const
  // Each holds more than the one before.
  for (const [because, changes] of held) {
    yield* account(changes)
    assert.deepStrictEqual(yield* statuses, [`accepted ${because}`, "accepted NotBefore", "parked Operator"])
    assert.deepStrictEqual([yield* listed(because), yield* listed("NotBefore")], [["now"], ["later"]])
  }
  assert.deepStrictEqual([yield* listed("Balance"), yield* listed("Window")], [[], []])
  yield* account("paused = 0")
  yield* sql`UPDATE effect_pix_payouts SET because = 'DailyCap' WHERE reference = 'now'`
  assert.deepStrictEqual([(yield* statuses)[0], yield* listed("DailyCap")], ["accepted DailyCap", ["now"]])
  assert.deepStrictEqual([yield* listed("Operator"), yield* listed("Operator", "accepted")], [["parked"], []])
  const found = yield* Effect.flatMap(queue.find({ idempotencyKey: keyOf("now") }), Effect.fromOption)
  assert.deepInclude(found, { state: "accepted", because: "DailyCap" })
  yield* account("paused = 1")
  assert.deepStrictEqual([(yield* statuses)[0], yield* listed("DailyCap")], ["accepted Paused", []])
  assert.deepStrictEqual(yield* listed("Paused"), ["now"])
})

describe("a wait that is no age", () => {
  queued.each<readonly [cause: string, fault: Fault.Fault]>([
    ["the balance", poor],
    ["the credentials", unauthorised]
  ])("for %s parks nothing that was never sent", { ...hour, concurrency: 1 }, function* ({ queue, sql }, [, fault]) {
    yield* meetAll(fault)
    yield* queue.submitMany(payouts(10))
    yield* Effect.repeat(TestClock.adjust("5 minutes"), { times: 48 })
    // The one that is tried has the horizon since its first request.
    const unsent = yield* sql`SELECT state, COUNT(*) AS count FROM effect_pix_payouts WHERE sends = 0 GROUP BY state`
    assert.lengthOf(unsent, 1)
    assert.strictEqual(unsent[0]?.["state"], "accepted")
    assert.isAtLeast(Number(unsent[0]?.["count"]), 1)
  })
})

describe("a limit", () => {
  for (const options of [{ maxAmount: 4999 }, { dailyCap: 4999 }])
    queued(
      `of ${Object.keys(options).join("")} parks a payout above it, and none of its amount`,
      options,
      function* ({ queue }) {
        yield* queue.submitMany([payout("invoice-1", 5000), payout("invoice-2", 4999)])
        yield* settle
        assert.deepStrictEqual([yield* shown("invoice-1"), yield* isInDoubt("invoice-1")], ["parked OverCap", false])
        assert.deepStrictEqual([yield* shown("invoice-2"), yield* requests()], ["posted", 1])
      }
    )

  queued(
    "of a day counts what may be paid, until the next day of São Paulo",
    {
      script: { "invoice-1": [refused], "invoice-2": [lost] },
      ...hour,
      dailyCap: 4000,
      concurrency: 1
    },
    function* ({ queue, sql }) {
      // The test's clock begins at 21:00 in São Paulo.
      yield* queue.submitMany(payouts(6))
      yield* TestClock.adjust("179 minutes")
      assert.deepStrictEqual([yield* paid, yield* count("accepted")], [4, 1])
      assert.deepInclude((yield* sql`SELECT spent FROM effect_pix_payout_days`)[0], { spent: 4000 })
      yield* pass(120)
      assert.strictEqual(yield* paid, 5)
    }
  )

  queued("is a pause: it stops all payouts, and is no wait of what cannot have left", minutes, function* ({ queue }) {
    yield* meetAll(lost)
    yield* queue.submit(payout("invoice-1"))
    yield* settle
    yield* queue.setPaused(true)
    yield* meetAll()
    yield* queue.submitMany(payouts(3))
    yield* TestClock.adjust("15 minutes")
    assert.deepStrictEqual([yield* requests(), yield* queue.isPaused], [1, true])
    yield* queue.setPaused(false)
    yield* TestClock.adjust("6 minutes")
    assert.deepStrictEqual([yield* shown(), yield* count("posted")], ["parked PastHorizon", 2])
  })
})

describe("the service refuses all payouts of an account", () => {
  type Step = readonly [name: string, take: (queue: PayoutQueue["Service"]) => Effect.Effect<unknown, unknown>]
  queued.each<Step>([
    ["retry", (queue) => queue.retry("invoice-3")],
    ["resume", (queue) => Effect.andThen(queue.park("invoice-3"), queue.resume("invoice-3"))]
  ])(
    "by a redirect: one is tried at a time, after 5, 10, 20 seconds and so on, and at once after a person's %s",
    { concurrency: 3, poll: "1 minute", lease: "10 minutes" },
    function* ({ queue }, [, step]) {
      yield* meetAll(Fault.redirect("https://elsewhere.example/", 301))
      yield* queue.submitMany(payouts(20))
      yield* settle
      // Those that were under way when the first one was answered.
      const first = yield* requests()
      assert.isAtMost(first, 3)
      yield* pass(40)
      assert.strictEqual((yield* requests()) - first, 3)
      assert.strictEqual((yield* queue.account).refusedSince?.because, "Setup")
      yield* meetAll()
      yield* step(queue)
      yield* pass(10)
      assert.deepStrictEqual([yield* paid, (yield* queue.account).refusedSince], [20, undefined])
    }
  )

  queued(
    "by refusals that leave each in doubt: after three payouts in a row one is tried at a time",
    { concurrency: 3, poll: "1 minute", lease: "10 minutes" },
    function* ({ queue }) {
      yield* meetAll(Fault.answer(424))
      yield* queue.submitMany(payouts(20))
      yield* settle
      const first = yield* requests()
      assert.isAtMost(first, 5)
      yield* pass(40)
      assert.isAtMost((yield* requests()) - first, 5)
      yield* meetAll()
      yield* TestClock.adjust("2 minutes")
      assert.strictEqual(yield* paid, 20)
    }
  )

  const leased: PayoutQueueOptions = { concurrency: 1, lease: "10 minutes" }
  queued(
    "and the one that is tried is parked: the next one is tried long before its lease ends",
    leased,
    function* ({ queue }) {
      const sql = yield* SqlClient.SqlClient
      yield* meetAll(unauthorised)
      yield* queue.submit(payout("invoice-1"))
      yield* settle
      yield* queue.park("invoice-1")
      yield* queue.setPaused(true)
      yield* queue.submit(payout("unreadable"))
      yield* sql`UPDATE effect_pix_payouts SET request = '{}' WHERE reference = 'unreadable'`
      yield* queue.setPaused(false)
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(yield* shown("unreadable"), "parked Unreadable")
      yield* meetAll()
      yield* queue.resume("invoice-1")
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(yield* shown(), "posted")
    }
  )

  queued("by a 401 to one in doubt, and not by a 403", { concurrency: 3 }, function* ({ queue, sandbox }) {
    yield* sandbox.fault("requestWithdrawal", [lost, unauthorised])
    yield* queue.submit(payout("lost"))
    yield* TestClock.adjust("1100 millis")
    assert.strictEqual((yield* queue.account).refusedSince?.because, "Credentials")
    assert.strictEqual(yield* shown("lost"), "unknown")
    yield* meetAll(forbidden)
    yield* TestClock.adjust("5 seconds")
    assert.isUndefined((yield* queue.account).refusedSince)
  })
})
