/**
 * Compares the alert rules and the runbook of docs/operations with the exported signals, with the log lines in the code and with
 * the command. The signals are read from docs/observability.md, which other tests compare with a run.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import * as Yaml from "effect/encoding/Yaml"
import { PayoutQueue } from "effect-pix/payouts"
import { Sandbox } from "effect-pix/sandbox"
import { Webhook } from "effect-pix/webhook"
import { globSync, readFileSync } from "node:fs"
import { resolve } from "node:path"
import { becauseOf, becauses } from "../src/payouts/PayoutBecause.ts"
import { run } from "./support/command.ts"
import { panels } from "./support/dashboard.ts"
import { live } from "./support/effect.ts"
import { quoted } from "./support/documented.ts"
import { sqlite } from "./support/operated.ts"
import { served, settings } from "./support/operator.ts"
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
const alerts = Schema.decodeUnknownSync(Rules)(Yaml.parse(read("docs/operations/alerts.yml"))).groups.flatMap(
  ({ rules }) => rules
)
const runbook = read("docs/operations/runbook.md")
const onCall = read("docs/on-call.md")
/** The runbook with each paragraph on one line. */
const unwrapped = runbook.replaceAll(/\n\s+/g, " ")
const sections = runbook
  .split(/^#+ /m)
  .map((text) => ({ title: text.split("\n")[0] ?? "", text }))
  .filter(({ text, title }) => text !== "" && title !== "Runbook")

const titles = panels.map(({ title }) => title)

/** The two other headings without an alert. */
const restored = "A restored backup, or a failover to a lagging replica"
const unopened = "A stored request cannot be opened"
const wentBack = "The balance fell and no payout explains it"

describe("the alert rules of docs/operations", () => {
  it("the list of metrics is read, and every alert has an expression on it", () => {
    assert.isAbove(series.size, 12)
    for (const { kind, name } of metrics) assert.match(kind, /^(?:Counter|Gauge|Histogram)$/, name)
    assert.isAbove(alerts.length, 10)
    for (const { alert, expr } of alerts) assert.isNotEmpty(readExpression(expr).used, alert)
  })

  it.each(alerts)("the metrics and labels of $alert are exported", ({ annotations, expr }) => {
    const labels = requireExported(expr)
    for (const [, label = ""] of annotations.summary.matchAll(/\$labels\.(\w+)/g)) {
      assert.isTrue(labels.has(label), `the summary names ${label}, which the expression leaves out`)
    }
  })

  it("a cause pages by the alert that its table names, and what is meant pages nobody", () => {
    const pages = alerts.filter(({ labels }) => labels.severity === "page").map(({ alert }) => alert)
    for (const { alert } of Object.values(becauses).flatMap((words) => Object.values(words)))
      if (alert !== undefined) assert.include(pages, alert)
    const delayed = alerts.find(({ alert }) => alert === "PayoutsDelayed")?.expr ?? ""
    const meant = becauseOf.accepted.literals.filter((because) => becauses.accepted[because].alert === undefined)
    assert.sameMembers(/cause!~"([^"]+)"/.exec(delayed)?.[1]?.split("|") ?? [], meant)
  })

  it("the rule about wrong names knows the exported ones, in the order of the page", () => {
    const names = metrics.flatMap(({ kind, name }) => {
      const end = /^effect_pix_(.*)$/.exec(name)?.[1]
      return end === undefined ? [] : [kind === "Histogram" ? `${end}_(bucket|count|sum)` : end]
    })
    const rule = alerts.find(({ alert }) => alert === "EffectPixNamesWrong")
    assert.include(rule?.expr, `__name__!~"effect_pix_(${names.join("|")})"`)
  })

  it("every alert has a heading of the runbook to which it links, and every heading but three has an alert", () => {
    const headings = sections.flatMap(({ title }) => (/^(?:\w+, )+\w+$/.test(title) ? title.split(", ") : [title]))
    // An alert may page for one cause, and be a ticket for others.
    assert.sameMembers(headings, [...new Set(alerts.map(({ alert }) => alert)), wentBack, restored, unopened])
    for (const { alert, annotations } of alerts) {
      const [file = "", anchor] = annotations.runbook_url.split("#")
      assert.match(read(file), new RegExp(`^## ${alert}$|<a id="${alert.toLowerCase()}">`, "m"))
      assert.strictEqual(anchor, alert.toLowerCase())
    }
  })
})

