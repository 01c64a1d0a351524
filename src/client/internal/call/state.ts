/**
 * The data of one call: the values that stay the same, the state that changes from attempt to attempt, and the result
 * of an attempt.
 */
import type * as Context from "effect/Context"
import type * as DateTime from "effect/DateTime"
import type * as Duration from "effect/Duration"
import type * as Result from "effect/Result"
import type * as Tracer from "effect/Tracer"
import type { Endpoint } from "../../../contract/Endpoints.ts"
import type { FailureReason, RequestIssue, Seen } from "../../../contract/PaymentsError.ts"
import type { Unclear } from "../../../contract/WriteOptions.ts"
import type { Sent } from "../../../internal/transport.ts"
import type { Sender } from "../../../internal/sender.ts"
import type { ApiCredentials } from "../../Credentials.ts"
import type { CallSettings, Client } from "./client.ts"
import type { Cause } from "./refusalLines.ts"

export type Issues = ReadonlyArray<RequestIssue>

/** An endpoint of the contract, prepared for calls. It is made once, for all clients. */
export interface Route<E extends Endpoint = Endpoint> {
  readonly endpoint: E
  /** Makes path and query from one object that holds the parameters and the query. */
  readonly pathOf: (input: unknown) => Result.Result<string, Issues>
  readonly decode: (
    body: string,
    misfits: Set<string>,
    zone: DateTime.TimeZone | undefined
  ) => Result.Result<E["response"]["Type"], Undecodable>
}

/** What is known of an earlier request that may have been executed. */
export interface Doubt {
  readonly fingerprint?: string | undefined
  /** In milliseconds since 1970. */
  readonly firstSentAt?: number | undefined
}

/** What a write asks for. */
export interface Asked {
  /** In centavos. */
  readonly amount?: number
  /** Of a charge. */
  readonly paymentMethod?: string
  /** Of a withdrawal that names its payee. */
  readonly pixKey?: string | undefined
}

/** The request of a call, and the reader of its answer. */
export interface Prepared<A, E> {
  /** The key of a write. A read has none. */
  readonly idempotencyKey: string | undefined
  /** The doubt that the caller says the key is in. */
  readonly doubt: Doubt | undefined
  /** What a write sends, as far as a rule about its answer reads it. */
  readonly asked: Asked | undefined
  /** Begins with a slash, and includes the query. */
  readonly path: string
  /** The body as a text. */
  readonly text: string | undefined
  /** Made once, so that every attempt sends the same bytes. */
  readonly body: Uint8Array<ArrayBuffer> | undefined
  readonly decode: (body: string, misfits: Set<string>) => Result.Result<A, Undecodable>
  /** Reads what an answer to a write shows of its charge or withdrawal. */
  readonly seen?: (answered: string) => Seen
  readonly toError: (call: Call, failed: Failed) => E
}

export interface Call<A = unknown, E = unknown> {
  readonly client: Client
  readonly route: Route
  readonly prepared: Prepared<A, E>
  readonly settings: CallSettings
  readonly context: Context.Context<never>
  /** In milliseconds of the monotonic clock. */
  readonly started: number
  /** The fields of the answer that did not fit. */
  readonly misfits: Set<string>
  // Written by `attempt.ts` alone, when a request leaves.
  attempts: number
  /** When the last attempt began, in milliseconds of the monotonic clock. */
  attemptStarted: number
  /** The credentials of the last attempt. */
  used: ApiCredentials | undefined
  /** When the first request with the key was sent, in milliseconds since 1970. */
  firstSentAt: number | undefined
  /**
   * The request that is under way or was answered last. `attempt.ts` sets it in the step that sends, and `call.ts` ends it in the
   * step that stores the doubt: an interruption between the two would report neither.
   */
  request: Pick<Sent, "mayHaveLeft"> | undefined
  // Written by `call.ts` alone, between attempts and at the end.
  /** The attempt that may have been executed, of this call or of an earlier one. */
  inDoubt: Unanswered | undefined
  /** The sender of the last attempt. */
  sender: Sender | undefined
  /** The fingerprint of the sender of the attempt in doubt. */
  fingerprint: string | undefined
  /** The error of a write that ended in doubt. */
  unclear: Unclear | undefined
  /** `onInterruptedWrite` was called for the key, by this call or by an earlier one of a repetition. */
  isReported: boolean
  span: Tracer.Span | undefined
  isOver: boolean
}

/** The last moment at which a request of the call may leave, by the wall clock: in doubt, not after the horizon. */
export const sendUntil = ({ firstSentAt, inDoubt, settings: { horizon, notAfter } }: Call): number =>
  inDoubt === undefined || firstSentAt === undefined ? notAfter : Math.min(notAfter, firstSentAt + horizon)

/** The fields of every answer that is not a success. */
interface ServiceSaid {
  /** The words of the service, masked, so that they may be shown. */
  readonly serviceMessage: string | undefined
  readonly serviceCode: string | undefined
  readonly retryAfter: Duration.Duration | undefined
}

/** The service refused the request: it answered with a 4xx or a redirect. */
export interface Refused extends ServiceSaid {
  readonly _tag: "Refused"
  readonly status: number
  /** What it is, by its status or by what it says. */
  readonly cause: Cause
  /** Whether the body is neither empty nor JSON: a page of something between the client and the service. */
  readonly isPage: boolean
  /** The digest of its sentence: of a 409, and of what the client's own table knows, since a person may have judged it. */
  readonly digest: (() => string | undefined) | undefined
  /** What one payout shows of that sentence holds for no other one. */
  readonly oneByOne: true | undefined
  /** The reason why the body could not be read. Its words are unknown then, and not absent. */
  readonly unread: FailureReason | undefined
  /** The fields of the request that the answer names, and what it says of them, masked. */
  readonly fields: Issues
  /** What the service recorded, if it refused the request by a record. The status is a 2xx then. */
  readonly record: FailedRecord | undefined
}

/** A record that says that its write failed. */
export interface FailedRecord extends Pick<Unanswered, "issues" | "seen"> {
  readonly id: number
  readonly status: string
  /** The members of the answer that the service may say a reason by, as JSON. */
  readonly said: string
  /** Whether the record proves, of a key without a doubt, that nothing was executed. */
  readonly isProof: boolean
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
  /** The digest of the sentence of a refusal that nobody knows. */
  readonly digest?: string | undefined
  /** What one payout shows of that sentence holds for no other one. */
  readonly oneByOne?: true | undefined
}

/** An attempt that failed. */
export type Failed = Refused | Unanswered

/** A 2xx that must not count as a success. */
export interface Undecodable {
  readonly reason: "Unreadable" | "KeyMismatch" | "NotAsAsked" | "UnsoundBrCode"
  readonly issues: Issues
  readonly seen?: Seen
  /** The record, if it says that the write failed. */
  readonly record?: FailedRecord
}
