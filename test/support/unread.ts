/**
 * What the queries of docs/operations read, and an exporter does not have.
 */
import { type Effect, Schema } from "effect"
import * as Yaml from "effect/encoding/Yaml"
import { readFileSync } from "node:fs"
import { resolve } from "node:path"
import { sentQueries } from "./dashboard.ts"
import type { exporters } from "./exporters.ts"
import { readExpression } from "./promql.ts"

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
