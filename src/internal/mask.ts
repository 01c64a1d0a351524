/**
 * Masks the words of the service. A structural rule decides: plain words, codes, small numbers, amounts and dates are
 * shown, and every other token is masked. A token that the request itself held is masked too, and so is a name of a person after a
 * word such as titular or conta de.
 *
 * Details: the work is bounded, since only the first 4,096 UTF-16 units of the words are read.
 */
import { constFalse } from "effect/Function"
import { maxRefusalLength } from "./bounds.ts"
import { namesIn } from "./names.ts"
import { withoutAccents } from "./withoutAccents.ts"

/** The greatest length of a shown message, in UTF-16 units. */
export const maxDisplay = 200

const maxWords = 4096
export const mark = "[redacted]"

/** Removes escape sequences, control, format and bidi characters and lone surrogates, and collapses white space. */
const clean = (text: string): string =>
  text
    // oxlint-disable-next-line no-control-regex -- the expression finds escape sequences
    .replaceAll(/(?:\u001B\[|\u009B)[0-?]*[ -/]*[@-~]|\u001B\][^\u0007\u001B]*(?:\u0007|\u001B\\)?/g, "")
    .replaceAll(/[\s\u0085\u2028\u2029]+/g, " ")
    .replaceAll(/[\p{Cc}\p{Cf}\p{Cs}]/gu, "")
    .replaceAll(/ {2,}/g, " ")
    .trim()

const fold = (text: string): string => withoutAccents(text).toLowerCase()
const lettersAndDigits = (text: string): string => fold(text).replaceAll(/[^\p{L}\p{N}]/gu, "")
const digits = (text: string): string => text.replaceAll(/\D/g, "")
/** The folded words that are long enough to identify a person. */
const wordsIn = (text: string): ReadonlyArray<string> => fold(text).match(/\p{L}{4,}/gu) ?? []

const small = "[\\p{Ll}\\p{Lt}\\p{Lm}\\p{Lo}]"
/** In one case or in camel case (`PixKey`, `IDs`, `iOS`): base64 changes the case in other places. */
const letters = `(?=\\p{L}{1,24}(?!\\p{L}))(?:\\p{Lu}+|\\p{Lu}{0,4}${small}+(?:\\p{Lu}${small}+){0,8}\\p{Lu}{0,4})`
const word = `${letters}(?:['\u2019-]${letters}){0,3}`
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

/** Whether a token is part of a value that was written with spaces: numbers, or single letters, in a row. */
const isWrittenApart = (tokens: ReadonlyArray<string>, at: number): boolean =>
  [at - 1, at + 1].some((neighbour) => {
    const [one = "", other = ""] = [tokens[at], tokens[neighbour]]
    return (isNumber(one) && isNumber(other) && !/[/:,-]/.test(one + other)) || (isLetter(one) && isLetter(other))
  })

/** The tokens that hold `length` characters of a value in a row. `only` selects the characters that count. */
const tokensWithRuns = (
  tokens: ReadonlyArray<string>,
  values: ReadonlyArray<string>,
  only: (text: string) => string,
  length: number
): ReadonlyArray<number> => {
  const folded = tokens.map(only)
  const owners = folded.flatMap((token, at) => Array.from({ length: token.length }, () => at))
  const text = folded.join("")
  // The runs of the tokens are few, and those of the values are many.
  const runs = new Set(owners.map((_, at) => text.slice(at, at + length)).filter((run) => run.length === length))
  const held = new Set<string>()
  for (const value of values) {
    const folded = only(value)
    for (let at = 0; at + length <= folded.length; at++) {
      const run = folded.slice(at, at + length)
      if (runs.has(run)) held.add(run)
    }
  }
  return owners.flatMap((_, at) => (held.has(text.slice(at, at + length)) ? owners.slice(at, at + length) : []))
}

/** Whether a text holds a secret of four letters and digits or more, or eight in a row of one. */
export const holdsPart = (text: string, secrets: ReadonlyArray<string>): boolean => {
  const folded = lettersAndDigits(text)
  const isHeld = (secret: string) => secret.length >= 4 && folded.includes(secret)
  return secrets.map(lettersAndDigits).some(isHeld) || tokensWithRuns([text], secrets, lettersAndDigits, 8).length > 0
}

/** Each number of three digits or more, such as a card's security code, and all digits of the text as one number. */
const numbersIn = (text: string): ReadonlyArray<string> => [...(text.match(/\d{3,}/g) ?? []), digits(text)]

