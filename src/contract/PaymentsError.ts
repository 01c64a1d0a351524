/**
 * What can go wrong. Each case has a tag of its own, so that `Effect.catchTag("NoPixKey", ...)` works.
 *
 * Each error says in `outcome` whether money may have moved:
 *
 * - `NotSent`: nothing left this process. Nothing was executed.
 * - `Rejected`: the service answered that it refuses. Nothing was executed.
 * - `Unknown`: it may have been executed. Never send it under a new key: ask again **with the same idempotency key**.
 * - `NoEffect`: a read got no usable answer. A read changes nothing; one that the service refuses is `Rejected`.
 *
 * Each is a `Schema.TaggedError`: it can be stored, sent and read back. None carries a secret, a header, a request
 * body or a payer's data; what the service said is cut, cleaned and masked before it is kept.
 */
import * as Duration from "effect/Duration"
import * as Schema from "effect/Schema"
import { Centavos } from "../pix/Money.ts"

/** The operations of the service, by the names of their methods on `Payments`. */
export const Operation = Schema.Literals([
  "createTransaction",
  "getTransaction",
  "listTransactions",
  "getBalance",
  "requestWithdrawal"
])
/** See the schema of the same name. */
export type Operation = typeof Operation.Type

/** Whether money may have moved: see the head of this module. */
export const Outcome = Schema.Literals(["NotSent", "Rejected", "Unknown", "NoEffect"])
/** See the schema of the same name. */
export type Outcome = typeof Outcome.Type

const common = {
  operation: Operation,
  /** How many times a request was sent, or tried to be. */
  attempts: Schema.Natural,
  /** The key of the write: the same on every attempt. Absent for reads. */
  idempotencyKey: Schema.optionalKey(Schema.String)
}

type Fields = Schema.Struct.Fields
type With<Base extends Fields, More extends Fields> = {
  readonly [K in keyof (Omit<Base, keyof More> & More)]: (Omit<Base, keyof More> & More)[K]
}

/** Fields beside others. A function and no spread in place: a bundler drops what nothing uses of its result. */
const beside =
  <const Base extends Fields>(base: Base) =>
  <const More extends Fields>(more: More) =>
    ({ ...base, ...more }) as With<Base, More> // what a spread makes of the two

const called = beside(common)

const answered = beside(
  called({
    /** The HTTP status of the answer. */
    status: Schema.Int,
    /** What the service said, cut, cleaned and masked. Absent when it said nothing readable. */
    serviceMessage: Schema.optionalKey(Schema.String)
  })
)

const said = (error: { readonly serviceMessage?: string }) =>
  error.serviceMessage === undefined ? "" : ` The service said: "${error.serviceMessage}".`

/** A refusal is about one call. It does not say what an earlier call with the same key did. */
const nothingDone = (error: { readonly idempotencyKey?: string }) =>
  error.idempotencyKey === undefined
    ? "Nothing was executed"
    : `Nothing was executed by this call (idempotency key ${error.idempotencyKey})`

const waitOf = (duration: Duration.Duration): string => {
  const seconds = Math.ceil(Duration.toSeconds(duration))
  return seconds > 86_400 ? "in more than a day" : seconds <= 0 ? "now" : `in ${seconds} second(s)`
}

const asked = (error: { readonly retryAfter?: Duration.Duration }) =>
  error.retryAfter === undefined ? "" : ` The service asks to come back ${waitOf(error.retryAfter)}.`

const keyed = (error: { readonly idempotencyKey?: string }) =>
  error.idempotencyKey === undefined ? "" : ` (idempotency key ${error.idempotencyKey})`

const atStake = (operation: Operation) =>
  operation === "createTransaction" ? "THE CHARGE MAY EXIST." : "MONEY MAY HAVE MOVED."

/** One thing wrong with a request: where, and what was expected there. Never the value. */
export const RequestIssue = Schema.Struct({ path: Schema.String, problem: Schema.String })
/** See the schema of the same name. */
export type RequestIssue = typeof RequestIssue.Type

