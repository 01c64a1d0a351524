/**
 * Reads the spans, metrics and log lines of a program, as an exporter of Effect's telemetry does.
 */
import { Cause, Clock, Context, Effect, Exit, Logger, Metric, References, Tracer } from "effect"
import { inspect } from "node:util"
import { exporters } from "./exporters.ts"
import { recordingTracer } from "./spans.ts"

type Attributes = Readonly<Record<string, unknown>>

interface Line {
  readonly level: string
  readonly message: string
  readonly traceId: string | undefined
  readonly spanId: string | undefined
  readonly attributes: Attributes
}

const spanOf = ({ attributes, events, name, spanId, status, traceId }: Tracer.NativeSpan) => ({
  name,
  spanId,
  traceId,
  attributes: Object.fromEntries(attributes),
  events: events.map(([event, , of]) => ({ name: event, attributes: of })),
  // A value is not exported.
  failure: status._tag === "Ended" && Exit.isFailure(status.exit) ? Cause.pretty(status.exit.cause) : undefined
})

/** A point of a metric. */
export const pointOf = ({ attributes = {}, id, state }: Metric.Metric.Snapshot) => ({
  name: id,
  unit: attributes["unit"] ?? "1",
  attributes,
  value: "count" in state ? state.count : "value" in state ? state.value : undefined,
  bounds: "buckets" in state ? state.buckets.map(([bound]) => bound).filter(Number.isFinite) : []
})

/** The value of each point: by the metric's name, the values of its attributes and its unit. */
export const lastValues = (
  metrics: ReadonlyArray<ReturnType<typeof pointOf>>,
  names: RegExp
): Readonly<Record<string, number>> =>
  Object.fromEntries(
    metrics
      .filter(({ name }) => names.test(name))
      .map(({ attributes, name, unit, value }) => {
        const labels = Object.keys(attributes).filter((key) => key !== "unit")
        const words = labels.map((key) => String(attributes[key])).toSorted()
        return [`${name} ${words.join(" ")} ${unit}`, Number(value)]
      })
  )

/** Some lines are logged once a minute of a clock: with a clock of its own, a program is a process of its own. */
const ownClock = (clock: Clock.Clock): Clock.Clock => Object.create(clock)

/** The clock of a program, which may be wrong. */
export const wrongClock = (clock: Clock.Clock, world: { readonly ahead: number }): Clock.Clock =>
  Object.assign(ownClock(clock), {
    currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe() + world.ahead,
    currentTimeMillis: Effect.sync(() => clock.currentTimeMillisUnsafe() + world.ahead),
    currentTimeNanosUnsafe: () => clock.currentTimeNanosUnsafe() + BigInt(world.ahead) * 1_000_000n,
    currentTimeNanos: Effect.sync(() => clock.currentTimeNanosUnsafe() + BigInt(world.ahead) * 1_000_000n)
  })

/** Runs a program, and reads what it traced, logged and measured. Lines of every level are read. */
export const exportedBy = <A, E, R>(program: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const { layer, spans } = recordingTracer()
    const lines: Array<Line> = []
    const causes: Array<string> = []
    const logger = Logger.make(({ cause, fiber, logLevel, message }) => {
      const { spanId, traceId } = Context.getOrUndefined(fiber.context, Tracer.ParentSpan) ?? {}
      causes.push(Cause.pretty(cause))
      lines.push({
        level: logLevel,
        message: Array.isArray(message) ? message.map(String).join(" ") : String(message),
        traceId,
        spanId,
        attributes: { ...fiber.getRef(References.CurrentLogAnnotations) }
      })
    })
    const [metrics, exporting] = yield* program.pipe(
      // Effect's own logger adds a line to its span as an event.
      Effect.provide([layer, Logger.layer([logger, Logger.tracerLogger])]),
      Effect.andThen(Effect.all([Metric.snapshot, exporters])),
      Effect.updateService(Clock.Clock, ownClock),
      Effect.provideService(References.MinimumLogLevel, "All"),
      Effect.provideService(Metric.MetricRegistry, new Map())
    )
    const read = { spans: spans.map(spanOf), lines, metrics: metrics.map(pointOf) }
    return {
      ...read,
      exporting,
      text: inspect([read, causes], { depth: Infinity, maxArrayLength: null, maxStringLength: null })
    }
  })
