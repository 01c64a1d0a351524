/**
 * The errors of the operations. Each has a tag of its own, so that `Effect.catchTag("NoPixKey", ...)` works.
 *
 * The `outcome` of each error says whether money may have moved:
 *
 * - `NotSent`: no request left this process. Nothing was executed.
 * - `Rejected`: the service refused the request. Nothing was executed.
 * - `Unknown`: the write may have been executed. Never send it under a new key: repeat it **with the same idempotency key**.
 * - `NoEffect`: a read got no usable answer. A read changes nothing; one that the service refuses is `Rejected`.
 *
 * `concerns` says what has to change before another attempt can succeed: see `Concern`.
 *
 * Each is a `Schema.TaggedError`: it can be stored, sent and read back. None holds a secret, a header, a request
 * body or a payer's data; the words of the service are cut, cleaned and masked before they are stored.
 */
import * as Schema from "effect/Schema"
import { centavosInReais } from "../internal/decimal.ts"
import { Centavos } from "../pix/Money.ts"
import {
  adviceInWords,
  answerFields,
  callFields,
  digest,
  doubtFields,
  failureFields,
  failureInWords,
  fieldsInWords,
  withIssues,
  keyInWords,
  nothingExecuted,
  oneByOne,
  retryAfterInWords,
  serviceSaid,
  serviceWords,
  stakeInWords,
  waitInWords
} from "./internal/errorFields.ts"
import { reasonInWords } from "./FailureReason.ts"
import { paymentsError } from "./internal/paymentsError.ts"
import { issuesInWords, RequestIssue } from "./Outcome.ts"
import { Seen, seenInWords } from "./Seen.ts"

export type { Operation } from "./Endpoints.ts"
export type { FailureReason } from "./FailureReason.ts"
export type { Concern, Outcome, RequestIssue } from "./Outcome.ts"
export type { Seen } from "./Seen.ts"

/** The input breaks the contract. The mistake was found before anything was sent: nothing happened. */
export class InvalidRequest extends paymentsError<InvalidRequest>()(
  "InvalidRequest",
  callFields({
    outcome: Schema.Literal("NotSent"),
    issues: Schema.Array(RequestIssue)
  }),
  {
    concerns: "Request",
    message: (error) => `${error.operation} was not sent: ${issuesInWords(error.issues)}. Correct the request.`
  }
) {}

/**
 * A withdrawal is under the minimum of 1000 centavos (`docs/service.md`). The client finds this before anything is sent
 * (`NotSent`), or the service says so (`Rejected`).
 */
export class BelowMinimum extends paymentsError<BelowMinimum>()(
  "BelowMinimum",
  callFields({
    outcome: Schema.Literals(["NotSent", "Rejected"]),
    /** The requested amount, in centavos. */
    amount: Centavos,
    /** The documented minimum, in centavos. */
    minimum: Centavos,
    status: Schema.optionalKey(Schema.Int),
    ...serviceWords
  }),
  {
    concerns: "Request",
    message: (error) => {
      const asked = `withdrawal of ${centavosInReais(error.amount)}`
      const minimum = centavosInReais(error.minimum)
      return error.outcome === "NotSent"
        ? `The ${asked} was not sent: the minimum is ${minimum}. Pay out at least ${minimum}.`
        : `The service says that the ${asked} is under its minimum (the documented one is ${minimum}). No money moved; pay out more.${serviceSaid(error)}`
    }
  }
) {}

/** The service refused the credentials: 401; or 403 without words, or in words that are known to say so. */
export class AuthError extends paymentsError<AuthError>()(
  "AuthError",
  answerFields({ outcome: Schema.Literal("Rejected") }),
  {
    concerns: "Setup",
    message: (error) =>
      `The service refused the credentials of ${error.operation} (HTTP ${error.status}). ${nothingExecuted(error)}; check the client id, the secret key and what they are allowed to do.${serviceSaid(error)}`
  }
) {}

