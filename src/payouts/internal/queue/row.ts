/**
 * A payout as it is in the table, and every step that it may take. Nothing here reads or writes: a step is a
 * function from a row to what changes in it, or `undefined` where it does not apply.
 *
 * `leftAt` is the mark: a request may have left, and whether it was executed is not known. It is committed before the
 * first byte of a request. While it stands, no refusal proves that nothing moved. `sends` counts the marks, so that a
 * process that was stopped for longer than its lease cannot clear the mark of the one that took over.
 */
import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { Centavos } from "../../../pix/Money.ts"
import { IdempotencyConflict, OutcomeUnknown, type RequestWithdrawalError } from "../../../contract/PaymentsError.ts"
import type { Withdrawal } from "../../../contract/Withdrawal.ts"
import { PayoutRefusal } from "../../Payout.ts"
import type { ParkedBecause, PayoutState, PayoutStatus } from "../../PayoutStatus.ts"
import { afterDoubt } from "../afterDoubt.ts"

/** One row. Times are in milliseconds since 1970. */
export interface Row {
  readonly key: string
  readonly reference: string
  readonly amount: number
  /** The request as JSON, sealed where the user seals it; gone when its time is over. */
  readonly request: string | null
  /** A short check of the request, for when the request is gone. */
  readonly check: string
  readonly state: PayoutState
  /** Which element of the queue is the valid one. 0: none was made yet. */
  readonly generation: number
  readonly sends: number
  readonly leftAt: number | null
  /** The day whose cap it counts against, while it may have moved money. */
  readonly countedDay: string | null
  readonly withdrawalId: number | null
  /** The last failure, as JSON. */
  readonly error: string | null
  readonly because: ParkedBecause | null
  readonly submittedAt: number
  readonly updatedAt: number
  /** Counts the changes: a change names the version that it was made from. */
  readonly version: number
}

export type Changes = Partial<Omit<Row, "key" | "reference" | "amount" | "version" | "updatedAt" | "submittedAt">>

/** The states in which the worker has something to do. */
export const isOpen = ({ state }: Pick<Row, "state">): boolean => state === "accepted" || state === "unknown"

/** It may not be repeated any more: the service may have forgotten its key. A time that lies ahead is not to be trusted. */
export const isPastHorizon = ({ leftAt }: Row, now: number, horizon: number): boolean =>
  leftAt !== null && Math.abs(now - leftAt) > horizon

const Failure = Schema.fromJsonString(
  Schema.toCodecJson(Schema.Union([PayoutRefusal, OutcomeUnknown, IdempotencyConflict]))
)
const writeFailure = Schema.encodeSync(Failure)
const readFailure = Schema.decodeOption(Failure)

/** A request is about to leave. */
export const mark = (row: Row, now: number, day: string | null): Changes => ({
  sends: row.sends + 1,
  leftAt: row.leftAt ?? now,
  countedDay: row.countedDay ?? day
})

/** Failures that do not depend on this payout (credentials, a rate limit, no connection): it is tried again later. */
const isPassing = (error: RequestWithdrawalError) =>
  error._tag === "AuthError" ||
  error._tag === "RateLimited" ||
  error._tag === "ServiceUnavailable" ||
  // A redirect says that the base URL is wrong.
  (error._tag === "RequestRejected" && error.status < 400)

/** The service accepted it. That is true whatever was written to the row meanwhile: also of one that somebody settled. */
export const posted = (row: Row, withdrawal: Withdrawal): Changes => {
  if (row.state === "settled" || row.state === "failed") return { withdrawalId: withdrawal.id }
  return { state: "posted", withdrawalId: withdrawal.id, leftAt: null, error: null, because: null }
}

/**
 * The request failed. `own` says that this request's mark is the last one, and that the key was clean before it: only
 * then does a refusal speak of all requests with this key.
 */
export const failed = (row: Row, error: RequestWithdrawalError, own: boolean): Changes | undefined => {
  if (error.outcome === "Unknown" || !own) {
    if (!isOpen(row)) return undefined
    return { state: "unknown", error: writeFailure(afterDoubt(error, row.key)) }
  }
  const cleared = { leftAt: null, countedDay: null, error: writeFailure(error) } as const
  if (!isOpen(row)) return cleared
  return { ...cleared, state: isPassing(error) ? "accepted" : "refused" }
}

export const parked = (because: ParkedBecause): Changes => ({ state: "parked", because })

const time = (millis: number) => DateTime.makeUnsafe(millis)

/** Of an unknown payout whose failure a newer version wrote. */
const unrecognised = ({ key, sends }: Row) =>
  new OutcomeUnknown({
    operation: "requestWithdrawal",
    attempts: sends,
    idempotencyKey: key,
    outcome: "Unknown",
    reason: "Unrecognised"
  })

/** What a row says to its owner. */
export const statusOf = (row: Row): PayoutStatus => {
  const common = {
    reference: row.reference,
    idempotencyKey: row.key,
    // The table takes nothing else.
    amount: Centavos.make(row.amount),
    submittedAt: time(row.submittedAt),
    updatedAt: time(row.updatedAt)
  }
  const mayHaveLeft = row.leftAt === null ? {} : { mayHaveLeftAt: time(row.leftAt) }
  const withdrawal = row.withdrawalId === null ? {} : { withdrawalId: row.withdrawalId }
  const failure = row.error === null ? undefined : Option.getOrUndefined(readFailure(row.error))
  const refusal = failure === undefined || failure.outcome === "Unknown" ? undefined : failure
  const error = failure === undefined ? {} : { error: failure }
  switch (row.state) {
    case "accepted":
      return {
        _tag: "Accepted",
        state: row.state,
        ...common,
        ...mayHaveLeft,
        ...(refusal !== undefined && { error: refusal })
      }
    case "posted":
      return { _tag: "Posted", state: row.state, ...common, ...withdrawal }
    case "settled":
      return { _tag: "Settled", state: row.state, ...common, ...withdrawal }
    case "failed":
      return { _tag: "Failed", state: row.state, ...common, ...withdrawal }
    case "refused":
      return refusal === undefined
        ? // A newer version wrote why: a person has to look.
          { _tag: "Parked", state: "parked", ...common, because: "Unreadable" }
        : { _tag: "Refused", state: row.state, ...common, error: refusal }
    case "unknown":
      return {
        _tag: "Unknown",
        state: row.state,
        ...common,
        ...mayHaveLeft,
        error: failure?.outcome === "Unknown" ? failure : unrecognised(row)
      }
    case "parked":
      return {
        _tag: "Parked",
        state: row.state,
        ...common,
        ...mayHaveLeft,
        because: row.because ?? "Operator",
        ...error
      }
  }
}
