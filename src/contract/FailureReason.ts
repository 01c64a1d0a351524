/**
 * Why a call got no answer, or none that can be used.
 */
import * as Schema from "effect/Schema"

/** Why there is no answer, or none that can be used. */
export const FailureReason = Schema.Literals([
  /** The transport made no request of it, or something before the transport refused it: a rate limit, an open circuit. */
  "NotMade",
  /** The host name does not resolve. */
  "NameNotResolved",
  /** No connection: refused, unreachable, or not made in time. */
  "NoConnection",
  /** The TLS certificate or handshake is wrong. */
  "Tls",
  /** The connection broke after the request may have left. */
  "ConnectionLost",
  /** No full answer within the attempt's time, or the service says that its caller went away (408, 460, 499). */
  "Timeout",
  /** The service says that something is locked, or that what it depends on failed (423, 424). */
  "UnderWay",
  /** The service answered 5xx. */
  "ServerError",
  /** The answer stopped in the middle. */
  "Truncated",
  /** The answer is larger than the policy allows. */
  "TooLarge",
  /** The answer is not what the contract says. */
  "Unreadable",
  /** The answer echoes another idempotency key. */
  "KeyMismatch",
  /** The answer has the status of a success, but is about something else than what was asked, or says that it failed. */
  "NotAsAsked",
  /** The charge was created, but its BR Code is not one to show to a payer. */
  "UnsoundBrCode",
  /** The service refused a repetition of a request whose earlier sending may have been executed. */
  "RefusedAfterUnknown",
  /** This call sent nothing, but an earlier one with the same key may have been executed. */
  "EarlierUnknown",
  /** The answer is a redirect, not followed. */
  "Redirect",
  /** The caller interrupted the call while its request may have been under way. */
  "Interrupted",
  /** The transport failed in a way that this client does not know. */
  "Unrecognised"
])
/** See the schema of the same name. */
export type FailureReason = typeof FailureReason.Type
