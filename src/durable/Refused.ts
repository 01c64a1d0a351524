/**
 * The rows of a table that the database refuses, as by a constraint, a trigger or a right: it does so again until somebody ends that.
 * A process leaves them out of its takes, so that no other row waits for them, and tries them once a minute.
 */
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import { failureNameOf, reasonOf, refusedBy } from "../internal/databaseFailure.ts"
import { monotonicMillis } from "../internal/monotonic.ts"
import { countSinceLine, type Lines, log } from "../internal/spans.ts"
import { type Database, isOneOf, unpacked } from "./Database.ts"
import { report } from "./Failures.ts"

/** How many rows a process leaves out, and for how many milliseconds. */
const [most, time] = [100, 60_000]

/** Whether the database refuses what a statement writes. */
export const isRefusal = (error: SqlError) => !error.isRetryable && failureNameOf(error) === undefined

/** A table, and how it names a row. */
export interface Keyed {
  readonly table: string
  /** The column that names a row among those of its scope. */
  readonly key: string
  /** Its type. Default: `TEXT`. */
  readonly keyType?: "BIGINT" | undefined
}

export const makeRefused = (database: Database, { key, keyType, table }: Keyed) => {
  const { dialect, sql } = database
  /** The rows, each with the monotonic time from which on it is taken again. */
  const refused = new Map<string, number>()
  const lines: Lines = new Map()
  /** Whether a row has one of these keys, as SQL. */
  const isOneOfKeys = (keys: Iterable<string>) =>
    isOneOf(database, key, unpacked(database, JSON.stringify([...new Set(keys)]), keyType))
  const triggers = sql<{
    readonly name: string
  }>`SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ${table}`

  return {
    isOneOfKeys,
    /** Whether this process knows that the database refuses a row. */
    has: (key: string) => refused.has(key),
    /** The opposite as SQL. */
    isNot: (): Fragment => (refused.size === 0 ? sql`1 = 1` : sql`NOT ${isOneOfKeys(refused.keys())}`),
    /** Adds a row, of which one a minute is told; false where the failure is none of the row, or there are too many. */
    add: Effect.fnUntraced(function* (row: Record<"key" | "name", string>, error: SqlError) {
      if (!isRefusal(error) || refused.size >= most) return false
      yield* report(error)
      const now = yield* monotonicMillis
      refused.set(row.key, now + time)
      if (countSinceLine(lines, table, now) === undefined) return true
      const by = refusedBy(error) ?? (dialect === "pg" ? "" : (yield* triggers).map(({ name }) => name).join(", "))
      yield* log(
        "Warn",
        `The database refuses ${refused.size} row(s) of ${table}, as ${row.name} (${[reasonOf(error), by].join(" ").trim()}). They wait, and are tried once a minute; no other row waits for them.`,
        { "error.type": reasonOf(error), "database.refused_by": by || undefined }
      )
      return true
    }),
    /** Those whose minute is over are taken again. */
    forgetOld: Effect.map(monotonicMillis, (now) => {
      for (const [key, until] of refused) if (until <= now) refused.delete(key)
    }),
    /** In how many milliseconds the first of them is taken again. */
    untilNext: Effect.map(monotonicMillis, (now) => Math.max(0, Math.min(...refused.values()) - now))
  }
}
