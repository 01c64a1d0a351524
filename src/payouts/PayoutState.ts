/**
 * The words of a payout's life: its states, and why it is in them; and the errors of the steps that do not fit a state.
 */
import * as Schema from "effect/Schema"
import { legible } from "../internal/legible.ts"

/**
 * The states of a payout in the queue, as the table spells them: see `PayoutStatus`. `refused` means that no request of this queue
 * moved money; a single call, or another file, may have used the reference.
 */
export const PayoutState = Schema.Literals([
  "accepted",
  "posted",
  "paid",
  "failed",
  "returned",
  "refused",
  "unknown",
  "parked",
  "cancelled"
])
/** See the schema of the same name. */
export type PayoutState = typeof PayoutState.Type

/**
 * Why a payout waits for a person.
 *
 * - `Operator`: a person parked it.
 * - `PastHorizon`: a request may have left longer ago than the horizon. The service may have forgotten its key, so that
 *   another request could pay twice.
 * - `OverMaxAmount`, `OverDailyCap`: its amount alone is above the worker's `maxAmount` or `dailyCap`.
 * - `Unreadable`: its stored request cannot be opened or read. Nothing was sent since.
 * - `OtherClientId`: a request of it may have left under another client id, base URL or company than those of the worker
 *   now. A key belongs to these, so another request could pay twice.
 * - `WaitedTooLong`: it is wanted since longer ago than the horizon: since its submit, or the last step of a person who wanted
 *   it sent. This queue knows of no request that moved money; where a backup was restored, or somebody paid by hand, it may be
 *   paid already. The wait of a never sent one for a cap, a limit, the balance, a pause or
 *   credentials is not counted while a worker is seen, for three days at most.
 * - `SeeRecord`: the service named a record that may be of this payout and proves nothing: `differs` of the status is its field.
 *   `companyId`, `pixKey`: it is of another company or PIX key than were asked for; another company pauses the account too.
 *   `enTransaction`: it has a word for failure, or for money that came back, which does not prove that no money moved: see `seen` of
 *   its `error`. MONEY MAY HAVE MOVED. The same request would be answered with the same record. With `confirm`, it is looked up, and
 *   the lookup decides.
 */
export const ParkedBecause = Schema.Literals([
  "Operator",
  "PastHorizon",
  "OverMaxAmount",
  "OverDailyCap",
  "Unreadable",
  "OtherClientId",
  "WaitedTooLong",
  "SeeRecord"
])
/** See the schema of the same name. */
export type ParkedBecause = typeof ParkedBecause.Type

/**
 * What an accepted payout waits for. It is sent again by itself.
 *
 * - `NotBefore`: the time of its item, `notBefore`.
 * - `DailyCap`: the next day.
 * - `InsufficientBalance`: a balance that covers it.
 * - `Window`: the opening of the account's `window`.
 * - `Limit`: the end of a limit of the account, or of its block.
 * - `AuthError`: credentials that the service takes (401, 403).
 * - `Setup`: the way to the service: the right base URL, a proxy (407), or the end of a deploy, of which a balancer answers a 404 or the like
 *   without words.
 * - `RateLimited`: the time that the service named.
 * - `ServiceUnavailable`: a connection to the service.
 * - `OtherClientId`: credentials of the account's own client id. Those of the worker now belong to another one.
 */
export const WaitsFor = Schema.Literals([
  "NotBefore",
  "DailyCap",
  "Window",
  "InsufficientBalance",
  "Limit",
  "AuthError",
  "Setup",
  "RateLimited",
  "ServiceUnavailable",
  "OtherClientId"
])
/** See the schema of the same name. */
export type WaitsFor = typeof WaitsFor.Type

/** Who said how a payout ended: an `answer` to its request, a `lookup` of its withdrawal, or a `person` who settled it. */
export const EndedBy = Schema.Literals(["answer", "lookup", "person"])
/** See the schema of the same name. */
export type EndedBy = typeof EndedBy.Type

/** No payout of this reference was submitted, or its record was deleted since. */
export class PayoutNotFound extends legible(
  Schema.TaggedError<PayoutNotFound>("effect-pix/PayoutNotFound")("PayoutNotFound", {
    reference: Schema.String
  })
) {
  get concerns(): "Request" {
    return "Request"
  }
  override get message(): string {
    return this.reference === ""
      ? "The reference is not a text that a payout can have."
      : `No payout of the reference ${this.reference} was submitted to the queue, or its record was deleted since.`
  }
}

/** The step is not possible for a payout in this state. Nothing was changed. */
export class PayoutStateConflict extends legible(
  Schema.TaggedError<PayoutStateConflict>("effect-pix/PayoutStateConflict")("PayoutStateConflict", {
    operation: Schema.Literals(["retry", "park", "resume", "settle", "confirm", "cancel", "forget"]),
    reference: Schema.String,
    state: PayoutState,
    problem: Schema.String
  })
) {
  get concerns(): "Request" {
    return "Request"
  }
  override get message(): string {
    return `${this.operation} changed nothing: the payout ${this.reference} is ${this.state}. ${this.problem}`
  }
}
