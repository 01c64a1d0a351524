/**
 * The lookups of an account, in its row: when the next one may leave, and whether they are stopped. All workers of the account share
 * them.
 */
import * as Effect from "effect/Effect"
import type { Database } from "../../../durable/Database.ts"
import { databaseNow } from "../../../durable/Now.ts"
import { lookupSpacing } from "./lookups.ts"
import type { UpdateAccount } from "./probes.ts"

const hour = 3_600_000

export const makeLookupStore = (database: Database, account: string, update: UpdateAccount) => {
  const { dialect, sql } = database
  const isPg = dialect === "pg"
  const latest = sql.literal(isPg ? "GREATEST" : "MAX")
  const earliest = sql.literal(isPg ? "LEAST" : "MIN")
  return {
    /**
     * Reserves the next times of so many lookups, and returns in how many milliseconds the first one is. A clock that was ahead holds
     * them up for at most a minute.
     */
    reserve: (count: number) =>
      Effect.flatMap(databaseNow(database), (now) => {
        const length = sql`CAST(${count * lookupSpacing} AS BIGINT)`
        return Effect.map(
          sql<{ readonly left: unknown }>`UPDATE effect_pix_payout_accounts
            SET lookup_slot_at = ${latest}(${now}, ${earliest}(COALESCE(lookup_slot_at, 0), ${now} + 60000)) + ${length}
            WHERE account = ${account} RETURNING lookup_slot_at - ${length} - ${now} AS "left"`,
          ([row]) => Math.max(0, Number(row?.left ?? 0))
        )
      }),
    /** Stops the lookups, of which one is tried an hour; false where they are stopped, or where one found a record since a time. */
    stop: (since: number) =>
      Effect.flatMap(databaseNow(database), (now) =>
        update(
          sql`lookups_stopped_at = ${now}, lookup_probe_at = ${now} + ${hour}`,
          sql`lookups_stopped_at IS NULL AND (lookup_found_at IS NULL OR lookup_found_at < CAST(${since} AS BIGINT))`
        )
      ),
    /** Takes the permit to try one while they are stopped. The next one is tried an hour later. */
    takeProbe: Effect.flatMap(databaseNow(database), (now) =>
      update(
        sql`lookup_probe_at = ${now} + ${hour}`,
        sql`lookups_stopped_at IS NOT NULL AND COALESCE(lookup_probe_at, 0) <= ${now}`
      )
    ),
    /** One found a record: they are stopped no more. */
    found: Effect.flatMap(databaseNow(database), (now) =>
      update(sql`lookup_found_at = ${now}, lookups_stopped_at = NULL, lookup_probe_at = NULL`, sql`1 = 1`)
    )
  }
}
