/**
 * The wait that begins where the service refuses every request of an account alike, in the row of the account. One payout at a time
 * is tried in it, by who has the permit: a lease, so that the end of its process stops no other one.
 */
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import type { Database } from "../../../durable/Database.ts"
import { databaseNow } from "../../../durable/Now.ts"

/** Changes the row of the account under a condition, and returns whether it held. */
export type UpdateAccount = (changes: Fragment, where: Fragment) => Effect.Effect<boolean, SqlError>

export const makeProbes = (database: Database, update: UpdateAccount) => {
  const { sql } = database
  return {
    /** Begins the wait, of which one payout at a time is tried; false where it had begun. */
    block: (because: string, delay: number) =>
      Effect.flatMap(databaseNow(database), (now) =>
        update(
          sql`blocked_at = ${now}, blocked_because = ${because}, probes = 0, probe_at = ${now} + ${delay}, probe_key = NULL`,
          sql`blocked_at IS NULL`
        )
      ),
    /** Takes the permit to try one payout, for as long as the lease lasts. */
    takeProbe: (key: string, lease: number) =>
      Effect.flatMap(databaseNow(database), (now) =>
        update(
          sql`probe_key = ${key}, probe_at = ${now} + ${lease}`,
          sql`blocked_at IS NOT NULL AND probe_at <= ${now}`
        )
      ),
    /** Gives the permit back: the next payout is tried after a delay. */
    endProbe: (key: string, delay: number) =>
      Effect.flatMap(databaseNow(database), (now) =>
        update(sql`probe_key = NULL, probe_at = ${now} + ${delay}, probes = probes + 1`, sql`probe_key = ${key}`)
      ),
    /** The next payout is tried at once, unless one is being tried. */
    probeNow: Effect.flatMap(databaseNow(database), (now) =>
      update(sql`probe_at = ${now}`, sql`blocked_at IS NOT NULL AND probe_key IS NULL`)
    ),
    /** Ends the wait. */
    unblock: (key: string) =>
      update(
        sql`blocked_at = NULL, blocked_because = NULL, probes = 0, probe_at = NULL, probe_key = NULL`,
        sql`probe_key = ${key}`
      )
  }
}
