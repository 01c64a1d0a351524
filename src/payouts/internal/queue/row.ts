/**
 * A payout as it is in the table, and every step that it may take. Nothing here reads or writes: a step is a function
 * from a row to what changes in it.
 *
 * - `mayHaveLeftAt` is the mark: a request may have left, and whether it was executed is not known. It is committed
 *   before the first byte of a request. While it is set, no refusal proves that nothing moved.
 * - `sends` counts the marks, so that a process that was stopped for longer than its lease cannot clear the mark of the
 *   process that took over.
 * - A field has the name of its column: `mayHaveLeftAt` is `may_have_left_at`.
 */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import * as String from "effect/String"
import * as Struct from "effect/Struct"
import { isPastHorizon } from "../../../internal/horizon.ts"
import { Centavos } from "../../../pix/Money.ts"
import { IdempotencyConflict, OutcomeUnknown } from "../../../contract/PaymentsError.ts"
import { PayoutRefusal } from "../../Payout.ts"
import { type ParkedBecause, PayoutState, PayoutStatus } from "../../PayoutStatus.ts"
import { isPassing, type Known, unseen } from "../machine.ts"

/** A driver may give a BIGINT as a number, a bigint or a text. */
const Int = Schema.Union([Schema.Finite, Schema.BigInt, Schema.String]).pipe(
  Schema.decodeTo(Schema.Int, {
    decode: SchemaGetter.transform(Number),
    encode: SchemaGetter.transform((int: number) => int)
  })
)

const orNull = <S extends Schema.Constraint & Schema.WithoutConstructorDefault>(schema: S) =>
  Schema.NullOr(schema).pipe(Schema.withConstructorDefault(Effect.succeed(null)))

const startingAt = (count: number) => Int.pipe(Schema.withConstructorDefault(Effect.succeed(count)))

/** One row. What `Row.make` is not given has the default of the table. Times are in milliseconds since 1970. */
export const Row = Schema.Struct({
  idempotencyKey: Schema.String,
  reference: Schema.String,
  /** In centavos. */
  amount: Int,
  /** The request as JSON, sealed where the user seals it; deleted after `forget.data`. */
  request: orNull(Schema.String),
  /** A short check of the request, which is compared after the request was deleted. */
  requestCheck: Schema.String,
  state: PayoutState.pipe(Schema.withConstructorDefault(Effect.succeed("accepted" as const))),
  /** The number of its current element in the queue. 0: it has none. */
  generation: startingAt(0),
  sends: startingAt(0),
  mayHaveLeftAt: orNull(Int),
  /** The day whose cap it counts against, while it may have moved money. */
  countedDay: orNull(Schema.String),
  withdrawalId: orNull(Int),
  /** The last failure, as JSON. */
  error: orNull(Schema.String),
  /** A `ParkedBecause`; a newer version may have written another word. */
  parkedBecause: orNull(Schema.String),
  submittedAt: Int,
  updatedAt: Int,
  /** Counts the changes: a change names the version that it was made from. */
  version: startingAt(1)
})
export interface Row extends Schema.Schema.Type<typeof Row> {}

/** The number of payouts of a state, the time of the oldest, and their sum in centavos. */
export const Count = Schema.Struct({ state: PayoutState, count: Int, oldest: Int, amount: Int })
export interface Count extends Schema.Schema.Type<typeof Count> {}

export type Changes = Partial<
  Omit<Row, "idempotencyKey" | "reference" | "amount" | "version" | "updatedAt" | "submittedAt">
>

/** The states in which the worker has something to do. */
export const isOpen = ({ state }: Pick<Row, "state">): boolean => state === "accepted" || state === "unknown"

/** Whether a request may have left so long ago that another one could pay twice. */
export const mustNotRepeat = ({ mayHaveLeftAt }: Row, now: number, horizon: number): boolean =>
  mayHaveLeftAt !== null && isPastHorizon(mayHaveLeftAt, now, horizon)

const Failure = Schema.fromJsonString(
  Schema.toCodecJson(Schema.Union([PayoutRefusal, OutcomeUnknown, IdempotencyConflict]))
)
const writeFailure = Schema.encodeSync(Failure)
const readFailure = Schema.decodeUnknownOption(Failure)

/** The last failure of a row, if it can be read. */
export const failureOf = ({ error }: Row) => Option.getOrUndefined(readFailure(error))

/** A request is about to leave. */
export const mark = (row: Row, now: number, day: string | null): Changes => ({
  sends: row.sends + 1,
  mayHaveLeftAt: row.mayHaveLeftAt ?? now,
  countedDay: row.countedDay ?? day
})

