/**
 * Writes docs/operations/grafana.json from the table below. A panel links to an alert's heading of the runbook, and is explained by what
 * the alert means there. `npm run fix` runs it.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

const folder = join(import.meta.dirname, "../docs/operations")

const split = (labels: string) => labels.split(", ").filter((label) => label !== "")
const by = (labels: string) => (labels === "" ? "" : `by (${labels}) `)

/** A query. Its unit is that of its metric; money is exported in centavos, and shown in reais. */
const query = (metric: string, labels: string, expr: string, legend = "", unit?: string) => {
  const isMoney = metric.includes("centavos")
  return {
    expr: isMoney ? `${expr} / 100` : expr,
    legend: [legend, ...split(labels).map((label) => `{{${label}}}`)].join(" ").trim(),
    unit: unit ?? (isMoney ? "currencyBRL" : metric.endsWith("seconds") ? "s" : "short")
  }
}
type Query = ReturnType<typeof query>

/** A metric of the programs that are chosen; of what has an account, of the chosen accounts. */
const select = (metric: string, where = "") => {
  const account = metric.startsWith("payout_queue") ? ', account=~"$account"' : ""
  return `effect_pix_${metric}{job=~"$job"${account}${where && `, ${where}`}}`
}

/** A gauge, which every process measures of a whole account or webhook. */
const gauge = (over: "sum" | "max") => (metric: string, labels: string, where?: string, legend?: string) => {
  const whole = metric === "dead_letters" ? "name" : metric.startsWith("webhook") ? "webhook" : "account"
  const each = new Set(["job", whole, ...split(labels), ...(metric.includes("to_check") ? ["cause"] : [])])
  const expr = `${over} ${by(labels)}(max by (${[...each].join(", ")}) (${select(metric, where)}))`
  return query(metric, labels, expr, legend)
}
const [sum, most] = [gauge("sum"), gauge("max")]

const risen = (metric: string, labels: string, where: string, range: string) => {
  const of = select(metric, where)
  return `sum ${by(labels)}((max_over_time(${of}[${range}]) unless ${of} offset ${range}) or increase(${of}[${range}]))`
}
/** What a counter rose by. increase() does not see the first value of a series, so one that was not there before counts from 0. */
const rise = (metric: string, labels: string, where = "", legend?: string, range = "$__interval") =>
  query(metric, labels, risen(metric, labels, where, range), legend)
const inDay = (metric: string, labels: string, where?: string) => rise(metric, labels, where, "", "24h")
const inHour = (metric: string, where: string, legend?: string) => rise(metric, "", where, legend, "1h")

/** How long ago something was measured, the oldest. */
const age = (metric: string, whole: string) =>
  query(metric, "", `time() - min (max by (job, ${whole}) (${select(metric)}))`, whole)

const rate = (labels: string, selected: string) => `sum by (${labels}) (rate(${selected}[$__rate_interval]))`
/** The name of the convention has no unit, which OTLP appends. */
const attempts = (end: string, where = "") =>
  `{__name__=~"http_client_request_duration(_seconds)?_${end}", job=~"$job"${where && `, ${where}`}}`
const perSecond = (labels: string, selected: string) => query("", labels, rate(labels, selected), "", "reqps")
const quantile = (part: string, label: string, selected: string) =>
  query("seconds", label, `histogram_quantile(${part}, ${rate(`le, ${label}`, selected)})`, `p${part.slice(2)}`)
const share = (part: string, all: string, label: string) => query("", label, `${part} / ${all}`, "", "percentunit")

/** A tile has the last value, large. Bars are what is new in each step. What is wrong from a value on is red there. */
const kind =
  (type: "tile" | "lines" | "bars", red?: number) => (title: string, alert: string, queries: ReadonlyArray<Query>) => ({
    type,
    red,
    title,
    alert,
    queries
  })
type Panel = ReturnType<ReturnType<typeof kind>>
const [tile, money, lines, bars] = [kind("tile"), kind("tile", 0.01), kind("lines"), kind("bars")]

const calls = "call_duration_seconds_count"
const server = "server_address"
const charges = 'operation="createTransaction"'
const failed = 'error_type!="", error_type!="Interrupted", error_type!="Refused", error_type!~"4.."'

