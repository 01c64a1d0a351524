/**
 * One payout of many: its request, the events of its run and its result. All of it can be stored:
 * `Schema.toCodecJson(PayoutResult)` writes a result as JSON.
 */
import type * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import * as Schema from "effect/Schema"
import { legible } from "../internal/legible.ts"
import { issuesInWords } from "../contract/Outcome.ts"
import { Centavos, format } from "../pix/Money.ts"
import {
  AuthError,
  BelowMinimum,
  IdempotencyConflict,
  InvalidRequest,
  OutcomeUnknown,
  RateLimited,
  RequestRejected,
  ServiceUnavailable,
  UnexpectedResponse,
  WithdrawalRefusal
} from "../contract/PaymentsError.ts"
import { Withdrawal, type WithdrawalRequest } from "../contract/Withdrawal.ts"

/**
 * One payout: a withdrawal request (amount in centavos) and your own reference for it, such as an invoice number. The
 * reference is not sent; the key that is made from it is.
 */
export type PayoutItem = WithdrawalRequest & { readonly reference: string }

/**
 * Two different requests in one run have the same reference. The first one is paid; this one was not sent. The event with
 * this error has the amount of this request, and `first` is the index of the first one.
 */
export class DuplicateReference extends legible(
  Schema.TaggedError<DuplicateReference>("effect-pix/DuplicateReference")("DuplicateReference", {
    outcome: Schema.Literal("NotSent"),
    reference: Schema.String,
    /** The place of the first one in the input, from 0. */
    first: Schema.Natural
  })
) {
  get concerns(): "Request" {
    return "Request"
  }
  override get message(): string {
    return `The reference ${this.reference} was given before in this run, at index ${this.first}, for a different request. This payout was not sent. Give it a reference of its own.`
  }
}

/**
 * An earlier run paid or may have paid this reference, or it was submitted to a `PayoutQueue`; and this item has another
 * amount, another content or another key. It was not sent: one reference is one payout, for ever. `earlier` is what is known
 * of the reference.
 */
export class ReferenceConflict extends legible(
  Schema.TaggedError<ReferenceConflict>("effect-pix/ReferenceConflict")("ReferenceConflict", {
    outcome: Schema.Literal("NotSent"),
    reference: Schema.String,
    /** The amount of this payout, in centavos. */
    amount: Centavos,
    /**
     * What differs from the earlier request. `key` is the idempotency key, as in a run with another `kind`; `content` is
     * any other part of the request, such as the PIX key.
     */
    differs: Schema.Array(Schema.Literals(["key", "amount", "content"])),
    earlier: Schema.Struct({
      /** `Unknown`: money may have moved for the earlier request. `Submitted`: it is in a `PayoutQueue`. */
      state: Schema.Literals(["Done", "Unknown", "Submitted"]),
      /** The key under which it was sent or will be sent. */
      idempotencyKey: Schema.String,
      /** In centavos. */
      amount: Centavos,
      check: Schema.optionalKey(Schema.String),
      since: Schema.optionalKey(Schema.DateTimeUtcFromString)
    })
  })
) {
  get concerns(): "Request" {
    return "Request"
  }
  override get message(): string {
    const { amount, idempotencyKey, state } = this.earlier
    const was = { Done: "was paid before", Unknown: "MAY HAVE BEEN PAID before", Submitted: "was submitted before" }[
      state
    ]
    const other = {
      key: `another key than ${idempotencyKey}`,
      amount: `another amount (${format(this.amount)})`,
      content: "another PIX key, description or metadata"
    }
    const same = this.differs.includes("key")
      ? "run it with the kind that it was sent under, because under another key it would be paid again"
      : "ask for what was asked for then"
    return `The reference ${this.reference} ${was}, for ${format(amount)}, and this payout has ${this.differs.map((part) => other[part]).join(" and ")}. It was not sent. If it is another payout, give it a reference of its own; if it is the same one, ${same}.`
  }
}

/** How many payouts one message names at most. */
const maxShown = 10

const whyWrong = (error: InvalidRequest | BelowMinimum | ReferenceConflict): string => {
  switch (error._tag) {
    case "InvalidRequest":
      return issuesInWords(error.issues)
    case "BelowMinimum":
      return `asks for ${format(error.amount)}, which is under the minimum of ${format(error.minimum)}`
    case "ReferenceConflict":
      return `was submitted before, with another ${error.differs.join(" and ")}`
  }
}

