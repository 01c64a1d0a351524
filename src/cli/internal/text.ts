/**
 * Makes text safe for a terminal, a spreadsheet and a shell: text of a gateway may hold escape codes, formulas and personal
 * data.
 */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import { saoPaulo } from "../../internal/utc.ts"
import type * as Money from "../../pix/Money.ts"
import { decimal } from "./amount.ts"

/** Replaces controls, format characters and line separators, which could redraw a terminal or reorder its text. */
export const plain = (text: string): string => text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, "?")

/** The first letter of each part of a name. */
export const maskName = (name: string): string =>
  name
    .split(/\s+/)
    .filter((part) => part !== "")
    .map((part) => `${Array.from(part)[0]}***`)
    .join(" ")

/** The first character of the name and of the domain. */
export const maskEmail = (email: string): string =>
  email
    .split("@")
    .map((part) => `${Array.from(part)[0] ?? ""}***`)
    .join("@")

/** Masks a number. It shows at most the last two characters, which are enough to distinguish two values. */
export const maskNumber = (number: string): string => `***${number.length > 6 ? number.slice(-2) : ""}`

/** The printed fields of a person. */
export interface Person {
  readonly name?: string | undefined
  readonly email?: string | undefined
  readonly phone?: string | undefined
  readonly document?: string | undefined
}

/** A person with all fields masked. */
export const maskPerson = ({ document, email, name, phone }: Person): Person => ({
  name: name && maskName(name),
  email: email && maskEmail(email),
  phone: phone && maskNumber(phone),
  document: document && maskNumber(document)
})

/** A time in UTC, in whole seconds. */
export const time = (at: DateTime.DateTime | undefined): string =>
  at === undefined ? "" : DateTime.formatIso(at).replace(/\.\d+Z$/, "Z")

/** Names and values. */
export type Fields = Readonly<Record<string, string | number | undefined>>

/** Lines of names and values. A field without a value has no line. */
export const fieldLines = (fields: Fields): string => {
  const width = Math.max(...Object.keys(fields).map((name) => name.length)) + 1
  return Object.entries(fields)
    .flatMap(([name, value = ""]) => (value === "" ? [] : [`${name.padEnd(width)} ${plain(`${value}`)}`]))
    .join("\n")
}

/** How long ago it was, in at most two units: `3d 4h`. */
export const ageOf = (at: DateTime.Utc, now: number): string => {
  const age = Math.max(0, Math.floor((now - DateTime.toEpochMillis(at)) / 1000))
  const unit = age < 3600 ? 1 : age < 86_400 ? 60 : 3600
  return age === 0 ? "0s" : Duration.format(Duration.seconds(age - (age % unit)))
}

/** Characters that could redraw a terminal on which data is shown, but for line breaks and tabs. */
const active = /(?![\t\n\r])[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu

/** JSON on one line. Characters that could redraw a terminal are escaped. */
export const jsonLine = (value: unknown): string =>
  `${JSON.stringify(value).replaceAll(active, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`)}\n`

/** A cell of a CSV file (RFC 4180). A quote is put before a text that a spreadsheet would run as a formula. */
const csvCell = (raw: string): string => {
  const text = raw.replaceAll(active, "?")
  const inert = /^[\s\p{Cf}]*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/u.test(text) ? `'${text}` : text
  return /[",;\r\n\t']/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert
}

/** A cell by what it is: a text, a number, an amount in reais or a time. */
export type Cell = string | number | Money.Reais | DateTime.Utc | undefined

const cellText = (cell: Cell): string => {
  if (typeof cell === "string" || typeof cell === "number") return `${cell}`
  return cell === undefined || DateTime.isDateTime(cell) ? time(cell) : decimal(cell)
}

/** A time of São Paulo, as a spreadsheet reads it: 2026-11-01 09:30:00. */
export const inSaoPaulo = (cell: Cell): Cell =>
  DateTime.isDateTime(cell)
    ? DateTime.formatIsoOffset(DateTime.setZone(cell, saoPaulo())).slice(0, 19).replace("T", " ")
    : cell

/**
 * Makes the lines of a table from the widths of its columns; a negative width aligns to the right. A longer text is not cut:
 * it moves the columns after it.
 */
export const tableLine =
  (widths: ReadonlyArray<number>) =>
  (cells: ReadonlyArray<Cell>): string => {
    const padded = cells.map((cell, index) => {
      const [text, width] = [plain(cellText(cell)), widths[index] ?? 0]
      return width < 0 ? text.padStart(-width) : text.padEnd(width)
    })
    return `${padded.join("  ").trimEnd()}\n`
  }

export const csvRow = (cells: ReadonlyArray<Cell>): string =>
  `${cells.map((cell) => (typeof cell === "string" ? csvCell(cell) : cellText(cell))).join(",")}\r\n`

/** The byte order mark, by which a spreadsheet reads UTF-8. */
export const csvMark = "\uFEFF"

export { shellWord } from "../../internal/shell.ts"
