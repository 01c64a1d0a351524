/**
 * The spans of this library: made only where a tracer is installed, and ended without a value. An answer or the message
 * of an error may hold people's data, so a span ends only with the error's tag and outcome.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Tracer from "effect/Tracer"

/** Whether anybody would see a span: without a tracer it costs as much as the rest of a call. */
export const isTraced = (context: Context.Context<never>): boolean =>
  Context.getOrUndefined(context, Tracer.Tracer) !== undefined

const wordOf = (error: unknown, name: "_tag" | "outcome"): string => {
  const word = Predicate.hasProperty(error, name) ? error[name] : undefined
  return typeof word === "string" ? word : ""
}

/** How it ended, and nothing of what it ended with. */
export const withoutValues = (exit: Exit.Exit<unknown, unknown>): Exit.Exit<void, string> => {
  if (Exit.isSuccess(exit)) return Exit.void
  const failure = Cause.findErrorOption(exit.cause)
  if (Option.isSome(failure)) {
    const words = [wordOf(failure.value, "_tag"), wordOf(failure.value, "outcome")]
    return Exit.fail(words.filter((word) => word !== "").join(": ") || "Failed")
  }
  return Cause.hasInterruptsOnly(exit.cause) ? Exit.interrupt() : Exit.fail("Defect")
}

/** Runs `effect` in a span, where a tracer is installed. */
export const inSpan = <A, E, R>(
  name: string,
  options: { readonly kind: Tracer.SpanKind; readonly attributes: Record<string, unknown> },
  effect: (span: Tracer.Span | undefined) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.withFiber((fiber) =>
    isTraced(fiber.context)
      ? Effect.flatMap(Effect.makeSpan(name, options), (span) =>
          Effect.onExit(Effect.withParentSpan(effect(span), span), (exit) =>
            Effect.map(Clock.currentTimeNanos, (now) => span.end(now, withoutValues(exit)))
          )
        )
      : effect(undefined)
  )
