import { assert, describe, test } from "@effect/vitest"
import { noPostgres } from "../support/postgres.ts"
import { outage } from "./postgres.ts"

const absent = noPostgres()
const why = absent === undefined ? "" : ` (${absent})`

describe("payouts on a PostgreSQL that is unavailable for longer than a lease", () => {
  test.skipIf(absent !== undefined)(`the same workers continue, and each reference is paid once${why}`, async () => {
    const { ledger, violations } = await outage()
    assert.deepStrictEqual(violations, [])
    assert.strictEqual(ledger.keys.length, 150)
  })
})
