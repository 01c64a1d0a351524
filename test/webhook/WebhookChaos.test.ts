import { assert, describe, it } from "@effect/vitest"
import { webhookChaos } from "../chaos/webhooks.ts"
import { noPostgres } from "../support/postgres.ts"
import { runs, seed } from "../support/seed.ts"

const absent = noPostgres()

describe("kill -9 of processes that receive webhooks", () => {
  it("on SQLite every order that is paid is shipped once", async () => {
    const { shipped, twice } = await webhookChaos({
      database: "SQLite",
      orders: runs(12, 20),
      processes: 1,
      kills: runs(1, 2),
      seed
    })
    assert.deepStrictEqual({ shipped, twice }, { shipped: runs(12, 20), twice: 0 }, `seed ${seed}`)
  })

  it.skipIf(absent !== undefined)(
    "on PostgreSQL with three processes every order that is paid is shipped once",
    async () => {
      const { shipped, twice } = await webhookChaos({
        database: "PostgreSQL",
        orders: runs(15, 24),
        processes: 3,
        kills: runs(2, 3),
        seed
      })
      assert.deepStrictEqual({ shipped, twice }, { shipped: runs(15, 24), twice: 0 }, `seed ${seed}`)
    }
  )
})
