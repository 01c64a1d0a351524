/**
 * Receives the deliveries of the service. Each is a hint: the transaction is looked up, and your code is called with the
 * result of the lookup. The service documents neither payload, nor signature, nor retries (`docs/service.md`), so the text
 * of a delivery proves nothing, and a delivery that is not taken may never come again: sweep your open orders with `check`.
 *
 * - `layer` stores nothing. It looks up and calls your code, and answers then: 200 if the delivery is finished, or 503 for
 *   another try. Every status reaches your code at least once, or not at all without a sweep.
 * - `layerSql` records a delivery on your database and answers 200; the rest is done in the background. Several processes
 *   share the work. Each status is handed out in order and once, with the writes of your code on that database.
 * - Your code is called by the meaning of the status: `onPaid` for a paid transaction and nothing else.
 * - A delivery that claims more than the lookup shows is looked up again: for 8 seconds, or a minute where it is recorded.
 * - A delivery that is not confirmed is reported to `onUnconfirmed`. The service documents no lookup for withdrawals, so what a
 *   delivery claims of one is a hint to `onWithdrawal`, and is reported there without it.
 * - Answers: 200 accepted, 400 unreadable, 401 refused by the verifier, 405 not a POST, 408 too slow, 413 too large,
 *   503 for another try. None has a body.
 *
 * Gotchas:
 * - Effects of your code outside that database, and all effects with `layer`, happen at least once: dedupe by `event.id`.
 * - A delivery about a payout proves nothing: do not mark it as done, or as failed, because of it.
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
import type { PaymentsClient } from "../client/PaymentsClient.ts"
import type { ConfigurationError } from "../contract/ConfigurationError.ts"
import type { InvalidRequest } from "../contract/PaymentsError.ts"
import type { DatabaseError } from "../durable/Database.ts"
import { makeClientService, makeEdgeService, makeProcessState, makeSqlServices } from "./internal/service.ts"
import { type WebHandler, toWebHandler, type WebHandlerOptions } from "./internal/webHandler.ts"
import type { StoredDelivery } from "./WebhookEvent.ts"
import type {
  DeadLetterOptions,
  DeliveryInfo,
  WebhookClientOptions,
  WebhookOptions,
  WebhookSqlOptions
} from "./WebhookOptions.ts"

/** The services that the user's code needs. */
type ServicesOf<O> = {
  [K in keyof O]-?: NonNullable<O[K]> extends (input: never) => Effect.Effect<infer _A, infer _E, infer R> ? R : never
}[keyof O]

/** The given options. An option with another name is a type error, so that no handler is misspelt. */
type Given<O, Options> = O & Options & { readonly [K in Exclude<keyof O, keyof Options>]: never }

/**
 * What is recorded on the database, and the steps of persons: provided by `Webhook.layerSql`, and by `Webhook.layerClient` for a
 * process that handles no deliveries. `Webhook.layer` records nothing, and provides none.
 */
export class WebhookClient extends Context.Service<
  WebhookClient,
  {
    /** The deliveries for which your code failed for a day, the oldest first. Fails with `DatabaseError`. */
    readonly deadLetters: Effect.Effect<ReadonlyArray<StoredDelivery>, DatabaseError>
    /** What is stored about a transaction, or about a dead letter by its id: in each webhook that has it. Fails with `DatabaseError`. */
    readonly find: (id: string) => Effect.Effect<ReadonlyArray<StoredDelivery>, DatabaseError>
    /**
     * Looks a dead letter's transaction up and hands it out again; `false` where there is no such letter. A log line has `by`.
     * `InvalidRequest`: `by` is too long or blank. `DatabaseError`: the database failed.
     */
    readonly retry: (id: string, options?: DeadLetterOptions) => Effect.Effect<boolean, InvalidRequest | DatabaseError>
    /** Ends a dead letter that you dealt with elsewhere; `false` where there is no such letter. See `retry` for the rest. */
    readonly discard: (
      id: string,
      options?: DeadLetterOptions
    ) => Effect.Effect<boolean, InvalidRequest | DatabaseError>
    /** Waits until every recorded delivery is finished or a dead letter. Fails with `DatabaseError`. */
    readonly idle: Effect.Effect<void, DatabaseError>
  }
