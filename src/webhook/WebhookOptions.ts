/**
 * The options of `Webhook`: the handlers, and the settings. Each setting has one sentence and its default.
 */
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { checkSettingsBy, period, whole, withDefault } from "../contract/Options.ts"
import type { TransactionDetail } from "../contract/Transaction.ts"
import type { Centavos } from "../pix/Money.ts"
import type { Confirmed, HandlerFailure, Unconfirmed, WithdrawalHint } from "./WebhookEvent.ts"
import type { Hint } from "./WebhookHint.ts"
import type { WebhookVerifier } from "./WebhookVerifier.ts"

type Code<I, R, A = unknown> = ((input: I) => Effect.Effect<A, unknown, R>) | undefined

/** What to do with the deliveries. Your code may need services: the layer then needs them too. */
export interface WebhookOptions<M = unknown, R = never> {
  /**
   * The lookup says `Paid`, or a word that `GatewayFacts` lists as paid, and `expectedAmount`, where given, says the same
   * amount. Another word for paid, of a charge that was handed over, goes to `onStatus` alone.
   */
  readonly onPaid?: Code<Confirmed<M>, R>
  /** The lookup says `Refunded`, in any case. */
  readonly onRefunded?: Code<Confirmed<M>, R>
  /** The lookup says `Cancelled`, `Failed` or `Expired` (not documented): nobody will pay. */
  readonly onClosed?: Code<Confirmed<M>, R>
  /**
   * Every status that is no longer open, after its own handler and in the same transaction; also statuses that are not
   * documented, which have no other handler. A word that sounds like paid is one of these until you list it: it is counted and
   * logged.
   */
  readonly onStatus?: Code<Confirmed<M>, R>
  /**
   * A delivery claims something of a withdrawal, by number, key or both. Nothing is looked up. Fail with `NoSuchElementError`, as
   * `Effect.fromOption` does, where no payout of yours has it yet: with `layerSql` it is called again, after 1, 2, 4, ... 60 seconds,
   * for 10 minutes, without a line, and then the delivery is reported to `onUnconfirmed`; with `layer` the answer is 503. So it is
   * after any other failure, which `onFailure` gets too. Default: each is reported at once.
   */
  readonly onWithdrawal?: Code<WithdrawalHint<M>, R>
  /** Receives each report of a delivery that is not confirmed, at least once. Default: a warning in the log, once a minute. */
  readonly onUnconfirmed?: Code<Unconfirmed<M>, R>
  /**
   * The amount that a paid transaction should have, in centavos. If its `value` is another amount, neither `onPaid` nor
   * `onStatus` is called, and `onUnconfirmed` receives `OtherAmount`. `undefined`: not compared. Default: not compared.
   */
  readonly expectedAmount?: Code<TransactionDetail, R, Centavos | undefined>
  /**
   * Whether your books have a charge of this id, which may be in another case. It is called only while more ids arrive than
   * `firstLookupsPerSecond`, and of those that it knows ten times as many are looked up at once: a payer knows an id of yours too.
   * If it fails, none is known for a minute, and nothing is lost. Default: none is known.
   */
  readonly isKnown?: Code<string, R, boolean>
  /** Receives each failure of your code. Default: a line in the log without your error. */
  readonly onFailure?: Code<HandlerFailure, R>
  /**
   * Finds the hint in the JSON of a body, or several: for each id and status the last is handled. If it throws, the delivery is answered with 400, and with
   * 413 for more than 100 hints. For a body that is no JSON, such as a form or an empty one, `json` is `undefined`: read `delivery`.
   * Default: `WebhookHint.findAll`, and 400 for such a body.
   */
  readonly find?: ((json: unknown, delivery: DeliveryText) => Hint | ReadonlyArray<Hint>) | undefined
  /**
   * The schema of the metadata, as `Metadata.codec(...)`; other metadata is left out. With `layerSql`, what the schema reads is
   * stored until the delivery is finished; nothing else of a body is. Default: it is not read.
   */
  readonly metadata?: Schema.ConstraintCodec<M, unknown> | undefined
  /** Decides whose deliveries are accepted. Default: everybody's. */
  readonly verifier?: WebhookVerifier | undefined
  /**
   * How many lookups a second each process begins for ids that no lookup has found: anybody whose deliveries are accepted can
   * invent such ids. An id that was found is looked up at once, and so is one that you `check`. Of ids that `isKnown` knows it is
   * ten times the number. What exceeds it waits and is not lost. Default 20.
   */
  readonly firstLookupsPerSecond?: number | undefined
  /**
   * How long each piece of your code may take. After that it is interrupted and counts as failed. Default 30 seconds; on
   * SQLite, where no delivery is recorded meanwhile, 5.
   */
  readonly handlerTimeout?: Duration.Input | undefined
}

/** The options of `layerSql` alone. */
export interface WebhookSqlOptions {
  /** Tells several webhooks on one database apart, as those of two companies. Default `default`. */
  readonly name?: string | undefined
  /**
   * How many transactions are processed at a time. A slow lookup or handler delays no other transaction. Each may use a
   * connection: leave some for recording deliveries. Default 8.
   */
  readonly concurrency?: number | undefined
  /** After how long another process takes the transactions of one that does not answer any more. Default 30 seconds. */
  readonly lease?: Duration.Input | undefined
  /** How often the database is polled for deliveries that other processes recorded. Default 1 second. */
  readonly poll?: Duration.Input | undefined
  /** How long the webhook remembers what was handed out, after the last delivery about it. Default 180 days. */
  readonly retention?: Duration.Input | undefined
}

/** The options of `layerClient`. */
export interface WebhookClientOptions {
  /** The webhook's name. Default: all webhooks on the database. */
  readonly name?: string | undefined
}

/** The options of a step with a dead letter. */
export interface DeadLetterOptions {
  /**
   * Who takes the step, as your program names its operators: 1 to 100 characters. A log line has it, and nothing is stored. It
   * must not hold the data of a payer or a payee. Default: nobody is named.
   */
  readonly by?: string | undefined
}

/** What a delivery has beside its JSON, for a `find` of other payloads. */
export interface DeliveryText {
  /** The body as a text. */
  readonly text: string
  /** The `content-type`, in small letters and without parameters, as `application/x-www-form-urlencoded`; empty without one. */
  readonly type: string
  /** The query of the URL. */
  readonly query: URLSearchParams
}

/** The data of a delivery that its `Request` does not have. */
export interface DeliveryInfo {
  /** The sender's address, for a verifier of your own. A web `Request` does not have it. */
  readonly remoteAddress?: string | undefined
}

const webhookName = Schema.String.check(
  Schema.isPattern(/^[\w-]{1,64}$/, { message: "must be one to 64 letters, digits, _ and -" })
)

/** Checks the settings of a client, and fails with every one that is wrong. */
export const checkClient = checkSettingsBy(Schema.Struct({ name: Schema.optional(webhookName) }), "options", "Webhook.")

/** Checks the settings of a webhook, with their defaults; that of `handlerTimeout` depends on the database. */
export const checkSettings = checkSettingsBy(
  Schema.Struct({
    concurrency: withDefault(whole(1), 8),
    firstLookupsPerSecond: withDefault(whole(1), 20),
    handlerTimeout: period,
    lease: withDefault(period, "30 seconds"),
    name: withDefault(webhookName, "default"),
    poll: withDefault(period, "1 second"),
    retention: withDefault(period, "180 days")
  }),
  "options",
  "Webhook."
)
