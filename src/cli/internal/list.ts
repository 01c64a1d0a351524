/**
 * Prints rows by one table of columns: a list as a table, CSV, or lines of JSON, one page at a time; and one row in lines of names and
 * values.
 */
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import { saoPaulo } from "../../internal/utc.ts"
import * as Money from "../../pix/Money.ts"
import { decimal } from "./amount.ts"
import { type Failed, failed } from "./exit.ts"
import { ago, givenLang, type Label, type Lang, say, type Text } from "./lang.ts"
import { hasReader, note, write } from "./output.ts"
import { ageOf, csvRow, fieldLines, jsonLine, tableLine, time } from "./text.ts"

/** A cell by what it is: a text, a number, an amount in reais or a time. */
type Cell = Label | number | Money.Reais | DateTime.Utc | undefined

/**
 * A column. Its name is the label of the lines and, in lower case and without accents, the name in a CSV, which leaves out a column
 * without one. With a width it is in the table, under its name or another heading; a negative width aligns to the right.
 */
export type Column<A> = readonly [name: Label, cell: (row: A) => Cell, width?: number, heading?: Label]

/** How the rows of a list are printed. */
export interface Columns<A> {
  /** A row, in the plural. */
  readonly noun: Label
  readonly columns: ReadonlyArray<Column<A>>
  /** A row as an object of JSON. */
  readonly json: (row: A) => unknown
}

/** The flags of a list. */
export interface Format {
  readonly csv: boolean
  readonly json: boolean
  readonly limit: number | undefined
}

/** The language of the words, and the time from which ages are counted. */
export interface View {
  readonly lang: Lang
  readonly now: number
}

export const currentView = Effect.zipWith(givenLang, Clock.currentTimeMillis, (lang, now): View => ({ lang, now }))

const isLabel = (cell: Cell): cell is Text | string =>
  typeof cell === "string" || (Predicate.isObject(cell) && "en" in cell)

/** A cell for people: an amount as R$ 25,00, and a time as `ofTime` shows it. */
const shown =
  ({ lang }: View, ofTime: (at: DateTime.Utc) => string) =>
  (cell: Cell): string => {
    if (isLabel(cell)) return say(cell, lang)
    if (typeof cell === "number" || cell === undefined) return `${cell ?? ""}`
    return DateTime.isDateTime(cell) ? ofTime(cell) : Money.format(cell)
  }

/** A cell for a spreadsheet: an amount as 25.00, and a time in UTC, or in Portuguese as 2026-11-01 09:30:00 of São Paulo. */
const forSheet =
  ({ lang }: View) =>
  (cell: Cell): string | number => {
    if (isLabel(cell)) return say(cell, lang)
    if (typeof cell === "number" || cell === undefined) return cell ?? ""
    if (!DateTime.isDateTime(cell)) return decimal(cell)
    const local = () => DateTime.formatIsoOffset(DateTime.setZone(cell, saoPaulo())).slice(0, 19).replace("T", " ")
    return lang === "pt" ? local() : time(cell)
  }

/** The name of a column in a CSV. */
const nameOf = (name: string) => name.normalize("NFD").replaceAll(/\p{M}/gu, "").toLowerCase().replaceAll(" ", "_")

/** The heading of a list, and the line of a row. */
const linesOf = <A>({ columns, json }: Columns<A>, format: Format, view: View) => {
  if (format.json) return { head: "", lineOf: (row: A) => jsonLine(json(row)) }
  if (format.csv) {
    const named = columns.filter(([name]) => name !== "")
    const cellText = forSheet(view)
    return {
      head: `\uFEFF${csvRow(named.map(([name]) => nameOf(say(name, view.lang))))}`,
      lineOf: (row: A) => csvRow(named.map(([, cell]) => cellText(cell(row))))
    }
  }
  const inTable = columns.filter(([, , width]) => width !== undefined)
  const line = tableLine(inTable.map(([, , width = 0]) => width))
  const cellText = shown(view, (at) => ageOf(at, view.now))
  return {
    head: line(inTable.map(([name, , , heading = name]) => say(heading, view.lang).toUpperCase())),
    lineOf: (row: A) => line(inTable.map(([, cell]) => cellText(cell(row))))
  }
}

/** Lines of names and values, without those that have no value. */
export const linesOfFields = (fields: ReadonlyArray<readonly [name: Label, value: Cell]>, view: View): string => {
  const cellText = shown(view, (at) => `${time(at)} (${say(ago(ageOf(at, view.now)), view.lang)})`)
  return fieldLines(
    fields.flatMap(([name, value]) => (name === "" ? [] : [[say(name, view.lang), cellText(value)] as const]))
  )
}

/** Prints the rows, and returns their number. Nothing more is read once nobody reads stdout. */
export const printList = Effect.fnUntraced(function* <A, E, R>(
  rows: Stream.Stream<A, E, R>,
  columns: Columns<A>,
  format: Format
): Effect.fn.Return<number, E | Failed, R> {
  if (format.csv && format.json) return yield* failed("Choose one of --csv and --json.")
  const { head, lineOf } = linesOf(columns, format, yield* currentView)
  let count = 0
  yield* rows.pipe(
    format.limit === undefined ? (all) => all : Stream.take(format.limit),
    Stream.chunks,
    Stream.runForEachWhile(
      Effect.fnUntraced(function* (page) {
        const start = count === 0 ? head : ""
        count += page.length
        yield* write(start + page.map(lineOf).join(""))
        return hasReader()
      })
    )
  )
  if (count === 0) yield* write(head)
  return count
})

/** Prints the rows, and then their number on stderr. */
export const printCounted = <A, E, R>(rows: Stream.Stream<A, E, R>, columns: Columns<A>, format: Format) =>
  Effect.flatMap(printList(rows, columns, format), (count) =>
    hasReader() ? Effect.flatMap(givenLang, (lang) => note(`${count} ${say(columns.noun, lang)}`)) : Effect.void
  )
