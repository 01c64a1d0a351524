/**
 * The events and reports of webhook deliveries: a `Confirmed` transaction has the status of a lookup, an `Unconfirmed` report
 * has not. Only the first is handed to the code that acts on payments.
 *
 * The service documents a lookup for transactions and none for withdrawals (`docs/service.md`). So a
 * delivery about a withdrawal is never confirmed: it is a `WithdrawalHint`, or a report, and its type says so.
 */
declare module "./WebhookEvent.ts" {}

import type * as Cause from "effect/Cause"
import type * as DateTime from "effect/DateTime"
import type { Centavos } from "../pix/Money.ts"
import type { GetTransactionError } from "../contract/PaymentsError.ts"
import type { DetailStatus } from "../contract/Status.ts"
import type { TransactionDetail } from "../contract/Transaction.ts"
import type { handlerNames } from "./internal/handlerNames.ts"

/** The content of the delivery. Anybody who knows the address may have written it: do not act on it. */
export interface Untrusted<M = unknown> {
  /** The claimed status, in the words of the delivery. */
  readonly status?: string | undefined
  /** The claimed end-to-end id of the PIX. */
  readonly endToEndId?: string | undefined
  /**
   * The delivery's header `x-webhook-event-id`, which was seen and is not documented: to find it in the gateway's panel. Nothing
   * is deduplicated by it.
   */
  readonly eventId?: string | undefined
  /** Its metadata, read by your schema. Absent if you gave no schema, or the metadata does not fit it. */
  readonly metadata?: M | undefined
}

/**
 * A transaction whose status was looked up after a delivery hinted at it, and is no longer open. `Webhook.layerSql` hands each
 * status out once: what was handed out commits with what your code writes on the same `SqlClient`. Effects of your code
 * elsewhere, and all effects with `Webhook.layer`, happen at least once: dedupe by `id`.
 */
export interface Confirmed<M = unknown> {
  readonly _tag: "Confirmed"
  /** The same for the same transaction and status, in every process and at every repetition: dedupe by it. */
  readonly id: string
  /** The answer of the lookup. Its `value` is in centavos. */
  readonly transaction: TransactionDetail
  /** The content of the delivery, for data that the lookup does not have. */
  readonly untrusted: Untrusted<M>
}

/**
 * What a delivery claims of a withdrawal: a hint, and no more. All of it is untrusted, since anybody who knows the address may have
 * written it. It names the withdrawal by its number, by its key, or by both. It has nothing else of the body, which names persons.
 *
 * Gotcha: never mark a payout as failed or returned because of it. Look it up, or let a person do so.
 */
export interface WithdrawalHint<M = unknown> {
  /** The same for the same body, in every process and at every repetition: dedupe by it. */
  readonly id: string
  /** The `id` of its record, as the service answered it. */
  readonly withdrawalId?: number
  /** The key that it was sent with. */
  readonly idempotencyKey?: string
  /** The claimed status, in the words of the delivery. */
  readonly status: string
  /** The claimed end-to-end id of the PIX. */
  readonly endToEndId?: string
  /** The delivery's header `x-webhook-event-id`: see `Untrusted`. */
  readonly eventId?: string
  /** Its metadata, read by your schema. Absent if you gave no schema, or the metadata does not fit it. */
  readonly metadata?: M
}

/** A delivery about a transaction that the lookup did not confirm. */
export interface UnconfirmedTransaction<M = unknown> {
  readonly _tag: "UnconfirmedTransaction"
  /** The same for the same transaction and reason: a report may be repeated. */
  readonly id: string
  /** The id that was looked up. */
  readonly transactionId: string
  /**
   * - `NotFound`: the service knows no such transaction, even after a while.
   * - `StillOpen`: the lookup says that it is still awaited, even after a while.
   * - `Disagrees`: the lookup says another status than the delivery claims, even after a while, and that was handed out.
   * - `WentBack`: the lookup says `Paid` after it had said `Refunded`, which was handed out; `Paid` is not handed out then.
   * - `OtherTransaction`: the lookup answered another transaction.
   * - `OtherAmount`: it is paid, of another amount than `expectedAmount` says; `onPaid` was not called.
   * - `LookupFailed`: it could not be looked up; see `error`, which is absent where no answer came in time.
   */
  readonly reason:
    | "NotFound"
    | "StillOpen"
    | "Disagrees"
    | "WentBack"
    | "OtherTransaction"
    | "OtherAmount"
    | "LookupFailed"
  /** The status of the last lookup, if it had one. */
  readonly lastStatus?: DetailStatus | undefined
  /** The answer of the lookup, for `OtherAmount`. */
  readonly transaction?: TransactionDetail | undefined
  /** The amount of `expectedAmount`, in centavos, for `OtherAmount`. */
  readonly expected?: Centavos | undefined
  /** Why the lookup failed, for `LookupFailed`. */
  readonly error?: GetTransactionError | undefined
  /** The content of the delivery. Anybody who knows the address may have written it. */
  readonly untrusted: Untrusted<M>
}

