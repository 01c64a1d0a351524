/** How many schedules a test of rehearsals plays, and what its reports have to be. */
import { assert } from "@effect/vitest"
import { Rehearsal, type RehearsalReport } from "effect-pix/sandbox"
import { runs } from "./seed.ts"

/** Whether programs are played in all their schedules: in `npm run full` and `npm run soak`. */
export const isWhole = process.env["EFFECT_PIX_FULL"] === "1" || runs(0, 1) === 1

/** Fails with the stories of what was found, and where fewer schedules were played than expected. */
export const requireClean = (report: RehearsalReport, least: number): void => {
  assert.strictEqual(report.findings.length, 0, Rehearsal.text(report))
  assert.deepStrictEqual(report.undecided, [])
  assert.isAtLeast(report.schedules, least)
}
