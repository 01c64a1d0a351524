/**
 * Runs an effect under a `TestClock` and moves the clock until it is done.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Predicate from "effect/Predicate"
import * as TestClock from "effect/testing/TestClock"

/**
 * Whether the effect runs in `Sandbox.patiently`, which moves the test's clock for it. A reference, since the user's effect lies between
 * an outer and an inner one.
 */
const IsPatient = Context.Reference<boolean>("effect-pix/IsPatient", { defaultValue: () => false })

const isTestClock = (clock: Clock.Clock) => Predicate.hasProperty(clock, "adjust")

/** Logs that a fault waits for a test's clock which nobody may move. */
export const logWait = Effect.gen(function* () {
  if (!isTestClock(yield* Clock.Clock) || (yield* IsPatient)) return
  yield* Effect.logInfo(
    "A planned fault waits for the test's clock, which does not move: run the call in Sandbox.patiently, or move the clock."
  )
})

const first = 100
const longest = Duration.toMillis("30 days")

/** See `Sandbox.patiently`. */
export const patiently = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.gen(function* () {
    // A live clock moves by itself.
    if (!isTestClock(yield* Clock.Clock)) return yield* effect
    const patient = Effect.provideService(effect, IsPatient, true)
    const fiber = yield* Effect.forkChild(patient, { startImmediately: true })
    for (let moved = 0; moved < longest;) {
      // A turn of the event loop, so that promises and streams continue.
      yield* TestClock.withLive(Effect.sleep(0))
      if (fiber.pollUnsafe() !== undefined) return yield* Fiber.join(fiber)
      // The first steps are small, so that the clock stops near the end of the effect.
      const step = Math.max(first, Math.floor(moved / 50))
      yield* TestClock.adjust(step)
      moved += step
    }
    yield* Fiber.interrupt(fiber)
    return yield* Effect.die(
      new Error(
        "Sandbox.patiently: the effect is not done after 30 days of the test's clock. It waits for something that never comes."
      )
    )
  })
