/** The gauge by which a program that starts again and again is seen, and which version of this library it runs. */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import { gauge, setToNow } from "./metrics.ts"
import { version } from "./version.ts"

const started = gauge(
  "effect_pix_started_seconds",
  "s",
  "When the first layer of this library was built in a process, in seconds since 1970"
)

/** Later layers of the process change nothing: a client is built for each merchant. */
export const markStarted: Effect.Effect<void> = Effect.flatMap(
  Metric.value(Metric.withAttributes(started, { version })),
  ({ value }) => (value === 0 ? setToNow(started, { version }) : Effect.void)
)
