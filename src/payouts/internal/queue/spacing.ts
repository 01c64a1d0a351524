/**
 * The time between two requests of an account: by the pace that an operator set, and by what was learned of the service's own. The
 * statement that marks a request takes its time in the row of the account, so that any number of workers keep one pace.
 *
 * Details: a service that refuses a request as too soon, without a time that holds, is asked again until it takes one. From how many it took
 * since a minute before follows about how often it takes one; each request that leaves then shortens that time by a
 * twentieth, and each refusal makes it longer by a quarter.
 */
import * as Effect from "effect/Effect"
import type { Fragment } from "effect/sql/Statement"
import type { Database } from "../../../durable/Database.ts"
import { databaseNow } from "../../../durable/Now.ts"
import type { Account } from "./account.ts"
import { accountAlias, fragmentOf, isNextNow, isSpaced, longestSpacing } from "./conditions.ts"
import { ended } from "./tables.ts"

/** How far apart the requests of an account are, in milliseconds; 0: they are not. */
export const spacingOf = ({ paceMost, pacePer, spacing }: Pick<Account, "paceMost" | "pacePer" | "spacing">): number =>
  Math.max(pacePer === null ? 0 : Math.ceil(pacePer / (paceMost ?? 1)), spacing ?? 0)

export const makeSpacing = (database: Database, account: string) => {
  const { dialect, sql } = database
  const accounts = sql("effect_pix_payout_accounts")
  const served = sql.literal(accountAlias)
  const least = sql.literal(dialect === "pg" ? "LEAST" : "MIN")
  const greatest = sql.literal(dialect === "pg" ? "GREATEST" : "MAX")
  return {
    /** The statement that takes the time of the request of a table's row. It returns none where that time has not come. */
    takeTime: (table: Fragment) =>
      Effect.map(
        databaseNow(database),
        (now) => sql<{ readonly next: number }>`UPDATE ${accounts} AS ${served}
          SET next_at = ${now} + ${greatest}(COALESCE((pace_per + pace_most - 1) / pace_most, 0), COALESCE(spacing, 0)),
            spacing = CASE WHEN spacing >= 100 THEN CAST(spacing * 19 / 20 AS BIGINT) END
          WHERE account = ${account} AND ${fragmentOf(database, isSpaced)} AND ${fragmentOf(database, isNextNow, { now })}
            AND EXISTS (SELECT 1 FROM ${table}) RETURNING next_at AS "next"`
      ),
    /** What a wait that ends now says of the time between requests, as SQL for the row of the account. */
    learned: (now: Fragment): Fragment => {
      const wait = sql`(${now} - blocked_at)`
      const count = sql`(SELECT COUNT(*) FROM effect_pix_payouts WHERE account = ${account} AND ${sql.literal(ended)}
        AND request IS NOT NULL AND updated_at >= ${accounts}.blocked_at - 60000)`
      // A driver of SQLite gives numbers that are no integers.
      return sql`CAST(CASE WHEN probes >= 0 AND blocked_because = 'Limit' AND ${wait} <= ${longestSpacing}
        THEN ${least}(${longestSpacing}, ${greatest}(COALESCE(spacing * 5 / 4, 0),
          ${least}(${wait}, (60000 + ${wait}) / ${greatest}(1, ${count})))) ELSE spacing END AS BIGINT)`
    }
  }
}
