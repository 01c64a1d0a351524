import { assert, describe, test } from "@effect/vitest"
import { seed } from "../support/seed.ts"
import { restore } from "./restore.ts"
import { killOnSqlite } from "./sqlite.ts"

describe("payouts under kill -9", () => {
  test(`a process on SQLite that is killed repeatedly pays each reference once (EFFECT_PIX_SEED=${seed})`, async () => {
    const { ledger, payouts, violations } = await killOnSqlite({ payouts: 40, kills: 3, faults: 30, seed, life: 900 })
    assert.deepStrictEqual(violations, [])
    assert.isAtLeast(payouts.filter(({ state }) => state === "posted").length, 10)
    assert.isAtLeast(ledger.requests, 40)
  })
})

describe("a backup that is restored after the gateway forgot its keys", () => {
  test("pays nobody twice if it is parked before a worker starts, and new payouts are paid", async () => {
    const restored = await restore({ on: "SQLite", payouts: 20, fresh: 5, isRunbookFollowed: true })
    assert.strictEqual(restored.paidTwice, 0)
    assert.lengthOf(restored.keys, 25)
    const count = (state: string) => restored.payouts.filter((payout) => payout.state === state).length
    assert.deepStrictEqual([count("settled"), count("posted")], [20, 5])
    for (const plan of restored.plans) assert.include(plan, "20 payouts, R$ 200,00 (20000 centavos)")
  })

  test("pays all of it twice if nobody parks it: the test sees a double payout", async () => {
    const { paidTwice } = await restore({ on: "SQLite", payouts: 3, fresh: 0, isRunbookFollowed: false })
    assert.strictEqual(paidTwice, 3)
  })
})