/**
 * A withdrawal without `pixKey` was refused because the company has no PIX key on file (`docs/service.md`).
 */
export class NoPixKey extends paymentsError<NoPixKey>()(
  "NoPixKey",
  answerFields({ outcome: Schema.Literal("Rejected") }),
  {
    concerns: "Request",
    message: (error) => {
      // If the answer has no words, the status alone led to this error.
      const because =
        error.serviceMessage === undefined && error.serviceCode === undefined
          ? `, probably because no PIX key is on file (HTTP ${error.status}, without a reason)`
          : `: the service has none on file (HTTP ${error.status})`
      return `The withdrawal names no PIX key and was refused${because}. ${nothingExecuted(error)}; give a pixKey, or register one in the company panel.${serviceSaid(error)}`
    }
  }
) {}

/** The service says that the balance does not cover the withdrawal. */
export class InsufficientBalance extends paymentsError<InsufficientBalance>()(
  "InsufficientBalance",
  answerFields({ outcome: Schema.Literal("Rejected") }),
  {
    concerns: "Balance",
    message: (error) =>
      `The balance does not cover the withdrawal (HTTP ${error.status}). ${nothingExecuted(error)}; read the balance before asking again.${serviceSaid(error)}`
  }
) {}

/**
 * The service recorded the withdrawal, and its record says `Failure`: a refusal with a record. No money moved. It is this error
 * only where that is proved: no earlier request with the key is in doubt; the record has the key, the amount, the payee and the
 * company that were asked; and it has no reason, or a known one. Any other word for failure, or for money that came back, is `OutcomeUnknown`, with the id and the word under `seen`.
 */
export class WithdrawalFailed extends paymentsError<WithdrawalFailed>()(
  "WithdrawalFailed",
  answerFields({
    outcome: Schema.Literal("Rejected"),
    /** The number of the record. */
    withdrawalId: Schema.Int,
    /** The status of the record, as the service wrote it: `Failure`, in any case. */
    withdrawalStatus: Schema.String,
    /** Why the account could not pay, where the record's reason is known to say that: other withdrawals may fail as well. */
    cause: Schema.optionalKey(Schema.Literals(["InsufficientBalance", "LimitReached"]))
  }),
  {
    concerns: (error): "Balance" | "Request" => (error.cause === undefined ? "Request" : "Balance"),
    message: (error) =>
      `The service recorded withdrawal ${error.withdrawalId}${keyInWords(error)}, and the record says ${error.withdrawalStatus}. No money moved by it. The same key is answered with this record: find the cause, then ask under a new key.${serviceSaid(error)}`
  }
) {}

/**
 * The service says that a limit of the account is reached, which ends with time or by a person: of the day or the night, of how
 * often it may ask, of look-ups; or that the account is blocked or suspended.
 */
export class LimitReached extends paymentsError<LimitReached>()(
  "LimitReached",
  answerFields({
    outcome: Schema.Literal("Rejected"),
    /** When it may end: the time that the service asked to wait, or that `GatewayFacts` says. */
    retryAfter: Schema.optionalKey(Schema.Duration)
  }),
  {
    concerns: "Balance",
    message: (error) =>
      `A limit of the account refuses the withdrawal for now (HTTP ${error.status}). ${nothingExecuted(error)}; ask again with the same key when the limit is over.${retryAfterInWords(error)}${serviceSaid(error)}`
  }
) {}

/** The service answered the lookup with 404, empty or in JSON: it has no transaction with this id. */
export class TransactionNotFound extends paymentsError<TransactionNotFound>()(
  "TransactionNotFound",
  answerFields({
    outcome: Schema.Literal("Rejected"),
    transactionId: Schema.String
  }),
  {
    concerns: "Request",
    message: (error) =>
      `The service knows no transaction ${error.transactionId}. Look up with the id that the creation answered, not with a list's row id.${serviceSaid(error)}`
  }
) {}

