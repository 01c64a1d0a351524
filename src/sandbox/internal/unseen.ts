/**
 * What the gateway does is not part of the trace of whoever caused it: a request, or a change that is told by webhook.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Tracer from "effect/Tracer"

/** Runs the effect outside its caller's span. */
export const unseen = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.updateContext(effect, (context: Context.Context<never>) => Context.omit(Tracer.ParentSpan)(context))
