/**
 * Judges what the deliveries claim by what the lookup said. Nothing here reads or writes.
 */
import * as Duration from "effect/Duration"
import type { GetTransactionError } from "../../contract/PaymentsError.ts"
import { progressOfDetail } from "../../contract/Status.ts"
import type { UnconfirmedTransaction } from "../WebhookEvent.ts"
import { wordOf } from "./row.ts"

/** What speaks against a claim. */
export interface Doubt {
  readonly finding: Pick<UnconfirmedTransaction, "reason" | "lastStatus" | "transaction" | "expected" | "error">
  /** Why a later lookup may say otherwise. Absent: the doubt is reported at once. */
  readonly reason?: "early" | "outage"
  /** For how many milliseconds the service asks not to be called, an hour at most. */
  readonly retryAfter?: number
}

/** Judges a claim by the status that it claims; `undefined`: there is nothing more to do for it. */
export type Judge = (status: string | undefined) => Doubt | undefined

/**
 * The lookup answered this status, and what is no longer open was handed out. The service documents no transitions, so
 * every other status may be ahead of its books. Only news that is known to be old is no doubt.
 */
export const byStatus =
  (lastStatus: string): Judge =>
  (status) => {
    const claimed = wordOf(status)
    // The lookup may say a word that is not documented, or in another case: a delivery of the same word agrees with it.
    if (status?.toLowerCase() === lastStatus.toLowerCase()) return undefined
    if (progressOfDetail(lastStatus) === "Open")
      return { finding: { reason: "StillOpen", lastStatus }, reason: "early" }
    const isOld = claimed === undefined || claimed === "Awaiting" || (claimed === "Paid" && lastStatus === "Refunded")
    return isOld ? undefined : { finding: { reason: "Disagrees", lastStatus }, reason: "early" }
  }

/** The lookup failed; without an error it took too long. */
export const byFailure = (error?: GetTransactionError): Doubt => {
  if (error?._tag === "TransactionNotFound") return { finding: { reason: "NotFound", error }, reason: "early" }
  const finding: Doubt["finding"] = { reason: "LookupFailed", error }
  if (error?._tag === "InvalidRequest") return { finding }
  const asked = (error && "retryAfter" in error && error.retryAfter) || Duration.zero
  return { finding, reason: "outage", retryAfter: Math.min(Duration.toMillis(asked), 3_600_000) }
}
