/**
 * The failures of a database that are no fault of a statement, by name: the disk is full, the database is read-only, and so on.
 * Effect's own classification calls them `UnknownError`.
 */
import * as Predicate from "effect/Predicate"
import type { SqlError } from "effect/sql/SqlError"

interface Failure {
  /** SQLite's result codes, their names, and the codes of PostgreSQL. */
  readonly codes: ReadonlyArray<number | string>
  /** The cause, as a sentence. */
  readonly cause: string
  /** The action of a person that ends it. */
  readonly remedy: string
  /** Whether the same operation succeeds after that. */
  readonly isRetryable: boolean
}

/** The code of a statement that got no connection. */
export const noConnectionCode = "EFFECT_PIX_NO_CONNECTION"

const failures = {
  NoConnection: {
    codes: [noConnectionCode],
    cause:
      "no connection was free for 8 seconds: other code of this program holds them all, as in long transactions, or the pool is too small. Nothing was sent",
    remedy: "Find the code that holds them, or raise the pool's maxConnections",
    isRetryable: true
  },
  DiskFull: {
    // SQLite could not enlarge a file: the database, its log, or the -shm beside it.
    codes: [13, "SQLITE_FULL", 4874, "SQLITE_IOERR_SHMSIZE", "53100"],
    cause: "the disk of the database is full",
    remedy: "Free space on it",
    isRetryable: true
  },
  ReadOnly: {
    codes: [8, "SQLITE_READONLY", "25006"],
    cause: "the database is read-only: its file, its file system or its server takes no writes",
    remedy: "Make it writable, or connect to the server that takes writes",
    isRetryable: true
  },
  IoError: {
    codes: [10, "SQLITE_IOERR", "58030"],
    cause: "the disk of the database cannot be read or written (an input/output error)",
    remedy: "Look whether the disk is full or defective, or is gone",
    isRetryable: true
  },
  Corrupt: {
    codes: [11, 26, "SQLITE_CORRUPT", "SQLITE_NOTADB", "XX001", "XX002"],
    cause: "the file of the database is damaged, or is no database",
    remedy: "Stop the program, and restore a backup",
    isRetryable: false
  }
} as const satisfies Readonly<Record<string, Failure>>

/** The name of a failure that a person has to end. */
export type FailureName = keyof typeof failures

// The keys of a literal are its own.
const known = Object.entries(failures) as ReadonlyArray<readonly [FailureName, Failure]>

/** The name of the failure that an error of a driver has as its `code`; `undefined` for any other error. */
export const failureNameOf = ({ reason: { cause } }: SqlError): FailureName | undefined => {
  const code = Predicate.hasProperty(cause, "code") ? cause.code : undefined
  const isOf = (of: number | string) =>
    // SQLite's extended codes have the primary code in the lowest byte, and its name as their beginning.
    typeof of === "number"
      ? typeof code === "number" && (code === of || (code & 0xff) === of)
      : typeof code === "string" && (code === of || code.startsWith(`${of}_`))
  return known.find(([, { codes }]) => codes.some(isOf))?.[0]
}

/** What is known of a reason; `undefined` for the reasons that Effect names. */
export const failureOf = (reason: string): Failure | undefined => known.find(([name]) => name === reason)?.[1]

/** The reason of a failure: the name of one that a person has to end, or Effect's own. */
export const reasonOf = (error: SqlError): string => failureNameOf(error) ?? error.reason._tag

/**
 * The name of the constraint, or of the function of the trigger, that refused a statement; `undefined` where the database does not say
 * it. Nothing else of its message is read, which may quote a row.
 */
export const refusedBy = ({ reason: { cause } }: SqlError): string | undefined => {
  const textOf = (field: string) => (Predicate.hasProperty(cause, field) ? String(cause[field]) : "")
  const [, ofSqlite] = /^[A-Z ]+ constraint failed: (\w+(?:\.\w+)?)/.exec(textOf("message")) ?? []
  const [, ofTrigger] = /^PL\/pgSQL function ([\w."]+)\(/.exec(textOf("where")) ?? []
  return textOf("constraint") || ofTrigger || ofSqlite
}
