/** The references of a sheet: a file of comma-separated values, as a program writes it, a spreadsheet, or `payouts list` itself. */
import * as Option from "effect/Option"
import { excelMark } from "../text.ts"

const names = new Set(["reference", "referencia", "referência"])

/** The cells of each line. A line break may be in a quoted cell. */
const linesOf = (text: string): ReadonlyArray<ReadonlyArray<string>> => {
  const [first = ""] = text.split(/\r?\n/, 1)
  const separator = [";", "\t"].find((one) => first.includes(one)) ?? ","
  const cell = new RegExp(String.raw`("(?:[^"]|"")*"|[^${separator}\r\n]*)(${separator}|\r?\n|$)`, "gy")
  const lines: Array<Array<string>> = [[]]
  for (const [all, raw = "", end] of text.matchAll(cell)) {
    if (all === "") break
    lines.at(-1)?.push(raw.startsWith('"') ? raw.slice(1, -1).replaceAll('""', '"') : raw)
    if (end !== separator && end !== "") lines.push([])
  }
  return lines
}

/** The text of a cell without what was added so that a spreadsheet does not change or run it. */
const textOf = (cell: string): string => {
  const [, literal] = /^="((?:[^"]|"")*)"$/.exec(cell.trim()) ?? []
  return literal === undefined ? cell.trim().replace(/^'(?=[\s\p{Cf}]*[=+\-@])/u, "") : literal.replaceAll('""', '"')
}

/** The references in the column `reference`, or in the only one; none where there is no such column, or no reference. */
export const referencesOf = (file: string): Option.Option<ReadonlyArray<string>> => {
  const lines = linesOf(file.replace(new RegExp(`^${excelMark}`), ""))
    .map((line) => line.map(textOf))
    .filter((line) => line.some((cell) => cell !== ""))
  const [head = []] = lines
  const named = head.findIndex((name) => names.has(name.toLowerCase()))
  const isList = named === -1 && lines.every(({ length }) => length === 1)
  if (named === -1 && !isList) return Option.none()
  const references = lines.slice(isList ? 0 : 1).flatMap((line) => line[Math.max(named, 0)] || [])
  return references.length === 0 ? Option.none() : Option.some(references)
}
