/**
 * Webhooks in several processes, in several requests, and in one process that runs for a long time.
 */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Deferred, Effect, Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { Payments } from "effect-pix"
import { NodeSqlite } from "effect-pix/node"
import { Sandbox } from "effect-pix/sandbox"
import { Webhook } from "effect-pix/webhook"
import { lookups, paidCharge } from "../support/charges.ts"
import { nobody, recording, world } from "../support/webhooks.ts"

describe("a lookup that is older than what another process handed out", () => {
  it.live("the lookup is made again, and no stale status is handed out", () =>
    Effect.gen(function* () {
      const payments = yield* Payments
      const sandbox = yield* Sandbox
      const sql = yield* SqlClient.SqlClient
      // A process whose only worker waits takes no other job.
      const starting = recording<SqlClient.SqlClient>({ concurrency: 1 }, (options) =>
        Webhook.layerSql({ poll: "20 millis", ...options })
      )
      const id = yield* paidCharge
      const answered = yield* Deferred.make<void>()
      const mayArrive = yield* Deferred.make<void>()
      let looks = 0
      const first = yield* starting.pipe(
        Effect.provideService(Payments, {
          ...payments,
          getTransaction: (wanted) =>
            Effect.tap(payments.getTransaction(wanted), () =>
              ++looks === 1
                ? Effect.andThen(Deferred.succeed(answered, undefined), Deferred.await(mayArrive))
                : Effect.void
            )
        })
      )
      yield* first.post({ transactionId: id, status: "Paid" })
      yield* Deferred.await(answered)
      // While the answer Paid is on its way, the first process loses its lease, and another process looks the charge up.
      yield* sandbox.refund(id)
      yield* sql`UPDATE effect_pix_queue SET acquired_at = NULL, acquired_by = NULL WHERE state = 'pending'`
      const second = yield* starting
      yield* second.idle
      yield* Deferred.succeed(mayArrive, undefined)
      yield* Effect.repeat(Effect.sleep("20 millis"), { until: () => looks === 2 })
      yield* first.crash
      assert.deepStrictEqual([first.statuses(), second.statuses()], [[], ["Refunded"]])
      assert.strictEqual(yield* lookups, 3)
      assert.deepStrictEqual([first.reports, second.reports], [[], []])
    }).pipe(Effect.provide([world, NodeSqlite.layer({ filename: ":memory:" })]))
  )
})

describe("a request that the platform ended in a handler", () => {
  it.effect(
    "it locks its transaction for the time of three handlers at most, and other requests are answered with 503 meanwhile",
    () =>
      Effect.gen(function* () {
        const services = yield* Effect.context<Payments>()
        const clock = yield* Clock.Clock
        const began: Array<string> = []
        const webhook = Webhook.layer({
          handlerTimeout: "10 seconds",
          onPaid: ({ id }) =>
            Effect.suspend(() =>
              // Nothing of the request runs any more, not even its finalizers.
              began.push(id) === 1 ? Effect.uninterruptible(Effect.never) : Effect.void
            )
        })
        const { handler } = Webhook.toWebHandler(
          Layer.merge(Layer.provide(webhook, Layer.succeedContext(services)), Layer.succeed(Clock.Clock, clock)),
          { inRequest: true }
        )
        const send = (transactionId: string) =>
          handler(
            new Request("https://shop.example", {
              method: "POST",
              body: JSON.stringify({ transactionId, status: "Paid" })
            })
          ).then(({ status }) => status)
        const post = (transactionId: string) => Effect.promise(() => send(transactionId))
        const held = yield* paidCharge
        const other = yield* paidCharge
        void send(held)
        yield* Effect.repeat(
          Effect.promise(() => new Promise(setImmediate)),
          { until: () => began.length === 1 }
        )
        assert.strictEqual(yield* post(held), 503)
        assert.strictEqual(yield* post(other), 200)
        yield* TestClock.adjust("29 seconds")
        assert.strictEqual(yield* post(held), 503)
        yield* TestClock.adjust("1 second")
        assert.strictEqual(yield* post(held), 200)
        assert.deepStrictEqual(began, [`${held}:Paid`, `${other}:Paid`, `${held}:Paid`])
      }).pipe(Effect.provide(world))
  )
})

describe("Webhook.layer", () => {
  it.effect(
    "a webhook in memory remembers the latest ten thousand transactions and every delivery that waits, and forgets the oldest",
    () =>
      Effect.gen(function* () {
        const payments = yield* Payments
        const detail = yield* payments.getTransaction(yield* paidCharge)
        let unpaid = nobody(0)
        const { events, idle, post } = yield* recording({
          confirm: Schedule.spaced("1 hour"),
          firstLookupsPerSecond: 20_000
        }).pipe(
          Effect.provideService(Payments, {
            ...payments,
            getTransaction: (transactionId) =>
              Effect.succeed({
                ...detail,
                transactionId,
                enStatusTransaction: transactionId === unpaid ? "Awaiting" : "Paid"
              })
          })
        )
        const comes = Effect.fnUntraced(function* (transactionId: string) {
          const before = events.length
          yield* post({ transactionId, status: "Paid" })
          for (let n = 0; n < 100; n++) yield* TestClock.adjust(0)
          return events.length > before
        })
        yield* post({ transactionId: unpaid, status: "Paid" })
        yield* TestClock.adjust(0)
        for (let n = 1; n <= 10_000; n++) yield* post({ transactionId: nobody(n), status: "Paid" })
        yield* Effect.repeat(TestClock.adjust(0), { until: () => events.length === 10_000, times: 100_000 })
        // Ten thousand are remembered. One more is not.
        assert.isFalse(yield* comes(nobody(1)))
        assert.isTrue(yield* comes(nobody(10_001)))
        assert.isTrue(yield* comes(nobody(2)))
        assert.isFalse(yield* comes(nobody(10_000)))
        unpaid = ""
        yield* TestClock.adjust("1 hour")
        yield* idle
        assert.isTrue(events.some(({ id }) => id === `${nobody(0)}:Paid`))
      }).pipe(Effect.provide(world))
  )
})
