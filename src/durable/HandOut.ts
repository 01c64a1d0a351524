/**
 * Hands something out to the user's code, once: in one transaction of the user's database with what the code writes, and again
 * later where it fails.
 */
import * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Result from "effect/Result"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import type * as Tracer from "effect/Tracer"
import { inSpan } from "../internal/spans.ts"
import { type Database, type DatabaseError, inTransaction, mapDatabaseError } from "./Database.ts"
import { orTryAgain, TryAgain } from "./Work.ts"

/** The lease of the row ended, and another process has taken it: it does the work. */
export class Overtaken extends Data.TaggedError("Overtaken") {}

/** The waits between tries: the first one, which is doubled up to the longest one, in milliseconds, and the number of tries. */
export interface Delays {
  readonly first: number
  readonly longest: number
  readonly tries: number
  readonly isJittered: boolean
}

/** A day, of the user's code that fails. */
export const afterFailure: Delays = { first: 1000, longest: 300_000, tries: 295, isJittered: true }

/** How many milliseconds to wait after this try, counted from 1; `undefined` after the last one. */
export const delayOf = (
  { first, isJittered, longest, tries }: Delays,
  attempt: number
): Effect.Effect<number | undefined> => {
  if (attempt > tries) return Effect.undefined
  const millis = Math.min(first * 2 ** (attempt - 1), longest)
  return isJittered
    ? Effect.map(Random.nextBetween(0.8, 1.2), (factor) => Math.ceil(millis * factor))
    : Effect.succeed(millis)
}

/** How long the user's code may take by default: SQLite has one transaction at a time, and all else waits for it. */
export const defaultTimeout = ({ dialect }: Database): "5 seconds" | "30 seconds" =>
  dialect === "sqlite" ? "5 seconds" : "30 seconds"

/**
 * Bounds how long PostgreSQL waits for the next statement of a transaction, as SQL of a SELECT: a process may be suspended in the
 * user's code. `calls` pieces of code may run one after the other without a statement.
 */
export const idleLimit = ({ sql }: Database, handlerTimeout: number, calls: number): Fragment =>
  sql`set_config('idle_in_transaction_session_timeout', ${`${handlerTimeout * calls + 5000}`}, TRUE)`

type Tagged<Tag = string> = { readonly _tag: Tag }

/** A transaction with the user's code in it. */
export interface HandOut<A, E, Failed> {
  /** Its statements before the user's code. A failure of them is one of the database. */
  readonly begin: Effect.Effect<unknown, E>
  /** The user's code, and what else commits with its writes. */
  readonly work: Effect.Effect<A, E | Failed>
  /** The failure of the user's code where the database refuses what it wrote. Its tag is `HandlerFailed`. */
  readonly failed: (cause: Cause.Cause<unknown>) => Failed
}

/**
 * Calls the user's code in one transaction. If the database refuses to commit its writes, or closes the connection because of them,
 * the code failed: as a failure of the database it would be retried for ever, and never be a dead letter.
 */
export const withUserCode = <A, E extends Tagged, Failed extends Tagged>(
  database: Database,
  { begin, failed, work }: HandOut<A, E, Failed>
): Effect.Effect<A, E | Failed | SqlError> =>
  Effect.suspend(() => {
    let hasBegun = false
    const begun = Effect.andThen(
      Effect.tap(
        begin,
        Effect.sync(() => void (hasBegun = true))
      ),
      work
    )
    return Effect.catchCause(database.inTurn(inTransaction(database)(begun)), (cause) => {
      if (!hasBegun || Cause.hasInterruptsOnly(cause)) return Effect.failCause(cause)
      const failure = Cause.findError(cause)
      const isKnown = Result.isSuccess(failure) && ["HandlerFailed", "Overtaken"].includes(failure.success._tag)
      return isKnown ? Effect.fail(failure.success) : Effect.fail(failed(cause))
    })
  })

/**
 * Handles a row that was taken, in a trace of its own: what wrote it ended long ago. The end of user's code that failed is stored
 * already, so it only makes the span fail; and of a row that somebody else has, they do the work.
 */
export const handleRow = (
  /** What calls the code, as a line begins. */
  name: string,
  spanName: string,
  attributes: Readonly<Record<string, string | number>>,
  work: (
    span: Tracer.Span | undefined
  ) => Effect.Effect<void, Tagged<"HandlerFailed"> | Overtaken | DatabaseError | SqlError | TryAgain>
): Effect.Effect<void, TryAgain> =>
  inSpan(spanName, { kind: "internal", attributes, root: true }, (span) => mapDatabaseError(spanName)(work(span))).pipe(
    Effect.catchTags({
      HandlerFailed: () => Effect.void,
      Overtaken: () => Effect.void,
      DatabaseError: ({ reason }) => Effect.fail(new TryAgain({ reason }))
    }),
    orTryAgain(name, attributes)
  )
