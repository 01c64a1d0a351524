/**
 * The words of the service as they may be shown. A structural rule decides: plain words, codes, small numbers, amounts
 * and dates are shown, and every other token is masked. So is what the request itself said. The work is bounded by 4,096
 * units of the words.
 */
import { withoutAccents } from "../../../internal/withoutAccents.ts"

/** A value of the request that must not be shown. */
export interface Secret {
  readonly text: string
  /** `personal`: no word of it is shown. `free`: ordinary words, of which three together are masked. */
  readonly kind: "personal" | "free"
}

/** Of a credential, a key, a person. */
export const personal = (text: string): Secret => ({ text, kind: "personal" })

/** Of a description and the like, whose words are ordinary ones. */
export const freeText = (text: string): Secret => ({ text, kind: "free" })

/** The length of what is shown, in UTF-16 units. */
export const maxDisplay = 200

const maxInput = 16_384
const maxWords = 4096
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

const fold = (text: string): string => withoutAccents(text).toLowerCase()
const lettersAndDigits = (text: string): string => fold(text).replaceAll(/[^\p{L}\p{N}]/gu, "")
/** The words that are long enough to identify somebody. */
const wordsIn = (text: string): ReadonlyArray<string> => fold(text).match(/\p{L}{4,}/gu) ?? []

const word = "\\p{L}{1,24}(?:['\u2019-]\\p{L}{1,24}){0,3}"
const code = "[A-Z]{1,20}(?:[_-][A-Z]{1,20}){1,8}|[a-z]{1,20}(?:_[a-z]{1,20}){1,8}"
const amount = "(?:R\\$|BRL)?\\d{1,3}(?:\\.\\d{3}){0,4}(?:,\\d\\d)?|\\d{1,4}"
const time = "[0-2]\\d:[0-5]\\d"
const date = `(?:19|20)\\d\\d-[01]\\d-[0-3]\\d(?:T${time}[\\d:.+Z-]{0,20})?|[0-3]\\d/[01]\\d/(?:19|20)\\d\\d|${time}(?::[0-5]\\d)?`
const plainToken = new RegExp(
  `^[("'\u201C\u2018]?(?:${word}|${code}|${amount}|${date}|R\\$|[-\u2013\u2014/&+<])[)"'\u201D\u2019.,;:!?\u2026]{0,3}$`,
  "u"
)

const isNumber = (token: string) => /^\D{0,2}\d/.test(token)
const isLetter = (token: string) => /^\p{L}$/u.test(token)

/** Numbers, or single letters, side by side are one value that was written apart. */
const isWrittenApart = (tokens: ReadonlyArray<string>, at: number): boolean =>
  [at - 1, at + 1].some((neighbour) => {
    const [one = "", other = ""] = [tokens[at], tokens[neighbour]]
    return (isNumber(one) && isNumber(other) && !/[/:,-]/.test(one + other)) || (isLetter(one) && isLetter(other))
  })

const runLength = 8

/** The tokens over which eight letters and digits of a personal value are in a row. */
const holdingRuns = (tokens: ReadonlyArray<string>, secrets: ReadonlyArray<string>): ReadonlySet<number> => {
  const runs = new Set<string>()
  for (const secret of secrets.map(lettersAndDigits)) {
    for (let at = 0; at + runLength <= secret.length; at++) runs.add(secret.slice(at, at + runLength))
  }
  const folded = tokens.map(lettersAndDigits)
  const owners = folded.flatMap((token, at) => Array.from({ length: token.length }, () => at))
  const text = folded.join("")
  const found = new Set<number>()
  for (let at = 0; at + runLength <= text.length; at++) {
    if (runs.has(text.slice(at, at + runLength))) for (const owner of owners.slice(at, at + runLength)) found.add(owner)
  }
  return found
}

/** How many words of a free text, within five tokens, are a part of it and not words in common. */
const freeWords = 3
const freeSpan = 5

/** Whether a token says what the request said. */
const saidByRequest = (tokens: ReadonlyArray<string>, secrets: ReadonlyArray<Secret>): ((at: number) => boolean) => {
  const texts = (kind: Secret["kind"]) => secrets.filter((secret) => secret.kind === kind).map(({ text }) => text)
  const own = [...new Set(texts("personal").flatMap(wordsIn))]
  const free = texts("free").map((text) => new Set(wordsIn(text)))
  const runs = holdingRuns(tokens, texts("personal"))
  const words = tokens.map(wordsIn)
  const isFree = (mine: ReadonlySet<string>, at: number) => {
    for (let from = Math.max(0, at - freeSpan + 1); from <= at; from++) {
      const near = words.slice(from, from + freeSpan).flat()
      if (near.filter((one) => mine.has(one)).length >= freeWords) return true
    }
    return false
  }
  return (at) =>
    runs.has(at) ||
    (words[at] ?? []).some(
      (one) =>
        own.some((mine) => mine.startsWith(one) || mine.endsWith(one) || one.includes(mine)) ||
        free.some((mine) => mine.has(one) && isFree(mine, at))
    )
}

/**
 * The words as they may be shown: on one line, at most 200 characters, and what may be somebody's data as `[redacted]`.
 * `secrets` are the values of the very request. They are asked for only when there are words.
 */
export const displayMessage = (words: string, secrets: () => ReadonlyArray<Secret>): string => {
  const text = clean(words.slice(0, maxInput)).slice(0, maxWords)
  if (text === "") return ""
  const known = secrets().map(({ kind, text: secret }): Secret => ({ kind, text: clean(secret.slice(0, maxInput)) }))
  const tokens = text.split(" ")
  const isSaid = saidByRequest(tokens, known)
  const masked = tokens.map((token, at) =>
    plainToken.test(token) && !isWrittenApart(tokens, at) && !isSaid(at) ? token : mark
  )
  const joined = masked.filter((token, at) => token !== mark || masked[at - 1] !== mark).join(" ")
  const shown = joined.length <= maxDisplay ? joined : `${clean(joined.slice(0, maxDisplay - 1))}…`
  // A value that has neither letters nor digits, or whose words are short, is searched for as it is.
  const isLeft = ({ text: secret }: Secret) => secret.length >= 4 && fold(shown).includes(fold(secret))
  return known.some(isLeft) ? mark : shown
}

/** Names and small numbers. An id, a document or a phone is none. */
const plainCode = /^(?!(?:.*\d){7})(?:[A-Za-z]{1,24}\d{0,6}|\d{1,6})(?:[_.-](?:[A-Za-z]{1,24}\d{0,6}|\d{1,6})){0,8}$/

/** A code of the service as it may be shown: where it is plain and the request does not hold it. */
export const displayCode = (code: string, secrets: () => ReadonlyArray<Secret>): string | undefined => {
  if (!plainCode.test(code)) return undefined
  const folded = lettersAndDigits(code)
  const isHeld = secrets().some(({ text }) => {
    const held = lettersAndDigits(text)
    return folded.length < 4 ? held === folded : held.includes(folded) || (held.length >= 4 && folded.includes(held))
  })
  return isHeld ? undefined : code
}
