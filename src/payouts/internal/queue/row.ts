/**
 * A payout as it is in the table, and every step that it may take. Nothing here reads or writes: a step is a
 * function from a row to what changes in it, or `undefined` where it does not apply.
 *
 * `leftAt` is the mark: a request may have left, and whether it was executed is not known. It is committed before the
 * first byte of a request. While it is set, no refusal proves that nothing moved. `sends` counts the marks, so that a
 * process that was stopped for longer than its lease cannot clear the mark of the one that took over.
 */
import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { Centavos } from "../../../pix/Money.ts"
import { IdempotencyConflict, OutcomeUnknown } from "../../../contract/PaymentsError.ts"
import { PayoutRefusal } from "../../Payout.ts"
import type { ParkedBecause, PayoutState, PayoutStatus } from "../../PayoutStatus.ts"
import { isPassing, isPastHorizon, type Known, unseen } from "../machine.ts"

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
  /** The number of its current element in the queue. 0: it has none. */
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

/** Whether a request of it may have left too long ago for another one. */
export const mustNotRepeat = ({ leftAt }: Row, now: number, horizon: number): boolean =>
  leftAt !== null && isPastHorizon(leftAt, now, horizon)

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

/**
 * What became of a request. The service's record of it is true whatever was written to the row meanwhile, also where
 * somebody settled it.
 */
export const answered = (row: Row, known: Known): Changes | undefined => {
  switch (known._tag) {
    case "Recorded": {
      const { id: withdrawalId } = known.withdrawal
      if (row.state === "settled" || row.state === "failed") return { withdrawalId }
      return { state: "posted", withdrawalId, leftAt: null, error: null, because: null }
    }
    case "Refused": {
      const cleared = { leftAt: null, countedDay: null, error: writeFailure(known.error) } as const
      return isOpen(row) ? { ...cleared, state: isPassing(known.error) ? "accepted" : "refused" } : cleared
    }
    case "Unknown":
      return isOpen(row) ? { state: "unknown", error: writeFailure(known.error) } : undefined
  }
}

export const parked = (because: ParkedBecause): Changes => ({ state: "parked", because })

const time = (millis: number) => DateTime.makeUnsafe(millis)

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
        // A newer version may have written the failure.
        error: failure?.outcome === "Unknown" ? failure : unseen(row.key, "Unrecognised", row.sends)
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
