/**
 * The options of `Webhook`: the handlers, and the settings. Each setting has one sentence and its default.
 */
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Schedule from "effect/Schedule"
import type * as Schema from "effect/Schema"
import type { TransactionDetail } from "../contract/Transaction.ts"
import type { Centavos } from "../pix/Money.ts"
import type { Confirmed, HandlerFailure, Unconfirmed, WithdrawalNames, WithdrawalNote } from "./WebhookEvent.ts"
import type { Hint } from "./WebhookHint.ts"
import type { WebhookVerifier } from "./WebhookVerifier.ts"

type Code<I, R, A = unknown> = ((input: I) => Effect.Effect<A, unknown, R>) | undefined

/** What to do with the deliveries. Your code may need services: the layer then needs them too. */
export interface WebhookOptions<P = unknown, M = unknown, R = never> {
  /** The lookup says `Paid`, and `expectedAmount`, where given, says the same amount. */
  readonly onPaid?: Code<Confirmed<P, M>, R>
  /** The lookup says `Refunded`. */
  readonly onRefunded?: Code<Confirmed<P, M>, R>
  /** The lookup says `Cancelled`, `Failed` or, which is not documented, that it is expired: nobody will pay. */
  readonly onClosed?: Code<Confirmed<P, M>, R>
  /**
   * Every status that is no longer open, after the handler for it and in the same transaction; also words that nobody
   * documents, for which no other handler is called.
   */
  readonly onStatus?: Code<Confirmed<P, M>, R>
  /** Receives what could not be confirmed, at least once. Default: a warning in the log. */
  readonly onUnconfirmed?: Code<Unconfirmed<P, M>, R>
  /**
   * What a transaction that is paid should have cost, in centavos. If its `value` is another one, neither `onPaid` nor
   * `onStatus` is called, and `onUnconfirmed` is given `OtherAmount`. `undefined`: not compared. Default: not compared.
   */
  readonly expectedAmount?: Code<TransactionDetail, R, Centavos | undefined>
  /** Your own note of a withdrawal that a delivery names, from your books: evidence. Default: there is none. */
  readonly noted?: Code<WithdrawalNames, R, WithdrawalNote | undefined>
  /** Receives each failure of your code. Default: a line in the log without the error, which is yours. */
  readonly onFailure?: Code<HandlerFailure, R>
  /** The payload, once you know it; a delivery that does not fit is answered with 400. Default: any JSON, which is not stored. */
  readonly payload?: Schema.ConstraintDecoder<P> | undefined
  /** What a payload hints at. Default: `WebhookHint.find`, on the JSON as it came. */
  readonly find?: ((payload: P) => Hint) | undefined
  /** The metadata, as `Metadata.codec(...)`; what does not fit is absent from the event. Default: it is not read. */
  readonly metadata?: Schema.ConstraintDecoder<M> | undefined
  /** How bodies are stored, which only `payload` and `metadata` make necessary. Default: as they arrived. */
  readonly seal?:
    | {
        readonly seal: (text: string) => Effect.Effect<string, unknown>
        readonly open: (text: string) => Effect.Effect<string, unknown>
      }
    | undefined
  /** Whose deliveries are taken. Default: everybody's. */
  readonly verifier?: WebhookVerifier | undefined
  /** The largest body, in bytes. Default 64 KiB. */
  readonly maxBodyBytes?: number | undefined
  /** How long the body may take. Default 10 seconds. */
  readonly bodyTimeout?: Duration.Input | undefined
  /** How long a lookup may take. One that takes longer is repeated, as `retryLookup` says. Default 10 seconds. */
  readonly lookupTimeout?: Duration.Input | undefined
  /**
   * How long each piece of your code may take. It is cut then, and counts as failed. Default 30 seconds; on
   * SQLite, where no delivery is recorded meanwhile, 5.
   */
  readonly handlerTimeout?: Duration.Input | undefined
  /**
   * How many transactions are worked on at a time. A lookup or a handler that takes long delays no other one. With
   * `layerSql` each may hold a connection: leave some for the deliveries that come. Default 8.
   */
  readonly concurrency?: number | undefined
  /**
   * When a transaction that is not found, or not as the delivery says, is looked up again. Default: after 1, 2, 4, 8, 16
   * and 32 seconds. This schedule and the two below see only how often it was tried, and the time since.
   */
  readonly confirm?: Schedule.Schedule<unknown> | undefined
  /** When a lookup that the service did not answer is repeated. Default: after 2 seconds to 5 minutes, for 3 days. */
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
  /** After how long another process takes the transactions of one that does not answer any more. Default 30 seconds. */
  readonly lease?: Duration.Input | undefined
  /** How often the database is asked for what other processes recorded. Default 1 second. */
  readonly poll?: Duration.Input | undefined
  /** How long the webhook remembers what was handed out, after the last delivery about it. Default 180 days. */
  readonly retention?: Duration.Input | undefined
}

/** What is known of a delivery that its `Request` does not say. */
export interface DeliveryInfo {
  /** Where it comes from, for `WebhookVerifier.ipAllowList`: a web `Request` does not say. */
  readonly remoteAddress?: string | undefined
}
