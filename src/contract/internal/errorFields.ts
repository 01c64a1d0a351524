/**
 * The fields that errors share, and the parts of their messages.
 */
import * as Duration from "effect/Duration"
import * as Schema from "effect/Schema"
import * as Endpoints from "../Endpoints.ts"
import { FailureReason } from "../FailureReason.ts"
import type { RequestIssue } from "../Outcome.ts"

const common = {
  operation: Endpoints.Operation,
  /** How many times a request was sent, or tried to be. */
  attempts: Schema.Natural,
  /** The key of the write: the same on every attempt. Absent for reads. */
  idempotencyKey: Schema.optionalKey(Schema.String)
}

type Fields = Schema.Struct.Fields
type With<Base extends Fields, More extends Fields> = {
  readonly [K in keyof (Omit<Base, keyof More> & More)]: (Omit<Base, keyof More> & More)[K]
}

/** Adds fields to others. A function and no spread in place: a bundler drops what nothing uses of its result. */
const withFields =
  <const Base extends Fields>(base: Base) =>
  <const More extends Fields>(more: More) =>
    ({ ...base, ...more }) as With<Base, More> // what a spread makes of the two

/** What the service said, where it answered. */
export const serviceWords = {
  /** What the service said, cut, cleaned and masked. Absent when it said nothing readable. */
  serviceMessage: Schema.optionalKey(Schema.String),
  /** The code that the service gave beside its words. Absent where it gave none, or where the request holds it. */
  serviceCode: Schema.optionalKey(Schema.String)
}

/** The fields of every error, and more. */
export const callFields = withFields(common)

/** The fields of an error of an answered call, and more. */
export const answerFields = withFields(
  callFields({
    /** The HTTP status of the answer. */
    status: Schema.Int,
    ...serviceWords
  })
)

/** The fields of an error of a call without a usable answer, and more. */
export const failureFields = withFields(
  callFields({
    reason: FailureReason,
    /** The HTTP status of the last answer, where there was one. */
    status: Schema.optionalKey(Schema.Int),
    ...serviceWords,
    /** What the service asked to wait before trying again, where it did. */
    retryAfter: Schema.optionalKey(Schema.Duration)
  })
)

export const serviceSaid = ({
  serviceCode,
  serviceMessage
}: {
  readonly serviceMessage?: string
  readonly serviceCode?: string
}) => {
  const code = serviceCode === undefined ? "" : ` (code ${serviceCode})`
  if (serviceMessage !== undefined) return ` The service said: "${serviceMessage}"${code}.`
  return serviceCode === undefined ? "" : ` The service gave the code ${serviceCode}.`
}

/** A refusal is about one call. It does not say what an earlier call with the same key did. */
export const nothingExecuted = (error: { readonly idempotencyKey?: string }) =>
  error.idempotencyKey === undefined
    ? "Nothing was executed"
    : `Nothing was executed by this call (idempotency key ${error.idempotencyKey})`

export const waitInWords = (duration: Duration.Duration): string => {
  const seconds = Math.ceil(Duration.toSeconds(duration))
  return seconds > 86_400 ? "in more than a day" : seconds <= 0 ? "now" : `in ${seconds} second(s)`
}

export const retryAfterInWords = (error: { readonly retryAfter?: Duration.Duration }) =>
  error.retryAfter === undefined ? "" : ` The service asks to come back ${waitInWords(error.retryAfter)}.`

export const keyInWords = (error: { readonly idempotencyKey?: string }) =>
  error.idempotencyKey === undefined ? "" : ` (idempotency key ${error.idempotencyKey})`

/** What a write may have done, by the contract. */
export const stakeInWords = (operation: Endpoints.Operation): string => {
  const endpoint: Endpoints.Endpoint = Endpoints.all[operation]
  return endpoint.atStake ?? "MONEY MAY HAVE MOVED."
}

export const reasonInWords: Record<FailureReason, string> = {
  NotMade: "no request was made, or it was kept back on this side",
  NameNotResolved: "the host name does not resolve",
  NoConnection: "no connection could be made",
  Tls: "the TLS certificate or handshake is not acceptable",
  ConnectionLost: "the connection broke before the answer was complete",
  Timeout: "no full answer came in time",
  UnderWay: "the service says that something is locked or failed on the way",
  ServerError: "the service failed",
  Truncated: "the answer stopped in the middle",
  TooLarge: "the answer is larger than the policy allows",
  Unreadable: "the answer is not what the contract says",
  KeyMismatch: "the answer belongs to another idempotency key",
  NotAsAsked: "the answer is not about what was asked, or says that it failed",
  UnsoundBrCode: "the charge was created, but its BR Code is not one to show to a payer",
  RefusedAfterUnknown: "a repetition was refused after an earlier sending whose result is not known",
  EarlierUnknown: "nothing was sent now, but the result of an earlier sending is not known",
  Redirect: "the answer is a redirect, which is never followed",
  Interrupted: "the call was interrupted while its request may have been under way",
  Unrecognised: "the transport failed in an unknown way"
}

export const failureInWords = (error: { readonly reason: FailureReason; readonly status?: number }) =>
  `${reasonInWords[error.reason]}${error.status === undefined ? "" : ` (HTTP ${error.status})`}`

export const issuesInWords = (issues: ReadonlyArray<RequestIssue> = []) =>
  issues.length === 0
    ? ""
    : `: ${issues.map(({ path, problem }) => (path === "" ? problem : `${path}: ${problem}`)).join("; ")}`
