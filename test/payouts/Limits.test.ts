/**
 * What concerns an account: its limits, its balance, its credentials. One payout is tried at a time, and the others wait.
 */
import { assert, describe } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { GatewayFacts, Money, PixKey } from "effect-pix"
import { PayoutQueue } from "effect-pix/payouts"
import { Fault } from "effect-pix/sandbox"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { effect } from "../support/effect.ts"
import { limited } from "../support/limitedGateway.ts"
import { meetAll, poor } from "../support/payoutAnswers.ts"
import {
  pass,
  payout,
  payouts,
  queued,
  settle,
  startClient,
  startWorker,
  warmUp,
  world
} from "../support/payoutQueue.ts"
import { count, isInDoubt, paid, requests, sentAt, shown } from "../support/payoutSeen.ts"

const slow = { poll: "5 minutes", lease: "10 minutes" } as const
const tooMany = Fault.answer(429)
const refusal = (message: string, status = 422) => Fault.refusal(status, message)

/** Lets time pass in steps of a second. */
const seconds = (count: number) => Effect.repeat(TestClock.adjust("1 second"), { times: count - 1 })

describe("a limit of the service", () => {
  queued("ends no payout", { ...slow, horizon: "12 hours" }, function* ({ queue }) {
    let isOver = false
    yield* meetAll(limited(() => (isOver ? refusal("Limite diário de saque excedido") : undefined)).fault)
    yield* queue.submitMany(payouts(5))
    yield* seconds(5)
    isOver = true
    yield* queue.submitMany(payouts(100).slice(5))
    yield* Effect.repeat(TestClock.adjust("1 minute"), { times: 2 * 60 })
    assert.strictEqual((yield* queue.account).refusedSince?.because, "Limit")
    isOver = false
    yield* Effect.repeat(TestClock.adjust("10 seconds"), { times: 200 })
    assert.deepStrictEqual([yield* paid, yield* count("parked"), yield* count("accepted")], [100, 0, 0])
  })

  effect("is waited for three days by what was never sent", world, function* () {
    const sql = yield* SqlClient.SqlClient
    const [now, hour] = [80 * 3_600_000, 3_600_000]
    yield* TestClock.adjust(now)
    yield* meetAll(refusal("Limite diário excedido"))
    const queue = yield* startClient()
    yield* queue.submitMany(payouts(3))
    // A worker was seen all the time, and met the limit a moment ago.
    yield* sql`UPDATE effect_pix_payout_accounts SET served_at = 1, seen_at = ${now}, limited_at = ${now}`
    for (const [index, hours] of [79, 73, 71].entries()) {
      const { reference } = payouts(3)[index]!
      yield* sql`UPDATE effect_pix_payouts SET wanted_at = ${now - hours * hour} WHERE reference = ${reference}`
    }
    yield* startWorker({ ...slow, horizon: "1 hour" })
    yield* TestClock.adjust("1 minute")
    const counted = Effect.provideService(Effect.all([count("accepted"), count("parked")]), PayoutQueue, queue)
    assert.deepStrictEqual(yield* counted, [1, 2])
    assert.isAbove(yield* requests(), 0)
    // What was told of the limit is sent again for as long as the horizon.
    yield* TestClock.adjust("1 hour")
    assert.deepStrictEqual(yield* counted, [0, 3])
  })

  const tomorrow = GatewayFacts.layer({
    refusals: [{ cause: "LimitReached", phrases: ["CBE681"], waitFor: "tomorrow" }]
  })
  const ofCode = Fault.answer(400, { headers: { "content-type": "application/json" }, body: `{"code":"CBE681"}` })
  queued("may be named by the user, with its time", { ...slow, under: Layer.orDie(tomorrow) }, function* ({ queue }) {
    // The test's clock begins at 21:00 in São Paulo.
    yield* meetAll(ofCode)
    yield* queue.submitMany(payouts(3))
    yield* Effect.repeat(TestClock.adjust("1 minute"), { times: 178 })
    assert.deepStrictEqual([yield* requests(), yield* shown()], [1, "accepted Limit"])
    yield* meetAll()
    yield* Effect.repeat(TestClock.adjust("30 seconds"), { times: 6 })
    assert.strictEqual(yield* paid, 3)
  })

  queued.each([
    ["Limit", tooMany],
    ["Limit", refusal("Limite diário excedido")]
  ] as const)("is known though the payout is in doubt: %s", slow, function* ({ queue, sandbox }, [because, fault]) {
    yield* sandbox.fault("requestWithdrawal", [Fault.resetAfter, fault])
    yield* queue.submit(payout("invoice-1"))
    yield* seconds(4)
    assert.deepStrictEqual([yield* shown(), yield* isInDoubt()], ["unknown", true])
    assert.strictEqual((yield* queue.account).refusedSince?.because, because)
    yield* seconds(20)
    assert.deepStrictEqual([yield* shown(), yield* paid], ["posted", 1])
  })

  queued("ends with no 5xx, silence or break behind", { ...slow, horizon: "12 hours" }, function* ({ queue, sandbox }) {
    yield* sandbox.fault("requestWithdrawal", [
      refusal("Limite diário excedido"),
      Fault.answer(503),
      Fault.resetBefore,
      Fault.answer(424)
    ])
    yield* queue.submitMany(payouts(20))
    yield* seconds(30)
    assert.isAtMost(yield* requests(), 4)
    assert.isDefined((yield* queue.account).refusedSince, `${yield* requests()}`)
    yield* Effect.repeat(TestClock.adjust("10 seconds"), { times: 60 })
    assert.strictEqual(yield* paid, 20)
  })

  const told: Record<string, readonly [Fault.Fault, number]> = {
    "a header": [Fault.retryAfter("40 seconds"), 40],
    "a number": [Fault.answer(429, { body: `{"retryAfterSeconds":30}` }), 30],
    "another name": [Fault.answer(429, { body: `{"error":{"retry_after":"25"}}` }), 25]
  }
  queued.each(Object.entries(told))(
    "of a 429 has the time of %s",
    slow,
    function* ({ queue, sandbox }, [, [fault, at]]) {
      yield* sandbox.fault("requestWithdrawal", fault)
      yield* queue.submit(payout("invoice-1"))
      yield* pass(60)
      const [first, second] = yield* sentAt()
      assert.strictEqual(first, 0)
      assert.closeTo(second ?? 0, at, 1)
    }
  )
})

