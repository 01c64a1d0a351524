/**
 * The metrics of this library by name, unit and description. Effect's exporters take the unit of a metric from its
 * attribute `unit`.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"

/** A metric's attributes. Those that are `undefined` are left out. */
export type Attributes = Record.ReadonlyRecord<string, string | undefined>

const known = (attributes: Attributes): Record.ReadonlyRecord<string, string> =>
  Record.filter(attributes, Predicate.isNotUndefined)

/** A counter that only grows. */
export const counter = (
  name: string,
  unit: string,
  description: string,
  attributes: Attributes = {}
): Metric.Counter<number> =>
  Metric.counter(name, { description, incremental: true, attributes: known({ ...attributes, unit }) })

export const gauge = (
  name: string,
  unit: string,
  description: string,
  attributes: Attributes = {}
): Metric.Gauge<number> => Metric.gauge(name, { description, attributes: known({ ...attributes, unit }) })

/** By how much the program's clock is ahead of another one, in seconds; negative where it is behind. */
export const clockOffset = (source: "gateway" | "database"): Metric.Gauge<number> =>
  gauge("effect_pix_clock_offset_seconds", "s", "How far the program's clock is ahead of another one", { source })

/** In seconds: those that OpenTelemetry recommends, and longer ones, beyond the default deadline of a call. */
const boundaries = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 30, 60, 90, 120]

/** A histogram of durations. */
export const histogram = (name: string, description: string, attributes: Attributes): Metric.Histogram<number> =>
  Metric.histogram(name, { description, boundaries, attributes: known({ ...attributes, unit: "s" }) })

/** Adds to a counter, or sets a gauge, of these attributes. */
export const update = (
  metric: Metric.Metric<number, unknown>,
  value: number,
  attributes: Attributes = {}
): Effect.Effect<void> => Metric.update(Metric.withAttributes(metric, known(attributes)), value)

/** Sets a gauge to the current time, in seconds since 1970, by a clock that is so many milliseconds ahead of the program's. */
export const setToNow = (metric: Metric.Gauge<number>, attributes?: Attributes, ahead = 0): Effect.Effect<void> =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => update(metric, (now + ahead) / 1000, attributes))
