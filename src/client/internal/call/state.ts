/**
 * One call, as each step of it sees it: what is fixed about it, what it remembers from attempt to attempt, and what became
 * of an attempt.
 */
import type * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import type * as Result from "effect/Result"
import type * as Tracer from "effect/Tracer"
import type { Endpoint } from "../../../contract/Endpoints.ts"
import type { FailureReason, RequestIssue, Seen } from "../../../contract/PaymentsError.ts"
import type { ApiCredentials } from "../../Credentials.ts"
import type { PaymentsPolicy } from "../../PaymentsPolicy.ts"
import type { Client, Settings } from "./client.ts"

export type Issues = ReadonlyArray<RequestIssue>

/** An endpoint of the contract, ready for calls: what depends on it alone is made once, for all clients. */
export interface Route<E extends Endpoint = Endpoint> {
  readonly endpoint: E
  /** Path and query of one object that holds the parameters and the query. */
  readonly pathOf: (input: unknown) => Result.Result<string, Issues>
  readonly decode: (body: string, misfits: Set<string>) => Result.Result<E["response"]["Type"], Undecodable>
}

/**
 * What is known of earlier requests with the key of a write. `None`: none can have been executed. `Unknown`: one may have
 * been. `Undeclared`: the caller gave the key without its past.
 */
export type KeyPast = "None" | "Unknown" | "Undeclared"

/** What a call sends, and how its answer is read. */
export interface Prepared<A, E> {
  /** Of a write, and only there. */
  readonly idempotencyKey: string | undefined
  readonly past: KeyPast
  /** From its first slash, with the query. */
  readonly path: string
  /** Made once, so that every attempt sends the same bytes. */
  readonly body: Uint8Array<ArrayBuffer> | undefined
  readonly decode: (body: string, policy: PaymentsPolicy, misfits: Set<string>) => Result.Result<A, Undecodable>
  readonly toError: (call: Call, failed: Failed) => E
}

export interface Call<A = unknown, E = unknown> {
  readonly client: Client
  readonly route: Route
  readonly prepared: Prepared<A, E>
  readonly settings: Settings
  readonly context: Context.Context<never>
  /** In milliseconds. */
  readonly started: number
  /** The fields of the answer that did not fit. */
  readonly misfits: Set<string>
  attempts: number
  /** When the last attempt began, in milliseconds. */
  attemptStarted: number
  /** The credentials of the last attempt. */
  used: ApiCredentials | undefined
  /** A request may be under way. */
  isUnderWay: boolean
  /** The attempt that may have been executed, of this call or of an earlier one. */
  inDoubt: Unanswered | undefined
  /** The client id that it was sent under. */
  clientIdInDoubt: string | undefined
  span: Tracer.Span | undefined
  isOver: boolean
}

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
  readonly issues?: Issues | undefined
  readonly seen?: Seen | undefined
}

/** An attempt that was no success. */
export type Failed = Refused | Unanswered

/** A 2xx that must not count as a success. */
export interface Undecodable {
  readonly reason: "Unreadable" | "KeyMismatch" | "NotAsAsked" | "UnsoundBrCode"
  readonly issues: Issues
  readonly seen?: Seen
}
