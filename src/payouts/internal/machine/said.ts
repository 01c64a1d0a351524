/**
 * What the failure of a request says of its payout and of its account: one table, which the row, the account's time and the log read.
 */
import * as Duration from "effect/Duration"
import * as Result from "effect/Result"
import type { IdempotencyConflict, OutcomeUnknown, RequestWithdrawalError } from "../../../contract/PaymentsError.ts"
import { setupStatuses } from "../../../contract/SetupStatus.ts"
import type { Because } from "../../PayoutBecause.ts"
import type { Row } from "./row.ts"

/** A failure after which money may have moved. */
export type InDoubt = OutcomeUnknown | IdempotencyConflict

/** What an answer says of the account. Durations are in milliseconds. */
export type Said =
  /** The service took an amount, or refused a payout by itself (0): it takes the requests of the account. */
  | { readonly _tag: "Taken"; readonly amount: number }
  /** It refuses the requests of the account, for the time that it named. */
  | {
      readonly _tag: "Refused"
      readonly because: Because<"accepted">
      readonly named: number | undefined
      readonly amount: number
      /** What a third answer alike stops the account for: the payout is parked or ended by it. */
      readonly costs?: string | undefined
    }
  /** The balance does not cover the amount. It is no news of a payout that waits for the balance. */
  | { readonly _tag: "Short"; readonly isNews: boolean; readonly amount: number }
  /** It may be about the payout, or about the account: it broke, was silent, or gave no word. */
  | { readonly _tag: "Unclear"; readonly because: Because<"accepted">; readonly key: string }
  /** Nothing left, or nothing is said of the account. */
  | { readonly _tag: "Nothing" }

/** The failure, if it is a sentence that a person has to judge: a refusal that nobody knows, or a 409 with words. */
export const sentenceIn = (error: RequestWithdrawalError): InDoubt | undefined =>
  (error._tag === "OutcomeUnknown" && error.reason === "RefusalUnknown") ||
  (error._tag === "IdempotencyConflict" && error.digest !== undefined)
    ? error
    : undefined

/** The digest of such a sentence; `-` where it has none. */
export const digestOf = (error: RequestWithdrawalError): string => sentenceIn(error)?.digest ?? "-"

/** What is asked of a failure. */
interface Failed {
  readonly error: RequestWithdrawalError
  /** The tag of the error that it is by itself, where an earlier request leaves the payout in doubt. */
  readonly tag: string
  readonly status: number
  readonly reason: string | undefined
}

/** Something on the way to the service may have given it. */
const isWordless = ({ error }: Failed) =>
  !("serviceMessage" in error && error.serviceMessage !== undefined) &&
  !("serviceCode" in error && error.serviceCode !== undefined)

/** The service refused the request: no silence, and no break behind a 4xx. */
const isRefusal = ({ error, reason, status }: Failed) =>
  status >= 400 &&
  status < 500 &&
  ![408, 425].includes(status) &&
  (error._tag !== "OutcomeUnknown" || reason === "RefusedAfterUnknown")

/** It has words, and an entry says what they mean. */
const isNamed = (failed: Failed) =>
  ["BelowMinimum", "NoPixKey", "RequestRejected"].includes(failed.tag) &&
  failed.status !== 407 &&
  isRefusal(failed) &&
  !isWordless(failed)

type Line = readonly [when: (failed: Failed) => boolean, says: Said["_tag"], because?: Because<"accepted">]

/**
 * What a failure says of the account, and what a payout of which nothing can have left waits for: the first line that fits, else it is
 * unclear. A refusal without a cause is about this payout, and is final.
 */
const lines: ReadonlyArray<Line> = [
  [({ error }) => sentenceIn(error) !== undefined, "Refused", "RefusalUnknown"],
  [({ reason }) => reason === "OtherClientId", "Nothing", "OtherClientId"],
  [({ reason }) => reason === "PastHorizon", "Nothing", "Outage"],
  [({ tag }) => tag === "ServiceUnavailable", "Unclear", "Outage"],
  [({ error }) => error.outcome === "NotSent", "Nothing"],
  [({ error }) => error._tag === "WithdrawalFailed" && error.cause === "LimitReached", "Refused", "Limit"],
  [({ error }) => error._tag === "WithdrawalFailed" && error.cause !== undefined, "Refused", "Balance"],
  [({ error }) => error._tag === "WithdrawalFailed", "Taken"],
  [({ tag }) => tag === "InsufficientBalance", "Short", "Balance"],
  [({ tag }) => tag === "LimitReached" || tag === "RateLimited", "Refused", "Limit"],
  [({ status }) => status === 401, "Refused", "Credentials"],
  // Of one payee, or of the credentials.
  [({ tag }) => tag === "AuthError", "Unclear", "Credentials"],
  // An entry names what is wrong with this payout, whatever its status.
  [isNamed, "Taken"],
  [({ status }) => status === 429, "Refused", "Limit"],
  [({ status }) => status === 403, "Unclear", "Credentials"],
  [({ status }) => (status >= 300 && status < 400) || status === 407, "Refused", "Setup"],
  [(failed) => setupStatuses.has(failed.status) && isWordless(failed), "Unclear", "Setup"],
  [isRefusal, "Taken"]
]

/** Of silence, and of a break. */
const unclear: Line = [() => true, "Unclear", "Outage"]

/** See `lines`. `tag`: of the error that a refusal is by itself. */
export const meaningOfFailure = (error: RequestWithdrawalError, tag: string = error._tag) => {
  const status = "status" in error ? (error.status ?? 0) : 0
  const failed = { error, tag, status, reason: "reason" in error ? error.reason : undefined }
  const [, says, because] = lines.find(([when]) => when(failed)) ?? unclear
  return { says, because }
}

/**
 * For how long the service asked to wait, in milliseconds: at most an hour counts, of a limit a day, and less than a second does not.
 */
export const requestedWait = (failure: RequestWithdrawalError): number | undefined => {
  const requested = "retryAfter" in failure ? failure.retryAfter : undefined
  const millis = requested === undefined ? 0 : Duration.toMillis(requested)
  return millis < 1000 ? undefined : Math.min(millis, (failure._tag === "LimitReached" ? 24 : 1) * 3_600_000)
}

/** What an answer to the request of a payout says of its account. `refusedAs`: see `tag` of `Failed`. */
export const saidBy = (
  answer: Result.Result<unknown, RequestWithdrawalError>,
  refusedAs: string | undefined,
  { amount, because: own, idempotencyKey: key }: Pick<Row, "amount" | "idempotencyKey" | "because">
): Said => {
  if (Result.isSuccess(answer)) return { _tag: "Taken", amount }
  const { failure } = answer
  const { because = "Outage", says } = meaningOfFailure(failure, refusedAs)
  const costs =
    because === "RefusalUnknown" ? digestOf(failure) : failure._tag === "WithdrawalFailed" ? because : undefined
  const of = {
    Taken: { _tag: "Taken", amount: 0 },
    Refused: { _tag: "Refused", because, named: requestedWait(failure), amount, costs },
    Short: { _tag: "Short", isNews: own !== because, amount },
    Unclear: { _tag: "Unclear", because, key },
    Nothing: { _tag: "Nothing" }
  } as const
  return of[says]
}
