/** Expressions that are written as a list of alternatives. */

/** What finds something in words. */
export interface Finder {
  readonly test: (words: string) => boolean
}

/**
 * V8 compiles an expression to bytecode first, which for these takes four times as long as to machine code, unless its first text is
 * long: this one, in which none of them finds anything.
 */
const long = "\n".repeat(1000)

const finderOf = (alternative: string): Finder["test"] => {
  let expression: RegExp | undefined
  return (words) => {
    if (expression === undefined) {
      expression = new RegExp(alternative)
      expression.test(long)
    }
    return expression.test(words)
  }
}

/**
 * Finds one of the alternatives. Each is an expression of its own: as one expression, the first words that are read would wait for the
 * engine for half a second.
 */
export const anyOf = (...alternatives: ReadonlyArray<string>): Finder => {
  const all = alternatives.map(finderOf)
  return { test: (words) => all.some((finds) => finds(words)) }
}

/** The alternatives as a part of a longer expression. */
export const group = (...alternatives: ReadonlyArray<string>): string => `(?:${alternatives.join("|")})`
