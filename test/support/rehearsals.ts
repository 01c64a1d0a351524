/** A charge for programs under rehearsal, how long their pairs are played, and the schedules in which a rule is broken. */
import { IdempotencyKey, Payments } from "effect-pix"
import type { RehearsalReport } from "effect-pix/sandbox"
import { charge } from "./operations.ts"
import { runs } from "./seed.ts"

/** Creates a PIX charge of R$ 25,00 under the key of one order. */
export const chargeOrder = Payments.use((payments) =>
  payments.createTransaction(charge, { idempotencyKey: IdempotencyKey.fromReference("charge", "order-1") })
)

/** The schedules in which a rule is broken. */
export const schedulesOf = ({ findings }: RehearsalReport, rule: string): ReadonlyArray<string> =>
  findings.filter((finding) => finding.rule === rule).map(({ schedule }) => schedule)

/** How long pairs are played: a moment in `npm test`, and all of them in `npm run soak`. */
export const budget = { pairs: `${runs(1, 60)} seconds` } as const
