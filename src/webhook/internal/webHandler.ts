/**
 * A webhook as a plain function on web requests. It works in the background, or, where the platform stops all work after an
 * answer, inside of each request.
 */
import * as Cause from "effect/Cause"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import type { InvalidRequest } from "../../contract/PaymentsError.ts"
import type { DeliveryInfo } from "../WebhookOptions.ts"
import type { DatabaseError } from "../../durable/Database.ts"
import { InRequest, isWorkerd, makeRequestMemory } from "./inRequest.ts"
import type { Refusals } from "./signals.ts"

/** How the platform works. */
export interface WebHandlerOptions {
  /**
   * Keeps the platform at work for what goes on after the answer: `ctx.waitUntil`, Vercel's `waitUntil`, Next's `after`.
   * With it, a delivery that is not finished when it is answered with 503 is looked up again. Default: it is not.
   */
  readonly waitUntil?: ((work: Promise<unknown>) => void) | undefined
  /** Whether all is done inside the request. Default: on Cloudflare's workers, and with `waitUntil`. */
  readonly inRequest?: boolean | undefined
}

export interface WebHandler {
  readonly handler: (request: Request, info?: DeliveryInfo) => Promise<Response>
  /** Looks a transaction up without a delivery: see `check` of `Webhook`. It rejects with what that fails with. */
  readonly check: (transactionId: string) => Promise<void>
  /** Waits until no delivery is in work or waits to be. */
  readonly idle: () => Promise<void>
  readonly dispose: () => Promise<void>
}

/** What of a `Webhook` a plain function needs. */
type Tag<I> = Context.Key<
  I,
  {
    readonly answer: (request: Request, info?: DeliveryInfo) => Effect.Effect<Response>
    readonly check: (transactionId: string) => Effect.Effect<void, InvalidRequest | DatabaseError>
    readonly idle: Effect.Effect<void, DatabaseError>
  }
>

const answerBy = <I, E>(
  runtime: ManagedRuntime.ManagedRuntime<I, E>,
  tag: Tag<I>,
  request: Request,
  info: DeliveryInfo | undefined
) =>
  runtime
    .runPromiseExit(
      Effect.flatMap(tag, ({ answer }) => answer(request, info)),
      { signal: request.signal }
    )
    .then((exit) => {
      if (Exit.isSuccess(exit)) return exit.value
      // The caller went away, which is no error of ours.
      if (request.signal.aborted) return new Response(undefined, { status: 499 })
      throw Cause.squash(exit.cause)
    })

const inBackground = <I, E>(tag: Tag<I>, layer: Layer.Layer<I, E>): WebHandler => {
  const runtime = ManagedRuntime.make(layer)
  // The layer is built now, so that it resumes what is unfinished. Where it fails, each delivery is rejected with its error.
  runtime.runFork(Effect.void)
  return {
    handler: (request, info) => answerBy(runtime, tag, request, info),
    check: (transactionId) => runtime.runPromise(Effect.flatMap(tag, ({ check }) => check(transactionId))),
    idle: () => runtime.runPromise(Effect.flatMap(tag, ({ idle }) => idle)),
    dispose: () => runtime.dispose()
  }
}

const inRequests = <I, E>(
  tag: Tag<I>,
  layer: Layer.Layer<I, E>,
  waitUntil: WebHandlerOptions["waitUntil"]
): WebHandler => {
  const memory = makeRequestMemory()
  const refusals: Refusals = new Map()
  // Built for each delivery: no request may wait for another one, and bindings come with the request.
  const run = <A>(use: (runtime: ManagedRuntime.ManagedRuntime<I, E>) => Promise<A>): Promise<A> => {
    const rest: Array<Effect.Effect<void>> = []
    const later = waitUntil && ((work: Effect.Effect<void>) => void rest.push(work))
    const runtime = ManagedRuntime.make(Layer.provide(layer, Layer.succeed(InRequest, { memory, refusals, later })))
    const close = () => runtime.dispose()
    return use(runtime).finally(() =>
      rest.length === 0 ? close() : waitUntil?.(runtime.runPromise(Effect.all(rest, { discard: true })).finally(close))
    )
  }
  return {
    handler: (request, info) => run((runtime) => answerBy(runtime, tag, request, info)),
    check: (transactionId) =>
      run((runtime) => runtime.runPromise(Effect.flatMap(tag, ({ check }) => check(transactionId)))),
    idle: () => Promise.resolve(),
    dispose: () => Promise.resolve()
  }
}

export const toWebHandler = <I, E>(
  tag: Tag<I>,
  layer: Layer.Layer<I, E>,
  { inRequest, waitUntil }: WebHandlerOptions
): WebHandler =>
  (inRequest ?? (waitUntil !== undefined || isWorkerd())) ? inRequests(tag, layer, waitUntil) : inBackground(tag, layer)
