/** Reads docs/operations/grafana.json: its panels, with their queries. */
import { Schema } from "effect"
import { readFileSync } from "node:fs"
import { resolve } from "node:path"

// That of the variable: the id of a data source is another one in each Grafana.
const datasource = Schema.Struct({ type: Schema.Literal("prometheus"), uid: Schema.Literal("${datasource}") })

const Row = Schema.Struct({
  id: Schema.Int,
  type: Schema.Literal("row"),
  title: Schema.String,
  panels: Schema.Tuple([])
})
const Explained = {
  id: Schema.Int,
  title: Schema.String,
  description: Schema.NonEmptyString,
  links: Schema.Tuple([Schema.Struct({ title: Schema.String, url: Schema.String, targetBlank: Schema.Literal(true) })])
}
/** Grafana asks for the alerts itself. */
const AlertList = Schema.Struct({ ...Explained, type: Schema.Literal("alertlist") })
const Panel = Schema.Struct({
  ...Explained,
  type: Schema.Literals(["stat", "timeseries"]),
  datasource,
  fieldConfig: Schema.Struct({ defaults: Schema.Struct({ unit: Schema.String }) }),
  targets: Schema.NonEmptyArray(
    Schema.Struct({ refId: Schema.String, datasource, expr: Schema.String, legendFormat: Schema.String })
  )
})
const Variable = Schema.Struct({
  name: Schema.String,
  query: Schema.Union([Schema.String, Schema.Struct({ query: Schema.String, refId: Schema.String })])
})
/** What Grafana needs to import a dashboard. `id` is that of an installation. */
const Dashboard = Schema.Struct({
  id: Schema.Null,
  uid: Schema.String,
  title: Schema.String,
  schemaVersion: Schema.Literal(39),
  templating: Schema.Struct({ list: Schema.Array(Variable) }),
  panels: Schema.Array(Schema.Union([Row, AlertList, Panel]))
})

const text = readFileSync(resolve(import.meta.dirname, "../../docs/operations/grafana.json"), "utf8")

export const dashboard = { text, ...Schema.decodeUnknownSync(Schema.fromJsonString(Dashboard))(text) }

/** The panels that show something, with the unit of their values. */
export const panels = dashboard.panels.flatMap((panel) =>
  "targets" in panel ? [{ ...panel, unit: panel.fieldConfig.defaults.unit }] : []
)

/** The queries of all panels as Grafana sends them where every program and account is chosen, in steps of five minutes. */
export const sentQueries = panels.flatMap(({ targets, title, unit }) =>
  targets.map(({ expr }) => ({
    title,
    unit,
    expr: expr.replaceAll(/\$__(rate_)?interval/g, "5m").replaceAll(/\$(job|account)/g, ".*")
  }))
)
