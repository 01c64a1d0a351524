/**
 * The user's own database: the `SqlClient` in the context when a layer is built. This library writes its rows with that
 * client, so that they join the transaction of the user's code.
 *
 * Details: PostgreSQL and SQLite are supported. Another dialect is refused when the layer is built.
 */

import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Semaphore from "effect/Semaphore"
import * as SqlClient from "effect/sql/SqlClient"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import * as Option from "effect/Option"
import { failureOf, reasonOf } from "../internal/databaseFailure.ts"
import { legible } from "../internal/legible.ts"
import { type ConfigurationError, settingError } from "../contract/ConfigurationError.ts"
import { boundedExponential } from "../internal/schedule.ts"
import { soleWriterOf, type Writes } from "../internal/soleWriter.ts"
import { log } from "../internal/spans.ts"
import { report } from "./Failures.ts"
import { hasLimits, untilConnected, withLimits } from "./Limits.ts"

/**
 * An operation on the database failed. If it was part of a transaction, it is rolled back with that transaction.
 *
 * The error has the kind of the failure and not the database's message, which may quote a row and with it a person's data.
 * Look for the message in the log of a database server.
 */
export class DatabaseError extends legible(
  Schema.TaggedError<DatabaseError>("effect-pix/DatabaseError")("DatabaseError", {
    /** The operation that failed, such as `submit`. */
    operation: Schema.String,
    /**
     * The kind of failure. A person has to end `NoConnection` (none of the pool was free, and nothing was sent), `DiskFull`, `ReadOnly`
     * (the database takes no writes), `IoError` and `Corrupt`.
     * The others are as Effect names them: `ConnectionError`, `LockTimeoutError`, `UniqueViolation`, ...
     */
    reason: Schema.String,
    /** Whether the same operation may succeed later. */
    isRetryable: Schema.Boolean
  })
) {
  get concerns(): "Setup" | "Service" {
    return this.isRetryable ? "Service" : "Setup"
  }
  override get message(): string {
    const { isRetryable, operation, reason } = this
    const known = failureOf(reason)
    const again = isRetryable
      ? "It is safe to try again."
      : "Another try will not help: a database server has the cause in its log."
    return known === undefined
      ? `${operation} failed on the database (${reason}). ${again}`
      : `${operation} failed on the database (${reason}): ${known.cause}. ${known.remedy}.${isRetryable ? " Then it is safe to try again." : ""}`
  }
}

/**
 * The calling code is in a transaction of another `SqlClient` than the one that this service was built with. The two
 * would not commit together, so nothing was written. Build both from one client: provide one layer value to both.
 */
export class ForeignTransaction extends legible(
  Schema.TaggedError<ForeignTransaction>("effect-pix/ForeignTransaction")("ForeignTransaction", {
    operation: Schema.String
  })
) {
  get concerns(): "Setup" {
    return "Setup"
  }
  override get message(): string {
    return `${this.operation} was called in a transaction of another SqlClient than its own: the two would not commit together, so nothing was written. Give your code and this service the same SqlClient, made once by one layer value.`
  }
}

/** The dialects that tables and statements are written for. */
export type Dialect = "pg" | "sqlite"

/** The user's client, without its transforms of names and with limits, and its dialect. */
export interface Database {
  readonly sql: SqlClient.SqlClient
  readonly dialect: Dialect
  /** The writes of a database that only this process writes to. */
  readonly writes: Writes | undefined
  /** Runs a transaction with the user's code in it. SQLite has one transaction at a time, so there it is one of these too. */
  readonly inTurn: <A, E>(effect: Effect.Effect<A, E>) => Effect.Effect<A, E>
}

/**
 * The transaction of a fiber, of any client. Effect stores it under this key, and does not export the key: `seesTransactions`
 * asks whether it is still the one.
 */
const CurrentTransaction = Context.Reference<Context.Key<never, object> | undefined>(
  "effect/sql/CurrentTransactionService",
  { defaultValue: () => undefined }
)

class PlayedTransaction extends Context.Service<PlayedTransaction, readonly [object, number]>()(
  "effect-pix/Database/PlayedTransaction"
) {}

const succeed = () => Effect.void

/** Whether the transaction of a fiber is found: one is played without a database. */
const seesTransactions = Effect.suspend(() => {
  const transactionService = PlayedTransaction
  const inTransaction = SqlClient.makeWithTransaction({
    transactionService,
    spanAttributes: [],
    acquireConnection: () => Effect.succeed({}),
    begin: succeed,
    savepoint: succeed,
    commit: succeed,
    rollback: succeed,
    rollbackSavepoint: succeed
  })
  return Effect.map(inTransaction(CurrentTransaction), (current) => current?.key === transactionService.key)
}).pipe(Effect.withTracerEnabled(false), Effect.orDie)

const otherVersion = (problem: string) =>
  settingError("effect", `is of a version ${problem}. Install a version that the peer dependency of effect-pix names`)

const refused = (name: string) => () =>
  Effect.fail(settingError("SqlClient", `is one for ${name}: this library keeps its tables in PostgreSQL or SQLite`))

/**
 * The ambient `SqlClient`. Another dialect than PostgreSQL or SQLite is a `ConfigurationError`, and so is a version of Effect that
 * keeps the transaction of a fiber in another place.
 */
