/**
 * Of a payout and the one that is paid in its place only one is executed, whatever fails and whoever dies, but where the service takes
 * back what it said; then the status of the first one says so. `npm run soak` plays ten thousand stories, or as many as `EFFECT_PIX_MINUTES` allows.
 */
import { describe, test } from "@effect/vitest"
import { drawn, runs, seed } from "../support/seed.ts"
import { sqlite } from "./moneyStores.ts"
import { simulateStory } from "./replaced.ts"

const minutes = Number(process.env["EFFECT_PIX_MINUTES"] ?? Infinity)
const ofTest = 20
const tests = runs(10, 500)

describe("in random stories, of which some processes die,", () => {
  test.each(drawn(Array.from({ length: tests }, (_, index) => seed + index * ofTest)))(
    "a payout and the one in its place are never both executed, but where the service takes back what it said (from seed %i)",
    async (first) => {
      for (let next = first; next < first + ofTest && performance.now() < minutes * 60_000; next++)
        await simulateStory(next, sqlite)
    }
  )
})
