/**
 * Compares the value of a withdrawal's record, in reais, with the amount that was asked for, in centavos. The service does not
 * document whether a fee is in the value.
 */
import * as BigDecimal from "effect/BigDecimal"
import { constFalse } from "effect/Function"
import * as Result from "effect/Result"
import { compareToCentavo } from "../../../internal/decimal.ts"
import type { Centavos, Reais } from "../../../pix/Money.ts"
import type { GatewayFacts } from "../../GatewayFacts.ts"
import type { Issues } from "../call/state.ts"

/** What is wrong with the value: it is not above zero, or it is above the amount and the facts do not accept that. */
export const valueIssues = ({ acceptValue }: GatewayFacts, asked: Centavos, value: Reais): Issues => {
  const isAbove = compareToCentavo(value, asked) > 0
  // A predicate that throws accepts nothing.
  const isAccepted = () =>
    Result.getOrElse(
      Result.try(() => acceptValue({ asked, value })),
      constFalse
    )
  return [
    ...(BigDecimal.isPositive(value) ? [] : [{ path: "value", problem: "is not above zero" }]),
    ...(isAbove && !isAccepted() ? [{ path: "value", problem: "is above the amount that was asked for" }] : [])
  ]
}
