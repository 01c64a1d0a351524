/**
 * The words of the service as they may be shown: what the request sent, and what looks like somebody's data, is masked.
 *
 * The work is bounded: 4,096 units of the words, 16,384 of each secret, and for each unit one look into the sets of the
 * secrets' runs.
 */
import * as Base64 from "effect/encoding/Base64"

/** A value of the request that must not be shown. */
export interface Secret {
  readonly text: string
  /** How many letters and digits of it in a row are masked: a shorter secret is masked as a whole. */
  readonly run: number
}

/** Of a credential, a key, a person: eight in a row. */
export const personal = (text: string): Secret => ({ text, run: 8 })

/** Of a description and the like, whose words are ordinary ones. */
export const freeText = (text: string): Secret => ({ text, run: 24 })

/** The length of what is shown, in UTF-16 units. */
export const maxDisplay = 200

const maxInput = 16_384
const maxMasked = 4096

const mark = "[redacted]"

/** Without escape sequences, control, format and bidi characters and lone surrogates; white space collapsed. */
const clean = (text: string): string =>
  text
    // oxlint-disable-next-line no-control-regex -- escape sequences are what it looks for
    .replaceAll(/(?:\u001B\[|\u009B)[0-?]*[ -/]*[@-~]|\u001B\][^\u0007\u001B]*(?:\u0007|\u001B\\)?/g, "")
    .replaceAll(/[\s\u0085\u2028\u2029]+/g, " ")
    .replaceAll(/[\p{Cc}\p{Cf}\p{Cs}]/gu, "")
    .replaceAll(/ {2,}/g, " ")
    .trim()

/** A text, and for each of its units where that starts and ends in the words that are masked. */
interface Placed {
  readonly text: string
  readonly starts: ReadonlyArray<number>
  readonly ends: ReadonlyArray<number>
}

const placed = (text: string): Placed => ({
  text,
  starts: Array.from(text, (_, index) => index),
  ends: Array.from(text, (_, index) => index + 1)
})

/** Writes each match of the expression as something else, at the place where the match stood. */
const rewrite = (from: Placed, matches: RegExp, write: (match: RegExpExecArray) => string): Placed => {
  const starts: Array<number> = []
  const ends: Array<number> = []
  let text = ""
  for (const match of from.text.matchAll(matches)) {
    text += write(match)
    const start = from.starts[match.index] ?? 0
    const end = from.ends[match.index + match[0].length - 1] ?? start
    while (starts.length < text.length) {
      starts.push(start)
      ends.push(end)
    }
  }
  return { text, starts, ends }
}

/** Letters and digits only, in lower case and without accents, so that formatting does not hide a value. */
const folded = (character: string) =>
  character
    .normalize("NFKD")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, "")

const fold = (from: Placed): Placed => rewrite(from, /[^]/gu, ([character]) => folded(character))

const named: Readonly<Record<string, string>> = {
  amp: "&",
  lowbar: "_",
  hyphen: "-",
  commat: "@",
  period: ".",
  plus: "+"
}

/**
 * One character: %40 (up to three bytes of UTF-8), %u0040, =40, \u0040, \u{40}, \x40, &#64;, &#x40;, &eacute; and so on;
 * an escaped line break or quotation mark as a space; anything else as it is.
 */
const escapes =
  /%u([\da-f]{4})|((?:[%=](?:e[\da-f][%=][89ab][\da-f]|c[2-9a-f]|d[\da-f])[%=][89ab][\da-f])|[%=][0-7][\da-f])|\\{1,8}(?:u\{([\da-f]{1,6})\}|u([\da-f]{4})|x([\da-f]{2}))|&#x([\da-f]{1,6});?|&#(\d{1,7});?|&([a-z])(?:grave|acute|circ|tilde|cedil|uml);|&(amp|lowbar|hyphen|commat|period|plus);|(\\{1,8}[nrtbf"'/])|[^]/giu

