/**
 * The times at which the lookups of this process may leave: reserved on the row of the account, by one statement for all that wait.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import type { SqlError } from "effect/sql/SqlError"
import { lookupSpacing } from "./lookups.ts"

/** Waits for the next time. `reserve` reserves so many, and returns in how many milliseconds the first one is. */
export const makeSlots = (
  reserve: (count: number) => Effect.Effect<number, SqlError>
): Effect.Effect<void, SqlError> => {
  const reserving = Semaphore.makeUnsafe(1)
  let waiting = 0
  /** What was reserved for those that wait, in milliseconds from then. */
  let slots: Array<number> = []
  const next = Effect.gen(function* () {
    // The others of a batch begin to wait too.
    yield* Effect.yieldNow
    if (slots.length === 0) {
      const count = waiting
      const first = yield* reserve(count)
      slots = Array.from({ length: count }, (_, index) => first + index * lookupSpacing)
    }
    return slots.shift() ?? 0
  })
  return Effect.suspend(() => {
    waiting++
    return reserving.withPermit(next).pipe(
      Effect.ensuring(
        Effect.sync(() => {
          waiting--
          // One that was interrupted uses none, and nobody may use it later.
          slots.splice(waiting)
        })
      ),
      Effect.flatMap((millis) => (millis === 0 ? Effect.void : Effect.sleep(Duration.millis(millis))))
    )
  })
}
