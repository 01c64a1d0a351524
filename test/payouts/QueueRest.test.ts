/**
 * The statements of the queues of payouts and webhooks on SQLite while nothing is due, and how they follow the program's clock.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { PaymentsPolicy } from "effect-pix"
import { NodeSqlite } from "effect-pix/node"
import { PayoutInsert, PayoutQueue } from "effect-pix/payouts"
import { Sandbox } from "effect-pix/sandbox"
import { Webhook } from "effect-pix/webhook"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { charge } from "../support/charges.ts"
import { gateway, makeWarnings, parkOne, parkedLine, payout, submitRateLimited } from "../support/payoutQueue.ts"
import { makeStatements } from "../support/statements.ts"
import { effect } from "../support/effect.ts"

const world = Layer.suspend(() =>
  Layer.mergeAll(
    Layer.fresh(NodeSqlite.layer({ filename: ":memory:" })),
    Layer.fresh(gateway),
    PaymentsPolicy.layer(PaymentsPolicy.once)
  )
)

const stateOf = (reference: string) =>
  Effect.gen(function* () {
    const queue = yield* PayoutQueue
    return Option.getOrUndefined(yield* queue.status(reference))?.state
  })

describe("PayoutQueue on SQLite under TestClock", () => {
  effect(
    "a payout with a Retry-After of two minutes is sent when the clock is adjusted by two minutes",
    Layer.provideMerge(PayoutQueue.layer(), world),
    function* () {
      yield* submitRateLimited("2 minutes")
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* stateOf("invoice-1"), "accepted")
      yield* TestClock.adjust("2 minutes")
      assert.strictEqual(yield* stateOf("invoice-1"), "posted")
    }
  )

  effect(
    "a payout that a dead process had taken is sent when the lease is over, and not before",
    Layer.provideMerge(PayoutQueue.layerClient(), world),
    function* () {
      const queue = yield* PayoutQueue
      const sql = yield* SqlClient.SqlClient
      yield* queue.submit(payout("invoice-1"))
      yield* sql`UPDATE effect_pix_payouts SET taken_by = 'dead', due_at = due_at + 30000, tries = 1`
      yield* Layer.build(PayoutQueue.layerWorker({ lease: "30 seconds" }))
      yield* TestClock.adjust("29 seconds")
      assert.strictEqual(yield* stateOf("invoice-1"), "accepted")
      yield* TestClock.adjust("3 seconds")
      assert.strictEqual(yield* stateOf("invoice-1"), "posted")
    }
  )

  effect(
    "a payout of another program, or of another layer of this one, wakes a worker that rests",
    Layer.provideMerge(PayoutQueue.layerClient(), world),
    function* () {
      const queue = yield* PayoutQueue
      const sql = yield* SqlClient.SqlClient
      yield* Layer.build(PayoutQueue.layerWorker())
      yield* TestClock.adjust("1 hour")
      yield* queue.submit(payout("invoice-1"))
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* stateOf("invoice-1"), "posted")
      yield* TestClock.adjust("1 hour")
      const insert = yield* Effect.fromResult(PayoutInsert.make(payout("invoice-2"), { dialect: "sqlite" }))
      yield* sql.unsafe(insert.text, insert.parameters)
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual(yield* stateOf("invoice-2"), "posted")
    }
  )
})

describe("PayoutQueue and Webhook on SQLite", () => {
  it.effect(
    "send only the statements of the hourly sweeps while nothing is due, and handle at once what is written then",
    () => {
      const { layer, texts } = makeStatements()
      const events: Array<string> = []
      const { layer: logger, lines } = makeWarnings()
      const webhooks = Webhook.layerSql({ onPaid: ({ id }) => Effect.sync(() => events.push(id)) })
      return Effect.gen(function* () {
        const queue = yield* PayoutQueue
        const webhook = yield* Webhook
        const sandbox = yield* Sandbox
        const pay = Effect.gen(function* () {
          const { id } = yield* charge
          yield* sandbox.markPaid(id)
          yield* webhook.check(id)
          yield* webhook.idle
        })
        yield* queue.submit(payout("invoice-1"))
        assert.strictEqual((yield* queue.await("invoice-1")).state, "posted")
        yield* pay
        // The queue looks once more after a write.
        yield* TestClock.adjust("2 minutes")
        texts.length = 0
        yield* TestClock.adjust("2 hours")
        assert.isAtMost(texts.length, 2 * 6, texts.join("\n"))
        yield* queue.submit(payout("invoice-2"))
        assert.strictEqual((yield* queue.await("invoice-2")).state, "posted")
        yield* pay
        assert.lengthOf(events, 2)
        yield* TestClock.adjust("1 hour")
        yield* parkOne
        yield* TestClock.adjust("2 minutes")
        assert.deepStrictEqual(lines, [parkedLine])
      }).pipe(
        Effect.provide(
          Layer.mergeAll(PayoutQueue.layer(), webhooks).pipe(Layer.provideMerge(world), Layer.provide([layer, logger]))
        )
      )
    }
  )
})
