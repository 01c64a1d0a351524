/**
 * A `SqlClient` on `node:sqlite`, for one process that stores its durable payouts and webhooks in a local file.
 *
 * Details: no SQLite driver of Effect loads with Effect 4.1. When a release of `@effect/sql-sqlite-node` loads, use it
 * instead. No other module of this library depends on this one: any other `SqlClient` works too.
 *
 * Gotchas:
 * - The file belongs to one process: a second one is refused when its layer is built. Several processes need PostgreSQL.
 *   In one process all layers of a file are one client. Other processes may read the file with `readOnly: true`.
 * - The owner holds a lock on a file `<filename>-lock` beside it, until its end, also by kill -9. Do not delete that file. Use
 *   a local disk, and give a container the folder, not the file alone.
 * - `CURRENT_TIMESTAMP`, `CURRENT_DATE` and `CURRENT_TIME` follow the program's `Clock`, and with it `TestClock`. `'now'` in
 *   SQLite's functions is the machine's time.
 * - A commit is on the disk (`synchronous = FULL`) before it is answered, so it survives kill -9. It survives a loss of power
 *   on a disk that does what it says; on macOS, disks may answer before.
 * - What is deleted is overwritten with zeros (`secure_delete = ON`), but copies may be left in `-wal`, and where SQLite moved
 *   rows. `VACUUM` and then `PRAGMA wal_checkpoint(TRUNCATE)` leave nothing of it.
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
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Reactivity from "effect/reactivity/Reactivity"
import * as Schedule from "effect/Schedule"
import * as Semaphore from "effect/Semaphore"
import * as SqlClient from "effect/sql/SqlClient"
import type { Borrower, Connection } from "effect/sql/SqlConnection"
import type { SqlError } from "effect/sql/SqlError"
import * as Statement from "effect/sql/Statement"
import * as Stream from "effect/Stream"
import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from "node:sqlite"
import type { ConfigurationError } from "../contract/ConfigurationError.ts"
import { OnDeath } from "../internal/onDeath.ts"
import { OfferConnection, SimulatedProcess } from "../internal/simulatedProcess.ts"
import { IsUnnoticed, makeWrites, SoleWriter, type Writes, written } from "../internal/soleWriter.ts"
import { attempt, isLocked, openReading, openWriting, own, pathOf } from "./internal/sqliteFile.ts"

/** Converts booleans and dates, for which SQLite has no type. */
const input = (value: unknown): SQLInputValue => {
  if (typeof value === "boolean") return Number(value)
  if (value instanceof Date) return value.toISOString()
  // SQLite itself refuses values of other types.
  return value === undefined ? null : (value as SQLInputValue)
}

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

/** How long a statement waits for another connection of this program, or another process, that writes. */
const untilUnlocked = Schedule.upTo(Schedule.spaced("20 millis"), { duration: "5 seconds" })

/** The connection, which publishes after each statement or transaction that changed a row. */
const connectionOf = (db: DatabaseSync, writes: Writes): Connection => {
  const prepare = makePrepare(db)
  let published: SQLOutputValue | undefined
  const publishWrite = Effect.flatMap(IsUnnoticed, (isUnnoticed) => {
    if (db.isTransaction) return Effect.void
    const changes = prepare("SELECT total_changes() AS changes").get()?.["changes"]
    if (changes === published) return Effect.void
    published = changes
    return isUnnoticed ? Effect.void : written(writes)
  })
  // Inside a transaction of this connection, everything that it needs is locked by it.
  const isLockedElsewhere = (error: SqlError) => isLocked(error) && !db.isTransaction
  const execute = <A>(sql: string, run: () => A) => {
    const once = attempt("execute", run)
    const again = Effect.retry(once, { while: isLockedElsewhere, schedule: untilUnlocked })
    const executed = Effect.catchIf(once, isLockedElsewhere, () => again)
    return /^\s*SELECT\b/i.test(sql) ? executed : Effect.tap(executed, publishWrite)
  }
  const all = (sql: string, params: ReadonlyArray<unknown>) =>
    execute(sql, () => prepare(sql).all(...params.map(input)))
  const values: Connection["executeValues"] = (sql, params) =>
    Effect.map(all(sql, params), (rows) => rows.map((row) => Object.values(row)))
  return {
    execute: all,
    executeUnprepared: all,
    executeValues: values,
    executeValuesUnprepared: values,
    executeRaw: (sql, params) => execute(sql, () => prepare(sql).run(...params.map(input))),
    executeStream: (sql, params) => Stream.fromIterableEffect(all(sql, params))
  }
}

