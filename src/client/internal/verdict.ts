/**
 * What became of one attempt, or of a whole call that failed: the vocabulary between the transport and the errors.
 */
import type * as Duration from "effect/Duration"
import type { FailureReason, RequestIssue, Seen } from "../../contract/PaymentsError.ts"
import type { RefusalCause } from "../RefusalRules.ts"

/** The service answered that it does not do what was asked: a 4xx, or a redirect. */
export interface Refused {
  readonly _tag: "Refused"
  readonly status: number
  /** What the words of the answer say, by `RefusalRules`. */
  readonly cause: RefusalCause | undefined
  /** Whether it may stand for the documented refusal of a withdrawal without a key on file. */
  readonly isNoPixKey: boolean
  /** Fit to be shown. */
  readonly serviceMessage: string | undefined
  readonly retryAfter: Duration.Duration | undefined
}

/** The two statuses that are about the credentials, whatever the words say. */
export const isAboutCredentials = ({ status }: Refused): boolean => status === 401 || status === 403

/** There is no usable answer. */
export interface Unanswered {
  readonly _tag: "Unanswered"
  /** Whether the request provably never left (`NotSent`), or may have been executed. */
  readonly sent: "NotSent" | "Unknown"
  readonly reason: FailureReason
  /** Whether another attempt may help. */
  readonly transient: boolean
  readonly status?: number | undefined
  readonly serviceMessage?: string | undefined
  readonly retryAfter?: Duration.Duration | undefined
  readonly issues?: ReadonlyArray<RequestIssue> | undefined
  readonly seen?: Seen | undefined
}

export type Failed = Refused | Unanswered

/** A failed call, as it is told to the operation that makes a typed error of it. */
export interface Failure {
  readonly attempts: number
  readonly idempotencyKey: string | undefined
  /** The last attempt's failure; of a write whose earlier attempt may have been executed, always `Unanswered`. */
  readonly verdict: Failed
}
