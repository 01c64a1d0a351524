/**
 * Writes the dashboards of docs/operations for Grafana, grafana.json and its Portuguese twin grafana.pt.json, from the table in
 * `panels.ts`. `npm run fix` runs it.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Panel } from "./panel.ts"
import { rows } from "./panels.ts"
import { portuguese } from "./portuguese.ts"

const folder = join(import.meta.dirname, "../../docs/operations")

const datasource = { type: "prometheus", uid: "${datasource}" }

const description =
  "What ended wrongly, what waits and why, what does not arrive. Where two programs measure one queue, choose one job: a sum over jobs would count it twice. The variable runbook is where your team reads docs/operations: set it in the settings."

const runbook = "docs/operations/"

type Say = (text: string) => string
const inPortuguese: Say = (text) => {
  const said = portuguese[text]
  if (said === undefined) throw new Error(`portuguese.ts has no words for: ${text}`)
  return said
}

/** The heading of each alert, as its rule names it. */
const headings = new Map<string, string>(
  Array.from(
    readFileSync(join(folder, "alerts.yml"), "utf8").matchAll(/runbook_url: docs\/operations\/([^#]+)#(\S+)/g),
    ([, page = "", heading = ""]) => [heading, `${page}#${heading}`]
  )
)
const linkOf = ({ see }: Panel) => {
  const page = see.startsWith("on-call.md") ? see : headings.get(see.toLowerCase())
  if (page === undefined) throw new Error(`alerts.yml has no alert ${see}`)
  return { title: see, url: `\${runbook:raw}${page}`, targetBlank: true }
}

/** Such a legend is the same in every language. */
const isLabels = (legend: string) => legend.replaceAll(/\{\{\w+\}\}/g, "").trim() === ""

const below = (...calcs: ReadonlyArray<string>) => ({
  legend: { calcs, displayMode: "table", placement: "bottom", showLegend: true },
  tooltip: { mode: "multi", sort: "desc" }
})
const chart = (drawStyle: string, fillOpacity: number, stacking: "none" | "normal", red?: number) => ({
  drawStyle,
  fillOpacity,
  stacking: { group: "A", mode: stacking },
  thresholdsStyle: { mode: red === undefined ? "off" : "dashed" }
})

const kinds = {
  alerts: () => ({
    type: "alertlist",
    options: {
      viewMode: "list",
      groupMode: "default",
      maxItems: 20,
      sortOrder: 3,
      alertInstanceLabelFilter: "",
      stateFilter: { firing: true, pending: true, error: true, noData: false, normal: false, recovering: true }
    }
  }),
  tile: () => ({
    type: "stat",
    options: {
      colorMode: "value",
      graphMode: "area",
      justifyMode: "auto",
      orientation: "auto",
      reduceOptions: { calcs: ["lastNotNull"], fields: "", values: false },
      textMode: "auto"
    }
  }),
  lines: ({ red }: Panel) => ({
    type: "timeseries",
    custom: chart("line", 10, "none", red),
    options: below("lastNotNull", "max")
  }),
  areas: ({ red }: Panel) => ({
    type: "timeseries",
    custom: chart("line", 30, "normal", red),
    options: below("lastNotNull", "max")
  }),
  // The first value of a series is looked for one step back, so a step has to be longer than the time between two exports.
  bars: ({ red }: Panel) => ({
    type: "timeseries",
    interval: "5m",
    custom: chart("bars", 60, "normal", red),
    options: below("sum")
  })
}

const size = ({ kind, width }: Panel): { readonly w: number; readonly h: number } => {
  if (kind === "alerts") return { w: 24, h: 7 }
  return kind === "tile" ? { w: width ?? 4, h: 5 } : { w: width ?? 12, h: 8 }
}

const panelOf = (panel: Panel, say: Say, place: object) => {
  const { custom, options, type, ...rest } = { custom: undefined, ...kinds[panel.kind](panel) }
  const steps = [
    { color: "green", value: null },
    ...(panel.red === undefined ? [] : [{ color: "red", value: panel.red }])
  ]
  const common = {
    type,
    title: say(panel.title),
    description: say(panel.help),
    ...rest,
    ...place,
    links: [linkOf(panel)],
    options
  }
  const unit = panel.queries[0]?.unit
  if (unit === undefined) return common
  return {
    ...common,
    datasource,
    fieldConfig: {
      defaults: {
        unit,
        min: 0,
        ...(unit === "percentunit" && { max: 1 }),
        color: { mode: panel.kind === "tile" ? "thresholds" : "palette-classic" },
        thresholds: { mode: "absolute", steps },
        ...(custom && { custom })
      },
      overrides: []
    },
    targets: panel.queries.map(({ expr, legend }, index) => ({
      refId: "ABCD"[index],
      datasource,
      editorMode: "code",
      expr,
      legendFormat: isLabels(legend) ? legend : say(legend),
      range: true
    }))
  }
}

/** Every row with its panels, from left to right. A line is as high as its first panel. */
const panelsOf = (say: Say) => {
  const placed: Array<object> = []
  let y = 0
  for (const [title, panels] of rows) {
    const row = { type: "row", title: say(title), collapsed: false, panels: [] }
    placed.push({ id: placed.length + 1, ...row, gridPos: { h: 1, w: 24, x: 0, y: y++ } })
    let x = 0
    let height = 0
    for (const panel of panels) {
      const { h, w } = size(panel)
      if (x + w > 24) {
        y += height
        x = 0
      }
      placed.push({ id: placed.length + 1, ...panelOf(panel, say, { gridPos: { h, w, x, y } }) })
      x += w
      height = h
    }
    y += height
  }
  return placed
}

const choice = (name: string, label: string, query: string) => ({
  name,
  label,
  type: "query",
  datasource,
  query: { query, refId: name },
  definition: query,
  refresh: 2,
  sort: 1,
  multi: true,
  includeAll: true,
  allValue: ".*",
  current: { selected: true, text: ["All"], value: ["$__all"] },
  options: [],
  hide: 0
})

const dashboard = (uid: string, say: Say) => ({
  id: null,
  uid,
  title: say("effect-pix"),
  description: say(description),
  tags: ["effect-pix", "payments"],
  schemaVersion: 39,
  version: 1,
  editable: true,
  graphTooltip: 1,
  refresh: "1m",
  time: { from: "now-6h", to: "now" },
  timezone: "browser",
  annotations: { list: [] },
  links: [],
  templating: {
    list: [
      {
        name: "datasource",
        label: say("Data source"),
        type: "datasource",
        query: "prometheus",
        refresh: 1,
        multi: false,
        includeAll: false,
        current: {},
        options: [],
        hide: 0
      },
      choice(
        "job",
        say("Program"),
        'label_values({__name__=~"effect_pix_(payout_queue_waiting|webhook_waiting|call_duration_seconds_count)"}, job)'
      ),
      choice("account", say("Account"), 'label_values(effect_pix_payout_queue_waiting{job=~"$job"}, account)'),
      {
        name: "runbook",
        type: "constant",
        query: runbook,
        current: { text: runbook, value: runbook },
        hide: 2,
        skipUrlSync: true
      }
    ]
  },
  panels: panelsOf(say)
})

/** A panel is one line, so that a change of one is a change of one line. */
const textOf = (uid: string, say: Say) => {
  const { panels, ...head } = dashboard(uid, say)
  const lines = panels.map((panel) => `    ${JSON.stringify(panel)}`).join(",\n")
  return `${JSON.stringify(head, undefined, 2).slice(0, -2)},\n  "panels": [\n${lines}\n  ]\n}\n`
}

/** Each file with what it should say. */
export const written = (): Record<string, string> => ({
  "docs/operations/grafana.json": textOf("effect-pix", (text) => text),
  "docs/operations/grafana.pt.json": textOf("effect-pix-pt", inPortuguese)
})

if (import.meta.main) {
  for (const [file, text] of Object.entries(written())) writeFileSync(join(folder, "../..", file), text)
}
