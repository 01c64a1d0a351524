/**
 * The reasons of errors for calls without a usable answer.
 */
import * as Schema from "effect/Schema"

/** Each reason as a part of an error's message. */
export const reasonInWords = {
  /** The transport made no request, or something before the transport refused it: a rate limit, an open circuit. */
  NotMade: "no request was made, or something on this side refused it",
  /** The host name does not resolve. */
  NameNotResolved: "the host name does not resolve",
  /** No connection: refused, unreachable, or not made in time. */
  NoConnection: "no connection could be made",
  /** The TLS certificate or handshake is wrong. */
  Tls: "the TLS certificate or handshake is not acceptable",
  /** The connection broke after the request may have left. */
  ConnectionLost: "the connection broke before the answer was complete",
  /** No full answer within the attempt's time, or the service says that the client closed the connection (408, 460, 499). */
  Timeout: "no full answer came in time",
  /** The service says that something is locked, too early, or waits for another request (423, 424, 425). */
  UnderWay: "the service says that something is locked, too early, or waits for another request",
  /** The service answered 5xx. */
  ServerError: "the service failed",
  /** The answer stopped in the middle. */
  Truncated: "the answer stopped in the middle",
  /** The answer is larger than the policy allows. */
  TooLarge: "the answer is larger than the policy allows",
  /** The answer does not fit the contract. */
  Unreadable: "the answer is not what the contract says",
  /** The answer echoes another idempotency key. */
  KeyMismatch: "the answer belongs to another idempotency key",
  /** The answer has a success status, but it is about something other than the request, or its body says that it failed. */
  NotAsAsked: "the answer is not about what was asked, or says that it failed",
  /** The charge was created, but its BR Code must not be shown to a payer. */
  UnsoundBrCode: "the charge was created, but the answer has no BR Code to pay it by",
  /** The service refused a repeated request, and an earlier attempt may have been executed. */
  RefusedAfterUnknown: "a repeated request was refused, and the result of an earlier attempt is not known",
  /** The service refused the request in a way that is not known to prove that nothing was executed, or that is known to prove nothing. */
  RefusalUnknown: "the service refused it in a way that is not known to prove that nothing was executed",
  /** This call sent nothing, but an earlier one with the same key may have been executed. */
  EarlierUnknown: "this call sent nothing, but the result of an earlier call with the same key is not known",
  /** Nothing was sent: the key belongs to another client id, base URL or company than those of this client. */
  OtherClientId:
    "nothing was sent now, since the key belongs to another client id, base URL or company than those of this client",
  /** Nothing was sent: the first request with the key is older than the horizon, so the service may have forgotten it. */
  PastHorizon: "nothing was sent now, since the service may have forgotten a key that was first sent so long ago",
  /** A queue of payouts is in another database than before, as after a restore, or in one that nobody has checked: a mark may be lost. */
  OtherDatabase:
    "the database is another one than before, or was not checked yet, and may have lost that a request left",
  /** The answer is a redirect, not followed. */
  Redirect: "the answer is a redirect, which is never followed",
  /** The caller interrupted the call while its request may have been under way. */
  Interrupted: "the call was interrupted while its request may have been under way",
  /** The transport failed for a reason that this client cannot classify. */
  Unrecognised: "the transport failed in an unknown way"
} as const

/** Why a call got no usable answer. */
export type FailureReason = keyof typeof reasonInWords

// The keys of a literal object are the names of its type.
const reasons = Object.keys(reasonInWords) as ReadonlyArray<FailureReason>

export const FailureReason = Schema.Literals(reasons)
