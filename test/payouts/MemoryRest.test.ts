/**
 * The work of the queues of payouts and webhooks in memory while nothing is due.
 */
import { assert, it } from "@effect/vitest"
import { Clock, type Duration, Effect, Layer } from "effect"
import { PayoutQueue } from "effect-pix/payouts"
import { Webhook } from "effect-pix/webhook"
import { TestClock } from "effect/testing"
import { gateway, makeWarnings, parkedLine, parkOne, payout } from "../support/payoutQueue.ts"

it.effect(
  "PayoutQueue and Webhook in memory run only the hourly sweeps and one report a minute while nothing is due, and handle at once what is submitted then",
  () =>
    Effect.gen(function* () {
      const clock = yield* Clock.Clock
      let sleeps = 0
      const counting: Clock.Clock = Object.create(clock, {
        sleep: {
          value: (duration: Duration.Duration) => {
            sleeps++
            return clock.sleep(duration)
          }
        }
      })
      const { layer: logger, lines } = makeWarnings()
      const layer = Layer.mergeAll(PayoutQueue.layerMemory(), Webhook.layer({ onPaid: () => Effect.void }))
      yield* Effect.gen(function* () {
        const queue = yield* PayoutQueue
        yield* queue.submit(payout("invoice-1"))
        assert.strictEqual((yield* queue.await("invoice-1")).state, "posted")
        yield* TestClock.adjust("2 minutes")
        sleeps = 0
        yield* TestClock.adjust("25 hours")
        assert.isAtMost(sleeps, 25 * (2 * 60 + 8))
        yield* queue.submit(payout("invoice-2"))
        assert.strictEqual((yield* queue.await("invoice-2")).state, "posted")
        yield* TestClock.adjust("1 hour")
        yield* parkOne
        yield* TestClock.adjust("2 minutes")
        assert.deepStrictEqual(lines, [parkedLine])
      }).pipe(
        Effect.provide(Layer.provide(layer, Layer.mergeAll(gateway, logger, Layer.succeed(Clock.Clock, counting))))
      )
    })
)
