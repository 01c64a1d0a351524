/**
 * Rows that wait for a worker, leased by the database itself. The time in `due_at` is a delay, a back-off and a lease in one: a
 * worker that takes a row moves it by the lease, a retry moves it by its delay, and a person's step moves it to now. So a row is
 * never in a queue that has lost it.
 *
 * Details: delivery is at least once. If a process dies or is suspended, the leases of its rows end, and they are due again.
 * PostgreSQL compares times by its own clock; a SQLite file belongs to one process, whose `Clock` decides.
 */
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { type Fragment, type Identifier, join } from "effect/sql/Statement"
import type { SqlError } from "effect/sql/SqlError"
import { monotonicMillis } from "../internal/monotonic.ts"
import { unnoticed } from "../internal/soleWriter.ts"
import { type Database, inTransaction, isOneOf, locked, unpacked } from "./Database.ts"
import { databaseNow } from "./Now.ts"
import { isRefusal, type Keyed, makeRefused } from "./Refused.ts"

/** The columns of a table whose rows wait, as SQL. A row that another program inserts is due at once. */
export const dueColumns = (now: string): string =>
  `due_at BIGINT NOT NULL DEFAULT (${now}),\n  taken_by VARCHAR(36),\n  tries INTEGER NOT NULL DEFAULT 0`

/** The rows of one table that wait. */
export interface DueOptions extends Keyed {
  /** The columns before `key` in the primary key, as SQL. */
  readonly scope: Fragment
  /** Which rows of the scope wait, as SQL. An index on `due_at` has the same condition. */
  readonly waits: Fragment
  /** What is read of a row that is taken, as SQL. */
  readonly columns: Fragment
  /** The longest wait of a row, in milliseconds. */
  readonly longest: number
  /** A time from which that wait is counted, if a row has one that lies ahead, as SQL. */
  readonly notBefore?: Fragment | undefined
  /** Since when a row that is due at once is due, as SQL: its place among the others. Default: since now. */
  readonly place?: Fragment | undefined
  /** What else a take writes, as SQL. */
  readonly taken?: Fragment | undefined
  /** The column that names a row in a log line. Default: `key`. */
  readonly name?: string | undefined
  /** What tables that wait together share, so that their workers ask once. Default: one of its own. */
  readonly look?: Look | undefined
}

/** In how many milliseconds the next row of a table is due, and the last one. */
interface Next {
  readonly first: unknown
  readonly longest: unknown
}

/** Runs a SELECT of a `Next`. Those that workers ask for at the same time are one statement: an idle worker costs one a second. */
export type Look = ReturnType<typeof makeLook>

export const makeLook = ({ sql }: Database) => {
  type Row = Next & { readonly of: number }
  const open = () => ({ selects: Array<Fragment>(), rows: Deferred.makeUnsafe<ReadonlyArray<Row>, SqlError>() })
  let asked: ReturnType<typeof open> | undefined
  return (select: Fragment): Effect.Effect<Next | undefined, SqlError> =>
    Effect.gen(function* () {
      const { rows, selects } = (asked ??= open())
      const own =
        selects.push(sql`SELECT ${sql.literal(`${selects.length}`)} AS "of", next.* FROM (${select}) AS next`) - 1
      const run = Effect.suspend(() => {
        asked = undefined
        return Deferred.into(sql<Row>`${join(" UNION ALL ", false)(selects)}`, rows)
      })
      // The timers of the workers end one after the other. Whoever asked first may be interrupted meanwhile.
      if (own === 0) yield* Effect.forkDetach(Effect.delay(run, "5 millis"))
      return (yield* Deferred.await(rows)).find(({ of }) => of === own)
    })
}

/** A row that is due, as the driver gives it, with the columns that were asked for. */
export interface DueRow {
  readonly key: string
  /** How often it was taken since it was written last, with this time. */
  readonly tries: number
}

/** Which of the rows that are due are taken. */
export interface Takes {
  /** One more condition, as SQL. */
  readonly only?: Fragment | undefined
  /** What comes before others, as SQL of an order. */
  readonly first?: Fragment | undefined
  /**
   * A statement that has to return a row, or none of the table is taken: then at most one is, and the first one that nobody has. Given
   * is what finds a row that is due.
   */
  readonly turn?:
    | ((found: Fragment) => Effect.Effect<Fragment & Effect.Effect<ReadonlyArray<unknown>, SqlError>>)
    | undefined
}

/** A row that was taken: only its taker renews it and gives it back. */
export interface Taken {
  readonly key: string
  /** A token of this take. */
  readonly taker: string
}

export type Due<Row extends DueRow = DueRow> = ReturnType<typeof makeDue<Row>>

