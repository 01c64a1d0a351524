import { describe, test } from "@effect/vitest"
import { noPostgres } from "../support/postgres.ts"
import { runs, seed } from "../support/seed.ts"
import { simulateSeed } from "./money.ts"
import { onPostgres } from "./moneyPostgres.ts"

describe("on PostgreSQL, whatever fails and whoever loses its connections,", () => {
  const seeds = Array.from({ length: runs(1, 50) }, (_, index) => seed + index)
  // A seed takes some ten seconds, most of them waits for the server.
  test.skipIf(noPostgres() !== undefined || runs(0, 1) === 0).each(seeds)(
    "each payout is paid once and told as it is, and each event is handed out once (seed %i)",
    (next) => simulateSeed(next, runs(8, 20), onPostgres)
  )
})
