/**
 * Prometheus's own checks of the alert rules and of the dashboard's queries, and tests of them: which alert fires for which
 * signals, after which time, and what a panel shows. They need `promtool`: of the machine, else the one that `debian.ts` unpacked.
 */
import { assert, describe, it } from "@effect/vitest"
import { resolve } from "node:path"
import { sentQueries } from "./support/dashboard.ts"
import { missing } from "./support/missing.ts"
import { promtool, runPromtool, runPromtoolOn } from "./support/promtool.ts"

const absent = promtool === undefined ? missing("promtool") : undefined

const successful = ({ status, text }: ReturnType<typeof runPromtool>) => {
  assert.strictEqual(status, 0, text)
  return text
}
const run = (...args: ReadonlyArray<string>) => successful(runPromtool(...args))
const runOn = (args: ReadonlyArray<string>, content: unknown) => successful(runPromtoolOn(args, content))

/** Tests what the queries of a panel show half an hour after these series began. */
const testPanel = (
  title: string,
  values: Readonly<Record<string, string>>,
  shown: Readonly<Record<string, number>>
) => {
  const found = sentQueries.filter((query) => query.title === title)
  assert.isNotEmpty(found, title)
  const tested = runOn(["test", "rules"], {
    evaluation_interval: "1m",
    tests: [
      {
        interval: "1m",
        input_series: Object.entries(values).map(([series, given]) => ({ series, values: given })),
        promql_expr_test: found.map(({ expr }) => ({
          expr,
          eval_time: "30m",
          exp_samples: Object.entries(shown).map(([labels, value]) => ({ labels, value }))
        }))
      }
    ]
  })
  assert.include(tested, "SUCCESS")
}

describe.skipIf(absent !== undefined)(`Prometheus (${absent ?? promtool})`, () => {
  it("each rule is one that Prometheus takes", () => {
    assert.match(run("check", "rules", resolve("docs/operations/alerts.yml")), /SUCCESS: \d\d rules found/)
  })

  it("each alert fires for its signals after its time, and for no others", () => {
    assert.include(run("test", "rules", resolve("test/alerts-test.yml")), "SUCCESS")
  })

  it("each query of the dashboard is one that Prometheus takes", () => {
    const rules = sentQueries.map(({ expr }, index) => ({ record: `query:${index}`, expr }))
    const checked = runOn(["check", "rules"], { groups: [{ name: "dashboard", rules }] })
    assert.include(checked, `SUCCESS: ${rules.length} rules found`)
  })

  it("the dashboard shows the money of all accounts in reais, once for all processes of a program", () => {
    const labels = (instance: string, account: string, state: string) =>
      `effect_pix_payout_queue_centavos{job="shop", instance="${instance}", account="${account}", state="${state}"}`
    const values = {
      [labels("a", "default", "unknown")]: "123456x60",
      [labels("b", "default", "unknown")]: "123456x60",
      [labels("a", "padaria", "unknown")]: "44x60",
      [labels("a", "padaria", "parked")]: "1000x60"
    }
    testPanel("Money in doubt", values, { "{}": 1235 })
    testPanel("Money that waits, by state", values, { '{state="unknown"}': 1235, '{state="parked"}': 10 })
  })

  it("the dashboard's first row shows what ended wrongly in a day, also by a process that is gone", () => {
    const labels = (instance: string, state: string) =>
      `effect_pix_payout_queue_ends_centavos_total{job="shop", instance="${instance}", account="default", state="${state}"}`
    const values = {
      [labels("a", "refused")]: "_x2 5000x5 stale",
      [labels("b", "refused")]: "_x9 700x30",
      [labels("b", "paid")]: "0+100x60"
    }
    testPanel("Money that ended wrongly, in a day", values, { '{state="refused"}': 57 })
  })

  it("the dashboard's first row shows the share of charges that fail, and 0 where none failed yet", () => {
    const labels = (result: string) =>
      `effect_pix_call_duration_seconds_count{job="shop", operation="createTransaction", result="${result}"}`
    testPanel("Charges that fail, in an hour", { [labels("Success")]: "9x60" }, { "{}": 0 })
    testPanel(
      "Charges that fail, in an hour",
      { [labels("Success")]: "9x60", [labels("RequestRejected")]: "1x60" },
      { "{}": 0.1 }
    )
  })

  it("the dashboard shows the first refused payout of a process", () => {
    const values = {
      'effect_pix_payout_queue_changes_total{job="shop", account="default", state="posted"}': "90x60",
      'effect_pix_payout_queue_changes_total{job="shop", account="default", state="refused"}': "_x28 1x30"
    }
    testPanel("Outcomes of payouts", values, { '{state="posted"}': 0, '{state="refused"}': 1 })
  })
})
