/**
 * Failed calls as the typed errors of `PaymentsError`: the one place where a verdict becomes a tag.
 */
import {
  AuthError,
  IdempotencyConflict,
  type Operation,
  OutcomeUnknown,
  RateLimited,
  RequestRejected,
  ServiceUnavailable,
  UnexpectedResponse
} from "../../contract/PaymentsError.ts"
import { type Failure, isAboutCredentials, type Refused, type Unanswered } from "./verdict.ts"

/** Leaves out what is absent, as optional keys of an error want it. */
const present = <Fields extends Record<string, unknown>>(fields: Fields) => {
  const kept: unknown = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
  return kept as { readonly [K in keyof Fields]?: Exclude<Fields[K], undefined> } // the filter is what removes undefined
}

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

const refused = (operation: Operation, failure: Failure, verdict: Refused) => {
  const fields = { ...answered(operation, failure, verdict), outcome: "Rejected" } as const
  if (isAboutCredentials(verdict)) return new AuthError(fields)
  return verdict.status === 429
    ? new RateLimited({ ...fields, ...present({ retryAfter: verdict.retryAfter }) })
    : new RequestRejected(fields)
}

/** The errors that only one operation has: what it makes of a refusal that is neither about credentials nor about haste. */
export type OwnError<E> = (
  verdict: Refused,
  fields: ReturnType<typeof answered> & { readonly outcome: "Rejected" }
) => E | undefined

const ownOf = <E>(operation: Operation, failure: Failure, verdict: Refused, own: OwnError<E> | undefined) =>
  own === undefined || isAboutCredentials(verdict) || verdict.status === 429
    ? undefined
    : own(verdict, { ...answered(operation, failure, verdict), outcome: "Rejected" })

/** What became of a read. */
export const readError = <E = never>(operation: Operation, failure: Failure, own?: OwnError<E>) => {
  const { verdict } = failure
  if (verdict._tag === "Refused") {
    return ownOf(operation, failure, verdict, own) ?? refused(operation, failure, verdict)
  }
  const fields = { ...unanswered(operation, failure, verdict), outcome: "NoEffect" } as const
  const { issues = [], status, transient } = verdict
  return status !== undefined && status >= 200 && status < 300 && !transient
    ? new UnexpectedResponse({ ...fields, status, issues })
    : new ServiceUnavailable(fields)
}

const conflicts = { IdempotencyKeyReused: "Reused", IdempotencyKeyInFlight: "InFlight" } as const

const conflictOf = ({ cause, status }: Refused) => {
  if (cause === "IdempotencyKeyReused" || cause === "IdempotencyKeyInFlight") return conflicts[cause]
  // A 409 that names no cause is what gateways answer to a key that they hold already.
  return status === 409 && (cause === undefined || cause === "Other") ? "Unclear" : undefined
}

/** What became of a write. */
export const writeError = <E = never>(
  operation: Operation,
  idempotencyKey: string,
  failure: Failure,
  own?: OwnError<E>
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
  const special = ownOf(operation, failure, verdict, own)
  if (special !== undefined) return special
  const conflict = isAboutCredentials(verdict) ? undefined : conflictOf(verdict)
  return conflict === undefined
    ? refused(operation, failure, verdict)
    : new IdempotencyConflict({ ...answered(operation, failure, verdict), outcome: "Unknown", conflict })
}
