/**
 * The series that Prometheus gets of a run: by Effect's own Prometheus exporter, and by OTLP, whose names Prometheus translates. With
 * that, what no query of docs/operations finds under both.
 */
import { Effect, Layer, Schema } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import { OtlpExporter, OtlpMetrics, OtlpSerialization, PrometheusMetrics } from "effect/observability"
import * as Yaml from "effect/encoding/Yaml"
import { readFileSync } from "node:fs"
import { resolve } from "node:path"
import { sentQueries } from "./dashboard.ts"
import { readExpression } from "./promql.ts"

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

const Rules = Schema.Struct({
  groups: Schema.Array(
    Schema.Struct({ rules: Schema.Array(Schema.Struct({ alert: Schema.String, expr: Schema.String })) })
  )
})
const rules = Schema.decodeUnknownSync(Rules)(
  Yaml.parse(readFileSync(resolve(import.meta.dirname, "../../docs/operations/alerts.yml"), "utf8"))
).groups.flatMap((group) => group.rules)

/** What alerts and panels read: of the convention's name, one of both spellings. */
const read = [
  ...rules.map(({ alert, expr }) => ({ by: alert, expr })),
  ...sentQueries.map(({ expr, title }) => ({ by: title, expr }))
].flatMap(({ by, expr }) =>
  readExpression(expr).used.map(({ labels, name }) => ({
    by,
    labels: labels.filter((label) => label !== "job"),
    name: new RegExp(`^${name.replace(/^(http_client_request_duration)/, "$1(_seconds)?")}$`)
  }))
)

/** The queries that read one of these metrics, and what an exporter does not have of them. */
export const unread = ({ otlp, prometheus }: Effect.Success<typeof exporters>, metrics: RegExp) => {
  const found = read.filter(({ name }) => [...prometheus.keys()].some((one) => metrics.test(one) && name.test(one)))
  const missing = Object.entries({ otlp, prometheus }).flatMap(([exporter, series]) =>
    read
      .filter(({ name }) => metrics.test(name.source.replaceAll(/[\^$()?]/g, "")))
      .filter(({ labels, name }) => {
        const has = [...series].find(([one]) => name.test(one))?.[1]
        return has === undefined || labels.some((label) => !has.has(label))
      })
      .map(({ by, labels, name }) => `${exporter}: ${by} reads ${name.source} ${labels.join(", ")}`)
  )
  return { count: found.length, missing }
}
