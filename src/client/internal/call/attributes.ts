/**
 * The attributes that spans and log lines have of a call, and of an attempt that failed.
 */
import * as Duration from "effect/Duration"
import * as ErrorReporter from "effect/ErrorReporter"
import { fingerprint } from "../../../contract/IdempotencyKey.ts"
import { errorType } from "../../../internal/spans.ts"
import type { Call, Failed } from "./state.ts"

/** The merchant whose client makes the call, if it is one of `Merchants`. */
const merchantOf = ({ client: { merchant } }: Pick<Call, "client">) =>
  merchant === undefined ? {} : { "payments.merchant": merchant }

/** The attributes of a call before it is sent. */
export const attributesOfCall = (call: Call) => {
  const { idempotencyKey } = call.prepared
  return {
    "payments.operation": call.route.endpoint.operation,
    ...merchantOf(call),
    ...(idempotencyKey !== undefined && { "payments.idempotency_key_hash": fingerprint(idempotencyKey) })
  }
}

/** The attributes of the error of a call. */
export const attributesOfError = (call: Pick<Call, "client">, error: ErrorReporter.Reportable) => ({
  ...error[ErrorReporter.attributes],
  ...merchantOf(call)
})

/** The attributes of a call after an attempt that failed. */
export const attributesOfAttempt = (call: Call, failed: Failed) => {
  const unanswered = call.prepared.idempotencyKey === undefined ? "NoEffect" : "Unknown"
  return {
    ...attributesOfCall(call),
    "payments.attempts": call.attempts,
    "payments.outcome": failed._tag === "Refused" ? "Rejected" : failed.sent === "NotSent" ? failed.sent : unanswered,
    "error.type": errorType(failed),
    "payments.retry_after": failed.retryAfter && Duration.toSeconds(failed.retryAfter)
  }
}
