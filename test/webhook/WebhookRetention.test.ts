/**
 * How long a webhook remembers the events that were handed out.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import type { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { NodeSqlite } from "effect-pix/node"
import { Sandbox } from "effect-pix/sandbox"
import { Webhook, type WebhookOptions, type WebhookSqlOptions } from "effect-pix/webhook"
import { charge } from "../support/charges.ts"
import { recording, world } from "../support/webhooks.ts"

const starting = (options: WebhookOptions, settings: WebhookSqlOptions) =>
  recording<SqlClient.SqlClient>(options, (wrapped) =>
    // Deliveries of this process are processed at once. There is no other process.
    Webhook.layerSql({ poll: "1 hour", ...settings, ...wrapped })
  )

describe("Webhook.layerSql", () => {
  it.effect(
    "an event is remembered for `retention` after the last delivery about it, and a dead letter until it is retried or discarded",
    () =>
      Effect.gen(function* () {
        const sandbox = yield* Sandbox
        const good = yield* charge
        const bad = yield* charge
        for (const { id } of [good, bad]) yield* sandbox.markPaid(id)
        const forgetful = yield* starting(
          {
            retry: Schedule.recurs(0),
            onPaid: ({ transaction }) => (transaction.transactionId === bad.id ? Effect.fail("a bad row") : Effect.void)
          },
          { name: "forgetful", retention: "90 minutes" }
        )
        const other = yield* starting({}, { name: "other" })
        /** Old notes are forgotten each full hour. */
        const comes = Effect.fnUntraced(function* (after: `${number} minutes`) {
          yield* TestClock.adjust(after)
          for (const { post } of [forgetful, other]) {
            assert.strictEqual(yield* post({ transactionId: good.id, status: "Paid" }), 200)
          }
          yield* TestClock.adjust(0)
          for (const { idle } of [forgetful, other]) yield* idle
          return [forgetful.statuses().length, other.statuses().length]
        })
        assert.deepStrictEqual(yield* comes("20 minutes"), [1, 1])
        yield* forgetful.post({ transactionId: bad.id, status: "Paid" })
        yield* TestClock.adjust(0)
        // At 1:30, 2:10 and 3:20, each less than 90 minutes after the one before.
        assert.deepStrictEqual(yield* comes("70 minutes"), [1, 1])
        assert.deepStrictEqual(yield* comes("40 minutes"), [1, 1])
        assert.deepStrictEqual(yield* comes("70 minutes"), [1, 1])
        // At 6:00, more than 90 minutes after the last one.
        assert.deepStrictEqual(yield* comes("160 minutes"), [2, 1])
        assert.deepStrictEqual(
          (yield* forgetful.deadLetters).map(({ transactionId }) => transactionId),
          [bad.id]
        )
      }).pipe(Effect.provide([world, NodeSqlite.layer({ filename: ":memory:" })]))
  )

  it.effect("a delivery that waits for longer than `retention` is not deleted", () =>
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const { idle, post, reports, statuses } = yield* starting(
        { confirm: Schedule.spaced("5 hours") },
        { retention: "90 minutes" }
      )
      const { id } = yield* charge
      yield* post({ transactionId: id, status: "Paid" })
      // Old notes are forgotten each full hour.
      for (let hour = 0; hour < 4; hour++) yield* TestClock.adjust("1 hour")
      const idling = yield* Effect.forkChild(idle)
      for (let n = 0; n < 10; n++) yield* TestClock.adjust("1 second")
      assert.isUndefined(idling.pollUnsafe())
      yield* sandbox.markPaid(id)
      yield* post({ transactionId: id, status: "Awaiting" })
      yield* TestClock.adjust(0)
      yield* idle
      assert.deepStrictEqual([statuses(), reports], [["Paid"], []])
    }).pipe(Effect.provide([world, NodeSqlite.layer({ filename: ":memory:" })]))
  )

  it.effect("dead letters are listed with the oldest first, however long their deliveries had waited", () =>
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const charges = [yield* charge, yield* charge, yield* charge]
      const { deadLetters, post } = yield* starting(
        { retry: Schedule.recurs(0), onPaid: () => Effect.fail("a bad row") },
        { poll: "1 second" }
      )
      const ids = charges.map(({ id }) => id)
      // The order is not that of the ids, nor that of the calls.
      const order = [...ids.toSorted().slice(1), ...ids.toSorted().slice(0, 1)]
      for (const transactionId of ids) yield* post({ transactionId, status: "Paid" })
      yield* TestClock.adjust("1 second")
      for (const id of order) {
        yield* sandbox.markPaid(id)
        yield* post({ transactionId: id, status: "Paid" })
        yield* TestClock.adjust("3 seconds")
      }
      assert.deepStrictEqual(
        (yield* deadLetters).map(({ transactionId }) => transactionId),
        order
      )
    }).pipe(Effect.provide([world, NodeSqlite.layer({ filename: ":memory:" })]))
  )
})
