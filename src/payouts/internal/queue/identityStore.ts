/**
 * The identity of the database and the heartbeat of the workers, in the row of the account. A statement that sends or judges
 * names the session that it was decided in: the run of the server, and the table. So nothing is written into a database that
 * nobody has judged, also on a connection that was opened a moment ago.
 */
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import { type Database, inTransaction } from "../../../durable/Database.ts"
import { databaseNow } from "../../../durable/Now.ts"
import type { Account } from "./account.ts"
import { isApproved, open } from "./tables.ts"

const base = "(SELECT oid FROM pg_database WHERE datname = current_database())"
const payouts = "'effect_pix_payouts'::regclass::oid"

/** An account as a worker has read it, in a session. A SQLite file belongs to one process, and has none. */
export interface InSession extends Account {
  readonly session: string | null
}

/** A time in milliseconds as an entry of the history has it, as SQL. */
const isoOf = (column: string) =>
  `to_char(to_timestamp(${column} / 1000.0) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/** The entry of a payout that is in doubt since the database moved, as SQL. */
const doubted = `CAST(json_build_object('_tag', 'Doubted', 'at', ${isoOf("updated_at")}, 'state', state,
  'mayHaveLeftAt', ${isoOf("may_have_left_at")}) AS TEXT)`

export const makeIdentityStore = (database: Database, account: string) => {
  const { dialect, sql } = database
  const isServer = dialect === "pg"
  const accounts = sql("effect_pix_payout_accounts")
  const session = sql.literal(
    isServer ? `CONCAT_WS('/', EXTRACT(EPOCH FROM pg_postmaster_start_time()), ${base}, ${payouts})` : "NULL"
  )
  const inSession = (known: string | null) => (isServer ? sql`${session} = ${known}` : sql.literal("1 = 1"))
  /** A part of the identity; empty where the server denies the function, as managed ones do, or does not have it. */
  const part = (expression: string): Effect.Effect<string, SqlError> =>
    inTransaction(database)(sql.unsafe<{ readonly part: string }>(`SELECT ${expression} AS "part"`)).pipe(
      Effect.map((rows) => rows.map((row) => row.part).join("")),
      Effect.catchIf(
        ({ isRetryable }) => !isRetryable,
        () => Effect.succeed("")
      )
    )
  const judging = (
    { beatAt, identity: stored, session: known }: InSession,
    identity: string | null,
    pausing?: Fragment
  ) =>
    Effect.map(databaseNow(database), (now) => {
      const paused = pausing === undefined ? sql.literal("") : sql`, ${pausing}`
      return sql`UPDATE ${accounts} SET identity = ${identity}, beat_at = ${now}${paused} WHERE account = ${account}
        AND identity IS NOT DISTINCT FROM CAST(${stored} AS VARCHAR(100))
        AND beat_at IS NOT DISTINCT FROM CAST(${beatAt} AS BIGINT) AND ${inSession(known)} RETURNING *`
    })

  return {
    /** The session of a statement, as SQL. */
    session,
    /** Whether a statement runs in a session, as SQL. */
    inSession,
    /** Whether other processes share the database, so that one of them may be moved to another database. */
    isServer,
    /** The identity of this database. A SQLite file has none: a copy of it is the same. */
    read: isServer
      ? Effect.map(
          Effect.all([
            part("(SELECT CAST(system_identifier AS TEXT) FROM pg_control_system())"),
            part("SUBSTR(pg_walfile_name(pg_current_wal_lsn()), 1, 8)"),
            part(`CONCAT(${base}, '/', ${payouts})`)
          ]),
          (parts) => parts.join("/")
        )
      : Effect.succeed(null),
    /** Writes a heartbeat in a session. */
    beat: (known: string | null) =>
      Effect.flatMap(
        databaseNow(database),
        (now) => sql`UPDATE ${accounts} SET beat_at = ${now} WHERE account = ${account} AND ${inSession(known)}`
      ),
    /**
     * Stores the identity with a heartbeat, and with `pausing` a pause; false where another process has done so since the account was
     * read.
     */
    judged: (read: InSession, identity: string | null, pausing?: Fragment) =>
      Effect.flatMap(judging(read, identity, pausing), (statement) =>
        Effect.map(statement, ({ length }) => length > 0)
      ),
    /**
     * The same where the database moved: in the same statement, what may have been sent meanwhile is in doubt. Returns the number
     * of these payouts and their sum; `undefined` where another process has done it.
     *
     * The database has all that was committed before its last heartbeat. So a payout can have been sent without a mark here only
     * if a worker may have sent it since: not in a pause, nor after the end of its run, nor before it is due, nor without the
     * approval that it needs.
     */
    moved: Effect.fnUntraced(function* (read: InSession, identity: string | null, lease: number, at: number) {
      const now = yield* databaseNow(database)
      const lastBeat = sql`CAST(${read.beatAt} AS BIGINT)`
      const [found] = yield* sql<Readonly<Record<"judged" | "count" | "amount", unknown>>>`
        WITH judged AS (${yield* judging(read, identity)}), doubted AS (
          UPDATE effect_pix_payouts AS payout SET may_have_left_at = GREATEST(submitted_at, ${lastBeat}),
            fingerprint = judged.fingerprint, updated_at = CAST(${at} AS BIGINT), version = version + 1
          FROM judged WHERE payout.account = judged.account AND ${sql.literal(open)} AND may_have_left_at IS NULL
            AND NOT paused AND (run_until IS NULL OR run_until > ${lastBeat})
            AND due_at <= ${now} + CAST(${lease} AS BIGINT)
            AND ${sql.literal(isApproved)}
          RETURNING payout.*
        ), entries AS (
          INSERT INTO effect_pix_payout_history (account, idempotency_key, entry)
          SELECT account, idempotency_key, ${sql.literal(doubted)} FROM doubted
        ) SELECT (SELECT COUNT(*) FROM judged) AS "judged", COUNT(*) AS "count", SUM(amount) AS "amount" FROM doubted`
      return Number(found?.judged) === 0 ? undefined : { count: Number(found?.count), amount: Number(found?.amount) }
    })
  }
}
