/**
 * Finds phrases in words, in a time that grows with the length of the words and with nothing else: each phrase is held
 * against each word once, over a bounded number of words behind it. `RefusalRules` says how a phrase is written.
 */

/** A word of a phrase: whole words, and stems that a word begins with. */
interface Part {
  readonly whole: ReadonlySet<string>
  readonly stems: ReadonlyArray<string>
  readonly isNumber: boolean
  /** What may stand before it: nothing, small words, or any. */
  readonly gap: "none" | "small" | "any"
}

/** Phrases by the words that they may begin with. */
export interface Phrases {
  readonly whole: ReadonlyMap<string, ReadonlyArray<ReadonlyArray<Part>>>
  readonly stems: ReadonlyMap<string, ReadonlyArray<ReadonlyArray<Part>>>
  readonly longestStem: number
}

const longestGap = 4
const longestSmallGap = 3

const smallWords: ReadonlySet<string> = new Set(
  (
    "o a os as um uma de da do das dos em na nas nos com por para pela pelo que e foi foram esta estao estava ser sendo " +
    "sido se ao aos esse essa este seu sua the an of to for in on with by is are was were be been being has have had " +
    "this that your its it and or"
  ).split(" ")
)

const partOf = (text: string, gap: Part["gap"]): Part => {
  const words = text.split("|")
  return {
    whole: new Set(words.filter((word) => !word.endsWith("*"))),
    stems: words.filter((word) => word.endsWith("*")).map((word) => word.slice(0, -1)),
    isNumber: words.includes("#"),
    gap
  }
}

const partsOf = (phrase: string): ReadonlyArray<Part> => {
  const parts: Array<Part> = []
  let gap: Part["gap"] = "none"
  for (const text of phrase.split(" ")) {
    if (text === "..." || text === "~") gap = text === "~" ? "small" : "any"
    else {
      parts.push(partOf(text, gap))
      gap = "none"
    }
  }
  return parts
}

/** Reads phrases as `RefusalRules` has them. */
export const compile = (phrases: ReadonlyArray<string>): Phrases => {
  const whole = new Map<string, Array<ReadonlyArray<Part>>>()
  const stems = new Map<string, Array<ReadonlyArray<Part>>>()
  const add = (index: typeof whole, key: string, parts: ReadonlyArray<Part>) => {
    const found = index.get(key)
    if (found === undefined) index.set(key, [parts])
    else found.push(parts)
  }
  for (const parts of phrases.map(partsOf)) {
    for (const word of parts[0]?.whole ?? []) add(whole, word, parts)
    for (const stem of parts[0]?.stems ?? []) add(stems, stem, parts)
  }
  return { whole, stems, longestStem: Math.max(0, ...Array.from(stems.keys(), (stem) => stem.length)) }
}

/** What ends a sentence: a phrase does not reach over it. */
const end = "."

/** In lower case and without accents; `SNAKE_CASE` and `camelCase` taken apart. */
export const plainOf = (text: string): string =>
  text
    .replaceAll(/([a-z\d])(?=[A-Z])|([A-Z])(?=[A-Z][a-z])|_/g, "$1$2 ")
    .normalize("NFKD")
    .replaceAll(/\p{Mn}/gu, "")
    .toLowerCase()

/** The words of plain text, and the ends of its sentences. */
export const wordsOf = (plain: string): ReadonlyArray<string> =>
  plain
    .replaceAll(/[.;!?](?=\s|$)|[\n\r]/g, ` ${end} `)
    .replaceAll(/:(?=\s)/g, " : ")
    .replaceAll(/[^\p{L}\p{N}.: ]+|(?<=\S)[.:](?=\S)/gu, " ")
    .trim()
    .split(/ +/)

const fits = (part: Part, word: string): boolean =>
  part.whole.has(word) || part.stems.some((stem) => word.startsWith(stem)) || (part.isNumber && /^\d/.test(word))

/** Where the words of the phrase stand, its first part being at `at`. */
const placesOf = (
  parts: ReadonlyArray<Part>,
  words: ReadonlyArray<string>,
  at: number,
  index = 1
): ReadonlyArray<number> | undefined => {
  const part = parts[index]
  if (part === undefined) return [at]
  const most = { none: 0, small: longestSmallGap, any: longestGap }[part.gap]
  for (let next = at + 1; next <= at + 1 + most; next++) {
    const word = words[next]
    if (word === undefined || word === end) return undefined
    if (fits(part, word)) {
      const rest = placesOf(parts, words, next, index + 1)
      if (rest !== undefined) return [at, ...rest]
    }
    if (part.gap === "small" && !smallWords.has(word)) return undefined
  }
  return undefined
}

const found = function* ({ longestStem, stems, whole }: Phrases, words: ReadonlyArray<string>) {
  for (const [at, word] of words.entries()) {
    for (let length = 0; length <= Math.min(word.length, longestStem); length++) {
      // The whole word first, and then each of its beginnings.
      const phrases = length === 0 ? whole.get(word) : stems.get(word.slice(0, length))
      for (const parts of phrases ?? []) {
        const places = placesOf(parts, words, at)
        if (places !== undefined) yield places
      }
    }
  }
}

/** Whether one of the phrases is in the words. */
export const holds = (phrases: Phrases, words: ReadonlyArray<string>): boolean =>
  found(phrases, words).next().done === false

/** The words without those that the phrases are made of; what stands between them stays where it was. */
export const without = (phrases: Phrases, words: ReadonlyArray<string>): ReadonlyArray<string> => {
  const left = [...words]
  for (const places of found(phrases, words)) for (const place of places) left[place] = ""
  return left
}
