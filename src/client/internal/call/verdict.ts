/**
 * What became of one attempt, or of a whole call that failed: the vocabulary between the transport and the errors.
 */
import type * as Duration from "effect/Duration"
import type { FailureReason, RequestIssue, Seen } from "../../../contract/PaymentsError.ts"
import type { RefusalRules } from "../../RefusalRules.ts"

/** What all answers that are no success have in common. */
interface ServiceSaid {
  /** Masked, so that it may be shown. */
  readonly serviceMessage: string | undefined
  readonly serviceCode: string | undefined
  readonly retryAfter: Duration.Duration | undefined
}

/** The service answered that it does not do what was asked: a 4xx, or a redirect. */
export interface Refused extends ServiceSaid {
  readonly _tag: "Refused"
  readonly status: number
  /** The words of the answer as rules are tested on them: folded, without those of the request and of the status. */
  readonly words: string
  /** Whether the answer has a message or a code of its own. */
  readonly hasWords: boolean
  /** Why the body could not be read, if so: then its words are not absent, they are not known. */
  readonly unread: FailureReason | undefined
}

/** There is no usable answer. */
export interface Unanswered extends Partial<ServiceSaid> {
  readonly _tag: "Unanswered"
  /** Whether the request provably never left (`NotSent`), or may have been executed. */
  readonly sent: "NotSent" | "Unknown"
  readonly reason: FailureReason
  readonly status?: number | undefined
  readonly issues?: ReadonlyArray<RequestIssue> | undefined
  readonly seen?: Seen | undefined
}

export type Failed = Refused | Unanswered

/** A 2xx that must not count as a success. */
export interface Undecodable {
  readonly reason: "Unreadable" | "KeyMismatch" | "NotAsAsked" | "UnsoundBrCode"
  readonly issues: ReadonlyArray<RequestIssue>
  readonly seen?: Seen
}

/**
 * What is known of earlier requests with the key of a write. `None`: none can have been executed. `Unknown`: one may have
 * been. `Undeclared`: the caller gave the key and said nothing of its past.
 */
export type KeyPast = "None" | "Unknown" | "Undeclared"

/** A failed call, as the operation gets it that makes a typed error of it. */
export interface Failure {
  readonly attempts: number
  readonly idempotencyKey: string | undefined
  readonly past: KeyPast
  /** The last attempt's failure; of a write whose earlier attempt may have been executed, always `Unanswered`. */
  readonly verdict: Failed
  /** The rules by which the words were read. */
  readonly rules: RefusalRules
}
