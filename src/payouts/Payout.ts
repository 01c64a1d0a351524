/**
 * One payout of many: what is asked for, what became of it, and the steps on the way. All of it can be stored:
 * `Schema.toCodecJson(PayoutResult)` writes a result as JSON.
 */
import * as Data from "effect/Data"
import * as Schema from "effect/Schema"
import { Centavos } from "../pix/Money.ts"
import {
  AuthError,
  BelowMinimum,
  IdempotencyConflict,
  InsufficientBalance,
  InvalidRequest,
  NoPixKey,
  OutcomeUnknown,
  RateLimited,
  RequestRejected,
  ServiceUnavailable,
  UnexpectedResponse
} from "../contract/PaymentsError.ts"
import { Withdrawal, type WithdrawalRequest } from "../contract/Withdrawal.ts"

/**
 * One payout: a withdrawal request (amount in centavos) and your own reference for it, such as an invoice number. The
 * reference is not sent; the key that is made from it is.
 */
export type PayoutItem = WithdrawalRequest & { readonly reference: string }

/** The reference stands twice in one run, for two different requests. The first one counts; this one was not sent. */
export class DuplicateReference extends Schema.TaggedError<DuplicateReference>()("DuplicateReference", {
  outcome: Schema.Literal("NotSent")
}) {
  override get message(): string {
    return "The reference stands twice in this run, for two different requests. This one was not sent; give it a reference of its own."
  }
}

/** Why nothing moved: every failure of `requestWithdrawal` whose outcome is `NotSent` or `Rejected`, and one more. */
export const PayoutRefusal = Schema.Union([
  InvalidRequest,
  BelowMinimum,
  AuthError,
  NoPixKey,
  InsufficientBalance,
  RateLimited,
  RequestRejected,
  ServiceUnavailable,
  DuplicateReference
])
/** See the schema of the same name. */
export type PayoutRefusal = typeof PayoutRefusal.Type

/** Any failure of one payout. */
export type PayoutError = PayoutRefusal | OutcomeUnknown | IdempotencyConflict

const place = {
  /** Where the item stands in the input, from 0. */
  index: Schema.Natural,
  /** The item's reference. */
  reference: Schema.String
}
const keyed = { ...place, idempotencyKey: Schema.String }

/**
 * The service took the withdrawal on. `amount` is what this run asked for, in centavos; `withdrawal.value` is what the
 * service recorded, in reais. Where an earlier run asked for another amount under the same reference, the service
 * answers with that earlier payout: compare the two.
 */
export const PayoutDone = Schema.TaggedStruct("Done", { ...keyed, amount: Centavos, withdrawal: Withdrawal })
/** See the schema of the same name. */
export type PayoutDone = typeof PayoutDone.Type

/** Nothing moved: `error` says why. Without `idempotencyKey` none could be made from the reference. */
export const PayoutRefused = Schema.TaggedStruct("Refused", {
  ...place,
  idempotencyKey: Schema.optionalKey(Schema.String),
  error: PayoutRefusal
})
/** See the schema of the same name. */
export type PayoutRefused = typeof PayoutRefused.Type

/** Money may have moved. `amount` is in centavos. Running the same reference again is the safe way to learn it. */
export const PayoutUnknown = Schema.TaggedStruct("Unknown", {
  ...keyed,
  amount: Centavos,
  error: Schema.Union([OutcomeUnknown, IdempotencyConflict])
})
/** See the schema of the same name. */
export type PayoutUnknown = typeof PayoutUnknown.Type

/**
 * Nothing was sent for this item in this run.
 *
 * - `OverAmount`: it is above `maxAmount`. The others go on.
 * - `OverTotal`: with it the run would go beyond `maxTotal`. The run stopped here.
 * - `NotCovered`: the balance does not cover it. The run stopped here; of a list, nothing was started at all.
 * - `BalanceUnknown`: the balance could not be read, as `error` says. Nothing was started.
 * - `Stopped`: the run stopped at the failure `error` of another payout, by `stopOn`.
 */
export const PayoutNotStarted = Schema.TaggedStruct("NotStarted", {
  ...keyed,
  reason: Schema.Literals(["OverAmount", "OverTotal", "NotCovered", "BalanceUnknown", "Stopped"]),
  error: Schema.optionalKey(Schema.Union([PayoutRefusal, OutcomeUnknown, IdempotencyConflict, UnexpectedResponse]))
})
/** See the schema of the same name. */
export type PayoutNotStarted = typeof PayoutNotStarted.Type

/** An identical item with the same reference came before, at `first`. Nothing was sent for this one. */
export const PayoutRepeated = Schema.TaggedStruct("Repeated", { ...place, first: Schema.Natural })
/** See the schema of the same name. */
export type PayoutRepeated = typeof PayoutRepeated.Type

/** What became of one item. It can be stored: `Schema.toCodecJson(PayoutResult)` writes it as JSON. */
export const PayoutResult = Schema.Union([PayoutDone, PayoutRefused, PayoutUnknown, PayoutNotStarted, PayoutRepeated])
/** See the schema of the same name. */
export type PayoutResult = typeof PayoutResult.Type

/** The item's turn has come: from now on its request may be under way. `amount` is in centavos. */
export const PayoutStarted = Schema.TaggedStruct("Started", { ...keyed, amount: Centavos })
/** See the schema of the same name. */
export type PayoutStarted = typeof PayoutStarted.Type

/** One step of a run. It can be stored, as a `PayoutResult`. */
export const PayoutEvent = Schema.Union([PayoutStarted, PayoutResult])
/** See the schema of the same name. */
export type PayoutEvent = typeof PayoutEvent.Type

/** What became of every item of a run, each list in the order of the input. It can be stored, as a `PayoutResult`. */
export const PayoutReport = Schema.Struct({
  done: Schema.Array(PayoutDone),
  refused: Schema.Array(PayoutRefused),
  unknown: Schema.Array(PayoutUnknown),
  notStarted: Schema.Array(PayoutNotStarted),
  repeated: Schema.Array(PayoutRepeated)
})
/** See the schema of the same name. */
export type PayoutReport = typeof PayoutReport.Type

/** The stream of items failed with `error`. What had been started was finished first: `report` accounts for it. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- it is what `catchTag` gives back
export class PayoutSourceFailed<E> extends Data.TaggedError("PayoutSourceFailed")<{
  readonly error: E
  readonly report: PayoutReport
}> {
  override get message(): string {
    return "The stream of payouts failed before its end. What it had given until then is in the report; run it again with the same references."
  }
}
