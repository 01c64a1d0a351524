/**
 * The statement that changes a row, with the entry of its history, the state that is handed out, and the sum of its day.
 */
import * as Effect from "effect/Effect"
import * as Record from "effect/Record"
import type { Fragment } from "effect/sql/Statement"
import type { Row } from "../machine/row.ts"
import { columnOf, type StoreParts } from "./parts.ts"

/** Under which other conditions a row is changed: see `update`. */
export interface Conditions {
  /** The cap of a day on which the row is counted by the change. */
  readonly cap?: number | undefined
  /** A worker takes the row after so many milliseconds. Default: as its step says, or when its lease ends. */
  readonly dueIn?: number | undefined
  readonly where?: Fragment | undefined
}

/**
 * Changes a row, with its entry of the history and the status that is handed out, if it is, and returns it; `undefined` where another
 * process changed it first. `where` is one more condition. With `dueIn`, in milliseconds, nobody has taken it then, and it is due after
 * that time. With `cap` its amount is added to the sum of today, and is `Capped` where that would exceed the cap. A row that counts no
 * more is subtracted from the sum of its day. On PostgreSQL all of it is one statement, since a process that is suspended between two
 * statements would hold the locks of the row and of the sum, which all workers share.
 */
export const makeUpdate = (parts: StoreParts) => {
  const { accounts, due, insertEntry, isPg, nothing, ofAccount, payouts, sql, states, transaction } = parts
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
