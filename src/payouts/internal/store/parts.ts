/**
 * What the statements of the rows share.
 */
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import * as Schema from "effect/Schema"
import * as Str from "effect/String"
import * as Struct from "effect/Struct"
import { type Database, inTransaction, isOneOf } from "../../../durable/Database.ts"
import { makeDue, makeLook } from "../../../durable/Due.ts"
import { isLookedUp, isOpen } from "../machine/conditions.ts"
import { Row } from "../machine/row.ts"
import { makeAccountStore } from "./accounts.ts"
import { makeStateStore } from "./states.ts"

/** The column of a field. */
export const columnOf = (field: string) => Str.camelToSnake(field)

export const readRow = Schema.decodeUnknownEffect(Row)
const decodeRows = Schema.decodeUnknownEffect(Schema.Array(Row))

export type StoreParts = ReturnType<typeof makeParts>

export const makeParts = (database: Database, account: string, lease: number) => {
  const { dialect, sql } = database
  const table = "effect_pix_payouts"
  const [payouts, histories] = [sql(table), sql("effect_pix_payout_history")]
  const isPg = dialect === "pg"
  const ofAccount = sql`account = ${account}`
  /** The columns of a row, each with the name of its field. */
  const all = sql.literal(
    Struct.keys(Row.fields)
      .map((field) => `${columnOf(field)} AS "${field}"`)
      .join(", ")
  )
  const nothing = sql.literal("")
  const look = makeLook(database)
  const states = makeStateStore(database, account, lease, look)
  /** The one statement that writes the history. It returns the number of each entry. */
  const insertEntries = (entries: Fragment) =>
    sql`INSERT INTO ${histories} (account, idempotency_key, entry) SELECT CAST(${account} AS VARCHAR(32)), ${entries} RETURNING ${states.ofEntry}`
  const ofTable = {
    look,
    table,
    key: "idempotency_key",
    scope: ofAccount,
    columns: all,
    name: "reference",
    // A payout waits at most for the next day, since its time has come, and is looked up once a day at least.
    longest: Math.max(lease, 25 * 3_600_000)
  } as const

  return {
    account,
    database,
    sql,
    isPg,
    payouts,
    histories,
    ofAccount,
    all,
    nothing,
    /** Whether a row is open, as SQL. */
    open: sql.literal(isOpen.sql),
    /** The later one of times, as SQL. */
    latest: sql.literal(isPg ? "GREATEST" : "MAX"),
    /** The states that wait for `onState`. */
    states,
    /** The row of the account, and its sums of days. */
    accounts: makeAccountStore(database, account),
    /** The open rows, which wait for a worker. */
    due: makeDue(database, {
      ...ofTable,
      waits: sql.literal(isOpen.sql),
      place: sql`submitted_at`,
      notBefore: sql`not_before`
    }),
    /** The rows whose withdrawals are looked up. */
    lookups: makeDue(database, { ...ofTable, waits: sql.literal(isLookedUp.sql) }),
    /** Joins the caller's transaction, or makes one. */
    transaction: inTransaction(database),
    insertEntries,
    insertEntry: (key: string, entry: string, from = nothing) =>
      insertEntries(sql`CAST(${key} AS VARCHAR(64)), CAST(${entry} AS TEXT) ${from}`),
    /** The rows whose keys a SELECT finds, by the primary key. */
    hasKeyOf: (keys: Fragment) => sql`${ofAccount} AND ${isOneOf(database, "idempotency_key", keys)}`,
    /** The rows that a statement returns. One that cannot be read is a defect. */
    rowsOf: (found: Effect.Effect<ReadonlyArray<unknown>, SqlError>) =>
      Effect.flatMap(found, (rows) => Effect.orDie(decodeRows(rows)))
  }
}
