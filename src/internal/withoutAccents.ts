/**
 * Removes accents. Unicode's decomposition takes quadratic time for many marks in a row, which a hostile text may hold, so
 * the text is normalised in pieces.
 *
 * Details: most texts are ASCII, for which the test alone takes a tenth of the time. A charge folds several of them. `NFKD` also makes
 * plain letters and digits of their other forms, as of wide ones; `NFD` does not.
 */
export const withoutAccents = (text: string, form: "NFKD" | "NFD" = "NFKD"): string =>
  /\P{ASCII}/u.test(text)
    ? text.replaceAll(/[^]{1,256}/g, (piece) => piece.normalize(form).replaceAll(/\p{Mn}/gu, ""))
    : text
