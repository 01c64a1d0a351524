/**
 * Opens a SQLite file, and makes this process its only writer.
 *
 * Details: the owner holds a transaction open on an empty database beside the file, `<file>-lock`. The operating system ends
 * that lock with the process, also after kill -9. `locking_mode = EXCLUSIVE` on the file itself would shut out readers too.
 *
 * Gotcha: no code of this process may open and close the lock file otherwise, since POSIX ends a process's locks on a file
 * when it closes any descriptor of it.
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type * as Scope from "effect/Scope"
import { classifySqliteError, SqlError } from "effect/sql/SqlError"
import { chmodSync, chownSync, closeSync, existsSync, openSync, realpathSync, statSync } from "node:fs"
import process from "node:process"
import type { DatabaseSync } from "node:sqlite"
import { type ConfigurationError, settingError } from "../../contract/ConfigurationError.ts"
import { failureOf, reasonOf } from "../../internal/databaseFailure.ts"
import { log } from "../../internal/spans.ts"

/** SQLite's number for a file that cannot be opened. */
const cannotOpen = 14

/**
 * `node:sqlite` has SQLite's error number in `errcode`. Effect's classification reads it from `code`. A system call fails for a
 * file that cannot be opened.
 */
const withCode = (cause: unknown) => {
  if (!Predicate.isError(cause)) return cause
  if (Predicate.hasProperty(cause, "errcode")) return { code: cause.errcode, message: cause.message, cause }
  return Predicate.hasProperty(cause, "syscall") ? { code: cannotOpen, message: cause.message, cause } : cause
}

/** Runs calls of `node:sqlite`. */
export const attempt = <A>(operation: string, run: () => A): Effect.Effect<A, SqlError> =>
  Effect.try({
    try: run,
    catch: (cause) => new SqlError({ reason: classifySqliteError(withCode(cause), { message: operation, operation }) })
  })

/** Whether another connection or process has locked what a statement needs. */
export const isLocked = ({ reason }: SqlError): boolean => reason._tag === "LockTimeoutError"

const connect = (
  path: string,
  statements: string,
  readOnly = false
): Effect.Effect<DatabaseSync, SqlError, Scope.Scope> =>
  Effect.gen(function* () {
    const sqlite = yield* Effect.promise(() => import("node:sqlite"))
    const db = yield* Effect.acquireRelease(
      attempt("open", () => new sqlite.DatabaseSync(path, { readOnly })),
      (db) => Effect.sync(() => db.close())
    )
    yield* attempt("open", () => db.exec(statements))
    return db
  })

/** Why a file cannot be opened. */
const causeOf = (error: SqlError): string => {
  const reason = reasonOf(error)
  const known = failureOf(reason)
  if (known !== undefined) return `${known.cause}. ${known.remedy}`
  return reason === "ConnectionError"
    ? "it or its folder is absent, or this program may not read and write in them: SQLite makes -wal, -shm and -lock beside it"
    : reason
}

const wrong = (filename: string) => (error: SqlError) =>
  settingError(
    "filename",
    isLocked(error)
      ? `(${filename}) is open in another process: a SQLite file belongs to one process. Stop the other one first; several processes need PostgreSQL.`
      : `(${filename}) cannot be opened as a SQLite database: ${causeOf(error)}`
  )

/**
 * The path of a file without symbolic links, so that each spelling of it has the same lock. The file is created if it is
 * absent, and nobody else of the machine reads it: it has PIX keys. With two hard links, SQLite would have two logs for one file, which damages it.
 */
export const pathOf = (filename: string): Effect.Effect<string, ConfigurationError> =>
  attempt("open", () => {
    if (!existsSync(filename)) closeSync(openSync(filename, "a", 0o600))
    return realpathSync.native(filename)
  }).pipe(
    Effect.mapError(wrong(filename)),
    Effect.filterOrFail(
      (path) => !statSync(path).isFile() || statSync(path).nlink === 1,
      () => settingError("filename", `(${filename}) has more than one hard link: SQLite needs one name for each file`)
    )
  )

/** Makes this process the only writer of a file, until the scope ends, and logs which file it is. */
export const own = (path: string): Effect.Effect<void, ConfigurationError, Scope.Scope> =>
  Effect.gen(function* () {
    const lock = `${path}-lock`
    const isNew = !existsSync(lock)
    // The owner never writes to the lock, so it needs no journal beside it.
    yield* connect(lock, "PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE")
    // A container without a volume has a new file at each start, and the rows of the last one are gone.
    yield* log("Info", `NodeSqlite: ${path} ${statSync(path).size === 0 ? "was created" : "was opened"}.`, {})
    if (!isNew) return
    // As SQLite does for -wal and -shm: an operator's command, also of root, leaves no lock that the program cannot open.
    const { gid, mode, uid } = statSync(path)
    chmodSync(lock, mode)
    if (process.getuid?.() === 0) chownSync(lock, uid, gid)
  }).pipe(Effect.mapError(wrong(path)))

/**
 * `FULL` syncs the log at each commit. With `secure_delete`, what is deleted is overwritten with zeros, but for what
 * SQLite left where it moved rows to other pages. A reader may lock the file for a moment while it repairs the log of a process that
 * was killed, so opening it waits for that. Later waits are asynchronous.
 */
const writing = `
  PRAGMA busy_timeout = 1000;
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA foreign_keys = ON;
  PRAGMA secure_delete = ON;
  BEGIN IMMEDIATE;
  COMMIT;
  PRAGMA busy_timeout = 0;
`

/** A connection that writes to a file, or to memory. */
export const openWriting = (path: string): Effect.Effect<DatabaseSync, ConfigurationError, Scope.Scope> =>
  Effect.mapError(connect(path, writing), wrong(path))

/** A connection that only reads a file, which another process may hold and write to. It creates no database. */
export const openReading = (filename: string): Effect.Effect<DatabaseSync, ConfigurationError, Scope.Scope> =>
  Effect.mapError(connect(filename, "PRAGMA busy_timeout = 1000; PRAGMA schema_version", true), wrong(filename))
