/**
 * Webhooks on SQLite, under the clock of the test, and on PostgreSQL.
 */
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { databases } from "./database.ts"
import { effect, live } from "./effect.ts"
import { type Options, recording, world } from "./webhooks.ts"

/** Where a webhook stores its rows. A test of each has its own. */
export const stores = databases.map(({ client, dialect, name, skip }) => ({
  name,
  dialect,
  test: dialect === "sqlite" ? effect.skipIf(false) : live.skipIf(skip),
  layer: Layer.mergeAll(world, Layer.fresh(client())),
  /** Lets the workers go on. On PostgreSQL the test then asks again, until the row says what it waits for. */
  pause: dialect === "sqlite" ? TestClock.adjust("100 millis") : Effect.yieldNow
}))

/** Starts a webhook on the database of the test, as a process of its own. */
export const starting = (options: Options = {}) => recording({ poll: "50 millis", ...options })

/** A table of shipped goods, in which one charge can be shipped twice. */
export const shop = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE shipped (charge VARCHAR(60))`
  const rows = sql<{ readonly charge: string }>`SELECT charge FROM shipped ORDER BY charge`
  const ship = (id: string) => sql`INSERT INTO shipped VALUES (${id})`
  return {
    sql,
    ship,
    onPaid: ({ transaction }: { readonly transaction: { readonly transactionId: string } }) =>
      ship(transaction.transactionId),
    shipped: Effect.map(rows, (found) => found.map((row) => row.charge))
  }
})

/** Processes each row that waits, without its waits, until none is left. */
export const settled = (pause: Effect.Effect<void>) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const hurry = Effect.retry(
      sql`UPDATE effect_pix_webhooks SET due_at = 0 WHERE state = 'Open' AND taken_by IS NULL`,
      // A worker took a row at the same moment, where transactions are repeatable read.
      { while: ({ reason }) => reason._tag === "SerializationError" }
    )
    const waiting = sql`SELECT 1 FROM effect_pix_webhooks WHERE state NOT IN ('Done', 'Dead')`
    yield* Effect.repeat(Effect.andThen(hurry, Effect.andThen(pause, waiting)), { until: ({ length }) => length === 0 })
  })