const listed = (issues: ReadonlyArray<RequestIssue> = []) =>
  issues.length === 0
    ? ""
    : `: ${issues.map(({ path, problem }) => (path === "" ? problem : `${path}: ${problem}`)).join("; ")}`

/** The input breaks the contract. Found before anything was sent: nothing happened. */
export class InvalidRequest extends Schema.TaggedError<InvalidRequest>("effect-pix/InvalidRequest")(
  "InvalidRequest",
  called({
    outcome: Schema.Literal("NotSent"),
    issues: Schema.Array(RequestIssue)
  })
) {
  override get message(): string {
    return `${this.operation} was not sent, its input is wrong${listed(this.issues)}. Nothing happened; correct the input.`
  }
}

/**
 * A withdrawal under the minimum of 1000 centavos (service interface, section 8). Found before anything was sent
 * (`NotSent`), or said by the service (`Rejected`).
 */
export class BelowMinimum extends Schema.TaggedError<BelowMinimum>("effect-pix/BelowMinimum")(
  "BelowMinimum",
  called({
    outcome: Schema.Literals(["NotSent", "Rejected"]),
    /** What was asked for, in centavos. */
    amount: Centavos,
    /** The documented minimum, in centavos. */
    minimum: Centavos,
    status: Schema.optionalKey(Schema.Int),
    serviceMessage: Schema.optionalKey(Schema.String)
  })
) {
  override get message(): string {
    const who = this.outcome === "NotSent" ? "The" : "The service says that the"
    return `${who} withdrawal of ${this.amount} centavos is under the minimum (documented: ${this.minimum}). No money moved; ask for more.${said(this)}`
  }
}

/** The service refused the credentials: 401, or 403 unless its words are about the idempotency key. */
export class AuthError extends Schema.TaggedError<AuthError>("effect-pix/AuthError")(
  "AuthError",
  answered({
    outcome: Schema.Literal("Rejected")
  })
) {
  override get message(): string {
    return `The service refused the credentials of ${this.operation} (HTTP ${this.status}). ${nothingDone(this)}; check the client id, the secret key and what they are allowed to do.${said(this)}`
  }
}

/**
 * A withdrawal without `pixKey` was refused because the company has no PIX key on file (service interface, sections
 * 2.1 and 7).
 */
export class NoPixKey extends Schema.TaggedError<NoPixKey>("effect-pix/NoPixKey")(
  "NoPixKey",
  answered({
    outcome: Schema.Literal("Rejected")
  })
) {
  override get message(): string {
    return `The withdrawal names no PIX key and the service has none on file (HTTP ${this.status}). ${nothingDone(this)}; give a pixKey, or register one in the company panel.${said(this)}`
  }
}

/** The service says that the balance does not cover the withdrawal. */
export class InsufficientBalance extends Schema.TaggedError<InsufficientBalance>("effect-pix/InsufficientBalance")(
  "InsufficientBalance",
  answered({
    outcome: Schema.Literal("Rejected")
  })
) {
  override get message(): string {
    return `The balance does not cover ${this.operation} (HTTP ${this.status}). ${nothingDone(this)}; read the balance before asking again.${said(this)}`
  }
}

/** The lookup's 404: the service knows no transaction of this id. */
export class TransactionNotFound extends Schema.TaggedError<TransactionNotFound>("effect-pix/TransactionNotFound")(
  "TransactionNotFound",
  answered({
    outcome: Schema.Literal("Rejected"),
    transactionId: Schema.String
  })
) {
  override get message(): string {
    return `The service knows no transaction ${this.transactionId}. Look up with the id that the creation answered, not with a list's row id.${said(this)}`
  }
}