describe("a balance that covers no more", () => {
  const big = 500_000
  queued("is for the oldest first, and for no newer one before it", slow, function* ({ queue }) {
    yield* meetAll(poor)
    yield* queue.submitMany(payouts(60, big))
    yield* seconds(20)
    yield* queue.submitMany(payouts(160).slice(60))
    yield* seconds(400)
    yield* meetAll()
    yield* Effect.repeat(TestClock.adjust("1 second"), { times: 400 })
    const first = Math.min(
      ...(yield* Effect.forEach(payouts(160).slice(60), ({ reference }) => sentAt(reference))).map(
        (at) => at.at(-1) ?? Infinity
      )
    )
    const last = Math.max(
      ...(yield* Effect.forEach(payouts(60), ({ reference }) => sentAt(reference))).map((at) => at.at(-1) ?? Infinity)
    )
    assert.strictEqual(yield* paid, 160)
    // The newer ones were submitted 20 seconds later.
    assert.isAtLeast(first + 20, last)
  })

  queued(
    "holds up no smaller one with one payout at a time",
    { ...slow, concurrency: 1, script: { large: poor } },
    function* ({ queue }) {
      yield* queue.submit(payout("large", big))
      yield* seconds(2)
      yield* queue.submitMany(payouts(20))
      yield* seconds(60)
      assert.strictEqual(yield* paid, 20)
    }
  )

  queued(
    "and covers others is of the one that it does not cover: it is tried after 5, 15, 35 seconds and so on, up to once an hour",
    { ...slow, script: { large: poor } },
    function* ({ queue }) {
      yield* warmUp(queue)
      yield* queue.submit(payout("large", big))
      yield* queue.submitMany(payouts(20))
      yield* seconds(30)
      assert.strictEqual(yield* count("posted"), 25)
      assert.strictEqual(yield* shown("large"), "accepted Balance")
      yield* Effect.repeat(TestClock.adjust("1 minute"), { times: 239 })
      const times = yield* sentAt("large")
      for (const [index, at] of [0, 5, 15, 35, 75, 155].entries())
        assert.closeTo(times[index] ?? 0, at, 3, times.join(" "))
      const waits = times.slice(1).map((at, index) => at - (times[index] ?? 0))
      assert.closeTo(Math.max(...waits), 3600, 61)
    }
  )

  queued(
    "holds an account after the second one in a row: of 500 payouts that it covers no more few are refused, and a top-up ends it",
    { ...slow, horizon: "12 hours" },
    function* ({ queue, sql }) {
      yield* meetAll(poor)
      yield* queue.submitMany(payouts(500))
      yield* Effect.repeat(TestClock.adjust("30 seconds"), { times: 120 })
      const [tried] = yield* sql`SELECT COUNT(*) AS count FROM effect_pix_payouts WHERE sends > 0`
      assert.isAtMost(Number(tried?.["count"]), 3)
      assert.isAtMost(yield* requests(), 40)
      yield* meetAll()
      yield* Effect.repeat(TestClock.adjust("10 seconds"), { times: 400 })
      assert.strictEqual(yield* paid, 500)
    }
  )
})