/**
 * What an answer changes, or `undefined` where it changes nothing. The service's record of a payout is true whatever was
 * written to the row meanwhile, also where a person settled it.
 */
export const answered = (row: Row, known: Known): Changes | undefined => {
  switch (known._tag) {
    case "Recorded": {
      const { id: withdrawalId } = known.withdrawal
      if (row.state === "settled" || row.state === "failed") return { withdrawalId }
      return { state: "posted", withdrawalId, mayHaveLeftAt: null, error: null, parkedBecause: null }
    }
    case "Refused": {
      const cleared = { mayHaveLeftAt: null, countedDay: null, error: writeFailure(known.error) } as const
      return isOpen(row) ? { ...cleared, state: isPassing(known.error) ? "accepted" : "refused" } : cleared
    }
    case "Unknown":
      return isOpen(row) ? { state: "unknown", error: writeFailure(known.error) } : undefined
  }
}

export const park = (parkedBecause: ParkedBecause): Changes => ({ state: "parked", parkedBecause })

/** The fields of a payout without an executed request. */
const clean = { state: "accepted", parkedBecause: null, mayHaveLeftAt: null, countedDay: null, error: null } as const

/** A step of an operator: what changes, or why the step is not possible. */
export type Step = Changes | string

const isOver = "It was recorded or settled, and is not sent any more."

export const retry = (row: Row): Step => {
  if (isOpen(row)) return {}
  if (row.state === "refused") return clean
  return row.state === "parked" ? "Resume it when you know that it may be sent." : isOver
}

export const parkByOperator = (row: Row): Step => {
  // A person takes it over from whatever parked it, so that nobody resumes it for that other reason.
  if (row.state === "parked") return park("Operator")
  return isOpen(row) || row.state === "refused" ? park("Operator") : isOver
}

export const resume = (row: Row, now: number, horizon: number, notExecuted: boolean): Step => {
  if (row.state !== "parked") return "Only a parked payout can be resumed."
  if (notExecuted) return clean
  if (mustNotRepeat(row, now, horizon)) {
    return "A request left longer ago than the horizon, so another one may pay twice. Look in the panel: settle it, or resume it with notExecuted: true."
  }
  const isUnknown = row.mayHaveLeftAt !== null && row.error !== null
  return { state: isUnknown ? "unknown" : "accepted", parkedBecause: null }
}

export const settle = (row: Row, as: "settled" | "failed"): Step => {
  if (row.state !== "refused" && row.state !== "accepted") {
    return { state: as, mayHaveLeftAt: null, error: null, parkedBecause: null }
  }
  return row.mayHaveLeftAt === null
    ? "No request of it is in doubt. If you know that it was paid, park it and then settle it."
    : "A request of it may be under way. Wait for its answer, or park it and then settle it."
}

const fieldsOf = Object.fromEntries(
  PayoutStatus.members.map(({ fields }) => [fields.state.literal, Object.keys(fields)])
)
const time = (millis: number) => DateTime.makeUnsafe(millis)

/** The status of a row: the fields that `PayoutStatus` has for its state. */
export const statusOf = (row: Row): PayoutStatus => {
  const failure = failureOf(row)
  const isUnclear = failure?.outcome === "Unknown"
  // A newer version may have written a failure that cannot be read. A person has to find out why the payout was refused.
  const isUnreadable = row.state === "refused" && (failure === undefined || isUnclear)
  const state = isUnreadable ? "parked" : row.state
  const known: Record<string, unknown> = {
    ...row,
    _tag: String.capitalize(state),
    state,
    // A constraint of the table checks it.
    amount: Centavos.make(row.amount),
    submittedAt: time(row.submittedAt),
    updatedAt: time(row.updatedAt),
    mayHaveLeftAt: row.mayHaveLeftAt === null ? null : time(row.mayHaveLeftAt),
    because: isUnreadable ? "Unreadable" : (row.parkedBecause ?? "Operator"),
    error: failure
  }
  if (state === "accepted" && isUnclear) known["error"] = undefined
  if (state === "unknown" && !isUnclear) known["error"] = unseen(row.idempotencyKey, "Unrecognised", row.sends)
  const shown = fieldsOf[state]?.filter((field) => known[field] !== null && known[field] !== undefined) ?? []
  // A test compares the statuses of all kinds of rows with the schema.
  return Struct.pick(known, shown) as unknown as PayoutStatus
}
