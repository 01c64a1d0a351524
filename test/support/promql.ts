/**
 * The series that a program exports, by the names that Prometheus has of them, and what an expression reads of them. They are
 * read from docs/observability.md, which other tests compare with a run.
 */
import { documented } from "./documented.ts"

/** The metrics of the page. */
export const metrics = documented()

/** The series of a metric by their names, with their labels. */
export const series = new Map(
  metrics.flatMap(({ attributes, kind, name }) => {
    const base = name.replaceAll(".", "_")
    const labels = attributes.map((attribute) => attribute.replaceAll(".", "_"))
    const suffixes = kind === "Histogram" ? ["_bucket", "_count", "_sum"] : [""]
    return suffixes.map((suffix) => [base + suffix, suffix === "_bucket" ? [...labels, "le"] : labels] as const)
  })
)

/** The name of the convention has no unit, which OTLP appends and Effect's exporter does not. */
const bothNames = /\{__name__=~"(\w+)\(_seconds\)\?(\w+)"(?:, )?/g
/** Other selections by name are of what nobody should export. */
const byName = /\{__name__[^}]*\}/g

const words =
  /^(abs|absent|and|bool|by|changes|count|group_left|histogram_quantile|increase|last_over_time|max|max_over_time|min|offset|on|or|rate|sum|time|unless|vector)$/
const matchers = (inBraces = "") =>
  Array.from(inBraces.matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"/g), ([, label = ""]) => label)

/** The metrics of an expression with the labels that it selects, and the labels of its result. */
export const readExpression = (expression: string) => {
  const expr = expression.replaceAll(bothNames, "$1$2{").replaceAll(byName, " ")
  const grouped = Array.from(expr.matchAll(/\b(?:by|on)\s*\(([^)]*)\)/g), ([, labels = ""]) => labels.split(/\s*,\s*/))
  const rest = expr.replaceAll(/\b(?:by|on)\s*\([^)]*\)/g, " ").replaceAll(/\[[^\]]*\]/g, " ")
  const used = Array.from(rest.matchAll(/\b([a-z]\w*)\s*(?:\{([^}]*)\})?/gi), ([, name = "", inBraces]) => ({
    name,
    labels: matchers(inBraces)
  })).filter(({ name }) => !words.test(name))
  return { used, grouped }
}

/** Fails if an expression reads a metric or a label that no program exports; returns the labels that its result may have. */
export const requireExported = (expr: string): ReadonlySet<string> => {
  const { grouped, used } = readExpression(expr)
  const possible = new Set(["job", "__name__"])
  for (const { labels, name } of used) {
    const exported = series.get(name)
    if (exported === undefined) throw new Error(`${name} is no metric of the page`)
    for (const label of exported) possible.add(label)
    for (const label of labels) {
      if (label !== "job" && !exported.includes(label)) throw new Error(`${name} has no label ${label}`)
    }
  }
  for (const label of grouped.flat()) if (!possible.has(label)) throw new Error(`nothing has the label ${label}`)
  return new Set(grouped[0])
}
