/** A charge for programs under rehearsal, how long their pairs are played, and what their reports have to be. */
import { assert } from "@effect/vitest"
import { IdempotencyKey, Payments } from "effect-pix"
import { Rehearsal, type RehearsalReport } from "effect-pix/sandbox"
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
export const budget = { pairs: `${runs(0.25, 60)} seconds` } as const

/** Fails with the stories of what was found, and where fewer schedules were played than expected. */
export const requireClean = (report: RehearsalReport, least: number): void => {
  assert.strictEqual(report.findings.length, 0, Rehearsal.text(report))
  assert.deepStrictEqual(report.undecided, [])
  assert.isAtLeast(report.schedules, least)
}
