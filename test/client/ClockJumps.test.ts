/**
 * Calls while the wall clock of the machine is set: a deadline is a duration, and ends when it is over.
 */
import { assert, describe } from "@effect/vitest"
import { Clock, Duration, Effect, Fiber, Schedule } from "effect"
import { TestClock } from "effect/testing"
import { PaymentsPolicy } from "effect-pix"
import { record } from "../support/operations.ts"
import { pay } from "../support/played.ts"
import { paymentsOn, respond, scripted } from "../support/Wire.ts"
import { effect } from "../support/effect.ts"

/** A clock whose wall time is set by `jump` after 2 seconds. Its monotonic time and its timers are those of the test. */
const jumping = (jump: Duration.Input) =>
  Effect.map(Clock.Clock, (clock): Clock.Clock => {
    const start = clock.currentTimeMillisUnsafe()
    const currentTimeMillisUnsafe = () => {
      const now = clock.currentTimeMillisUnsafe()
      return now - start < 2000 ? now : now + Duration.toMillis(jump)
    }
    return { ...clock, currentTimeMillisUnsafe, currentTimeMillis: Effect.sync(currentTimeMillisUnsafe) }
  })

describe("a deadline of 10 seconds", () => {
  effect.each([
    ["back by 3 hours", Duration.hours(-3)],
    ["back by 11 hours", Duration.hours(-11)],
    ["ahead by 3 hours", Duration.hours(3)]
  ] as const)("ends a call after 10 seconds, where the wall clock is set %s meanwhile", function* ([, jump]) {
    yield* TestClock.setTime(Date.UTC(2026, 0, 1))
    const { layer, sent } = scripted(respond(503))
    const policy = PaymentsPolicy.make({
      deadline: "10 seconds",
      retryWrites: Schedule.spaced("1 second"),
      retryBudget: "unlimited"
    })
    const fiber = yield* Effect.forkChild(
      Effect.flip(pay).pipe(
        Effect.provideService(PaymentsPolicy, policy),
        Effect.provideService(Clock.Clock, yield* jumping(jump)),
        Effect.provide(paymentsOn(layer))
      )
    )
    yield* TestClock.adjust("1 hour")
    assert.deepStrictEqual([(yield* Fiber.join(fiber))._tag, sent.length], ["OutcomeUnknown", 10])
  })

  effect("a write whose wall clock is set ahead by more than the horizon is not sent again", function* () {
    yield* TestClock.setTime(Date.UTC(2026, 0, 1))
    const { layer, sent } = scripted(respond(503), respond(503), respond(503), respond(201, record("wd_1")))
    const policy = PaymentsPolicy.make({ retryWrites: Schedule.spaced("1 second") })
    const fiber = yield* Effect.forkChild(
      Effect.flip(pay).pipe(
        Effect.provideService(PaymentsPolicy, policy),
        Effect.provideService(Clock.Clock, yield* jumping("13 hours")),
        Effect.provide(paymentsOn(layer))
      )
    )
    yield* TestClock.adjust("1 hour")
    assert.deepStrictEqual([(yield* Fiber.join(fiber))._tag, sent.length], ["OutcomeUnknown", 2])
  })
})
