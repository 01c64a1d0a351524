/**
 * Reads a bank's statement: a CSV of any delimiter, in UTF-8 or in the charset of Windows, with lines before its heading, and
 * with the numbers and dates of Brazil. No cell is shown, since it may name a person.
 */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Csv from "effect/encoding/Csv"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { readFileSync } from "node:fs"
import { withoutAccents } from "../../../internal/withoutAccents.ts"
import * as Money from "../../../pix/Money.ts"
import type { StatementLine } from "../../../transactions/Reconcile.ts"
import { codeOf } from "../errorCode.ts"
import { failed } from "../exit.ts"
import { dayInSaoPaulo } from "../../../internal/utc.ts"

/** The headings of the columns. */
export interface StatementColumns {
  /** What left has a minus, or a D. */
  readonly amount: string | undefined
  /** What left, without a sign, and what arrived. */
  readonly out: string | undefined
  readonly in: string | undefined
  /** Whether it left or arrived, in a word. */
  readonly kind: string | undefined
  readonly day: string | undefined
  readonly id: string | undefined
  readonly document: string | undefined
}

/** A line of a file. */
export interface FileLine extends StatementLine {
  /** Its number in the file, from 1. */
  readonly number: number
}

/** UTF-8, or else what Excel writes in Brazil. */
const textOf = (bytes: Uint8Array): string =>
  Result.getOrElse(
    Result.try(() => new TextDecoder("utf-8", { fatal: true }).decode(bytes)),
    () => new TextDecoder("windows-1252").decode(bytes)
  )

const recordsOf = (text: string, delimiter: string) =>
  Stream.runCollect(Stream.pipeThroughChannel(Stream.make(text), Csv.decodeString({ delimiter })))

const plainHeading = (heading: string): string => withoutAccents(heading).trim().toLowerCase()

/** Signs and letters of what left, and of what arrived. */
const signs: Readonly<Record<string, "in" | "out">> = { "-": "out", "(": "out", D: "out", "+": "in", C: "in" }

/** Reads R$ 1.234,56 with signs or a letter before or after it. */
const parseSigned = (cell: string) => {
  const text = cell
    .replaceAll(/\s/g, "")
    .replaceAll(/[\u2212\u2013]/g, "-")
    .toUpperCase()
  const [, before = "", middle = "", digits = "", after = ""] =
    /^([-+(]?)(?:R\$)?([-+]?)([\d.,]+)\)?([-+CD]?)$/.exec(text) ?? []
  const [sign, another] = new Set([before, middle, after].flatMap((one) => signs[one] ?? []))
  return another === undefined ? Option.map(Money.parseBRL(digits), (amount) => ({ amount, sign })) : Option.none()
}

const outWord = /(?:^|[^a-z])(?:d|deb\w*|said\w*|envi\w*|pag\w*|out)(?![a-z])/
const inWord = /(?:^|[^a-z])(?:c|cred\w*|entr\w*|rec\w*|dev\w*|est\w*|in)(?![a-z])/

/** What a word and a sign say together; `undefined` where the word says nothing, or they contradict each other. */
const directionOf = (kind: string, sign: "in" | "out" | undefined): "in" | "out" | undefined => {
  const word = withoutAccents(kind).toLowerCase()
  if (word.trim() === "") return sign ?? "in"
  const isOut = outWord.test(word)
  const said = isOut ? "out" : "in"
  return isOut === inWord.test(word) || (sign ?? said) !== said ? undefined : said
}

/** A day, as 21/11/2026 or 2026-11-21, with or without a time. One with an offset is the day in São Paulo. */
const parseDay = (cell: string): Option.Option<string> => {
  const text = cell.trim()
  if (/^\d{4}-\d\d-\d\dT[\d:.]{4,20}(?:Z|[+-]\d\d:?\d\d)$/.test(text)) {
    return Option.map(DateTime.make(text), dayInSaoPaulo)
  }
  const [, d = "", m = "", y = ""] = /^(\d{1,2})[/.-](\d{1,2})[/.-](\d{4}|\d{2})(?!\d)/.exec(text) ?? []
  const [iso = `${y.length === 2 ? `20${y}` : y}-${m.padStart(2, "0")}-${d.padStart(2, "0")}`] =
    /^\d{4}-\d\d-\d\d(?!\d)/.exec(text) ?? []
  // February has no 31st: then another day is read.
  return Option.filter(Option.map(DateTime.make(`${iso}T00:00:00Z`), DateTime.formatIsoDate), (day) => day === iso)
}

const idsIn = (text: string) => text.toUpperCase().match(/(?<!\d)[ED]\d{20}[A-Z\d]{11}(?![A-Z\d])/g) ?? []

