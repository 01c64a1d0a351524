/**
 * The status of a payout that was submitted to the queue.
 */
import * as Schema from "effect/Schema"
import { IdempotencyConflict, OutcomeUnknown, WithdrawalFailed } from "../contract/PaymentsError.ts"
import { Centavos, Reais } from "../pix/Money.ts"
import { PayoutRefusal } from "./Payout.ts"
import { becauseOf } from "./PayoutBecause.ts"
import { EndedBy } from "./PayoutState.ts"

const Unclear = Schema.Union([OutcomeUnknown, IdempotencyConflict])

const common = {
  /** Your reference. */
  reference: Schema.String,
  /** The key that the service knows it by: made from the reference alone, the same for ever. */
  idempotencyKey: Schema.String,
  /** In centavos. */
  amount: Centavos,
  submittedAt: Schema.DateTimeUtcFromString,
  /** Who submitted it, as the `by` of its item says. */
  submittedBy: Schema.optionalKey(Schema.String),
  /** When its row was last changed: by a step, a request or an answer, or since it has to wait. */
  updatedAt: Schema.DateTimeUtcFromString,
  /** Before this time it is not sent. */
  notBefore: Schema.optionalKey(Schema.DateTimeUtcFromString),
  /**
   * What is said last of how it ended, against its state: by a webhook, which anybody may have written, or where it is `contradicted`
   * by the service. One of failure or return is not replaced by one of success. A lookup or a person ends it.
   */
  claimed: Schema.optionalKey(Schema.Literals(["paid", "failed", "returned"])),
  /**
   * A person has to find out how it ended: it is contradicted, claimed to have ended, not confirmed, or posted with a word that no
   * table has. Such a word ends nothing, and nothing is sent again: list it in `GatewayFacts`, or `settle` the payout. A lookup with a
   * listed word ends it too.
   */
  toCheck: Schema.optionalKey(Schema.Literal(true))
}
/** When the first request whose result is not known may have left. Absent: no request of it is in doubt. */
const mayHaveLeftAt = Schema.optionalKey(Schema.DateTimeUtcFromString)
/** A request of it is not answered, and may be under way until then. Absent: each was answered. */
const underWayUntil = Schema.optionalKey(Schema.DateTimeUtcFromString)
const record = {
  /** The number of its record at the service. */
  withdrawalId: Schema.optionalKey(Schema.Int),
  /**
   * The service's word for the state of that record: `Awaiting`, `Pending`, `Failure`. A text that is no single word may be a
   * person's name, and is not stored.
   */
  withdrawalStatus: Schema.optionalKey(Schema.String),
  /** The end-to-end id of the PIX, by which a bank finds it. */
  endToEndId: Schema.optionalKey(Schema.String),
  /** The `value` of the record, in reais: what differs from `amount` may be a fee. */
  value: Schema.optionalKey(Reais)
}
const end = {
  /** Who said so. */
  by: EndedBy,
  /** When that was stored. */
  endedAt: Schema.DateTimeUtcFromString,
  ...record,
  /** The service says that it was paid where it is `failed`, or that it failed where it is `paid`. A person decides: `settle`. */
  contradicted: Schema.optionalKey(Schema.Literal(true))
}

