/**
 * Receives the deliveries of the service. Each is a hint: the transaction is looked up, and only what the lookup says is
 * handed to your code. The service documents neither payload, nor signature, nor retries (`docs/service.md`), so
 * nothing that a delivery says is believed.
 *
 * - Your code is called by what the status means: `onPaid` for what is paid and nothing else.
 * - A delivery is recorded before it is answered; the rest is done in the background. `layerSql` does both on your database:
 *   several processes share the work, and what your code writes there commits with the note that it was handed out.
 * - Each status of a transaction that is no longer open is handed out in order and, by that note, once.
 * - A delivery that comes before the service's own books know of it is looked up again for about a minute.
 * - What could not be confirmed goes to `onUnconfirmed`. So does everything about withdrawals: the service documents no
 *   lookup for them.
 * - Answers: 200 accepted, 400 unreadable, 401 refused by the verifier, 405 not a POST, 408 too slow, 413 too large,
 *   503 the database failed or took 10 seconds, or, inside a request, the delivery is not finished. None has a body.
 *
 * Gotchas:
 * - What your code does outside of that database, and everything in memory, happens at least once: dedupe by `event.id`.
 * - For a payout nothing can be looked up: do not mark it as done, or as failed, by a delivery.
 *
 * @example
 * ```ts
 * import { Effect, Layer } from "effect"
 * import { Money, Payments } from "effect-pix"
 * import { Webhook } from "effect-pix/webhook"
 * import { Sandbox } from "effect-pix/sandbox"
 *
 * const shipped: Array<string> = []
 *
 * const webhook = Webhook.layer({
 *   onPaid: ({ transaction }) => Effect.sync(() => shipped.push(transaction.enStatusTransaction))
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
 *   const delivery = { method: "POST", body: JSON.stringify({ transactionId: charge.id, status: "Paid" }) }
 *   const response = yield* webhook.answer(new Request("https://shop.example/webhooks/pix", delivery))
 *   yield* webhook.idle
 *   return response.status
 * })
 *
 * const layer = Layer.provideMerge(webhook, Sandbox.layerPayments)
 * const status = await Effect.runPromise(Effect.provide(program, layer)) // => 200
 * shipped // => ["Paid"]
 * ```
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import type * as SqlClient from "effect/sql/SqlClient"
import type { Payments } from "../client/Payments.ts"
import type { ConfigurationError } from "../contract/ConfigurationError.ts"
import type { InvalidRequest } from "../contract/PaymentsError.ts"
import type { DatabaseError } from "../durable/Database.ts"
import type { StepOptions } from "../durable/Step.ts"
import { makeMemoryService, makeSqlService } from "./internal/service.ts"
import { type WebHandler, toWebHandler, type WebHandlerOptions } from "./internal/webHandler.ts"
import type { DeadLetter } from "./WebhookEvent.ts"
import type { DeliveryInfo, WebhookOptions, WebhookSqlOptions } from "./WebhookOptions.ts"

/** The services that the user's code needs. */
type ServicesOf<O> = {
  [K in keyof O]-?: NonNullable<O[K]> extends (input: never) => Effect.Effect<infer _A, infer _E, infer R> ? R : never
}[keyof O]

/** The options as they are given: what has no name here is an error, so that no handler is misspelt. */
type Given<O, Options> = O & Options & { readonly [K in Exclude<keyof O, keyof Options>]: never }

