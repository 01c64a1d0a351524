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
  /** The lookup says `Cancelled`, `Failed` or `Expired` (not documented): nobody will pay. */
  readonly onClosed?: Code<Confirmed<P, M>, R>
  /**
   * Every status that is no longer open, after its own handler and in the same transaction; also statuses that are not
   * documented, which have no other handler.
   */
  readonly onStatus?: Code<Confirmed<P, M>, R>
  /** Receives each report of a delivery that is not confirmed, at least once. Default: a warning in the log. */
  readonly onUnconfirmed?: Code<Unconfirmed<P, M>, R>
  /**
   * The amount that a paid transaction should have, in centavos. If its `value` is another amount, neither `onPaid` nor
   * `onStatus` is called, and `onUnconfirmed` receives `OtherAmount`. `undefined`: not compared. Default: not compared.
   */
  readonly expectedAmount?: Code<TransactionDetail, R, Centavos | undefined>
  /**
   * Whether your books have a charge of this id, which may be in another case. It is called only while more ids arrive than
   * `firstLookupsPerSecond`, and those that it knows are looked up before the others. If it fails, none is known for a
   * minute, and nothing is lost. Default: none is known.
   */
  readonly isKnown?: Code<string, R, boolean>
  /** Your own note of a withdrawal that a delivery names, from your books: evidence. Default: there is none. */
  readonly noted?: Code<WithdrawalNames, R, WithdrawalNote | undefined>
  /** Receives each failure of your code. Default: a line in the log without your error. */
  readonly onFailure?: Code<HandlerFailure, R>
  /** The schema of the payload; any other delivery is answered with 400. Default: any JSON, which is not stored. */
  readonly payload?: Schema.ConstraintDecoder<P> | undefined
  /** Finds the hint in a payload. Default: `WebhookHint.find`, on the JSON of the body. */
  readonly find?: ((payload: P) => Hint) | undefined
  /** The schema of the metadata, as `Metadata.codec(...)`; other metadata is left out. Default: it is not read. */
  readonly metadata?: Schema.ConstraintDecoder<M> | undefined
  /** Seals the stored bodies. Bodies are stored only with `payload` or `metadata`. Default: they are stored as received. */
  readonly seal?:
    | {
        readonly seal: (text: string) => Effect.Effect<string, unknown>
        readonly open: (text: string) => Effect.Effect<string, unknown>
      }
    | undefined
  /** Decides whose deliveries are accepted. Default: everybody's. */
  readonly verifier?: WebhookVerifier | undefined
  /** The largest body, in bytes. Default 64 KiB. */
  readonly maxBodyBytes?: number | undefined
  /**
   * How many lookups a second each process begins for ids that no lookup has found: anybody whose deliveries are accepted can
   * invent such ids. An id that was found is looked up at once, and so is one that you `check`. What exceeds the number waits
   * and is not lost: first the ids that `isKnown` knows, then new ones, then those that were not found. Default 20.
   */
  readonly firstLookupsPerSecond?: number | undefined
  /** How long the body may take. Default 10 seconds. */
  readonly bodyTimeout?: Duration.Input | undefined
  /** How long a lookup may take. One that takes longer is repeated, as `retryLookup` says. Default 10 seconds. */
  readonly lookupTimeout?: Duration.Input | undefined
  /**
   * How long each piece of your code may take. After that it is interrupted and counts as failed. Default 30 seconds; on
   * SQLite, where no delivery is recorded meanwhile, 5.
   */
  readonly handlerTimeout?: Duration.Input | undefined
  /**
   * How many transactions are processed at a time. A slow lookup or handler delays no other transaction. With `layerSql`
   * each may use a connection: leave some for recording deliveries. Default 8.
   */
  readonly concurrency?: number | undefined
  /**
   * When a transaction that is not found, or has another status than the delivery claims, is looked up again. Default: after
   * 1, 2, 4, 8, 16 and 32 seconds. The input of this schedule and the two below is only the number of tries and the time.
   */
  readonly confirm?: Schedule.Schedule<unknown> | undefined
  /** When a lookup that the service did not answer is repeated. Default: after 2 seconds to 5 minutes, for 3 days. */
  readonly retryLookup?: Schedule.Schedule<unknown> | undefined
  /**
   * When your code is called again after a failure. If it still fails at the end, the delivery is a dead letter. Default: after
   * 1 second to 5 minutes, for a day.
   */
  readonly retry?: Schedule.Schedule<unknown> | undefined
}

/** The options of `layerSql` alone. */
export interface WebhookSqlOptions {
  /** Tells several webhooks on one database apart, as those of two companies. Default `default`. */
  readonly name?: string | undefined
  /** After how long another process takes the transactions of one that does not answer any more. Default 30 seconds. */
  readonly lease?: Duration.Input | undefined
  /** How often the database is polled for deliveries that other processes recorded. Default 1 second. */
  readonly poll?: Duration.Input | undefined
  /** How long the webhook remembers what was handed out, after the last delivery about it. Default 180 days. */
  readonly retention?: Duration.Input | undefined
}

/** The data of a delivery that its `Request` does not have. */
export interface DeliveryInfo {
  /** The sender's address, for `WebhookVerifier.ipAllowList`. A web `Request` does not have it. */
  readonly remoteAddress?: string | undefined
}
