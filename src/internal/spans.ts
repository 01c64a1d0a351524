/**
 * Spans of ours, made in one way: only where a tracer is installed, and ended without what was answered.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Tracer from "effect/Tracer"

/**
 * Runs `effect` in a span, where a tracer is installed. Without one nobody would see it, and it costs as much as the
 * rest of a call.
 */
export const inSpan = <A, E, R>(
  name: string,
  options: { readonly kind: Tracer.SpanKind; readonly attributes: Record<string, unknown> },
  effect: (span: Tracer.Span | undefined) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.withFiber((fiber) =>
    Context.getOrUndefined(fiber.context, Tracer.Tracer) === undefined
      ? effect(undefined)
      : Effect.flatMap(Effect.makeSpan(name, options), (span) =>
          Effect.onExit(Effect.withParentSpan(effect(span), span), (exit) =>
            // The span learns how it ended, and not what was answered: that holds people's data.
            Effect.map(Clock.currentTimeNanos, (now) => span.end(now, Exit.asVoid(exit)))
          )
        )
  )
