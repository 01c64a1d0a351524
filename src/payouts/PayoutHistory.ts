/**
 * What happened to a payout of the queue, and to the queue itself. The first change of a payout is its submit, which is read
 * from its row. Each later one is an entry that is written in the transaction that makes the change, and never edited. All
 * of it can be stored: `Schema.toCodecJson(PayoutChange)` writes JSON.
 *
 * Gotchas:
 * - `by` and `note` are the words of your operators. They are stored and shown as they were given: put no person's data
 *   into them, such as the name or the PIX key of a payee.
 * - The history of a payout is forgotten together with its row (`forget.references`).
 */
import * as Schema from "effect/Schema"
import { IdempotencyConflict, OutcomeUnknown } from "../contract/PaymentsError.ts"
import { Person } from "../durable/Step.ts"
import { Centavos } from "../pix/Money.ts"
import { PayoutRefusal } from "./Payout.ts"
import { ParkedBecause, PayoutState } from "./PayoutStatus.ts"

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
 * | `Submitted` | it was accepted; `amount` is in centavos |
 * | `Marked` | its request number `request` was about to be sent |
 * | `Answered` | what the answer made of it: `Recorded` with a `withdrawalId`, `Refused` or `Unknown` with an `error` |
 * | `Contradicted` | the service recorded it after it had been settled as failed: money may have moved |
 * | `Parked` | a worker parked it, or a person where `because` is `Operator` |
 * | `Retried`, `Resumed`, `Settled` | a person's step. `notExecuted` is what the person said; `state` is that of the step |
 *
 * A result that changes nothing has no entry, such as a request that is lost after its payout was parked or settled.
 */
export const PayoutChange = Schema.Union([
  Schema.TaggedStruct("Submitted", { ...changed, amount: Centavos }),
  Schema.TaggedStruct("Marked", { ...changed, request: Schema.Int }),
  Schema.TaggedStruct("Answered", {
    ...changed,
    answer: Schema.Literals(["Recorded", "Refused", "Unknown"]),
    withdrawalId: Schema.optionalKey(Schema.Int),
    error: Schema.optionalKey(Schema.Union([PayoutRefusal, OutcomeUnknown, IdempotencyConflict]))
  }),
  Schema.TaggedStruct("Contradicted", { ...changed, withdrawalId: Schema.Int }),
  Schema.TaggedStruct("Parked", { ...changed, because: ParkedBecause, ...Person.fields }),
  Schema.TaggedStruct("Retried", { ...changed, ...Person.fields }),
  Schema.TaggedStruct("Resumed", { ...changed, notExecuted: Schema.Boolean, ...Person.fields }),
  Schema.TaggedStruct("Settled", { ...changed, ...Person.fields })
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
