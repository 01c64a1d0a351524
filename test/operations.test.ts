/**
 * Compares the alert rules and the runbook of docs/operations with the exported signals, with the log lines in the code
 * and with the command. The signals are read from the tables of docs/observability.md, which other tests compare with a
 * run.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import * as Yaml from "effect/encoding/Yaml"
import { existsSync, globSync, readFileSync } from "node:fs"
import { resolve } from "node:path"
import { run } from "./support/command.ts"

const root = resolve(import.meta.dirname, "..")
const read = (file: string) => readFileSync(resolve(root, file), "utf8")

const Alert = Schema.Struct({
  alert: Schema.String,
  expr: Schema.String,
  for: Schema.optional(Schema.String),
  labels: Schema.Struct({ severity: Schema.Literals(["page", "ticket"]) }),
  annotations: Schema.Struct({ summary: Schema.String, runbook_url: Schema.String })
})
const Rules = Schema.Struct({
  groups: Schema.Array(Schema.Struct({ name: Schema.String, rules: Schema.Array(Alert) }))
})
const alerts = Schema.decodeUnknownSync(Rules)(Yaml.parse(read("docs/operations/alerts.yml"))).groups.flatMap(
  ({ rules }) => rules
)
const runbook = read("docs/operations/runbook.md")
/** The runbook with each paragraph on one line. */
const unwrapped = runbook.replaceAll(/\n\s+/g, " ")
const sections = runbook
  .split(/^## /m)
  .slice(1)
  .map((text) => ({ title: text.split("\n")[0] ?? "", text }))

const quoted = (cell = "") => Array.from(cell.matchAll(/`([^`]+)`/g), ([, text = ""]) => text)
const metrics = (read("docs/observability.md").split("\n## Metrics\n")[1]?.split("\n## ")[0] ?? "")
  .split("\n")
  .filter((line) => line.startsWith("| `"))
  .map((line) => {
    const [, name, , unit, attributes, says = ""] = line.split("|")
    return { name: quoted(name)[0] ?? "", unit: quoted(unit)[0] ?? "", attributes: quoted(attributes), says }
  })

/** The series of a metric by the names that Prometheus gives them after OTLP, with their labels. */
const series = new Map(
  metrics.flatMap(({ attributes, name, says, unit }) => {
    const isGauge = /^\s*a gauge/.test(says)
    const base = name.replaceAll(".", "_") + (unit === "s" ? "_seconds" : unit === "1" && isGauge ? "_ratio" : "")
    const labels = attributes.map((attribute) => attribute.replaceAll(".", "_"))
    const suffixes = /^\s*a histogram/.test(says) ? ["_bucket", "_count", "_sum"] : isGauge ? [""] : ["_total"]
    return suffixes.map((suffix) => [base + suffix, labels] as const)
  })
)

const words = /^(absent|by|group_left|increase|last_over_time|max|offset|on|or|rate|sum|time|unless)$/
const matchers = (inBraces = "") =>
  Array.from(inBraces.matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"/g), ([, label = ""]) => label)

/** The metrics of an expression with the labels that it selects, and the labels of its result. */
const readExpression = (expr: string) => {
  const grouped = Array.from(expr.matchAll(/\b(?:by|on)\s*\(([^)]*)\)/g), ([, labels = ""]) => labels.split(/\s*,\s*/))
  const rest = expr.replaceAll(/\b(?:by|on)\s*\([^)]*\)/g, " ").replaceAll(/\[[^\]]*\]/g, " ")
  const used = Array.from(rest.matchAll(/\b([a-z]\w*)\s*(?:\{([^}]*)\})?/gi), ([, name = "", inBraces]) => ({
    name,
    labels: matchers(inBraces)
  })).filter(({ name }) => !words.test(name))
  return { used, grouped }
}

/** The one heading without an alert. */
const restored = "A restored backup, or a failover to a lagging replica"

