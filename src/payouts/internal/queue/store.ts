/**
 * What is read and written of the rows in the user's database.
 */
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import * as Str from "effect/String"
import * as Struct from "effect/Struct"
import {
  type Database,
  inTransaction,
  isInTransaction,
  isOneOf,
  locked,
  requireOwnTransaction
} from "../../../durable/Database.ts"
import { makeDue } from "../../../durable/Due.ts"
import { followWrites, soleWritesOf } from "../../../internal/soleWriter.ts"
import type { PayoutState } from "../../PayoutStatus.ts"
import type { ReadAccount } from "./account.ts"
import { makeAccountStore } from "./accountStore.ts"
import { Count, Row } from "./row.ts"
import type { Settings } from "./settings.ts"
import { isOpen } from "./conditions.ts"
import { entryOf } from "./entries.ts"
import { ended as endedStates, recorded as recordedPayouts } from "./tables.ts"

const table = "effect_pix_payouts"
const historyTable = "effect_pix_payout_history"

const decodeRow = Schema.decodeUnknownEffect(Row)
const decodeRows = Schema.decodeUnknownEffect(Schema.Array(Row))
const decodeCounts = Schema.decodeUnknownEffect(Schema.Array(Count))

/** A place in a list that is ordered by a time and then by the key. */
export interface Place {
  readonly at: number
  readonly key: string
}

/** The key of an account's own changes in the history. No payout has it, since the keys of payouts have a hash. */
export const accountKey = "account"

/** The column of a field. */
const columnOf = (field: string) => Str.camelToSnake(field)

/** What a payout has after its record was deleted, but for its account, key, state and times. */
const withoutRecord = {
  ...Struct.omit(
    Row.make({
      account: "",
      idempotencyKey: "",
      reference: "",
      amount: 0,
      requestCheck: "",
      submittedAt: 0,
      updatedAt: 0
    }),
    ["account", "idempotencyKey", "state", "submittedAt", "updatedAt", "version"]
  ),
  amount: null
}

/** Repeats a statement that changes at most 1,000 rows, until it finds fewer. */
const inBatches = (batch: Effect.Effect<ReadonlyArray<unknown>, SqlError>) =>
  Effect.asVoid(Effect.repeat(batch, { while: ({ length }) => length === 1000 }))

/** Under which other conditions a row is changed: see `update`. */
export interface Conditions {
  readonly cap?: number | undefined
  readonly dueIn?: number | undefined
  readonly where?: Fragment | undefined
}

export type Store = ReturnType<typeof makeStore>

