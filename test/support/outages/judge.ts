/** What Prometheus and the alerts of docs/operations say of a played outage. */
import { readFileSync } from "node:fs"
import { resolve } from "node:path"
import { sentQueries } from "../dashboard.ts"
import { runPromtoolOn } from "../promtool.ts"
import { calm, length, type Played } from "./played.ts"

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

const ask = (played: Played, questions: ReadonlyArray<{ readonly expr: string; readonly minute: number }>) =>
  samplesIn(
    runPromtoolOn(["test", "rules"], {
      rule_files: [resolve(operations, "alerts.yml")],
      evaluation_interval: "1m",
      tests: [
        {
          interval: "1m",
          input_series: Array.from(played, ([series, values]) => ({ series, values: values.join(" ") })),
          promql_expr_test: questions.map(({ expr, minute }) => ({ expr, eval_time: `${minute}m`, exp_samples: [] }))
        }
      ]
    }).text
  )

/** The alerts that fired, the first of each, in the order of time. */
export const firedIn = (played: Played): ReadonlyArray<Fired> => {
  const minutes = Array.from({ length: length + 1 }, (_, minute) => ({ expr: firing, minute }))
  const found = ask(played, minutes).flatMap(({ minute, samples }) =>
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
export const shownIn = (played: Played): ReadonlySet<string> => {
  const found = new Set(
    ask(
      played,
      sentQueries.map(({ expr }) => ({ expr, minute: length }))
    ).map(({ expr }) => expr)
  )
  return new Set(sentQueries.filter(({ expr }) => found.has(expr)).map(({ expr, title }) => `${title}: ${expr}`))
}

/** The command that mends: the first one of the step Do of an alert's heading. */
export const commandOf = (alert: string): string => {
  const section =
    readFileSync(resolve(operations, "runbook.md"), "utf8").split(`\n## ${alert}\n`)[1]?.split("\n## ")[0] ?? ""
  const todo = section.split("**Do:**")[1]?.split("**Never:**")[0] ?? ""
  return /`effect-pix [^`]+`|[Nn]o command/.exec(todo)?.[0]?.replaceAll(/\s+/g, " ") ?? ""
}

/** By what a sum of money grew, in reais, of the metrics that have one. */
export const sumsIn = (played: Played): ReadonlyArray<readonly [what: string, reais: number]> => {
  const sums = new Map<string, number>()
  for (const [series, values] of played) {
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
