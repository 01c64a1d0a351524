/**
 * Many payouts: a list or a stream of withdrawals with business references, paid with bounded concurrency.
 *
 * The key of each payout is made from its reference (`IdempotencyKey.fromReference`), so that **running it again with
 * the same references repeats no payout**: after a crash, an interruption or a stop, run the whole list again. That
 * holds as long as the service remembers the keys; it does not document for how long.
 *
 * Every item of the input gets exactly one result:
 *
 * | result | money |
 * |---|---|
 * | `Done` | the service took the withdrawal on |
 * | `Refused` | nothing moved: refused by the service, found wrong before, or provably not sent |
 * | `Unknown` | may have moved. Run the same references again to learn it; never under another reference |
 * | `NotStarted` | nothing was sent: the run stopped before it, or a limit of the run kept it back |
 * | `Repeated` | an identical item with this reference came before; that one has the result |
 *
 * Gotchas:
 * - A stop lets what is under way finish. An interruption does not: the client logs each write that it cuts off, with
 *   its key, and tells `PaymentsPolicy.onInterruptedWrite`. The report is lost then; take `streamWithdrawals` and store
 *   its events where you want to know what was started.
 * - The rest of the input is read after a stop too, to be listed as not started. Cut an endless stream yourself.
 * - A limit judges the list in its order and by its amounts, whether or not an earlier run has paid some of them. Give
 *   what earlier runs answered as `previous`, and what is done counts no more.
 */
import * as Data from "effect/Data"
import * as Schema from "effect/Schema"
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type { BalanceOptions } from "./Balance.ts"
import { Centavos } from "./Money.ts"
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
} from "./PaymentsError.ts"
import { Withdrawal, type WithdrawalRequest } from "./Withdrawal.ts"

/**
 * One payout: a withdrawal request (amount in centavos) and your own reference for it, such as an invoice number. The
 * reference is not sent; the key that is made from it is.
 */
export type PayoutItem = WithdrawalRequest & { readonly reference: string }

/** Many payouts, in a list or in a stream. */
export type PayoutItems<E = never, R = never> = Iterable<PayoutItem> | Stream.Stream<PayoutItem, E, R>

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

/** How to pay many. An option that makes no sense, such as a concurrency of 0, is a defect. */
export interface PayoutOptions {
  /** How many requests may be under way at the same time. Default 4. */
  readonly concurrency?: number | undefined
  /** The kind of the references, for `IdempotencyKey.fromReference`. Default `payout`. */
  readonly kind?: string | undefined
  /** The most that one payout may be, in centavos; what is above is not started. Default: no limit. */
  readonly maxAmount?: Centavos | undefined
  /**
   * The most that the run may start, in centavos, whatever becomes of it. At the first item that would go beyond, the
   * run stops. Default: no limit.
   */
  readonly maxTotal?: Centavos | undefined
  /**
   * Reads the balance once, before anything is sent: `true`, or whose balance. A list that it does not cover is not
   * started; a stream stops at the first item that its running sum does not cover. Default: no check.
   */
  readonly checkBalance?: boolean | BalanceOptions | undefined
  /**
   * At which failures nothing more is started: tags of errors or outcomes, or a predicate. Default
   * `["Unknown", "InsufficientBalance"]`. An `AuthError` always stops.
   */
  readonly stopOn?:
    | ReadonlyArray<PayoutError["_tag"] | PayoutError["outcome"]>
    | ((error: PayoutError) => boolean)
    | undefined
  /**
   * What earlier runs of the same references answered, as stored results or events. What is `Done` in it, under the
   * same key and for the same amount, is reported as it is: nothing is sent for it, and it counts towards no limit.
   */
  readonly previous?: Iterable<PayoutEvent> | undefined
}

/** Pays many and answers the report at the end. Only a stream of items that can fail makes it fail. */
export interface RequestWithdrawals {
  <R = never>(items: PayoutItems<never, R>, options?: PayoutOptions): Effect.Effect<PayoutReport, never, R>
  <E, R = never>(
    items: PayoutItems<E, R>,
    options?: PayoutOptions
  ): Effect.Effect<PayoutReport, PayoutSourceFailed<E>, R>
}

/**
 * Pays many and tells each step as it comes. A slow reader slows the run down; a reader that goes away interrupts it,
 * with what is under way. It fails only as the stream of items fails, after everything that was started.
 */
export type StreamWithdrawals = <E = never, R = never>(
  items: PayoutItems<E, R>,
  options?: PayoutOptions
) => Stream.Stream<PayoutEvent, E, R>
