/**
 * Compares the alert rules, the runbook, the page for on-call and the monitors of docs/operations with the exported signals, with
 * the log lines in the code and with the command. The signals are read from docs/observability.md, which other tests
 * compare with a run.
 */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as Yaml from "effect/encoding/Yaml"
import { globSync, readFileSync } from "node:fs"
import { resolve } from "node:path"
import { WaitsFor } from "../src/payouts/PayoutState.ts"
import { run } from "./support/command.ts"
import { panels } from "./support/dashboard.ts"
import { live } from "./support/effect.ts"
import { quoted } from "./support/documented.ts"
import { metrics, readExpression, requireExported, series } from "./support/promql.ts"

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
const Monitor = Schema.Struct({ name: Schema.String, severity: Schema.String, queries: Schema.Array(Schema.String) })
const Monitors = Schema.Struct({ monitors: Schema.Array(Monitor) })
const alerts = Schema.decodeUnknownSync(Rules)(Yaml.parse(read("docs/operations/alerts.yml"))).groups.flatMap(
  ({ rules }) => rules
)
const runbook = ["runbook.md", "runbook-calls.md"].map((page) => read(`docs/operations/${page}`)).join("\n")
/** The runbook with each paragraph on one line. */
const unwrapped = runbook.replaceAll(/\n\s+/g, " ")
const sectionsOf = (page: string) =>
  page
    .split(/^## /m)
    .slice(1)
    .map((text) => ({ title: text.split("\n")[0] ?? "", text }))
const sections = sectionsOf(runbook)

const titles = panels.map(({ title }) => title)

/** The two headings without an alert. */
const restored = "A restored backup, or a failover to a lagging replica"
const wentBack = "The balance fell and no payout explains it"

describe("the alert rules of docs/operations", () => {
  it("the list of metrics is read, and every alert has an expression on it", () => {
    assert.isAbove(series.size, 12)
    for (const { name, words } of metrics) assert.match(words.join(), /^(?:Counter|Gauge|Histogram)$/, name)
    assert.isAbove(alerts.length, 10)
    for (const { alert, expr } of alerts) assert.isNotEmpty(readExpression(expr).used, alert)
  })

  it.each(alerts)("the metrics and labels of $alert are exported", ({ annotations, expr }) => {
    const labels = requireExported(expr)
    for (const [, label = ""] of annotations.summary.matchAll(/\$labels\.(\w+)/g)) {
      assert.isTrue(labels.has(label), `the summary names ${label}, which the expression leaves out`)
    }
  })

  it("the rule about wrong names knows the exported ones, in the order of the page", () => {
    const names = metrics.flatMap(({ name, words: [kind] }) => {
      const end = /^effect_pix_(.*)$/.exec(name)?.[1]
      return end === undefined ? [] : [kind === "Histogram" ? `${end}_(bucket|count|sum)` : end]
    })
    const rule = alerts.find(({ alert }) => alert === "EffectPixNamesWrong")
    assert.include(rule?.expr, `__name__!~"effect_pix_(${names.join("|")})"`)
  })

  it("every alert has a heading of the runbook to which it links, and every heading but two has an alert", () => {
    const headings = sections.map(({ title }) => title)
    // An alert may page for one cause, and be a ticket for others.
    assert.sameMembers(headings, [...new Set(alerts.map(({ alert }) => alert)), wentBack, restored])
    for (const { alert, annotations } of alerts) {
      const [file = "", anchor] = annotations.runbook_url.split("#")
      assert.match(read(file), new RegExp(`^## ${alert}$`, "m"))
      assert.strictEqual(anchor, alert.toLowerCase())
    }
  })
})

describe("the runbook of docs/operations", () => {
  it.each(sections)("$title says what it means, what to look at, what to do and what never to do", ({ text }) => {
    const parts = Array.from(text.matchAll(/^- \*\*(.+?):\*\* \S/gm), ([, part]) => part)
    assert.deepStrictEqual(parts, ["Means", "Look at", "Do", "Never"])
  })

  it.each(sections)("$title names a command in what to look at or to do, or says that there is none", ({ text }) => {
    assert.match(text.split("**Look at:**")[1]?.split("**Never:**")[0] ?? "", /`effect-pix |no command/i)
  })

  it("the metrics that it names are exported", () => {
    const named = quoted(unwrapped).filter((text) => /^(effect_pix_(?!(webhooks|queue)$)|http\.)/.test(text))
    assert.isAbove(named.length, 5)
    assert.includeMembers(
      metrics.map(({ name }) => name),
      named
    )
  })

  it("the log lines that it names are in the code", () => {
    const code = globSync("src/**/*.ts", { cwd: root }).map(read).join("\n")
    const lines = Array.from(unwrapped.matchAll(/\blines? ((?:"[^"]+"(?:,\s+)?)+)/g), ([, found = ""]) => found)
    const named = lines.flatMap((found) => Array.from(found.matchAll(/"([^"]+)"/g), ([, text = ""]) => text))
    assert.isAbove(named.length, 10)
    for (const line of named) assert.include(code, line)
  })
})

describe("the page for on-call of docs/operations", () => {
  const page = read("docs/operations/on-call.md")
  const questions = sectionsOf(page)

  it.each(questions)("the question $title has one panel of the dashboard and one command", ({ text }) => {
    const lines = Array.from(text.matchAll(/^- \*\*(Panel|Command):\*\* ["`](.+)["`]$/gm), ([, ...line]) => line)
    assert.deepStrictEqual(
      lines.map(([kind]) => kind),
      ["Panel", "Command"]
    )
    assert.include(titles, lines[0]?.[1])
    assert.match(lines[1]?.[1] ?? "", /^effect-pix [^`]+$/)
  })

  it("the panels that it names are on the dashboard", () => {
    for (const [, title] of page.matchAll(/"([A-Z][^"]+)"/g)) assert.include(titles, title)
  })

  it("its table names each cause of the payouts that its panel shows", () => {
    // A paused account is no cause of a wait.
    for (const cause of [...WaitsFor.literals, "Paused"]) assert.include(questions[2]?.text, `\`${cause}\``)
  })
})

describe("the commands that docs/operations names", () => {
  const pages: ReadonlyArray<readonly [file: string, least: number, ofSteps: Readonly<Record<string, Array<string>>>]> =
    [
      // The runbook says so of all steps.
      ["runbook.md", 8, { payouts: ["--by", "--note"] }],
      ["runbook-calls.md", 5, { payouts: ["--by", "--note"], webhooks: ["--by"] }],
      ["on-call.md", 3, {}]
    ]
  live.each(pages)("the commands of %s exist, and have the flags that it uses", function* ([file, least, ofSteps]) {
    const flags = new Map<string, Set<string>>()
    const page = read(`docs/operations/${file}`).replaceAll(/\n\s+/g, " ")
    for (const line of quoted(page).filter((text) => text.startsWith("effect-pix "))) {
      const command = /^effect-pix((?: [a-z][a-z-]*)+)/.exec(line)?.[1]?.trim() ?? ""
      const [, group = ""] = /^(payouts|webhooks) (?!list|show|.*letter)/.exec(command) ?? []
      const given = Array.from(line.matchAll(/--[a-z-]+/g), ([flag]) => flag)
      flags.set(command, new Set([...(flags.get(command) ?? ofSteps[group] ?? []), ...given]))
    }
    assert.isAbove(flags.size, least)
    for (const [command, given] of flags) {
      const { code, stdout } = yield* run([...command.split(" "), "--help"])
      assert.strictEqual(code, 0, command)
      for (const words of [`effect-pix ${command} `, ...given]) assert.include(stdout, words, command)
    }
  })
})

describe("the monitors for Datadog of docs/operations", () => {
  const rows = Schema.decodeUnknownSync(Monitors)(Yaml.parse(read("docs/operations/datadog.yml"))).monitors

  it("there is one for each alert, of its severity, but for two about Prometheus's names and about changes of a gauge", () => {
    const without = new Set(["EffectPixNamesWrong", "ProcessesRestart"])
    assert.deepStrictEqual(
      rows.map(({ name, severity }) => [name, severity]),
      alerts.filter(({ alert }) => !without.has(alert)).map(({ alert, labels }) => [alert, labels.severity])
    )
  })

  it.each(rows)("the metrics and tags of $name are exported, and its threshold is that of the alert", (row) => {
    const thresholdOf = (text: string) => /\s> ([\d.]+)$/.exec(text.trim())?.[1]
    const expr = alerts.find(({ alert, labels }) => alert === row.name && labels.severity === row.severity)?.expr ?? ""
    for (const query of row.queries) {
      if (query.includes(" > ")) assert.strictEqual(thresholdOf(query), thresholdOf(expr))
      const used = Array.from(query.matchAll(/(?:count|max|min|p50|sum):([\w.]+)\{([^}]*)\} by \{([^}]*)\}/g))
      assert.isNotEmpty(used, query)
      for (const [, name = "", filter = "", by = ""] of used) {
        // The series of the alert are those of the same metrics.
        assert.include(expr, name.replaceAll(".", "_"))
        const filtered = Array.from(filter.matchAll(/([\w.]+)(?::| (?:NOT )?IN )/g), ([, tag = ""]) => tag)
        const { attributes = [] } = metrics.find((metric) => metric.name === name) ?? {}
        assert.includeMembers([...attributes, "service"], [...filtered, ...by.split(",")], name)
        assert.notMatch(filter.replaceAll(/AND|NOT|IN/g, ""), /[A-Z]/, "the values of tags are in lower case")
      }
    }
  })
})
