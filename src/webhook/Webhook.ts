/**
 * The webhook handler: it takes what the service sends as a hint, looks the transaction up, and hands only what the
 * lookup says to your code. The service documents neither payload, nor signature, nor retries (service interface,
 * section 6), so nothing that a call says is believed.
 *
 * - A call is answered as soon as it is recorded; the rest is done in the background and, when a process ends in
 *   between, at the next start: see `WebhookStore`.
 * - `onConfirmed` gets each status of a transaction that is no longer open: at least once, in order, and again after a
 *   failure. In the rare case of a crash it gets one twice: dedupe by `event.id` where that matters.
 * - A call that comes before the service's own books know of it is looked up again for about a minute.
 * - What could not be confirmed goes to `onUnconfirmed`. So does everything about withdrawals: the service documents no
 *   lookup for them.
 * - Answers: 200 accepted, 400 unreadable, 401 refused by the verifier, 405 not a POST, 408 too slow, 413 too large,
 *   503 too much to do, or the store failed or took 10 seconds. None has a body.
 *
 * Gotcha: where a platform stops a function once it has answered, keep it running until `idle`, or calls wait for the
 * next start.
 *
 * @example
 * ```ts
 * import { Effect, Layer } from "effect"
 * import { Money, Payments } from "effect-pix"
 * import { Webhook } from "effect-pix/webhook"
 * import { Sandbox } from "effect-pix/sandbox"
 *
 * const paid: Array<string> = []
 *
 * const webhook = Webhook.layer({
 *   onConfirmed: ({ transaction }) => Effect.sync(() => paid.push(transaction.enStatusTransaction))
 * })
 *
 * const program = Effect.gen(function* () {
 *   const payments = yield* Payments
 *   const sandbox = yield* Sandbox
 *   const webhook = yield* Webhook
 *   const charge = yield* payments.createTransaction({
 *     amount: Money.centavos(2500),
 *     paymentMethod: "PIX",
 *     customer: { name: "Maria Silva", email: "maria@example.com" }
 *   })
 *   yield* sandbox.markPaid(charge.id)
 *
 *   const call = { method: "POST", body: JSON.stringify({ transactionId: charge.id, status: "Paid" }) }
 *   const response = yield* webhook.answer(new Request("https://shop.example/webhooks/pix", call))
 *   yield* webhook.idle
 *   return response.status
 * })
 *
 * const layer = Layer.provideMerge(webhook, Sandbox.layerPayments)
 * const status = await Effect.runPromise(Effect.provide(program, layer)) // => 200
 * paid // => ["Paid"]
 * ```
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import type * as Schema from "effect/Schema"
import * as Semaphore from "effect/Semaphore"
import { makeAnswer } from "./internal/answer.ts"
import { backoff } from "./internal/confirm.ts"
import { makeInbox } from "./internal/inbox.ts"
import { makeReader } from "./internal/reader.ts"
import { Payments } from "../client/Payments.ts"
import * as Settings from "../contract/Settings.ts"
import { TransactionHints } from "../transactions/TransactionHints.ts"
import type { Confirmed, Unconfirmed, WithdrawalNote } from "./WebhookEvent.ts"
import type { Hint } from "./WebhookHint.ts"
import { WebhookStore, type WebhookStoreError } from "./WebhookStore.ts"
import { none, type WebhookVerifier } from "./WebhookVerifier.ts"

/** What to do with the calls. */
export interface WebhookOptions<P = unknown, M = unknown, E = never, R = never, E2 = never, R2 = never> {
  /** Your code: see `Confirmed`. Where it fails it is called again, as `retry` says. */
  readonly onConfirmed: (event: Confirmed<P, M>) => Effect.Effect<unknown, E, R>
  /** Told of what could not be confirmed; retried in the same way. Default: a warning in the log. */
  readonly onUnconfirmed?: ((report: Unconfirmed<P, M>) => Effect.Effect<unknown, E2, R2>) | undefined
  /** The payload, once you know it; a call that does not fit is answered with 400. Default: any JSON. */
  readonly payload?: Schema.ConstraintDecoder<P> | undefined
  /** What a payload hints at. Default: `WebhookHint.find`, on the JSON as it came. */
  readonly find?: ((payload: P) => Hint) | undefined
  /** The metadata, as `Metadata.codec(...)`; what does not fit is absent from the event. Default: as it came. */
  readonly metadata?: Schema.ConstraintDecoder<M> | undefined
  /** Who may call. Default: everyone. */
  readonly verifier?: WebhookVerifier | undefined
  /** The largest body, in bytes. Default 64 KiB. This and the two limits below are whole numbers from 1. */
  readonly maxBodyBytes?: number | undefined
  /** How long the body may take. Default 10 seconds. */
  readonly bodyTimeout?: Duration.Input | undefined
  /**
   * How many calls may be in work, retries included, before others are answered with 503. Default 1024. From half of it
   * on, a transaction that is not found is not waited for. Of the calls that claim the same status of one transaction
   * four are worked on at a time; those that come meanwhile make one of them look once more.
   */
  readonly capacity?: number | undefined
  /** How many lookups, and calls of your code, may run at a time. Default 8. */
  readonly concurrency?: number | undefined
  /**
   * When a transaction that is not found, or not as the call says, is looked up again. Default: after 1, 2, 4, 8, 16
   * and 32 seconds.
   */
  readonly confirm?: Schedule.Schedule<unknown> | undefined
  /** When a lookup that the service did not answer is repeated. Default: after 2 seconds to 5 minutes, for a day. */
  readonly retryLookup?: Schedule.Schedule<unknown> | undefined
  /**
   * When your code is called again after a failure. Default: after 1 second to 5 minutes, for ever. A schedule that
   * ends leaves the call recorded, to be resumed at the next start.
   */
  readonly retry?: Schedule.Schedule<unknown> | undefined
}