/**
 * The end-to-end id in a cell, which may have other text or be in groups: that of a payment (`E`) before that of a return (`D`). None where
 * the cell has another kind of id, or several of one kind.
 */
const idIn = (cell: string): string => {
  const grouped = cell.replaceAll(/\s/g, "")
  const found = new Set([...idsIn(cell), ...(grouped.length === 32 ? idsIn(grouped) : [])])
  const [id = "", another] =
    ["E", "D"].map((kind) => [...found].filter((one) => one.startsWith(kind))).find(({ length }) => length > 0) ?? []
  return another === undefined ? id : ""
}

type Cells = Readonly<Record<keyof StatementColumns, string>>

/** A line, none where it has no amount, or what is wrong with it. */
const lineOf = (number: number, cells: Cells): Option.Option<Result.Result<FileLine, string>> => {
  const [text, word] =
    cells.amount.trim() !== ""
      ? [cells.amount, cells.kind]
      : cells.out.trim() !== ""
        ? [cells.out, "D"]
        : [cells.in, "C"]
  if (text.trim() === "") return Option.none()
  const wrong = (problem: string) => Option.some(Result.fail(`Line ${number}: ${problem}.`))
  const read = parseSigned(text)
  if (Option.isNone(read)) return wrong("its amount is none, as 1.234,56")
  const { amount, sign } = read.value
  // A column of what left may write it with a minus all the same.
  const direction = directionOf(word, cells.amount.trim() === "" ? undefined : sign)
  if (direction === undefined) return wrong("it does not say whether the money left or arrived")
  const day = parseDay(cells.day)
  if (cells.day.trim() !== "" && Option.isNone(day)) return wrong("its day is none, as 21/11/2026")
  const [endToEndId, document] = [idIn(cells.id), cells.document.trim()]
  return Option.some(
    Result.succeed({
      number,
      amount,
      direction,
      ...(Option.isSome(day) && { day: day.value }),
      ...(endToEndId !== "" && { endToEndId }),
      ...(document !== "" && { document })
    })
  )
}

/** The heading of the columns, and the lines after it. */
const findHeading = Effect.fnUntraced(function* (text: string, columns: StatementColumns) {
  const wanted = Object.values(columns).flatMap((column) => (column === undefined ? [] : [plainHeading(column)]))
  let error: Csv.CsvError | undefined
  for (const delimiter of [";", ",", "\t", "|"]) {
    const read = yield* Effect.result(recordsOf(text, delimiter))
    if (Result.isFailure(read)) {
      error ??= read.failure
      continue
    }
    const at = read.success.findIndex((cells) => {
      const headings = new Set(cells.map(plainHeading))
      return wanted.every((heading) => headings.has(heading))
    })
    if (at < 0) continue
    const headings = (read.success[at] ?? []).map(plainHeading)
    const twice = wanted.find((heading) => headings.indexOf(heading) !== headings.lastIndexOf(heading))
    if (twice === undefined) return { at, records: read.success, headings }
    return yield* failed(`The file has two columns ${twice}: give one of them another heading.`)
  }
  const because = error === undefined ? "" : ` Line ${error.line} is no CSV: ${error.message}.`
  return yield* failed(`No line of the file has all of these columns: ${wanted.join(", ")}.${because}`)
})

/** Reads the lines that have an amount. It fails with every wrong line by its number, or where the file cannot be read. */
export const readStatement = Effect.fnUntraced(function* (path: string, columns: StatementColumns) {
  const bytes = yield* Effect.try({
    try: () => readFileSync(path),
    catch: (error) => failed(`The file cannot be read (${codeOf(error) ?? "no code"}).`)
  })
  const { at, headings, records } = yield* findHeading(textOf(bytes), columns)
  const lines = records.slice(at + 1).flatMap((cells, index) => {
    const cellOf = (column: string | undefined) =>
      column === undefined ? "" : (cells[headings.indexOf(plainHeading(column))] ?? "")
    const { amount, day, document, id, in: arrived, kind, out } = columns
    const line = lineOf(at + index + 2, {
      amount: cellOf(amount),
      out: cellOf(out),
      in: cellOf(arrived),
      kind: cellOf(kind),
      day: cellOf(day),
      id: cellOf(id),
      document: cellOf(document)
    })
    return Option.toArray(line)
  })
  const wrong = lines.flatMap((line) => (Result.isFailure(line) ? [line.failure] : []))
  if (wrong.length > 0) return yield* failed(`${wrong.join("\n")}\nNothing was changed.`)
  const found = lines.flatMap((line) => (Result.isSuccess(line) ? [line.success] : []))
  if (found.some(({ direction }) => direction === "out")) return found
  return yield* failed(
    `None of the ${found.length} lines says that money left. If what left has no sign there, give --out in place of --amount, or --kind.`
  )
})
