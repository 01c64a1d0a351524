/**
 * The pause of an account.
 */
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import { type Database, inTransaction } from "../../../durable/Database.ts"
import { databaseNow } from "../../../durable/Now.ts"
import { accountAlias, fragmentOf, isOpen, isSeen, isUncounted, uncountedCauses } from "./conditions.ts"
import type { UpdateAccount } from "./lookupStore.ts"

/**
 * Sets the pause. One that ends moves what its never sent payouts are wanted since: the wait for it is not counted while a
 * worker was seen. Who waits for the cap of a day, or for credentials, has begun an uncounted wait already.
 */
export const makeSetPaused = (
  database: Database,
  account: string,
  insertIfAbsent: Effect.Effect<unknown, SqlError>,
  update: UpdateAccount
) => {
  const { dialect, sql } = database
  const accounts = sql("effect_pix_payout_accounts")
  const served = sql.literal(accountAlias)
  /** The later one of times, as SQL. */
  const latest = sql.literal(dialect === "pg" ? "GREATEST" : "MAX")

  return Effect.fnUntraced(function* (paused: boolean, entry: string) {
    const now = yield* databaseNow(database)
    yield* insertIfAbsent
    if (paused) {
      const changes = sql`paused = ${true}, paused_at = COALESCE(paused_at, ${now}), pause = ${entry}`
      return yield* update(changes, sql`1 = 1`)
    }
    const pause = sql`SELECT paused_at, served_at, seen_at, horizon FROM ${accounts} WHERE account = ${account} AND paused
        ${sql.literal(dialect === "pg" ? "FOR UPDATE" : "")}`
    const ended = sql`UPDATE effect_pix_payouts
        SET wanted_at = wanted_at + ${latest}(0, ${now} - ${latest}(wanted_at, ${served}.paused_at, ${served}.served_at)),
          version = version + 1
        FROM (${pause}) AS ${served}
        WHERE account = ${account} AND ${sql.literal(isOpen.sql)} AND may_have_left_at IS NULL AND (because IS NULL OR NOT ${sql.in("because", uncountedCauses)})
          AND ${fragmentOf(database, isUncounted, { now })}
          AND ${served}.served_at IS NOT NULL AND ${fragmentOf(database, isSeen, { now, horizon: sql`${served}.horizon` })}`
    const changes = sql`paused = ${false}, paused_at = NULL, ends_in_row = 0, pause = ${entry}`
    return yield* inTransaction(database)(Effect.andThen(ended, update(changes, sql`1 = 1`)))
  })
}
