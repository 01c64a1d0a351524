/** The words of the command in English and in Portuguese: every sentence that one language has, the other has too. */
import { assert, describe, expect, it, test } from "@effect/vitest"
import { DateTime } from "effect"
import { Money } from "effect-pix"
import type { PayoutStatus } from "effect-pix/payouts"
import { join, say, type Text, text } from "../../src/cli/internal/lang.ts"
import * as Steps from "../../src/cli/internal/operator/steps.ts"
import * as Words from "../../src/cli/internal/operator/words.ts"
import { becauses, type Why } from "../../src/payouts/PayoutBecause.ts"

const isText = (value: unknown): value is Text => typeof value === "object" && value !== null && "en" in value

/** Every pair of texts below a value, with its path. */
const pairsOf = (value: unknown, path: string): ReadonlyArray<readonly [path: string, pair: Text]> => {
  if (isText(value)) return [[path, value]]
  if (typeof value !== "object" || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) => pairsOf(inner, `${path}.${name}`))
}

/** How many sentences and warnings there are, and what both languages spell alike: numbers, and words of the command. */
const shapeOf = (words: string) => ({
  sentences: words.split(/[.:;] (?=\S)|[.:]$/).filter((part) => part !== "").length,
  warnings: (words.match(/MONEY|DINHEIRO/g) ?? []).length,
  alike: (words.match(/\d[\d.,]*|`[^`]+`|onState|PastHorizon|OtherClientId/g) ?? []).toSorted()
})

const isSaidInBoth = ({ en, pt }: Text) => {
  expect(pt.trim()).not.toBe("")
  expect(shapeOf(pt)).toEqual(shapeOf(en))
}

/** What a step does to a subject, as `takeStep.ts` says it. */
const effectOf = (step: Text, subject: object, own: object): Text =>
  join("effect" in step && typeof step.effect === "function" ? step.effect(subject, own, step) : step)

const steps = [
  ...Steps.payoutSteps,
  ...Steps.accountSteps,
  ...Steps.sentenceSteps,
  ...Steps.letterSteps.payouts,
  ...Steps.letterSteps.webhooks
]
const pairs = [...pairsOf(Words, "words"), ...pairsOf(becauses, "because")]

const at = DateTime.makeUnsafe("2026-12-05T12:00:00Z")
const common = { reference: "a", idempotencyKey: "k", amount: Money.centavos(1000), submittedAt: at, updatedAt: at }
const statuses: ReadonlyArray<PayoutStatus> = [
  { _tag: "Accepted", state: "accepted", ...common },
  { _tag: "Posted", state: "posted", ...common, withdrawalId: 7184 },
  { _tag: "Unknown", state: "unknown", ...common, mayHaveLeftAt: at },
  { _tag: "Refused", state: "refused", ...common } as unknown as PayoutStatus, // its error says nothing here
  { _tag: "Parked", state: "parked", ...common, because: "WaitedTooLong" }
]

describe("the two languages of the command", () => {
  test.each(steps.map((step) => [step.name, step] as const))("the step %s says the same in both", (_, step) => {
    isSaidInBoth(step)
  })

  test.each(Steps.payoutSteps.map((step) => [step.name, step] as const))(
    "what %s does to each payout is said in both, with the same warnings",
    (_, step) => {
      for (const status of statuses)
        for (const isPaused of [true, false])
          for (const as of ["paid", "failed", "returned"]) isSaidInBoth(effectOf(step, { status, isPaused }, { as }))
    }
  )

  it("a step about the account or a sentence says the same in both, also of what waits and is in doubt", () => {
    const sum = { count: 2, centavos: 300n }
    for (const state of ["accepted", "unknown", "paid"])
      for (const as of ["refused", "wait"])
        for (const step of [...Steps.accountSteps, ...Steps.sentenceSteps])
          isSaidInBoth(effectOf(step, { sums: new Map([[state, sum]]) }, { fingerprint: "f", as, seen: "one" }))
  })

  it("every pair of words has both, as many sentences, and the same numbers and words of the command", () => {
    expect(pairs.length).toBeGreaterThan(60)
    for (const [path, pair] of pairs) {
      assert.notStrictEqual(pair.pt.trim(), "", path)
      assert.deepStrictEqual(shapeOf(pair.pt).alike, shapeOf(pair.en).alike, path)
    }
  })

  it("what ends a wait is said in both languages, but where it is a step alone", () => {
    for (const [path, why] of Object.entries(becauses).flatMap(([, whys]) => Object.entries<Why>(whys))) {
      const ends = join(Words.endsBy(why) ?? "")
      assert.isTrue(ends.en !== ends.pt || /^`\w+`$/.test(ends.en), path)
      isSaidInBoth(ends)
    }
  })

  it("texts are put together in each language", () => {
    expect(join("1 ", text("a", "b"), say(text("c", "d"), "pt"))).toEqual({ en: "1 ad", pt: "1 bd" })
  })
})
