/**
 * Amounts on the command line. A whole number is centavos, as everywhere in this library; reais have a comma or a point and
 * two decimals. Any other text is ambiguous, and refused; so is a whole number from 1 to 999: who types 25 means R$ 25,00.
 */
import * as Option from "effect/Option"
import * as Money from "../../pix/Money.ts"

export const amountHelp = "2500 is centavos, 25,00 (or 25.00) is reais"

/** What is expected in the place of a text that is no amount. */
export const noAmount = `an amount: ${amountHelp}. Below R$ 10,00 write reais, as 0,25: a person takes 25 for R$ 25,00`

/** Parses an amount to centavos. */
export const parseAmount = (given: string): Option.Option<Money.Centavos> => {
  const text = given.trim()
  if (/^\d{1,16}$/.test(text)) {
    return Option.filter(Money.centavosOption(Number(text)), (centavos) => centavos === 0 || centavos >= 1000)
  }
  return /[.,]\d\d$/.test(text) ? Money.parseBRL(text) : Option.none()
}

/** An amount in reais for machines: `1234.56`, with all its digits. */
export const decimal = (amount: Money.Centavos | Money.Reais): string =>
  Money.format(amount).replace("R$ ", "").replaceAll(".", "").replace(",", ".")

/** An amount in both units, so that a reader cannot mistake one for the other. */
export const inBoth = (amount: Money.Centavos): string => `${Money.format(amount)} (${amount} centavos)`
