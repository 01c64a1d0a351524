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
  /** The request takes its time in the account: see `spacing.ts`. */
  readonly isTimed?: boolean | undefined
  readonly dueIn?: number | undefined
  readonly where?: Fragment | undefined
}

/**
 * Changes a row, with its entry of the history, and returns it; `undefined` where another process changed it first. `where` is
 * one more condition. With `dueIn`, in milliseconds, nobody has taken it then, and it is due after that time. With `cap` its
 * amount is added to the sum of today, and is `Capped` where that would exceed the cap; with `isTimed` it is `TooSoon` where the
 * time of the account's next request has not come. A row that counts no more is subtracted from the sum of its day. On PostgreSQL all of it is one statement, since a process that is suspended
 * between two statements would hold the locks of the row and of the sum, which all workers share.
 */
export const makeUpdate = ({ account, accounts, database, due, insertEntry, transaction }: StoreParts) => {
  const { dialect, sql } = database
  const isPg = dialect === "pg"
  const payouts = sql(table)
  const ofAccount = sql`account = ${account}`
  const nothing = sql.literal("")
  return Effect.fnUntraced(function* (from: Row, to: Row, entry: string | undefined, conditions: Conditions) {
    const { cap, dueIn, isTimed = false, where: allowed = sql`1 = 1` } = conditions
    const { countedDay, idempotencyKey: key } = from
    const changes = Record.filter({ ...to }, (value, field) => value !== from[field as keyof Row]) // a field of a row
    const isDue = dueIn === undefined ? nothing : sql`${yield* due.dueIn(dueIn)},`
    const set = sql`UPDATE ${payouts} SET ${isDue} ${sql.update(Record.mapKeys(changes, columnOf))}`
    const where = sql`${ofAccount} AND idempotency_key = ${key} AND version = ${from.version} AND ${allowed}`
    const found = sql`SELECT amount FROM ${payouts} WHERE ${where}`
    const change = sql`${set} WHERE ${where} RETURNING version`
    if (entry === undefined) return (yield* change).length > 0 ? to : undefined
    const times = isTimed ? yield* accounts.takeTime(isPg ? sql`found` : sql`(${found})`) : undefined
    const isInTime = times === undefined ? nothing : sql`WHERE EXISTS (SELECT 1 FROM timed)`
    const counted = isPg ? sql`(SELECT amount FROM found ${isInTime}) AS found` : sql`(${found})`
    const counts = cap === undefined ? undefined : yield* accounts.addToDay(counted, cap)
    const frees = countedDay !== null && to.countedDay === null
    const subtracts = frees ? accounts.subtractFromDay(countedDay, from.amount) : undefined
    const withDay = (day: string | null | undefined) =>
      day === undefined ? to : day === null ? "Capped" : { ...to, countedDay: day }
    if (isPg) {
      const written = sql`written AS (${insertEntry(key, entry, sql`FROM changed`)})`
      if (times === undefined && counts === undefined) {
        const subtracted = subtracts && sql`subtracted AS (${subtracts} AND EXISTS (SELECT 1 FROM changed)),`
        const [row] =
          yield* sql`WITH changed AS (${change}), ${subtracted ?? nothing} ${written} SELECT version FROM changed`
        return row && to
      }
      const day = counts === undefined ? sql.literal("NULL") : sql`(SELECT day FROM counted)`
      const [row] = yield* sql<{ readonly day: string | null; readonly isTimed: boolean }>`
        WITH found AS (${found} FOR UPDATE), ${times === undefined ? nothing : sql`timed AS (${times}),`}
        ${counts === undefined ? nothing : sql`counted AS (${counts}),`}
        changed AS (${set} ${counts === undefined ? nothing : sql`, counted_day = counted.day FROM counted`}
          WHERE ${ofAccount} AND idempotency_key = ${key} ${times === undefined ? nothing : sql`AND EXISTS (SELECT 1 FROM timed)`}
          AND EXISTS (SELECT 1 FROM found) RETURNING version), ${written}
        SELECT ${day} AS "day", ${times === undefined ? sql`TRUE` : sql`EXISTS (SELECT 1 FROM timed)`} AS "isTimed" FROM found`
      if (row === undefined) return undefined
      return row.isTimed ? withDay(counts && row.day) : "TooSoon"
    }
    return yield* transaction(
      Effect.gen(function* () {
        if (times !== undefined && (yield* times).length === 0) return (yield* found).length > 0 ? "TooSoon" : undefined
        const day = counts && (yield* counts)[0]?.day
        if (counts !== undefined && day === undefined) return (yield* found).length > 0 ? "Capped" : undefined
        const counted = sql`${set}, counted_day = ${day} WHERE ${where} RETURNING version`
        if ((yield* day === undefined ? change : counted).length === 0) return undefined
        if (subtracts !== undefined) yield* subtracts
        yield* insertEntry(key, entry)
        return withDay(day)
      })
    )
  })
}
