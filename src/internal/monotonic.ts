/**
 * The clock that only goes forward. How long something takes, and when a line may follow, is measured by it: the wall clock may be set.
 */
import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

/** The time of a clock, in milliseconds since some moment. */
export const monotonicMillisOf = (clock: Clock.Clock): number => Number(clock.monotonicTimeNanosUnsafe()) / 1e6

/** The same of the clock in context. */
export const monotonicMillis: Effect.Effect<number> = Effect.clockWith((clock) =>
  Effect.sync(() => monotonicMillisOf(clock))
)
