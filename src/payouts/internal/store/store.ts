/**
 * What is read and written of the rows in the user's database.
 */
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import * as Struct from "effect/Struct"
import {
  type Database,
  inTransaction,
  isInTransaction,
  isOneOf,
  requireOwnTransaction
} from "../../../durable/Database.ts"
import { makeDue, makeLook } from "../../../durable/Due.ts"
import { databaseNow } from "../../../durable/Now.ts"
import { followWrites } from "../../../internal/soleWriter.ts"
import type { ReadAccount } from "../machine/account.ts"
import { makeAccountStore } from "./accounts.ts"
import { makeForget } from "./forget.ts"
import { Row } from "../machine/row.ts"
import type { Because } from "../../PayoutBecause.ts"
import type { Settings } from "../../PayoutQueueOptions.ts"
import { isLookedUp, isOpen } from "../machine/conditions.ts"
import { entryOf } from "./entries.ts"
import { handedOutOf } from "../machine/status.ts"
import { makeReads, makeSentenceStore } from "./reads.ts"
import { makeStateStore } from "./states.ts"
import { allColumns, columnOf, decodeRows, historyTable, type StoreParts, table } from "./parts.ts"

const decodeRow = Schema.decodeUnknownEffect(Row)
/** What the statement that inserts a row decides. */
const decodeInserted = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct(Struct.pick(Row.fields, ["wantedAt", "because", "waitsSince"])))
)

const balance = "Balance" satisfies Because<"accepted">

/** The key of an account's own changes in the history. No payout has it, since the keys of payouts have a hash. */
export const accountKey = "account"

export type Store = ReturnType<typeof makeStore>

