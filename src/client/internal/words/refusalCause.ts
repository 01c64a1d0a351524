/**
 * The words of a refusal, held against the rules.
 */
import type { RefusalCause, RefusalRule, RefusalRules } from "../../RefusalRules.ts"
import * as Phrases from "./phrases.ts"

interface Compiled {
  readonly words: Phrases.Phrases
  readonly except: Phrases.Phrases
}

/** How much is read, in UTF-16 units. */
const longest = 32_768

/** The rules are data: each is read once. */
const compiled = new WeakMap<RefusalRule, Compiled>()

const compile = (rule: RefusalRule, words: ReadonlyArray<string>): Compiled => {
  const made = { words: Phrases.compile(words), except: Phrases.compile(rule.except ?? []) }
  compiled.set(rule, made)
  return made
}

/** The cause that the words name, if any. */
export const causeOf = (rules: RefusalRules, said: string): RefusalCause | undefined => {
  const plain = Phrases.plainOf(said.slice(0, longest))
  const words = Phrases.wordsOf(plain)
  return rules.rules.find((rule) => {
    if (rule.words instanceof RegExp) return plain.search(rule.words) !== -1
    const phrases = compiled.get(rule) ?? compile(rule, rule.words)
    return Phrases.holds(phrases.words, Phrases.without(phrases.except, words))
  })?.cause
}
