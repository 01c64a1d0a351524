/**
 * The statement that changes a row.
 */
import * as Effect from "effect/Effect"
import * as Record from "effect/Record"
import type { Fragment } from "effect/sql/Statement"
import type { Row } from "./row.ts"
import { columnOf, type StoreParts, table } from "./storeParts.ts"

/** Under which other conditions a row is changed: see `update`. */
export interface Conditions {
  readonly cap?: number | undefined
  readonly dueIn?: number | undefined
  readonly where?: Fragment | undefined
}

/**
 * Changes a row, with its entry of the history, and returns it; `undefined` where another process changed it first. `where` is
 * one more condition. With `dueIn`, in milliseconds, nobody has taken it then, and it is due after that time. With `cap` its
 * amount is added to the sum of today; where that would exceed the cap, the row is returned as it was. A row that counts
 * no more is subtracted from the sum of its day. On PostgreSQL all of it is one statement, since a process that is suspended
 * between two statements would hold the locks of the row and of the sum, which all workers share.
 */
export const makeUpdate = ({ account, accounts, database, due, insertEntry, transaction }: StoreParts) => {
  const { dialect, sql } = database
  const isPg = dialect === "pg"
  const payouts = sql(table)
  const ofAccount = sql`account = ${account}`
  const nothing = sql.literal("")
  return Effect.fnUntraced(function* (from: Row, to: Row, entry: string | undefined, conditions: Conditions) {
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
  })
}