/** Some payouts of a `submitMany` are wrong, so none was accepted. `wrong` names each, in the order of the input. */
export class PayoutsNotAccepted extends legible(
  Schema.TaggedError<PayoutsNotAccepted>("effect-pix/PayoutsNotAccepted")("PayoutsNotAccepted", {
    outcome: Schema.Literal("NotSent"),
    wrong: Schema.NonEmptyArray(
      Schema.Struct({
        /** The item's place in the input, from 0. */
        index: Schema.Natural,
        /** The item's reference. Empty where its reference is not a text. */
        reference: Schema.String,
        /** The item's amount, in centavos. Absent where it is not a whole number of centavos. */
        amount: Schema.optionalKey(Centavos),
        error: Schema.Union([InvalidRequest, BelowMinimum, ReferenceConflict])
      })
    )
  })
) {
  get concerns(): "Request" {
    return "Request"
  }
  override get message(): string {
    const shown = this.wrong
      .slice(0, maxShown)
      .map((wrong) => `${wrong.reference} (index ${wrong.index}) ${whyWrong(wrong.error)}`)
    const more = this.wrong.length > maxShown ? `; and ${this.wrong.length - maxShown} more` : ""
    return `No payout was accepted. Correct ${this.wrong.length} and submit all of them again: ${shown.join("; ")}${more}.`
  }
}

/** Why no money moved: every failure of `requestWithdrawal` whose outcome is `NotSent` or `Rejected`, and two more. */
export const PayoutRefusal = Schema.Union([
  InvalidRequest,
  ...WithdrawalRefusal.members,
  AuthError,
  RateLimited,
  RequestRejected,
  ServiceUnavailable,
  DuplicateReference,
  ReferenceConflict
])
/** See the schema of the same name. */
export type PayoutRefusal = typeof PayoutRefusal.Type

/** Any failure of one payout. */
export type PayoutError = PayoutRefusal | OutcomeUnknown | IdempotencyConflict

const place = {
  /** The item's place in the input, from 0. */
  index: Schema.Natural,
  /** The item's reference. Empty where its reference is not a text. */
  reference: Schema.String,
  /** When this event was made. Absent where an older version stored it without a time. */
  at: Schema.optionalKey(Schema.DateTimeUtcFromString)
}
const keyed = {
  ...place,
  idempotencyKey: Schema.String,
  /** The item's amount, in centavos. */
  amount: Centavos
}
/** The item's amount, in centavos. Absent where it is not a whole number of centavos. */
const amountIfAny = Schema.optionalKey(Centavos)

const asked = {
  ...keyed,
  /**
   * Three hexadecimal digits made of the rest of the request, so that a later run notices another request under the same
   * reference. They identify no PIX key: about 50,000 CPFs share each value.
   */
  check: Schema.optionalKey(Schema.String)
}

/** When money may have moved first: the time of an earlier run, where the result of that run is not known either. */
const since = Schema.optionalKey(Schema.DateTimeUtcFromString)

/** The service recorded the withdrawal. `amount` is the item's, in centavos; `withdrawal.value` is in reais. */
export const PayoutDone = Schema.TaggedStruct("Done", { ...asked, withdrawal: Withdrawal })
/** See the schema of the same name. */
export interface PayoutDone extends Schema.Schema.Type<typeof PayoutDone> {}

/** No money moved: `error` says why. `amount` is in centavos. Without `idempotencyKey` it was never started. */
export const PayoutRefused = Schema.TaggedStruct("Refused", {
  ...place,
  idempotencyKey: Schema.optionalKey(Schema.String),
  amount: amountIfAny,
  /** The time of its `Started` event. Absent where it was refused before it was started. */
  startedAt: Schema.optionalKey(Schema.DateTimeUtcFromString),
  error: PayoutRefusal
})
/** See the schema of the same name. */
export interface PayoutRefused extends Schema.Schema.Type<typeof PayoutRefused> {}

const reasons = ["OverAmount", "OverTotal", "NotCovered", "BalanceUnknown", "Stopped"] as const

/**
 * Money may have moved. `amount` is in centavos. To find out, run the same reference again, soon: that is safe.
 *
 * With `held`, the result of an earlier run is not known, and nothing was sent in this run:
 *
 * - `KeyHorizon`: the earlier request was sent longer ago than the `keyHorizon`. The service may have forgotten the key.
 * - `Hold`: the option `hold` of the run.
 * - a reason of `PayoutNotStarted`.
 */
