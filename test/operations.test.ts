/**
 * Compares the alert rules, the runbook, the page for on-call and the monitors of docs/operations with the exported signals, with
 * the log lines in the code and with the command. The signals are read from the tables of docs/observability.md, which other tests compare with a
 * run.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import * as Yaml from "effect/encoding/Yaml"
import { existsSync, globSync, readFileSync } from "node:fs"
import { resolve } from "node:path"
import { WaitsFor } from "../src/payouts/PayoutStatus.ts"
import { run } from "./support/command.ts"
import { panels } from "./support/dashboard.ts"
import { metrics, quoted, readExpression, requireExported, series } from "./support/promql.ts"

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
const Monitors = Schema.Struct({
  monitors: Schema.Array(
    Schema.Struct({
      name: Schema.String,
      severity: Schema.Literals(["page", "ticket"]),
      queries: Schema.Array(Schema.String)
    })
  )
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
    const labels = requireExported(expr)
    for (const [, label = ""] of annotations.summary.matchAll(/\$labels\.(\w+)/g)) {
      assert.isTrue(labels.has(label), `the summary names ${label}, which the expression leaves out`)
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

/** The commands that a page names, with the flags that it uses of each. */
const commandsOf = (page: string, flagsOfSteps: Readonly<Record<string, ReadonlyArray<string>>> = {}) => {
  const flags = new Map<string, Set<string>>()
  for (const line of quoted(page.replaceAll(/\n\s+/g, " ")).filter((text) => text.startsWith("effect-pix "))) {
    const command = /^effect-pix((?: [a-z][a-z-]*)+)/.exec(line)?.[1]?.trim() ?? ""
    const [, room = ""] = /^(payouts|webhooks) (?!list|show|dead|export)/.exec(command) ?? []
    const given = flags.get(command) ?? new Set(flagsOfSteps[room])
    for (const [flag] of line.matchAll(/--[a-z-]+/g)) given.add(flag)
    flags.set(command, given)
  }
  return flags
}

/** Fails where there is no such command, or where it has no such flag. */
const requireCommands = Effect.fnUntraced(function* (commands: ReturnType<typeof commandsOf>) {
  for (const [command, given] of commands) {
    const { code, stdout } = yield* run([...command.split(" "), "--help"])
    assert.strictEqual(code, 0, command)
    assert.include(stdout, `effect-pix ${command} `, "it is another command's help")
    for (const flag of given) assert.include(stdout, flag, command)
  }
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

  it.live("the commands that it names exist, and have the flags that it uses", () => {
    // The runbook says so of all steps.
    const commands = commandsOf(runbook, { payouts: ["--by", "--note"], webhooks: ["--by"] })
    assert.isAbove(commands.size, 8)
    return requireCommands(commands)
  })
})

describe("the page for on-call of docs/operations", () => {
  const page = read("docs/operations/on-call.md")
  const questions = page.split(/^## /m).slice(1)

  it("each of its three questions has one panel of the dashboard and one command", () => {
    const titles = panels.map(({ title }) => title)
    const lines = questions.map((text) => [
      text.split("\n")[0],
      ...Array.from(text.matchAll(/^- \*\*(?:Panel|Command):\*\* .*$/gm), ([line]) => line)
    ])
    assert.deepStrictEqual(
      lines.map(([question]) => question),
      ["Is money at risk?", "How much?", "What next?"]
    )
    for (const [question, panel = "", command = "", ...others] of lines) {
      assert.isEmpty(others, question)
      assert.include(titles, /^- \*\*Panel:\*\* "(.+)"$/.exec(panel)?.[1], question)
      assert.match(command, /^- \*\*Command:\*\* `effect-pix [^`]+`$/, question)
    }
    for (const [, title] of page.matchAll(/"([A-Z][^"]+)"/g)) assert.include(titles, title)
  })

  it.live("the commands that it names exist, and have the flags that it uses", () => {
    const commands = commandsOf(page)
    assert.isAbove(commands.size, 3)
    return requireCommands(commands)
  })

  it("its table names each cause of the payouts that its panel shows", () => {
    // A paused account, a run that is over and a missing approval are no cause of a wait.
    for (const cause of [...WaitsFor.literals, "Paused", "RunEnded", "NeedsApproval"])
      assert.include(questions[2], `\`${cause}\``)
  })
})

describe("the monitors for Datadog of docs/operations", () => {
  const rows = Schema.decodeUnknownSync(Monitors)(Yaml.parse(read("docs/operations/datadog.yml"))).monitors

  it("there is one for each alert, of its severity", () => {
    assert.deepStrictEqual(
      rows.map(({ name, severity }) => [name, severity]),
      alerts.map(({ alert, labels }) => [alert, labels.severity])
    )
  })

  it.each(rows)("the metrics and tags of $name are exported, and its threshold is that of the alert", (row) => {
    const thresholdOf = (text: string) => Number(/\s> ([\d.]+)$/.exec(text.trim())?.[1])
    const expr = alerts.find(({ alert }) => alert === row.name)?.expr ?? ""
    for (const query of row.queries) {
      if (query.includes(" > ")) assert.strictEqual(thresholdOf(query), thresholdOf(expr))
      const used = Array.from(query.matchAll(/(?:count|max|sum):([\w.]+)\{([^}]*)\} by \{([^}]*)\}/g))
      assert.isNotEmpty(used, query)
      for (const [, name = "", filter = "", by = ""] of used) {
        const exported = metrics.find((metric) => metric.name === name)
        assert.isDefined(exported, `${name} is no metric of the page`)
        // The series of the alert are those of the same metrics.
        assert.include(expr, name.replaceAll(".", "_"))
        const filtered = Array.from(filter.matchAll(/([\w.]+)(?::| (?:NOT )?IN )/g), ([, tag = ""]) => tag)
        for (const tag of [...filtered, ...by.split(",")]) {
          if (tag !== "service") assert.include(exported.attributes, tag, name)
        }
        const values = filter.replaceAll(/AND|NOT|IN/g, "")
        assert.strictEqual(values, values.toLowerCase(), "the values of tags are in lower case")
      }
    }
  })
})
