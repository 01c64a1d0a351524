/**
 * The wait that begins where the service refuses every request of an account alike, in the row of the account. One payout at a time
 * is tried in it, by who has the permit: a lease, so that the end of its process stops no other one.
 */
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import type { Database } from "../../../durable/Database.ts"
import { databaseNow } from "../../../durable/Now.ts"
import type { makeSpacing } from "./spacing.ts"

/** Changes the row of the account under a condition, and returns whether it held. */
export type UpdateAccount = (changes: Fragment, where: Fragment) => Effect.Effect<boolean, SqlError>

/** The refusal of a payout that is about the account. */
export interface Blocking {
  readonly because: string
  readonly key: string
}

/** What the account waits for that is no age of its payouts. */
const waits = ["Limit", "Balance", "Credentials"]

/** How long after a failed try the next payout is tried, in milliseconds: 5, 10, 20 seconds and so on, up to 5 minutes. */
export const probeDelay = (probes: number): number => Math.min(5000 * 2 ** probes, 300_000)

export const makeProbes = (
  database: Database,
  update: UpdateAccount,
  { learned }: Pick<ReturnType<typeof makeSpacing>, "learned">
) => {
  const { sql } = database
  /** What a refusal changes. The time of a limit counts for what was never sent, and who was not covered for who is tried next. */
  const blocking = ({ because, key }: Blocking, now: Fragment) => {
    const limited = waits.includes(because) ? sql`, limited_at = ${now}` : sql.literal("")
    return sql`blocked_because = ${because}, refused_key = ${because === "Balance" ? key : null}${limited}`
  }
  return {
    /** Begins the wait, of which one payout at a time is tried, after the time that the service named or a first delay; false where it had begun. */
    block: (refusal: Blocking, named?: number) =>
      Effect.flatMap(databaseNow(database), (now) =>
        update(
          sql`blocked_at = ${now}, probes = ${named === undefined ? 0 : -1}, probe_at = ${now} + ${named ?? probeDelay(0)}, probe_key = NULL, ${blocking(refusal, now)}`,
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
    /** Gives the permit back where nothing was sent. */
    releaseProbe: (key: string) =>
      Effect.flatMap(databaseNow(database), (now) =>
        update(sql`probe_key = NULL, probe_at = ${now} + 1000`, sql`probe_key = ${key}`)
      ),
    /** Gives the permit back after an answer: the next payout is tried after a delay. */
    endProbe: (key: string, delay: number, refusal?: Blocking) =>
      Effect.flatMap(databaseNow(database), (now) =>
        update(
          sql`probe_key = NULL, probe_at = ${now} + ${delay}, probes = probes + 1${refusal === undefined ? sql.literal("") : sql`, ${blocking(refusal, now)}`}`,
          sql`probe_key = ${key}`
        )
      ),
    /** The next payout is tried at once, unless one is being tried. */
    probeNow: Effect.flatMap(databaseNow(database), (now) =>
      update(sql`probe_at = ${now}`, sql`blocked_at IS NOT NULL AND probe_key IS NULL`)
    ),
    /** Ends the wait. A record of another payout shows that the balance covers more than the one that was refused last. */
    unblock: (key: string, isRecorded: boolean) =>
      Effect.flatMap(databaseNow(database), (now) =>
        update(
          sql`limited_at = CASE WHEN ${sql.in("blocked_because", waits)} THEN ${now} ELSE limited_at END,
            refused_key = CASE WHEN ${isRecorded} THEN refused_key END,
            spacing = ${learned(now)}, next_at = ${now} + COALESCE(${learned(now)}, 0),
            blocked_at = NULL, blocked_because = NULL, probes = 0, probe_at = NULL, probe_key = NULL`,
          sql`probe_key = ${key}`
        )
      )
  }
}
