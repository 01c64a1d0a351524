/** Prints a list in one of three formats: a table, CSV, or lines of JSON. It holds one page at a time, however long the list is. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { type Failed, failed } from "./exit.ts"
import { hasReader, progress, write } from "./output.ts"
import { type Cell, csvMark, csvRow, jsonLine, tableRow } from "./text.ts"

/** How the rows of a list are printed. */
export interface Columns<A> {
  /** The plural of a row. */
  readonly noun: string
  /** The columns of the table: their widths, negative for those that align to the right, and their cells. */
  readonly table: Readonly<Record<string, readonly [width: number, cell: (row: A) => string]>>
  readonly csv: Readonly<Record<string, (row: A) => Cell>>
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
export const tableOf = <A>({ table }: Pick<Columns<A>, "table">): Lines<A> => {
  const columns = Object.values(table)
  const line = tableRow(...columns.map(([width]) => width))
  return { head: line(...Object.keys(table)), lineOf: (row) => line(...columns.map(([, cell]) => cell(row))) }
}

const linesOf = <A>(columns: Columns<A>, { csv, json }: Format): Lines<A> => {
  if (json) return { head: "", lineOf: (row) => jsonLine(columns.json(row)) }
  if (!csv) return tableOf(columns)
  const [names, cells] = [Object.keys(columns.csv), Object.values(columns.csv)]
  return { head: csvMark + csvRow(names), lineOf: (row) => csvRow(cells.map((cell) => cell(row))) }
}

/** Prints the rows, and returns their number. Nothing more is read once nobody reads stdout. */
export const printList = Effect.fnUntraced(function* <A, E, R>(
  rows: Stream.Stream<A, E, R>,
  columns: Columns<A>,
  format: Format
): Effect.fn.Return<number, E | Failed, R> {
  if (format.csv && format.json) return yield* failed("Choose one of --csv and --json.")
  const { head, lineOf } = linesOf(columns, format)
  let count = 0
  yield* rows.pipe(
    Option.isSome(format.limit) ? Stream.take(format.limit.value) : (all) => all,
    Stream.chunks,
    Stream.runForEachWhile(
      Effect.fnUntraced(function* (page) {
        const start = count === 0 ? head : ""
        count += page.length
        yield* write(start + page.map(lineOf).join(""))
        yield* progress(`${count} ${columns.noun}...`)
        return hasReader()
      })
    ),
    Effect.ensuring(progress(""))
  )
  if (count === 0) yield* write(head)
  return count
})
