/** Expressions that are written as a list of alternatives. */

/** Finds one of the alternatives. */
export const anyOf = (...alternatives: ReadonlyArray<string>): RegExp => new RegExp(alternatives.join("|"))

/** The alternatives as a part of a longer expression. */
export const group = (...alternatives: ReadonlyArray<string>): string => `(?:${alternatives.join("|")})`
