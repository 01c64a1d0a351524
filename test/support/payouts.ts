/**
 * A payout, and the failures of its requests, for tests.
 */
import { IdempotencyKey, Money, PixKey } from "effect-pix"
import type { PayoutItem } from "effect-pix/payouts"
import {
  AuthError,
  IdempotencyConflict,
  InsufficientBalance,
  OutcomeUnknown,
  RateLimited,
  RequestRejected,
  ServiceUnavailable
} from "../../src/contract/PaymentsError.ts"

export const item = (reference: string, amount = 1000): PayoutItem => ({
  reference,
  amount: Money.centavos(amount),
  pixKey: PixKey.email("maria@example.com")
})
export const keyOf = (reference: string) => IdempotencyKey.fromReference("payout", reference)

const common = (idempotencyKey: string) =>
  ({ operation: "requestWithdrawal", attempts: 1, idempotencyKey, status: 422 }) as const
export const failures = {
  unknown: (key: string) =>
    new OutcomeUnknown({ ...common(key), outcome: "Unknown", reason: "Timeout", idempotencyKey: key }),
  conflict: (key: string) => new IdempotencyConflict({ ...common(key), outcome: "Unknown" }),
  poor: (key: string) => new InsufficientBalance({ ...common(key), outcome: "Rejected" }),
  auth: (key: string) => new AuthError({ ...common(key), outcome: "Rejected", status: 401 }),
  down: (key: string) => new ServiceUnavailable({ ...common(key), outcome: "NotSent", reason: "NoConnection" }),
  throttled: (key: string) => new RateLimited({ ...common(key), outcome: "Rejected", status: 429 }),
  redirected: (key: string) => new RequestRejected({ ...common(key), outcome: "Rejected", status: 308 }),
  refused: (key: string) => new RequestRejected({ ...common(key), outcome: "Rejected", serviceMessage: "Recusado" })
}
