/** Writes words for a shell. */

/** A word in quotes. */
const quoted = (word: string): string => `'${word.replaceAll("'", String.raw`'\''`)}'`

/** A word, in quotes only if it needs them. */
export const shellWord = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : quoted(word))
