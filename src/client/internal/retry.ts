/**
 * What is tried again: the one place that says it.
 */
import type { FailureReason } from "../../contract/PaymentsError.ts"
import type { PaymentsPolicy } from "../PaymentsPolicy.ts"
import type { Failed, Unanswered } from "./verdict.ts"

/** The failures that another attempt may cure, whatever the status. */
const passing: ReadonlySet<FailureReason> = new Set([
  "NameNotResolved",
  "NoConnection",
  "ConnectionLost",
  "Truncated",
  "Unrecognised"
])

/** The statuses of a failed service that mean "later". */
const later: ReadonlySet<number> = new Set([500, 502, 503, 504])

const isTransient = ({ reason, sent, status }: Unanswered): boolean => {
  switch (reason) {
    case "ServerError":
      return status !== undefined && later.has(status)
    case "Timeout":
      // By these the service says that its caller went away: it may be about to finish.
      return status !== 460 && status !== 499
    case "Tls":
      // A certificate stays what it is. A record that broke after the request may have left does not.
      return sent === "Unknown"
    default:
      return passing.has(reason)
  }
}

/**
 * Whether another attempt may help, and is allowed. `maybe`: an attempt with this key may have been executed.
 */
export const mayTryAgain = (
  verdict: Failed,
  writes: PaymentsPolicy["writes"] | "read",
  maybe: boolean
): "no" | "transient" | "throttled" => {
  if (writes === "never") return "no"
  if (verdict._tag === "Unanswered") {
    const allowed = writes !== "only-unsent" || verdict.sent === "NotSent"
    return isTransient(verdict) && allowed ? "transient" : "no"
  }
  if (writes === "only-unsent") return "no"
  if (verdict.status === 429) return "throttled"
  if (verdict.status === 425) return "transient"
  // What is in flight is the attempt that may have been executed: its result comes under the same key.
  return maybe && verdict.cause === "IdempotencyKeyInFlight" ? "transient" : "no"
}