/**
 * Makes SQLite's `CURRENT_TIMESTAMP` and its like follow the program's clock, so that a test under `TestClock` needs no
 * other database. `deterministic`: within a statement the time is the same.
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

const clientOf = Effect.fnUntraced(function* (db: DatabaseSync, writes: Writes) {
  setClock(db, yield* Clock.Clock)
  return yield* SqlClient.make({
    ...acquirersOf(db, writes, yield* OnDeath),
    compiler: Statement.makeCompilerSqlite(),
    driver: "node:sqlite",
    spanAttributes: [["db.system.name", "sqlite"]],
    beginTransaction: "BEGIN IMMEDIATE",
    releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`
  })
}, Effect.provide(Reactivity.layer))

/** A client of a database that only this process writes to. */
const writerOf = Effect.fnUntraced(function* (path: string, writes: Writes) {
  const client = yield* clientOf(yield* openWriting(path), writes)
  let turn = Semaphore.makeUnsafe(1)
  // A process that dies in a rehearsal never releases it.
  ;(yield* OnDeath)(() => void (turn = Semaphore.makeUnsafe(1)))
  const { transactionService } = client
  return Context.make(SqlClient.SqlClient, client).pipe(
    Context.add(SoleWriter, {
      transactionService,
      writes,
      inTurn: (effect) => Effect.suspend(() => turn.withPermit(effect))
    })
  )
})

/** A file that this process owns: its path, and the writes of all its connections. */
class OwnedFile extends Context.Service<OwnedFile, { readonly path: string; readonly writes: Writes }>()(
  "effect-pix/NodeSqlite/OwnedFile"
) {}

/** A value for each key, made once. */
const memoized = <A>(make: (key: string) => A) => {
  const made = new Map<string, A>()
  return (key: string): A => {
    const known = made.get(key)
    if (known !== undefined) return known
    const value = make(key)
    made.set(key, value)
    return value
  }
}

const fileOf = memoized((path) =>
  Layer.effect(
    OwnedFile,
    Effect.andThen(
      own(path),
      Effect.map(makeWrites, (writes) => ({ path, writes }))
    )
  )
)

/** The clients of a file: one for each simulated process. */
const clientsOf = memoized((path) =>
  memoized((_process) =>
    Layer.effectContext(Effect.flatMap(OwnedFile, (file) => writerOf(file.path, file.writes))).pipe(
      Layer.provide(fileOf(path))
    )
  )
)

/** The open files and clients of this process. One that nobody uses any more is closed. */
const opened = Layer.makeMemoMapUnsafe()

const inMemory = ":memory:"

/** How many databases in memory were made that several connections share. */
let memories = 0

/**
 * A database in a file, or in memory. The file is created if it is absent. Layers of one file in one process share one
 * client, so that work which builds a layer for itself, such as a webhook inside requests, may overlap. If another process
 * has the file open, or if it is not a database, the layer fails with `ConfigurationError`.
 *
 * With `readOnly` the layer reads a file that exists, also one that another process has open, and a statement that writes
 * fails. A transaction that stays open lets the other process's log grow: read a page at a time.
 */
export const layer = ({
  filename,
  readOnly = false
}: {
  /** The path of the file, or `:memory:`. While it is open, SQLite has two more files in the same folder. */
  readonly filename: string
  /** Whether the layer only reads. Default: it writes too, and owns the file. */
  readonly readOnly?: boolean | undefined
}): Layer.Layer<SqlClient.SqlClient, ConfigurationError> => {
  const client = Effect.gen(function* () {
    if (readOnly)
      return Context.make(SqlClient.SqlClient, yield* clientOf(yield* openReading(filename), yield* makeWrites))
    const offer = yield* OfferConnection
    if (filename === inMemory) {
      const writes = yield* makeWrites
      const memory = offer === undefined ? inMemory : `file:effect-pix-${++memories}?mode=memory&cache=shared`
      offer?.(() => writerOf(memory, writes))
      return yield* writerOf(memory, writes)
    }
    const path = yield* pathOf(filename)
    const connect = Effect.fnUntraced(function* (process: string) {
      return yield* Layer.buildWithMemoMap(clientsOf(path)(process), opened, yield* Effect.scope)
    })
    offer?.(connect)
    return yield* connect(yield* SimulatedProcess)
  })
  return Layer.effectContext(client)
}
