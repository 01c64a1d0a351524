/**
 * Reads the lists of docs/observability.md and the exports of a run in one form: by name, with unit and attributes.
 */
import { readFileSync } from "node:fs"
import type { Effect } from "effect"
import type { exportedBy } from "./exported.ts"

/** The texts in backquotes. */
export const quoted = (text = "") => Array.from(text.matchAll(/`([^`]+)`/g), ([, word = ""]) => word)

type Exported = Effect.Success<ReturnType<typeof exportedBy>>

/** The part of the library of a span or a metric, by its name. */
const partOf = (name: string) => {
  const parts = { webhook: "webhook", payout: "payouts", database: "both", dead_letters: "letters" }
  return Object.entries(parts).find(([word]) => name.toLowerCase().includes(word))?.[1] ?? "client"
}

/**
 * The items of a section, each as `- Kind `name`, `name`: what it says (attributes)`. Only a metric has a kind, and its second name is
 * its unit.
 */
export const documented = (heading: "Spans" | "Metrics") => {
  const page = readFileSync(new URL("../../docs/observability.md", import.meta.url), "utf8")
  const section = page.split(`\n## ${heading}\n`)[1]?.split("\n## ")[0] ?? ""
  /** The names that stand for several attributes, from the list at the head of the page. */
  const sets = new Map(
    Array.from(page.matchAll(/^- \*\*(\w+)\*\*: ((?:.|\n {2})+)/gm), ([, name = "", cell]) => [name, quoted(cell)])
  )
  const item = /^- (?:([A-Z]\w*) )?(`[^`]+`(?:, `[^`]+`)*)(?::.*?)?(?: \(([^()]*)\))?$/gm
  return Array.from(section.replaceAll(/\n {2}/g, " ").matchAll(item), ([, kind = "", quotes, attributes = ""]) => {
    const names = quoted(quotes)
    const [name = "", unit = ""] = names
    return {
      part: partOf(name),
      /** An item may name several spans. */
      names,
      name,
      unit,
      kind,
      attributes: attributes
        .split(", ")
        .flatMap((entry) => sets.get(entry) ?? quoted(entry))
        .toSorted()
    }
  })
}

/** Those that are about these parts of the library. */
const documentedOf = (heading: "Spans" | "Metrics", ...parts: ReadonlyArray<string>) =>
  documented(heading).filter(({ part }) => parts.includes(part))

type Attributed = { readonly attributes: Readonly<Record<string, unknown>> }

/** The names of all attributes of the signals, but for the merchant, which the page names once for all of a client. */
const namesIn = (found: ReadonlyArray<Attributed>) =>
  [...new Set(found.flatMap(({ attributes }) => Object.keys(attributes)))]
    .filter((name) => name !== "payments.merchant")
    .toSorted()

const byName = (one: { readonly name: string }, other: { readonly name: string }) => one.name.localeCompare(other.name)

/** The exported metrics that these rows may name, in the form of `documentedMetrics`. */
export const exportedMetrics = (metrics: Exported["metrics"], partNames: RegExp) =>
  [...new Set(metrics.filter(({ name }) => partNames.test(name)).map(({ name }) => name))]
    .map((name) => {
      const found = metrics.filter((metric) => metric.name === name)
      return { name, unit: found[0]?.unit, attributes: namesIn(found).filter((one) => one !== "unit") }
    })
    .toSorted(byName)

/** The rows of the metrics of these parts of the library. */
export const documentedMetrics = (...parts: ReadonlyArray<string>) =>
  documentedOf("Metrics", ...parts)
    .map(({ attributes, name, unit }) => ({ name, unit, attributes }))
    .toSorted(byName)

/** The spans of one part of the library: the spans that no row names, and the attributes by row. */
export const compareSpans = (spans: Exported["spans"], part: string) => {
  const rows = documentedOf("Spans", part)
  const rowOf = (span: Exported["spans"][number]) =>
    rows.find(({ names }) =>
      names.some(
        (name) =>
          name.replaceAll(/\{([\w.]+)\}/g, (_, attribute: string) => String(span.attributes[attribute])) === span.name
      )
    )
  return {
    unknown: [...new Set(spans.filter((span) => rowOf(span) === undefined).map(({ name }) => name))],
    exported: rows.map((row) => [row.name, namesIn(spans.filter((span) => rowOf(span) === row))]),
    documented: rows.map(({ attributes, name }) => [name, attributes])
  }
}
