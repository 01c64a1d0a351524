/**
 * Receives the deliveries of the service. Each is a hint: the transaction is looked up, and your code is called with the
 * result of the lookup. The service documents neither payload, nor signature, nor retries (`docs/service.md`), so the text
 * of a delivery proves nothing.
 *
 * - Your code is called by the meaning of the status: `onPaid` for a paid transaction and nothing else.
 * - A delivery is recorded before it is answered; the rest is done in the background. `layerSql` does both on your database:
 *   several processes share the work, and the writes of your code commit with the note that the event was handed out.
 * - Each status of a transaction that is no longer open is handed out in order and, by that note, once.
 * - A delivery that claims more than the lookup shows is looked up again for about a minute.
 * - A delivery that is not confirmed is reported to `onUnconfirmed`. Every delivery about a withdrawal is reported there,
 *   because the service documents no lookup for withdrawals.
 * - Answers: 200 accepted, 400 unreadable, 401 refused by the verifier, 405 not a POST, 408 too slow, 413 too large,
 *   503 the database failed or took 10 seconds, or, inside a request, the delivery is not finished. None has a body.
 *
 * Gotchas:
 * - Effects of your code outside that database, and all effects in memory, happen at least once: dedupe by `event.id`.
 * - A payout cannot be looked up: do not mark it as done, or as failed, because of a delivery.
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

/** The given options. An option with another name is a type error, so that no handler is misspelt. */
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
     * Looks a transaction up without a delivery: deliveries get lost, so check each open order every hour. The lookup and
     * the handlers are those of a delivery, and a status is handed out once by deliveries and checks together. A
     * transaction that is still open is looked up once, and nothing is reported. `untrusted` of the event is empty.
     *
     * It ends when the check is recorded, in the transaction in which you call it; the lookup follows in the background.
     * Inside a request (see `toWebHandler`) it ends after the lookup and your code. If the check is not finished then, the
     * next check or delivery finishes it.
     *
     * `InvalidRequest`: the id cannot be one, and nothing was recorded. `DatabaseError`: nothing was recorded; inside a
     * request it may have been.
     */
    readonly check: (transactionId: string) => Effect.Effect<void, InvalidRequest | DatabaseError>
    /** Waits until every delivery is finished or a dead letter. Fails with `DatabaseError`. */
    readonly idle: Effect.Effect<void, DatabaseError>
    /** The deliveries for which your code failed until the end of `retry`, the oldest first. */
    readonly deadLetters: Effect.Effect<ReadonlyArray<DeadLetter>, DatabaseError>
    /**
     * Looks a dead letter's transaction up and hands it out again; `false` where there is no such letter. `by` and `note`
     * are stored, and `effect-pix webhooks show` prints them. `InvalidRequest`: one of them is too long or blank.
     */
    readonly retry: (id: string, options?: StepOptions) => Effect.Effect<boolean, InvalidRequest | DatabaseError>
    /**
     * Deletes a dead letter that you dealt with elsewhere; `false` where there is no such letter. `by` and `note` are
     * stored for `retention`, as for `retry`.
     */
    readonly discard: (id: string, options?: StepOptions) => Effect.Effect<boolean, InvalidRequest | DatabaseError>
  }
>()("effect-pix/Webhook") {
  /**
   * In memory, for tests and for programs that may lose deliveries when they end. It fails with `ConfigurationError` if an
   * option is wrong.
   */
  static readonly layer = <P = unknown, M = unknown, const O extends WebhookOptions<P, M, unknown> = {}>(
    options: Given<O, WebhookOptions<P, M, unknown>>
  ): Layer.Layer<Webhook, ConfigurationError, Payments | ServicesOf<O>> =>
    Layer.effect(Webhook, makeMemoryService<P, M, ServicesOf<O>>(options as WebhookOptions<P, M, ServicesOf<O>>))

  /**
   * On the `SqlClient` in context: PostgreSQL or SQLite. It makes its tables. Your code runs in a transaction of that
   * client: its writes commit with the note that the event was handed out, or neither does.
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
   * A route for the handler on Effect's `HttpRouter`. Provide the webhook after the server, so that it is built first: a
   * server without its handler never answers a delivery.
   */
  static readonly route = (path: HttpRouter.PathInput): Layer.Layer<never, never, HttpRouter.HttpRouter | Webhook> =>
    HttpRouter.use((router) => Effect.flatMap(Webhook, ({ handle }) => router.add("*", path, handle)))

  /**
   * A plain handler for servers that are not Effect's: Hono, Next, Bun, Deno, workers. The layer is built at once;
   * `dispose` ends the work in the background and closes the layer. A call rejects only if the layer could not be built, or
   * after `dispose`. For Express and `node:http` there is `NodeWebhook.toListener` of `effect-pix/node`.
   *
   * On Cloudflare's workers, and with `waitUntil` or `inRequest`, nothing runs beside a request: the layer is built for
   * each delivery, and the delivery is looked up and handed out before the answer. The answer is 503 if it is not finished
   * then.
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
