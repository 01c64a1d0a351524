/**
 * What happened to a payout of the queue, and to the queue itself. The first change of a payout is its submit, which is read
 * from its row. Each later one is an entry that is written in the transaction that makes the change, and never edited. All
 * of it can be stored: `Schema.toCodecJson(PayoutChange)` writes JSON.
 *
 * Gotchas:
 * - `by` and `note` are the words of your operators. They are stored and shown as they were given: put no person's data
 *   into them, such as the name or the PIX key of a payee.
 */
import * as Schema from "effect/Schema"
import { IdempotencyConflict, OutcomeUnknown } from "../contract/PaymentsError.ts"
import { Person } from "../durable/Step.ts"
import { Centavos } from "../pix/Money.ts"
import { PayoutRefusal } from "./Payout.ts"
import { becauseOf } from "./PayoutBecause.ts"
import { JudgedAs } from "./PayoutSentence.ts"
import { PayoutState } from "./PayoutState.ts"

const changed = {
  /** When it was written, by the clock of the process that wrote it. */
  at: Schema.DateTimeUtcFromString,
  /** The state after the change. */
  state: PayoutState,
  /** When the first request whose result is not known after the change may have left. */
  mayHaveLeftAt: Schema.optionalKey(Schema.DateTimeUtcFromString)
}

/**
 * One change of a payout:
 *
 * | change | meaning |
 * |---|---|
 * | `Submitted` | it was accepted, from the person that its item named; `amount` is in centavos |
 * | `Marked` | its request number `request` was about to be sent |
 * | `Answered` | what the answer made of it: `Recorded` with a `withdrawalId`, `Refused` or `Unknown` with an `error`; `Refused` by a record with both |
 * | `LookedUp` | a lookup of its withdrawal said how it ended: `state`; `word` is the service's |
 * | `Contradicted` | the service says, `by` an answer or a lookup, that it was executed where `failed` is stored, or that it failed where `paid` is: a person decides |
 * | `Doubted` | the database is another one, as after a failover, and may have lost the mark of a request: it is sent again under its key |
 * | `Parked` | a worker parked it, or a person where `because` is `Operator` |
 * | `Retried`, `Resumed`, `Settled` | a person's step; `state` is that of the step |
 * | `Judged` | a person said what the sentence of its refusal means, `as` a refusal or a wait: of all that it parked |
 * | `Cancelled` | a person's step, before anything left |
 * | `Forgotten` | the data of its payee was deleted at once, as a person wanted |
 *
 * A result that changes nothing has no entry, such as a request that is lost after its payout was parked or settled.
 */
export const PayoutChange = Schema.Union([
  Schema.TaggedStruct("Submitted", { ...changed, amount: Centavos, by: Schema.optionalKey(Schema.String) }),
  Schema.TaggedStruct("Marked", { ...changed, request: Schema.Int }),
  Schema.TaggedStruct("Answered", {
    ...changed,
    answer: Schema.Literals(["Recorded", "Refused", "Unknown"]),
    withdrawalId: Schema.optionalKey(Schema.Int),
    error: Schema.optionalKey(Schema.Union([PayoutRefusal, OutcomeUnknown, IdempotencyConflict]))
  }),
  Schema.TaggedStruct("LookedUp", { ...changed, withdrawalId: Schema.Int, word: Schema.optionalKey(Schema.String) }),
  Schema.TaggedStruct("Contradicted", {
    ...changed,
    withdrawalId: Schema.Int,
    by: Schema.Literals(["answer", "lookup"]),
    word: Schema.optionalKey(Schema.String)
  }),
  Schema.TaggedStruct("Doubted", changed),
  Schema.TaggedStruct("Parked", { ...changed, because: becauseOf.parked, ...Person.fields }),
  Schema.TaggedStruct("Retried", { ...changed, ...Person.fields }),
  Schema.TaggedStruct("Resumed", { ...changed, ...Person.fields }),
  Schema.TaggedStruct("Settled", { ...changed, ...Person.fields }),
  Schema.TaggedStruct("Judged", { ...changed, as: JudgedAs, ...Person.fields }),
  Schema.TaggedStruct("Cancelled", { ...changed, ...Person.fields }),
  Schema.TaggedStruct("Forgotten", { ...changed, ...Person.fields })
])
/** See the schema of the same name. */
export type PayoutChange = typeof PayoutChange.Type

/** One call of `setPaused`, which stopped or started the workers. */
export const PauseChange = Schema.Struct({
  /** When it was written, by the clock of the process that wrote it. */
  at: Schema.DateTimeUtcFromString,
  paused: Schema.Boolean,
  ...Person.fields
})
/** See the schema of the same name. */
export interface PauseChange extends Schema.Schema.Type<typeof PauseChange> {}

/** The limits of an account that its user knows; null: none. Absent: as it was. */
const PayoutLimits = Schema.Struct({
  /** At most so many requests in so much time, one after the other. */
  pace: Schema.optionalKey(Schema.NullOr(Schema.Struct({ most: Schema.Int, per: Schema.Duration }))),
  /** The times of a day of São Paulo between which what is not in doubt is sent, as `08:00` and `20:00`. */
  window: Schema.optionalKey(Schema.NullOr(Schema.Struct({ from: Schema.String, to: Schema.String }))),
  /** The sum that may be sent in a day of São Paulo, in centavos. */
  dailyCap: Schema.optionalKey(Schema.NullOr(Centavos)),
  /** The largest amount of one payout, in centavos. */
  maxAmount: Schema.optionalKey(Schema.NullOr(Centavos))
})

/**
 * One step of an account, which changed what it has: its `fingerprint` (`changeSender`), or its limits (`setLimits`, or
 * without a person the options of the first layer that had them). Amounts are in centavos.
 */
export const AccountChange = Schema.Struct({
  /** When it was written, by the clock of the process that wrote it. */
  at: Schema.DateTimeUtcFromString,
  /** The fingerprint of the new sender. */
  fingerprint: Schema.optionalKey(Schema.String),
  ...PayoutLimits.fields,
  ...Person.fields
})
/** See the schema of the same name. */
export interface AccountChange extends Schema.Schema.Type<typeof AccountChange> {}

/** An account of the queue. All of it can be stored. Amounts are in centavos. */
export const PayoutAccount = Schema.Struct({
  /** Its name: the option `account`. */
  account: Schema.String,
  /** Since when workers serve it, without a gap longer than the horizon. Absent: none ever did, and nothing of it is sent. */
  servedAt: Schema.optionalKey(Schema.DateTimeUtcFromString),
  /**
   * A hash of the base URL, the client id and the company under which its payouts are sent. Absent until a worker whose
   * `Payments` is the client's own has served it.
   */
  fingerprint: Schema.optionalKey(Schema.String),
  companyId: Schema.optionalKey(Schema.Int),
  paused: Schema.Boolean,
  /** The last `setPaused`, with who called it and why. Absent if there was none. */
  lastPause: Schema.optionalKey(PauseChange),
  /**
   * Since when the service refuses its payouts alike, or leaves them in doubt, and why. One payout is tried at a time, until the service takes one, or refuses
   * one by itself.
   */
  refusedSince: Schema.optionalKey(Schema.Struct({ at: Schema.DateTimeUtcFromString, because: becauseOf.accepted })),
  ...PayoutLimits.fields,
  /** Each change of its sender and of its limits, the oldest first. */
  changes: Schema.Array(AccountChange)
})
/** See the schema of the same name. */
export interface PayoutAccount extends Schema.Schema.Type<typeof PayoutAccount> {}