describe("the alert rules of docs/operations", () => {
  it("the table of metrics is read, and every alert has an expression on it", () => {
    assert.isAbove(series.size, 12)
    for (const { name, says } of metrics) assert.match(says, /^\s*a (?:counter|gauge|histogram):/, name)
    assert.isAbove(alerts.length, 10)
    for (const { alert, expr } of alerts) assert.isNotEmpty(readExpression(expr).used, alert)
  })

  it.each(alerts)("the metrics and labels of $alert are exported", ({ annotations, expr }) => {
    const { grouped, used } = readExpression(expr)
    const possible = new Set(["job"])
    for (const { labels, name } of used) {
      const exported = series.get(name)
      assert.isDefined(exported, `${name} is no metric of the page`)
      for (const label of labels) assert.include(exported, label, `${name} has no such label`)
      for (const label of exported) possible.add(label)
    }
    for (const label of grouped.flat()) assert.isTrue(possible.has(label), `nothing in it has the label ${label}`)
    for (const [, label = ""] of annotations.summary.matchAll(/\$labels\.(\w+)/g)) {
      assert.isTrue(grouped[0]?.includes(label), `the summary names ${label}, which the expression leaves out`)
    }
  })

  it("every alert has a heading of the runbook to which it links, and every heading but the last has an alert", () => {
    const titles = sections.map(({ title }) => title)
    assert.deepStrictEqual(titles, [...alerts.map(({ alert }) => alert), restored])
    for (const { alert, annotations } of alerts) {
      const [file = "", anchor] = annotations.runbook_url.split("#")
      assert.isTrue(existsSync(resolve(root, file)), file)
      assert.strictEqual(anchor, alert.toLowerCase())
    }
  })
})

describe("the runbook of docs/operations", () => {
  it.each(sections)("$title says what it means, what to look at, what to do and what never to do", ({ text }) => {
    const parts = Array.from(text.matchAll(/^- \*\*(.+?):\*\* \S/gm), ([, part]) => part)
    assert.deepStrictEqual(parts, ["Means", "Look at", "Do", "Never"])
  })

  it("the metrics that it names are exported", () => {
    const named = quoted(unwrapped).filter((text) => /^(effect_pix_(?!(webhooks|queue)$)|http\.)/.test(text))
    assert.isAbove(named.length, 10)
    for (const name of named)
      assert.include(
        metrics.map((metric) => metric.name),
        name
      )
  })

  it("the log lines that it names are in the code", () => {
    const code = globSync("src/**/*.ts", { cwd: root }).map(read).join("\n")
    const lines = Array.from(unwrapped.matchAll(/\blines? ((?:"[^"]+"(?:,\s+)?)+)/g), ([, found = ""]) => found)
    const named = lines.flatMap((found) => Array.from(found.matchAll(/"([^"]+)"/g), ([, text = ""]) => text))
    assert.isAbove(named.length, 10)
    for (const line of named) assert.include(code, line)
  })

  it.live("the commands that it names exist, and have the flags that it uses", () =>
    Effect.gen(function* () {
      const named = quoted(unwrapped).filter((text) => text.startsWith("effect-pix "))
      const flags = new Map<string, Set<string>>()
      for (const line of named) {
        const command = /^effect-pix((?: [a-z][a-z-]*)+)/.exec(line)?.[1]?.trim() ?? ""
        const [, room] = /^(payouts|webhooks) (?!list|show|dead|export)/.exec(command) ?? []
        // The runbook says so of all steps.
        const ofSteps = room === "payouts" ? ["--by", "--note"] : room === "webhooks" ? ["--by"] : []
        const given = flags.get(command) ?? new Set(ofSteps)
        for (const [flag] of line.matchAll(/--[a-z-]+/g)) given.add(flag)
        flags.set(command, given)
      }
      assert.isAbove(flags.size, 8)
      for (const [command, given] of flags) {
        const { code, stdout } = yield* run([...command.split(" "), "--help"])
        assert.strictEqual(code, 0, command)
        assert.include(stdout, `effect-pix ${command} `, "it is another command's help")
        for (const flag of given) assert.include(stdout, flag, command)
      }
    })
  )
})
