/**
 * The webhook handler: it takes what the service sends as a hint, looks the transaction up, and hands only what the
 * lookup says to your code. The service documents neither payload, nor signature, nor retries (service interface,
 * section 6), so nothing that a call says is believed.
 *
 * - Your code is called by what the status means: `onPaid` for what is paid and nothing else.
 * - A call is recorded before it is answered; the rest is done in the background. `layerSql` does both on your database:
 *   several processes share the work, and what your code writes there commits with the note that it was handed out.
 * - Each status of a transaction that is no longer open is handed out in order and, by that note, once. What your code
 *   does elsewhere, and everything in memory, happens at least once: dedupe by `event.id`.
 * - A call that comes before the service's own books know of it is looked up again for about a minute.
 * - What could not be confirmed goes to `onUnconfirmed`. So does everything about withdrawals: the service documents no
 *   lookup for them.
 * - Answers: 200 accepted, 400 unreadable, 401 refused by the verifier, 405 not a POST, 408 too slow, 413 too large,
 *   503 the database failed or took 10 seconds, or, inside a request, the call is not finished. None has a body.
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
 *   const call = { method: "POST", body: JSON.stringify({ transactionId: charge.id, status: "Paid" }) }
 *   const response = yield* webhook.answer(new Request("https://shop.example/webhooks/pix", call))
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
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import type * as Schedule from "effect/Schedule"
import type * as Schema from "effect/Schema"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { Payments } from "../client/Payments.ts"
import type { ConfigurationError } from "../contract/ConfigurationError.ts"
import type { TransactionDetail } from "../contract/Transaction.ts"
import type { DatabaseError } from "../durable/Database.ts"
import type { Centavos } from "../pix/Money.ts"
import { makeMemoryService, makeSqlService } from "./internal/service.ts"
import { type WebHandler, toWebHandler, type WebHandlerOptions } from "./internal/webHandler.ts"
import type {
  Confirmed,
  DeadLetter,
  HandlerFailure,
  Unconfirmed,
  WithdrawalNames,
  WithdrawalNote
} from "./WebhookEvent.ts"
import type { Hint } from "./WebhookHint.ts"
import type { WebhookVerifier } from "./WebhookVerifier.ts"

type Code<I, R, A = unknown> = ((input: I) => Effect.Effect<A, unknown, R>) | undefined

/** What to do with the calls. Your code may need services: the layer then needs them too. */
export interface WebhookOptions<P = unknown, M = unknown, R = never> {
  /** The lookup says `Paid`, and `expectedAmount`, where given, says the same amount. */
  readonly onPaid?: Code<Confirmed<P, M>, R>
  /** The lookup says `Refunded`. */
  readonly onRefunded?: Code<Confirmed<P, M>, R>
  /** The lookup says `Cancelled`, `Failed` or, which is not documented, that it is expired: nobody will pay. */
  readonly onClosed?: Code<Confirmed<P, M>, R>
  /**
   * Every status that is no longer open, after the handler for it and in the same transaction; also words that nobody
   * documents, and these alone come to no other handler.
   */
  readonly onStatus?: Code<Confirmed<P, M>, R>
  /** Told of what could not be confirmed, at least once. Default: a warning in the log. */
  readonly onUnconfirmed?: Code<Unconfirmed<P, M>, R>
  /**
   * What a transaction that is paid should have cost, in centavos. If its `value` is another one, neither `onPaid` nor
   * `onStatus` is called, and `onUnconfirmed` is told `OtherAmount`. `undefined`: not compared. Default: not compared.
   */
  readonly expectedAmount?: Code<TransactionDetail, R, Centavos | undefined>
  /** Your own note of a withdrawal that a call names, from your books: evidence. Default: there is none. */
  readonly noted?: Code<WithdrawalNames, R, WithdrawalNote | undefined>
  /** Told of each failure of your code. Default: a line in the log without the error, which is yours. */
  readonly onFailure?: Code<HandlerFailure, R>
  /** The payload, once you know it; a call that does not fit is answered with 400. Default: any JSON, which is not kept. */
  readonly payload?: Schema.ConstraintDecoder<P> | undefined
  /** What a payload hints at. Default: `WebhookHint.find`, on the JSON as it came. */
  readonly find?: ((payload: P) => Hint) | undefined
  /** The metadata, as `Metadata.codec(...)`; what does not fit is absent from the event. Default: it is not read. */
  readonly metadata?: Schema.ConstraintDecoder<M> | undefined
  /** How bodies are kept, which only `payload` and `metadata` make necessary. Default: as they came. */
  readonly seal?:
    | {
        readonly seal: (text: string) => Effect.Effect<string, unknown>
        readonly open: (text: string) => Effect.Effect<string, unknown>
      }
    | undefined
  /** Who may call. Default: everyone. */
  readonly verifier?: WebhookVerifier | undefined
  /** The largest body, in bytes. Default 64 KiB. */
  readonly maxBodyBytes?: number | undefined
  /** How long the body may take. Default 10 seconds. */
  readonly bodyTimeout?: Duration.Input | undefined
  /** How long each piece of your code may take. It is cut then, and counts as failed. Default 30 seconds. */
  readonly handlerTimeout?: Duration.Input | undefined
  /**
   * How many calls that came, and besides how many that wait to be looked at again, are worked on at a time. With
   * `layerSql` each may hold a connection. Default 4.
   */
  readonly concurrency?: number | undefined
  /**
   * When a transaction that is not found, or not as the call says, is looked up again. Default: after 1, 2, 4, 8, 16
   * and 32 seconds. This schedule and the two below see only how often it was tried, and the time since.
   */
  readonly confirm?: Schedule.Schedule<unknown> | undefined
  /** When a lookup that the service did not answer is repeated. Default: after 2 seconds to 5 minutes, for a day. */
  readonly retryLookup?: Schedule.Schedule<unknown> | undefined
  /**
   * When your code is called again after a failure. What it still refuses at the end is a dead letter. Default: after 1
   * second to 5 minutes, for a day.
   */
  readonly retry?: Schedule.Schedule<unknown> | undefined
}

