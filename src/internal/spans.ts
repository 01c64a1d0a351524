/**
 * The spans and the log lines of this library.
 *
 * A span is made only where a tracer is installed, and ends without a value: an answer or the message of an error may hold
 * people's data, so a span ends only with the error's tag and outcome. A log line has attributes, and the trace of its
 * call or row. It is not an event of a span, since its message may hold an idempotency key.
 *
 * One thing has one name in spans and lines: `payments.operation`, `payments.outcome`, `payments.error` (the error's tag),
 * `payments.attempts`, `payments.idempotency_key_hash`, `payments.reference`, `payments.amount` (in
 * centavos), `payments.retry_after` (in seconds) and
 * `error.type`. The attributes of an error of a call are in `error[ErrorReporter.attributes]`.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as LogLevel from "effect/LogLevel"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as References from "effect/References"
import * as Tracer from "effect/Tracer"

/**
 * Whether a tracer is installed. Without a tracer nobody sees a span, and making one costs as much as the rest of a
 * call.
 */
export const isTraced = (context: Context.Context<never>): boolean =>
  Context.getOrUndefined(context, Tracer.Tracer) !== undefined

const readText = (error: unknown, name: "_tag" | "outcome"): string => {
  const text = Predicate.hasProperty(error, name) ? error[name] : undefined
  return typeof text === "string" ? text : ""
}

/** The exit without its value and its errors' contents. */
export const withoutValues = (exit: Exit.Exit<unknown, unknown>): Exit.Exit<void, string> => {
  if (Exit.isSuccess(exit)) return Exit.void
  const failure = Cause.findErrorOption(exit.cause)
  if (Option.isSome(failure)) {
    const words = [readText(failure.value, "_tag"), readText(failure.value, "outcome")]
    return Exit.fail(words.filter((word) => word !== "").join(": ") || "Failed")
  }
  return Cause.hasInterruptsOnly(exit.cause) ? Exit.interrupt() : Exit.fail("Defect")
}

/** Runs `effect` in a span if a tracer is installed. */
export const inSpan = <A, E, R>(
  name: string,
  options: Pick<Tracer.SpanOptionsNoTrace, "kind" | "attributes" | "root">,
  effect: (span: Tracer.Span | undefined) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.withFiber((fiber) =>
    isTraced(fiber.context)
      ? Effect.acquireUseRelease(
          Effect.makeSpan(name, options),
          (span) => Effect.withParentSpan(effect(span), span),
          (span, exit) => Effect.map(Clock.currentTimeNanos, (now) => span.end(now, withoutValues(exit)))
        )
      : effect(undefined)
  )

/**
 * The value of `error.type`: the status of an answer outside of 2xx, else the `FailureReason`, else the error's tag.
 */
export const errorType = (failed: {
  readonly _tag: string
  readonly status?: number | undefined
  readonly reason?: string | undefined
}): string => {
  const { _tag, reason, status } = failed
  return status !== undefined && (status >= 400 || (status >= 300 && reason === undefined))
    ? String(status)
    : (reason ?? _tag)
}

/** Runs `effect` in the trace of `span`, if there is one. Its log lines are no events of the span. */
export const inTraceOf = <A, E, R>(
  span: Tracer.AnySpan | undefined,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  // Loggers add a line as an event to a span of this process. They add none to a span of another process.
  span === undefined ? effect : Effect.provideService(effect, Tracer.ParentSpan, Tracer.externalSpan(span))

/** Logs a line in the trace of `span`, by default of the current one. Attributes that are `undefined` are left out. */
export const log = (
  level: LogLevel.Severity,
  message: string,
  attributes: Readonly<Record<string, unknown>>,
  span?: Tracer.AnySpan
): Effect.Effect<void> =>
  Effect.withFiber((fiber) => {
    const known = Object.entries(attributes).filter(([, value]) => value !== undefined)
    const annotations = { ...fiber.getRef(References.CurrentLogAnnotations), ...Object.fromEntries(known) }
    const line = Effect.provideService(
      Effect.logWithLevel(level)(message),
      References.CurrentLogAnnotations,
      annotations
    )
    return inTraceOf(span ?? Context.getOrUndefined(fiber.context, Tracer.ParentSpan), line)
  })

/** By what is logged: when a line was logged last, and how often it was left out since. */
export type Lines = Map<string, { readonly at: number; since: number }>

/**
 * How often something happened since its last line; `undefined` if that was less than a minute ago, and no line follows. `now` is of the
 * monotonic clock.
 */
export const countSinceLine = (lines: Lines, key: string, now: number): number | undefined => {
  const last = lines.get(key)
  if (last !== undefined && now - last.at < 60_000) {
    last.since++
    return undefined
  }
  lines.set(key, { at: now, since: 0 })
  return 1 + (last?.since ?? 0)
}
