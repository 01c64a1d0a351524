/**
 * One payout of many, and why one is not accepted.
 */
import type * as DateTime from "effect/DateTime"
import * as Schema from "effect/Schema"
import { legible } from "../internal/legible.ts"
import { issuesInWords } from "../contract/Outcome.ts"
import { Centavos, format } from "../pix/Money.ts"
import {
  AuthError,
  BelowMinimum,
  InsufficientBalance,
  InvalidRequest,
  LimitReached,
  NoPixKey,
  RateLimited,
  RequestRejected,
  ServiceUnavailable,
  WithdrawalFailed
} from "../contract/PaymentsError.ts"
import type { WithdrawalRequest } from "../contract/Withdrawal.ts"
import type { Unclear } from "../contract/WriteOptions.ts"

/**
 * One payout: a withdrawal request (amount in centavos) and your own reference for it, such as an invoice number. The
 * reference is not sent; the key that is made from it is.
 */
export type PayoutItem = WithdrawalRequest & {
  readonly reference: string
  /**
   * Who submits it, as your program names its users: 1 to 100 characters. It is stored and not sent, and is no part of the request:
   * the first one stays.
   */
  readonly by?: string | undefined
  /**
   * Before this time it is not sent, by the clock of the database; it is wanted since then. The first one stays. Default: it
   * is sent at once.
   */
  readonly notBefore?: DateTime.DateTime | undefined
  /**
   * The error with which a single call (`requestWithdrawal` with the key of this reference) ended, where money may have moved, decoded
   * by its schema if it was stored. The payout begins as `unknown`: it is asked for again under its key and its sender, within the
   * horizon of that call, and no refusal proves that nothing moved. Where the reference was submitted without it, and no request of it is in doubt, it is refused: park
   * that payout, look in the panel, and settle it. Not together with `notBefore`.
   */
  readonly after?: Unclear | undefined
  /** `"Unknown"`: the same, of a single call that left no error, as where its process ended. Its time is that of the submit. */
  readonly earlier?: "Unknown" | undefined
}

/**
 * The reference was submitted before, with another amount or another content. This payout was not accepted: one reference is one payout, for ever.
 */
export class ReferenceConflict extends legible(
  Schema.TaggedError<ReferenceConflict>("effect-pix/ReferenceConflict")("ReferenceConflict", {
    outcome: Schema.Literal("NotSent"),
    reference: Schema.String,
    /** The amount of this payout, in centavos. */
    amount: Centavos,
    /** What differs from the payout that was submitted. `content` is any other part of the request, such as the PIX key. */
    differs: Schema.Array(Schema.Literals(["amount", "content"])),
    /** The payout that was submitted. */
    earlier: Schema.Struct({
      idempotencyKey: Schema.String,
      /** In centavos. */
      amount: Centavos,
      /** When it was submitted. */
      since: Schema.DateTimeUtcFromString
    })
  })
) {
  get concerns(): "Request" {
    return "Request"
  }
  override get message(): string {
    const other = {
      amount: `another amount (${format(this.amount)})`,
      content: "another PIX key, description or metadata"
    }
    return `The reference ${this.reference} was submitted before, for ${format(this.earlier.amount)}, and this payout has ${this.differs.map((part) => other[part]).join(" and ")}. It was not accepted. If it is another payout, give it a reference of its own; if it is the same one, ask for what was asked for then.`
  }
}

/**
 * Another reference has the same PIX key and the same amount: in the same sheet, or submitted within 24 hours before it. Nothing
 * was accepted. If both are meant, name this reference in `allowAlike`.
 */
export class LooksAlike extends legible(
  Schema.TaggedError<LooksAlike>("effect-pix/LooksAlike")("LooksAlike", {
    outcome: Schema.Literal("NotSent"),
    reference: Schema.String,
    /** In centavos. */
    amount: Centavos,
    /** The reference of the other payout. */
    other: Schema.String
  })
) {
  get concerns(): "Request" {
    return "Request"
  }
  override get message(): string {
    return `The payout ${this.reference} of ${format(this.amount)} looks like ${this.other}: the same PIX key and the same amount. It was not accepted. If both are to be paid, run it with allowAlike.`
  }
}

/** How many payouts one message names at most. */
const maxShown = 10

const LineError = Schema.Union([InvalidRequest, BelowMinimum, ReferenceConflict, LooksAlike])

const whyWrong = (error: typeof LineError.Type): string => {
  switch (error._tag) {
    case "InvalidRequest":
      return issuesInWords(error.issues)
    case "BelowMinimum":
      return `asks for ${format(error.amount)}, which is under the minimum of ${format(error.minimum)}`
    case "ReferenceConflict":
      return `was submitted before, with another ${error.differs.join(" and ")}`
    case "LooksAlike":
      return `looks like ${error.other}: the same PIX key and the same amount`
  }
}

/** Some payouts of a `submitMany` or of a run are wrong, so none was accepted. `wrong` names each, in the order of the input. */
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
        error: LineError
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

/** Why a request moved no money: every failure of `requestWithdrawal` whose outcome is `NotSent` or `Rejected`. */
export const PayoutRefusal = Schema.Union([
  InvalidRequest,
  BelowMinimum,
  InsufficientBalance,
  LimitReached,
  NoPixKey,
  WithdrawalFailed,
  AuthError,
  RateLimited,
  RequestRejected,
  ServiceUnavailable
])
/** See the schema of the same name. */
export type PayoutRefusal = typeof PayoutRefusal.Type
