/** The mistakes in the schedule that shows each; their corrected twins in that schedule, and in all in `npm run full` and `soak`. */
import { assert, describe, test } from "@effect/vitest"
import { Effect } from "effect"
import { budget, isWhole, requireClean } from "../../support/rehearsals.ts"
import { mistakes } from "./mistakes.ts"

describe("a rehearsal names the mistake of", () => {
  for (const { corrected, mended, mistaken, name, rule, schedule } of mistakes)
    test(`${name}: ${rule}, and finds nothing in the corrected program`, async () => {
      const { findings, undecided } = await Effect.runPromise(mistaken({ only: schedule }))
      assert.include(
        findings.map((finding) => finding.rule),
        rule
      )
      assert.deepStrictEqual(undecided, [])
      const twin = await Effect.runPromise(mended(isWhole ? budget : { only: corrected }))
      requireClean(twin, isWhole ? 10 : 1)
      assert.isUndefined(twin.rules.find((checked) => checked.rule === rule)?.notChecked)
    })
})