/**
 * The service says that this idempotency key was used for something else (`Reused`), or that its first use is still
 * under way (`InFlight`). `Unclear`: it answered a write with 409 and no cause that is known, or a withdrawal with 422
 * and no words. In each case an earlier request with this key may have been executed.
 */
export class IdempotencyConflict extends Schema.TaggedError<IdempotencyConflict>("effect-pix/IdempotencyConflict")(
  "IdempotencyConflict",
  answered({
    outcome: Schema.Literal("Unknown"),
    conflict: Schema.Literals(["Reused", "InFlight", "Unclear"])
  })
) {
  override get message(): string {
    const what = {
      Reused: "was already used for another request",
      InFlight: "is still being worked on",
      Unclear: "conflicts with something the service holds"
    }[this.conflict]
    const next =
      this.conflict === "InFlight"
        ? "Wait, and ask again with the same key."
        : "Find out what it was used for before you send anything under another one."
    return `The service says that ${this.operation}${keyed(this)} ${what} (HTTP ${this.status}). ${atStake(this.operation)} ${next}${said(this)}`
  }
}

/** Too many requests (429). `retryAfter` is what the service asked to wait, where it did. */
export class RateLimited extends Schema.TaggedError<RateLimited>("effect-pix/RateLimited")(
  "RateLimited",
  answered({
    outcome: Schema.Literal("Rejected"),
    retryAfter: Schema.optionalKey(Schema.Duration)
  })
) {
  override get message(): string {
    const when = this.retryAfter === undefined ? "later" : waitOf(this.retryAfter)
    return `The service takes no more requests now: ${this.operation} was refused after ${this.attempts} attempt(s) (HTTP 429). ${nothingDone(this)}; ask again ${when}.${said(this)}`
  }
}

/** Any other 4xx; or 301, 307 or 308, by which the service says that the base URL is wrong. */
export class RequestRejected extends Schema.TaggedError<RequestRejected>("effect-pix/RequestRejected")(
  "RequestRejected",
  answered({
    outcome: Schema.Literal("Rejected")
  })
) {
  override get message(): string {
    return this.status >= 300 && this.status < 400
      ? `The service answered ${this.operation} with a redirect (HTTP ${this.status}): the base URL is wrong. It is never followed, since it would carry the credentials to another place. ${nothingDone(this)}; correct the base URL.${said(this)}`
      : `The service refused ${this.operation} (HTTP ${this.status}). ${nothingDone(this)}.${said(this)}`
  }
}

