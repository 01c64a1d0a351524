/**
 * A webhook as a plain function on web requests. It works in the background, or inside each request on platforms that stop
 * all work after the answer.
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
import type { Starts } from "./firstLookups.ts"
import { InRequest, isWorkerd, makeRequestMemory } from "./inRequest.ts"
import type { Refusals } from "./signals.ts"

/** How the platform works. */
export interface WebHandlerOptions {
  /**
   * The platform's function for work after the answer: `ctx.waitUntil`, Vercel's `waitUntil`, Next's `after`. With it, a
   * delivery that is answered with 503 because it is not finished is looked up again. Default: it is not.
   */
  readonly waitUntil?: ((work: Promise<unknown>) => void) | undefined
  /** Whether all work is done inside the request. Default: on Cloudflare's workers, and with `waitUntil`. */
  readonly inRequest?: boolean | undefined
}

export interface WebHandler {
  readonly handler: (request: Request, info?: DeliveryInfo) => Promise<Response>
  /** Looks a transaction up without a delivery: see `check` of `Webhook`. It rejects with the errors of that. */
  readonly check: (transactionId: string) => Promise<void>
  /** Waits until every delivery is finished or a dead letter. */
  readonly idle: () => Promise<void>
  readonly dispose: () => Promise<void>
}

/** The key of `Webhook`, with the members that are used here. */
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
      // The caller closed the connection, so nobody reads this answer.
      if (request.signal.aborted) return new Response(undefined, { status: 499 })
      throw Cause.squash(exit.cause)
    })

const inBackground = <I, E>(tag: Tag<I>, layer: Layer.Layer<I, E>): WebHandler => {
  const runtime = ManagedRuntime.make(layer)
  // The layer is built now, so that it resumes unfinished deliveries. If it fails, each call rejects with its error.
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
  const starts: Starts = []
  // The layer is built for each request: a request must not wait for another one, and bindings belong to one request.
  const run = <A>(use: (runtime: ManagedRuntime.ManagedRuntime<I, E>) => Promise<A>): Promise<A> => {
    const rest: Array<Effect.Effect<void>> = []
    const later = waitUntil && ((work: Effect.Effect<void>) => void rest.push(work))
    const runtime = ManagedRuntime.make(
      Layer.provide(layer, Layer.succeed(InRequest, { memory, refusals, starts, later }))
    )
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
