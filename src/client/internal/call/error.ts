/**
 * Makes the typed errors of `PaymentsError` from failed calls. No other module decides the tag of an error.
 */
import * as DateTime from "effect/DateTime"
import {
  AuthError,
  IdempotencyConflict,
  OutcomeUnknown,
  type PaymentsError,
  RateLimited,
  RequestRejected,
  ServiceUnavailable,
  UnexpectedResponse
} from "../../../contract/PaymentsError.ts"
import { isDecidedByStatus } from "./judgeRefusal.ts"
import type { Call, Failed, Refused, Unanswered } from "./state.ts"

/** Removes absent fields, since an optional field of an error must not hold `undefined`. */
const withoutUndefined = <Fields extends Record<string, unknown>>(fields: Fields) => {
  const defined: unknown = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
  return defined as { readonly [K in keyof Fields]?: Exclude<Fields[K], undefined> } // the filter is what removes undefined
}

/** The sender and the time of the write that may have been executed. */
export const doubtFields = ({ fingerprint, firstSentAt, sender }: Call) =>
  withoutUndefined({
    fingerprint: fingerprint ?? sender?.fingerprint(),
    firstSentAt: firstSentAt === undefined ? undefined : DateTime.makeUnsafe(firstSentAt)
  })

/** The fields of the error of a call that was refused. */
const refusedFields = (
  { attempts, prepared, route }: Call,
  { fields, serviceCode, serviceMessage, status }: Refused
) => ({
  operation: route.endpoint.operation,
  attempts,
  status,
  outcome: "Rejected" as const,
  ...withoutUndefined({
    idempotencyKey: prepared.idempotencyKey,
    serviceMessage,
    serviceCode,
    issues: fields.length === 0 ? undefined : fields
  })
})

/** The fields of the error of a call without a usable answer. */
const unansweredFields = ({ attempts, route }: Call, failed: Unanswered) => {
  const { reason, retryAfter, serviceCode, serviceMessage, status } = failed
  const { operation } = route.endpoint
  return { operation, attempts, reason, ...withoutUndefined({ status, serviceMessage, serviceCode, retryAfter }) }
}

/** Returns the error of a refusal if it is an error that only this operation has. */
export type OwnError<E extends PaymentsError> = (
  refused: Refused,
  fields: ReturnType<typeof refusedFields>
) => E | undefined

/** Whether there is an answer that must not count as a success. */
const isUnusable = ({ reason }: Unanswered): boolean =>
  reason === "Unreadable" ||
  reason === "TooLarge" ||
  reason === "KeyMismatch" ||
  reason === "NotAsAsked" ||
  reason === "Redirect"

/** The error of a read that failed. */
export const readError = <Own extends PaymentsError = never>(call: Call, failed: Failed, ownError?: OwnError<Own>) => {
  if (failed._tag === "Refused") {
    const { retryAfter, status } = failed
    const fields = refusedFields(call, failed)
    if (status === 401 || status === 403) return new AuthError(fields)
    if (status === 429) return new RateLimited({ ...fields, ...withoutUndefined({ retryAfter }) })
    return ownError?.(failed, fields) ?? new RequestRejected(fields)
  }
  const { issues = [], status } = failed
  const fields = { ...unansweredFields(call, failed), outcome: "NoEffect" } as const
  return status !== undefined && status >= 200 && isUnusable(failed)
    ? new UnexpectedResponse({ ...fields, status, issues })
    : new ServiceUnavailable(fields)
}

/**
 * The error of a write that was refused. The first condition that is true decides. `judgeRefusal` has already found the
 * refusals that the user's facts or their words leave in doubt.
 */
const refusedWrite = <Own extends PaymentsError>(
  call: Call,
  idempotencyKey: string,
  refused: Refused,
  ownError: OwnError<Own> | undefined
) => {
  const { cause, isConflict, isLimit, record, retryAfter, status } = refused
  const fields = { ...refusedFields(call, refused), idempotencyKey }
  const doubt = () => ({ ...doubtFields(call), ...withoutUndefined({ retryAfter }), outcome: "Unknown" }) as const
  const ownOrRejected = (named = refused) => ownError?.(named, fields) ?? new RequestRejected(fields)
  const conflict = () => {
    if (record === undefined) return new IdempotencyConflict({ ...fields, ...doubt() })
    const { issues, seen } = record
    return new OutcomeUnknown({ ...fields, ...doubt(), reason: "NotAsAsked", ...withoutUndefined({ issues, seen }) })
  }

  if (status === 401) return new AuthError(fields)
  // A permanent redirect (RFC 9110, section 15.4), or a proxy's refusal: nothing was done.
  if (isDecidedByStatus(status)) return new RequestRejected(fields)
  // The user's own cause counts for a limit or a conflict too: it is asked only of a key without a doubt.
  const isOwn = cause !== undefined
  if (isLimit && !isOwn && cause !== "IdempotencyConflict") return ownOrRejected({ ...refused, cause: "LimitReached" })
  if (isConflict && !isOwn) return conflict()
  if (status === 429 && !isConflict && !isLimit)
    return new RateLimited({ ...fields, ...withoutUndefined({ retryAfter }) })
  if (cause !== undefined) return cause === "IdempotencyConflict" ? conflict() : ownOrRejected()
  return status === 403 ? new AuthError(fields) : ownOrRejected()
}

/** The error of a write that failed. */
export const writeError = <Own extends PaymentsError = never>(
  call: Call,
  idempotencyKey: string,
  failed: Failed,
  ownError?: OwnError<Own>
) => {
  if (failed._tag === "Refused") return refusedWrite(call, idempotencyKey, failed, ownError)
  const fields = { ...unansweredFields(call, failed), idempotencyKey }
  const { issues, seen, sent } = failed
  return sent === "NotSent"
    ? new ServiceUnavailable({ ...fields, outcome: "NotSent" })
    : new OutcomeUnknown({ ...fields, ...doubtFields(call), ...withoutUndefined({ issues, seen }), outcome: "Unknown" })
}
