/**
 * Reads the tables of docs/observability.md and the exports of a run in one form: by name or line, with unit and
 * attributes.
 */
import { readFileSync } from "node:fs"
import type { Effect } from "effect"
import type { exportedBy } from "./exported.ts"

/** The texts in backquotes. */
export const quoted = (text = "") => Array.from(text.matchAll(/`([^`]+)`/g), ([, word = ""]) => word)

type Exported = Effect.Success<ReturnType<typeof exportedBy>>

/** The rows of the table under a heading: the texts in backquotes, by column. */
export const documented = (heading: "Spans" | "Metrics" | "Logs") => {
  const page = readFileSync(new URL("../../docs/observability.md", import.meta.url), "utf8")
  const section = page.split(`\n## ${heading}\n`)[1]?.split("\n## ")[0] ?? ""
  const [head = [], , ...rows] = section
    .split("\n")
    .filter((line) => line.startsWith("|"))
    .map((line) => line.split("|").map((cell) => cell.trim()))
  /** The names that stand for several attributes, from the list above the lines. */
  const sets = new Map(
    Array.from(section.matchAll(/^- \*\*(\w+)\*\*: ((?:.|\n {2})+)/gm), ([, name = "", cell]) => [name, quoted(cell)])
  )
  const attributesIn = (cell: string) => cell.split(", ").flatMap((entry) => sets.get(entry) ?? quoted(entry))
  return rows.map((row) => {
    const of = (name: string) => row[head.indexOf(name)] ?? ""
    return {
      part: of("of"),
      name: quoted(row[1])[0] ?? of("line"),
      /** A row may name several signals. */
      names: quoted(row[1]),
      line: quoted(of("line"))[0] ?? "",
      levels: of("level").split(", "),
      unit: quoted(of("unit"))[0] ?? "",
      says: of("what it says"),
      attributes: attributesIn(of("attributes")).toSorted()
    }
  })
}

/** Those that are about these parts of the library. */
const documentedOf = (heading: "Spans" | "Metrics" | "Logs", ...parts: ReadonlyArray<string>) =>
  documented(heading).filter(({ part }) => parts.includes(part))

type Attributed = { readonly attributes: Readonly<Record<string, unknown>> }

/** The names of all attributes of the signals. */
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

/** The log lines of one part of the library: the lines that no row names, and levels and attributes by row. */
export const compareLines = (lines: Exported["lines"], ...parts: ReadonlyArray<string>) => {
  const rows = documentedOf("Logs", ...parts)
  const rowOf = ({ level, message }: Exported["lines"][number]) =>
    rows.find((row) => row.line !== "" && row.levels.includes(level) && message.includes(row.line))
  return {
    unknown: [...new Set(lines.filter((line) => rowOf(line) === undefined).map(({ message }) => message))],
    exported: rows.map((row) => {
      const found = lines.filter((line) => rowOf(line) === row)
      return [row.line, [...new Set(found.map(({ level }) => level))].toSorted(), namesIn(found)] as const
    }),
    documented: rows.map(({ attributes, levels, line }) => [line, levels.toSorted(), attributes] as const)
  }
}