export const database: Effect.Effect<Database, ConfigurationError, SqlClient.SqlClient> = Effect.gen(function* () {
  const client = yield* SqlClient.SqlClient
  const sql = client.withoutTransforms()
  const dialect = yield* sql.onDialect({
    pg: () => Effect.succeed<Dialect>("pg"),
    sqlite: () => Effect.succeed<Dialect>("sqlite"),
    mysql: refused("MySQL"),
    mssql: refused("Microsoft SQL Server"),
    clickhouse: refused("ClickHouse")
  })
  if (!(yield* seesTransactions))
    return yield* otherVersion(
      "whose transactions this library cannot see: rows could be written outside of your transaction"
    )
  if (!(yield* hasLimits))
    return yield* otherVersion("whose statements this library cannot limit: one could wait for a connection for ever")
  const sole = yield* soleWriterOf(client)
  const turn = Semaphore.makeUnsafe(dialect === "sqlite" ? 1 : Infinity)
  const inTurn: Database["inTurn"] = sole?.inTurn ?? ((effect) => turn.withPermit(effect))
  return { sql: withLimits(sql, dialect), dialect, writes: sole?.writes, inTurn }
})

/**
 * Whether a column has one of the values that a SELECT finds, as SQL. PostgreSQL expects few values in an array, and finds
 * the rows by the column's index whatever its statistics are; with a join it may read all rows for each of them.
 */
export const isOneOf = ({ dialect, sql }: Database, column: string, values: Fragment): Fragment =>
  dialect === "pg" ? sql`${sql(column)} = ANY(ARRAY(${values}))` : sql`${sql(column)} IN (${values})`

/** A SELECT of many texts in one parameter, a JSON list, so that one prepared statement serves any number of them. */
export const unpacked = ({ dialect, sql }: Database, json: string, type: "TEXT" | "BIGINT" = "TEXT"): Fragment =>
  dialect === "pg"
    ? sql`SELECT CAST(json_array_elements_text(CAST(${json} AS JSON)) AS ${sql.literal(type)})`
    : sql`SELECT CAST(value AS ${sql.literal(type)}) FROM json_each(${json})`

/**
 * The end of a SELECT of rows that the same statement changes, as SQL. PostgreSQL locks them then, so that none was changed
 * since it was found; a row that somebody else changes is left out.
 */
export const locked = ({ dialect, sql }: Database): Fragment =>
  sql.literal(dialect === "pg" ? "FOR UPDATE SKIP LOCKED" : "")

/** Whether the database cannot be reached: there is no connection, or the server (PostgreSQL's `57P..`) starts or stops. */
const isUnreachable = ({ reason }: SqlError) =>
  reason._tag === "ConnectionError" ||
  (Predicate.hasProperty(reason.cause, "code") && String(reason.cause.code).startsWith("57P"))

/**
 * Waits until the database answers, without a limit, and logs that it waits: a program that starts together with its
 * database, or during an outage, need not be started again. Other errors, such as wrong credentials, are failures.
 */
export const untilReachable: Effect.Effect<void, SqlError, SqlClient.SqlClient> = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`SELECT 1`.pipe(
    Effect.tapError((error) =>
      isUnreachable(error)
        ? log("Warn", "The database cannot be reached. This is retried until it can.", {
            "error.type": error.reason._tag
          })
        : Effect.void
    ),
    Effect.retry({ while: isUnreachable, schedule: boundedExponential({ first: "1 second", most: "15 seconds" }) })
  )
})

/**
 * Fails if the calling fiber's innermost transaction is of another client: rows that this client writes would neither commit
 * nor roll back with it.
 */
export const requireOwnTransaction = ({ sql }: Database, operation: string): Effect.Effect<void, ForeignTransaction> =>
  Effect.flatMap(CurrentTransaction, (current) =>
    current === undefined || current.key === sql.transactionService.key
      ? Effect.void
      : Effect.fail(new ForeignTransaction({ operation }))
  )

/** Whether the calling fiber is in a transaction of this client. */
export const isInTransaction = ({ sql }: Database): Effect.Effect<boolean> =>
  Effect.map(CurrentTransaction, (current) => current?.key === sql.transactionService.key)

/** Fails with the database's error where Effect has made a defect of it, which no retry would see. */
const failWithDefect = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError, R> =>
  Effect.catchCause(effect, (cause): Effect.Effect<never, E | SqlError> => {
    const defects = cause.reasons.filter(Cause.isDieReason).map(({ defect }) => defect)
    const error = defects.find(isSqlError)
    return error === undefined || Cause.hasInterrupts(cause) ? Effect.failCause(cause) : Effect.fail(error)
  })

/** The client's own `withTransaction`, which fails if a commit or a rollback fails, since the connection is lost. */
export const inTransaction =
  ({ sql }: Database) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError, R> =>
    Effect.flatMap(Effect.serviceOption(sql.transactionService), (outer) =>
      failWithDefect(
        Option.isSome(outer)
          ? sql.withTransaction(effect)
          : untilConnected((connected) => sql.withTransaction(connected(effect)))
      )
    )

/**
 * Turns failures of the database into a `DatabaseError` with the name of the operation, without the database's message, and
 * reports them.
 */
export const mapDatabaseError =
  (operation: string) =>
  <A, E, R>(effect: Effect.Effect<A, E | SqlError, R>): Effect.Effect<A, Exclude<E, SqlError> | DatabaseError, R> =>
    effect.pipe(
      Effect.tapError((error) => (isSqlError(error) ? report(error) : Effect.void)),
      Effect.mapError((error) => {
        // The compiler does not narrow a type parameter.
        if (!isSqlError(error)) return error as Exclude<E, SqlError>
        const reason = reasonOf(error)
        return new DatabaseError({
          operation,
          reason,
          isRetryable: failureOf(reason)?.isRetryable ?? error.isRetryable
        })
      })
    )