>()("effect-pix/Webhook/WebhookClient") {}

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
     * the handlers are those of a delivery. A transaction that is still open is looked up once, and nothing is reported.
     * `untrusted` of the event is empty.
     *
     * With `layer` it ends after the lookup and your code; a failure of these was reported to `onUnconfirmed` or `onFailure`,
     * and the next check tries again. With `layerSql` it ends when the check is recorded, in the transaction in which you call
     * it, and a status is handed out once by deliveries and checks together. Until that transaction ends, a delivery about the
     * same charge waits for it, and is answered with 503 after 10 seconds: so keep it short.
     *
     * `InvalidRequest`: the id cannot be one. `DatabaseError`: the check was not recorded.
     */
    readonly check: (transactionId: string) => Effect.Effect<void, InvalidRequest | DatabaseError>
  }
>()("effect-pix/Webhook") {
  /**
   * Stores nothing: a delivery is looked up and handed out, and then answered. It fails with `ConfigurationError` if an option
   * is wrong.
   */
  static readonly layer = <M = unknown, const O extends WebhookOptions<M, unknown> = {}>(
    options: Given<O, WebhookOptions<M, unknown>>
  ): Layer.Layer<Webhook, ConfigurationError, Payments | PaymentsClient | ServicesOf<O>> =>
    Layer.effect(
      Webhook,
      makeEdgeService<M, ServicesOf<O>>(options as WebhookOptions<M, ServicesOf<O>>, makeProcessState())
    )

  /**
   * On the `SqlClient` in context: PostgreSQL or SQLite. It makes its table, and provides `WebhookClient` too, for this webhook. Your code runs in a transaction of that client: its
   * writes commit with the status that was handed out, or neither does.
   */
  static readonly layerSql = <M = unknown, const O extends WebhookOptions<M, unknown> & WebhookSqlOptions = {}>(
    options: Given<O, WebhookOptions<M, unknown> & WebhookSqlOptions>
  ): Layer.Layer<
    Webhook | WebhookClient,
    ConfigurationError | DatabaseError,
    Payments | PaymentsClient | SqlClient.SqlClient | ServicesOf<O>
  > =>
    Layer.effectContext(
      Effect.map(
        makeSqlServices<M, ServicesOf<O>>(
          options as WebhookOptions<M, ServicesOf<O>> & WebhookSqlOptions,
          makeProcessState()
        ),
        ({ client, webhook }) => Context.add(Context.make(Webhook, webhook), WebhookClient, client)
      )
    )

  /**
   * What `layerSql` recorded, for a process that handles no deliveries, such as an operator's command. It makes no table,
   * and fails with `ConfigurationError` where the table is not of this version. A letter that is retried here is handled by a
   * process with `layerSql`.
   */
  static readonly layerClient = (
    options: WebhookClientOptions = {}
  ): Layer.Layer<WebhookClient, ConfigurationError | DatabaseError, SqlClient.SqlClient> =>
    Layer.effect(WebhookClient, makeClientService(options))

  /**
   * A route for the handler on Effect's `HttpRouter`. Serve it by `NodeWebhook.layerServe`: with `HttpRouter.serve` a server that is provided
   * after the webhook listens before it, and never answers a delivery that comes earlier.
   */
  static readonly route = (path: HttpRouter.PathInput): Layer.Layer<never, never, HttpRouter.HttpRouter | Webhook> =>
    HttpRouter.use((router) => Effect.flatMap(Webhook, ({ handle }) => router.add("*", path, handle)))

  /**
   * A plain handler for servers that are not Effect's: Hono, Next, Bun, Deno, workers. The layer is built at once;
   * `dispose` ends the work in the background and closes the layer. A call rejects only if the layer could not be built, or
   * after `dispose`. For Express and `node:http` there is `NodeWebhook.toListener`.
   *
   * On Cloudflare's workers, and with `waitUntil`, nothing runs beside a request: the layer is built for each delivery. With
   * `Webhook.layer` all is done before the answer. With `layerSql` the recorded deliveries are processed for at most 30 seconds
   * after it, in `waitUntil`; what is left waits for a process that goes on.
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
    toWebHandler(Webhook, WebhookClient, layer, options)
}
