import { assert, describe, test } from "@effect/vitest"
import { seed } from "../support/seed.ts"
import { killOnSqlite } from "./sqlite.ts"

describe("payouts under kill -9", () => {
  test(`a process on SQLite that is killed repeatedly pays each reference once (EFFECT_PIX_SEED=${seed})`, async () => {
    const { ledger, payouts, violations } = await killOnSqlite({ payouts: 40, kills: 3, faults: 30, seed, life: 900 })
    assert.deepStrictEqual(violations, [])
    assert.isAtLeast(payouts.filter(({ state }) => state === "posted").length, 10)
    assert.isAtLeast(ledger.requests, 40)
  })
})
