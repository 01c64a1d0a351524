/**
 * The work of the queue of webhooks in memory while nothing is due.
 */
import { assert, it } from "@effect/vitest"
import { Clock, type Duration, Effect, Layer } from "effect"
import { Sandbox } from "effect-pix/sandbox"
import { Webhook } from "effect-pix/webhook"
import { TestClock } from "effect/testing"
import { charge } from "../support/charges.ts"

it.effect(
  "Webhook in memory runs only the hourly sweep and one report a minute while nothing is due, and handles at once what is checked then",
  () =>
    Effect.gen(function* () {
      const clock = yield* Clock.Clock
      let sleeps = 0
      let paid = 0
      const counting: Clock.Clock = Object.create(clock, {
        sleep: {
          value: (duration: Duration.Duration) => {
            sleeps++
            return clock.sleep(duration)
          }
        }
      })
      yield* Effect.gen(function* () {
        const sandbox = yield* Sandbox
        const webhook = yield* Webhook
        const payAndCheck = Effect.gen(function* () {
          const { id } = yield* charge
          yield* sandbox.markPaid(id)
          yield* webhook.check(id)
          yield* TestClock.adjust("10 seconds")
        })
        yield* payAndCheck
        assert.strictEqual(paid, 1)
        yield* TestClock.adjust("2 minutes")
        sleeps = 0
        yield* TestClock.adjust("25 hours")
        assert.isAtMost(sleeps, 25 * (60 + 4))
        yield* payAndCheck
        assert.strictEqual(paid, 2)
      }).pipe(
        Effect.provide(
          Webhook.layer({ onPaid: () => Effect.sync(() => paid++) }).pipe(
            Layer.provideMerge(Sandbox.layerPayments),
            Layer.provide(Layer.succeed(Clock.Clock, counting))
          )
        )
      )
    })
)
