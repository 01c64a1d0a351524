/**
 * The table on the user's own database: one row for each transaction, and for each delivery that names none. A change locks
 * its row for as long as its own statements take, never while a lookup or the user's code runs.
 */
import * as Effect from "effect/Effect"
import { isSqlError } from "effect/sql/SqlError"
import { type Database, DatabaseError, inTransaction, isOneOf, locked } from "../../durable/Database.ts"
import { dueColumns, type DueRow, makeDue } from "../../durable/Due.ts"
import { idleLimit, Overtaken } from "../../durable/HandOut.ts"
import { makeLetters } from "../../durable/Letters.ts"
import { databaseAhead, databaseNow } from "../../durable/Now.ts"
import type { Tables } from "../../durable/Tables.ts"
import { discarded, type Next, readRow, revived, type Row, type State, stateOf, writeRow } from "./row.ts"

const table = "effect_pix_webhooks"

const statements = (now: string) => [
  `CREATE TABLE ${table} (
  webhook VARCHAR(64) NOT NULL,
  name VARCHAR(80) NOT NULL,
  state VARCHAR(10) NOT NULL,
  value TEXT NOT NULL,
  ${dueColumns(now)},
  PRIMARY KEY (webhook, name)
)`,
  `CREATE INDEX ${table}_state ON ${table} (webhook, state, due_at)`
]

/** What the webhook stores. `due_at` is in milliseconds since 1970; of a row that waits for nothing, it is when it ended. */
export const webhookTables: Tables = {
  name: table,
  migrations: {
    "0001_create": {
      pg: statements("CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)"),
      sqlite: statements("CAST(unixepoch('subsec') * 1000 AS INTEGER)")
    }
  }
}

/** The longest time for which a row waits, in milliseconds: the service may ask for an hour. */
const longestWait = 3_600_000

/** The largest number of rows that one statement deletes. */
const mostDeleted = 1000

/** A row as persons read it. */
export interface Stored {
  readonly webhook: string
  readonly name: string
  readonly state: State
  readonly value: string
  /** In milliseconds since 1970. */
  readonly due: number | string
}

/** A row that is changed. `taker` is the token of the take; `null`: nobody has taken it. */
type Locked = Pick<Stored, "state" | "value"> & { readonly taker: string | null }

/** A row that a worker has taken. */
export interface Taken extends DueRow {
  readonly value: string
  readonly taker: string
}

type Step = (row: Row, isTaken: boolean) => Next

/** Another version wrote the row. */
export const unreadable = () => new DatabaseError({ operation: "webhook", reason: "Unreadable", isRetryable: true })

export type Store = ReturnType<typeof makeStore>

/** Whether another transaction changed the row meanwhile, where transactions are stricter than READ COMMITTED. */
const wasChanged = (error: unknown) => isSqlError(error) && error.reason._tag === "SerializationError"

export type Reads = ReturnType<typeof makeReads>

/** What persons read and do of the rows of one webhook, or of all on the database. */
export const makeReads = (database: Database, webhook: string | undefined) => {
  const { dialect, sql } = database
  const rows = sql(table)
  const scope = webhook === undefined ? sql`1 = 1` : sql`webhook = ${webhook}`
  const columns = sql`webhook, name, state, value, due_at AS due`
  const due = makeDue(database, {
    table,
    key: "name",
    scope,
    waits: sql`state = 'Open'`,
    columns,
    longest: longestWait
  })
  const merged = (fields: object) => {
    const json = JSON.stringify(fields)
    return dialect === "pg"
      ? sql`value = CAST(jsonb_strip_nulls(CAST(value AS JSONB) || CAST(${json} AS JSONB)) AS TEXT)`
      : sql`value = json_patch(value, ${json})`
  }
  const waits = dialect === "pg" ? "value::json ->> 'waits'" : "json_extract(value, '$.waits')"
  return {
    /** What is stored about a transaction, or about a dead letter by its id. */
    find: (name: string) => sql<Stored>`SELECT ${columns} FROM ${rows} WHERE ${scope} AND name = ${name}`,
    /** How many rows a worker has something to do with. */
    unfinished: Effect.map(
      sql<{
        readonly count: number | string
      }>`SELECT COUNT(*) AS count FROM ${rows} WHERE ${scope} AND state IN ('Open', 'First')`,
      ([found]) => Number(found?.count)
    ),
    letters: makeLetters<Stored>(database, due, {
      name: "Webhook",
      operation: "getTransaction",
      columns,
      fields: ({ name, webhook }, by) => ({ "webhook.name": webhook, "webhook.id": name, "webhook.by": by }),
      revived: merged(revived),
      discard: Effect.map(
        due.dueIn(0),
        (isDue) => sql`UPDATE ${rows} SET state = 'Done', ${merged(discarded)}, ${isDue}`
      ),
      why: sql.literal(`CASE WHEN state = 'Open' THEN COALESCE(${waits}, 'due') ELSE 'first' END`),
      since: sql.literal(
        dialect === "pg" ? "CAST(value::json ->> 'since' AS NUMERIC)" : "json_extract(value, '$.since')"
      )
    })
  }
}