/**
 * A delivery about a withdrawal that `onWithdrawal` did not take: you gave none, it failed for 10 minutes, or the delivery names no
 * withdrawal or no status. Nothing here is checked, since the service documents no way to look a withdrawal up: find out in the
 * panel, or in the balance. It has nothing else of the body, which names persons.
 */
export interface UnconfirmedWithdrawal<M = unknown> {
  readonly _tag: "UnconfirmedWithdrawal"
  /** The same for the same body: a delivery that the service repeats is reported again. */
  readonly id: string
  /** The key that it was sent with, if the delivery names it: your own books have the payout by it. */
  readonly idempotencyKey?: string | undefined
  /** The `id` of its record, as the service answered it, if the delivery names it. */
  readonly withdrawalId?: number | undefined
  /** The content of the delivery. Anybody who knows the address may have written it. */
  readonly untrusted: Untrusted<M>
}

/** A delivery that names nothing which can be looked up. */
export interface Unrecognised<M = unknown> {
  readonly _tag: "Unrecognised"
  /** The same for the same delivery. */
  readonly id: string
  /** The content of the delivery. Anybody who knows the address may have written it. */
  readonly untrusted: Untrusted<M>
}

/** A report of a delivery that is not confirmed. */
export type Unconfirmed<M = unknown> = UnconfirmedTransaction<M> | UnconfirmedWithdrawal<M> | Unrecognised<M>

/** Which piece of your code failed. */
export type HandlerName = (typeof handlerNames)[number]

/** Your code failed, died, or took longer than `handlerTimeout`. */
export interface HandlerFailure {
  /** Which piece of your code. */
  readonly handler: HandlerName
  /** The id of the event or of the report. */
  readonly id: string
  /** 1 for the first time. */
  readonly attempt: number
  /** Whether it is not called again by itself: the delivery is now one of `WebhookClient.deadLetters`. */
  readonly isDead: boolean
  /** Your own error. It may hold anything, so it is not logged unless you do. */
  readonly cause: Cause.Cause<unknown>
}

/** What is stored about a transaction, or about a delivery that names none. It has no text of a body but the claimed statuses. */
export interface StoredDelivery {
  /** The name of its webhook. */
  readonly webhook: string
  /** For `retry` and `discard` of `WebhookClient`: the transaction's id, or a digest of the body. */
  readonly id: string
  /** The subject of the delivery. Absent if the row is unreadable. */
  readonly about?: "Transaction" | "Withdrawal" | "Unknown" | undefined
  /**
   * `Dead`: your code failed for a day, and is not called again by itself: a dead letter. `Finished`: no delivery waits.
   * `Unreadable`: another version wrote the row.
   */
  readonly state: "Waiting" | "Dead" | "Finished" | "Unreadable"
  /** When it is due, for one that waits; when it ended, for one that is finished or dead. */
  readonly at: DateTime.Utc
  /** The statuses of the transaction that were handed out, in order. One that is no documented word is shown as a digest. */
  readonly handedOut: ReadonlyArray<string>
  /** The id of the transaction, for a delivery that names one. */
  readonly transactionId?: string | undefined
  /** The number of the withdrawal. */
  readonly withdrawalId?: number | undefined
  /** The key that a withdrawal was sent with, if the delivery names it. */
  readonly idempotencyKey?: string | undefined
  /** How many deliveries and checks were recorded since the last one was finished. */
  readonly deliveries?: number | undefined
  /** The statuses that waiting deliveries claim. `undefined`: a delivery claims none. */
  readonly claimed?: ReadonlyArray<string | undefined> | undefined
  /**
   * Why it waits: for a first lookup, because the claim is early, the service does not answer, or the user's code failed.
   * Absent: it waits for a worker.
   */
  readonly waits?: "first" | "early" | "outage" | "failed" | undefined
  /** How often your code failed. */
  readonly failures?: number | undefined
  /** Which code failed last, for a dead letter. */
  readonly handler?: HandlerName | undefined
  /** When the first of these deliveries and checks was recorded. */
  readonly since?: DateTime.Utc | undefined
}
