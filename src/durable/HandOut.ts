/**
 * Hands something out to the user's code, once: in one transaction of the user's database with what the code writes, and again
 * later where it fails. Its errors may hold a person's data, so none of their text is in a log line, a span or a metric.
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Predicate from "effect/Predicate"
import * as Random from "effect/Random"
import * as Result from "effect/Result"
import * as Tracer from "effect/Tracer"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import { monotonicMillis } from "../internal/monotonic.ts"
import { countSinceLine, inSpan, type Lines, log } from "../internal/spans.ts"
import { type Database, type DatabaseError, inTransaction, mapDatabaseError } from "./Database.ts"
import { orTryAgain, TryAgain } from "./Work.ts"

/** The tag of an error whose class is this library's: the other tags are the user's own text. */
const ownTag = (error: unknown): string | undefined => {
  const { identifier } = Object(Object(error).constructor) as { readonly identifier?: unknown }
  return Predicate.isString(identifier) && identifier.startsWith(prefix) ? identifier.slice(prefix.length) : undefined
}

const prefix = "effect-pix/"

/**
 * The kind of a failure of the user's code, without its text: the tag of an error of this library, thrown or failed with, else
 * `Timeout`, `Failure`, `Interrupted` or `Defect`.
 */
export const causeType = (cause: Cause.Cause<unknown>): string => {
  const failure = Cause.findError(cause)
  if (Result.isSuccess(failure))
    return ownTag(failure.success) ?? (Cause.isTimeoutError(failure.success) ? "Timeout" : "Failure")
  if (Cause.hasInterruptsOnly(cause)) return "Interrupted"
  return ownTag(Result.getOrUndefined(Cause.findDefect(cause))) ?? "Defect"
}

/** Runs a piece of the user's code with its services, for at most so many milliseconds, and returns its exit. */
export const makeRun = <R>(context: Context.Context<R>, timeout: number) => {
  // The spans and lines of the user's code belong to what it is called for, not to the span in which the layer was built.
  const services = Context.omit(Tracer.ParentSpan)(context) as Context.Context<R> // no handler asks for a span
  return <Input extends ReadonlyArray<unknown>, A, E>(
    code: (...input: Input) => Effect.Effect<A, E, R>,
    ...input: Input
  ): Effect.Effect<Exit.Exit<A, E | Cause.TimeoutError>> =>
    Effect.suspend(() => code(...input)).pipe(Effect.provideContext(services), Effect.timeout(timeout), Effect.exit)
}

/** A failure of the user's code, and where its dead letters are. */
interface Failed {
  /** What calls the code, as a line begins. */
  readonly name: string
  readonly handler: string
  readonly attempt: number
  /** Whether it is not called again by itself. */
  readonly isDead: boolean
  /** Where a person finds it then. */
  readonly letters: string
}

/** Logs that the user's code failed: each end, and the rest once a minute for each cause, since an outage of it fails for all that comes. */
export const warnFailed = Effect.fnUntraced(function* (
  lines: Lines,
  { attempt, handler, isDead, letters, name }: Failed,
  attributes: Readonly<Record<string, unknown>>
): Effect.fn.Return<void> {
  const message = `${name}: ${handler} failed, attempt ${attempt}`
  if (isDead) return yield* log("Error", `${message}: it is not called again, see ${letters}`, attributes)
  const cause = `${handler} ${String(attributes["error.type"])}`
  const count = countSinceLine(lines, cause, yield* monotonicMillis)
  const times = (count ?? 1) === 1 ? "" : ` (${count} times since the last such line)`
  yield* log(count === undefined ? "Debug" : "Warn", message + times, attributes)
})

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
  ) => Effect.Effect<void, Tagged<"HandlerFailed"> | Overtaken | DatabaseError | SqlError | TryAgain>,
  /** What names the row in a line. */
  row: Readonly<Record<string, unknown>> = attributes
): Effect.Effect<void, TryAgain> =>
  inSpan(spanName, { kind: "internal", attributes, root: true }, (span) => mapDatabaseError(spanName)(work(span))).pipe(
    Effect.catchTags({
      HandlerFailed: () => Effect.void,
      Overtaken: () => Effect.void,
      DatabaseError: ({ reason }) => Effect.fail(new TryAgain({ reason }))
    }),
    orTryAgain(name, row)
  )
