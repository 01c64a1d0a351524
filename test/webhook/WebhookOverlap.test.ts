/**
 * Deliveries about one transaction that overlap: no delivery undoes or loses the work of another one.
 */
import { assert, describe } from "@effect/vitest"
import { Effect, Fiber, Schema } from "effect"
import { TestClock } from "effect/testing"
import { Payments } from "effect-pix"
import { Sandbox } from "effect-pix/sandbox"
import { Webhook } from "effect-pix/webhook"
import { charge, lookups, paidCharge } from "../support/charges.ts"
import { exhaust, recording, testWebhook } from "../support/webhooks.ts"

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
    "each event has the metadata of the delivery that claimed its status, and not that of a later delivery about another status",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const said: Array<readonly [string, unknown]> = []
      const { idle, post } = yield* recording({}, () =>
        Webhook.layerSql({
          metadata: Schema.Struct({ order: Schema.Int }),
          onStatus: ({ transaction, untrusted: { metadata } }) =>
            Effect.sync(() => said.push([transaction.enStatusTransaction, metadata?.order]))
        })
      )
      const id = yield* paidCharge
      for (const [order, status] of ["Paid", "Refunded", "Cancelled"].entries()) {
        yield* post({ transactionId: id, status, metadata: { order } })
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
      const { idle, post, statuses } = yield* recording().pipe(
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
      // No time passes.
      yield* idle
      assert.deepStrictEqual(statuses(), ["Paid"])
    })
  )

  testWebhook(
    "it is looked up though the event of the earlier one is given up: a refund is handed out, and no letter is left",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const id = yield* paidCharge
      const { deadLetters, failures, idle, post, statuses } = yield* recording({
        onPaid: () => Effect.andThen(Effect.sleep("1 second"), Effect.fail("a bad row"))
      })
      yield* post({ transactionId: id, status: "Paid" })
      yield* TestClock.adjust("1 second")
      yield* exhaust("failed", 1, TestClock.adjust("10 millis"))
      // The handler fails for the last time while the next delivery is recorded.
      yield* TestClock.adjust("1500 millis")
      yield* sandbox.refund(id)
      const fiber = yield* Effect.forkChild(post({ transactionId: id, status: "Refunded" }))
      yield* TestClock.adjust("3 seconds")
      yield* Fiber.join(fiber)
      yield* idle
      assert.deepStrictEqual([statuses(), yield* deadLetters], [["Refunded"], []])
      assert.isAtLeast(failures.length, 2)
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