const rows: Readonly<Record<string, ReadonlyArray<Panel>>> = {
  Now: [
    money("Money that ended wrongly, in a day", "PayoutsNotPaid", [
      inDay("payout_queue_ends_centavos_total", "state, result", 'state=~"refused|failed|returned"')
    ]),
    money("Money of calls that failed, in a day", "ChargesFailing", [
      inDay("call_failed_centavos_total", "operation, outcome")
    ]),
    money("Money that payers got back, in a day", "RefundsRise", [
      inDay("webhook_ends_centavos_total", "handler", 'handler="onRefunded"')
    ]),
    money("Money that your code did not take, in a day", "HandlersFailing", [
      inDay("webhook_failed_centavos_total", "handler")
    ]),
    money("Money in doubt", "PayoutsInDoubt", [sum("payout_queue_centavos", "", 'state="unknown"')]),
    money("Money that waits for a person", "PayoutsParked", [sum("payout_queue_centavos", "", 'state="parked"')]),
    money("Money to check", "PayoutsContradicted", [sum("payout_queue_to_check_centavos", "")]),
    kind("tile", 0.1)("Charges that fail, in an hour", "ChargesFailing", [
      share(`(${inHour(calls, `${charges}, result!="Success"`).expr} or vector(0))`, inHour(calls, charges).expr, "")
    ]),
    tile("Charges, and payments handed out, in an hour", "WebhooksMissing", [
      inHour(calls, `${charges}, outcome="Executed"`, "charges"),
      inHour("webhook_handlers_total", 'handler="onPaid", result="Success"', "handed out")
    ]),
    tile("Since the last delivery", "WebhooksMissing", [age("webhook_last_delivery_seconds", "webhook")]),
    kind("tile", 1)("Dead letters", "DeadLetters", [sum("dead_letters", "of")]),
    kind("tile", 180)("Age of the figures", "PayoutSignalsAbsent", [
      age("payout_queue_measured_seconds", "account"),
      age("webhook_measured_seconds", "webhook")
    ])
  ],
  Payouts: [
    lines("Money that waits, by state", "PayoutsInDoubt", [sum("payout_queue_centavos", "state")]),
    lines("Money that cannot be sent, by cause", "PayoutsDelayed", [sum("payout_queue_delayed_centavos", "cause")]),
    lines("Oldest payout that waits, by state", "PayoutsInDoubt", [most("payout_queue_oldest_seconds", "state")]),
    lines("Payouts that wait, by state", "PayoutsNotSent", [sum("payout_queue_waiting", "state")]),
    lines("Payouts that cannot be sent, by cause", "PayoutsDelayed", [sum("payout_queue_delayed", "cause")]),
    lines("Payouts to check, by cause", "PayoutsContradicted", [sum("payout_queue_to_check", "cause")]),
    bars("Outcomes of payouts", "PayoutsFailed", [rise("payout_queue_changes_total", "state")]),
    bars("Refused and parked payouts, by cause", "PayoutsRefused", [
      rise("payout_queue_changes_total", "state, result, error_type", 'state=~"refused|parked"')
    ]),
    bars("Ends, by who said so", "PayoutsUnconfirmed", [rise("payout_queue_ends_total", "state, by, result")]),
    lines("Accounts: 1 is yes", "PayoutQueuePaused", [
      most("payout_queue_paused", "account", "", "paused"),
      most("payout_queue_served", "account", "", "ever had a worker")
    ]),
    lines("States that wait for onState", "PayoutStatesWaiting", [most("payout_queue_states", "account")]),
    lines("Oldest state for onState", "PayoutStatesWaiting", [most("payout_queue_states_oldest_seconds", "account")]),
    bars("Calls of onState, by result", "PayoutStatesFailing", [
      rise("payout_queue_handlers_total", "account, result, error_type")
    ])
  ],
  "Calls and attempts": [
    bars("Outcomes of calls", "CallsEndUnknown", [rise(calls, "operation, outcome")]),
    bars("Failed calls, by cause", "GatewayFailing", [
      rise(calls, "operation, result, error_type", 'result!="Success"')
    ]),
    lines("Time of a call", "GatewaySlow", [quantile("0.99", "operation", select("call_duration_seconds_bucket"))]),
    lines("Attempts a second, by answer", "RateLimited", [perSecond("server_address, error_type", attempts("count"))]),
    lines("Share of attempts that fail", "GatewayFailing", [
      share(rate(server, attempts("count", failed)), rate(server, attempts("count")), server)
    ]),
    lines("Time of an attempt", "GatewaySlow", [quantile("0.5", server, attempts("bucket"))]),
    lines("Clock of the program, ahead or behind", "ClockOff", [
      query("seconds", "source", `max by (source) (abs(${select("clock_offset_seconds")}))`)
    ]),
    bars("Loads of credentials", "CredentialsRefused", [rise("credential_loads_total", "result, error_type")]),
    bars("Refused retries, and answers that do not fit", "RetryBudgetSpent", [
      rise("retries_refused_total", "operation", "", "refused retries"),
      rise("misfits_total", "operation, field", "", "left out")
    ])
  ],
  "Webhooks, database and processes": [
    lines("Deliveries a second, by answer", "WebhooksRefused", [
      perSecond("webhook, http_response_status_code, error_type", select("webhook_deliveries_total"))
    ]),
    lines("Deliveries that wait, by reason", "WebhookFlooded", [sum("webhook_waiting", "webhook, reason")]),
    lines("Oldest delivery, by reason", "WebhooksWaiting", [most("webhook_oldest_seconds", "webhook, reason")]),
    bars("Calls of handlers, by result", "HandlersFailing", [
      rise("webhook_handlers_total", "handler, result, error_type"),
      rise("webhook_untold_total", "webhook", "", "no webhook told of it:"),
      rise("webhook_unlisted_total", "payments_status", "", "onPaid was not called for")
    ]),
    bars("Payments, by how they ended", "RefundsRise", [rise("webhook_ends_total", "handler")]),
    bars("Failures of the database", "DatabaseFailing", [rise("database_failures_total", "error_type")]),
    lines("Starts of processes, in half an hour", "ProcessesRestart", [
      query("", "job, version", `sum by (job, version) (changes(${select("started_seconds")}[30m]) + 1)`)
    ])
  ]
}

