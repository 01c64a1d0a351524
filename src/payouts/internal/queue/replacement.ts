/**
 * A payout that another one replaces, and that was executed after all.
 */
import type * as Effect from "effect/Effect"
import { log } from "../../../internal/spans.ts"
import { payoutLabel } from "../machine.ts"
import type { Row } from "./row.ts"
import { payoutFields } from "./signals.ts"

const isExecuted = ({ state }: Row): boolean => state === "posted" || state === "paid"

/** Whether the service, or a person, says that a payout was executed, whatever is stored. */
export const mayBeExecuted = (row: Row): boolean => row.contradicted || isExecuted(row)

/** Whether a change is the first one that says so. */
export const turnsOutExecuted = (before: Row, after: Row): boolean =>
  (after.contradicted && !before.contradicted) || (isExecuted(after) && !isExecuted(before))

/** Names both. What did not move money, and is not sent any more, needs nobody. */
export const logBoth = (original: Row, replacement: Row | undefined): Effect.Effect<void> | undefined => {
  const isOver =
    replacement !== undefined &&
    !replacement.contradicted &&
    ["failed", "returned", "cancelled"].includes(replacement.state)
  if (isOver) return undefined
  const isUnsent = replacement !== undefined && replacement.mayHaveLeftAt === null && !mayBeExecuted(replacement)
  // Its record may have been deleted.
  const by = replacement === undefined ? `reference ${original.replacedBy}` : payoutLabel(replacement)
  const both = `A payout was executed that another one replaces (${payoutLabel(original)}; replaced by ${by}).`
  return log(
    "Error",
    isUnsent
      ? `${both} The other one is parked: no request of it moved money.`
      : `${both} MONEY MAY HAVE MOVED TWICE. Look in the panel.`,
    payoutFields(replacement ?? original)
  )
}