/** What is known of a call beside its `Request`. */
export interface CallInfo {
  /** Where it comes from, for `WebhookVerifier.ipAllowList`: a web `Request` does not say. */
  readonly remoteAddress?: string | undefined
}

/** The webhook handler. */
export class Webhook extends Context.Service<
  Webhook,
  {
    /** Answers the call in context: for a server of Effect's. See also `Webhook.route`. */
    readonly handle: Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpServerRequest.HttpServerRequest>
    /** Answers a web `Request`. */
    readonly answer: (request: Request, info?: CallInfo) => Effect.Effect<Response>
    /**
     * Keeps a note of a withdrawal, so that a call about it comes with evidence: before it is requested, and again
     * with its `withdrawalId` once the service has answered.
     */
    readonly remember: (note: WithdrawalNote) => Effect.Effect<void, WebhookStoreError>
    /** Waits until nothing is in work. */
    readonly idle: Effect.Effect<void>
  }
>()("effect-pix/webhook/Webhook") {
  /** The handler with its store in memory: what is unfinished when the process ends is lost. */
  static readonly layer = <P = unknown, M = unknown, E = never, R = never, E2 = never, R2 = never>(
    options: WebhookOptions<P, M, E, R, E2, R2>
  ): Layer.Layer<Webhook, never, Payments | R | R2> =>
    Layer.provide(Webhook.layerStore(options), WebhookStore.layerMemory)

  /** The handler on the `WebhookStore` that it is given. It resumes at once what is unfinished there. */
  static readonly layerStore = <P = unknown, M = unknown, E = never, R = never, E2 = never, R2 = never>(
    options: WebhookOptions<P, M, E, R, E2, R2>
  ): Layer.Layer<Webhook, never, Payments | WebhookStore | R | R2> =>
    Layer.effect(Webhook, make(options, limitsOf(options)))

  /** A route for the handler on Effect's `HttpRouter`. */
  static readonly route = (path: HttpRouter.PathInput): Layer.Layer<never, never, HttpRouter.HttpRouter | Webhook> =>
    HttpRouter.use((router) => Effect.flatMap(Webhook, ({ handle }) => router.add("*", path, handle)))

  /**
   * A plain handler for servers that are not Effect's: Hono, Next, Bun, Deno. The layer is built at once; `dispose`
   * ends the work in the background and what else the layer holds. It rejects only where the layer could not be built,
   * or after `dispose`. Express needs an adapter, which docs/webhooks.md shows.
   *
   * ```ts
   * import { Effect, Layer } from "effect"
   * import { Webhook } from "effect-pix/webhook"
   * import { Sandbox } from "effect-pix/sandbox"
   *
   * const layer = Webhook.layer({ onConfirmed: ({ id }) => Effect.log(id) })
   * const webhook = Webhook.toWebHandler(Layer.provide(layer, Sandbox.layerPayments))
   *
   * // Hono: app.post("/webhooks/pix", (c) => webhook.handler(c.req.raw))
   * // Next: export const POST = (request: Request) => webhook.handler(request)
   *
   * const response = await webhook.handler(new Request("https://shop.example/webhooks/pix"))
   * response.status // => 405
   * await webhook.dispose()
   * ```
   */
  static readonly toWebHandler = <E>(
    layer: Layer.Layer<Webhook, E>
  ): {
    readonly handler: (request: Request, info?: CallInfo) => Promise<Response>
    /** Waits until nothing is in work. */
    readonly idle: () => Promise<void>
    readonly dispose: () => Promise<void>
  } => {
    const runtime = ManagedRuntime.make(layer)
    // What is unfinished is resumed now, not at the first call. Where the layer fails, each call says so.
    runtime.runFork(Effect.void)
    return {
      handler: (request, info) =>
        runtime
          .runPromiseExit(
            Effect.flatMap(Webhook, (webhook) => webhook.answer(request, info)),
            { signal: request.signal }
          )
          .then((exit) => {
            if (Exit.isSuccess(exit)) return exit.value
            // The caller went away, which is no error of ours.
            if (request.signal.aborted) return new Response(undefined, { status: 499 })
            throw Cause.squash(exit.cause)
          }),
      idle: () => runtime.runPromise(Effect.flatMap(Webhook, ({ idle }) => idle)),
      dispose: () => runtime.dispose()
    }
  }
}