/**
 * The seen lookup of a withdrawal was answered with 404, empty or in JSON: there is no withdrawal of this number, or the gateway
 * has no such lookup. `effect-pix doctor --withdrawal ID`, with a number that a withdrawal answered, tells which.
 */
export class WithdrawalNotFound extends paymentsError<WithdrawalNotFound>()(
  "WithdrawalNotFound",
  answerFields({
    outcome: Schema.Literal("Rejected"),
    /** The number that was asked for. */
    withdrawalId: Schema.Int
  }),
  {
    concerns: "Request",
    message: (error) =>
      `The service knows no withdrawal ${error.withdrawalId}, or has no lookup of withdrawals, since none is documented. It proves nothing about a payment. Look up with the id that the withdrawal answered.${serviceSaid(error)}`
  }
) {}

/** A 409 of a write: it may be about an earlier request with this idempotency key, which may have been executed. */
export class IdempotencyConflict extends paymentsError<IdempotencyConflict>()(
  "IdempotencyConflict",
  answerFields(
    doubtFields({
      outcome: Schema.Literal("Unknown"),
      /** The time that the service asked to wait before another attempt, if it did. */
      retryAfter: Schema.optionalKey(Schema.Duration),
      digest,
      oneByOne
    })
  ),
  {
    concerns: "Request",
    message: (error) =>
      `The service refused ${error.operation}${keyInWords(error)}, and the refusal may be about an earlier request with this key (HTTP ${error.status}). ${stakeInWords(error.operation)} Ask again with the same key and the same content, or look it up; do not send it under another key before you know what became of that request.${retryAfterInWords(error)}${serviceSaid(error)}`
  }
) {}

/** Too many requests (429, without a word of doubt). `retryAfter` is the time that the service asked to wait, if it did. */
export class RateLimited extends paymentsError<RateLimited>()(
  "RateLimited",
  answerFields({
    outcome: Schema.Literal("Rejected"),
    retryAfter: Schema.optionalKey(Schema.Duration)
  }),
  {
    concerns: "Service",
    message: (error) => {
      const when = error.retryAfter === undefined ? "later" : waitInWords(error.retryAfter)
      return `The service takes no more requests now: ${error.operation} was refused after ${error.attempts} attempt(s) (HTTP 429). ${nothingExecuted(error)}; ask again ${when}.${serviceSaid(error)}`
    }
  }
) {}

/** Any other 4xx, as the 407 of a proxy; or 301, 307 or 308, by which the service says that the base URL is wrong. */
export class RequestRejected extends paymentsError<RequestRejected>()(
  "RequestRejected",
  answerFields({ outcome: Schema.Literal("Rejected") }),
  {
    concerns: (error): "Setup" | "Request" => (error.status < 400 || error.status === 407 ? "Setup" : "Request"),
    message: (error) =>
      error.status === 407
        ? `A proxy refused ${error.operation} before the service (HTTP 407). ${nothingExecuted(error)}; give this program the credentials of the proxy, or another way out.${serviceSaid(error)}`
        : error.status < 400
          ? `The service answered ${error.operation} with a redirect (HTTP ${error.status}): the base URL is wrong. It is never followed, since it would carry the credentials to another place. ${nothingExecuted(error)}; correct the base URL.${serviceSaid(error)}`
          : `The service refused ${error.operation} (HTTP ${error.status}). ${nothingExecuted(error)}; correct the request before you ask again.${serviceSaid(error)}${fieldsInWords(error)}`
  }
) {}

/**
 * The service could not be reached, or failed, on every attempt. For a write it means that provably no request was sent;
 * any other failure of this kind is `OutcomeUnknown` for a write.
 */
