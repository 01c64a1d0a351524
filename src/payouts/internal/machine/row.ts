/**
 * A payout as it is in the table. What may happen to it is in `edges.ts`.
 *
 * - `mayHaveLeftAt` is the mark: a request may have left, and whether it was executed is not known. It is committed
 *   before the first byte of a request. While it is set, no refusal proves that nothing moved.
 * - `sends` counts the marks, so that a process that was stopped for longer than its lease cannot clear the mark of the
 *   process that took over.
 * - A field has the name of its column: `mayHaveLeftAt` is `may_have_left_at`.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { IdempotencyConflict, OutcomeUnknown } from "../../../contract/PaymentsError.ts"
import { Reais } from "../../../pix/Money.ts"
import { PayoutRefusal } from "../../Payout.ts"
import { PayoutState } from "../../PayoutState.ts"
import { Bool, Int, orNull, startingAt } from "./columns.ts"

/** One row. What `Row.make` is not given has the default of the table. Times are in milliseconds since 1970. */
export const Row = Schema.Struct({
  account: Schema.String,
  idempotencyKey: Schema.String,
  reference: Schema.String,
  /** In centavos. */
  amount: Int,
  /** The request as JSON, sealed where the user seals it; deleted after `forget.data`, or by `forget`. */
  request: orNull(Schema.String),
  state: PayoutState.pipe(Schema.withConstructorDefault(Effect.succeed("accepted" as const))),
  /** Who submitted it, as the item's `by` says. */
  submittedBy: orNull(Schema.String),
  sends: startingAt(0),
  /** When the first request whose result is not known may have left. */
  mayHaveLeftAt: orNull(Int),
  /** The fingerprint of the sender of that request. */
  fingerprint: orNull(Schema.String),
  /** When its last request was marked, whatever became of it. */
  markedAt: orNull(Int),
  /** Until when that request may be under way: the lease of its worker and the deadline of its call are over then. Null: it was answered. */
  underWayUntil: orNull(Int),
  /**
   * Since when it is wanted, by the clock of the database: its submit, or the last step of a person who wanted it sent. A wait
   * that is not counted moves it forward.
   */
  wantedAt: startingAt(0),
  /** Why it waits, is in doubt or is parked, as a `PayoutBecause`; a newer version may have written another word. */
  because: orNull(Schema.String),
  /** Since when it waits for that, while it is accepted. */
  waitsSince: orNull(Int),
  /** The day whose cap it counts against, while it may have moved money. */
  countedDay: orNull(Schema.String),
  /** Before this time, by the clock of the database, it is not sent. */
  notBefore: orNull(Int),
  /** The number of its record: only an answer to its own key says it. */
  withdrawalId: orNull(Int),
  /** The service's word for the state of its withdrawal, if it is a plain one. */
  word: orNull(Schema.String),
  endToEndId: orNull(Schema.String),
  /** The `value` of its record in reais, as a decimal text. */
  value: orNull(Schema.String),
  /** The `updateDate` of the newest record that was read. */
  recordedAt: orNull(Int),
  /**
   * What was said last of how it ended: as its state, or else a claim, which a person or a lookup ends; `unlisted` of a posted one whose
   * word no table has.
   */
  endedAs: orNull(Schema.String),
  /** Who said what its state says, as an `EndedBy`, and when that was stored. */
  endedBy: orNull(Schema.String),
  endedAt: orNull(Int),
  /** Whether it was the service that said `endedAs` against the state: a person decides. */
  contradicted: Bool.pipe(Schema.withConstructorDefault(Effect.succeed(false))),
  /** How often its withdrawal was looked up. Null: no lookup of it is due. */
  lookups: orNull(Int),
  /** The service's words for why it failed or was refused, sealed; absent where nothing seals. */
  reason: orNull(Schema.String),
  /** The payee that the record names, as JSON, sealed as the request is; deleted with it. */
  payee: orNull(Schema.String),
  /** The last failure, as JSON. */
  error: orNull(Schema.String),
  /** The digest of the sentence that is its only answer, which the client does not know. */
  digest: orNull(Schema.String),
  submittedAt: Int,
  updatedAt: Int,
  /** Counts the changes: a change names the version that it was made from. */
  version: startingAt(1)
})
export interface Row extends Schema.Schema.Type<typeof Row> {}

/**
 * A number of payouts, the time of the oldest, and their sum: those that are to be sent or decided, by their state and why;
 * those that are posted; and those that a person has to check, by the cause.
 */
export const Count = Schema.Struct({
  of: Schema.Literals(["Waits", "Posted", "ToCheck"]),
  state: PayoutState,
  cause: orNull(Schema.String),
  /** The unlisted word. */
  word: orNull(Schema.String),
  count: Int,
  oldest: Int,
  /** In centavos. */
  amount: Int
})
export interface Count extends Schema.Schema.Type<typeof Count> {}

/** What a step changes. */
export type Changes = Partial<
  Omit<Row, "account" | "idempotencyKey" | "reference" | "amount" | "version" | "updatedAt" | "submittedAt">
>

/** The states in which a worker has something to do. */
export const openStates: ReadonlyArray<PayoutState> = ["accepted", "unknown"]
export const isOpen = ({ state }: Pick<Row, "state">): boolean => openStates.includes(state)

const Failure = Schema.fromJsonString(
  Schema.toCodecJson(Schema.Union([PayoutRefusal, OutcomeUnknown, IdempotencyConflict]))
)
export const writeFailure = Schema.encodeSync(Failure)
const readFailure = Schema.decodeUnknownOption(Failure)

/** The last failure of a row, if it can be read. */
export const failureOf = ({ error }: Row) => Option.getOrUndefined(readFailure(error))

/** The stored text of an amount in reais. */
export const reaisText = Schema.encodeSync(Schema.toCodecJson(Reais)) as (value: Reais) => string // its codec writes a text
/** Reads a stored amount in reais. */
export const readReais = Schema.decodeOption(Schema.toCodecJson(Reais))
