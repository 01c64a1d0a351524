/**
 * Removes accents. Unicode's decomposition takes quadratic time for many marks in a row, which a hostile text may hold, so
 * the text is normalised in pieces.
 */
export const withoutAccents = (text: string): string =>
  text.replaceAll(/[^]{1,256}/g, (piece) => piece.normalize("NFKD").replaceAll(/\p{Mn}/gu, ""))
