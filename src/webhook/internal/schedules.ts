/**
 * Schedules whose state is a number of attempts. It is stored in a row, so another process can continue the schedule.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"

/** How many milliseconds to wait after this attempt, counted from 1; `undefined` after the end of the schedule. */
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
  // The delays of the queue in memory are whole milliseconds.
  return Math.ceil(delay)
})
