/**
 * A webhook as a plain function on web requests. Its layer is built once, or for each request on platforms that stop all work
 * after the answer.
 */
import * as Cause from "effect/Cause"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type { InvalidRequest } from "../../contract/PaymentsError.ts"
import type { DeliveryInfo } from "../WebhookOptions.ts"
import type { DatabaseError } from "../../durable/Database.ts"

/** How the platform works. */
export interface WebHandlerOptions {
  /**
   * The platform's function for work after the answer: `ctx.waitUntil`, Vercel's `waitUntil`, Next's `after`. With it, the
   * layer is built for each request, and what `layerSql` recorded is processed for at most 30 seconds after the answer. Default:
   * the layer is built once, but on Cloudflare's workers for each request.
   */
  readonly waitUntil?: ((work: Promise<unknown>) => void) | undefined
}

export interface WebHandler {
  readonly handler: (request: Request, info?: DeliveryInfo) => Promise<Response>
  /** Looks a transaction up without a delivery: see `check` of `Webhook`. It rejects with the errors of that. */
  readonly check: (transactionId: string) => Promise<void>
  /** Waits until every recorded delivery is finished or a dead letter. */
  readonly idle: () => Promise<void>
  readonly dispose: () => Promise<void>
}

/** The keys of `Webhook` and of `WebhookClient`, with the members that are used here. */
type Tag<I> = Context.Key<
  I,
  {
    readonly answer: (request: Request, info?: DeliveryInfo) => Effect.Effect<Response>
    readonly check: (transactionId: string) => Effect.Effect<void, InvalidRequest | DatabaseError>
  }
>
type ClientTag<C> = Context.Key<C, { readonly idle: Effect.Effect<void, DatabaseError> }>

/** Nothing is recorded by a layer that has no client. */
const idleOf = <C>(client: ClientTag<C>) =>
  Effect.flatMap(Effect.serviceOption(client), Option.match({ onNone: () => Effect.void, onSome: ({ idle }) => idle }))

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

const inBackground = <I, E, C>(tag: Tag<I>, client: ClientTag<C>, layer: Layer.Layer<I, E>): WebHandler => {
  const runtime = ManagedRuntime.make(layer)
  // The layer is built now, so that it resumes unfinished deliveries. If it fails, each call rejects with its error.
  runtime.runFork(Effect.void)
  return {
    handler: (request, info) => answerBy(runtime, tag, request, info),
    check: (transactionId) => runtime.runPromise(Effect.flatMap(tag, ({ check }) => check(transactionId))),
    idle: () => runtime.runPromise(idleOf(client)),
    dispose: () => runtime.dispose()
  }
}

/** Whether this is a worker of Cloudflare, where one request cannot resume a fiber of another one. */
const isWorkerd = (): boolean =>
  Predicate.hasProperty(globalThis, "navigator") &&
  Predicate.hasProperty(globalThis.navigator, "userAgent") &&
  globalThis.navigator.userAgent === "Cloudflare-Workers"

const inRequests = <I, E, C>(
  tag: Tag<I>,
  client: ClientTag<C>,
  layer: Layer.Layer<I, E>,
  waitUntil: WebHandlerOptions["waitUntil"]
): WebHandler => {
  // The layer is built for each request: a request must not wait for another one, and bindings belong to one request.
  const run = <A>(use: (runtime: ManagedRuntime.ManagedRuntime<I, E>) => Promise<A>): Promise<A> => {
    const runtime = ManagedRuntime.make(layer)
    const close = () => runtime.dispose()
    return use(runtime).finally(() => {
      if (waitUntil === undefined) return close()
      // A failure of the layer was the answer already.
      waitUntil(runtime.runPromiseExit(Effect.timeoutOption(idleOf(client), "30 seconds")).then(close))
      return undefined
    })
  }
  return {
    handler: (request, info) => run((runtime) => answerBy(runtime, tag, request, info)),
    check: (transactionId) =>
      run((runtime) => runtime.runPromise(Effect.flatMap(tag, ({ check }) => check(transactionId)))),
    idle: () => Promise.resolve(),
    dispose: () => Promise.resolve()
  }
}

export const toWebHandler = <I, E, C>(
  tag: Tag<I>,
  client: ClientTag<C>,
  layer: Layer.Layer<I, E>,
  { waitUntil }: WebHandlerOptions
): WebHandler =>
  waitUntil !== undefined || isWorkerd() ? inRequests(tag, client, layer, waitUntil) : inBackground(tag, client, layer)
