/**
 * What a webhook call becomes: a `Confirmed` transaction, which a lookup vouches for, or something `Unconfirmed`, which
 * nothing does. Only the first is handed to the code that acts on payments.
 *
 * The service documents a lookup for transactions and none for withdrawals (service interface, section 4). So what a
 * call says about a withdrawal is never confirmed, and its type says so.
 */
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Balance } from "../contract/Balance.ts"
import { Metadata } from "../contract/Metadata.ts"
import { Centavos } from "../pix/Money.ts"
import type { GetBalanceError, GetTransactionError } from "../contract/PaymentsError.ts"
import type { DetailStatus } from "../contract/Status.ts"
import type { TransactionDetail } from "../contract/Transaction.ts"

/** What the call itself says. Whoever knows the address may have written it: do not act on it. */
export interface Untrusted<P = unknown, M = unknown> {
  /** The status that it claims, in whatever vocabulary. */
  readonly status?: string | undefined
  /** Its metadata, read by your schema. Absent when there is none, or none that the schema takes. */
  readonly metadata?: M | undefined
  /** Its payload, read by your schema. */
  readonly payload: P
}

/**
 * A transaction whose status was looked up after a call hinted at it. It is handed out once for each status that is no
 * longer open, and again only when it is not certain that the last time was completed: at least once.
 */
export interface Confirmed<P = unknown, M = unknown> {
  readonly _tag: "Confirmed"
  /** The same for the same transaction and status, in every process and at every repetition: dedupe by it. */
  readonly id: string
  /** What the lookup answered. Its `value` is in centavos. */
  readonly transaction: TransactionDetail
  /** What the call said, for what the lookup does not have. */
  readonly untrusted: Untrusted<P, M>
}

/** A call about a transaction that the lookup did not bear out. */
export interface UnconfirmedTransaction<P = unknown, M = unknown> {
  readonly _tag: "UnconfirmedTransaction"
  readonly transactionId: string
  /**
   * - `NotFound`: the service knows no such transaction, even after a while; where the handler is more than half full,
   *   at the first lookup.
   * - `StillOpen`: the lookup says that it is still awaited, even after a while.
   * - `Disagrees`: the call claims another status than the lookup says; what the lookup says was handed out.
   * - `WentBack`: the lookup says `Paid` after it had said `Refunded`, which was handed out; `Paid` is not.
   * - `OtherTransaction`: the lookup answered another transaction.
   * - `LookupFailed`: it could not be looked up; see `error`.
   */
  readonly reason: "NotFound" | "StillOpen" | "Disagrees" | "WentBack" | "OtherTransaction" | "LookupFailed"
  /** What the lookup said, where it said something. */
  readonly lastStatus?: DetailStatus | undefined
  readonly error?: GetTransactionError | undefined
  readonly untrusted: Untrusted<P, M>
}

/** What is kept of a withdrawal that was requested: no key, no document, nothing of a person but your own metadata. */
export const WithdrawalNote = Schema.Struct({
  /** The key that it was, or will be, requested with. */
  idempotencyKey: Schema.NonEmptyString,
  /** In centavos. */
  amount: Centavos,
  /** The `id` of its record, once the service has answered one. */
  withdrawalId: Schema.optionalKey(Schema.Natural),
  metadata: Schema.optionalKey(Metadata)
})
/** See the schema of the same name. */
export type WithdrawalNote = typeof WithdrawalNote.Type

/** What there is to judge a call about a withdrawal by. None of it proves what became of the withdrawal. */
export interface WithdrawalEvidence {
  /** Our own note of it, found by the key or the id that the call names: see `Webhook.remember`. */
  readonly noted?: WithdrawalNote | undefined
  /** Whether the call brings the metadata that we noted. Absent when there is nothing to compare. */
  readonly sameMetadata?: boolean | undefined
  /** Reads the balance now: of the layer's `companyId`, without which it fails. */
  readonly balance: Effect.Effect<Balance, GetBalanceError>
}

/**
 * A call about a withdrawal. The service documents no way to look one up, so whatever this says, nothing vouches for
 * it: find out in the panel, or in the balance.
 */
export interface UnconfirmedWithdrawal<P = unknown, M = unknown> {
  readonly _tag: "UnconfirmedWithdrawal"
  readonly withdrawalId?: number | undefined
  readonly idempotencyKey?: string | undefined
  readonly evidence: WithdrawalEvidence
  readonly untrusted: Untrusted<P, M>
}

/** A call that names nothing which can be looked up. */
export interface Unrecognised<P = unknown, M = unknown> {
  readonly _tag: "Unrecognised"
  readonly untrusted: Untrusted<P, M>
}

/** What could not be confirmed. */
export type Unconfirmed<P = unknown, M = unknown> =
  | UnconfirmedTransaction<P, M>
  | UnconfirmedWithdrawal<P, M>
  | Unrecognised<P, M>
