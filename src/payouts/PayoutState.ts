/**
 * The words of a payout's life: its states, and who said how it ended; and the errors of the steps that do not fit a state.
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
