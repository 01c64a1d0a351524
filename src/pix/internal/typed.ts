/**
 * Texts as people type and paste them. Characters that nobody sees are no part of a document, a key or an amount, and a word
 * processor writes other signs for a hyphen (Unicode's `Cf`, `Default_Ignorable_Code_Point` and `Pd`).
 */

const invisible = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu
const hyphenLike = /[\p{Pd}\u02D7\u2043\u2212]/gu

/** The text without characters that nobody sees, with plain spaces, and without spaces around it. */
export const visibleText = (text: string): string => text.replaceAll(invisible, "").replaceAll(/\s/g, " ").trim()

/** {@link visibleText}, with a hyphen for each sign that looks like one. */
export const plainHyphens = (text: string): string => visibleText(text).replaceAll(hyphenLike, "-")

/** Whether the text has a sign that looks like a hyphen and is none. */
export const hasOtherHyphen = (text: string): boolean => plainHyphens(text) !== visibleText(text)
