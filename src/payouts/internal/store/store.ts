/**
 * What is read and written of the rows in the user's database.
 */
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Record from "effect/Record"
import type { SqlError } from "effect/sql/SqlError"
import * as Struct from "effect/Struct"
import { type Database, isInTransaction, isOneOf, locked, requireOwnTransaction } from "../../../durable/Database.ts"
import { databaseNow } from "../../../durable/Now.ts"
import { followWrites } from "../../../internal/soleWriter.ts"
import type { Settings } from "../../PayoutQueueOptions.ts"
import type { ReadAccount } from "../machine/account.ts"
import type { Row } from "../machine/row.ts"
import { handedOutOf } from "../machine/status.ts"
import { entryOf } from "./entries.ts"
import { columnOf, makeParts, readRow, type StoreParts } from "./parts.ts"
import { makeReads, makeSentenceStore } from "./reads.ts"
import { ended } from "./tables.ts"
import { makeTakes } from "./takes.ts"
import { makeUpdate } from "./update.ts"

/** The key of an account's own changes in the history. No payout has it, since the keys of payouts have a hash. */
export const accountKey = "account"

export type Store = ReturnType<typeof makeStore>

export const makeStore = (database: Database, { account, lease }: Pick<Settings, "account" | "lease">) => {
  const parts = makeParts(database, account, lease)
  const { accounts, due, insertEntry, isPg, lookups, sql, states, transaction } = parts
  const readCommitted = sql`SET TRANSACTION ISOLATION LEVEL READ COMMITTED`
  return {
    ...makeReads(parts),
    ...makeTakes(parts),
    sentences: makeSentenceStore(parts),
    insert: makeInsert(parts),
    update: makeUpdate(parts),
    doubt: makeDoubt(parts),
    forget: makeForget(parts),
    accounts,
    states,
    due,
    lookups,
    transaction,
    /** Fails where the caller is in a transaction of another database client. */
    requireOwnTransaction: (operation: string) => requireOwnTransaction(database, operation),
    /** Whether the caller is in a transaction of this client. */
    isInTransaction: isInTransaction(database),
    /**
     * As `transaction`. Where it makes one, its statements find what others have committed while it waited for a lock, whatever the
     * database's default level of isolation is.
     */
    readCommitted: <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      Effect.flatMap(isInTransaction(database), (isInside) =>
        transaction(isPg && !isInside ? Effect.andThen(readCommitted, effect) : effect)
      ),
    /** Follows the writes from now on. */
    followWrites: followWrites(database.writes),
    /** Runs an effect when the caller's transaction is committed; at once where there is none. */
    afterCommit: sql.afterCommit,
    /** No other transaction judges the payouts of this amount until the caller's transaction ends. */
    lockAmount: (amount: number): Effect.Effect<void, SqlError> =>
      isPg
        ? Effect.asVoid(sql`SELECT pg_advisory_xact_lock(hashtextextended(${`effect-pix/${account}/${amount}`}, 0))`)
        : Effect.void,
    /** A row that was taken. One that cannot be read is a defect. */
    readTaken: (row: unknown) => Effect.orDie(readRow(row)),
    /** Changes the row of the account, with its entry of the history; false where it is so already. */
    changeAccount: (change: Effect.Effect<boolean, SqlError>, entry: string) =>
      transaction(
        Effect.flatMap(change, (changed) =>
          changed ? Effect.as(insertEntry(accountKey, entry), true) : Effect.succeed(false)
        )
      )
  }
}

/** Inserts a row, and returns it; `undefined` where there is one with its key. */
const makeInsert = ({ all, database, isPg, latest, payouts, rowsOf, sql }: StoreParts) => {
  /** What a row has that is not sent before a time: it is due and wanted then, and waits for it where it lies ahead. */
  const scheduled = (time: number) =>
    Effect.map(databaseNow(database), (now) => {
      const notBefore = sql`CAST(${time} AS BIGINT)`
      const from = sql`${latest}(${notBefore}, ${now})`
      const waits = sql`CASE WHEN ${notBefore} > ${now}`
      return {
        dueAt: from,
        wantedAt: from,
        because: sql`${waits} THEN 'NotBefore' END`,
        waitsSince: sql`${waits} THEN ${now} END`
      }
    })
  return Effect.fnUntraced(function* (row: Row) {
    // What is null is left out, so that a role need not be allowed to write it. On PostgreSQL a row is due and wanted by
    // the clock of the database, which is the default.
    const times = isPg ? { dueAt: null, wantedAt: null } : { dueAt: row.submittedAt, wantedAt: row.submittedAt }
    const columns: Record<string, unknown> = {
      ...Record.filter({ ...row, ...times }, (value) => value !== null),
      ...(row.notBefore !== null && (yield* scheduled(row.notBefore)))
    }
    const names = sql.csv(Struct.keys(columns).map((field) => sql`${sql(columnOf(field))}`))
    const values = sql.csv(Object.values(columns).map((value) => sql`${value}`))
    const [inserted] = yield* rowsOf(
      sql`INSERT INTO ${payouts} (${names}) VALUES (${values}) ON CONFLICT DO NOTHING RETURNING ${all}`
    )
    return inserted
  })
}

/** Puts in doubt what may have been sent since a worker was last seen, with the entries of the history. */
const makeDoubt =
  ({ accounts, all, insertEntries, rowsOf, sql, states }: StoreParts) =>
  (from: ReadAccount, now: number) =>
    Effect.tap(rowsOf(accounts.identity.doubt(from, now, all)), (rows) =>
      Effect.forEach(Arr.chunksOf(rows, 1000), (some) => {
        const entry = { _tag: "Doubted" } as const
        const entries = some.map((row) => [
          row.idempotencyKey,
          entryOf(entry, row),
          handedOutOf(row, entry, row),
          row.updatedAt
        ])
        // Only a server is ever another one, which is a PostgreSQL.
        return sql`WITH entries AS (
            SELECT one ->> 0 AS idempotency_key, one ->> 1 AS entry, one ->> 2 AS status, CAST(one ->> 3 AS BIGINT) AS written_at
            FROM json_array_elements(CAST(${JSON.stringify(entries)} AS JSON)) AS given (one)),
          written AS (${insertEntries(sql`idempotency_key, entry FROM entries`)})
          ${states.insertAll}`
      })
    )

/** Deletes the data of payouts that ended before a time, of at most 1,000 by a statement. */
const makeForget = ({ database, isPg, ofAccount, payouts, sql }: StoreParts) => {
  // Found by its place, a row costs one page. By its key, PostgreSQL may read the account's whole index for it, as long as it has
  // no statistics of the accounts.
  const place = isPg ? "ctid" : "rowid"
  return (before: number) => {
    const old = sql`SELECT ${sql(place)} FROM ${payouts} WHERE ${ofAccount} AND ${sql.literal(ended)} AND request IS NOT NULL
      AND updated_at < ${before} ORDER BY updated_at LIMIT 1000 ${locked(database)}`
    const batch = sql`UPDATE ${payouts} SET request = NULL, payee = NULL, reason = NULL, version = version + 1
      WHERE ${isOneOf(database, place, old)} RETURNING idempotency_key`
    return Effect.asVoid(Effect.repeat(batch, { while: ({ length }) => length === 1000 }))
  }
}
