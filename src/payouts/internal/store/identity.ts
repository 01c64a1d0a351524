/**
 * The identity of the database, and when a worker was seen in it, in the row of the account. A statement that sends or checks
 * names the session that it was decided in: the run of the server, and the table. So nothing is written into a database that
 * nobody has checked, also on a connection that was opened a moment ago.
 */
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import { type Database, inTransaction } from "../../../durable/Database.ts"
import { databaseNow } from "../../../durable/Now.ts"
import { unnoticed } from "../../../internal/soleWriter.ts"
import type { ReadAccount, Account } from "../machine/account.ts"
import { accountAlias, fragmentOf, isDueBy, isOfThisDatabase, isOpen } from "../machine/conditions.ts"
import { makeOutcomeUnknown } from "../machine/answers.ts"
import { writeFailure } from "../machine/row.ts"

const base = "(SELECT oid FROM pg_database WHERE datname = current_database())"
/** Stands for the key of a row in the text of its failure. */
const keyOfRow = ":key"
/** When the server of a session started. */
const startOf = (session: string) => Number(session.split("/")[0]) * 1000

const payouts = "'effect_pix_payouts'::regclass::oid"

export const makeIdentityStore = (database: Database, account: string) => {
  const { dialect, sql } = database
  const isServer = dialect === "pg"
  const accounts = sql("effect_pix_payout_accounts")
  const open = sql.literal(isOpen.sql)
  const session = sql.literal(
    isServer ? `CONCAT_WS('/', EXTRACT(EPOCH FROM pg_postmaster_start_time()), ${base}, ${payouts})` : "NULL"
  )
  const inSession = (known: string | null) => (isServer ? sql`${session} = ${known}` : sql.literal("1 = 1"))
  const served = sql.literal(accountAlias)
  /** A part of the identity; empty where the server denies the function, as managed ones do, or does not have it. */
  const part = (expression: string): Effect.Effect<string, SqlError> =>
    inTransaction(database)(sql.unsafe<{ readonly part: string }>(`SELECT ${expression} AS "part"`)).pipe(
      Effect.map((rows) => rows.map((row) => row.part).join("")),
      Effect.catchIf(
        ({ isRetryable }) => !isRetryable,
        () => Effect.succeed("")
      )
    )
  /** A worker is seen now. After a gap longer than the horizon the account is served since now. */
  const seeing = (horizon: number) =>
    Effect.map(
      databaseNow(database),
      (now) => sql`served_at = CASE WHEN served_at IS NULL OR seen_at IS NULL
        OR ABS(${now} - seen_at) > CAST(${horizon} AS BIGINT) THEN ${now} ELSE served_at END, seen_at = ${now}`
    )
  /** What waits in a file is written to each minute; a file in which nothing waits rests. */
  const isWaiting = isServer
    ? sql.literal("1 = 1")
    : sql`EXISTS (SELECT 1 FROM effect_pix_payouts WHERE account = ${account} AND ${open})`

  return {
    /** The session of a statement, as SQL. */
    session,
    /** Whether a statement runs in a session, as SQL. */
    inSession,
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
    /** A worker is seen in a session; false where nothing waits in a file. */
    see: (known: string | null, horizon: number) =>
      Effect.flatMap(seeing(horizon), (seen) =>
        Effect.map(
          unnoticed(
            sql`UPDATE ${accounts} SET ${seen} WHERE account = ${account} AND ${inSession(known)} AND ${isWaiting} RETURNING account`
          ),
          ({ length }) => length > 0
        )
      ),
    /** A worker that has checked the database is seen in it; false where another process has done so since the account was read. */
    checked: ({ identity: stored, seenAt, session: known }: ReadAccount, identity: string | null, horizon: number) =>
      Effect.flatMap(seeing(horizon), (seen) =>
        Effect.map(
          sql`UPDATE ${accounts} SET identity = ${identity}, ${seen} WHERE account = ${account}
            AND identity IS NOT DISTINCT FROM CAST(${stored} AS VARCHAR(100))
            AND seen_at IS NOT DISTINCT FROM CAST(${seenAt} AS BIGINT) AND ${inSession(known)} RETURNING account`,
          ({ length }) => length > 0
        )
      ),
    /** Whether a worker has checked this database since its server started. What nobody served, and a file, need no check. */
    isChecked: ({ identity: stored, seenAt, session }: ReadAccount, found: string | null): boolean =>
      session === null ||
      seenAt === null ||
      (seenAt >= startOf(session) && !isMoved({ identity: stored, seenAt }, found, undefined)),
    /**
     * Whether nothing of a payout that has no mark left, as SQL for a statement that changes its row: a worker has checked this
     * database since its server started, and the payout is of this database. A file is checked by nobody.
     */
    judged: ({ identity: stored, seenAt, session: known }: ReadAccount, found: string | null) => {
      if (!isServer) return sql.literal("1 = 1")
      if (seenAt === null || isMoved({ identity: stored, seenAt }, found, undefined)) return sql.literal("1 = 0")
      return sql`${inSession(known)} AND EXISTS (SELECT 1 FROM ${accounts} AS ${served} WHERE ${served}.account = ${account}
        AND ${served}.identity IS NOT DISTINCT FROM CAST(${stored} AS VARCHAR(100))
        AND ${served}.seen_at >= EXTRACT(EPOCH FROM pg_postmaster_start_time()) * 1000
        AND ${fragmentOf(database, isOfThisDatabase)})`
    },
    /**
     * Puts in doubt, since a worker was last seen, what may have been sent since: what is open without a mark, and whose time is not
     * ahead. Returns the changed rows. What a payout waited for may have ended since, so it excludes nothing.
     */
    doubt: ({ fingerprint, seenAt }: ReadAccount, at: number, columns: Fragment) =>
      Effect.flatMap(databaseNow(database), (now) =>
        Effect.andThen(
          sql`UPDATE ${accounts} SET moved_at = ${now} WHERE account = ${account}`,
          sql`UPDATE effect_pix_payouts
          SET state = 'unknown', because = 'OtherDatabase', waits_since = NULL, error = REPLACE(${writeFailure(makeOutcomeUnknown(keyOfRow, "OtherDatabase", 0))}, ${keyOfRow}, idempotency_key),
            may_have_left_at = GREATEST(submitted_at, COALESCE(CAST(${seenAt} AS BIGINT), 0)),
            fingerprint = CAST(${fingerprint} AS VARCHAR(40)), updated_at = CAST(${at} AS BIGINT), version = version + 1
          WHERE account = ${account} AND ${open} AND may_have_left_at IS NULL AND ${fragmentOf(database, isDueBy, { now })}
          RETURNING ${columns}`
        )
      )
  }
}

const partsOf = (identity: string | null) => (identity ?? "").split("/")

/** The identity to store: what the server does not show now has its earlier value. */
export const mergedIdentity = (stored: string | null, now: string | null): string | null =>
  now &&
  partsOf(now)
    .map((part, index) => part || (partsOf(stored)[index] ?? ""))
    .join("/")

/**
 * Whether the account is in another database than that in which a worker was seen last. `lastSeen` is when this process knows that
 * a worker was seen: an earlier time is that of another database, also where the server hides its identity.
 */
export const isMoved = (
  { identity: stored, seenAt }: Pick<Account, "identity" | "seenAt">,
  identity: string | null,
  lastSeen: number | undefined
): boolean => {
  if (lastSeen !== undefined && (seenAt === null || seenAt < lastSeen)) return true
  const now = partsOf(identity)
  return seenAt !== null && partsOf(stored).some((part, index) => part && now[index] && part !== now[index])
}
