/** Prints a list in one of three formats: a table, CSV, or lines of JSON. It holds one page at a time, however long the list is. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { type Failed, failed } from "./exit.ts"
import { givenLang, type Label, type Lang, say } from "./lang.ts"
import { hasReader, note, progress, write } from "./output.ts"
import { type Cell, csvMark, csvRow, inSaoPaulo, jsonLine, tableLine } from "./text.ts"

/** A column: of a CSV, where it has a name there; of the table, where it has a heading. A negative width aligns to the right. */
type Column<A> = readonly [cell: (row: A) => Cell, name: Label | undefined, heading?: Label, width?: number]

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
  readonly limit: Option.Option<number>
}

interface Lines<A> {
  readonly head: string
  readonly lineOf: (row: A) => string
}

/** The lines of a table. */
export const tableOf = <A>({ columns }: Pick<Columns<A>, "columns">, lang: Lang): Lines<A> => {
  const shown = columns.flatMap(([cell, , heading, width = 0]) =>
    heading === undefined ? [] : [{ cell, width, heading: say(heading, lang) }]
  )
  const line = tableLine(shown.map(({ width }) => width))
  return { head: line(shown.map(({ heading }) => heading)), lineOf: (row) => line(shown.map(({ cell }) => cell(row))) }
}

const linesOf = <A>(columns: Columns<A>, { csv, json }: Format, lang: Lang): Lines<A> => {
  if (json) return { head: "", lineOf: (row) => jsonLine(columns.json(row)) }
  if (!csv) return tableOf(columns, lang)
  const named = columns.columns.flatMap(([cell, name]) => (name === undefined ? [] : [{ cell, name: say(name, lang) }]))
  const shown = (cell: Cell) => (lang === "pt" ? inSaoPaulo(cell) : cell)
  return {
    head: csvMark + csvRow(named.map(({ name }) => name)),
    lineOf: (row) => csvRow(named.map(({ cell }) => shown(cell(row))))
  }
}

/** Prints the rows, and returns their number. Nothing more is read once nobody reads stdout. */
export const printList = Effect.fnUntraced(function* <A, E, R>(
  rows: Stream.Stream<A, E, R>,
  columns: Columns<A>,
  format: Format
): Effect.fn.Return<number, E | Failed, R> {
  if (format.csv && format.json) return yield* failed("Choose one of --csv and --json.")
  const lang = yield* givenLang
  const { head, lineOf } = linesOf(columns, format, lang)
  let count = 0
  yield* rows.pipe(
    Option.isSome(format.limit) ? Stream.take(format.limit.value) : (all) => all,
    Stream.chunks,
    Stream.runForEachWhile(
      Effect.fnUntraced(function* (page) {
        const start = count === 0 ? head : ""
        count += page.length
        yield* write(start + page.map(lineOf).join(""))
        yield* progress(`${count} ${say(columns.noun, lang)}...`)
        return hasReader()
      })
    ),
    Effect.ensuring(progress(""))
  )
  if (count === 0) yield* write(head)
  return count
})

/** Prints the rows, and then their number on stderr. */
export const printCounted = <A, E, R>(rows: Stream.Stream<A, E, R>, columns: Columns<A>, format: Format) =>
  Effect.flatMap(printList(rows, columns, format), (count) =>
    hasReader() ? Effect.flatMap(givenLang, (lang) => note(`${count} ${say(columns.noun, lang)}`)) : Effect.void
  )