/** The rows of one webhook. Other webhooks on the same database have other names. */
export const makeStore = (database: Database, webhook: string, lease = 0) => {
  const { dialect, sql } = database
  const rows = sql(table)
  // The state is part of the statement's text, so that PostgreSQL finds the rows by the index.
  const isIn = (state: State) => sql`webhook = ${webhook} AND state = ${sql.literal(`'${state}'`)}`
  const options = {
    table,
    key: "name",
    scope: sql`webhook = ${webhook}`,
    columns: sql`value, taken_by AS taker`,
    longest: longestWait + lease
  }
  const isOpen = sql.literal(`state = 'Open'`)
  const due = makeDue<Taken>(database, { ...options, waits: isOpen })
  /** The rows that wait for a first lookup. One that is taken waits for it no more. */
  const first = makeDue<Taken>(database, { ...options, waits: sql.literal(`state = 'First'`), taken: isOpen })

  const insert = Effect.fnUntraced(function* (name: string, row: Row) {
    const at = yield* databaseNow(database)
    const inserted = yield* sql`INSERT INTO ${rows} (webhook, name, state, value, due_at)
      VALUES (${webhook}, ${name}, ${stateOf(row)}, ${writeRow(row)}, ${at}) ON CONFLICT DO NOTHING RETURNING name`
    return inserted.length > 0
  })

  const write = Effect.fnUntraced(function* (name: string, { dueIn, row }: Next) {
    const where = sql`WHERE webhook = ${webhook} AND name = ${name}`
    if (row === undefined) return yield* sql`DELETE FROM ${rows} ${where}`
    const isDue = dueIn === undefined ? sql`` : sql`, ${yield* due.dueIn(dueIn)}`
    return yield* sql`UPDATE ${rows} SET state = ${stateOf(row)}, value = ${writeRow(row)}${isDue} ${where}`
  })

  const read = (name: string) =>
    sql<Locked>`SELECT state, value, taken_by AS taker FROM ${rows}
      WHERE webhook = ${webhook} AND name = ${name} ${sql.literal(dialect === "pg" ? "FOR UPDATE" : "")}`

  const changeStored = Effect.fnUntraced(function* (name: string, stored: Locked | undefined, step: Step) {
    if (stored === undefined) return undefined
    const row = readRow(stored.value, stored.state)
    if (row === undefined) return yield* unreadable()
    const next = step(row, stored.taker !== null)
    yield* write(name, next)
    return next
  })
  /** Changes a row if it exists. */
  const change = (name: string, step: Step) =>
    inTransaction(database)(Effect.flatMap(read(name), ([stored]) => changeStored(name, stored, step)))
  /** Changes a row that is taken, in the caller's transaction. */
  const changeTakenWithin = Effect.fnUntraced(function* ({ key, taker }: Taken, step: Step) {
    const [stored] = yield* read(key)
    return stored?.taker === taker ? yield* changeStored(key, stored, step) : yield* new Overtaken()
  })

  return {
    ...makeReads(database, webhook),
    due,
    changeTakenWithin,
    changeTaken: (row: Taken, step: Step) => inTransaction(database)(changeTakenWithin(row, step)),
    /** Inserts the row, or changes the one that is there. */
    record: Effect.fnUntraced(
      function* (name: string, row: Row, step: Step) {
        while (!(yield* insert(name, row))) {
          // It may have been deleted since.
          if ((yield* change(name, step)) !== undefined) return
        }
      },
      Effect.retry({ while: wasChanged, times: 10 })
    ),
    /**
     * Begins the transaction of the user's code. PostgreSQL ends it if nothing happens in it for so long: a process may be
     * suspended there. A transaction that is stricter than READ COMMITTED may not change a row that another one changed since
     * its begin: it locks the row, so that renewals pass it over, deliveries wait, and nobody takes it.
     */
    beginHandOut: Effect.fnUntraced(function* ({ key }: Taken, handlerTimeout: number) {
      if (dialect !== "pg") return
      // Three handlers may run one after the other.
      const [settings] = yield* sql`SELECT current_setting('transaction_isolation') AS isolation,
        ${idleLimit(database, handlerTimeout, 3)}`
      if (settings?.["isolation"] !== "read committed") yield* read(key)
    }),
    /** Gives a row back, which waits for a first lookup. */
    waitFirst: Effect.fnUntraced(function* ({ key, taker }: Taken) {
      yield* sql`UPDATE ${rows} SET state = 'First', ${yield* due.dueIn(0)}
        WHERE webhook = ${webhook} AND name = ${key} AND taken_by = ${taker}`
    }),
    /** Takes at most so many rows that wait for a first lookup, the oldest. */
    takeFirst: first.take,
    /** By how many milliseconds the database's clock is ahead. */
    ahead: databaseAhead(database),
    /** Deletes the rows that ended so long ago. */
    forget: Effect.fnUntraced(function* (age: number) {
      const now = yield* databaseNow(database)
      const old = sql`SELECT name FROM ${rows} WHERE ${isIn("Done")} AND due_at < ${now} - ${age} ORDER BY due_at
        LIMIT ${mostDeleted} ${locked(database)}`
      const some = sql`DELETE FROM ${rows} WHERE webhook = ${webhook} AND ${isOneOf(database, "name", old)} RETURNING name`
      yield* Effect.repeat(some, { while: ({ length }) => length === mostDeleted })
    })
  }
}
