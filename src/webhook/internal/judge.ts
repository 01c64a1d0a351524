/**
 * Compares the claims of deliveries with the lookup of the transaction. Nothing here reads or writes.
 */
import * as Duration from "effect/Duration"
import type { GetTransactionError } from "../../contract/PaymentsError.ts"
import { progressOfDetail } from "../../contract/Status.ts"
import type { UnconfirmedTransaction } from "../WebhookEvent.ts"
import { wordOf } from "./row.ts"

/** Why a claim is not confirmed. */
export interface Doubt {
  readonly finding: Pick<UnconfirmedTransaction, "reason" | "lastStatus" | "transaction" | "expected" | "error">
  /** Why a later lookup may confirm it. Absent: it is reported at once. */
  readonly reason?: "early" | "outage"
  /** How many milliseconds the service wants no call: an hour at most. */
  readonly retryAfter?: number
}

/** The doubt about a claim of this status; `undefined`: the claim is finished. */
export type Judge = (status: string | undefined) => Doubt | undefined

/** Whether a lookup found the transaction; `undefined` if there was no answer. */
export const lookupOf = (doubt: Doubt | undefined): "Found" | "Missed" | undefined => {
  const reason = doubt?.finding.reason
  return reason === "NotFound"
    ? "Missed"
    : reason === "LookupFailed" || reason === "OtherTransaction"
      ? undefined
      : "Found"
}

/**
 * The judge after a lookup with this status. The service documents no transitions, so a claim of any other status may be
 * newer than the lookup. Only a claim that is certainly older is finished.
 */
export const byStatus =
  (lastStatus: string): Judge =>
  (status) => {
    const claimed = wordOf(status)
    // The status may be a word that is not documented, or in another case. A claim of the same word agrees with it.
    if (status?.toLowerCase() === lastStatus.toLowerCase()) return undefined
    if (progressOfDetail(lastStatus) === "Open")
      return { finding: { reason: "StillOpen", lastStatus }, reason: "early" }
    const isOld = claimed === undefined || claimed === "Awaiting" || (claimed === "Paid" && lastStatus === "Refunded")
    return isOld ? undefined : { finding: { reason: "Disagrees", lastStatus }, reason: "early" }
  }

/** The doubt after a lookup that failed. Without an error, it took too long. */
export const byFailure = (error?: GetTransactionError): Doubt => {
  if (error?._tag === "TransactionNotFound") return { finding: { reason: "NotFound", error }, reason: "early" }
  const finding: Doubt["finding"] = { reason: "LookupFailed", error }
  if (error?._tag === "InvalidRequest") return { finding }
  const retryAfter = (error && "retryAfter" in error && error.retryAfter) || Duration.zero
  return { finding, reason: "outage", retryAfter: Math.min(Duration.toMillis(retryAfter), 3_600_000) }
}