/** What each alert means, as the runbook says it, without links. A heading may be of several alerts. */
const meanings = new Map(
  Array.from(
    readFileSync(join(folder, "runbook.md"), "utf8").matchAll(
      /^## (\w+(?:, \w+)*)\n\n(?:<a [^\n]*\n\n)?- \*\*Means:\*\* (.*?)\n- \*\*/gms
    ),
    ([, alerts = "", means = ""]) => {
      const said = means.replaceAll(/\n\s+/g, " ").replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      return alerts.split(", ").map((alert) => [alert, said] as const)
    }
  ).flat()
)

const datasource = { type: "prometheus", uid: "${datasource}" }

const viewOf = ({ queries, red, type }: Panel) => {
  const defaults = { unit: queries[0]?.unit, min: 0 }
  if (type === "tile") {
    const steps = [{ color: "green", value: null }, ...(red === undefined ? [] : [{ color: "red", value: red }])]
    const thresholds = { mode: "absolute", steps }
    return { type: "stat", fieldConfig: { defaults: { ...defaults, color: { mode: "thresholds" }, thresholds } } }
  }
  const stacking = { group: "A", mode: type === "lines" ? "none" : "normal" }
  const custom = { drawStyle: type === "bars" ? "bars" : "line", fillOpacity: 30, stacking }
  const legend = { calcs: ["lastNotNull", "max"], displayMode: "table", placement: "bottom", showLegend: true }
  return {
    type: "timeseries",
    // The first value of a series is looked for one step back, so a step has to be longer than the time between two exports.
    ...(type === "bars" && { interval: "5m" }),
    options: { legend, tooltip: { mode: "multi", sort: "desc" } },
    fieldConfig: { defaults: { ...defaults, custom } }
  }
}

const panelOf = (panel: Panel, gridPos: object) => {
  const { alert, queries, title } = panel
  const means = meanings.get(alert)
  if (means === undefined) throw new Error(`the runbook has no alert ${alert}`)
  return {
    title,
    description: `${alert}: ${means}`,
    gridPos,
    links: [{ title: alert, url: `\${runbook:raw}runbook.md#${alert.toLowerCase()}`, targetBlank: true }],
    datasource,
    ...viewOf(panel),
    targets: queries.map(({ expr, legend }, at) => ({ refId: "ABC"[at], datasource, expr, legendFormat: legend }))
  }
}

/** Every row with its panels, from left to right: tiles six in a line, charts three. */
const panels = () => {
  let y = 7
  return Object.entries(rows).flatMap(([title, ofRow]) => {
    const [w, h] = ofRow[0]?.type === "tile" ? [4, 5] : [8, 8]
    const row = { type: "row", title, collapsed: false, panels: [], gridPos: { h: 1, w: 24, x: 0, y } }
    const placed = ofRow.map((panel, index) => {
      const place = index * w
      return panelOf(panel, { h, w, x: place % 24, y: y + 1 + h * Math.floor(place / 24) })
    })
    y += 1 + h * Math.ceil((ofRow.length * w) / 24)
    return [row, ...placed]
  })
}

const file = join(folder, "grafana.json")

/** The file as it should be: what stands before its first row is written by hand. A panel is a line, as is a change of one. */
export const written = () => {
  const [head] = readFileSync(file, "utf8").split('    {"id":1,')
  const lines = panels().map((panel, index) => `    ${JSON.stringify({ id: index + 1, ...panel })}`)
  return `${head}${lines.join(",\n")}\n  ]\n}\n`
}

if (import.meta.main) writeFileSync(file, written())
