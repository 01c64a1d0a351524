/** The spellings in which a gateway, a proxy or a log may show a value. */
const bytes = (text: string, write: (hex: string) => string) =>
  Array.from(new TextEncoder().encode(text), (byte) => write(byte.toString(16).padStart(2, "0"))).join("")

const points = (text: string, write: (hex: string) => string) =>
  Array.from(text, (character) => write(Number(character.codePointAt(0)).toString(16))).join("")

const apart = (text: string, between: string) => Array.from(text).join(between)
const inGroups = (text: string, size: number, between: string) =>
  (text.match(new RegExp(`.{1,${size}}`, "gu")) ?? []).join(between)

export const spellings: Record<string, (text: string) => string> = {
  plain: (text) => text,
  "percent-encoded": (text) => bytes(text, (hex) => `%${hex}`),
  "quoted-printable": (text) => bytes(text, (hex) => `=${hex}`),
  "escaped as JSON": (text) => points(text, (hex) => `\\u${hex.padStart(4, "0")}`),
  "written as long entities": (text) => points(text, (hex) => `&#x${hex.padStart(6, "0")};`),
  "spaced by escaped line breaks": (text) => apart(text, "\\n"),
  "in capitals": (text) => text.toUpperCase(),
  decomposed: (text) => text.normalize("NFD"),
  "without accents": (text) => text.normalize("NFKD").replaceAll(/\p{Mn}/gu, ""),
  "full-width": (text) => text.replaceAll(/[!-~]/g, (one) => String.fromCodePoint((one.codePointAt(0) ?? 0) + 0xfe_e0)),
  "with marks between": (text) => apart(text, "."),
  "with spaces between": (text) => apart(text, " "),
  "with invisible characters between": (text) => apart(text, "\u200B"),
  "in groups of four": (text) => inGroups(text, 4, " "),
  "in base64": (text) => Buffer.from(text).toString("base64"),
  "in hexadecimal": (text) => Buffer.from(text).toString("hex")
}