describe("what the user knows", () => {
  queued(
    "as a pace is kept by twenty workers together",
    { ...slow, pace: { most: 6, per: "1 minute" } },
    function* ({ queue }) {
      const { fault, times } = limited(() => undefined)
      yield* meetAll(fault)
      for (const _ of Array.from({ length: 4 })) yield* startWorker(slow)
      yield* queue.submitMany(payouts(20))
      yield* seconds(240)
      const gaps = times.slice(1).map((at, index) => at - (times[index] ?? 0))
      // A request arrives up to a step of the test after its mark.
      assert.isAtLeast(Math.min(...gaps), 9000)
      assert.isAtLeast(times.length, 20)
    }
  )

  queued(
    "as a window is waited for by what is not in doubt",
    { ...slow, script: { lost: [Fault.resetAfter] } },
    function* ({ queue }) {
      // The test's clock begins at 21:00 in São Paulo.
      yield* queue.submit({
        reference: "lost",
        amount: Money.centavos(1000),
        pixKey: PixKey.email("maria@example.com")
      })
      yield* settle
      yield* queue.setLimits({ window: { from: "08:00", to: "20:00" } }, { by: "ana" })
      yield* seconds(2)
      yield* queue.submitMany(payouts(5))
      yield* seconds(60)
      assert.deepStrictEqual(
        [yield* shown("lost"), yield* shown(), yield* requests()],
        ["posted", "accepted Window", 2]
      )
      yield* Effect.repeat(TestClock.adjust("1 minute"), { times: 11 * 60 - 3 })
      assert.strictEqual(yield* requests(), 2)
      yield* Effect.repeat(TestClock.adjust("1 minute"), { times: 10 })
      assert.strictEqual(yield* count("posted"), 6)
      assert.deepStrictEqual((yield* queue.account).window, { from: "08:00", to: "20:00" })
    }
  )

  queued("as a window lets payouts leave once it is taken away or changed", function* ({ queue }) {
    for (const [reference, window] of [
      ["invoice-1", null],
      ["invoice-2", { from: "20:30", to: "22:30" }]
    ] as const) {
      yield* queue.setLimits({ window: { from: "08:00", to: "20:00" } })
      yield* queue.submit(payout(reference))
      yield* seconds(10)
      assert.strictEqual(yield* shown(reference), "accepted Window")
      yield* queue.setLimits({ window })
      yield* seconds(10)
      assert.strictEqual(yield* shown(reference), "posted")
    }
  })

  queued("is checked", function* ({ queue }) {
    for (const wrong of [
      {},
      { pace: { most: 0, per: "1 minute" } },
      { pace: { most: 1, per: "2 days" } },
      { dailyCap: 0 },
      { maxAmount: 1.5 },
      { window: { from: "8:00", to: "20:00" } },
      { window: { from: "08:00", to: "08:00" } }
    ] as const)
      assert.strictEqual((yield* Effect.flip(queue.setLimits(wrong)))._tag, "InvalidRequest")
    yield* queue.setLimits({ pace: { most: 5, per: "1 minute" } })
    yield* queue.setLimits({ pace: null })
    assert.isUndefined((yield* queue.account).pace)
  })

  effect("is the first value of an option, which a person changes for good", world, function* () {
    const given = { dailyCap: 5000, maxAmount: 3000, pace: { most: 5, per: "1 minute" } } as const
    const queue = yield* startWorker(given)
    assert.deepInclude(yield* queue.account, { dailyCap: Money.centavos(5000), maxAmount: Money.centavos(3000) })
    yield* queue.setLimits({ dailyCap: 9000, maxAmount: null, pace: null }, { by: "ana" })
    const again = yield* startWorker(given)
    const { dailyCap, maxAmount, pace } = yield* again.account
    assert.deepStrictEqual([dailyCap, maxAmount, pace], [Money.centavos(9000), undefined, undefined])
    yield* again.submitMany([payout("invoice-1", 4000), payout("invoice-2", 9001)])
    yield* seconds(5)
    const states = yield* Effect.forEach(["invoice-1", "invoice-2"], (reference) =>
      Effect.provideService(shown(reference), PayoutQueue, again)
    )
    assert.deepStrictEqual(states, ["posted", "parked OverCap"])
  })
})
