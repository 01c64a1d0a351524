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

/** The error of a refusal. */
const refusedError = <Own extends PaymentsError>(call: Call, refused: Refused, ownError: OwnError<Own> | undefined) => {
  const { cause, retryAfter } = refused
  const fields = refusedFields(call, refused)
  const own = ownError?.(refused, fields)
  if (own !== undefined) return own
  if (cause === "AuthError") return new AuthError(fields)
  if (cause === "RateLimited") return new RateLimited({ ...fields, ...withoutUndefined({ retryAfter }) })
  return new RequestRejected(fields)
}

/** The error of a read that failed. */
export const readError = <Own extends PaymentsError = never>(call: Call, failed: Failed, ownError?: OwnError<Own>) => {
  if (failed._tag === "Refused") return refusedError(call, failed, ownError)
  const { issues = [], status } = failed
  const fields = { ...unansweredFields(call, failed), outcome: "NoEffect" } as const
  return status !== undefined && status >= 200 && isUnusable(failed)
    ? new UnexpectedResponse({ ...fields, status, issues })
    : new ServiceUnavailable(fields)
}

/** The error of a write that failed. */
export const writeError = <Own extends PaymentsError = never>(
  call: Call,
  idempotencyKey: string,
  failed: Failed,
  ownError?: OwnError<Own>
) => {
  if (failed._tag === "Refused") {
    const { cause, digest, oneByOne, retryAfter } = failed
    if (cause !== "IdempotencyConflict") return refusedError(call, failed, ownError)
    return new IdempotencyConflict({
      ...refusedFields(call, failed),
      ...doubtFields(call),
      ...withoutUndefined({ digest: digest?.(), oneByOne, retryAfter }),
      outcome: "Unknown"
    })
  }
  const fields = { ...unansweredFields(call, failed), idempotencyKey }
  const { digest, issues, oneByOne, seen, sent } = failed
  return sent === "NotSent"
    ? new ServiceUnavailable({ ...fields, outcome: "NotSent" })
    : new OutcomeUnknown({
        ...fields,
        ...doubtFields(call),
        ...withoutUndefined({ digest, issues, oneByOne, seen }),
        outcome: "Unknown"
      })
}
