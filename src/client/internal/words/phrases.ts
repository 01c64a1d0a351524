/**
 * Finds known phrases in the texts of a refusal. Texts and phrases are folded alike, to words between spaces, so a phrase is found where
 * its text has it: the work is linear, and no expression reads what a sentence means.
 */
import { withoutAccents } from "../../../internal/withoutAccents.ts"
import type { KnownRefusal } from "../../KnownRefusal.ts"
import { doubtful, neutral, refusals } from "./refusals.ts"

/** A text that says why a request was refused. */
export interface Reason {
  readonly text: string
  /** Whether it is the code of the answer. */
  readonly isCode: boolean
}

const part = /[\p{L}\p{N}]+(?:[-_.,:/][\p{L}\p{N}]+)*|[.;!?\n]/gu
/** A number, also of a time or a date, perhaps with its unit. */
const number = /^\d+(?:t\d+z?|ms|s|min|h\d*)?$/i
/** What is made by a computer for one request. */
const id = /^[\da-f]{12,}$/i
const code = /^(?=.*\p{L})(?=.*\d)[\p{L}\d]+(?:[-_.][\p{L}\d]+)*$/u

const end = " | "
const varying = " # "

const wordsOfPart = (text: string): ReadonlyArray<string> => {
  const plain = text.replaceAll(/[-_.,:/]/g, "")
  if (plain === "" || /^[;!?\n]$/.test(plain)) return [end]
  if (number.test(plain) || id.test(plain)) return [varying]
  if (code.test(text)) return [` ${plain.toLowerCase()} `]
  const words = text.replaceAll(/(\p{Ll})(?=\p{Lu})/gu, "$1 ").split(/[-_.,:/ ]/)
  return words.length === 1 ? [` ${plain.toLowerCase()} `] : words.flatMap(wordsOfPart)
}

/**
 * A text as words between spaces, in lower case and without accents: a code as one word, `#` for a number, and `|` between sentences.
 * A code of digits alone stays as it is.
 */
export const fold = ({ isCode, text }: Reason): string =>
  isCode && /^\d+$/.test(text) ? ` ${text} ` : (withoutAccents(text).match(part) ?? []).flatMap(wordsOfPart).join("")

const isDigits = (phrase: string) => /^\d+$/.test(phrase)
const foldPhrase = (text: string): string => fold({ text, isCode: isDigits(text) })
const countWords = (folded: string): number => (folded.match(/ [^ |#]+ /g) ?? []).length

/** Whether a phrase can be that of an entry: two words, a code of letters and a digit or `_`, or digits alone. */
export const isPhrase = (phrase: string): boolean => {
  const words = countWords(foldPhrase(phrase))
  return words > 1 || (words === 1 && (isDigits(phrase) || /\d|_/.test(phrase)))
}

/** A phrase, folded, and what it says. The longest phrase is first, since a shorter one may be a part of it. */
type Phrases = ReadonlyArray<readonly [phrase: string, entry: KnownRefusal]>

export const phrasesOf = (entries: ReadonlyArray<KnownRefusal>, foldOne = foldPhrase): Phrases =>
  entries
    .flatMap((entry) => entry.phrases.map((phrase) => [foldOne(phrase), entry] as const))
    .toSorted(([one], [other]) => other.length - one.length)

/** A text without the phrases that it has, and these. */
const cut = (text: string, phrases: Phrases) => {
  const found: Array<KnownRefusal> = []
  const rest = phrases.reduce((left, [phrase, entry]) => {
    if (!left.includes(phrase)) return left
    found.push(entry)
    return left.replaceAll(phrase, end)
  }, text)
  return { found, rest }
}

/** As `foldPhrase` folds a phrase of the client's own, which is of letters and spaces: the first refusal is read in little time. */
const foldPlain = (phrase: string): string => ` ${withoutAccents(phrase).toLowerCase().replaceAll(" ", "  ")} `

/** The client's own lists, folded when the first refusal is read. */
const foldLists = () => {
  const folded = neutral.map(foldPlain)
  return {
    ours: phrasesOf(refusals, foldPlain),
    neutralWords: new Set([...folded, end, varying]),
    neutralPhrases: folded.filter((words) => words.includes("  ")),
    doubts: doubtful.map(foldPlain)
  }
}
let folded: ReturnType<typeof foldLists> | undefined
const lists = () => (folded ??= foldLists())

const isNeutral = (text: string): boolean => {
  const { neutralPhrases, neutralWords } = lists()
  const rest = neutralPhrases.reduce((left, words) => left.replaceAll(words, end), text)
  return (rest.match(/ [^ ]+ /g) ?? []).every((word) => neutralWords.has(word))
}
const isDoubtful = (text: string): boolean => lists().doubts.some((words) => text.includes(words))

/** What entries say: one cause, or none where they name two. */
const causeIn = (found: ReadonlyArray<KnownRefusal>): KnownRefusal | undefined =>
  new Set(found.map(({ cause }) => cause)).size === 1 ? found[0] : undefined

/** What the texts of a refusal say. */
export interface Reading {
  /** The entry of the user that names the status. */
  readonly ofStatus: KnownRefusal | undefined
  /** The entry of the user, and the one of ours. */
  readonly own: KnownRefusal | undefined
  readonly ours: KnownRefusal | undefined
  /** Whether there is a word of doubt beside the phrases of entries. */
  readonly isDoubtful: boolean
  /** Whether there is nothing but neutral words. */
  readonly isVague: boolean
}

/** Reads texts, folded, without the values of the request, by the user's phrases and by ours. */
export const readPhrases = (texts: ReadonlyArray<string>, status: number, own: Phrases): Reading => {
  const isOfStatus = ([, { statuses }]: Phrases[number]) => statuses === undefined || statuses.includes(status)
  const cuts = texts.map((text) => cut(text, own.filter(isOfStatus)))
  const ofUser = cuts.flatMap(({ found }) => found)
  const known = cuts.map(({ rest }) => cut(rest, lists().ours.filter(isOfStatus)))
  const isKnown = known.some(({ found, rest }) => found.length > 0 && isNeutral(rest))
  const hasDoubt = known.some(({ rest }) => isDoubtful(rest))
  return {
    ofStatus: causeIn(ofUser.filter(({ statuses }) => statuses !== undefined)),
    own: causeIn(ofUser),
    ours: isKnown && !hasDoubt ? causeIn(known.flatMap(({ found }) => found)) : undefined,
    isDoubtful: hasDoubt,
    isVague: known.every(({ found, rest }) => found.length === 0 && isNeutral(rest))
  }
}
