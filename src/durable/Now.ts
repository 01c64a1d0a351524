/**
 * The time by which the processes of one database agree.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Fragment } from "effect/sql/Statement"
import type { Database } from "./Database.ts"

/**
 * The time now in milliseconds since 1970, as SQL. It is PostgreSQL's own, so that a worker whose clock is wrong stops no
 * other one. A SQLite file belongs to one process: there it is the program's `Clock`.
 */
export const databaseNow = ({ dialect, sql }: Database): Effect.Effect<Fragment> =>
  dialect === "pg"
    ? Effect.succeed(sql`CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)`)
    : Effect.map(Clock.currentTimeMillis, (now) => sql`${now}`)