/** In a SQLite file: where the program's clock was set back, the rows wait no longer for that. */
const makeFollowClock = ({ sql }: Database, rows: Identifier, where: Fragment) => {
  /** How far the program's clock is ahead of the one that only goes forward, as it was at the last take. */
  let ahead: number | undefined
  return Effect.gen(function* () {
    const wall = yield* Clock.currentTimeMillis
    const now = wall - (yield* monotonicMillis)
    const back = Math.floor((ahead ?? now) - now)
    ahead = now
    if (back < 1000) return
    yield* unnoticed(
      sql`UPDATE ${rows} SET due_at = due_at - ${back} WHERE ${where} AND taken_by IS NULL AND due_at > ${wall}`
    )
  })
}

export const makeDue = <Row extends DueRow = DueRow>(
  database: Database,
  {
    columns,
    key,
    keyType,
    longest,
    look = makeLook(database),
    name = key,
    notBefore,
    place: ofRow,
    scope,
    table,
    taken: alsoTaken,
    waits
  }: DueOptions
) => {
  const { dialect, sql } = database
  const where = sql`${scope} AND ${waits}`
  const rows = sql(table)
  const place = dialect === "pg" ? "ctid" : "rowid"
  const followClock = makeFollowClock(database, rows, where)
  const refused = makeRefused(database, { table, key, keyType })
  /** A number of milliseconds from now, as SQL. */
  const fromNow = (millis: number): Effect.Effect<Fragment> =>
    Effect.map(databaseNow(database), (now) => sql`${now} + CAST(${Math.ceil(millis)} AS BIGINT)`)
  const least = sql.literal(dialect === "pg" ? "LEAST" : "MIN")
  /** When a row is due that waits for a number of milliseconds, as SQL. */
  const dueAfter = (millis: number): Effect.Effect<Fragment> =>
    Effect.map(fromNow(millis), (at) => (millis > 0 || ofRow === undefined ? at : sql`${least}(${ofRow}, ${at})`))

  const untilNextOf = Effect.fnUntraced(function* (only: Fragment): Effect.fn.Return<number, SqlError> {
    const now = yield* databaseNow(database)
    const untilRefused = yield* refused.untilNext
    /** In a SQLite file: from when the longest wait of a row is counted. */
    const from = notBefore === undefined ? now : sql`MAX(${now}, COALESCE(${notBefore}, 0))`
    const wait = dialect === "pg" ? sql`0` : sql`MAX(due_at - ${from})`
    const row = yield* look(
      sql`SELECT MIN(due_at) - ${now} AS "first", ${wait} AS "longest" FROM ${rows} WHERE ${where} AND ${only} AND ${refused.isNot()}`
    )
    if (row === undefined || row.first === null) return untilRefused
    if (Number(row.longest) <= longest) return Math.min(untilRefused, Math.max(0, Number(row.first)))
    // The program's clock may have been ahead when a row was written: it waits no longer than a row may.
    yield* sql`UPDATE ${rows} SET due_at = ${from} WHERE ${where} AND due_at > ${from} + ${longest}`
    return 0
  })

  /** The rows that are due and that a take may have, as SQL. */
  const isDueAt = (now: Fragment, only: Fragment) =>
    sql`${where} AND due_at <= ${now} AND ${only} AND ${refused.isNot()}`
  const orderOf = ({ first }: Takes) => (first === undefined ? sql`due_at` : sql`${first}, due_at`)
  const takeDue = Effect.fnUntraced(function* (
    taker: string,
    lease: number,
    most: number,
    takes: Takes
  ): Effect.fn.Return<ReadonlyArray<Row>, SqlError> {
    const [now, until] = [yield* fromNow(0), yield* fromNow(lease)]
    const { only = sql`1 = 1`, turn } = takes
    const isDue = isDueAt(now, only)
    const take = (count: number, condition: Fragment) => {
      const due = sql`SELECT ${sql(place)} FROM ${rows} WHERE ${condition} ORDER BY ${orderOf(takes)} LIMIT ${count} ${locked(database)}`
      return sql<Row>`UPDATE ${rows} SET due_at = ${until}, taken_by = ${taker}, tries = tries + 1${alsoTaken === undefined ? sql.literal("") : sql`, ${alsoTaken}`}
          WHERE ${isOneOf(database, place, due)} RETURNING ${columns}, CAST(${sql(key)} AS TEXT) AS "key", tries AS "tries"`
    }
    if (turn === undefined) return yield* unnoticed(take(most, isDue))
    const turned = yield* turn(sql`SELECT 1 FROM ${rows} WHERE ${isDue}`)
    // Who has the turn looks for its row after it has it: who has none locks none.
    if (dialect === "pg")
      return yield* sql<Row>`WITH turn AS (${turned}) ${take(1, sql`EXISTS (SELECT 1 FROM turn) AND ${isDue}`)}`
    return yield* unnoticed(
      inTransaction(database)(
        Effect.flatMap(turned, ({ length }) => (length === 0 ? Effect.succeed([]) : take(1, isDue)))
      )
    )
  })

  /** The same one by one, after the database refused the take of them together: those that it refuses are left out from now on. */
  const takeOneByOne = Effect.fnUntraced(function* (taker: string, lease: number, most: number, takes: Takes) {
    const { only = sql`1 = 1` } = takes
    const found = yield* sql<
      Record<"key" | "name", string>
    >`SELECT CAST(${sql(key)} AS TEXT) AS "key", CAST(${sql(name)} AS TEXT) AS "name"
      FROM ${rows} WHERE ${isDueAt(yield* fromNow(0), only)} ORDER BY ${orderOf(takes)} LIMIT ${most}`
    const taken: Array<Row> = []
    for (const row of found) {
      const isRow = refused.isOneOfKeys([row.key])
      const one = yield* Effect.result(takeDue(taker, lease, 1, { ...takes, only: sql`${only} AND ${isRow}` }))
      if (Result.isSuccess(one)) taken.push(...one.success)
      else if (yield* refused.add(row, one.failure)) continue
      // What was taken has its handlers.
      else if (taken.length > 0) break
      else return yield* one.failure
    }
    return taken
  })

  /**
   * Renews the leases of rows. Nobody takes a row that is locked. It finds them by the primary key alone: with the condition of the index
   * PostgreSQL may read all rows that wait, as long as its statistics are old.
   */
  const renew = (held: ReadonlyArray<Taken>, lease: number): Effect.Effect<unknown, SqlError> =>
    Effect.flatMap(fromNow(lease), (until) => {
      const keys = refused.isOneOfKeys(held.map((taken) => taken.key))
      const takers = unpacked(database, JSON.stringify([...new Set(held.map(({ taker }) => taker))]))
      const own = sql`SELECT ${sql(place)} FROM ${rows} WHERE ${scope} AND ${keys} AND ${isOneOf(database, "taken_by", takers)} ${locked(database)}`
      return unnoticed(sql`UPDATE ${rows} SET due_at = ${until} WHERE ${isOneOf(database, place, own)}`)
    })

  return {
    rows,
    key,
    scope,
    /** What a row has that is due after a number of milliseconds, and that nobody has taken, as SQL for an UPDATE. */
    dueIn: (millis: number): Effect.Effect<Fragment> =>
      Effect.map(dueAfter(millis), (at) => sql`due_at = ${at}, taken_by = NULL, tries = 0`),
    /** Takes at most so many of the rows that are due, the oldest first, for the time of the lease in milliseconds. */
    take: Effect.fnUntraced(function* (
      taker: string,
      lease: number,
      most: number,
      takes: Takes = {}
    ): Effect.fn.Return<ReadonlyArray<Row>, SqlError> {
      if (dialect === "sqlite") yield* followClock
      yield* refused.forgetOld
      return yield* Effect.catchIf(takeDue(taker, lease, most, takes), isRefusal, () =>
        takeOneByOne(taker, lease, most, takes)
      )
    }),
    /** The rows that the database refuses. */
    refused,
    /** Renews the leases of rows, for the time of the lease in milliseconds; one by one where the database refuses one of them. */
    renew: (held: ReadonlyArray<Taken>, lease: number): Effect.Effect<unknown, SqlError> =>
      Effect.catchIf(renew(held, lease), isRefusal, (error) =>
        Effect.andThen(
          Effect.forEach(held.length > 1 ? held : [], (one) => Effect.ignore(renew([one], lease))),
          Effect.fail(error)
        )
      ),
    /** Gives a row back, which is due after a number of milliseconds. A take that was of no use does not count. */
    giveBack: (taken: Taken, millis: number, isCounted = true): Effect.Effect<unknown, SqlError> =>
      Effect.flatMap(
        dueAfter(millis),
        (
          at
        ) => sql`UPDATE ${rows} SET due_at = ${at}, taken_by = NULL, tries = tries - ${sql.literal(isCounted ? "0" : "1")}
          WHERE ${where} AND ${sql(key)} = ${taken.key} AND taken_by = ${taken.taker}`
      ),
    /** In how many milliseconds the next row of a condition is due; `Infinity` where none waits. */
    untilNextOf,
    /** The same of all rows. */
    untilNext: untilNextOf(sql`1 = 1`)
  }
}
