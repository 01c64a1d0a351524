/**
 * Amounts on the command line. A whole number is centavos, as everywhere in this library; reais have a comma or a point and
 * two decimals. Any other text is ambiguous, and refused.
 */
import * as Option from "effect/Option"
import * as Money from "../../pix/Money.ts"

export const amountHelp = "2500 is centavos, 25,00 (or 25.00) is reais"

/** What is expected in the place of a text that is no amount. */
export const noAmount = `an amount: ${amountHelp}`

/** Parses an amount to centavos. */
export const parseAmount = (given: string): Option.Option<Money.Centavos> => {
  const text = given.trim()
  if (/^\d{1,16}$/.test(text)) return Money.centavosOption(Number(text))
  return /[.,]\d\d$/.test(text) ? Money.parseBRL(text) : Option.none()
}

/** An amount in reais for machines: `1234.56`, with all its digits. */
export const decimal = (amount: Money.Centavos | Money.Reais): string =>
  Money.format(amount).replace("R$ ", "").replaceAll(".", "").replace(",", ".")

/** An amount in both units, so that a reader cannot mistake one for the other. */
export const inBoth = (amount: Money.Centavos): string => `${Money.format(amount)} (${amount} centavos)`
