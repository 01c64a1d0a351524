/**
 * Deliveries about one transaction that overlap: no delivery undoes or loses the work of another one.
 */
import { assert, describe } from "@effect/vitest"
import { Effect, Schedule, Schema } from "effect"
import { TestClock } from "effect/testing"
import { Payments } from "effect-pix"
import { Sandbox } from "effect-pix/sandbox"
import { Webhook } from "effect-pix/webhook"
import { charge, lookups, paidCharge } from "../support/charges.ts"
import { recording, testWebhook } from "../support/webhooks.ts"

describe("two claims about one transaction", () => {
  testWebhook(
    "an early refund is handed out when the lookup shows it, though a payment was claimed and confirmed meanwhile",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const { idle, post, reports, statuses } = yield* recording()
      const id = yield* paidCharge
      yield* post({ transactionId: id, status: "Refunded" })
      yield* post({ transactionId: id, status: "Paid" })
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(statuses(), ["Paid"])
      yield* sandbox.refund(id)
      // There is no further delivery.
      yield* TestClock.adjust("1 minute")
      yield* idle
      assert.deepStrictEqual([statuses(), reports], [["Paid", "Refunded"], []])
    })
  )

  testWebhook(
    "two false claims about a transaction are two reports, though onUnconfirmed fails for each of them at first",
    Effect.gen(function* () {
      const refused: Array<string> = []
      const taken: Array<string> = []
      const { idle, post } = yield* recording({
        onUnconfirmed: ({ untrusted: { status = "none" } }) =>
          Effect.suspend((): Effect.Effect<void, string> => {
            if (!refused.includes(status)) return Effect.fail(`refusal ${refused.push(status)}`)
            taken.push(status)
            return Effect.void
          })
      })
      const id = yield* paidCharge
      for (const status of ["Cancelled", "Failed"]) yield* post({ transactionId: id, status })
      yield* TestClock.adjust("2 minutes")
      yield* idle
      assert.deepStrictEqual(
        [refused.toSorted(), taken.toSorted()],
        [
          ["Cancelled", "Failed"],
          ["Cancelled", "Failed"]
        ]
      )
    })
  )

  testWebhook(
    "each event has the payload of the delivery that claimed its status, and not that of a later delivery about another status",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const said: Array<readonly [string, unknown]> = []
      const Call = Schema.Struct({ transactionId: Schema.String, status: Schema.String, order: Schema.Int })
      const { idle, post } = yield* recording({}, () =>
        Webhook.layer({
          payload: Call,
          onStatus: ({ transaction, untrusted: { payload } }) =>
            Effect.sync(() => said.push([transaction.enStatusTransaction, payload?.order]))
        })
      )
      const id = yield* paidCharge
      for (const [order, status] of ["Paid", "Refunded", "Cancelled"].entries()) {
        yield* post({ transactionId: id, status, order })
      }
      yield* TestClock.adjust("1 second")
      yield* sandbox.refund(id)
      yield* TestClock.adjust("2 minutes")
      yield* idle
      assert.deepStrictEqual(said, [
        ["Paid", 0],
        ["Refunded", 1]
      ])
    })
  )
})

describe("a delivery during the work for an earlier one", () => {
  testWebhook(
    "it is looked up at once if its status is newer than the lookup that already runs",
    Effect.gen(function* () {
      const payments = yield* Payments
      const sandbox = yield* Sandbox
      const { id } = yield* charge
      let during: Effect.Effect<unknown> = Effect.void
      const { post, statuses } = yield* recording({ confirm: Schedule.spaced("1 hour") }).pipe(
        Effect.provideService(Payments, {
          ...payments,
          getTransaction: (id) => Effect.tap(payments.getTransaction(id), () => Effect.suspend(() => during))
        })
      )
      const call = Effect.suspend(() => post({ transactionId: id, status: "Paid" }))
      during = Effect.suspend(() => {
        during = Effect.void
        return Effect.andThen(Effect.orDie(sandbox.markPaid(id)), call)
      })
      yield* call
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(statuses(), ["Paid"])
    })
  )

  testWebhook(
    "it is looked up though the event of the earlier one is given up: a refund is handed out, and no row is left",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const id = yield* paidCharge
      let during: Effect.Effect<unknown, unknown> = Effect.void
      const { deadLetters, idle, post, statuses } = yield* recording({
        retry: Schedule.recurs(0),
        onPaid: () => Effect.andThen(during, Effect.fail("a bad row"))
      })
      during = Effect.andThen(sandbox.refund(id), post({ transactionId: id, status: "Refunded" }))
      yield* post({ transactionId: id, status: "Paid" })
      yield* idle
      assert.deepStrictEqual([statuses(), yield* deadLetters], [["Refunded"], []])
    })
  )
})

describe("a lookup that is overtaken by that of a later delivery", () => {
  testWebhook(
    "its end changes nothing: the event that was given up meanwhile stays a dead letter, and is not retried",
    Effect.gen(function* () {
      const payments = yield* Payments
      const id = yield* paidCharge
      let asked = 0
      const { deadLetters, failures, post } = yield* recording({
        lookupTimeout: "10 seconds",
        retryLookup: Schedule.spaced("1 minute"),
        retry: Schedule.recurs(0),
        onPaid: () => Effect.fail("a bad row")
      }).pipe(
        Effect.provideService(Payments, {
          ...payments,
          getTransaction: (id) => Effect.suspend(() => (++asked <= 2 ? Effect.never : payments.getTransaction(id)))
        })
      )
      yield* post({ transactionId: id, status: "Paid" })
      yield* TestClock.adjust("71 seconds")
      assert.strictEqual(asked, 2)
      // The second lookup, of the first delivery, hangs until the 80th second.
      yield* post({ transactionId: id, status: "Paid" })
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(
        failures.map(({ attempt, handler, isDead }) => [handler, attempt, isDead]),
        [["onPaid", 1, true]]
      )
      assert.deepStrictEqual(
        (yield* deadLetters).map(({ attempts, transactionId }) => [transactionId, attempts]),
        [[id, 1]]
      )
      assert.strictEqual(yield* lookups, 1)
    })
  )
})

describe("a delivery that waits for its next lookup, and is repeated", () => {
  testWebhook(
    "it is looked up once for each repetition, and then waits for a minute after the last one",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const { idle, post, reports, statuses } = yield* recording()
      const { id } = yield* charge
      for (let n = 1; n <= 20; n++) {
        yield* post({ transactionId: id, status: "Paid" })
        yield* TestClock.adjust("500 millis")
        assert.strictEqual(yield* lookups, n)
      }
      // A delay from before the last repetition no longer counts.
      for (const seconds of [1, 2, 4, 8, 16]) yield* TestClock.adjust(`${seconds} seconds`)
      assert.strictEqual(yield* lookups, 25)
      yield* TestClock.adjust("25 seconds")
      yield* sandbox.markPaid(id)
      yield* TestClock.adjust("7 seconds")
      yield* idle
      assert.deepStrictEqual([statuses(), reports], [["Paid"], []])
      assert.strictEqual(yield* lookups, 26)
    })
  )
})