export const makeStore = (database: Database, { account, lease }: Pick<Settings, "account" | "lease">) => {
  const { dialect, sql } = database
  const payouts = sql(table)
  const accounts = makeAccountStore(database, account)
  const ofAccount = sql`account = ${account}`
  const histories = sql(historyTable)
  const allColumns = Struct.keys(Row.fields)
    .map((field) => `${columnOf(field)} AS "${field}"`)
    .join(", ")
  const all = sql.literal(allColumns)
  const nothing = sql.literal("")
  const isPg = dialect === "pg"
  const open = sql.literal(isOpen.sql)
  const ended = sql.literal(endedStates)
  /** The record of a payout is there until `forget.record`. */
  const hasRecord = sql.literal(recordedPayouts)
  const select = (where: Fragment) =>
    Effect.flatMap(sql`SELECT ${all} FROM ${payouts} WHERE ${hasRecord} AND ${where}`, (rows) =>
      Effect.orDie(decodeRows(rows))
    )
  /** The rows whose keys a SELECT finds, by the primary key. */
  const hasKeyOf = (keys: Fragment) => sql`${ofAccount} AND ${isOneOf(database, "idempotency_key", keys)}`
  /** Many values in one parameter, so that one prepared statement serves any number of them. */
  const unpacked = (json: string) =>
    isPg ? sql`SELECT json_array_elements_text(CAST(${json} AS JSON))` : sql`SELECT value FROM json_each(${json})`
  const transaction = inTransaction(database)
  const readCommitted = sql`SET TRANSACTION ISOLATION LEVEL READ COMMITTED`
  /** The one statement that writes the history. */
  const insertEntries = (entries: Fragment) =>
    sql`INSERT INTO ${histories} (account, idempotency_key, entry) SELECT CAST(${account} AS VARCHAR(32)), ${entries}`
  const insertEntry = (key: string, entry: string, from = nothing) =>
    insertEntries(sql`CAST(${key} AS VARCHAR(64)), CAST(${entry} AS TEXT) ${from}`)
  // Found by its place, a row costs one page. By its key, PostgreSQL may read the account's whole index for it, as long as it has
  // no statistics of the accounts.
  const place = isPg ? "ctid" : "rowid"
  /** Changes at most 1,000 of the payouts that ended, and returns their keys. */
  const changeOld = (changes: Fragment, where: Fragment) => {
    const old = sql`SELECT ${sql(place)} FROM ${payouts} WHERE ${ofAccount} AND ${ended} AND ${where} LIMIT 1000 ${locked(database)}`
    return sql<{ readonly key: string }>`UPDATE ${payouts} SET ${changes}, version = version + 1
      WHERE ${isOneOf(database, place, old)} RETURNING idempotency_key AS "key"`
  }
  const due = makeDue(database, {
    table,
    key: "idempotency_key",
    where: sql`${ofAccount} AND ${open}`,
    columns: all,
    // A payout waits at most for the next day.
    longest: Math.max(lease, 25 * 3_600_000)
  })

  return {
    /** The row of the account, and its sums of days. */
    accounts,
    /** Fails where the caller is in a transaction of another database client. */
    requireOwnTransaction: (operation: string) => requireOwnTransaction(database, operation),
    /** Whether the caller is in a transaction of this client. */
    isInTransaction: isInTransaction(database),
    /** Joins the caller's transaction, or makes one. */
    transaction,
    /**
     * The same. Where it makes one, its statements find what others have committed while it waited for a lock, whatever the
     * database's default level of isolation is.
     */
    readCommitted: <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      Effect.flatMap(isInTransaction(database), (isInside) =>
        transaction(isPg && !isInside ? Effect.andThen(readCommitted, effect) : effect)
      ),
    /** Follows the writes from now on. */
    followWrites: followWrites(soleWritesOf(sql)),
    /** Runs an effect when the caller's transaction is committed; at once where there is none. */
    afterCommit: sql.afterCommit,
    /**
     * Inserts a row of a list with this sum, and returns whether it is above the account's limit, and parked; `undefined` where
     * there is a row with its key.
     */
    insert: (row: Row, sum: number) => {
      // What is null is left out, so that a role need not be allowed to write an approval. On PostgreSQL a row is due and wanted by
      // the clock of the database, which is the default.
      const times = isPg ? { dueAt: null, wantedAt: null } : { dueAt: row.submittedAt, wantedAt: row.submittedAt }
      const known = Record.filter({ ...row, ...times }, (value) => value !== null)
      const above = sql`COALESCE(CAST(${sum} AS BIGINT) > ${accounts.limit}, ${false})`
      const columns: Record<string, unknown> = {
        ...known,
        state: sql`CASE WHEN ${above} THEN 'parked' ELSE 'accepted' END`,
        parkedBecause: sql`CASE WHEN ${above} THEN 'NeedsApproval' END`,
        needsApproval: above
      }
      const names = sql.csv(Struct.keys(columns).map((field) => sql`${sql(columnOf(field))}`))
      const values = sql.csv(Object.values(columns).map((value) => sql`${value}`))
      return Effect.map(
        sql`INSERT INTO ${payouts} (${names}) VALUES (${values}) ON CONFLICT DO NOTHING
          RETURNING needs_approval AS "needsApproval", wanted_at AS "wantedAt"`,
        ([inserted]) =>
          inserted && { needsApproval: Boolean(inserted["needsApproval"]), wantedAt: Number(inserted["wantedAt"]) }
      )
    },
    get: (key: string) => Effect.map(select(sql`${ofAccount} AND idempotency_key = ${key}`), ([row]) => row),
    /** The state of a payout whose record was deleted. */
    endedState: (key: string) =>
      Effect.map(
        sql<{ readonly state: PayoutState }>`SELECT state AS "state" FROM ${payouts}
          WHERE ${ofAccount} AND idempotency_key = ${key} AND amount IS NULL`,
        ([row]) => row?.state
      ),
    /** Writes an entry of something that changes no row. */
    insertEntry,
    /** Puts in doubt what may have been sent since a worker was last seen, with the entries of the history. */
    doubt: (from: ReadAccount, now: number, lease: number) =>
      Effect.flatMap(accounts.identity.doubt(from, now, lease, allColumns), (found) =>
        Effect.tap(Effect.orDie(decodeRows(found)), (rows) =>
          Effect.forEach(Arr.chunksOf(rows, 1000), (some) => {
            const entries = some.map((row) => [row.idempotencyKey, entryOf({ _tag: "Doubted" }, row)])
            return insertEntries(
              sql`one ->> 0, one ->> 1 FROM json_array_elements(CAST(${JSON.stringify(entries)} AS JSON)) AS entries (one)`
            )
          })
        )
      ),
    /**
     * Changes a row, with its entry of the history, and returns it; `undefined` where another process changed it first. `where` is
     * one more condition. With `dueIn`, in milliseconds, nobody has taken it then, and it is due after that time. With `cap` its
     * amount is added to the sum of today; where that would exceed the cap, the row is returned as it was. A row that counts
     * no more is subtracted from the sum of its day. On PostgreSQL all of it is one statement, since a process that is suspended
     * between two statements would hold the locks of the row and of the sum, which all workers share.
     */
    update: Effect.fnUntraced(function* (from: Row, to: Row, entry: string | undefined, conditions: Conditions) {
      const { cap, dueIn, where: allowed = sql`1 = 1` } = conditions
      const { countedDay, idempotencyKey: key } = from
      const changes = Record.filter({ ...to }, (value, field) => value !== from[field as keyof Row]) // a field of a row
      const isDue = dueIn === undefined ? nothing : sql`${yield* due.dueIn(dueIn)},`
      const set = sql`UPDATE ${payouts} SET ${isDue} ${sql.update(Record.mapKeys(changes, columnOf))}`
      const where = sql`${ofAccount} AND idempotency_key = ${key} AND version = ${from.version} AND ${allowed}`
      const found = sql`SELECT amount FROM ${payouts} WHERE ${where}`
      const change = sql`${set} WHERE ${where} RETURNING version`
      if (entry === undefined) return (yield* change).length > 0 ? to : undefined
      const counts = cap === undefined ? undefined : yield* accounts.addToDay(isPg ? sql`found` : sql`(${found})`, cap)
      const frees = countedDay !== null && to.countedDay === null
      const subtracts = frees ? accounts.subtractFromDay(countedDay, from.amount) : undefined
      const read = (rows: ReadonlyArray<unknown>) => {
        // The statements below return one row for a row that they found.
        const [row] = rows as ReadonlyArray<{ readonly day: string | null }>
        if (row === undefined || counts === undefined) return row && to
        return row.day === null ? from : { ...to, countedDay: row.day }
      }
      if (isPg) {
        const written = sql`written AS (${insertEntry(key, entry, sql`FROM changed`)})`
        const subtracted = subtracts && sql`subtracted AS (${subtracts} AND EXISTS (SELECT 1 FROM changed)),`
        return read(
          counts === undefined
            ? yield* sql`WITH changed AS (${change}), ${subtracted ?? nothing} ${written} SELECT version FROM changed`
            : yield* sql`WITH found AS (${found} FOR UPDATE), counted AS (${counts}), changed AS (${set}, counted_day = counted.day
                FROM counted WHERE ${ofAccount} AND idempotency_key = ${key} RETURNING version), ${written}
                SELECT (SELECT day FROM counted) AS "day" FROM found`
        )
      }
      return yield* transaction(
        Effect.gen(function* () {
          const day = counts && (yield* counts)[0]?.day
          if (counts !== undefined && day === undefined) return (yield* found).length > 0 ? from : undefined
          const counted = sql`${set}, counted_day = ${day} WHERE ${where} RETURNING version`
          if ((yield* day === undefined ? change : counted).length === 0) return undefined
          if (subtracts !== undefined) yield* subtracts
          yield* insertEntry(key, entry)
          return day === undefined ? to : { ...to, countedDay: day }
        })
      )
    }),
    /** The entries of a key, the oldest first. */
    history: (key: string) =>
      Effect.map(
        sql<{ readonly entry: string }>`SELECT entry AS "entry" FROM ${histories}
          WHERE ${ofAccount} AND idempotency_key = ${key} ORDER BY id`,
        (rows) => rows.map(({ entry }) => entry)
      ),
    /** The oldest first. */
    list: (state: PayoutState | undefined, after: Place, limit: number) => {
      const inState = state === undefined ? nothing : sql`state = ${state} AND`
      return select(sql`${ofAccount} AND ${inState} (submitted_at, idempotency_key) > (${after.at}, ${after.key})
        ORDER BY submitted_at, idempotency_key LIMIT ${limit}`)
    },
    /** The given keys whose rows are open. */
    open: (keys: ReadonlyArray<string>) =>
      Effect.map(
        sql<{ readonly key: string }>`SELECT idempotency_key AS "key" FROM ${payouts}
          WHERE ${open} AND ${hasKeyOf(unpacked(JSON.stringify(keys)))}`,
        (rows) => rows.map(({ key }) => key)
      ),
    /** The rows of these keys. */
    find: (keys: ReadonlyArray<string>) => select(hasKeyOf(unpacked(JSON.stringify(keys)))),
    /** The rows of an amount that were submitted since a time, and that were or may be paid. */
    ofAmount: (amount: number, since: number) =>
      select(sql`${ofAccount} AND amount = ${amount} AND submitted_at >= ${since}
        AND state NOT IN ('failed', 'refused') ORDER BY submitted_at, idempotency_key`),
    /** No other transaction judges the payouts of this amount until the caller's transaction ends. */
    lockAmount: (amount: number): Effect.Effect<void, SqlError> =>
      isPg
        ? Effect.asVoid(sql`SELECT pg_advisory_xact_lock(hashtextextended(${`effect-pix/${account}/${amount}`}, 0))`)
        : Effect.void,
    /** The open rows, which wait for a worker. */
    due,
    /** A row that was taken. One that cannot be read is a defect. */
    readTaken: (row: unknown) => Effect.orDie(decodeRow(row)),
    /** How many payouts are accepted, unknown and parked, by what they wait for or why they are parked. */
    counts: Effect.flatMap(
      sql`SELECT state AS "state", COALESCE(waits_for, parked_because) AS "cause", COUNT(*) AS "count", MIN(submitted_at) AS "oldest",
          SUM(amount) AS "amount" FROM ${payouts}
        WHERE ${ofAccount} AND ${hasRecord} AND state IN ('accepted', 'unknown', 'parked') GROUP BY state, COALESCE(waits_for, parked_because)`,
      (rows) => Effect.orDie(decodeCounts(rows))
    ),
    /** Deletes the requests of payouts that ended before a time. */
    forget: (before: number) =>
      inBatches(
        changeOld(
          sql`request = NULL, payee = NULL`,
          sql`request IS NOT NULL AND updated_at < ${before} ORDER BY updated_at`
        )
      ),
    /** Deletes the records of payouts that ended before a time: their account, key and state stay. */
    forgetRecord: (before: number) =>
      inBatches(
        transaction(
          Effect.tap(
            changeOld(
              sql`${sql.update(Record.mapKeys(withoutRecord, columnOf))}`,
              // The index of the list has no payout whose record was deleted.
              sql`${hasRecord} AND submitted_at < ${before} AND updated_at < ${before} ORDER BY submitted_at`
            ),
            (rows) => sql`DELETE FROM ${histories}
              WHERE ${hasKeyOf(unpacked(JSON.stringify(rows.map(({ key }) => key))))}`
          )
        )
      ),
    /** Changes the row of the account, with its entry of the history; false where it is so already. */
    changeAccount: (change: Effect.Effect<boolean, SqlError>, entry: string) =>
      transaction(
        Effect.flatMap(change, (changed) =>
          changed ? Effect.as(insertEntry(accountKey, entry), true) : Effect.succeed(false)
        )
      )
  }
}