export const makeStore = (database: Database, { account, lease }: Pick<Settings, "account" | "lease">) => {
  const { dialect, sql } = database
  const payouts = sql(table)
  const look = makeLook(database)
  const states = makeStateStore(database, account, lease, look)
  const accounts = makeAccountStore(database, account)
  const ofAccount = sql`account = ${account}`
  const histories = sql(historyTable)
  const all = sql.literal(allColumns)
  const nothing = sql.literal("")
  const isPg = dialect === "pg"
  const open = sql.literal(isOpen.sql)
  /** The rows whose keys a SELECT finds, by the primary key. */
  const hasKeyOf = (keys: Fragment) => sql`${ofAccount} AND ${isOneOf(database, "idempotency_key", keys)}`
  const transaction = inTransaction(database)
  const readCommitted = sql`SET TRANSACTION ISOLATION LEVEL READ COMMITTED`
  /** The one statement that writes the history. */
  const insertEntries = (entries: Fragment) =>
    sql`INSERT INTO ${histories} (account, idempotency_key, entry) SELECT CAST(${account} AS VARCHAR(32)), ${entries} RETURNING ${states.ofEntry}`
  const insertEntry = (key: string, entry: string, from = nothing) =>
    insertEntries(sql`CAST(${key} AS VARCHAR(64)), CAST(${entry} AS TEXT) ${from}`)
  const due = makeDue(database, {
    look,
    table,
    key: "idempotency_key",
    scope: ofAccount,
    waits: open,
    columns: all,
    // A payout waits at most for the next day, since its time has come.
    place: sql`submitted_at`,
    name: "reference",
    longest: Math.max(lease, 25 * 3_600_000),
    notBefore: sql`not_before`
  })

  const lookups = makeDue(database, {
    look,
    table,
    key: "idempotency_key",
    scope: ofAccount,
    waits: sql.literal(isLookedUp.sql),
    columns: all,
    name: "reference",
    // A payout is looked up once a day at least.
    longest: Math.max(lease, 25 * 3_600_000)
  })

  /** What a row has that is not sent before a time: it is due and wanted then, and waits for it where it lies ahead. */
  const scheduled = (notBefore: Fragment) =>
    Effect.map(databaseNow(database), (now) => {
      const from = sql`${sql.literal(isPg ? "GREATEST" : "MAX")}(${notBefore}, ${now})`
      const waits = sql`CASE WHEN ${notBefore} > ${now}`
      return {
        dueAt: from,
        wantedAt: from,
        because: sql`${waits} THEN 'NotBefore' END`,
        waitsSince: sql`${waits} THEN ${now} END`
      }
    })

  /** What is above the cap alone is parked. */
  const isOverRest = (cap: number, spent: Fragment) =>
    sql`(amount <= CAST(${cap} AS BIGINT) AND amount > CAST(${cap} AS BIGINT) - ${spent})`
  const isBelow = (amount: number) => sql`(may_have_left_at IS NOT NULL OR amount < CAST(${amount} AS BIGINT))`

  const parts: StoreParts = { database, account, accounts, due, states, insertEntry, transaction, hasKeyOf }

  return {
    ...makeForget(parts),
    ...makeReads(parts),
    sentences: makeSentenceStore(parts),
    update: makeUpdate(parts),
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
    followWrites: followWrites(database.writes),
    /** Runs an effect when the caller's transaction is committed; at once where there is none. */
    afterCommit: sql.afterCommit,
    /** Inserts a row, and returns since when it is wanted; `undefined` where there is a row with its key. */
    insert: Effect.fnUntraced(function* (row: Row) {
      // What is null is left out, so that a role need not be allowed to write it. On PostgreSQL a row is due and wanted by
      // the clock of the database, which is the default.
      const times = isPg ? { dueAt: null, wantedAt: null } : { dueAt: row.submittedAt, wantedAt: row.submittedAt }
      const known = Record.filter({ ...row, ...times }, (value) => value !== null)
      const { notBefore } = row
      const columns: Record<string, unknown> = {
        ...known,
        ...(notBefore !== null && (yield* scheduled(sql`CAST(${notBefore} AS BIGINT)`)))
      }
      const names = sql.csv(Struct.keys(columns).map((field) => sql`${sql(columnOf(field))}`))
      const values = sql.csv(Object.values(columns).map((value) => sql`${value}`))
      return yield* Effect.flatMap(
        sql`INSERT INTO ${payouts} (${names}) VALUES (${values}) ON CONFLICT DO NOTHING
          RETURNING wanted_at AS "wantedAt", because AS "because", waits_since AS "waitsSince"`,
        (rows) => Effect.map(Effect.orDie(decodeInserted(rows)), ([inserted]) => inserted)
      )
    }),
    /** The states that wait for `onState`. */
    states,
    /** Puts in doubt what may have been sent since a worker was last seen, with the entries of the history. */
    doubt: (from: ReadAccount, now: number) =>
      Effect.flatMap(accounts.identity.doubt(from, now, allColumns), (found) =>
        Effect.tap(Effect.orDie(decodeRows(found)), (rows) =>
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
      ),
    /** No other transaction judges the payouts of this amount until the caller's transaction ends. */
    lockAmount: (amount: number): Effect.Effect<void, SqlError> =>
      isPg
        ? Effect.asVoid(sql`SELECT pg_advisory_xact_lock(hashtextextended(${`effect-pix/${account}/${amount}`}, 0))`)
        : Effect.void,
    /** All that wait for a cause, and that nobody has taken, are due; those up to an amount where one is given. */
    callBack: (cause: Because<"accepted">, most = Number.MAX_SAFE_INTEGER) =>
      Effect.flatMap(
        due.dueIn(0),
        (now) =>
          sql`UPDATE ${payouts} SET ${now} WHERE ${ofAccount} AND ${open} AND because = ${cause} AND taken_by IS NULL
            AND amount <= CAST(${most} AS BIGINT)`
      ),
    /**
     * Which of the rows that are due may be taken, as SQL: outside of the window what was sent and is in doubt; who takes a turn leaves
     * what is above the rest of the day's cap; and `below` an amount, or in doubt. After three in a row that the balance does not cover,
     * no others of that amount meet it.
     */
    mayBeTaken: (
      { dailyCap, heldBecause, refusals, shortOf }: ReadAccount,
      {
        below,
        isClosed,
        isInTurn
      }: { readonly isClosed: boolean; readonly isInTurn: boolean; readonly below?: number | undefined }
    ) =>
      Effect.map(accounts.spentToday, (spent) =>
        sql.and([
          sql.literal(isClosed ? "may_have_left_at IS NOT NULL AND sends > 0" : "1 = 1"),
          below === undefined ? sql.literal("1 = 1") : isBelow(below),
          heldBecause === balance && refusals >= 3 && shortOf !== null
            ? sql`(${isBelow(shortOf)} OR because = ${balance} OR NOT EXISTS (SELECT 1 FROM ${payouts} AS poor
                WHERE poor.account = ${account} AND ${sql.literal(isOpen.sql.replace("state", "poor.state"))} AND poor.because = ${balance}))`
            : sql.literal("1 = 1"),
          dailyCap === null || !isInTurn
            ? sql.literal("1 = 1")
            : sql`(counted_day IS NOT NULL OR NOT ${isOverRest(dailyCap, spent)})`
        ])
      ),
    /** Those below an amount come first, as SQL of an order. */
    firstBelow: (amount: number) => sql`(amount >= CAST(${amount} AS BIGINT))`,
    /** Finds a row, whatever is in the tables, as SQL. */
    anyRow: sql`SELECT 1`,
    /** Finds an open row that is due, as SQL. */
    findDue: Effect.map(
      databaseNow(database),
      (now) =>
        sql`SELECT 1 FROM ${payouts} WHERE ${ofAccount} AND ${open} AND due_at <= ${now} AND ${due.isNotRefused()}`
    ),
    /** All that are due, are counted on no day, and are above the rest of today's cap wait for the next day. */
    waitForTomorrow: (cap: number, dueIn: number) =>
      Effect.flatMap(
        Effect.all([due.dueIn(dueIn), databaseNow(database), accounts.spentToday]),
        ([later, now, spent]) =>
          sql`UPDATE ${payouts} SET ${later}, because = 'DailyCap', version = version + 1,
            waits_since = CASE WHEN because = 'DailyCap' THEN waits_since ELSE ${now} END
          WHERE ${ofAccount} AND ${open} AND due_at <= ${now} AND counted_day IS NULL AND ${isOverRest(cap, spent)}
            AND ${due.isNotRefused()}`
      ),
    /** The open rows, which wait for a worker. */
    due,
    /** The rows whose withdrawals are looked up. */
    lookups,
    /** A row that was taken. One that cannot be read is a defect. */
    readTaken: (row: unknown) => Effect.orDie(decodeRow(row)),
    /** Changes the row of the account, with its entry of the history; false where it is so already. */
    changeAccount: (change: Effect.Effect<boolean, SqlError>, entry: string) =>
      transaction(
        Effect.flatMap(change, (changed) =>
          changed ? Effect.as(insertEntry(accountKey, entry), true) : Effect.succeed(false)
        )
      )
  }
}

/** Under which other conditions a row is changed: see `update`. */
export interface Conditions {
  /** The cap of a day on which the row is counted by the change. */
  readonly cap?: number | undefined
  /** A worker takes the row after so many milliseconds. Default: as its step says, or when its lease ends. */
  readonly dueIn?: number | undefined
  readonly where?: Fragment | undefined
}

/**
 * Changes a row, with its entry of the history and the status that is handed out, if it is, and returns it; `undefined` where another process changed it first. `where` is
 * one more condition. With `dueIn`, in milliseconds, nobody has taken it then, and it is due after that time. With `cap` its
 * amount is added to the sum of today, and is `Capped` where that would exceed the cap. A row that counts no more is subtracted from the sum of its day. On PostgreSQL all of it is one statement, since a process that is suspended
 * between two statements would hold the locks of the row and of the sum, which all workers share.
 */
const makeUpdate = (parts: StoreParts) => {
  const { account, accounts, database, due, insertEntry, states, transaction } = parts
  const { dialect, sql } = database
  const isPg = dialect === "pg"
  const payouts = sql(table)
  const ofAccount = sql`account = ${account}`
  const nothing = sql.literal("")
  return Effect.fnUntraced(function* (
    from: Row,
    to: Row,
    entry: string | undefined,
    conditions: Conditions,
    status?: string
  ) {
    const { cap, dueIn, where: allowed = sql`1 = 1` } = conditions
    const { countedDay, idempotencyKey: key } = from
    const changes = Record.filter({ ...to }, (value, field) => value !== from[field as keyof Row]) // a field of a row
    const isDue = dueIn === undefined ? nothing : sql`${yield* due.dueIn(dueIn)},`
    const set = sql`UPDATE ${payouts} SET ${isDue} ${sql.update(Record.mapKeys(changes, columnOf))}`
    const where = sql`${ofAccount} AND idempotency_key = ${key} AND version = ${from.version} AND ${allowed}`
    const found = sql`SELECT amount FROM ${payouts} WHERE ${where}`
    const change = sql`${set} WHERE ${where} RETURNING version`
    if (entry === undefined) return (yield* change).length > 0 ? to : undefined
    const counted = isPg ? sql`found` : sql`(${found}) AS found`
    const counts = cap === undefined ? undefined : yield* accounts.addToDay(counted, cap)
    const frees = countedDay !== null && to.countedDay === null
    const subtracts = frees ? accounts.subtractFromDay(countedDay, from.amount) : undefined
    const withDay = (day: string | null | undefined) =>
      day === undefined ? to : day === null ? "Capped" : { ...to, countedDay: day }
    if (isPg) {
      const state = status !== undefined && sql`, handed_out AS (${states.insertWritten(key, status, to.updatedAt)})`
      const written = sql`written AS (${insertEntry(key, entry, sql`FROM changed`)})${state || nothing}`
      if (counts === undefined) {
        const subtracted = subtracts && sql`subtracted AS (${subtracts} AND EXISTS (SELECT 1 FROM changed)),`
        const [row] =
          yield* sql`WITH changed AS (${change}), ${subtracted ?? nothing} ${written} SELECT version FROM changed`
        return row && to
      }
      const [row] = yield* sql<{ readonly day: string | null }>`
        WITH found AS (${found} FOR UPDATE), counted AS (${counts}),
        changed AS (${set}, counted_day = counted.day FROM counted
          WHERE ${ofAccount} AND idempotency_key = ${key} AND EXISTS (SELECT 1 FROM found) RETURNING version), ${written}
        SELECT (SELECT day FROM counted) AS "day" FROM found`
      return row && withDay(row.day)
    }
    return yield* transaction(
      Effect.gen(function* () {
        const day = counts && (yield* counts)[0]?.day
        if (counts !== undefined && day === undefined) return (yield* found).length > 0 ? "Capped" : undefined
        const counted = sql`${set}, counted_day = ${day} WHERE ${where} RETURNING version`
        if ((yield* day === undefined ? change : counted).length === 0) return undefined
        if (subtracts !== undefined) yield* subtracts
        const written = yield* insertEntry(key, entry)
        // The statement returns these of its entry.
        const [{ id, isWanted }] = written as readonly [{ readonly id: number; readonly isWanted: unknown }]
        if (status !== undefined && Number(isWanted) === 1) yield* states.insert(id, key, status, to.updatedAt)
        return withDay(day)
      })
    )
  })
}
