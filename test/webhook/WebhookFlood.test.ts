/**
 * Deliveries that wait do not delay new deliveries.
 */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Payments } from "effect-pix"
import { Sandbox } from "effect-pix/sandbox"
import { charge, lookups, paidCharge } from "../support/charges.ts"
import { runs } from "../support/seed.ts"
import { nobody, recording, testWebhook } from "../support/webhooks.ts"

/** Checks that a good delivery is recorded, and handed out within some seconds: by default at once. */
const comesThrough = Effect.fnUntraced(function* (
  { post, statuses }: Pick<Effect.Success<ReturnType<typeof recording>>, "post" | "statuses">,
  seconds = 0
) {
  const sandbox = yield* Sandbox
  const good = yield* charge
  yield* sandbox.markPaid(good.id)
  const before = statuses().filter((status) => status === "Paid").length
  assert.strictEqual(yield* post({ transactionId: good.id, status: "Paid" }), 200)
  const paid = () => statuses().filter((status) => status === "Paid").length - before
  // No time passes: the earlier deliveries had their first lookup, and none of them had a second one.
  yield* Effect.repeat(TestClock.adjust(0), { until: () => paid() > 0, times: seconds === 0 ? 20_000 : 100 })
  for (let n = 0; n < seconds && paid() === 0; n++) yield* TestClock.adjust("1 second")
  assert.strictEqual(paid(), 1)
})

