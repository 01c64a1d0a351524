/**
 * The schedule of polling, retries and redelivery: its waits grow up to a bound.
 */
import type * as Duration from "effect/Duration"
import * as Schedule from "effect/Schedule"

/**
 * The first wait is `first`, and each is `factor` times the one before (default 2), up to `most`. It has no end and no
 * jitter.
 */
export const boundedExponential = (options: {
  readonly first: Duration.Input
  readonly most: Duration.Input
  readonly factor?: number | undefined
}): Schedule.Schedule<Duration.Duration> =>
  Schedule.min([Schedule.exponential(options.first, options.factor), Schedule.spaced(options.most)])
