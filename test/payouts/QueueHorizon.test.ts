import { assert, describe } from "@effect/vitest"
import { Clock, Effect, Layer, Schedule } from "effect"
import { PaymentsPolicy } from "effect-pix"
import { NodeSqlite } from "effect-pix/node"
import { PayoutQueue } from "effect-pix/payouts"
import { Fault, Sandbox } from "effect-pix/sandbox"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { gateway, layerMemory, payout, settle } from "../support/payoutQueue.ts"
import { effect, live } from "../support/effect.ts"

const layer = () =>
  PayoutQueue.layer({ poll: "20 millis", lease: "2 seconds" }).pipe(
    Layer.provideMerge(Layer.mergeAll(NodeSqlite.layer({ filename: ":memory:" }), gateway))
  )

describe("the horizon", () => {
  effect(
    "also bounds the wait of a payout during a pause: the payout is parked and not sent",
    Layer.provideMerge(layerMemory({ horizon: "10 minutes" }), PaymentsPolicy.layer(PaymentsPolicy.once)),
    function* () {
      const queue = yield* PayoutQueue
      const sandbox = yield* Sandbox
      yield* sandbox.fault("requestWithdrawal", Fault.resetAfter)
      yield* queue.submit(payout("invoice-1"))
      yield* settle
      yield* queue.setPaused(true)
      yield* TestClock.adjust("11 minutes")
      yield* queue.setPaused(false)
      yield* TestClock.adjust("1 minute")
      const parked = yield* queue.await("invoice-1")
      assert.isTrue(parked._tag === "Parked" && parked.because === "PastHorizon")
      assert.strictEqual((yield* sandbox.requests).length, 1)
    }
  )

  const patient = PaymentsPolicy.layer({
    attemptTimeout: "5 seconds",
    deadline: "10 minutes",
    retryWrites: Schedule.spaced("10 seconds")
  })

  effect(
    "bounds the retries of the policy",
    Layer.provideMerge(layerMemory({ horizon: "15 seconds" }), patient),
    function* () {
      const queue = yield* PayoutQueue
      const sandbox = yield* Sandbox
      yield* sandbox.fault("requestWithdrawal", Fault.resetAfter, { times: 9 })
      yield* queue.submit(payout("invoice-1"))
      yield* TestClock.adjust("5 minutes")
      const parked = yield* queue.await("invoice-1")
      assert.isTrue(parked._tag === "Parked" && parked.because === "PastHorizon")
      const arrivals = (yield* sandbox.requests).map(({ arrivedAt }) => Date.parse(arrivedAt))
      assert.isAbove(arrivals.length, 1)
      assert.isAtMost(Math.max(...arrivals) - Math.min(...arrivals), 15_000)
    }
  )

  live(
    "parks a payout whose mark lies in the future by more than the horizon, since a clock was wrong",
    layer(),
    function* () {
      const sql = yield* SqlClient.SqlClient
      const queue = yield* PayoutQueue
      const sandbox = yield* Sandbox
      const ahead = (yield* Clock.currentTimeMillis) + 13 * 3_600_000
      yield* sql.withTransaction(
        Effect.andThen(
          queue.submit(payout("invoice-1")),
          sql`UPDATE effect_pix_payouts SET may_have_left_at = ${ahead}`
        )
      )
      const parked = yield* queue.await("invoice-1")
      assert.isTrue(parked._tag === "Parked" && parked.because === "PastHorizon")
      assert.strictEqual((yield* Effect.flip(queue.resume("invoice-1")))._tag, "PayoutStateConflict")
      assert.strictEqual((yield* sandbox.requests).length, 0)
    }
  )
})
