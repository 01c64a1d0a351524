/**
 * The user's own database: the `SqlClient` that is in the context when a layer is built, and no other. What this
 * library stores is written with that client, so that it joins the transaction in which the user's code writes.
 *
 * PostgreSQL and SQLite are supported. Another dialect is refused when the layer is built.
 */

import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { PersistedQueueError } from "effect/persistence/PersistedQueue"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as SqlClient from "effect/sql/SqlClient"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import type { ConfigurationError } from "../contract/ConfigurationError.ts"
import * as Settings from "../contract/Settings.ts"
import { growing } from "../internal/schedule.ts"

/**
 * The database did not do what was asked of it. What was asked in a transaction is undone with that transaction.
 *
 * It names the kind of failure and nothing of the database's own words: they may quote a row, and with it a person's
 * data. The database's log has them.
 */
export class DatabaseError extends Schema.TaggedError<DatabaseError>("effect-pix/DatabaseError")("DatabaseError", {
  /** What was being done, such as `submit`. */
  operation: Schema.String,
  /** The kind of failure, as Effect names it: `ConnectionError`, `UniqueViolation`, ... */
  reason: Schema.String,
  /** Whether the same may succeed when it is asked again. */
  isRetryable: Schema.Boolean
}) {
  override get message(): string {
    return `The database did not do ${this.operation} (${this.reason}). ${this.isRetryable ? "It is safe to ask again." : "Asking again will not help: look into the database's own log."}`
  }
}

/**
 * The calling code is in a transaction of another `SqlClient` than the one that this service was built with. The two
 * would not commit together, so nothing was written. Build both from one client: provide one layer value to both.
 */
export class ForeignTransaction extends Schema.TaggedError<ForeignTransaction>("effect-pix/ForeignTransaction")(
  "ForeignTransaction",
  { operation: Schema.String }
) {
  override get message(): string {
    return `${this.operation} was called in a transaction of another SqlClient than its own: the two would not commit together, so nothing was written. Give your code and this service the same SqlClient, made once by one layer value.`
  }
}

/** The dialects that tables and statements are written for. */
export type Dialect = "pg" | "sqlite"

/** The user's client, without its transforms of names, and what has to be known of it. */
export interface Database {
  readonly sql: SqlClient.SqlClient
  readonly dialect: Dialect
}

const refused = (name: string) => () =>
  Effect.fail(Settings.wrong("SqlClient", `is one for ${name}: this library keeps its tables in PostgreSQL or SQLite`))

/** The ambient `SqlClient`. Another dialect than PostgreSQL or SQLite is a `ConfigurationError`. */
export const database: Effect.Effect<Database, ConfigurationError, SqlClient.SqlClient> = Effect.gen(function* () {
  const sql = (yield* SqlClient.SqlClient).withoutTransforms()
  const dialect = yield* sql.onDialect({
    pg: () => Effect.succeed<Dialect>("pg"),
    sqlite: () => Effect.succeed<Dialect>("sqlite"),
    mysql: refused("MySQL"),
    mssql: refused("Microsoft SQL Server"),
    clickhouse: refused("ClickHouse")
  })
  return { sql, dialect }
})

/** Whether nothing could be asked: there is no connection, or the server (PostgreSQL's `57P..`) starts or stops. */
const isAway = ({ reason }: SqlError) =>
  reason._tag === "ConnectionError" ||
  (Predicate.hasProperty(reason.cause, "code") && String(reason.cause.code).startsWith("57P"))

/**
 * Waits until the database answers, for as long as it takes, and says so: a program that starts together with its
 * database, or during an outage, need not be started again. Wrong credentials and the like are failures.
 */
export const untilReachable: Effect.Effect<void, SqlError, SqlClient.SqlClient> = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`SELECT 1`.pipe(
    Effect.tapError((error) =>
      isAway(error) ? Effect.logWarning("The database cannot be reached. It is asked again until it can.") : Effect.void
    ),
    Effect.retry({ while: isAway, schedule: growing({ first: "1 second", most: "15 seconds" }) })
  )
})

/** The transaction that a fiber is in, of whichever client: Effect stores it under this name, and does not export it. */
const CurrentTransaction = Context.Reference<Context.Key<never, object> | undefined>(
  "effect/sql/CurrentTransactionService",
  { defaultValue: () => undefined }
)

/**
 * Fails if the calling fiber's innermost transaction is not one of this client: what is written then would neither
 * commit nor roll back with it.
 */
export const requireOwnTransaction = ({ sql }: Database, operation: string): Effect.Effect<void, ForeignTransaction> =>
  Effect.flatMap(CurrentTransaction, (current) =>
    current === undefined || current.key === sql.transactionService.key
      ? Effect.void
      : Effect.fail(new ForeignTransaction({ operation }))
  )

/** Whether the calling fiber is in a transaction of this client already. */
export const isInTransaction = ({ sql }: Database): Effect.Effect<boolean> =>
  Effect.map(CurrentTransaction, (current) => current?.key === sql.transactionService.key)

/**
 * The client's own `withTransaction`, in which what cannot be committed or undone, since the connection is gone, is a
 * failure. Effect makes a defect of it, and of the failure that came before it: no retry would see them.
 */
export const inTransaction =
  ({ sql }: Database) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError, R> =>
    Effect.catchCause(sql.withTransaction(effect), (cause) => {
      const lost = cause.reasons.filter(Cause.isDieReason).map(({ defect }) => defect)
      const error = lost.find(isSqlError)
      return error === undefined || Cause.hasInterrupts(cause) ? Effect.failCause(cause) : Effect.fail(error)
    })

/** The failure of the database: as it is, or wrapped by the queue. */
type Failure = SqlError | PersistedQueueError

const isQueueError = (error: unknown): error is PersistedQueueError => Predicate.isTagged(error, "PersistedQueueError")

/** The queue wraps what the database said in a cause. */
const sqlErrorOf = (error: unknown): SqlError | undefined => {
  if (isSqlError(error)) return error
  if (!isQueueError(error) || !Cause.isCause(error.cause)) return undefined
  const inner = Cause.squash(error.cause)
  return isSqlError(inner) ? inner : undefined
}

/** Says which operation failed on the database, and drops the database's words. */
export const naming =
  (operation: string) =>
  <A, E, R>(effect: Effect.Effect<A, E | Failure, R>): Effect.Effect<A, Exclude<E, Failure> | DatabaseError, R> =>
    Effect.mapError(effect, (error) => {
      const { isRetryable = true, reason } = sqlErrorOf(error) ?? {}
      return reason !== undefined || isQueueError(error)
        ? new DatabaseError({ operation, reason: reason?._tag ?? "QueueError", isRetryable })
        : // What is left is neither.
          (error as Exclude<E, Failure>)
    })
