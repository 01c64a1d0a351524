/**
 * A `SqlClient` on `node:sqlite`, for one process that stores its durable payouts and webhooks in a local file.
 *
 * Details: no SQLite driver of Effect loads with Effect 4.1. When a release of `@effect/sql-sqlite-node` loads, use it
 * instead. No other module of this library depends on this one: any other `SqlClient` works too.
 *
 * Gotchas:
 * - The file belongs to one process: a second one is refused when its layer is built. Several processes need PostgreSQL.
 *   In one process all layers of a file are one client.
 * - `CURRENT_TIMESTAMP`, `CURRENT_DATE` and `CURRENT_TIME` follow the program's `Clock`, and with it `TestClock`. `'now'` in
 *   SQLite's functions is the machine's time.
 * - A commit is on the disk (`synchronous = FULL`) before it is answered.
 * - `node:sqlite` is loaded when the layer is built. Node 22 prints an ExperimentalWarning then.
 *
 * ```ts
 * import { Effect } from "effect"
 * import { SqlClient } from "effect/sql"
 * import { NodeSqlite } from "effect-pix/node"
 *
 * const program = Effect.gen(function* () {
 *   const sql = yield* SqlClient.SqlClient
 *   const [row] = yield* sql<{ readonly answer: number }>`SELECT 42 AS answer`
 *   return row?.answer
 * })
 *
 * const answer = await Effect.runPromise(Effect.provide(program, NodeSqlite.layer({ filename: ":memory:" }))) // => 42
 * ```
 */
declare module "./NodeSqlite.ts" {}

import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as PubSub from "effect/PubSub"
import * as Reactivity from "effect/reactivity/Reactivity"
import * as Semaphore from "effect/Semaphore"
import * as SqlClient from "effect/sql/SqlClient"
import type { Borrower, Connection } from "effect/sql/SqlConnection"
import { classifySqliteError, SqlError } from "effect/sql/SqlError"
import * as Statement from "effect/sql/Statement"
import * as Stream from "effect/Stream"
import { resolve } from "node:path"
import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from "node:sqlite"
import type { ConfigurationError } from "../contract/ConfigurationError.ts"
import * as Settings from "../contract/Settings.ts"
import { OnDeath } from "../internal/onDeath.ts"
import { makeWrites, setSoleWriter, type Writes } from "../internal/soleWriter.ts"

/** Converts booleans and dates, for which SQLite has no type. */
const input = (value: unknown): SQLInputValue => {
  if (typeof value === "boolean") return Number(value)
  if (value instanceof Date) return value.toISOString()
  // SQLite itself refuses values of other types.
  return value === undefined ? null : (value as SQLInputValue)
}

/** `node:sqlite` has SQLite's error number in `errcode`. Effect's classification reads it from `code`. */
const withCode = (cause: unknown) =>
  Predicate.isError(cause) && Predicate.hasProperty(cause, "errcode")
    ? { code: cause.errcode, message: cause.message, cause }
    : cause

const attempt = <A>(operation: string, run: () => A) =>
  Effect.try({
    try: run,
    catch: (cause) => new SqlError({ reason: classifySqliteError(withCode(cause), { message: operation, operation }) })
  })

/** A cache of prepared statements by their text. It drops the least recently used one. */
const makePrepare = (db: DatabaseSync) => {
  const prepared = new Map<string, StatementSync>()
  return (sql: string): StatementSync => {
    const statement = prepared.get(sql) ?? db.prepare(sql)
    prepared.delete(sql)
    prepared.set(sql, statement)
    const [oldest] = prepared.keys()
    if (prepared.size > 200 && oldest !== undefined) prepared.delete(oldest)
    return statement
  }
}

/** The connection, which publishes after each statement or transaction that changed a row. */
const connectionOf = (db: DatabaseSync, writes: Writes): Connection => {
  const prepare = makePrepare(db)
  let published: SQLOutputValue | undefined
  const publishWrite = Effect.suspend(() => {
    if (db.isTransaction) return Effect.void
    const changes = prepare("SELECT total_changes() AS changes").get()?.["changes"]
    if (changes === published) return Effect.void
    published = changes
    return PubSub.publish(writes, undefined)
  })
  const execute = <A>(run: () => A) => Effect.tap(attempt("execute", run), publishWrite)
  const all = (sql: string, params: ReadonlyArray<unknown>) => execute(() => prepare(sql).all(...params.map(input)))
  const values: Connection["executeValues"] = (sql, params) =>
    Effect.map(all(sql, params), (rows) => rows.map((row) => Object.values(row)))
  return {
    execute: all,
    executeUnprepared: all,
    executeValues: values,
    executeValuesUnprepared: values,
    executeRaw: (sql, params) => execute(() => prepare(sql).run(...params.map(input))),
    executeStream: (sql, params) => Stream.fromIterableEffect(all(sql, params))
  }
}

