/**
 * Runs the sandbox's own work outside the trace of whoever caused it: a request, or a change that is sent by webhook.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Tracer from "effect/Tracer"

export const untraced = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.updateContext(effect, (context: Context.Context<never>) => Context.omit(Tracer.ParentSpan)(context))