describe("the runbook of docs/operations", () => {
  it.each(sections)(
    "$title says in one order what it means, what shows its money and what to do, then perhaps whom to wake and what never to do",
    ({ text }) => {
      const parts = Array.from(text.matchAll(/^- \*\*(.+?):\*\* ?\S*/gm), ([, part]) => part)
      assert.deepStrictEqual(parts.slice(0, 3), ["Means", "First", "Do"])
      assert.include([["Wake", "Never"], ["Wake"], ["Never"], []].map(String), String(parts.slice(3)))
    }
  )

  it.each(sections)("$title begins with a command that changes nothing", ({ text }) => {
    const readers = "payouts list|payouts dead-letters|webhooks dead-letters|transactions|balance"
    assert.match(text, new RegExp(`^- \\*\\*First:\\*\\* \`effect-pix (${readers})[ \`]`, "m"))
  })

  it("the metrics that it names are exported", () => {
    const named = quoted(unwrapped).filter((text) => /^(effect_pix_(?!(webhooks|queue)$)|http\.)/.test(text))
    assert.isNotEmpty(named)
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

describe("the page of who is on call", () => {
  it("each of its three questions has a panel of the dashboard and a command", () => {
    const [, ...questions] = onCall.split(/^## \d\. .+\?$/m)
    assert.lengthOf(questions, 3)
    for (const text of questions) {
      assert.match(text, /"[A-Z][^"]+"/)
      assert.match(text, /`effect-pix /)
    }
  })

  it("the panels that it names are on the dashboard", () => {
    for (const [, title] of onCall.matchAll(/"([A-Z][^"]+)"/g)) assert.include(titles, title)
  })

  it("its table names each cause of the payouts that its panel shows", () => {
    for (const cause of becauseOf.accepted.literals) assert.include(onCall, `\`${cause}\``)
  })

  it("the runbook's table of parked payouts names each reason", () => {
    const { text = "" } = sections.find(({ title }) => title === "PayoutsParked") ?? {}
    for (const cause of becauseOf.parked.literals) assert.match(text, new RegExp(`^\\| .*\`${cause}\``, "m"))
  })
})

describe("the commands that docs/operations names", () => {
  /** The flags that the runbook says of all steps. */
  const ofSteps: Readonly<Record<string, ReadonlyArray<string>>> = { payouts: ["--by", "--note"], webhooks: ["--by"] }

  live(
    "the commands of the runbook and of the page of who is on call exist, and have the flags that it uses",
    function* () {
      const flags = new Map<string, Set<string>>()
      for (const line of quoted(unwrapped + onCall).filter((text) => text.startsWith("effect-pix "))) {
        const command = /^effect-pix((?: [a-z][a-z-]*)+)/.exec(line)?.[1]?.trim() ?? ""
        const [, group = ""] = /^(payouts|webhooks) (?!list|show|sentences|.*letter)/.exec(command) ?? []
        const given = Array.from(line.matchAll(/--[a-z-]+/g), ([flag]) => flag)
        flags.set(command, new Set([...(flags.get(command) ?? ofSteps[group] ?? []), ...given]))
      }
      assert.isAbove(flags.size, 13)
      for (const [command, given] of flags) {
        const { code, stdout } = yield* run([...command.split(" "), "--help"])
        assert.strictEqual(code, 0, command)
        for (const words of [`effect-pix ${command} `, ...given]) assert.include(stdout, words, command)
      }
    }
  )

  live("the first command of each heading runs as it is written, on a database and a gateway", served, function* () {
    const tables = Layer.merge(Webhook.layerSql({}), PayoutQueue.layerClient())
    const { client, env: ofDatabase } = yield* sqlite
    yield* Effect.provide(Effect.void, Layer.provide(tables, [client, Sandbox.layerPayments]))
    const env = { ...ofDatabase, ...(yield* settings), PAYMENTS_COMPANY_ID: "1" }
    const found = sections.flatMap(({ text }) => quoted(/\*\*First:\*\*(.*(?:\n {2}.*)*)/.exec(text)?.[1]))
    const commands = new Set(found.filter((line) => line.startsWith("effect-pix ")))
    assert.isAbove(commands.size, 12)
    for (const line of commands) {
      const words = line.replace("DAY", "2026-11-29").replace("CAUSE", "Balance").split(" ").slice(1)
      assert.deepInclude(yield* run(words, env), { code: 0 }, line)
    }
  })
})
