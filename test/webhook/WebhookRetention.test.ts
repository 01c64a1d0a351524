/**
 * How long a webhook remembers the events that were handed out.
 */
import { assert, describe } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { Fault, Sandbox } from "effect-pix/sandbox"
import { Webhook, WebhookClient, type WebhookOptions, type WebhookSqlOptions } from "effect-pix/webhook"
import { charge } from "../support/charges.ts"
import { exhaust, recording, world } from "../support/webhooks.ts"
import { effect } from "../support/effect.ts"

const starting = (options: WebhookOptions, settings: WebhookSqlOptions) =>
  recording(options, (wrapped) =>
    // Deliveries of this process are processed at once. There is no other process.
    Webhook.layerSql({ poll: "1 hour", ...settings, ...wrapped })
  )

describe("Webhook.layerSql", () => {
  effect(
    "an event is remembered for `retention` after the last delivery about it, and a dead letter until it is retried or discarded",
    Layer.fresh(world),
    function* () {
      const sandbox = yield* Sandbox
      const good = yield* charge
      const bad = yield* charge
      for (const { id } of [good, bad]) yield* sandbox.markPaid(id)
      const forgetful = yield* starting(
        {
          onPaid: ({ transaction }) => (transaction.transactionId === bad.id ? Effect.fail("a bad row") : Effect.void)
        },
        { name: "forgetful", retention: "90 minutes" }
      )
      const other = yield* starting({}, { name: "other" })
      /** Old rows are forgotten each full hour. */
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
      yield* exhaust("failed", 1, TestClock.adjust("10 millis"))
      yield* TestClock.adjust("10 minutes")
      // At 1:30, 2:10 and 3:20, each less than 90 minutes after the one before.
      assert.deepStrictEqual(yield* comes("60 minutes"), [1, 1])
      assert.deepStrictEqual(yield* comes("40 minutes"), [1, 1])
      assert.deepStrictEqual(yield* comes("70 minutes"), [1, 1])
      // At 6:00, more than 90 minutes after the last one.
      assert.deepStrictEqual(yield* comes("160 minutes"), [2, 1])
      assert.deepStrictEqual(
        (yield* forgetful.deadLetters).map(({ transactionId }) => transactionId),
        [bad.id]
      )
    }
  )

  effect("a delivery that waits for longer than `retention` is not deleted", Layer.fresh(world), function* () {
    const sandbox = yield* Sandbox
    const { post, statuses } = yield* starting({}, { retention: "90 minutes", poll: "1 second" })
    const { id } = yield* charge
    yield* sandbox.markPaid(id)
    yield* sandbox.fault("getTransaction", Fault.refusal(401, "não"), { times: Infinity })
    yield* post({ transactionId: id, status: "Paid" })
    for (let hour = 0; hour < 4; hour++) yield* TestClock.adjust("1 hour")
    assert.deepStrictEqual(statuses(), [])
    yield* sandbox.clearFaults
    yield* TestClock.adjust("10 minutes")
    assert.deepStrictEqual(statuses(), ["Paid"])
  })

  effect(
    "dead letters are listed with the oldest first, however long their deliveries had waited",
    Layer.fresh(world),
    function* () {
      const sandbox = yield* Sandbox
      const charges = [yield* charge, yield* charge, yield* charge]
      const { deadLetters, post } = yield* starting({ onPaid: () => Effect.fail("a bad row") }, { poll: "1 second" })
      const ids = charges.map(({ id }) => id)
      // The order is not that of the ids, nor that of the calls.
      const order = [...ids.toSorted().slice(1), ...ids.toSorted().slice(0, 1)]
      for (const transactionId of ids) yield* post({ transactionId, status: "Paid" })
      yield* TestClock.adjust("1 second")
      for (const id of order) {
        yield* sandbox.markPaid(id)
        yield* post({ transactionId: id, status: "Paid" })
        yield* exhaust("failed", 1, TestClock.adjust("10 millis"))
        yield* TestClock.adjust("3 seconds")
      }
      assert.deepStrictEqual(
        (yield* deadLetters).map(({ transactionId }) => transactionId),
        order
      )
    }
  )

  effect(
    "a dead letter that is retried is handed out at once, and by a client of another process within `poll`",
    Layer.fresh(world),
    function* () {
      const sandbox = yield* Sandbox
      let isBroken = true
      const options: WebhookOptions = { onPaid: () => (isBroken ? Effect.fail("a bad row") : Effect.void) }
      const { deadLetters, idle, post, retry, statuses } = yield* starting(options, { poll: "1 minute" })
      const client = Context.get(yield* Layer.build(Webhook.layerClient()), WebhookClient)
      const charges = [yield* charge, yield* charge]
      for (const { id } of charges) {
        yield* sandbox.markPaid(id)
        yield* post({ transactionId: id, status: "Paid" })
      }
      yield* exhaust("failed", 2, TestClock.adjust("10 millis"))
      yield* TestClock.adjust("2 minutes")
      yield* idle
      assert.deepStrictEqual(yield* client.deadLetters, yield* deadLetters)
      isBroken = false
      const [one, two] = charges.map(({ id }) => id)
      assert.isTrue(yield* retry(one ?? ""))
      yield* TestClock.adjust(0)
      assert.strictEqual(statuses().length, 1)
      assert.deepStrictEqual(
        (yield* client.find(two ?? "")).map(({ handler, state }) => [state, handler]),
        [["Dead", "onPaid"]]
      )
      assert.isTrue(yield* client.retry(two ?? ""))
      assert.isFalse(yield* client.discard(two ?? ""))
      yield* TestClock.adjust("1 minute")
      yield* idle
      assert.deepStrictEqual([statuses().length, yield* client.deadLetters], [2, []])
    }
  )

  effect(
    "what is stored is found by the id of a transaction or of a letter, by a client of one webhook or of all",
    Layer.fresh(world),
    function* () {
      const sql = yield* SqlClient.SqlClient
      const clientOf = (options: { readonly name?: string }) =>
        Effect.map(Layer.build(Webhook.layerClient(options)), (context) => Context.get(context, WebhookClient))
      const options: WebhookOptions = { onUnconfirmed: () => Effect.fail("never") }
      const { post } = yield* starting(options, { name: "shop" })
      const [all, shop, other] = [
        yield* clientOf({}),
        yield* clientOf({ name: "shop" }),
        yield* clientOf({ name: "x" })
      ]
      const { id } = yield* charge
      yield* post({ transactionId: id, status: "Paid" })
      yield* post({ withdrawalId: 9 })
      yield* exhaust("failed", 1, TestClock.adjust("10 millis"))
      yield* TestClock.adjust("1 second")
      const [letter] = yield* all.deadLetters
      assert(letter !== undefined)
      assert.match(letter.id, /^delivery:/)
      for (const client of [all, shop]) assert.deepStrictEqual(yield* client.find(letter.id), [letter])
      assert.deepStrictEqual(yield* other.find(id), [])

      yield* sql`UPDATE effect_pix_webhooks SET value = '{"of":"a newer version"}'`
      const unreadable = (yield* all.find(id)).map(({ handedOut, state, webhook }) => [webhook, state, handedOut])
      assert.deepStrictEqual(unreadable, [["shop", "Unreadable", []]])
    }
  )
})
