/**
 * Reads the spans, metrics and log lines that a program exports over OTLP to a collector in memory.
 */
import { Clock, Effect, Layer, Logger, Metric, References, Schema } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import { Otlp } from "effect/observability"

const Attributes = Schema.Array(
  Schema.Struct({ key: Schema.String, value: Schema.Record(Schema.String, Schema.Unknown) })
)
const identity = { traceId: Schema.optional(Schema.String), spanId: Schema.optional(Schema.String) }

const Span = Schema.Struct({
  ...identity,
  name: Schema.String,
  parentSpanId: Schema.optional(Schema.String),
  attributes: Attributes,
  links: Schema.optional(Schema.Array(Schema.Struct({ traceId: Schema.String, spanId: Schema.String }))),
  events: Schema.Array(Schema.Struct({ name: Schema.String }))
})
const Line = Schema.Struct({
  ...identity,
  severityText: Schema.String,
  body: Schema.Record(Schema.String, Schema.Unknown),
  attributes: Attributes
})
const Points = Schema.optional(
  Schema.Struct({
    dataPoints: Schema.Array(
      Schema.Struct({
        attributes: Attributes,
        count: Schema.optional(Schema.Finite),
        asInt: Schema.optional(Schema.Union([Schema.String, Schema.Finite])),
        asDouble: Schema.optional(Schema.Finite),
        explicitBounds: Schema.optional(Schema.Array(Schema.Finite))
      })
    )
  })
)
const ExportedMetric = Schema.Struct({
  name: Schema.String,
  unit: Schema.String,
  histogram: Points,
  sum: Points,
  gauge: Points
})

const list = <S extends Schema.Top>(item: S) => Schema.optional(Schema.Array(item))
const decode = Schema.decodeUnknownSync(
  Schema.Struct({
    resourceSpans: list(Schema.Struct({ scopeSpans: Schema.Array(Schema.Struct({ spans: Schema.Array(Span) })) })),
    resourceLogs: list(Schema.Struct({ scopeLogs: Schema.Array(Schema.Struct({ logRecords: Schema.Array(Line) })) })),
    resourceMetrics: list(
      Schema.Struct({ scopeMetrics: Schema.Array(Schema.Struct({ metrics: Schema.Array(ExportedMetric) })) })
    )
  })
)

/** The attributes by name, without those that Effect adds. */
const valuesOf = (attributes: typeof Attributes.Type): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    attributes.filter(({ key }) => !key.startsWith("effect.")).map(({ key, value }) => [key, Object.values(value)[0]])
  )

const read = (exports: ReadonlyArray<string>) => {
  const read = exports.map((text) => decode(JSON.parse(text)))
  const spans = read.flatMap(({ resourceSpans = [] }) =>
    resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))
  )
  const lines = read.flatMap(({ resourceLogs = [] }) =>
    resourceLogs.flatMap(({ scopeLogs }) => scopeLogs.flatMap(({ logRecords }) => logRecords))
  )
  const metrics = read.flatMap(({ resourceMetrics = [] }) =>
    resourceMetrics.flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics))
  )
  return {
    text: exports.join("\n"),
    spans: spans.map((span) => ({ ...span, attributes: valuesOf(span.attributes) })),
    lines: lines.map(({ attributes, body, severityText, spanId, traceId }) => ({
      level: severityText,
      // A line has one text. The program may log other values too.
      message: typeof body["stringValue"] === "string" ? body["stringValue"] : JSON.stringify(body),
      traceId,
      spanId,
      attributes: valuesOf(attributes)
    })),
    metrics: metrics.map(({ gauge, histogram, name, sum, unit }) => ({
      name,
      unit,
      points: (histogram ?? sum ?? gauge)?.dataPoints.map((point) => ({
        ...point,
        attributes: valuesOf(point.attributes)
      }))
    }))
  }
}

/** The last value of each point: by the metric's name, the values of its attributes and its unit. */
export const lastValues = (
  metrics: ReturnType<typeof read>["metrics"],
  names: RegExp
): Readonly<Record<string, number>> =>
  Object.fromEntries(
    metrics
      .filter(({ name }) => names.test(name))
      .flatMap(({ name, points = [], unit }) =>
        points.map(({ asDouble, asInt, attributes }) => {
          const labels = Object.keys(attributes)
            .filter((key) => key !== "unit")
            .map((key) => String(attributes[key]))
            .toSorted()
            .join(" ")
          return [`${name} ${labels} ${unit}`, Number(asInt ?? asDouble)]
        })
      )
  )

/** Some lines are logged once a minute of a clock: with a clock of its own, a program is a process of its own. */
const ownClock = (clock: Clock.Clock): Clock.Clock => Object.create(clock)

/** Runs a program with Effect's OTLP layers, and reads their exports. Lines of every level are exported. */
export const exportedBy = <A, E, R>(program: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const exports: Array<string> = []
    const collector = HttpClient.make((request) =>
      Effect.sync(() => {
        if (request.body._tag === "Uint8Array") exports.push(new TextDecoder().decode(request.body.body))
        return HttpClientResponse.fromWeb(request, Response.json({}))
      })
    )
    const otlp = Otlp.layerJson({ baseUrl: "https://collector.example", resource: { serviceName: "shop" } }).pipe(
      Layer.provide(Layer.succeed(HttpClient.HttpClient, collector)),
      // Effect's own logger, which adds a line to its span as an event.
      Layer.provideMerge(Logger.layer([Logger.tracerLogger]))
    )
    // The exporters send their data when their layers are released.
    yield* program.pipe(
      Effect.provide(otlp),
      Effect.updateService(Clock.Clock, ownClock),
      Effect.provideService(References.MinimumLogLevel, "All"),
      Effect.provideService(Metric.MetricRegistry, new Map())
    )
    return read(exports)
  })
