/**
 * The lookups of an account, in its row: when the next one may leave, and whether they are stopped. All workers of the account share
 * them.
 */
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import type { Database } from "../../../durable/Database.ts"
import { databaseNow } from "../../../durable/Now.ts"
import type { Account } from "./account.ts"
import { spacingOf } from "./accountTime.ts"
import { accountAlias, fragmentOf, isNextNow } from "./conditions.ts"
import { lookupSpacing } from "./lookups.ts"

/** Changes the row of the account under a condition, and returns whether it held. */
export type UpdateAccount = (changes: Fragment, where: Fragment) => Effect.Effect<boolean, SqlError>

const hour = 3_600_000

export const makeLookupStore = (database: Database, account: string, update: UpdateAccount) => {
  const { sql } = database
  const isPaced = sql.literal(`${accountAlias}.pace_per IS NOT NULL`)
  return {
    /**
     * The turn of a lookup, as a statement that changes the account where its time has come: five a second, or one an hour while they are
     * stopped. It is a request of the account, and where that has a pace, it takes the time of one, unless one of these `sends` is due.
     */
    turn: (read: Pick<Account, "paceMost" | "pacePer">, sends: Fragment, found: Fragment) =>
      Effect.map(databaseNow(database), (now) => {
        const next = sql`${now} + CAST(${spacingOf(read)} AS BIGINT)`
        return sql`UPDATE effect_pix_payout_accounts AS ${sql.literal(accountAlias)}
          SET lookup_at = ${now} + CASE WHEN lookups_stopped_at IS NULL THEN ${sql.literal(`${lookupSpacing}`)} ELSE ${sql.literal(`${hour}`)} END,
            next_at = CASE WHEN ${isPaced} THEN ${next} ELSE next_at END, set_at = CASE WHEN ${isPaced} THEN ${now} ELSE set_at END
          WHERE account = ${account} AND (COALESCE(lookup_at, 0) <= ${now} OR lookup_at > ${now} + ${sql.literal(`${hour}`)})
            AND ${fragmentOf(database, isNextNow, { now })} AND NOT (${isPaced} AND EXISTS (${sends})) AND EXISTS (${found})
          RETURNING account`
      }),
    /** Stops the lookups, of which one is tried an hour; false where they are stopped, or where one found a record since a time. */
    stop: (since: number) =>
      Effect.flatMap(databaseNow(database), (now) =>
        update(
          sql`lookups_stopped_at = ${now}, lookup_at = ${now} + ${hour}`,
          sql`lookups_stopped_at IS NULL AND (lookup_found_at IS NULL OR lookup_found_at < CAST(${since} AS BIGINT))`
        )
      ),
    /** One found a record: they are stopped no more. */
    found: Effect.flatMap(databaseNow(database), (now) =>
      update(
        sql`lookup_found_at = ${now}, lookup_at = CASE WHEN lookups_stopped_at IS NULL THEN lookup_at ELSE ${now} END, lookups_stopped_at = NULL`,
        sql`1 = 1`
      )
    )
  }
}
