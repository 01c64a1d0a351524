/**
 * Checks of transactions without a delivery, as a sweep of the open orders makes them.
 */
import { assert, describe } from "@effect/vitest"
import { Effect, Fiber, Layer, Schema } from "effect"
import { type Payments, TransactionHints } from "effect-pix"
import { Fault, Sandbox } from "effect-pix/sandbox"
import { Webhook } from "effect-pix/webhook"
import { TestClock } from "effect/testing"
import { charge, lookups, paidCharge } from "../support/charges.ts"
import { isTransaction, nobody, recording, testWebhook, world } from "../support/webhooks.ts"
import { live } from "../support/effect.ts"

describe("Webhook.check", () => {
  testWebhook(
    "a check hands out a payment without a delivery, once, with nothing untrusted",
    Effect.gen(function* () {
      const { check, events, idle, reports } = yield* recording()
      const id = yield* paidCharge
      yield* check(id)
      yield* idle
      yield* check(id)
      yield* idle
      assert.deepStrictEqual(
        events.map((event) => [event.id, event.untrusted]),
        [[`${id}:Paid`, {}]]
      )
      assert.deepStrictEqual(reports, [])
    })
  )

  testWebhook(
    "a check of an open order looks it up once, reports nothing and leaves no row",
    Effect.gen(function* () {
      const { check, events, idle, reports } = yield* recording()
      const { id } = yield* charge
      yield* check(id)
      yield* TestClock.adjust("5 minutes")
      assert.strictEqual(yield* lookups, 1)
      yield* idle
      assert.deepStrictEqual([events, reports], [[], []])
    })
  )

  testWebhook(
    "checks and deliveries of one transaction at once hand it out once, in whatever case its id is written",
    Effect.gen(function* () {
      const { check, idle, post, statuses } = yield* recording()
      const id = yield* paidCharge
      const each = [check(id), post({ transactionId: id, status: "Paid" }), check(id.toUpperCase()), post({ id })]
      yield* Effect.all([...each, ...each], { concurrency: "unbounded" })
      yield* idle
      assert.deepStrictEqual(statuses(), ["Paid"])
    })
  )

  testWebhook(
    "a check keeps a delivery that waits: the metadata of the delivery is handed out",
    Effect.gen(function* () {
      const metadata = Schema.Struct({ order: Schema.Int })
      const { check, events, idle, post } = yield* recording({ metadata })
      const id = yield* paidCharge
      yield* (yield* Sandbox).fault("getTransaction", Fault.answer(404), { times: 1 })
      yield* post({ transactionId: id, metadata: { order: 7, name: "Maria" } })
      yield* TestClock.adjust("10 millis")
      assert.deepStrictEqual(events, [])
      // The delivery is early and waits. The check looks the transaction up now.
      yield* check(id)
      yield* idle
      assert.deepStrictEqual(
        events.map(({ untrusted }) => untrusted.metadata),
        [{ order: 7 }]
      )
      assert.strictEqual(yield* lookups, 2)
    })
  )

  testWebhook(
    "a delivery that claims more than the lookup says still waits after a check",
    Effect.gen(function* () {
      const { check, post, reasons } = yield* recording()
      const { id } = yield* charge
      yield* post({ transactionId: id, status: "Paid" })
      yield* check(id)
      yield* TestClock.adjust("30 seconds")
      assert.deepStrictEqual(reasons(), [])
      yield* TestClock.adjust("5 minutes")
      assert.deepStrictEqual(reasons(), ["StillOpen"])
    })
  )

  testWebhook(
    "a checked id that the service does not know is reported after about a minute",
    Effect.gen(function* () {
      const { check, reports } = yield* recording()
      yield* check(nobody())
      yield* TestClock.adjust("5 minutes")
      assert.deepStrictEqual(
        reports.map((report) => isTransaction(report) && [report.reason, report.transactionId, report.untrusted]),
        [["NotFound", nobody(), {}]]
      )
    })
  )

  testWebhook(
    "a check of an invalid id fails with InvalidRequest, and nothing is recorded or sent",
    Effect.gen(function* () {
      const { check, idle } = yield* recording()
      // A caller without types may give anything.
      for (const id of ["", "..", "a/b", "é", "a".repeat(129), undefined as unknown as string]) {
        const error = yield* Effect.flip(check(id))
        assert.strictEqual(error._tag, "InvalidRequest")
        assert.deepInclude(error, { operation: "getTransaction", outcome: "NotSent" })
      }
      yield* idle
      assert.strictEqual(yield* lookups, 0)
    })
  )

  testWebhook(
    "a check does not wait for the lookup",
    Effect.gen(function* () {
      const { check, idle, statuses } = yield* recording()
      const id = yield* paidCharge
      yield* (yield* Sandbox).fault("getTransaction", Fault.latency("5 seconds"))
      yield* check(id)
      assert.deepStrictEqual(statuses(), [])
      yield* TestClock.adjust("5 seconds")
      yield* idle
      assert.deepStrictEqual(statuses(), ["Paid"])
    })
  )

  testWebhook(
    "a check wakes nobody who waits for a transaction that is still open",
    Effect.gen(function* () {
      const { id } = yield* charge
      const hint = yield* (yield* TransactionHints).subscribe(id)
      const { check, idle } = yield* recording()
      const woken = yield* Effect.forkChild(hint.await, { startImmediately: true })
      yield* check(id)
      yield* idle
      yield* TestClock.adjust("1 minute")
      assert.isUndefined(woken.pollUnsafe())
      yield* (yield* Sandbox).markPaid(id)
      yield* check(id)
      yield* idle
      yield* Fiber.join(woken)
    })
  )

  live("a plain handler checks in the background", Layer.fresh(world), function* () {
    const paid: Array<string> = []
    const id = yield* paidCharge
    const layer = Webhook.layer({ onPaid: (event) => Effect.sync(() => paid.push(event.id)) })
    const services = yield* Effect.context<Payments>()
    const { check, dispose, idle } = Webhook.toWebHandler(Layer.provide(layer, Layer.succeedContext(services)))
    yield* Effect.promise(() => check(id).then(idle).then(dispose))
    assert.deepStrictEqual(paid, [`${id}:Paid`])
  })
})
