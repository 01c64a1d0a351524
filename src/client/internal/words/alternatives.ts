/** Expressions that are written as a list of alternatives. */

/** What finds something in words. */
export interface Finder {
  readonly test: (words: string) => boolean
}

/**
 * Finds one of the alternatives. Each is an expression of its own: as one expression, the first words that are read would wait for the
 * engine for half a second.
 */
export const anyOf = (...alternatives: ReadonlyArray<string>): Finder => {
  const all = alternatives.map((alternative) => new RegExp(alternative))
  return { test: (words) => all.some((one) => one.test(words)) }
}

/** The alternatives as a part of a longer expression. */
export const group = (...alternatives: ReadonlyArray<string>): string => `(?:${alternatives.join("|")})`
