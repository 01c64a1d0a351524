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
import * as String from "effect/String"
import * as Struct from "effect/Struct"
import { Centavos } from "../../../pix/Money.ts"
import { IdempotencyConflict, OutcomeUnknown } from "../../../contract/PaymentsError.ts"
import { PayoutRefusal } from "../../Payout.ts"
import { type ParkedBecause, PayoutAsked, PayoutState, PayoutStatus, WaitsFor } from "../../PayoutStatus.ts"
import {
  causeOfWait,
  isRecordedAsFailed,
  type Known,
  listedWord,
  makeOutcomeUnknown,
  mismatchOf,
  type Unclear
} from "../machine.ts"
import { databaseTime, type ReadAccount } from "./account.ts"
import { Bool, Int, orNull, startingAt } from "./columns.ts"
import * as Conditions from "./conditions.ts"

/** One row. What `Row.make` is not given has the default of the table. Times are in milliseconds since 1970. */
export const Row = Schema.Struct({
  account: Schema.String,
  idempotencyKey: Schema.String,
  reference: Schema.String,
  /** In centavos. */
  amount: Int,
  /** The request as JSON, sealed where the user seals it; deleted after `forget.data`, or by `forget`. */
  request: orNull(Schema.String),
  /** A short check of the request, which is compared after the request was deleted. Empty: `forget` deleted it too. */
  requestCheck: Schema.String,
  state: PayoutState.pipe(Schema.withConstructorDefault(Effect.succeed("accepted" as const))),
  /** Who submitted it, as the item's `by` says. */
  submittedBy: orNull(Schema.String),
  /** Whether it, or the list that it was submitted with, is above `fourEyesAbove`. It stays so. */
  needsApproval: Bool.pipe(Schema.withConstructorDefault(Effect.succeed(false))),
  /** The second person, who approved it. */
  approvedBy: orNull(Schema.String),
  approvedAt: orNull(Int),
  /** The step that one person asked for and another one has to confirm. */
  askedStep: orNull(Schema.String),
  askedBy: orNull(Schema.String),
  /** The span of the operation by which it is to be sent, as `traceId-spanId`. */
  offeredBy: orNull(Schema.String),
  sends: startingAt(0),
  /** When the first request whose result is not known may have left. */
  mayHaveLeftAt: orNull(Int),
  /** The fingerprint of the sender of that request. */
  fingerprint: orNull(Schema.String),
  /** When its last request was marked, whatever became of it. */
  markedAt: orNull(Int),
  /** Until when that request may be under way: the lease of its worker and the deadline of its call are over then. */
  underWayUntil: orNull(Int),
  /**
   * Since when it is wanted, by the clock of the database: its submit, or the last step of a person who wanted it sent. A wait
   * that is not counted moves it forward.
   */
  wantedAt: startingAt(0),
  /** What it waits for, as a `WaitsFor`; a newer version may have written another word. */
  waitsFor: orNull(Schema.String),
  waitsSince: orNull(Int),
  /** The day whose cap it counts against, while it may have moved money. */
  countedDay: orNull(Schema.String),
  withdrawalId: orNull(Int),
  /** The service's word for the state of its withdrawal, if it is in the vocabulary of statuses. */
  withdrawalStatus: orNull(Schema.String),
  /** The payee that the record names, as JSON, sealed as the request is; deleted with it. */
  payee: orNull(Schema.String),
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

/** The number of payouts of a state and of what they wait for or why they are parked, the time of the oldest, and their sum. */
export const Count = Schema.Struct({
  state: PayoutState,
  cause: orNull(Schema.String),
  count: Int,
  oldest: Int,
  /** In centavos. */
  amount: Int
})
export interface Count extends Schema.Schema.Type<typeof Count> {}

export type Changes = Partial<
  Omit<Row, "account" | "idempotencyKey" | "reference" | "amount" | "version" | "updatedAt" | "submittedAt">
>

/** The states in which the worker has something to do. */
export const isOpen = (payout: Pick<Row, "state">): boolean => Conditions.isOpen.of({ payout })

/** What a step is decided by: the account, the time of this process, and the horizon in milliseconds. */
export interface Deciding {
  readonly account: ReadAccount
  readonly now: number
  readonly horizon: number
}

const askedOf = (payout: Row, { account, horizon, now }: Deciding) => ({
  payout,
  account,
  given: { now: databaseTime(account, now), nowHere: now, horizon }
})

/**
 * Why no request of a payout may leave any more: the service may have forgotten its key, or it is wanted since longer ago than the
 * horizon. `undefined`: it is in time.
 */
export const tooLate = (row: Row, deciding: Deciding): "PastHorizon" | "WaitedTooLong" | undefined => {
  if (Conditions.isInTime.of(askedOf(row, deciding))) return undefined
  return row.mayHaveLeftAt === null ? "WaitedTooLong" : "PastHorizon"
}

const Failure = Schema.fromJsonString(
  Schema.toCodecJson(Schema.Union([PayoutRefusal, OutcomeUnknown, IdempotencyConflict]))
)
const writeFailure = Schema.encodeSync(Failure)
const readFailure = Schema.decodeUnknownOption(Failure)

/** The last failure of a row, if it can be read. */
export const failureOf = ({ error }: Row) => Option.getOrUndefined(readFailure(error))

/** How long a payout has been waiting since it is wanted, in milliseconds. */
export const waited = (row: Row, deciding: Deciding): number => Conditions.waited.of(askedOf(row, deciding))

/** What a payout is wanted since, after a wait that is not counted. */
const wantedAfter = (row: Row, deciding: Deciding): number =>
  databaseTime(deciding.account, deciding.now) - waited(row, deciding)

/** A person wants it sent. What is in doubt stays wanted since its first request: its key gets no older by a step. */
const wantedBy = ({ mayHaveLeftAt, wantedAt }: Row, { account, now }: Deciding) => ({
  wantedAt: mayHaveLeftAt === null ? databaseTime(account, now) : wantedAt
})

/** A request is about to leave. */
export const mark = (
  row: Row,
  deciding: Deciding,
  request: {
    /** The fingerprint of its sender, if it is known. */
    readonly fingerprint: string | undefined
    readonly underWayUntil: number
  }
): Changes => ({
  wantedAt: wantedAfter(row, deciding),
  sends: row.sends + 1,
  mayHaveLeftAt: row.mayHaveLeftAt ?? deciding.now,
  fingerprint: row.mayHaveLeftAt === null ? (request.fingerprint ?? null) : row.fingerprint,
  markedAt: deciding.now,
  underWayUntil: request.underWayUntil,
  ...(row.waitsFor === "DailyCap" && waitsForNothing)
})

const waitsForNothing = { waitsFor: null, waitsSince: null } as const

/** A payout cannot be sent now: from which time on, by the clock of the database, and for what it waits. */
export const wait = (row: Row, deciding: Deciding, waitsFor: WaitsFor): Changes => ({
  wantedAt: wantedAfter(row, deciding),
  waitsFor,
  waitsSince:
    row.waitsFor === waitsFor && waitsFor !== "DailyCap" ? row.waitsSince : databaseTime(deciding.account, deciding.now)
})

/**
 * What an answer changes, or `undefined` where it changes nothing. The service's record of a payout is true whatever was
 * written to the row meanwhile, also where a person settled it.
 */
export const answered = (row: Row, known: Known, now: number, payee: string | null): Changes | undefined => {
  switch (known._tag) {
    case "Recorded": {
      const { enTransaction, id: withdrawalId } = known.withdrawal
      const recorded = {
        withdrawalId,
        withdrawalStatus: listedWord(enTransaction) ?? null,
        // It may have been forgotten since the request left.
        payee: row.request === null ? null : payee
      }
      if (row.state === "paid" || row.state === "failed") return { ...recorded, error: null }
      const ended = { mayHaveLeftAt: null, error: null, parkedBecause: null, ...waitsForNothing } as const
      return { state: "posted", ...recorded, ...ended }
    }
    case "Refused": {
      const cleared = { mayHaveLeftAt: null, countedDay: null, error: writeFailure(known.error) } as const
      if (known.error._tag === "WithdrawalFailed" && row.state !== "paid" && row.state !== "posted") {
        const { withdrawalId, withdrawalStatus } = known.error
        return { ...cleared, ...waitsForNothing, state: "failed", parkedBecause: null, withdrawalId, withdrawalStatus }
      }
      if (!isOpen(row)) return cleared
      const waitsFor = causeOfWait(known.error)
      if (waitsFor === undefined) return { ...cleared, ...waitsForNothing, state: "refused" }
      const waitsSince = row.waitsFor === waitsFor ? row.waitsSince : now
      return { ...cleared, state: "accepted", waitsFor, waitsSince }
    }
    case "Unknown": {
      if (!isOpen(row)) return undefined
      const because = unclearRecord(known.error)
      return {
        ...(because === undefined ? { state: "unknown", ...waitsForNothing } : park(because)),
        error: writeFailure(known.error)
      }
    }
  }
}

/** Why a record that proves nothing is for a person: the same request would be answered with it again. */
const unclearRecord = (error: Unclear): ParkedBecause | undefined =>
  mismatchOf(error) !== undefined ? "OtherPayee" : isRecordedAsFailed(error) ? "RecordedAsFailed" : undefined

export const park = (parkedBecause: ParkedBecause): Changes => ({
  state: "parked",
  parkedBecause,
  ...(parkedBecause === "NeedsApproval" && { needsApproval: true }),
  ...waitsForNothing
})

/** The fields of a payout without an executed request. */
const clean = {
  state: "accepted",
  parkedBecause: null,
  mayHaveLeftAt: null,
  fingerprint: null,
  countedDay: null,
  error: null,
  ...waitsForNothing
} as const

/** A step of an operator: what changes, or why the step is not possible. */
export type Step = Changes | string

const isOver = "It was recorded or settled, and is not sent any more."
const isForgotten = "Its request was deleted, so it cannot be sent."

const time = (millis: number) => DateTime.makeUnsafe(millis)

export const retry = (row: Row, deciding: Deciding): Step => {
  const wanted = wantedBy(row, deciding)
  if (isOpen(row)) return { ...wanted, ...waitsForNothing }
  if (row.state === "refused") return row.request === null ? isForgotten : { ...clean, ...wanted }
  return row.state === "parked" ? "Resume it when you know that it may be sent." : isOver
}

export const parkByOperator = (row: Row): Step => {
  // A person takes it over from whatever parked it, so that nobody resumes it for that other reason, and takes an approval back.
  const parked = { ...park("Operator"), approvedBy: null, approvedAt: null }
  return row.state === "parked" || isOpen(row) || row.state === "refused" ? parked : isOver
}

/** Whether a request that was marked and not answered may be under way. */
const isUnderWay = ({ mayHaveLeftAt, underWayUntil }: Row, { now }: Deciding): boolean =>
  mayHaveLeftAt !== null && underWayUntil !== null && now < underWayUntil

/** When a request that may be under way is over. */
const underWay = ({ underWayUntil }: Row): string =>
  `A request of it may be under way until ${DateTime.formatIso(time(underWayUntil ?? 0))}. Look in the panel after that.`

/** Why nobody can know yet that no request of a payout was executed. */
const tooEarly = (row: Row, deciding: Deciding): string | undefined => {
  if (isUnderWay(row, deciding)) return underWay(row)
  const isSafe = row.parkedBecause !== "OtherClientId" && row.parkedBecause !== "Unreadable"
  return isSafe && tooLate(row, deciding) === undefined
    ? "The service still knows its key. Resume it without notExecuted: true, and the same key is sent again."
    : undefined
}

export const resume = (row: Row, deciding: Deciding, notExecuted: boolean): Step => {
  if (row.state !== "parked") return "Only a parked payout can be resumed."
  if (row.request === null) return `${isForgotten} Settle it.`
  if (notExecuted && row.mayHaveLeftAt !== null) {
    return tooEarly(row, deciding) ?? { ...clean, ...wantedBy({ ...row, ...clean }, deciding) }
  }
  if (row.mayHaveLeftAt !== null && tooLate(row, deciding) !== undefined) {
    return "A request left longer ago than the horizon, so another one may pay twice. Look in the panel: settle it, or resume it with notExecuted: true."
  }
  const isUnknown = row.mayHaveLeftAt !== null && row.error !== null
  return { state: isUnknown ? "unknown" : "accepted", parkedBecause: null, ...wantedBy(row, deciding) }
}

/** As failed never while a request may be under way: the payout may then be paid in another way. */
export const settle = (row: Row, deciding: Deciding, as: "paid" | "failed"): Step => {
  if (row.state === "refused" || row.state === "accepted") {
    return row.mayHaveLeftAt === null
      ? "No request of it is in doubt. If you know that it was paid, park it and then settle it."
      : "A request of it may be under way. Wait for its answer, or park it and then settle it."
  }
  if (as === "failed" && row.state === "unknown") return "It is asked again. Park it, and then settle it as failed."
  if (as === "failed" && isUnderWay(row, deciding)) return underWay(row)
  return { state: as, mayHaveLeftAt: null, error: null, parkedBecause: null, ...waitsForNothing }
}

/** Deletes what is a person's: its record stays. `undefined`: it is deleted already. */
export const forget = (row: Row): Step | undefined => {
  if (row.state === "parked") return "It waits for a person: settle it when you know how it ended, and then forget it."
  if (isOpen(row)) return "It may still be sent. Park it, settle it when you know how it ended, and then forget it."
  return row.requestCheck === "" ? undefined : { request: null, payee: null, requestCheck: "" }
}

const isWaitsFor = Schema.is(WaitsFor)
const isAsked = Schema.is(PayoutAsked)
const fieldsOf = Object.fromEntries(
  PayoutStatus.members.map(({ fields }) => [fields.state.literal, Object.keys(fields)])
)

/** The status of a row: the fields that `PayoutStatus` has for its state. */
export const statusOf = (row: Row): PayoutStatus => {
  const failure = failureOf(row)
  const isUnclear = failure?.outcome === "Unknown"
  // A newer version may have written a failure that cannot be read. A person has to find out why the payout was refused.
  const isUnreadable = row.state === "refused" && (failure === undefined || isUnclear)
  const state = isUnreadable ? "parked" : row.state
  const asked = { step: row.askedStep, by: row.askedBy }
  const known: Record<string, unknown> = {
    ...row,
    _tag: String.capitalize(state),
    state,
    // A constraint of the table checks it.
    amount: Centavos.make(row.amount),
    submittedAt: time(row.submittedAt),
    updatedAt: time(row.updatedAt),
    mayHaveLeftAt: row.mayHaveLeftAt === null ? null : time(row.mayHaveLeftAt),
    waitsFor: isWaitsFor(row.waitsFor) ? row.waitsFor : null,
    because: isUnreadable ? "Unreadable" : (row.parkedBecause ?? "Operator"),
    error: failure,
    asked: isAsked(asked) ? asked : null
  }
  if (state === "accepted" && isUnclear) known["error"] = undefined
  if (state === "failed" && failure?._tag !== "WithdrawalFailed") known["error"] = undefined
  if (state === "unknown" && !isUnclear)
    known["error"] = makeOutcomeUnknown(row.idempotencyKey, "Unrecognised", row.sends)
  const shown = fieldsOf[state]?.filter((field) => known[field] !== null && known[field] !== undefined) ?? []
  // A test compares the statuses of all kinds of rows with the schema.
  return Struct.pick(known, shown) as unknown as PayoutStatus
}
