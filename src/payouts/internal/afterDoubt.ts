/**
 * A refusal proves nothing about an earlier request with the same key that may have been executed.
 */
import { type IdempotencyConflict, OutcomeUnknown, type RequestWithdrawalError } from "../../contract/PaymentsError.ts"

/** The failure of a payout that an earlier run may have paid: always unknown. */
export const afterDoubt = (
  error: RequestWithdrawalError,
  idempotencyKey: string
): OutcomeUnknown | IdempotencyConflict => {
  if (error.outcome === "Unknown") return error
  const { attempts, operation } = error
  return new OutcomeUnknown({
    operation,
    attempts,
    idempotencyKey,
    outcome: "Unknown",
    reason: "RefusedAfterUnknown",
    ...("issues" in error && { issues: error.issues }),
    ...("status" in error && error.status !== undefined && { status: error.status }),
    ...("serviceMessage" in error && error.serviceMessage !== undefined && { serviceMessage: error.serviceMessage }),
    ...("retryAfter" in error && error.retryAfter !== undefined && { retryAfter: error.retryAfter })
  })
}
