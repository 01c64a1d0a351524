/**
 * A webhook as a plain function on web requests: beside requests, where the platform lets work go on, or inside of them.
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Scope from "effect/Scope"
import type { CallInfo } from "../WebhookOptions.ts"
import type { DatabaseError } from "../../durable/Database.ts"
import { InRequest, isWorkerd } from "./inRequest.ts"
import { makeMemory } from "./room.ts"

/** How the platform works. */
export interface WebHandlerOptions {
  /**
   * Keeps the platform at work for what goes on after the answer: `ctx.waitUntil`, Vercel's `waitUntil`, Next's `after`.
   * With it, a call that is not finished when it is answered with 503 is looked up again. Default: it is not.
   */
  readonly waitUntil?: ((work: Promise<unknown>) => void) | undefined
  /** Whether all is done inside the call. Default: on Cloudflare's workers, and with `waitUntil`. */
  readonly inRequest?: boolean | undefined
}

export interface WebHandler {
  readonly handler: (request: Request, info?: CallInfo) => Promise<Response>
  /** Waits until no call is in work or waits to be. */
  readonly idle: () => Promise<void>
  readonly dispose: () => Promise<void>
}

const answerOf = (request: Request, exit: Exit.Exit<Response, unknown>) => {
  if (Exit.isSuccess(exit)) return exit.value
  // The caller went away, which is no error of ours.
  if (request.signal.aborted) return new Response(undefined, { status: 499 })
  throw Cause.squash(exit.cause)
}

/** What of a `Webhook` a plain function needs. */
type Tag<I> = Context.Key<
  I,
  {
    readonly answer: (request: Request, info?: CallInfo) => Effect.Effect<Response>
    readonly idle: Effect.Effect<void, DatabaseError>
  }
>

const beside = <I, E>(tag: Tag<I>, layer: Layer.Layer<I, E>): WebHandler => {
  const runtime = ManagedRuntime.make(layer)
  // What is unfinished is resumed now, not at the first call. Where the layer fails, each call says so.
  runtime.runFork(Effect.void)
  return {
    handler: (request, info) =>
      runtime
        .runPromiseExit(
          Effect.flatMap(tag, ({ answer }) => answer(request, info)),
          { signal: request.signal }
        )
        .then((exit) => answerOf(request, exit)),
    idle: () => runtime.runPromise(Effect.flatMap(tag, ({ idle }) => idle)),
    dispose: () => runtime.dispose()
  }
}

const inside = <I, E>(tag: Tag<I>, layer: Layer.Layer<I, E>, waitUntil: WebHandlerOptions["waitUntil"]): WebHandler => {
  const memory = makeMemory()
  // Built for each call: nothing of one request may be waited for by another one, and bindings come with the request.
  const answered = Effect.fnUntraced(function* (request: Request, info: CallInfo | undefined) {
    const scope = yield* Scope.make()
    const rest: Array<Effect.Effect<void>> = []
    const later = (work: Effect.Effect<void>) => void rest.push(work)
    const mode = { memory, ...(waitUntil === undefined ? {} : { later }) }
    const built = Layer.provide(Layer.fresh(layer), Layer.succeed(InRequest, mode))
    const close = Scope.close(scope, Exit.void)
    return yield* Effect.flatMap(Layer.buildWithScope(built, scope), (context) =>
      Context.get(context, tag).answer(request, info)
    ).pipe(
      Effect.ensuring(
        Effect.suspend(() => {
          if (rest.length === 0) return close
          const work = Effect.ensuring(Effect.all(rest, { discard: true }), close)
          return Effect.map(Effect.context<never>(), (context) => waitUntil?.(Effect.runPromiseWith(context)(work)))
        })
      )
    )
  })
  return {
    handler: (request, info) =>
      Effect.runPromiseExit(answered(request, info), { signal: request.signal }).then((exit) =>
        answerOf(request, exit)
      ),
    idle: () => Promise.resolve(),
    dispose: () => Promise.resolve()
  }
}

export const toWebHandler = <I, E>(
  tag: Tag<I>,
  layer: Layer.Layer<I, E>,
  { inRequest, waitUntil }: WebHandlerOptions
): WebHandler =>
  (inRequest ?? (waitUntil !== undefined || isWorkerd())) ? inside(tag, layer, waitUntil) : beside(tag, layer)