/** Makes a predicate: whether the request held the token at a position. */
const heldByRequest = (tokens: ReadonlyArray<string>, secrets: ReadonlyArray<string>): ((at: number) => boolean) => {
  const secretWords = [...new Set(secrets.flatMap(wordsIn))]
  // Values that are masked as a whole token, however short: a name such as Li, a card's security code.
  const wholeValues = new Set([...secrets.map(lettersAndDigits), ...secrets.flatMap(numbersIn)])
  const runs = new Set([
    ...tokensWithRuns(tokens, secrets, lettersAndDigits, 8),
    ...tokensWithRuns(tokens, secrets, digits, 4)
  ])
  const words = tokens.map(wordsIn)
  const isWhole = (token: string) =>
    [lettersAndDigits, digits].map((only) => only(token)).some((text) => text.length > 1 && wholeValues.has(text))
  return (at) =>
    runs.has(at) ||
    isWhole(tokens[at] ?? "") ||
    (words[at] ?? []).some((one) =>
      secretWords.some((word) => word.startsWith(one) || word.endsWith(one) || one.includes(word))
    )
}

/** A token without the signs around it. */
const bare = (token: string): string => token.replaceAll(/^[("'\u201C\u2018]|[)"'\u201D\u2019.,;:!?\u2026]{1,3}$/g, "")

/** Masks up to `most` characters of a text. `isPublic` says whether a token without the signs around it is shown in any case. */
const mask = (
  words: string,
  secrets: () => ReadonlyArray<string>,
  isPublic: (token: string) => boolean,
  most: number
): string => {
  const text = clean(words.slice(0, maxRefusalLength)).slice(0, most)
  if (text === "") return ""
  const known = secrets().map((secret) => clean(secret.slice(0, maxRefusalLength)))
  const tokens = text.split(" ")
  const isHeld = heldByRequest(tokens, known)
  const names = namesIn(tokens)
  const isShown = (token: string, at: number) =>
    isPublic(bare(token)) || (plainToken.test(token) && !isWrittenApart(tokens, at) && !isHeld(at) && !names.has(at))
  const masked = tokens.map((token, at) => (isShown(token, at) ? token : mark))
  return masked.filter((token, at) => token !== mark || masked[at - 1] !== mark).join(" ")
}

/** A whole text without what may be a person's data, to tell it from others: codes stay. */
export const maskWhole = (words: string, secrets: () => ReadonlyArray<string>): string =>
  mask(
    words,
    secrets,
    (token) => /\d|_/.test(token) && /\p{L}/u.test(token) && displayCode(token, secrets) !== undefined,
    maxRefusalLength
  )

/**
 * Masks a message: one line of at most 200 characters, with `[redacted]` in place of tokens that may be a person's data.
 * `secrets` returns the values of the request. It is called only if there are words. `isField` says whether a token is the name
 * of a documented field, which is shown also if the request holds it.
 */
export const displayMessage = (
  words: string,
  secrets: () => ReadonlyArray<string>,
  isField: (token: string) => boolean = constFalse
): string => {
  const joined = mask(words, secrets, isField, maxWords)
  if (joined === "") return ""
  const shown = joined.length <= maxDisplay ? joined : `${clean(joined.slice(0, maxDisplay - 1))}…`
  // The rules above miss a value without letters and digits, or with short words only: search for the whole value.
  const others = fold(
    shown
      .split(" ")
      .filter((token) => !isField(bare(token)))
      .join(" ")
  )
  const isLeft = (secret: string) => secret.length >= 4 && others.includes(fold(secret))
  return secrets().some((secret) => isLeft(clean(secret.slice(0, maxRefusalLength)))) ? mark : shown
}

/** A part of a code: a word in capitals, small letters or camel case, or a small number. An id, document or phone does not match. */
const part = "(?:[A-Z]{1,24}|[A-Z]?[a-z]{1,24}(?:[A-Z][a-z]{1,24}){0,8})\\d{0,6}|\\d{1,6}"
const plainCode = new RegExp(`^(?!(?:.*\\d){7})(?:${part})(?:[_.-](?:${part})){0,8}$`)

/** Returns the code of the service if it is plain, and if the request holds neither the code nor its numbers. */
export const displayCode = (code: string, secrets: () => ReadonlyArray<string>): string | undefined => {
  if (!plainCode.test(code)) return undefined
  const folded = lettersAndDigits(code)
  const numbers = code.match(/\d{3,}/g) ?? []
  const isHeld = secrets().some((text) => {
    const held = lettersAndDigits(text)
    const isNumberHeld = numbers.some((number) => numbersIn(text).includes(number))
    if (isNumberHeld || folded.length < 4) return isNumberHeld || held === folded
    return held.includes(folded) || (held.length >= 4 && folded.includes(held))
  })
  return isHeld ? undefined : code
}
