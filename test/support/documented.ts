/**
 * Reads the metrics of docs/observability.md and those that a run exports in one form: by name, with unit and attributes.
 */
import { readFileSync } from "node:fs"
import type { Effect } from "effect"
import type { exportedBy } from "./exported.ts"

/** The texts in backquotes. */
export const quoted = (text = "") => Array.from(text.matchAll(/`([^`]+)`/g), ([, word = ""]) => word)

type Exported = Effect.Success<ReturnType<typeof exportedBy>>

/** The part of the library of a metric, by its name. */
const partOf = (name: string) => {
  const parts = { webhook: "webhook", payout: "payouts", database: "both", dead_letters: "letters" }
  return Object.entries(parts).find(([word]) => name.toLowerCase().includes(word))?.[1] ?? "client"
}

/** The metrics of the page, each as `- Kind `name`, `unit`: what it says (attributes)`. */
export const documented = () => {
  const page = readFileSync(new URL("../../docs/observability.md", import.meta.url), "utf8")
  const section = page.split("\n## Metrics\n")[1]?.split("\n## ")[0] ?? ""
  const item = /^- ([A-Z]\w*) `([^`]+)`, `([^`]+)`(?::.*?)?(?: \(([^()]*)\))?$/gm
  return Array.from(section.replaceAll(/\n {2}/g, " ").matchAll(item), ([, kind = "", name = "", unit = "", cell]) => ({
    part: partOf(name),
    name,
    unit,
    kind,
    attributes: quoted(cell).toSorted()
  }))
}

type Attributed = { readonly attributes: Readonly<Record<string, unknown>> }

/** The names of all attributes of these. */
const namesIn = (found: ReadonlyArray<Attributed>) =>
  [...new Set(found.flatMap(({ attributes }) => Object.keys(attributes)))].toSorted()

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
  documented()
    .filter(({ part }) => parts.includes(part))
    .map(({ attributes, name, unit }) => ({ name, unit, attributes }))
    .toSorted(byName)