export const PayoutUnknown = Schema.TaggedStruct("Unknown", {
  ...asked,
  since,
  held: Schema.optionalKey(Schema.Literals(["KeyHorizon", "Hold", ...reasons])),
  error: Schema.Union([OutcomeUnknown, IdempotencyConflict])
})
/** See the schema of the same name. */
export interface PayoutUnknown extends Schema.Schema.Type<typeof PayoutUnknown> {}

/**
 * Nothing was sent for this item in this run, and no earlier run is known in which money may have moved for it.
 * `amount` is in centavos.
 *
 * - `OverAmount`: it is above `maxAmount`. The other items are paid.
 * - `OverTotal`: with it the run would exceed `maxTotal`. The run stopped here.
 * - `NotCovered`: the balance does not cover it. The run stopped here; of a list, nothing was started.
 * - `BalanceUnknown`: the balance could not be read, as `error` says. Nothing was started.
 * - `Stopped`: the run stopped at the failure `error` of another payout, by `stopOn`.
 */
export const PayoutNotStarted = Schema.TaggedStruct("NotStarted", {
  ...keyed,
  reason: Schema.Literals(reasons),
  /** The time of its `Started` event, if it was emitted before the run stopped. */
  startedAt: Schema.optionalKey(Schema.DateTimeUtcFromString),
  error: Schema.optionalKey(Schema.Union([PayoutRefusal, OutcomeUnknown, IdempotencyConflict, UnexpectedResponse]))
})
/** See the schema of the same name. */
export interface PayoutNotStarted extends Schema.Schema.Type<typeof PayoutNotStarted> {}

/** The identical item at `first` has the same reference. Nothing was sent for this one. `amount` is in centavos. */
export const PayoutRepeated = Schema.TaggedStruct("Repeated", {
  ...place,
  idempotencyKey: Schema.String,
  amount: amountIfAny,
  /** The place of the first one in the input, from 0. */
  first: Schema.Natural
})
/** See the schema of the same name. */
export interface PayoutRepeated extends Schema.Schema.Type<typeof PayoutRepeated> {}

/** The result of one item. Amounts are in centavos. `Schema.toCodecJson(PayoutResult)` writes it as JSON. */
export const PayoutResult = Schema.Union([PayoutDone, PayoutRefused, PayoutUnknown, PayoutNotStarted, PayoutRepeated])
/** See the schema of the same name. */
export type PayoutResult = PayoutDone | PayoutRefused | PayoutUnknown | PayoutNotStarted | PayoutRepeated

/** The payout is about to be sent: after this event its request may be under way. `amount` is in centavos. */
export const PayoutStarted = Schema.TaggedStruct("Started", { ...asked, since })
/** See the schema of the same name. */
export interface PayoutStarted extends Schema.Schema.Type<typeof PayoutStarted> {}

/** One step of a run. Amounts are in centavos. It can be stored, as a `PayoutResult`. */
export const PayoutEvent = Schema.Union([PayoutStarted, PayoutResult])
/** See the schema of the same name. */
export type PayoutEvent = PayoutStarted | PayoutResult

/** The results of a run, each list in the order of the input. Amounts are in centavos. It can be stored too. */
export const PayoutReport = Schema.Struct({
  done: Schema.Array(PayoutDone),
  refused: Schema.Array(PayoutRefused),
  unknown: Schema.Array(PayoutUnknown),
  notStarted: Schema.Array(PayoutNotStarted),
  repeated: Schema.Array(PayoutRepeated)
})
/** See the schema of the same name. */
export interface PayoutReport extends Schema.Schema.Type<typeof PayoutReport> {}

/**
 * The items could not be read to their end: their stream failed, or the stream or the list threw. The payouts that had
 * been started were finished, and are in the `report`.
 */
export class PayoutSourceFailed<E> extends Data.TaggedError("PayoutSourceFailed")<{
  /** The error of the stream. Absent where the stream or the list threw: see the `cause`. */
  readonly error?: E
  /** The whole failure. */
  readonly cause: Cause.Cause<E>
  /** The results of all items that were read. */
  readonly report: PayoutReport
}> {
  override get message(): string {
    return "The payouts could not be read to their end. What was paid until then is in the report; run it again with the same references."
  }
}
