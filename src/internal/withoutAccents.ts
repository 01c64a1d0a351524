/**
 * Removes accents. Unicode's decomposition takes quadratic time for many marks in a row, which a hostile text may hold, so
 * the text is normalised in pieces.
 *
 * Details: most texts are ASCII, for which the test alone takes a tenth of the time. A charge folds several of them.
 */
export const withoutAccents = (text: string): string =>
  /\P{ASCII}/u.test(text)
    ? text.replaceAll(/[^]{1,256}/g, (piece) => piece.normalize("NFKD").replaceAll(/\p{Mn}/gu, ""))
    : text
