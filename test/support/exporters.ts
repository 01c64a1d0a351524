/**
 * The series that Prometheus gets of a run: by Effect's own Prometheus exporter, and by OTLP, whose names Prometheus translates.
 */
import { Effect, Layer, Schema } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import { OtlpExporter, OtlpMetrics, OtlpSerialization, PrometheusMetrics } from "effect/observability"

/** The labels of all series of a name. */
type Series = ReadonlyMap<string, ReadonlySet<string>>

const collect = (found: Iterable<readonly [name: string, labels: ReadonlyArray<string>]>): Series => {
  const series = new Map<string, Set<string>>()
  for (const [name, labels] of found) series.set(name, new Set([...(series.get(name) ?? []), ...labels]))
  return series
}

/** The samples of the text format. */
export const samplesOf = (text: string) =>
  Array.from(text.matchAll(/^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/gm), ([, name = "", labels = "", value = ""]) => ({
    name,
    labels,
    value
  }))

const labelsOf = (labels: string) => Array.from(labels.matchAll(/(\w+)="/g), ([, label = ""]) => label)

const Points = Schema.Struct({
  dataPoints: Schema.Array(Schema.Struct({ attributes: Schema.Array(Schema.Struct({ key: Schema.String })) }))
})
const Exported = Schema.Struct({
  resourceMetrics: Schema.Array(
    Schema.Struct({
      scopeMetrics: Schema.Array(
        Schema.Struct({
          metrics: Schema.Array(
            Schema.Struct({
              name: Schema.String,
              unit: Schema.String,
              sum: Schema.optional(Schema.Struct({ ...Points.fields, isMonotonic: Schema.Boolean })),
              gauge: Schema.optional(Points),
              histogram: Schema.optional(Points)
            })
          )
        })
      )
    })
  )
})
type Metric = (typeof Exported.Type)["resourceMetrics"][number]["scopeMetrics"][number]["metrics"][number]

const escaped = (name: string) => name.replaceAll(/[^a-zA-Z0-9_:]/g, "_")
const units: Readonly<Record<string, string>> = { s: "seconds", ms: "milliseconds", By: "bytes", "1": "ratio" }

/** As Prometheus translates a name with its default, UnderscoreEscapingWithSuffixes. */
const translated = ({ gauge, name, sum, unit }: Metric) => {
  const isTotal = sum?.isMonotonic === true
  const words = escaped(name).split("_")
  const bare = isTotal ? words.filter((word) => word !== "total") : words
  const suffix = unit === "1" && gauge === undefined ? undefined : units[unit.replace(/\{.*\}/, "")]
  const named = suffix === undefined || bare.includes(suffix) ? bare : [...bare, suffix]
  return [...named, ...(isTotal ? ["total"] : [])].join("_")
}

const seriesOf = (metric: Metric) =>
  (metric.histogram ?? metric.sum ?? metric.gauge ?? { dataPoints: [] }).dataPoints.flatMap(({ attributes }) => {
    const labels = attributes.map(({ key }) => escaped(key))
    const ends = metric.histogram === undefined ? [""] : ["_bucket", "_count", "_sum"]
    return ends.map((end) => [translated(metric) + end, end === "_bucket" ? [...labels, "le"] : labels] as const)
  })

const overOtlp = Effect.suspend(() => {
  const bodies: Array<string> = []
  const collector = HttpClient.make((request) =>
    Effect.sync(() => {
      if (request.body._tag === "Uint8Array") bodies.push(new TextDecoder().decode(request.body.body))
      return HttpClientResponse.fromWeb(request, new Response("{}"))
    })
  )
  const exporter = OtlpMetrics.layer({ url: "http://collector.example", resource: { serviceName: "shop" } }).pipe(
    Layer.provide([
      OtlpSerialization.layerJson,
      OtlpExporter.layerFlusher,
      Layer.succeed(HttpClient.HttpClient, collector)
    ])
  )
  // It exports when it ends.
  return Effect.map(Effect.scoped(Effect.asVoid(Layer.build(Layer.fresh(exporter)))), () => {
    const exported = Schema.decodeUnknownSync(Schema.fromJsonString(Exported))(bodies.at(-1))
    return collect(
      exported.resourceMetrics.flatMap(({ scopeMetrics }) =>
        scopeMetrics.flatMap(({ metrics }) => metrics.flatMap(seriesOf))
      )
    )
  })
})

/** What both exporters say of the metrics in context. */
export const exporters = Effect.gen(function* () {
  const samples = samplesOf(yield* PrometheusMetrics.format())
  const prometheus = collect(samples.map(({ labels, name }) => [name, labelsOf(labels)] as const))
  return { prometheus, otlp: yield* overOtlp }
})