describe("a good delivery is handed out", () => {
  const many = runs(200, 1000)

  testWebhook(
    "it is handed out while a handler fails for an event that is repeated hundreds of times, and that is one dead letter in the end",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const bad = yield* charge
      yield* sandbox.markPaid(bad.id)
      let refused = 0
      const webhook = yield* recording({
        concurrency: 1,
        onPaid: ({ transaction }) =>
          transaction.transactionId === bad.id ? Effect.fail(`refusal ${++refused}`) : Effect.void
      })
      for (let n = 0; n < many; n++) {
        assert.strictEqual(yield* webhook.post({ transactionId: bad.id, status: "Paid", n }), 200)
        if (n % (many / 10) === 0) yield* TestClock.adjust("1 second")
      }
      yield* comesThrough(webhook)
      assert.isBelow(refused, 15)
      yield* TestClock.adjust("25 hours")
      yield* webhook.idle
      assert.strictEqual((yield* webhook.deadLetters).length, 1)
      yield* comesThrough(webhook)
    })
  )

  testWebhook(
    "it is handed out while an event fails whose delivery is repeated after each failure: that event is not retried sooner",
    Effect.gen(function* () {
      const bad = yield* paidCharge
      let refused = 0
      const webhook = yield* recording({
        concurrency: 1,
        onPaid: ({ transaction }) =>
          transaction.transactionId === bad ? Effect.fail(`refusal ${++refused}`) : Effect.void
      })
      for (const [after, times] of [0, 1.2, 2.4, 4.8, 9.6].map((seconds, n) => [seconds, n + 1] as const)) {
        if (after > 1) {
          yield* TestClock.adjust(`${after * 600} millis`)
          assert.isAtMost(refused, times - 1)
          yield* TestClock.adjust(`${after * 400} millis`)
        }
        for (let n = 0; n < 10; n++) yield* webhook.post({ transactionId: bad, status: "Paid" })
        yield* TestClock.adjust(0)
        assert.strictEqual(refused, times)
        yield* comesThrough(webhook)
      }
    })
  )

  testWebhook(
    "it is handed out while deliveries about unknown ids wait, and these leave no rows",
    Effect.gen(function* () {
      const webhook = yield* recording()
      for (let n = 0; n < 100; n++) {
        assert.strictEqual(yield* webhook.post({ transactionId: nobody(n), status: "Paid" }), 200)
      }
      yield* comesThrough(webhook, 2)
      yield* TestClock.adjust("3 minutes")
      yield* webhook.idle
      assert.strictEqual(webhook.reports.length, 100)
      assert.deepStrictEqual(new Set(webhook.reasons()), new Set(["NotFound"]))
    })
  )

  testWebhook(
    "it is handed out while hundreds of unknown ids wait for their next lookup",
    Effect.gen(function* () {
      const webhook = yield* recording()
      for (let n = 0; n < many; n++) {
        assert.strictEqual(yield* webhook.post({ transactionId: nobody(n), status: "Paid" }), 200)
      }
      yield* comesThrough(webhook, 2)
      // No unknown id had a second lookup.
      assert.isAtMost(yield* lookups, many + 1)
    })
  )

  testWebhook(
    "it is handed out after 10 seconds at most while the lookups of other transactions hang",
    Effect.gen(function* () {
      const payments = yield* Payments
      const hanging = new Set(Array.from({ length: 4 }, (_, n) => nobody(n)))
      const webhook = yield* recording().pipe(
        Effect.provideService(Payments, {
          ...payments,
          getTransaction: (id) => (hanging.has(id) ? Effect.never : payments.getTransaction(id))
        })
      )
      for (const transactionId of hanging) yield* webhook.post({ transactionId, status: "Paid" })
      yield* TestClock.adjust("10 seconds")
      yield* comesThrough(webhook)
    })
  )

  testWebhook(
    "an early one is handed out too while a hundred unknown ids are looked up again, each for a second",
    Effect.gen(function* () {
      const payments = yield* Payments
      const sandbox = yield* Sandbox
      const { id } = yield* charge
      let isSlow = false
      const webhook = yield* recording({ concurrency: 1, firstLookupsPerSecond: 1000 }).pipe(
        Effect.provideService(Payments, {
          ...payments,
          getTransaction: (wanted) =>
            Effect.delay(payments.getTransaction(wanted), isSlow && wanted !== id ? "1 second" : 0)
        })
      )
      for (let n = 0; n < 100; n++) yield* webhook.post({ transactionId: nobody(n), status: "Paid" })
      yield* Effect.repeat(TestClock.adjust(0), { until: () => Effect.map(lookups, (count) => count === 100) })
      isSlow = true
      yield* webhook.post({ transactionId: id, status: "Paid" })
      yield* TestClock.adjust(0)
      yield* sandbox.markPaid(id)
      // The early delivery is one of a hundred and one.
      yield* TestClock.adjust("101 seconds")
      assert.deepStrictEqual(webhook.statuses(), ["Paid"])
    })
  )

  testWebhook(
    "it is handed out while deliveries claim that open charges are paid, and each of these charges is handed out when it is paid",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const webhook = yield* recording()
      const { id } = yield* charge
      for (let n = 0; n < many; n++) {
        assert.strictEqual(yield* webhook.post({ transactionId: id, status: "Paid", n }), 200)
      }
      yield* comesThrough(webhook)
      assert.isBelow(yield* lookups, 100)
      yield* sandbox.markPaid(id)
      yield* webhook.post({ transactionId: id, status: "Paid", real: true })
      yield* TestClock.adjust(0)
      assert.deepStrictEqual(webhook.statuses(), ["Paid", "Paid"])
      assert.deepStrictEqual(webhook.reports, [])
    })
  )

  testWebhook(
    "it is handed out while the report of a false delivery about the same transaction fails",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const webhook = yield* recording({ onUnconfirmed: () => Effect.fail("the queue is away") })
      const { id } = yield* charge
      for (let n = 0; n < 100; n++) yield* webhook.post({ transactionId: id, status: "Paid", n })
      yield* TestClock.adjust("2 minutes")
      assert.isAbove(webhook.failures.length, 2)
      yield* sandbox.markPaid(id)
      yield* webhook.post({ transactionId: id, status: "Paid", real: true })
      yield* TestClock.adjust("2 minutes")
      yield* webhook.idle
      assert.deepStrictEqual(webhook.statuses(), ["Paid"])
      assert.deepStrictEqual(yield* webhook.deadLetters, [])
    })
  )
})

describe("a claim of a delivery", () => {
  testWebhook(
    "it is kept after a later claim: an early refund still waits after another claim of a payment",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const { idle, post, statuses } = yield* recording()
      const { id } = yield* charge
      yield* sandbox.markPaid(id)
      yield* post({ transactionId: id, status: "Refunded" })
      yield* TestClock.adjust("1500 millis")
      yield* post({ transactionId: id, status: "Paid" })
      yield* sandbox.refund(id)
      yield* TestClock.adjust("1 minute")
      yield* idle
      assert.deepStrictEqual(statuses(), ["Paid", "Refunded"])
    })
  )

  testWebhook(
    "it waits for a minute after its last repetition, whatever the number of repetitions",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const { idle, post, reports, statuses } = yield* recording()
      const { id } = yield* charge
      for (let n = 0; n < 30; n++) yield* post({ transactionId: id, status: "Paid" })
      yield* TestClock.adjust("50 seconds")
      assert.deepStrictEqual(reports, [])
      yield* sandbox.markPaid(id)
      yield* TestClock.adjust("30 seconds")
      yield* idle
      assert.deepStrictEqual(statuses(), ["Paid"])
    })
  )
})