/** The webhook handler. */
export class Webhook extends Context.Service<
  Webhook,
  {
    /** Answers the request in context: for a server of Effect's. See also `Webhook.route`. */
    readonly handle: Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpServerRequest.HttpServerRequest>
    /** Answers a web `Request`. */
    readonly answer: (request: Request, info?: DeliveryInfo) => Effect.Effect<Response>
    /**
     * Looks a transaction up without a delivery, as for each open order every hour: deliveries get lost. The lookup and the
     * handlers are those of a delivery, and what was handed out is not handed out again, whoever asked first. A
     * transaction that is still open is looked up once, and nothing is reported. `untrusted` of the event is empty.
     *
     * It ends when the check is recorded, in the transaction that you call it in; the lookup follows in the background.
     * Inside a request (see `toWebHandler`) the lookup and your code come first, and what is not finished then is
     * finished by the next check or delivery.
     *
     * `InvalidRequest`: the id cannot be one, and nothing was recorded. `DatabaseError`: nothing was recorded; inside a
     * request it may have been.
     */
    readonly check: (transactionId: string) => Effect.Effect<void, InvalidRequest | DatabaseError>
    /** Waits until no delivery is in work or waits to be. Dead letters do not count. Fails with `DatabaseError`. */
    readonly idle: Effect.Effect<void, DatabaseError>
    /** What your code refused until its `retry` came to an end, the oldest first. */
    readonly deadLetters: Effect.Effect<ReadonlyArray<DeadLetter>, DatabaseError>
    /**
     * Looks a dead letter's transaction up and hands it out again; `false` where there is no such letter. `by` and `note`
     * are stored, and `effect-pix webhooks show` prints them. `InvalidRequest`: one of them is too long or blank.
     */
    readonly retry: (id: string, options?: StepOptions) => Effect.Effect<boolean, InvalidRequest | DatabaseError>
    /**
     * Forgets a dead letter that you dealt with elsewhere; `false` where there is no such letter. Who did it and why is
     * stored for `retention`, as for `retry`.
     */
    readonly discard: (id: string, options?: StepOptions) => Effect.Effect<boolean, InvalidRequest | DatabaseError>
  }
>()("effect-pix/Webhook") {
  /**
   * In memory, for tests and for what a process may forget when it ends. It fails with `ConfigurationError` where an option
   * is wrong.
   */
  static readonly layer = <P = unknown, M = unknown, const O extends WebhookOptions<P, M, unknown> = {}>(
    options: Given<O, WebhookOptions<P, M, unknown>>
  ): Layer.Layer<Webhook, ConfigurationError, Payments | ServicesOf<O>> =>
    Layer.effect(Webhook, makeMemoryService<P, M, ServicesOf<O>>(options as WebhookOptions<P, M, ServicesOf<O>>))

  /**
   * On the `SqlClient` in context: PostgreSQL or SQLite. It makes its tables. Your code runs in a transaction of that
   * client: what it writes there commits with the note that the event was handed out, or neither does.
   */
  static readonly layerSql = <
    P = unknown,
    M = unknown,
    const O extends WebhookOptions<P, M, unknown> & WebhookSqlOptions = {}
  >(
    options: Given<O, WebhookOptions<P, M, unknown> & WebhookSqlOptions>
  ): Layer.Layer<Webhook, ConfigurationError | DatabaseError, Payments | SqlClient.SqlClient | ServicesOf<O>> =>
    Layer.effect(
      Webhook,
      makeSqlService<P, M, ServicesOf<O>>(options as WebhookOptions<P, M, ServicesOf<O>> & WebhookSqlOptions)
    )

  /**
   * A route for the handler on Effect's `HttpRouter`. Provide the webhook after the server, so that it is built before: a
   * delivery to a server whose handler is not there yet is never answered.
   */
  static readonly route = (path: HttpRouter.PathInput): Layer.Layer<never, never, HttpRouter.HttpRouter | Webhook> =>
    HttpRouter.use((router) => Effect.flatMap(Webhook, ({ handle }) => router.add("*", path, handle)))

  /**
   * A plain handler for servers that are not Effect's: Hono, Next, Bun, Deno, workers. The layer is built at once;
   * `dispose` ends the work in the background and what else the layer holds. It rejects only where the layer could not
   * be built, or after `dispose`. For Express and `node:http` there is `NodeWebhook.toListener` of `effect-pix/node`.
   *
   * On Cloudflare's workers, and with `waitUntil` or `inRequest`, nothing runs beside a request: the layer is built for
   * each delivery, the delivery is looked up and handed out before it is answered, and it is answered with 503 where that was
   * not possible yet.
   *
   * ```ts
   * import { Effect, Layer } from "effect"
   * import { Webhook } from "effect-pix/webhook"
   * import { Sandbox } from "effect-pix/sandbox"
   *
   * const layer = Webhook.layer({ onPaid: ({ id }) => Effect.log(id) })
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
  static readonly toWebHandler = <E>(layer: Layer.Layer<Webhook, E>, options: WebHandlerOptions = {}): WebHandler =>
    toWebHandler(Webhook, layer, options)
}