/** What `layerSql` takes besides. */
export interface WebhookSqlOptions {
  /** Tells several webhooks on one database apart, as those of two companies. Default `default`. */
  readonly name?: string | undefined
  /** How long a process that says nothing more keeps a call before another one takes it. Default 30 seconds. */
  readonly lease?: Duration.Input | undefined
  /** How often the database is asked for what other processes recorded. Default 1 second. */
  readonly poll?: Duration.Input | undefined
  /** For how long it is remembered what was handed out, after the last call about it. Default 180 days. */
  readonly retention?: Duration.Input | undefined
}

/** The services that the user's code needs. */
type ServicesOf<O> = {
  [K in keyof O]-?: NonNullable<O[K]> extends (input: never) => Effect.Effect<infer _A, infer _E, infer R> ? R : never
}[keyof O]

/** The options as they are given: what has no name here is an error, so that no handler is misspelt. */
type Given<O, Options> = O & Options & { readonly [K in Exclude<keyof O, keyof Options>]: never }

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
    /** Waits until no call is in work or waits to be. Dead letters do not count. */
    readonly idle: Effect.Effect<void, DatabaseError>
    /** What your code refused until its `retry` came to an end, the oldest first. */
    readonly deadLetters: Effect.Effect<ReadonlyArray<DeadLetter>, DatabaseError>
    /** Looks a dead letter's transaction up and hands it out again; `false` where there is no such letter. */
    readonly retry: (id: string) => Effect.Effect<boolean, DatabaseError>
  }
>()("effect-pix/webhook/Webhook") {
  /** In memory, for tests and for what a process may forget when it ends. */
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
  ): Layer.Layer<Webhook, ConfigurationError | SqlError, Payments | SqlClient.SqlClient | ServicesOf<O>> =>
    Layer.effect(
      Webhook,
      makeSqlService<P, M, ServicesOf<O>>(options as WebhookOptions<P, M, ServicesOf<O>> & WebhookSqlOptions)
    )

  /** A route for the handler on Effect's `HttpRouter`. */
  static readonly route = (path: HttpRouter.PathInput): Layer.Layer<never, never, HttpRouter.HttpRouter | Webhook> =>
    HttpRouter.use((router) => Effect.flatMap(Webhook, ({ handle }) => router.add("*", path, handle)))

  /**
   * A plain handler for servers that are not Effect's: Hono, Next, Bun, Deno, workers. The layer is built at once;
   * `dispose` ends the work in the background and what else the layer holds. It rejects only where the layer could not
   * be built, or after `dispose`. Express needs an adapter, which docs/webhooks.md shows.
   *
   * On Cloudflare's workers, and with `waitUntil` or `inRequest`, nothing runs beside a request: the layer is built for
   * each call, the call is looked up and handed out before it is answered, and it is answered with 503 where that was
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
