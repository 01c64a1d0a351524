/**
 * The user's code that is called for what is stored: by handlers of a webhook, and of a queue of payouts. Its errors may hold a
 * person's data, so none of their text is in a log line, a span or a metric.
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Tracer from "effect/Tracer"
import { monotonicMillis } from "../internal/monotonic.ts"
import { countSinceLine, type Lines, log } from "../internal/spans.ts"

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
