/**
 * Text for a terminal, a sheet and a shell. What a gateway sends may hold escape codes, formulas and personal data.
 */
import * as DateTime from "effect/DateTime"

/** Controls, format characters and line separators could redraw a terminal, or reorder what stands in it. */
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

/** At most the last two characters: enough to tell two from one another. */
export const maskNumber = (number: string): string => `***${number.length > 6 ? number.slice(-2) : ""}`

export const time = (at: DateTime.Utc | undefined): string =>
  at === undefined ? "" : DateTime.formatIso(at).replace(/\.\d+Z$/, "Z")

/** Line breaks apart, what could redraw a terminal on which data is shown. */
const active = /(?![\t\n\r])[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu

/** JSON on one line, with everything escaped that could redraw a terminal. */
export const jsonLine = (value: unknown): string =>
  `${JSON.stringify(value).replaceAll(active, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`)}\n`

/** A cell of a CSV file (RFC 4180). A sheet would run what begins as a formula does: a quote before it stops that. */
const csvCell = (raw: string): string => {
  const text = raw.replaceAll(active, "?")
  const inert = /^[\s\p{Cf}]*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/u.test(text) ? `'${text}` : text
  return /[",;\r\n\t']/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert
}

export const csvRow = (cells: ReadonlyArray<string>): string => `${cells.map(csvCell).join(",")}\r\n`

/** A word of a POSIX shell. */
export const shellWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
