/**
 * What a lookup makes of a claim. Nothing here reads or writes.
 */
import * as Duration from "effect/Duration"
import type { GetTransactionError } from "../../contract/PaymentsError.ts"
import { progressOfDetail } from "../../contract/Status.ts"
import type { UnconfirmedTransaction } from "../WebhookEvent.ts"
import { wordOf } from "./row.ts"

/** What speaks against a claim, or for none yet. */
export interface Doubt {
  readonly finding: Pick<UnconfirmedTransaction, "reason" | "lastStatus" | "transaction" | "expected" | "error">
  /** Why it may be otherwise later. */
  readonly reason?: "early" | "outage"
  /** For how many milliseconds the service asks to be left alone, an hour at most. */
  readonly retryAfter?: number
}

/** Judges a claim by the status that it claims; `undefined`: there is nothing more to do for it. */
export type Judge = (status: string | undefined) => Doubt | undefined

/** The lookup was answered with this status, which is open. */
export const byOpen =
  (lastStatus: string): Judge =>
  (status) =>
    wordOf(status) === lastStatus ? undefined : { finding: { reason: "StillOpen", lastStatus }, reason: "early" }

/** The lookup was answered with this status, which is no longer open, and was handed out. */
export const byHandedOut =
  (lastStatus: string): Judge =>
  (status) => {
    const claim = wordOf(status)
    if (claim === undefined || claim === lastStatus || progressOfDetail(claim) === "Open") return undefined
    if (claim === "Paid" && lastStatus === "Refunded") return undefined
    const mayFollow = progressOfDetail(lastStatus) !== "Final" || (lastStatus === "Paid" && claim === "Refunded")
    return { finding: { reason: "Disagrees", lastStatus }, ...(mayFollow && { reason: "early" }) }
  }

/** The lookup failed; without an error it took too long. */
export const byFailure = (error?: GetTransactionError): Doubt => {
  if (error?._tag === "TransactionNotFound") return { finding: { reason: "NotFound", error }, reason: "early" }
  const finding: Doubt["finding"] = { reason: "LookupFailed", error }
  if (error?._tag === "InvalidRequest") return { finding }
  const asked = (error && "retryAfter" in error && error.retryAfter) || Duration.zero
  return { finding, reason: "outage", retryAfter: Math.min(Duration.toMillis(asked), 3_600_000) }
}