const Accepted = Schema.TaggedStruct("Accepted", {
  state: Schema.Literal("accepted"),
  ...common,
  /** What it waits for, by itself or with its account. Absent while it waits for a worker alone. */
  because: Schema.optionalKey(becauseOf.accepted),
  error: Schema.optionalKey(PayoutRefusal)
})
interface Accepted extends Schema.Schema.Type<typeof Accepted> {}
const Posted = Schema.TaggedStruct("Posted", {
  state: Schema.Literal("posted"),
  ...common,
  ...record,
  /** Lookups did not say for as long as `confirm` says how it ended: nothing looks it up any more. */
  unconfirmed: Schema.optionalKey(Schema.Literal(true))
})
interface Posted extends Schema.Schema.Type<typeof Posted> {}
const Paid = Schema.TaggedStruct("Paid", { state: Schema.Literal("paid"), ...common, ...end })
interface Paid extends Schema.Schema.Type<typeof Paid> {}
const Failed = Schema.TaggedStruct("Failed", {
  state: Schema.Literal("failed"),
  ...common,
  ...end,
  /** The record by which the service refused it, where `by` is `answer`. */
  error: Schema.optionalKey(WithdrawalFailed)
})
interface Failed extends Schema.Schema.Type<typeof Failed> {}
const Returned = Schema.TaggedStruct("Returned", { state: Schema.Literal("returned"), ...common, ...end })
interface Returned extends Schema.Schema.Type<typeof Returned> {}
const Refused = Schema.TaggedStruct("Refused", {
  state: Schema.Literal("refused"),
  ...common,
  /** A person judged its refusal, which is no proof: its request left then. */
  mayHaveLeftAt: Schema.optionalKey(mayHaveLeftAt),
  error: PayoutRefusal
})
interface Refused extends Schema.Schema.Type<typeof Refused> {}
const Unknown = Schema.TaggedStruct("Unknown", {
  state: Schema.Literal("unknown"),
  ...common,
  mayHaveLeftAt,
  underWayUntil,
  /** No request of it is known to have left. Absent while one is under way, or asked again. */
  because: Schema.optionalKey(becauseOf.unknown),
  /** Absent while a request is under way: see `underWayUntil`. */
  error: Schema.optionalKey(Unclear)
})
interface Unknown extends Schema.Schema.Type<typeof Unknown> {}
const Parked = Schema.TaggedStruct("Parked", {
  state: Schema.Literal("parked"),
  ...common,
  because: becauseOf.parked,
  /** Of `SeeRecord`: the field of the record. */
  differs: Schema.optionalKey(Schema.Literals(["companyId", "pixKey", "enTransaction"])),
  mayHaveLeftAt,
  underWayUntil,
  ...record,
  error: Schema.optionalKey(Schema.Union([PayoutRefusal, Unclear]))
})
interface Parked extends Schema.Schema.Type<typeof Parked> {}
const Cancelled = Schema.TaggedStruct("Cancelled", { state: Schema.Literal("cancelled"), ...common })
interface Cancelled extends Schema.Schema.Type<typeof Cancelled> {}

/**
 * What is known of one payout, by its `state`. Its `amount` is in centavos.
 *
 * | state | meaning |
 * |---|---|
 * | `accepted` | it will be sent, and nothing can have left; `error` is why its last request moved none |
 * | `posted` | the service recorded it. That is not paid: `withdrawalStatus` is the word of that moment |
 * | `paid` | it was paid: `by` says who said so |
 * | `failed` | it was not paid, and nothing sends it any more; `by` says who said so |
 * | `returned` | it was paid, and the money came back |
 * | `refused` | no request of this queue moved money; a single call, or another file, may have used the reference. `error` says why; `retry` sends it again |
 * | `unknown` | money may have moved: a request is under way until `underWayUntil` at the latest, or, with an `error`, it is sent again with the same key |
 * | `parked` | it waits for a person, and is not sent; with `mayHaveLeftAt` money may have moved |
 * | `cancelled` | a person cancelled it, and nothing of this queue left |
 *
 * Gotchas:
 * - Nothing is ever sent again by itself once it is `posted`. A payout that failed or came back is paid again under a new reference.
 * - `error` has the cause, the status and the code of the service, and not its words, which may name a person. The worker's log
 *   line has them, masked, and `PayoutQueue.payee` where the queue has a `seal`.
 *
 * ```ts
 * import type { PayoutStatus } from "effect-pix/payouts"
 *
 * const isToCheck = (status: PayoutStatus) => "toCheck" in status && status.toCheck === true
 * // Whether a customer may be told that the money is there: not of `posted`.
 * const isThere = (status: PayoutStatus) => status.state === "paid" && !isToCheck(status)
 * // Whether a person has to look at it.
 * const needsPerson = (status: PayoutStatus) => status.state === "parked" || isToCheck(status)
 * ```
 */
export const PayoutStatus = Schema.Union([
  Accepted,
  Posted,
  Paid,
  Failed,
  Returned,
  Refused,
  Unknown,
  Parked,
  Cancelled
])
/** See the schema of the same name. */
export type PayoutStatus = Accepted | Posted | Paid | Failed | Returned | Refused | Unknown | Parked | Cancelled

/**
 * Whom a recorded withdrawal names as its payee, and why the service refused one or it failed. It is a person's data, stored as the
 * request is: under the queue's `seal`, and as long. `Document.matches` compares the document with the one of the person whom you meant to pay.
 */
export const PayoutPayee = Schema.Struct({
  /** The document of the creditor, which the service may mask. */
  creditorDocument: Schema.optionalKey(Schema.String),
  /** The PIX key of the record, as the service writes it. */
  pixKey: Schema.optionalKey(Schema.String),
  /**
   * The service's words for the last refusal or failure, masked as in an error. They may name a person all the same, so they are
   * stored only where the queue has a `seal`.
   */
  reason: Schema.optionalKey(Schema.String)
})
/** See the schema of the same name. */
export interface PayoutPayee extends Schema.Schema.Type<typeof PayoutPayee> {}