/** A limit that is no number, as one read from an unset variable, would be no limit. */
const limitsOf = (options: Pick<WebhookOptions, "capacity" | "concurrency" | "maxBodyBytes">) => {
  const { capacity = 1024, concurrency = 8, maxBodyBytes = 64 * 1024 } = options
  const limits = { capacity, concurrency, maxBodyBytes }
  for (const [name, value] of Object.entries(limits)) {
    if (Number.isSafeInteger(value) && value > 0) continue
    throw Settings.wrong(`Webhook.${name}`, "is not a whole number from 1")
  }
  return limits
}

const warn = (report: Unconfirmed) =>
  Effect.logWarning(`Webhook: could not be confirmed: ${report._tag}${"reason" in report ? ` (${report.reason})` : ""}`)

const make = Effect.fnUntraced(function* <P, M, E, R, E2, R2>(
  options: WebhookOptions<P, M, E, R, E2, R2>,
  limits: ReturnType<typeof limitsOf>
) {
  const payments = yield* Payments
  const context = yield* Effect.context<R | R2>()
  const onUnconfirmed = options.onUnconfirmed ?? warn
  /** The user's code as the handler sees it: with all that it needs, and whatever goes wrong a plain no. */
  const guarded =
    <A, F>(run: (input: A) => Effect.Effect<unknown, F, R | R2>) =>
    (input: A) =>
      Effect.suspend(() => run(input)).pipe(Effect.provideContext(context), Effect.exit, Effect.map(Exit.isSuccess))
  const read = makeReader({ payload: options.payload, find: options.find, metadata: options.metadata })
  const inbox = yield* makeInbox<P, M>({
    getTransaction: payments.getTransaction,
    balance: payments.getBalance(),
    // Those of the layer, not of a request: what is resumed at the start has no request.
    wake: (yield* TransactionHints).publish,
    store: yield* WebhookStore,
    permits: Semaphore.makeUnsafe(limits.concurrency),
    onConfirmed: guarded(options.onConfirmed),
    onUnconfirmed: guarded<Unconfirmed<P, M>, E2>(onUnconfirmed),
    confirm: options.confirm ?? Schedule.upTo(Schedule.exponential("1 second"), { times: 6 }),
    retryLookup: options.retryLookup ?? Schedule.upTo(backoff("2 seconds", "5 minutes"), { duration: "1 day" }),
    retry: options.retry ?? backoff("1 second", "5 minutes"),
    read,
    capacity: limits.capacity
  })
  const handle = makeAnswer({
    verifier: options.verifier ?? none,
    maxBodyBytes: limits.maxBodyBytes,
    bodyTimeout: options.bodyTimeout ?? "10 seconds",
    read,
    accept: inbox.accept
  })
  return Webhook.of({
    handle,
    answer: (request, info) => {
      const call = HttpServerRequest.fromWeb(request)
      const remoteAddress = Option.fromUndefinedOr(info?.remoteAddress)
      return handle.pipe(
        Effect.provideService(
          HttpServerRequest.HttpServerRequest,
          Option.isSome(remoteAddress) ? call.modify({ remoteAddress }) : call
        ),
        Effect.map((response) => HttpServerResponse.toWeb(response))
      )
    },
    remember: inbox.remember,
    idle: inbox.idle
  })
})
