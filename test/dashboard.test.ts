/**
 * Compares the dashboard of docs/operations with the exported signals and the runbook. The signals are read from docs/observability.md, which other tests compare with a run.
 */
import { assert, describe, it } from "@effect/vitest"
import { globSync, readFileSync } from "node:fs"
import { resolve } from "node:path"
import { written } from "../.ci/dashboard.ts"
import { dashboard, panels, sentQueries } from "./support/dashboard.ts"
import { readExpression, requireExported, series } from "./support/promql.ts"

const root = resolve(import.meta.dirname, "..")
const code = globSync("src/**/*.ts", { cwd: root })
  .map((file) => readFileSync(resolve(root, file), "utf8"))
  .join("\n")
const namesOf = (expr: string) => readExpression(expr).used.map(({ name }) => name)

describe("the dashboard of docs/operations", () => {
  it("every metric that is exported is on a panel", () => {
    const shown = new Set(sentQueries.flatMap(({ expr }) => namesOf(expr)))
    const bases = new Set([...series.keys()].map((name) => name.replace(/_(bucket|count|sum)$/, "")))
    for (const base of bases) {
      assert.isTrue(
        [...shown].some((name) => name.startsWith(base)),
        base
      )
    }
  })

  it.each(panels)("the metrics and labels of $title are exported, and its legend has labels of its query", (panel) => {
    for (const { expr, legendFormat } of panel.targets) {
      const labels = requireExported(expr)
      for (const [, label = ""] of legendFormat.matchAll(/\{\{(\w+)\}\}/g)) assert.isTrue(labels.has(label), label)
    }
  })

  it("the values of labels that its queries select are in the code", () => {
    const values = sentQueries.flatMap(({ expr }) =>
      Array.from(expr.matchAll(/(\w+)(?:=~|!~|!=|=)"([^"]+)"/g)).flatMap(([, label = "", value = ""]) =>
        label === "__name__" || value === ".*" || value === "4.."
          ? []
          : value.split("|").map((one) => ({ label, value: one }))
      )
    )
    assert.isAbove(values.length, 5)
    for (const { label, value } of values) assert.include(code, `"${value}"`, label)
  })

  it("Grafana can import it: it has its own variables, and ids and titles that differ", () => {
    const used = Array.from(dashboard.text.matchAll(/\$\{?([a-z]\w*)/g), ([, name = ""]) => name)
    assert.deepStrictEqual(new Set(used), new Set(dashboard.templating.list.map(({ name }) => name)))
    for (const field of ["id", "title"] as const)
      assert.lengthOf(new Set(dashboard.panels.map((panel) => panel[field])), dashboard.panels.length)
  })

  it("its variables are filled from metrics that are exported", () => {
    for (const { query } of dashboard.templating.list) {
      if (typeof query === "string") continue
      const [, selector = "", label = ""] = /^label_values\((.+), (\w+)\)$/.exec(query.query) ?? []
      const [, start = "", ends = ""] = /^\{__name__=~"(.*)\((.*)\)"\}$/.exec(selector) ?? []
      const names = ends === "" ? [selector] : ends.split("|").map((end) => start + end)
      requireExported(`max by (${label}) (${names.join(" or ")})`)
    }
  })

  it("every panel has a link to a heading of the runbook", () => {
    for (const panel of dashboard.panels) {
      if (panel.type === "row") continue
      const [, page = "", anchor = ""] = /^\$\{runbook:raw\}([\w-]+\.md)#?(.*)$/.exec(panel.links[0].url) ?? []
      const anchors = Array.from(
        readFileSync(resolve(root, "docs/operations", page), "utf8").matchAll(/^#+ (.+)$|<a id="(.+?)">/gm),
        ([, heading = "", id = heading]) => id.toLowerCase().replaceAll(" ", "-").replaceAll("?", "")
      )
      if (anchor !== "") assert.include(anchors, anchor, panel.title)
    }
  })

  it("the file is made of the current table and runbook (npm run fix writes it)", () => {
    assert.strictEqual(dashboard.text, written())
  })
})
