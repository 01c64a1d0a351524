import { assert, describe, test } from "@effect/vitest"
import { Effect } from "effect"
import { Rehearsal, type RehearsalReport } from "effect-pix/sandbox"
import { batchMistakes } from "./batchMistakes.ts"
import { checkoutMistakes } from "./checkoutMistakes.ts"
import { faultMistakes } from "./faultMistakes.ts"
import type { Mistake } from "./Mistake.ts"
import { payoutMistakes } from "./payoutMistakes.ts"

const mistakes = [...payoutMistakes, ...batchMistakes, ...checkoutMistakes, ...faultMistakes]

describe("a rehearsal names the mistake of", () => {
  test.for(mistakes)("$name: $rule", async ({ mistaken, rule }) => {
    const { findings, undecided } = await Effect.runPromise(mistaken)
    assert.include(
      findings.map((finding) => finding.rule),
      rule
    )
    assert.deepStrictEqual(undecided, [])
  })
})

const twins = new Map<Mistake["mended"], Promise<RehearsalReport>>()

/** Some mistakes have the same twin: it is played once. */
const play = (twin: Mistake["mended"]) => {
  const played = twins.get(twin) ?? Effect.runPromise(twin)
  twins.set(twin, played)
  return played
}

describe("a rehearsal finds nothing in the corrected version of", () => {
  test.for(mistakes)("$name", async ({ mended, rule }) => {
    const report = await play(mended)
    assert.strictEqual(report.findings.length, 0, Rehearsal.text(report))
    assert.deepStrictEqual(report.undecided, [])
    assert.isAbove(report.schedules, 10)
    assert.isUndefined(report.rules.find((checked) => checked.rule === rule)?.notChecked)
  })
})
