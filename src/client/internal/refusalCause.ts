/**
 * The words of a refusal, held against the rules.
 */
import type { RefusalCause, RefusalRules } from "../RefusalRules.ts"

/** The cause that the words name, if any. */
export const causeOf = (rules: RefusalRules, words: string): RefusalCause | undefined => {
  const plain = words
    .slice(0, 1000)
    .replaceAll(/([a-z])(?=[A-Z])|_/g, "$1 ")
    .normalize("NFD")
    .replaceAll(/\p{Mn}/gu, "")
    .toLowerCase()
  return rules.rules.find((rule) => plain.search(rule.words) !== -1)?.cause
}
