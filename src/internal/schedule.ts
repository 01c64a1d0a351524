/**
 * Growing waits with a bound: the one schedule that polling, retries and redelivery are made of.
 */
import type * as Duration from "effect/Duration"
import * as Schedule from "effect/Schedule"

/** Waits of `first`, each `factor` times the one before (default 2), at most `most`; for ever, without jitter. */
export const growing = (options: {
  readonly first: Duration.Input
  readonly most: Duration.Input
  readonly factor?: number | undefined
}): Schedule.Schedule<Duration.Duration> =>
  Schedule.min([Schedule.exponential(options.first, options.factor), Schedule.spaced(options.most)])
