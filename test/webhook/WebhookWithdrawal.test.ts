import { assert, describe } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { TestClock } from "effect/testing"
import { Sandbox } from "effect-pix/sandbox"
import { centavos } from "../../src/pix/Money.ts"
import { charge, lookups } from "../support/charges.ts"
import { isWithdrawal, recording, testWebhook } from "../support/webhooks.ts"

describe("a hint about a withdrawal", () => {
  testWebhook(
    "it is never confirmed, whatever it claims and whatever transaction it names",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const { events, idle, post, reports } = yield* recording()
      const { id } = yield* charge
      yield* sandbox.markPaid(id)
      const calls = [
        { id: 1, idempotencyKey: "wd_1", enTransaction: "Paid" },
        { withdrawalId: 1, status: "Paid", transactionId: id },
        { data: { id, enTransaction: "Paid" } },
        { idempotencyKey: "wd_1", data: { transactionId: id, status: "Paid" } },
        { transactionId: id, idempotencyKey: "wd_2", status: "Paid" }
      ]
      for (const call of calls) assert.strictEqual(yield* post(call), 200)
      yield* idle
      assert.deepStrictEqual(events, [])
      assert.strictEqual(reports.length, calls.length)
      assert.isTrue(reports.every(isWithdrawal))
      assert.strictEqual(yield* lookups, 0)
    })
  )

  testWebhook(
    "its report has the user's own note, found by the key or the id that the delivery names",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const note = { amount: centavos(1000), metadata: { invoice: "A-42" } }
      const { events, idle, post, reports } = yield* recording({
        noted: ({ idempotencyKey, withdrawalId }) =>
          Effect.succeed(idempotencyKey === "payout-key" || withdrawalId === 7 ? note : undefined)
      })
      const other = yield* charge
      yield* sandbox.markPaid(other.id)
      const deliveries = [
        { idempotencyKey: "payout-key", status: "Paid" },
        { withdrawalId: 7, status: "Paid", metadata: { invoice: "B-1" } },
        // With a key of the user's books it is a withdrawal, though it names a transaction.
        { transactionId: other.id, idempotencyKey: "payout-key" },
        { withdrawalId: 8 }
      ]
      for (const delivery of deliveries) {
        assert.strictEqual(yield* post(delivery), 200)
        yield* idle
      }
      assert.deepStrictEqual(events, [])
      assert.deepStrictEqual(
        reports.filter(isWithdrawal).map(({ noted }) => noted),
        [note, note, note, undefined]
      )
    })
  )

  testWebhook(
    "a delivery that is repeated is reported again, with the same id",
    Effect.gen(function* () {
      const { idle, post, reports } = yield* recording()
      for (const status of ["Paid", "Paid", "Failed"]) {
        yield* post({ withdrawalId: 9, status })
        yield* idle
      }
      assert.deepStrictEqual(
        reports.map((report) => report.untrusted.status),
        ["Paid", "Paid", "Failed"]
      )
      const [first, second, third] = reports.map(({ id }) => id)
      assert.strictEqual(first, second)
      assert.notStrictEqual(second, third)
    })
  )

  testWebhook(
    "a report for which onUnconfirmed always fails is a dead letter",
    Effect.gen(function* () {
      const { deadLetters, idle, post } = yield* recording({
        onUnconfirmed: () => Effect.fail("never"),
        retry: Schedule.recurs(0)
      })
      yield* post({ withdrawalId: 9 })
      yield* idle
      assert.deepStrictEqual(
        (yield* deadLetters).map(({ about, handler }) => [about, handler]),
        [["Withdrawal", "onUnconfirmed"]]
      )
    })
  )

  testWebhook(
    "a delivery about a withdrawal is recorded while noted fails, and is reported when noted succeeds",
    Effect.gen(function* () {
      let isAway = true
      const { idle, post, reports } = yield* recording({
        noted: () => (isAway ? Effect.die("the books are away") : Effect.undefined)
      })
      assert.strictEqual(yield* post({ withdrawalId: 9 }), 200)
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(reports, [])
      isAway = false
      yield* TestClock.adjust("1 minute")
      yield* idle
      assert.strictEqual(reports.length, 1)
    })
  )

  testWebhook(
    "the ids of its report and of its dead letter begin with delivery",
    Effect.gen(function* () {
      const { deadLetters, idle, post, reports } = yield* recording({
        onUnconfirmed: () => Effect.fail("never"),
        retry: Schedule.recurs(0)
      })
      yield* post({ withdrawalId: 9 })
      yield* idle
      const ids = [...reports, ...(yield* deadLetters)].map(({ id }) => id.replace(/[\da-f]{64}$/, "<digest>"))
      assert.deepStrictEqual(ids, ["delivery:<digest>", "delivery:<digest>"])
    })
  )
})
