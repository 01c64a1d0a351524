/**
 * Charges, payouts, deliveries and reads of two accounts by two processes on one database, while the gateway fails and processes die.
 * `npm run soak` plays a million payouts, or as many as `EFFECT_PIX_MINUTES` allows.
 */
import { describe, test } from "@effect/vitest"
import { drawn, runs, seed } from "../support/seed.ts"
import { simulateSeed } from "./money.ts"
import { sqlite } from "./moneyStores.ts"

const minutes = Number(process.env["EFFECT_PIX_MINUTES"] ?? Infinity)
const payouts = runs(12, 50)
const seedsOfTest = runs(4, 10)
const tests = runs(1, 2000)

describe("on SQLite, whatever fails and whoever dies,", () => {
  test.each(Array.from({ length: tests }, (_, index) => seed + index * seedsOfTest))(
    "each payout is paid once and told as it is, and each event is handed out once (from seed %i)",
    async (first) => {
      if (performance.now() > minutes * 60_000) return
      for (const next of drawn(Array.from({ length: seedsOfTest }, (_, at) => first + at)))
        await simulateSeed(next, payouts, sqlite)
      if (tests === 1) return
      const done = (first - seed + seedsOfTest) * payouts
      process.stderr.write(`${done} payouts, ${Math.round((done * 1000) / performance.now())} a second\n`)
    }
  )
})