const unescape = (from: Placed): Placed =>
  rewrite(from, escapes, ([all, ...groups]) => {
    const [percentU, bytes, braced, unicode, hex, entity, decimal, letter, name, blank] = groups
    const code = percentU ?? braced ?? unicode ?? hex ?? entity
    if (code !== undefined || decimal !== undefined) {
      const point = code === undefined ? Number(decimal) : Number.parseInt(code, 16)
      return point <= 0x10ffff ? String.fromCodePoint(point) : ""
    }
    // The expression takes bytes that are UTF-8; the few that are not (%e0%80%80) stay what they are.
    if (bytes !== undefined) return decoded(bytes)
    if (blank !== undefined) return " "
    return letter ?? (name === undefined ? all : (named[name.toLowerCase()] ?? all))
  })

const utf8 = new TextDecoder()
const decoded = (bytes: string) => {
  const text = utf8.decode(Uint8Array.from(bytes.slice(1).split(/[%=]/), (byte) => Number.parseInt(byte, 16)))
  return text.includes("\uFFFD") ? bytes : text
}

/** As often as a gateway, its proxy and its log may escape what they pass on. */
const maxEscapes = 4

/** The words as they are, and with their escapes undone as often as there are any, folded. */
const readings = (text: string): ReadonlyArray<Placed> => {
  const found: Array<Placed> = []
  let current = placed(text)
  for (let times = 0; times <= maxEscapes; times++) {
    found.push(fold(current))
    const next = unescape(current)
    if (next.text === current.text) break
    current = next
  }
  return found
}

const minSecret = 4

/** The runs of the secrets, by their length. */
const runsOf = (secrets: ReadonlyArray<Secret>) => {
  const runs = new Map<number, Set<string>>()
  for (const { run, text } of secrets) {
    const plain = fold(placed(text)).text
    const length = Math.min(run, plain.length)
    if (length < minSecret) continue
    const found = runs.get(length) ?? new Set()
    runs.set(length, found)
    for (let at = 0; at + length <= plain.length; at++) found.add(plain.slice(at, at + length))
  }
  return runs
}

/** A free text that the service cut: its beginning, at the end of the words. */
const beginnings = (secrets: ReadonlyArray<Secret>) =>
  secrets.map(({ text }) => fold(placed(text.slice(0, 64))).text).filter((plain) => plain.length > 8)

const maskSecrets = (text: string, secrets: ReadonlyArray<Secret>): string => {
  if (secrets.length === 0) return text
  const hidden = new Uint8Array(text.length)
  // As they are written: some have neither letters nor digits.
  for (const { text: secret } of secrets) {
    for (let at = text.indexOf(secret); at !== -1; at = text.indexOf(secret, at + 1)) {
      hidden.fill(1, at, at + secret.length)
    }
  }
  const runs = runsOf(secrets)
  const starting = beginnings(secrets)
  for (const { ends, starts, text: plain } of readings(text)) {
    // What stands between the first and the last letter is the formatting of the same value.
    const hide = (at: number, length: number) => hidden.fill(1, starts[at] ?? 0, ends[at + length - 1] ?? 0)
    for (const [length, set] of runs) {
      for (let at = 0; at + length <= plain.length; at++) if (set.has(plain.slice(at, at + length))) hide(at, length)
    }
    for (const start of starting) {
      for (let length = Math.min(start.length, 24); length >= 8; length--) {
        if (plain.endsWith(start.slice(0, length))) hide(plain.length - length, length)
      }
    }
  }
  const parts: Array<string> = []
  for (let index = 0; index < text.length; index++) {
    if (hidden[index] === 0) parts.push(text.charAt(index))
    else if (index === 0 || hidden[index - 1] === 0) parts.push(mark)
  }
  return parts.join("")
}

