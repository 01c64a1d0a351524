/**
 * The reasons of errors for calls without a usable answer.
 */
import * as Schema from "effect/Schema"

/** Why a call got no usable answer. */
export const FailureReason = Schema.Literals([
  /** The transport made no request, or something before the transport refused it: a rate limit, an open circuit. */
  "NotMade",
  /** The host name does not resolve. */
  "NameNotResolved",
  /** No connection: refused, unreachable, or not made in time. */
  "NoConnection",
  /** The TLS certificate or handshake is wrong. */
  "Tls",
  /** The connection broke after the request may have left. */
  "ConnectionLost",
  /** No full answer within the attempt's time, or the service says that the client closed the connection (408, 460, 499). */
  "Timeout",
  /** The service says that something is locked, or that a system behind it failed or did not answer in time (423, 424, words). */
  "UnderWay",
  /** The service answered 5xx. */
  "ServerError",
  /** The answer stopped in the middle. */
  "Truncated",
  /** The answer is larger than the policy allows. */
  "TooLarge",
  /** The answer does not fit the contract. */
  "Unreadable",
  /** The answer echoes another idempotency key. */
  "KeyMismatch",
  /** The answer has a success status, but it is about something other than the request, or its body says that it failed. */
  "NotAsAsked",
  /** The charge was created, but its BR Code must not be shown to a payer. */
  "UnsoundBrCode",
  /** The service refused a repeated request, and an earlier attempt may have been executed. */
  "RefusedAfterUnknown",
  /** The service refused the request, and `PaymentsPolicy.refusal` says that this proves nothing. */
  "RefusalUnknown",
  /** This call sent nothing, but an earlier one with the same key may have been executed. */
  "EarlierUnknown",
  /** Nothing was sent: the key belongs to another client id, base URL or company than those of this client. */
  "OtherClientId",
  /** Nothing was sent: the first request with the key is older than the horizon, so the service may have forgotten it. */
  "PastHorizon",
  /** The answer is a redirect, not followed. */
  "Redirect",
  /** The caller interrupted the call while its request may have been under way. */
  "Interrupted",
  /** The transport failed for a reason that this client cannot classify. */
  "Unrecognised"
])
/** See the schema of the same name. */
export type FailureReason = typeof FailureReason.Type
