/**
 * Makes text safe for a terminal, a spreadsheet and a shell: text of a gateway may hold escape codes, formulas and personal
 * data.
 */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Record from "effect/Record"

/** Replaces controls, format characters and line separators, which could redraw a terminal or reorder its text. */
export const plain = (text: string): string => text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, "?")

/** The first character of each word, which is enough to distinguish two people. */
export const mask = (text: string): string => text.replaceAll(/[^\s@]+/gu, (word) => `${Array.from(word)[0]}***`)

/** The printed fields of a person: masked, unless they are to be shown in full. */
export const shownPerson = (person: Readonly<Record<string, string | undefined>>, full: boolean) =>
  full ? person : Record.map(person, (text) => text && mask(text))

/** A time in UTC, in whole seconds. */
export const time = (at: DateTime.DateTime | undefined): string =>
  at === undefined ? "" : DateTime.formatIso(at).replace(/\.\d+Z$/, "Z")

/** Lines of names and values. A field without a value has no line. */
export const fieldLines = (
  fields: ReadonlyArray<readonly [name: string, value: string | number | undefined]>
): string => {
  const shown = fields.filter(([, value = ""]) => value !== "")
  const width = Math.max(...shown.map(([name]) => name.length)) + 1
  return shown.map(([name, value]) => `${name.padEnd(width)} ${plain(`${value}`)}`).join("\n")
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

/** A cell of a CSV file (RFC 4180). A quote is put before a text that a spreadsheet would run as a formula, which a number is not. */
const csvCell = (raw: string): string => {
  const text = raw.replaceAll(active, "?")
  const inert = /^(?!-?\d+(?:\.\d+)?$)[\s\p{Cf}]*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/u.test(text)
    ? `'${text}`
    : text
  return /[",;\r\n\t']/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert
}

/**
 * Makes the lines of a table from the widths of its columns; a negative width aligns to the right. A longer text is not cut:
 * it moves the columns after it.
 */
export const tableLine =
  (widths: ReadonlyArray<number>) =>
  (cells: ReadonlyArray<string>): string => {
    const padded = cells.map((cell, index) => {
      const [text, width] = [plain(cell), widths[index] ?? 0]
      return width < 0 ? text.padStart(-width) : text.padEnd(width)
    })
    return `${padded.join("  ").trimEnd()}\n`
  }

export const csvRow = (cells: ReadonlyArray<string | number>): string =>
  `${cells.map((cell) => (typeof cell === "string" ? csvCell(cell) : `${cell}`)).join(",")}\r\n`

export { shellWord } from "../../internal/shell.ts"
