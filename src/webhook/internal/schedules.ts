/**
 * Schedules whose state is a count that is stored in a row, so that they go on in another process.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"

/** How many milliseconds to wait after this attempt, counted from 1; `undefined` where the schedule has ended. */
export const delayOf = Effect.fnUntraced(function* (
  schedule: Schedule.Schedule<unknown>,
  attempt: number
): Effect.fn.Return<number | undefined> {
  const step = yield* Schedule.toStep(schedule)
  let now = 0
  let delay = 0
  for (let n = 1; n <= attempt; n++) {
    const next = yield* Effect.option(step(now, undefined))
    if (Option.isNone(next)) return undefined
    delay = Duration.toMillis(next.value[1])
    now += delay
  }
  // The queue in memory counts in whole milliseconds.
  return Math.ceil(delay)
})