const patterns: ReadonlyArray<RegExp> = [
  // BR Code: from its first field to its CRC, or to the end where it was cut.
  /000201\d\d[^]*?6304[0-9a-f]{4}|000201\d\d[^]*/gi,
  /[^\s@<>()"',;:=]{1,64}(?:@|%40|\\u0040|&#64;)[^\s@<>()"',;:=]{1,255}/gi,
  // UUID, CNPJ (alphanumeric since 2026) with and without punctuation.
  /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/gi,
  /[0-9a-z]{2}\.[0-9a-z]{3}\.[0-9a-z]{3}\/[0-9a-z]{4}-\d\d/gi,
  /(?<![0-9a-z])[0-9a-z]{12}\d\d(?![0-9a-z])/gi
]

// A date, a time, or an amount with its separators is shown; else eight digits and more are masked: CPF, phone, account.
const shownNumber =
  /(?<!\d|\d[ .\-/])(?:(?:19|20)\d\d-[01]\d-[0-3]\d(?:[T ][0-2]\d:[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?|[0-3]\d\/[01]\d\/(?:19|20)\d\d(?:,? (?:[aà]s )?[0-2]\d:[0-5]\d(?::[0-5]\d)?)?|(?:(?:R\$|BRL) ?)?\d{1,3}(?:\.\d{3}){1,4},\d\d|(?:R\$|BRL) ?\d{1,3}(?:\.\d{3}){0,4}(?:,\d\d)?)(?!\d|[ .\-/]\d)/
const manyDigits = /[+(]{0,2}\d(?:[ .\-\u2010-\u2015/()]{0,3}\d){7,}/
const digits = new RegExp(`(${shownNumber.source})|${manyDigits.source}`, "gi")

const token = /[\w+/=-]{24,}/g
// `INSUFFICIENT_AVAILABLE_BALANCE` and `insufficientAvailableBalance` are codes, not keys.
const isWord = (text: string) =>
  /^(?:[A-Z]{1,20}(?:[_-]|$))+$|^(?:[a-z]{1,20}(?:[_-]|$))+$|^[A-Z]?[a-z]{2,20}(?:[A-Z][a-z]{2,20})+$/.test(text)

const maskPatterns = (text: string): string =>
  patterns
    .reduce((masked, pattern) => masked.replaceAll(pattern, mark), text)
    .replaceAll(token, (match) => (isWord(match) ? match : mark))
    .replaceAll(digits, (_, shown?: string) => shown ?? mark)

const cut = (text: string): string => {
  if (text.length <= maxDisplay) return text
  const short = text.slice(0, maxDisplay - 1)
  return `${clean(short)}…`
}

/** A short value is also looked for in base64. */
const encoded = ({ run, text }: Secret): ReadonlyArray<Secret> =>
  run < 24 && text.length >= 8 && text.length <= 256 ? [{ run, text: Base64.encode(text) }] : []

/**
 * The words as they may be shown: on one line, at most 200 characters, without control characters, and with personal
 * data and secrets replaced by `[redacted]`.
 *
 * `secrets` are the values of the very request: each is masked wherever it or a part of it occurs, however it is
 * punctuated, cased, accented or escaped. One of fewer than four visible characters is not searched for. They are asked
 * for only when there are words. E-mails, documents, phones, UUIDs, BR Codes and long tokens are masked in any case.
 */
export const displayMessage = (words: string, secrets: () => ReadonlyArray<Secret>): string => {
  const text = clean(words.slice(0, maxInput)).slice(0, maxMasked)
  if (text === "") return ""
  const known = secrets()
    .map(({ run, text: secret }): Secret => ({ run, text: clean(secret.slice(0, maxInput)) }))
    .filter((secret) => secret.text.length >= minSecret)
  const shown = cut(clean(maskPatterns(maskSecrets(text, [...known, ...known.flatMap(encoded)]))))
  // The mark itself, or what stands around it, might spell a secret.
  return [shown, mark].find((candidate) => !known.some((secret) => candidate.includes(secret.text))) ?? ""
}
