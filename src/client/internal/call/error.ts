/**
 * Failed calls as the typed errors of `PaymentsError`: the one place where a verdict becomes a tag.
 */
import {
  AuthError,
  IdempotencyConflict,
  InvalidRequest,
  type Operation,
  OutcomeUnknown,
  type PaymentsError,
  RateLimited,
  type RequestIssue,
  RequestRejected,
  ServiceUnavailable,
  UnexpectedResponse
} from "../../../contract/PaymentsError.ts"
import type { RefusalCause, RefusalRules } from "../../RefusalRules.ts"
import { isAboutDuplication, isAskedBefore } from "../words/refusal.ts"
import type { Failure, Refused, Unanswered } from "./verdict.ts"

/** Leaves out what is absent, as optional keys of an error want it. */
const present = <Fields extends Record<string, unknown>>(fields: Fields) => {
  const defined: unknown = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
  return defined as { readonly [K in keyof Fields]?: Exclude<Fields[K], undefined> } // the filter is what removes undefined
}

/** The error of an input or of options that are wrong. */
export const invalid = (operation: Operation, issues: ReadonlyArray<RequestIssue>, idempotencyKey?: string) =>
  new InvalidRequest({ operation, attempts: 0, outcome: "NotSent", issues, ...present({ idempotencyKey }) })

/** The fields that every error of an answered call has. */
const answered = (operation: Operation, { attempts, idempotencyKey }: Failure, verdict: Refused) => ({
  operation,
  attempts,
  status: verdict.status,
  ...present({ idempotencyKey, serviceMessage: verdict.serviceMessage, serviceCode: verdict.serviceCode })
})

const unanswered = (operation: Operation, { attempts }: Failure, verdict: Unanswered) => {
  const { reason, retryAfter, serviceCode, serviceMessage, status } = verdict
  return { operation, attempts, reason, ...present({ status, serviceMessage, serviceCode, retryAfter }) }
}

/**
 * The error that only one operation makes of a refusal, if it is one of its own. `cause` is what the user's rules say of it,
 * if they say anything.
 */
export type OwnError<E extends PaymentsError> = (
  refused: Refused,
  fields: ReturnType<typeof answered> & { readonly outcome: "Rejected" },
  cause: RefusalCause | undefined,
  rules: RefusalRules
) => E | undefined

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
  const { rules, verdict } = failure
  if (verdict._tag === "Refused") {
    const fields = { ...answered(operation, failure, verdict), outcome: "Rejected" } as const
    if (verdict.status === 401 || verdict.status === 403) return new AuthError(fields)
    if (verdict.status === 429) return new RateLimited({ ...fields, ...present({ retryAfter: verdict.retryAfter }) })
    return own?.(verdict, fields, undefined, rules) ?? new RequestRejected(fields)
  }
  const fields = { ...unanswered(operation, failure, verdict), outcome: "NoEffect" } as const
  const { issues = [], status } = verdict
  return status !== undefined && status >= 200 && isUnusable(verdict)
    ? new UnexpectedResponse({ ...fields, status, issues })
    : new ServiceUnavailable(fields)
}

/** Refusals by which a gateway may answer to a key that it holds already. */
const mayConcernKey: ReadonlySet<number> = new Set([400, 402, 403, 404, 406, 412, 422])

/**
 * What became of a write that was refused. The first line that fits decides; the words decide an outcome in the second
 * and the third block alone.
 */
const refusedWrite = <Own extends PaymentsError>(
  operation: Operation,
  idempotencyKey: string,
  failure: Failure,
  verdict: Refused,
  own: OwnError<Own> | undefined
) => {
  const { past, rules } = failure
  const { hasWords, retryAfter, status, unread, words } = verdict
  const fields = { ...answered(operation, failure, verdict), outcome: "Rejected", idempotencyKey } as const
  const named = (cause: RefusalCause | undefined) => own?.(verdict, fields, cause, rules) ?? new RequestRejected(fields)
  const conflict = () => new IdempotencyConflict({ ...fields, outcome: "Unknown" })

  if (status === 401) return new AuthError(fields)
  if (status === 429) return new RateLimited({ ...fields, ...present({ retryAfter }) })
  // Of a redirect HTTP says that nothing was done.
  if (status < 400) return new RequestRejected(fields)

  const users = rules.rules.find((rule) => words.search(rule.words) !== -1)?.cause
  if (users !== undefined) return users === "IdempotencyConflict" ? conflict() : named(users)
  if (status === 409 || isAboutDuplication(words)) return conflict()

  if (past === "Undeclared") {
    if (isAskedBefore(words) || (status === 422 && !hasWords && unread === undefined)) return conflict()
    if (unread !== undefined && mayConcernKey.has(status)) {
      return new OutcomeUnknown({ ...fields, outcome: "Unknown", ...present({ retryAfter }), reason: unread })
    }
  }
  return status === 403 ? new AuthError(fields) : named(undefined)
}

/** What became of a write. */
export const writeError = <Own extends PaymentsError = never>(
  operation: Operation,
  idempotencyKey: string,
  failure: Failure,
  own?: OwnError<Own>
) => {
  const { verdict } = failure
  if (verdict._tag === "Refused") return refusedWrite(operation, idempotencyKey, failure, verdict, own)
  const fields = { ...unanswered(operation, failure, verdict), idempotencyKey }
  return verdict.sent === "NotSent"
    ? new ServiceUnavailable({ ...fields, outcome: "NotSent" })
    : new OutcomeUnknown({ ...fields, ...present({ issues: verdict.issues, seen: verdict.seen }), outcome: "Unknown" })
}
