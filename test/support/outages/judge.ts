/** What Prometheus and the alerts of docs/operations say of a played outage. */
import { resolve } from "node:path"
import { sentQueries } from "../dashboard.ts"
import { runPromtoolOn } from "../promtool.ts"
import { calm, length, type Series } from "./played.ts"

const operations = resolve(import.meta.dirname, "../../../docs/operations")
const firing = 'ALERTS{alertstate="firing"}'

/** An alert that fired, from the first minute of it. */
export interface Fired {
  readonly alert: string
  readonly severity: string
  /** Minutes after the outage began. */
  readonly after: number
}

/** The samples that promtool found where none was expected: by expression and minute. */
const samplesIn = (text: string) =>
  Array.from(
    text.matchAll(/expr: "((?:[^"\\]|\\.)*)", time: (\w+),\s+exp: *nil\s+got: *(.*)/g),
    ([, expr = "", time = "", got = ""]) => ({
      expr: expr.replaceAll(/\\(.)/g, "$1"),
      minute: minuteOf(time),
      samples: got
    })
  )
const minuteOf = (time: string) => {
  const [, hours = "0", minutes = "0"] = /^(?:(\d+)h)?(?:(\d+)m)?/.exec(time) ?? []
  return 60 * Number(hours) + Number(minutes)
}

const ask = (series: Series, questions: ReadonlyArray<{ readonly expr: string; readonly minute: number }>) =>
  samplesIn(
    runPromtoolOn(["test", "rules"], {
      rule_files: [resolve(operations, "alerts.yml")],
      evaluation_interval: "1m",
      tests: [
        {
          interval: "1m",
          input_series: Array.from(series, ([name, values]) => ({ series: name, values: values.join(" ") })),
          promql_expr_test: questions.map(({ expr, minute }) => ({ expr, eval_time: `${minute}m`, exp_samples: [] }))
        }
      ]
    }).text
  )

/** The alerts that fired, the first of each, in the order of time. */
export const firedIn = (series: Series): ReadonlyArray<Fired> => {
  const minutes = Array.from({ length: length + 1 }, (_, minute) => ({ expr: firing, minute }))
  const found = ask(series, minutes).flatMap(({ minute, samples }) =>
    Array.from(
      samples.matchAll(/alertname=\\?"(\w+)\\?".*?severity=\\?"(\w+)\\?"/g),
      ([, alert = "", severity = ""]) => ({
        alert,
        severity,
        after: minute - calm
      })
    )
  )
  return found.filter((one, index) => found.findIndex(({ alert }) => alert === one.alert) === index)
}

/** The panels whose queries have values at the end. */
export const shownIn = (series: Series): ReadonlySet<string> => {
  const found = new Set(
    ask(
      series,
      sentQueries.map(({ expr }) => ({ expr, minute: length }))
    ).map(({ expr }) => expr)
  )
  return new Set(sentQueries.filter(({ expr }) => found.has(expr)).map(({ expr, title }) => `${title}: ${expr}`))
}

/** By what a sum of money grew, in reais, of the metrics that have one. */
export const sumsIn = (all: Series): ReadonlyArray<readonly [what: string, reais: number]> => {
  const sums = new Map<string, number>()
  for (const [series, values] of all) {
    const [, name = "", labels = ""] = /^effect_pix_(\w*centavos\w*)\{(.*)\}$/.exec(series) ?? []
    const what = /(?:state|cause|error_type|handler)="(\w+)"/.exec(labels)?.[1] ?? ""
    if (name === "" || /paid|posted|cancelled/.test(what) || /^webhook_ends.*onPaid/.test(`${name} ${what}`)) continue
    const at = (minute: number) => Number(values[minute]) || 0
    const key = `${name.replace(/^payout_queue_/, "").replace(/_?centavos(_total)?$/, "")} ${what}`.trim()
    sums.set(key, (sums.get(key) ?? 0) + (at(length) - at(calm)) / 100)
  }
  // One payout is under way at any time.
  return [...sums].filter(([, reais]) => reais > 30)
}
