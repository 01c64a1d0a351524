/**
 * Runs an effect of the sandbox outside of the caller's trace.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Tracer from "effect/Tracer"

export const untraced = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.updateContext(effect, (context: Context.Context<never>) => Context.omit(Tracer.ParentSpan)(context))
