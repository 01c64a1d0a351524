/**
 * The time by which the processes of one database agree.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Fragment } from "effect/sql/Statement"
import { clockOffset, update } from "../internal/metrics.ts"
import type { Database } from "./Database.ts"

/**
 * The time now in milliseconds since 1970, as SQL. It is PostgreSQL's own, so that a worker whose clock is wrong stops no
 * other one. A SQLite file belongs to one process: there it is the program's `Clock`.
 */
export const databaseNow = ({ dialect, sql }: Database): Effect.Effect<Fragment> =>
  dialect === "pg"
    ? Effect.succeed(sql`CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)`)
    : Effect.map(Clock.currentTimeMillis, (now) => sql`${now}`)

/** By how many milliseconds the database's clock is ahead of the program's. */
export const databaseAhead = Effect.fnUntraced(function* (database: Database) {
  if (database.dialect === "sqlite") return 0
  const [row] = yield* database.sql<{ readonly now: string | number }>`SELECT ${yield* databaseNow(database)} AS now`
  return Number(row?.now) - (yield* Clock.currentTimeMillis)
})

/** Measures by how much the program's clock is ahead of the database's, of which it is so many milliseconds behind. */
export const measureClock = (ahead: number): Effect.Effect<void> => update(clockOffset("database"), -ahead / 1000)
