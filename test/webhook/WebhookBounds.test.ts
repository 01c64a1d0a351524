/**
 * How long deliveries delay each other in one queue with the default settings. An outage loses no delivery.
 */
import { assert, describe } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { TestClock } from "effect/testing"
import { Payments } from "effect-pix"
import { Sandbox } from "effect-pix/sandbox"
import { paidCharge } from "../support/charges.ts"
import { nobody, recording, testWebhook } from "../support/webhooks.ts"
import { runs } from "../support/seed.ts"

/** Moves the clock in steps until a condition is true, and returns how many seconds it took. */
const secondsUntil = Effect.fnUntraced(function* (isSo: () => boolean, most: number, step = 0.5) {
  const began = yield* Clock.currentTimeMillis
  for (let n = 0; n < most / step && !isSo(); n++) yield* TestClock.adjust(step * 1000)
  assert.isTrue(isSo(), `not within ${most} seconds`)
  return ((yield* Clock.currentTimeMillis) - began) / 1000
})

/** A service whose lookups take 150 ms each, and that does not answer while it is away. */
const slow = Effect.fnUntraced(function* (isAway: () => boolean = () => false) {
  const payments = yield* Payments
  return yield* recording().pipe(
    Effect.provideService(Payments, {
      ...payments,
      getTransaction: (id) =>
        Effect.suspend(() =>
          // The service does not answer.
          isAway() ? Effect.never : Effect.delay(payments.getTransaction(id), "150 millis")
        )
    })
  )
})

describe("a good delivery", () => {
  for (const after of [0, 5, 30].slice(0, runs(1, 3))) {
    testWebhook(
      `a good delivery is handed out within 15 seconds, ${after} seconds after 600 deliveries about unknown ids`,
      Effect.gen(function* () {
        const { post, statuses } = yield* slow()
        const id = yield* paidCharge
        for (let n = 0; n < 600; n++) yield* post({ transactionId: nobody(n), status: "Paid" })
        for (let n = 0; n < after * 4; n++) yield* TestClock.adjust("250 millis")
        yield* post({ transactionId: id, status: "Paid" })
        yield* secondsUntil(() => statuses().length === 1, 15)
      })
    )
  }
})

describe("an outage of the service", () => {
  const waiting = runs(150, 3000)
  testWebhook(
    `${waiting} deliveries that wait at the end of an outage are handed out within eight minutes`,
    Effect.gen(function* () {
      const payments = yield* Payments
      const paid = yield* payments.getTransaction(yield* paidCharge)
      let isAway = true
      const { post, reports, statuses } = yield* recording().pipe(
        Effect.provideService(Payments, {
          ...payments,
          getTransaction: (transactionId) =>
            Effect.suspend(() =>
              isAway ? payments.getTransaction(transactionId) : Effect.succeed({ ...paid, transactionId })
            ).pipe(Effect.delay("150 millis"))
        })
      )
      const sandbox = yield* Sandbox
      yield* sandbox.offline(
        Effect.gen(function* () {
          for (let n = 0; n < waiting; n++) assert.strictEqual(yield* post({ transactionId: nobody(n) }), 200)
          // After this time each delivery waits for five minutes, as after a day.
          for (let n = 0; n < 30; n++) yield* TestClock.adjust("1 minute")
        })
      )
      isAway = false
      yield* secondsUntil(() => statuses().length === waiting, 8 * 60, 10)
      assert.deepStrictEqual(reports, [])
    })
  )

  testWebhook(
    "a delivery that was answered with 200 is handed out after an outage of two days in which every lookup hung",
    Effect.gen(function* () {
      let isAway = true
      const { idle, post, reports, statuses } = yield* slow(() => isAway)
      const id = yield* paidCharge
      assert.strictEqual(yield* post({ transactionId: id, status: "Paid" }), 200)
      for (let hour = 0; hour < 48; hour++) yield* TestClock.adjust("1 hour")
      isAway = false
      yield* TestClock.adjust("10 minutes")
      yield* idle
      assert.deepStrictEqual([statuses(), reports], [["Paid"], []])
    })
  )
})
