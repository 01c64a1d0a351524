/**
 * Failed calls as the typed errors of `PaymentsError`: the one place where a verdict becomes a tag.
 */
import {
  AuthError,
  BelowMinimum,
  IdempotencyConflict,
  InsufficientBalance,
  InvalidRequest,
  NoPixKey,
  type Operation,
  OutcomeUnknown,
  type PaymentsError,
  RateLimited,
  type RequestIssue,
  RequestRejected,
  ServiceUnavailable,
  TransactionNotFound,
  UnexpectedResponse
} from "../../../contract/PaymentsError.ts"
import { minimumWithdrawal, type WithdrawalRequest } from "../../../contract/Withdrawal.ts"
import type { RefusalRules } from "../../RefusalRules.ts"
import type { Failure, Refused, Unanswered } from "./verdict.ts"

/** Leaves out what is absent, as optional keys of an error want it. */
const present = <Fields extends Record<string, unknown>>(fields: Fields) => {
  const kept: unknown = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
  return kept as { readonly [K in keyof Fields]?: Exclude<Fields[K], undefined> } // the filter is what removes undefined
}

/** The error of an input or of options that are wrong. */
export const invalid = (operation: Operation, issues: ReadonlyArray<RequestIssue>, idempotencyKey?: string) =>
  new InvalidRequest({
    operation,
    attempts: 0,
    outcome: "NotSent",
    issues,
    ...(idempotencyKey === undefined ? {} : { idempotencyKey })
  })

/** The fields that every error of an answered call has. */
const answered = (operation: Operation, { attempts, idempotencyKey }: Failure, verdict: Refused) => ({
  operation,
  attempts,
  status: verdict.status,
  ...present({ idempotencyKey, serviceMessage: verdict.serviceMessage })
})

const unanswered = (operation: Operation, { attempts }: Failure, verdict: Unanswered) => {
  const { reason, retryAfter, serviceMessage, status } = verdict
  return { operation, attempts, reason, ...present({ status, serviceMessage, retryAfter }) }
}

/** The error that only one operation makes of a refusal, if it is one of its own. */
export type OwnError<E extends PaymentsError> = (
  refused: Refused,
  fields: ReturnType<typeof answered> & { readonly outcome: "Rejected" },
  rules: RefusalRules
) => E | undefined

/** A lookup's 404. */
export const ofLookup =
  (transactionId: string): OwnError<TransactionNotFound> =>
  ({ status }, fields) =>
    status === 404 ? new TransactionNotFound({ ...fields, transactionId }) : undefined

/** The causes that only a withdrawal has. */
export const ofWithdrawal =
  (request: WithdrawalRequest): OwnError<BelowMinimum | InsufficientBalance | NoPixKey> =>
  ({ cause, status }, fields, { noPixKeyStatuses }) => {
    const { amount, pixKey } = request
    if (cause === "InsufficientBalance") return new InsufficientBalance(fields)
    if (cause === "BelowMinimum") return new BelowMinimum({ ...fields, amount, minimum: minimumWithdrawal })
    const isNoKey = cause === "NoPixKey" || (cause === undefined && noPixKeyStatuses.includes(status))
    return pixKey === undefined && isNoKey ? new NoPixKey(fields) : undefined
  }

const refused = <Own extends PaymentsError>(
  operation: Operation,
  failure: Failure,
  verdict: Refused,
  own: OwnError<Own> | undefined
) => {
  const fields = { ...answered(operation, failure, verdict), outcome: "Rejected" } as const
  // These statuses decide, whatever the words say.
  if (verdict.status === 401 || verdict.status === 403) return new AuthError(fields)
  if (verdict.status === 429) return new RateLimited({ ...fields, ...present({ retryAfter: verdict.retryAfter }) })
  const named = verdict.status < 400 ? undefined : own?.(verdict, fields, failure.rules)
  return named ?? new RequestRejected(fields)
}

/** There is an answer, and it must not count as a success. */
const isUnusable = ({ reason }: Unanswered): boolean =>
  reason === "Unreadable" ||
  reason === "TooLarge" ||
  reason === "KeyMismatch" ||
  reason === "NotAsAsked" ||
  reason === "Redirect"

/** What became of a read. */
export const readError = <Own extends PaymentsError = never>(
  operation: Operation,
  failure: Failure,
  own?: OwnError<Own>
) => {
  const { verdict } = failure
  if (verdict._tag === "Refused") return refused(operation, failure, verdict, own)
  const fields = { ...unanswered(operation, failure, verdict), outcome: "NoEffect" } as const
  const { issues = [], status } = verdict
  return status !== undefined && status >= 200 && isUnusable(verdict)
    ? new UnexpectedResponse({ ...fields, status, issues })
    : new ServiceUnavailable(fields)
}

/** Refusals of a withdrawal whose words decide. Where the words could not be read, the outcome is not known. */
const decidedByWords: ReadonlySet<number> = new Set([400, 403, 404, 409, 422])

const conflictOf = (
  { cause, hasWords, status }: Refused,
  operation: Operation
): IdempotencyConflict["conflict"] | undefined => {
  // Of a redirect HTTP says that nothing was done.
  if (status < 400 || status === 401 || status === 429) return undefined
  if (cause === "IdempotencyKeyReused") return "Reused"
  if (cause === "IdempotencyKeyInFlight") return "InFlight"
  if (cause === "Conflict") return "Unclear"
  // How gateways answer to a key that they hold already: a 409, or a 422 that says nothing.
  const isUnclear =
    (status === 409 && (cause === undefined || cause === "Other")) ||
    (status === 422 && !hasWords && operation === "requestWithdrawal")
  return isUnclear ? "Unclear" : undefined
}

/** What became of a write. */
export const writeError = <Own extends PaymentsError = never>(
  operation: Operation,
  idempotencyKey: string,
  failure: Failure,
  own?: OwnError<Own>
) => {
  const { verdict } = failure
  if (verdict._tag === "Unanswered") {
    const fields = { ...unanswered(operation, failure, verdict), idempotencyKey }
    return verdict.sent === "NotSent"
      ? new ServiceUnavailable({ ...fields, outcome: "NotSent" })
      : new OutcomeUnknown({
          ...fields,
          ...present({ issues: verdict.issues, seen: verdict.seen }),
          outcome: "Unknown"
        })
  }
  const { retryAfter, status, unread } = verdict
  const fields = { ...answered(operation, failure, verdict), outcome: "Unknown", idempotencyKey } as const
  if (unread !== undefined && operation === "requestWithdrawal" && decidedByWords.has(status)) {
    return new OutcomeUnknown({ ...fields, ...present({ retryAfter }), reason: unread })
  }
  const error = refused(operation, failure, verdict, own)
  const conflict = conflictOf(verdict, operation)
  // A user's own rules may say that such a status stands for a cause of this operation.
  const isUnclear = conflict === "Unclear" && error._tag !== "RequestRejected"
  return conflict === undefined || isUnclear ? error : new IdempotencyConflict({ ...fields, conflict })
}
