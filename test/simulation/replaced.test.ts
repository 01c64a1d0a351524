/**
 * Of a payout and the one that is paid in its place only one is executed, whatever fails and whoever dies, but where the service takes
 * back what it said; then the status of the first one says so. `npm run soak` plays ten thousand stories, or as many as `EFFECT_PIX_MINUTES` allows.
 */
import { afterAll, assert, describe, test } from "@effect/vitest"
import { runs, seed } from "../support/seed.ts"
import { sqlite } from "./moneyStores.ts"
import { simulateStory } from "./replaced.ts"

const minutes = Number(process.env["EFFECT_PIX_MINUTES"] ?? Infinity)
const ofTest = 20
const tests = runs(10, 500)

describe("in random stories, of which some processes die,", () => {
  const told = { stories: 0, executed: 0, twice: 0, told: 0 }
  test.each(Array.from({ length: tests }, (_, index) => seed + index * ofTest))(
    "a payout and the one in its place are never both executed, but where the service takes back what it said (from seed %i)",
    async (first) => {
      for (let next = first; next < first + ofTest && performance.now() < minutes * 60_000; next++) {
        const { executed, isTold, isTwice } = await simulateStory(next, sqlite)
        told.stories++
        told.executed += executed
        told.twice += isTwice ? 1 : 0
        told.told += isTold ? 1 : 0
      }
    }
  )
  afterAll(() => {
    process.stderr.write(`${JSON.stringify(told)}, from seed ${seed}\n`)
    // They are about it.
    for (const count of Object.values(told)) assert.isAbove(count, 0)
  })
})
