import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { Payments } from "effect-pix"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { Sandbox } from "effect-pix/sandbox"
import { charge, lookups } from "../support/charges.ts"
import { exhaust, isWithdrawal, recording, testWebhook } from "../support/webhooks.ts"

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
    "its report has the key and the number that the delivery names",
    Effect.gen(function* () {
      const { idle, post, reports } = yield* recording()
      for (const body of [{ idempotencyKey: "payout-key" }, { withdrawalId: 7 }]) yield* post(body)
      yield* idle
      assert.deepStrictEqual(
        reports.filter(isWithdrawal).map(({ idempotencyKey, withdrawalId }) => [idempotencyKey, withdrawalId]),
        [
          ["payout-key", undefined],
          [undefined, 7]
        ]
      )
    })
  )

  testWebhook(
    "a report for which onUnconfirmed always fails is a dead letter, and the ids of both begin with delivery",
    Effect.gen(function* () {
      const { deadLetters, idle, post, reports } = yield* recording({ onUnconfirmed: () => Effect.fail("never") })
      yield* post({ withdrawalId: 9 })
      yield* exhaust("failed", 1, TestClock.adjust("10 millis"))
      yield* TestClock.adjust("1 second")
      yield* idle
      const letters = yield* deadLetters
      assert.deepStrictEqual(
        letters.map(({ about, handler }) => [about, handler]),
        [["Withdrawal", "onUnconfirmed"]]
      )
      for (const { id } of [...reports, ...letters]) assert.match(id, /^delivery:[\da-f]{64}$/)
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
})

describe("what a delivery says of a person", () => {
  testWebhook(
    "is stored nowhere: a status of several words, and a key that is none",
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { deadLetters, idle, post } = yield* recording({ onUnconfirmed: () => Effect.fail("never") })
      const body = { withdrawalId: 9, idempotencyKey: "Zulmira Quixada", status: "ZULMIRA DA CONCEICAO" }
      yield* post({ ...body, status: "Completed", idempotencyKey: "wd_1" })
      yield* post(body)
      yield* exhaust("failed", 2, TestClock.adjust("10 millis"))
      yield* TestClock.adjust("1 second")
      yield* idle
      assert.notMatch(JSON.stringify(yield* sql`SELECT * FROM effect_pix_webhooks`), /zulmira/i)
      assert.deepStrictEqual(
        (yield* deadLetters).map(({ claimed, idempotencyKey }) => `${idempotencyKey}: ${claimed?.join()}`).toSorted(),
        ["undefined: ", "wd_1: Completed"]
      )
    })
  )

  for (const shown of ["DEVOLVIDO PARA ZULMIRA", "ZULMIRA"])
    testWebhook(
      `a lookup's status that is not documented is handed out once, and stored as a digest: ${shown}`,
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const payments = yield* Payments
        const { id } = yield* charge
        const { events, idle, post } = yield* recording().pipe(
          Effect.provideService(Payments, {
            ...payments,
            getTransaction: (wanted) =>
              Effect.map(payments.getTransaction(wanted), (detail) => ({ ...detail, enStatusTransaction: shown }))
          })
        )
        for (const status of ["Awaiting", "Canceled"]) {
          yield* post({ transactionId: id, status })
          yield* TestClock.adjust("2 minutes")
          yield* idle
        }
        assert.deepStrictEqual(
          events.map(({ transaction }) => transaction.enStatusTransaction),
          [shown]
        )
        assert.notMatch(JSON.stringify(yield* sql`SELECT * FROM effect_pix_webhooks`), /zulmira/i)
      })
    )
})