/** Why there is no answer, or none that can be used. */
export const FailureReason = Schema.Literals([
  /** The transport made no request of it, or something before it kept it back: a rate limit, an open circuit. */
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

const reasonInWords: Record<FailureReason, string> = {
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

const unanswered = beside(
  called({
    reason: FailureReason,
    /** The HTTP status of the last answer, where there was one. */
    status: Schema.optionalKey(Schema.Int),
    /** What the service said, cut, cleaned and masked. Absent when it said nothing readable. */
    serviceMessage: Schema.optionalKey(Schema.String),
    /** What the service asked to wait before trying again, where it did. */
    retryAfter: Schema.optionalKey(Schema.Duration)
  })
)

const because = (error: { readonly reason: FailureReason; readonly status?: number }) =>
  `${reasonInWords[error.reason]}${error.status === undefined ? "" : ` (HTTP ${error.status})`}`

/**
 * The service could not be reached, or did not answer well, after all attempts. For a write it means that provably
 * nothing was sent; every other failure of this kind is `OutcomeUnknown`.
 */
export class ServiceUnavailable extends Schema.TaggedError<ServiceUnavailable>("effect-pix/ServiceUnavailable")(
  "ServiceUnavailable",
  unanswered({
    outcome: Schema.Literals(["NotSent", "NoEffect"])
  })
) {
  override get message(): string {
    const moved = this.outcome === "NotSent" ? " Nothing was sent." : ""
    return `${this.operation} failed after ${this.attempts} attempt(s): ${because(this)}.${moved} It is safe to ask again.${asked(this)}${said(this)}`
  }
}

/** A read was answered with success, but not with what the contract says. */
export class UnexpectedResponse extends Schema.TaggedError<UnexpectedResponse>("effect-pix/UnexpectedResponse")(
  "UnexpectedResponse",
  unanswered({
    /** The HTTP status of the answer. */
    status: Schema.Int,
    outcome: Schema.Literal("NoEffect"),
    /** Where the answer differs from the contract. Never a value. */
    issues: Schema.Array(RequestIssue)
  })
) {
  override get message(): string {
    return `${this.operation} was answered (HTTP ${this.status}), but ${reasonInWords[this.reason]}${listed(this.issues)}. Nothing was changed by reading.`
  }
}

/**
 * What the answer to a write whose result is not known shows: enough to find the charge or the withdrawal. The values
 * are as the service wrote them. What does not look like an id, a number or a word is left out, and so is data of the
 * request.
 */
export const Seen = Schema.Struct({
  /** Of a charge: the `transactionId` of the lookup. Of a withdrawal: its number. */
  id: Schema.optionalKey(Schema.String),
  /** Of a charge in centavos, of a withdrawal in reais. */
  value: Schema.optionalKey(Schema.String),
  status: Schema.optionalKey(Schema.String)
})
/** See the schema of the same name. */
export interface Seen extends Schema.Schema.Type<typeof Seen> {}

const shown = ({ id, status, value }: Seen = {}): string => {
  const parts = [
    ...(id === undefined ? [] : [`id ${id}`]),
    ...(value === undefined ? [] : [`value ${value}`]),
    ...(status === undefined ? [] : [`status ${status}`])
  ]
  return parts.length === 0 ? "" : ` The answer shows ${parts.join(", ")}.`
}

/**
 * A write may have been executed, and may not. **Never repeat it under another key.** Calling again with the same
 * input and this error's `idempotencyKey` is the safe way to learn the result.
 */
export class OutcomeUnknown extends Schema.TaggedError<OutcomeUnknown>("effect-pix/OutcomeUnknown")(
  "OutcomeUnknown",
  unanswered({
    idempotencyKey: Schema.String,
    outcome: Schema.Literal("Unknown"),
    /** Where an answer with success differs from the contract. Never a value. */
    issues: Schema.optionalKey(Schema.Array(RequestIssue)),
    /** What an answer with success showed of the charge or the withdrawal, where it is not to be relied on. */
    seen: Schema.optionalKey(Seen)
  })
) {
  override get message(): string {
    return `${this.operation}${keyed(this)} may have been executed, or not, after ${this.attempts} attempt(s): ${because(this)}${listed(this.issues)}.${shown(this.seen)} ${atStake(this.operation)} Do not send it under a new key: repeat it with the same key, or look it up first.${asked(this)}${said(this)}`
  }
}

/** What every read can fail with. */
export type ReadError =
  | InvalidRequest
  | AuthError
  | RateLimited
  | RequestRejected
  | ServiceUnavailable
  | UnexpectedResponse

/** What every write can fail with. */
export type WriteError =
  | InvalidRequest
  | AuthError
  | IdempotencyConflict
  | RateLimited
  | RequestRejected
  | ServiceUnavailable
  | OutcomeUnknown

/** What `createTransaction` can fail with. */
export type CreateTransactionError = WriteError
/** What `getTransaction` can fail with. */
export type GetTransactionError = ReadError | TransactionNotFound
/** What `listTransactions` can fail with. */
export type ListTransactionsError = ReadError
/** What `getBalance` can fail with. */
export type GetBalanceError = ReadError
/** What `requestWithdrawal` can fail with. */
export type RequestWithdrawalError = WriteError | BelowMinimum | InsufficientBalance | NoPixKey

/** Any failure of an operation. */
export type PaymentsError = CreateTransactionError | GetTransactionError | RequestWithdrawalError
