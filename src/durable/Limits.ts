/**
 * The limits of this library's statements. Where other code holds all connections of a pool, a statement would wait for ever, and say
 * nothing.
 *
 * Details: of a statement that got no connection it is certain that nothing was sent. One that runs for too long may have been executed,
 * as where the connection is lost: its caller looks again. A commit is not interrupted.
 */
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type { SqlClient } from "effect/sql/SqlClient"
import type { Acquirer, Borrower } from "effect/sql/SqlConnection"
import { ConnectionError, SqlError, StatementTimeoutError } from "effect/sql/SqlError"
import { make as makeStatement, makeCompilerSqlite } from "effect/sql/Statement"
import { noConnectionCode } from "../internal/databaseFailure.ts"

/** How long a statement waits for a connection. A delivery waits for 10 seconds. */
const connectionLimit = Duration.seconds(8)

/** How long a statement may run. */
const statementLimit = Duration.minutes(1)

const noConnection = () =>
  new SqlError({
    reason: new ConnectionError({
      operation: "acquire",
      message: "No connection was free",
      cause: Object.assign(new Error("No connection was free"), { code: noConnectionCode })
    })
  })

const tooLong = () =>
  new SqlError({
    reason: new StatementTimeoutError({
      operation: "execute",
      message: "The statement takes too long",
      cause: undefined
    })
  })

type Same = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | SqlError, R>

/** Runs an effect that waits for a connection, and calls `connected` with what needs it. */
export const untilConnected = <A, E, R>(
  run: (connected: Same) => Effect.Effect<A, E, R>
): Effect.Effect<A, E | SqlError, R> =>
  Effect.suspend(() => {
    let state: "Waits" | "Connected" | "Late" = "Waits"
    const connected = <B, F, S>(effect: Effect.Effect<B, F, S>): Effect.Effect<B, F | SqlError, S> =>
      Effect.suspend((): Effect.Effect<B, F | SqlError, S> => {
        if (state === "Late") return Effect.fail(noConnection())
        state = "Connected"
        return effect
      })
    const late = Effect.flatMap(Effect.sleep(connectionLimit), () => {
      if (state === "Connected") return Effect.never
      state = "Late"
      return Effect.fail(noConnection())
    })
    return Effect.raceFirst(run(connected), late)
  })

/** How Effect's statements get a connection. These are fields of its own: `hasLimits` asks whether they are still these. */
interface Connecting {
  readonly acquirer: Acquirer
  borrower: Borrower | undefined
}

/** Whether a statement of Effect asks where the limits are: one is played without a database. */
export const hasLimits: Effect.Effect<boolean> = Effect.suspend(() => {
  const played = makeStatement(Effect.die("It is not asked"), makeCompilerSqlite(), [], undefined)`SELECT 1`
  // The type of a statement does not have them.
  const connecting = played as unknown as Connecting
  if (connecting.acquirer === undefined) return Effect.succeed(false)
  connecting.borrower = () => Effect.fail(noConnection())
  return Effect.map(Effect.exit(played), (exit) => Exit.isFailure(exit) && Cause.hasFails(exit.cause))
}).pipe(Effect.withTracerEnabled(false))

/** The client, whose statements have limits. SQLite runs a statement at once, so it is only the connection that it waits for. */
export const withLimits = (sql: SqlClient, dialect: "pg" | "sqlite"): SqlClient => {
  const inTime: Same =
    dialect === "sqlite"
      ? (effect) => effect
      : (effect) => Effect.timeoutOrElse(effect, { duration: statementLimit, orElse: () => Effect.fail(tooLong()) })
  const limit = <A>(statement: A): A => {
    // The type of a statement does not have them.
    const connecting = statement as Connecting
    const { acquirer, borrower = (use) => Effect.scoped(Effect.flatMap(acquirer, use)) } = connecting
    connecting.borrower = (use) =>
      Effect.flatMap(Effect.serviceOption(sql.transactionService), (outer) =>
        Option.isSome(outer)
          ? inTime(use(outer.value[0]))
          : untilConnected((connected) => borrower((connection) => connected(inTime(use(connection)))))
      )
    return statement
  }
  const template = (...args: Parameters<SqlClient>) => {
    const made = sql(...args)
    return typeof args[0] === "string" ? made : limit(made)
  }
  return Object.assign(template, sql, { unsafe: (...args) => limit(sql.unsafe(...args)) } satisfies Pick<
    SqlClient,
    "unsafe"
  >)
}
