/**
 * Schedules whose state is a count that is kept in a row, so that they go on in another process.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"

/** How long to wait after the attempt of this count; nothing, where the schedule has come to its end. */
export const delayOf = Effect.fnUntraced(function* (
  schedule: Schedule.Schedule<unknown>,
  attempt: number
): Effect.fn.Return<Duration.Duration | undefined> {
  const step = yield* Schedule.toStep(schedule)
  let now = 0
  let delay = Duration.zero
  for (let n = 1; n <= attempt; n++) {
    const next = yield* Effect.option(step(now, undefined))
    if (Option.isNone(next)) return undefined
    delay = next.value[1]
    now += Duration.toMillis(delay)
  }
  // Whole milliseconds: the queue in memory counts in them.
  return Duration.millis(Math.ceil(Duration.toMillis(delay)))
})