/** `EXCLUSIVE` and the first transaction lock the file for this process: SQLite refuses another process at once. */
const opening = `
  PRAGMA busy_timeout = 0;
  PRAGMA locking_mode = EXCLUSIVE;
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA foreign_keys = ON;
  BEGIN IMMEDIATE;
  COMMIT;
`

/**
 * Makes SQLite's functions for the current time follow the program's clock. `deterministic`: within a statement the
 * time is the same.
 */
const setClock = (db: DatabaseSync, clock: Clock.Clock) => {
  const define = (name: string, start: number, end: number) =>
    db.function(name, { deterministic: true }, () =>
      DateTime.formatIso(DateTime.makeUnsafe(clock.currentTimeMillisUnsafe())).slice(start, end).replace("T", " ")
    )
  define("current_timestamp", 0, 19)
  define("current_date", 0, 10)
  define("current_time", 11, 19)
}

/**
 * The effects that acquire the connection. If a process dies in a rehearsal, its transaction is rolled back and the
 * connection is released.
 */
const acquirersOf = (db: DatabaseSync, writes: Writes, onDeath: (action: () => void) => void) => {
  const connection = Effect.succeed(connectionOf(db, writes))
  const isTransaction = () => db.isTransaction
  const make = () => SqlClient.makeSqliteAcquirers({ connection, semaphore: Semaphore.makeUnsafe(1), isTransaction })
  let acquirers = make()
  onDeath(() => {
    if (db.isTransaction) db.exec("ROLLBACK")
    acquirers = make()
  })
  const borrower: Borrower = (use) => acquirers.borrower(use)
  return {
    ...acquirers,
    acquirer: Effect.suspend(() => acquirers.acquirer),
    borrower,
    transactionAcquirer: Effect.suspend(() => acquirers.transactionAcquirer),
    isTransaction
  }
}

const isLocked = (error: SqlError) => error.reason._tag === "LockTimeoutError"

const open = (filename: string) =>
  Effect.gen(function* () {
    const sqlite = yield* Effect.promise(() => import("node:sqlite"))
    const db = yield* Effect.acquireRelease(
      attempt("open", () => new sqlite.DatabaseSync(filename)),
      (db) => Effect.sync(() => db.close())
    )
    yield* attempt("open", () => db.exec(opening))
    return db
  }).pipe(
    Effect.mapError((error) =>
      Settings.wrong(
        "filename",
        isLocked(error)
          ? `(${filename}) is open in another process: a SQLite file belongs to one process. Stop the other one first; several processes need PostgreSQL.`
          : `(${filename}) cannot be opened as a SQLite database (${error.reason._tag})`
      )
    )
  )

const make = (filename: string): Layer.Layer<SqlClient.SqlClient, ConfigurationError> =>
  Layer.effect(
    SqlClient.SqlClient,
    Effect.gen(function* () {
      const db = yield* open(filename)
      setClock(db, yield* Clock.Clock)
      const writes = yield* makeWrites
      const client = yield* SqlClient.make({
        ...acquirersOf(db, writes, yield* OnDeath),
        compiler: Statement.makeCompilerSqlite(),
        driver: "node:sqlite",
        spanAttributes: [["db.system.name", "sqlite"]],
        beginTransaction: "BEGIN IMMEDIATE",
        releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`
      })
      setSoleWriter(client, writes)
      return client
    })
  ).pipe(Layer.provide(Reactivity.layer))

/** The clients of this process, by file. A file is closed when nobody uses it any more. */
const clients = Layer.makeMemoMapUnsafe()
const layers = new Map<string, ReturnType<typeof make>>()

const layerOf = (filename: string) => {
  const path = resolve(filename)
  const known = layers.get(path)
  if (known !== undefined) return known
  const made = make(filename)
  layers.set(path, made)
  return made
}

/**
 * A database in a file, or in memory. The file is created if it is absent. Layers of one file in one process share one
 * client, so that work which builds a layer for itself, such as a webhook inside requests, may overlap. If another process
 * has the file open, or if it is not a database, the layer fails with `ConfigurationError`.
 */
export const layer = ({
  filename
}: {
  /** The path of the file, or `:memory:`. While it is open, SQLite has two more files in the same folder. */
  readonly filename: string
}): Layer.Layer<SqlClient.SqlClient, ConfigurationError> =>
  filename === ":memory:"
    ? make(filename)
    : Layer.effectContext(
        Effect.flatMap(Effect.scope, (scope) => Layer.buildWithMemoMap(layerOf(filename), clients, scope))
      )