export class ServiceUnavailable extends paymentsError<ServiceUnavailable>()(
  "ServiceUnavailable",
  failureFields({
    outcome: Schema.Literals(["NotSent", "NoEffect"])
  }),
  {
    concerns: "Service",
    message: (error) => {
      const moved = error.outcome === "NotSent" ? " Nothing was sent." : ""
      return `${error.operation} failed after ${error.attempts} attempt(s): ${failureInWords(error)}.${moved} It is safe to ask again.${retryAfterInWords(error)}${serviceSaid(error)}`
    }
  }
) {}

/** A read was answered, but not with what the contract says: a 2xx that does not fit it, or the 404 of a load balancer. */
export class UnexpectedResponse extends paymentsError<UnexpectedResponse>()(
  "UnexpectedResponse",
  failureFields({
    /** The HTTP status of the answer. */
    status: Schema.Int,
    outcome: Schema.Literal("NoEffect"),
    /** The differences from the contract. They never hold a value. */
    issues: Schema.Array(RequestIssue)
  }),
  {
    concerns: "Service",
    message: (error) =>
      `${error.operation} was answered (HTTP ${error.status}), but ${reasonInWords[error.reason]}${withIssues(error.issues)}. Reading changes nothing: ask again, and if the answer stays, compare it with the contract.`
  }
) {}

/**
 * A write may or may not have been executed. **Never repeat it under another key.** To learn the result safely, call again
 * with the same input and `{ after: error }`: the error has the key, the time of its first request, and a fingerprint of
 * the base URL, the client id and the company under which it was sent.
 */
export class OutcomeUnknown extends paymentsError<OutcomeUnknown>()(
  "OutcomeUnknown",
  failureFields(
    doubtFields({
      idempotencyKey: Schema.String,
      outcome: Schema.Literal("Unknown"),
      /** The differences of an answer with success from the contract. They never hold a value. */
      issues: Schema.optionalKey(Schema.Array(RequestIssue)),
      /** The values of the charge or the withdrawal in an answer with success that the client did not accept. */
      seen: Schema.optionalKey(Seen),
      digest,
      oneByOne
    })
  ),
  {
    concerns: (error): "Setup" | "Service" => (error.reason === "OtherClientId" ? "Setup" : "Service"),
    message: (error) =>
      `${error.operation}${keyInWords(error)} may have been executed, or not, after ${error.attempts} attempt(s): ${failureInWords(error)}${withIssues(error.issues)}.${seenInWords(error.seen)} ${stakeInWords(error.operation)} Do not send it under a new key: repeat it with the same key, or look it up first.${retryAfterInWords(error)}${serviceSaid(error)}${adviceInWords(error)}`
  }
) {}

/** The causes of a refusal that only a withdrawal has. */
export type WithdrawalRefusal = BelowMinimum | InsufficientBalance | LimitReached | NoPixKey

/** The errors of every read. */
export type ReadError =
  | InvalidRequest
  | AuthError
  | RateLimited
  | RequestRejected
  | ServiceUnavailable
  | UnexpectedResponse

/** The errors of every write. */
export type WriteError =
  | InvalidRequest
  | AuthError
  | IdempotencyConflict
  | RateLimited
  | RequestRejected
  | ServiceUnavailable
  | OutcomeUnknown

/** The errors of `createTransaction`. */
export type CreateTransactionError = WriteError
/** The errors of `getTransaction`. */
export type GetTransactionError = ReadError | TransactionNotFound
/** The errors of `listTransactions`. */
export type ListTransactionsError = ReadError
/** The errors of `getBalance`. */
export type GetBalanceError = ReadError
/** The errors of `requestWithdrawal`. */
export type RequestWithdrawalError = WriteError | WithdrawalRefusal | WithdrawalFailed

/** The errors of the lookup of a withdrawal. */
export type GetWithdrawalError = ReadError | WithdrawalNotFound

/** Any failure of an operation. */
export type PaymentsError = CreateTransactionError | GetTransactionError | RequestWithdrawalError | GetWithdrawalError
