/**
 * The stored rows that the command reads and changes, without a webhook that runs.
 */
import { assert, describe } from "@effect/vitest"
import { Clock, DateTime, Effect, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import type { WebhookSqlOptions } from "effect-pix/webhook"
import * as StoredWebhooks from "../../src/webhook/StoredWebhooks.ts"
import { paidCharge } from "../support/charges.ts"
import { databases } from "../support/database.ts"
import { starting, testOn } from "../support/databaseWebhooks.ts"
import { nobody } from "../support/webhooks.ts"

/** A paid charge that is a dead letter, and whose process has ended. */
const deadCharge = Effect.fnUntraced(function* (settings: WebhookSqlOptions = {}) {
  const id = yield* paidCharge
  const failing = yield* starting({ onPaid: () => Effect.fail("a bad row"), retry: Schedule.recurs(1) }, settings)
  yield* failing.post({ transactionId: id, status: "Paid" })
  yield* failing.idle
  yield* failing.crash
  return id
})

for (const database of databases) {
  const test = testOn(database)

  describe(`stored webhooks on ${database.name}`, () => {
    test(
      "the dead letters of all webhooks are listed without a process, with the handler, the attempts and the time",
      Effect.gen(function* () {
        const before = yield* Clock.currentTimeMillis
        const ids = [yield* deadCharge({ name: "company-a" }), yield* deadCharge({ name: "company-b" })]
        const letters: ReadonlyArray<StoredWebhooks.StoredLetter> = yield* StoredWebhooks.deadLetters
        assert.deepStrictEqual(
          letters.map(({ about, attempts, handler, transactionId, webhook }) => [
            webhook,
            about,
            transactionId,
            handler,
            attempts
          ]),
          ids.map((id, n) => [["company-a", "company-b"][n], "Transaction", id, "onPaid", 2])
        )
        for (const { at } of letters) assert.isAtLeast(DateTime.toEpochMillis(at), before)
      })
    )

    test(
      "a transaction is shown by its id, with its waiting deliveries, its dead letter and the statuses that were handed out",
      Effect.gen(function* () {
        const id = yield* deadCharge()
        const shown: ReadonlyArray<StoredWebhooks.StoredDelivery> = yield* StoredWebhooks.show(id.toUpperCase())
        const [dead, ...others] = shown
        assert.deepInclude(dead, {
          webhook: "default",
          id: `delivery:${id}`,
          state: "Dead",
          transactionId: id,
          deliveries: 1,
          claimed: ["Paid"],
          handedOut: [],
          failures: 2,
          handler: "onPaid"
        })
        assert.deepStrictEqual(others, [])
        const sql = yield* SqlClient.SqlClient
        const other = yield* deadCharge()
        yield* sql`UPDATE effect_pix_webhooks SET value = '{"v":99}' WHERE name = ${`delivery:${other}`}`
        const [unreadable] = yield* StoredWebhooks.show(other)
        assert.deepInclude(unreadable, { state: "Unreadable", transactionId: undefined, since: undefined })
        const process = yield* starting()
        assert.isTrue(yield* process.retry(`delivery:${id}`))
        yield* process.idle
        const [finished] = yield* StoredWebhooks.show(`delivery:${id}`)
        assert.deepInclude(finished, { state: "Finished", handedOut: ["Paid"] })
        assert.deepStrictEqual(yield* StoredWebhooks.show(nobody()), [])
      })
    )

    test(
      "a retried dead letter is handed out once by the next process that runs the webhook",
      Effect.gen(function* () {
        const id = yield* deadCharge()
        assert.isFalse(yield* StoredWebhooks.retry("other", `delivery:${id}`))
        assert.isTrue(yield* StoredWebhooks.retry("default", `delivery:${id}`))
        assert.isFalse(yield* StoredWebhooks.retry("default", `delivery:${id}`))
        assert.deepStrictEqual(
          (yield* StoredWebhooks.show(id)).map(({ state }) => state),
          ["Waiting"]
        )
        const process = yield* starting()
        yield* process.idle
        assert.deepStrictEqual(process.statuses(), ["Paid"])
        assert.deepStrictEqual(yield* StoredWebhooks.deadLetters, [])
      })
    )

    test(
      "a discarded dead letter is deleted, and a delivery that waits cannot be discarded",
      Effect.gen(function* () {
        const id = yield* deadCharge()
        assert.isFalse(yield* StoredWebhooks.discard("default", `delivery:${nobody()}`))
        assert.isTrue(yield* StoredWebhooks.discard("default", `delivery:${id}`))
        assert.isFalse(yield* StoredWebhooks.discard("default", `delivery:${id}`))
        assert.deepStrictEqual(yield* StoredWebhooks.deadLetters, [])
        const [gone] = yield* StoredWebhooks.show(id)
        assert.deepInclude(gone, { state: "Finished", deliveries: undefined, handedOut: [] })

        const process = yield* starting({ onPaid: () => Effect.fail("not yet") })
        yield* process.post({ transactionId: id })
        assert.isFalse(yield* StoredWebhooks.discard("default", `delivery:${id}`))
        const [waiting] = yield* StoredWebhooks.show(id)
        assert.strictEqual(waiting?.state, "Waiting")
      })
    )

    test(
      "a dead letter is shown with who took a step with it and why, until the notes are deleted",
      Effect.gen(function* () {
        const id = yield* deadCharge()
        const name = `delivery:${id}`
        const wrong = yield* Effect.flip(StoredWebhooks.retry("default", name, { by: " ", note: "x".repeat(1001) }))
        assert.deepStrictEqual(wrong._tag === "InvalidRequest" ? wrong.issues.map(({ path }) => path) : wrong, [
          "by",
          "note"
        ])
        const stepsOf = Effect.map(StoredWebhooks.show(id), ([stored]) =>
          stored?.steps.map(({ by, note, step }) => [step, by, note])
        )
        assert.deepStrictEqual(yield* stepsOf, [])
        yield* StoredWebhooks.retry("default", name, { by: "ana", note: "the table is back" })
        // A letter that is no longer dead is not discarded, and no step is stored.
        assert.isFalse(yield* StoredWebhooks.discard("default", name, { by: "bia" }))
        const process = yield* starting({ onPaid: () => Effect.fail("a bad row"), retry: Schedule.recurs(0) })
        yield* process.idle
        yield* process.discard(name, { by: "bia", note: "refunded by hand" })
        assert.deepStrictEqual(yield* stepsOf, [
          ["Retried", "ana", "the table is back"],
          ["Discarded", "bia", "refunded by hand"]
        ])
        yield* process.crash
        const brief = yield* starting({}, { retention: "1 millis" })
        yield* Effect.repeat(StoredWebhooks.show(id), { until: ({ length }) => length === 0 })
        yield* brief.crash
      })
    )

    test(
      "missing tables and tables of another version are refused and not made",
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const none = yield* Effect.flip(StoredWebhooks.requireTables)
        assert.include(none.message, "effect_pix_webhooks has no tables in this database")
        yield* Effect.flip(sql`SELECT 1 FROM effect_pix_webhooks`)
        yield* (yield* starting()).crash
        yield* StoredWebhooks.requireTables
        yield* sql`INSERT INTO effect_pix_webhooks_migrations (migration_id, name) VALUES (2, 'later')`
        const newer = yield* Effect.flip(StoredWebhooks.requireTables)
        assert.include(newer.message, "version 2 in this database, and version 1 is needed")
      })
    )
  })
}
