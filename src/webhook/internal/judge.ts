/**
 * Compares the claims of deliveries with the lookup of the transaction. Nothing here reads or writes.
 */
import * as Duration from "effect/Duration"
import type { GetTransactionError } from "../../contract/PaymentsError.ts"
import { meaningOf, type OfCharge, type Words } from "../../contract/Status.ts"
import { fold } from "../../contract/StatusWords.ts"
import type { UnconfirmedTransaction } from "../WebhookEvent.ts"

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

/** Whether a lookup found the transaction. */
export const isFound = (doubt: Doubt | undefined): boolean =>
  doubt === undefined || !["NotFound", "LookupFailed", "OtherTransaction"].includes(doubt.finding.reason)

/** What a claim says of its charge. `successful` was seen in the delivery of a paid one. */
export const ofClaim = (claimed: string, statuses: Words = {}): OfCharge =>
  fold(claimed) === "successful" ? "paid" : meaningOf(claimed, "charge", statuses)

/** Whether a claim says what the lookup says: the same word, or another word of the same meaning. */
export const agrees = (claimed: string | undefined, lastStatus: string, statuses: Words): boolean => {
  if (claimed === undefined) return false
  const meaning = ofClaim(claimed, statuses)
  const last = meaningOf(lastStatus, "charge", statuses)
  return fold(claimed) === fold(lastStatus) || (meaning !== "unlisted" && meaning === last)
}

/**
 * The judge after a lookup with this status. The service documents no transitions, so a claim of any other meaning may be
 * newer than the lookup. Only a claim that is certainly older is finished.
 */
export const byStatus =
  (lastStatus: string, statuses: Words): Judge =>
  (status) => {
    if (agrees(status, lastStatus, statuses)) return undefined
    if (meaningOf(lastStatus, "charge", statuses) === "open")
      return { finding: { reason: "StillOpen", lastStatus }, reason: "early" }
    const claimed = ofClaim(status ?? "", statuses)
    const isOld =
      claimed === "unlisted" ||
      claimed === "open" ||
      (claimed === "paid" && meaningOf(lastStatus, "charge", statuses) === "refunded")
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
