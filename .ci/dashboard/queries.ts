/** Makes the queries of the dashboard. Each is of the programs that are chosen, and of what has an account, of the chosen accounts. */

export interface Query {
  readonly expr: string
  readonly legend: string
  readonly unit: "currencyBRL" | "short" | "s" | "percentunit" | "reqps"
}

interface Options {
  /** Matchers of labels. */
  readonly where?: string
  /** Without one, the labels. */
  readonly legend?: string
  /** Of a rise. Without one, a step of the chart. */
  readonly range?: string
}

const select = (metric: string, where = "") => {
  const chosen = metric.startsWith("effect_pix_payout_queue") ? 'job=~"$job", account=~"$account"' : 'job=~"$job"'
  return `${metric}{${chosen}${where && `, ${where}`}}`
}

const split = (labels: string) => labels.split(", ").filter((label) => label !== "")
const by = (labels: string) => (labels === "" ? "" : `by (${labels}) `)

/** A query with the unit of its metric. Money is exported in centavos, and shown in reais. */
const query = (metric: string, labels: string, expr: string, legend?: string): Query => {
  const isMoney = /_centavos(_total)?$/.test(metric)
  return {
    expr: isMoney ? `${expr} / 100` : expr,
    legend:
      legend ??
      split(labels)
        .map((label) => `{{${label}}}`)
        .join(" "),
    unit: isMoney ? "currencyBRL" : metric.endsWith("_seconds") ? "s" : "short"
  }
}

/** A gauge that every process measures of a whole account or webhook. */
const gauge =
  (over: "sum" | "max") =>
  (metric: string, labels: string, { legend, where = "" }: Options = {}): Query => {
    const one = metric.startsWith("effect_pix_webhook") ? "webhook" : "account"
    // What a matcher selects is one value of the label.
    const of = [
      ...new Set(["job", one, ...split(labels), ...(where === "" && /to_check/.test(metric) ? ["cause"] : [])])
    ]
    return query(metric, labels, `${over} ${by(labels)}(max by (${of.join(", ")}) (${select(metric, where)}))`, legend)
  }
export const summed = gauge("sum")
export const greatest = gauge("max")

const risen = (metric: string, labels: string, where: string, range: string) => {
  const of = select(metric, where)
  return `sum ${by(labels)}((max_over_time(${of}[${range}]) unless ${of} offset ${range}) or increase(${of}[${range}]))`
}

/** What a counter rose by. increase() does not see the first value of a series, so one that was not there before counts from 0. */
export const rise = (metric: string, labels: string, options: Options = {}): Query => {
  const { legend, range = "$__interval", where = "" } = options
  return query(metric, labels, risen(metric, labels, where, range), legend)
}

/** The share of what a counter rose by that these matchers select. */
export const share = (metric: string, all: string, part: string, range: string, legend: string): Query => ({
  expr: `(${risen(metric, "", `${all}, ${part}`, range)} or vector(0)) / ${risen(metric, "", all, range)}`,
  legend,
  unit: "percentunit"
})

/** The value of a flag, turned around. */
export const not = ({ expr, ...rest }: Query): Query => ({ ...rest, expr: `1 - ${expr}` })

/** How long ago something was measured, the oldest. */
export const age = (metric: string, of: "account" | "webhook", legend: string): Query => ({
  expr: `time() - min (max by (job, ${of}) (${select(metric)}))`,
  legend,
  unit: "s"
})

const perSecond = (labels: string, selector: string) => `sum by (${labels}) (rate(${selector}[$__rate_interval]))`

const rate = (labels: string, selector: string): Query => ({
  ...query("", labels, perSecond(labels, selector)),
  unit: "reqps"
})
export const deliveries = (labels: string): Query => rate(labels, select("effect_pix_webhook_deliveries_total"))

const attemptsWhere = (where = "") =>
  `{__name__=~"http_client_request_duration(_seconds)?_count", job=~"$job"${where && `, ${where}`}}`
export const attempts = (labels: string): Query => rate(labels, attemptsWhere())

/** The attempts that these matchers select, as a share of all. */
export const shareOfAttempts = (labels: string, where: string): Query => ({
  ...query("", labels, `${perSecond(labels, attemptsWhere(where))} / ${perSecond(labels, attemptsWhere())}`),
  unit: "percentunit"
})

/** How often processes started, by the version that runs. */
export const starts: Query = query(
  "",
  "job, version",
  `sum by (job, version) (changes(${select("effect_pix_started_seconds")}[30m]) + 1)`
)

/** What this share of the attempts takes at most. */
export const timeOfAttempts = (part: string): Query => ({
  ...query(
    "",
    "server_address",
    `histogram_quantile(${part}, ${perSecond("server_address, le", '{__name__=~"http_client_request_duration(_seconds)?_bucket", job=~"$job"}')})`
  ),
  unit: "s"
})

/** How far the clocks of the processes are off. */
export const clocks: ReadonlyArray<Query> = ["max", "min"].map((which) => ({
  expr: `${which} by (source) (${select("effect_pix_clock_offset_seconds")})`,
  legend: `${which} {{source}}`,
  unit: "s"
}))

/** What this share of the calls takes at most. */
export const timeOfCalls = (part: string, legend: string): Query => ({
  expr: `histogram_quantile(${part}, ${perSecond("le, operation", select("effect_pix_call_duration_seconds_bucket"))})`,
  legend,
  unit: "s"
})
