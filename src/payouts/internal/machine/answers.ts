/**
 * The state machine of a payout: what is known of it, how it may be sent next, and what is known after an answer. Nothing here reads or writes.
 *
 * A payout is clean while no request of it can have been executed, and in doubt since the first request that may have
 * been. In doubt no refusal proves that nothing moved; only a success ends a doubt.
 *
 * A single call may have used the same key, since one reference is one key. What it began is submitted with `after` or with
 * `earlier: "Unknown"`, and is in doubt from the start. So a clean payout is sent with `earlier: "None"`.
 */
import * as DateTime from "effect/DateTime"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import * as Result from "effect/Result"
import {
  OutcomeUnknown,
  type RequestIssue,
  RequestRejected,
  type RequestWithdrawalError
} from "../../../contract/PaymentsError.ts"
import { withoutServiceWords } from "../../../contract/RequestIssues.ts"
import type { Seen } from "../../../contract/Seen.ts"
import { plainWord } from "../../../contract/StatusWords.ts"
import type { WriteOptions } from "../../../contract/WriteOptions.ts"
import type { Withdrawal } from "../../../contract/Withdrawal.ts"
import { Centavos, format } from "../../../pix/Money.ts"
import type { PayoutRefusal } from "../../Payout.ts"
import type { Because } from "../../PayoutBecause.ts"
import { type InDoubt, meaningOfFailure } from "./said.ts"

/** What is known of a payout after a request. */
export type AnswerFact =
  | { readonly _tag: "Recorded"; readonly withdrawal: Withdrawal }
  | { readonly _tag: "Refused"; readonly error: PayoutRefusal; readonly because: Because<"accepted"> | undefined }
  | { readonly _tag: "Unknown"; readonly error: InDoubt }

/** The failure of a request whose result is not known, or whose stored failure cannot be read. */
export const makeOutcomeUnknown = (
  idempotencyKey: string,
  reason: "Interrupted" | "Unrecognised" | "OtherDatabase",
  attempts = 1
): OutcomeUnknown =>
  new OutcomeUnknown({ operation: "requestWithdrawal", attempts, idempotencyKey, outcome: "Unknown", reason })

/**
 * The options of a request for a payout, with the time of the request in doubt if there is one. The fingerprint is not in
 * `after`: the queue compares it itself, since it knows the company of the account.
 */
export const writeOptions = (idempotencyKey: string, mayHaveLeftAt: number | null): WriteOptions => {
  if (mayHaveLeftAt === null) return { idempotencyKey, earlier: "None" }
  const after = new OutcomeUnknown({
    ...makeOutcomeUnknown(idempotencyKey, "Interrupted"),
    firstSentAt: DateTime.makeUnsafe(mayHaveLeftAt)
  })
  return { after }
}

type UnknownFields = ConstructorParameters<typeof OutcomeUnknown>[0]

/** A refusal that proves nothing: of a payout in doubt, or of a sentence that a person judged. What the service said is the same. */
const asDoubt = (
  error: RequestWithdrawalError,
  idempotencyKey: string,
  why: Pick<UnknownFields, "reason" | "digest"> = { reason: "RefusedAfterUnknown" }
): InDoubt => {
  if (error.outcome === "Unknown") return error
  const { _tag: _, ...fields } = error
  // A field of both errors has one type.
  const said = Record.filter(fields, (_, field) => field in OutcomeUnknown.fields) as Partial<UnknownFields>
  const { attempts, operation } = error
  return new OutcomeUnknown({
    ...said,
    ...(error._tag === "WithdrawalFailed" && {
      issues: [{ path: "enTransaction", problem: "is a word for failure" }],
      seen: { id: String(error.withdrawalId), status: error.withdrawalStatus }
    }),
    operation,
    attempts,
    idempotencyKey,
    outcome: "Unknown",
    ...why
  })
}

/** A refusal that the client's own table knows, and a person has judged: it is read by its judgement. */
export const asSentence = (error: RequestWithdrawalError, idempotencyKey: string, digest: string): InDoubt =>
  asDoubt(error, idempotencyKey, { reason: "RefusalUnknown", digest })

/** A code of the service: no sentence, and no word alone, which may be a name. */
const isCode = (code: unknown): code is string =>
  Predicate.isString(code) && /^(?=.*[\d_])[A-Za-z0-9_.-]{1,40}$/.test(code)

/** The fields of a failure that the service may have written. */
interface Worded extends Pick<RequestWithdrawalError, "outcome"> {
  readonly serviceCode?: string
  readonly serviceMessage?: string
  readonly issues?: ReadonlyArray<RequestIssue>
  readonly seen?: Seen
}

/** The service's words for why it refused, masked. They may name a person all the same: a log line has them, and no stored error. */
export const reasonOf = (error: RequestWithdrawalError): string | undefined =>
  "serviceMessage" in error ? error.serviceMessage : undefined

/** A failure as it is stored: without the words of the service. */
export const withoutWords = <E extends RequestWithdrawalError>(error: E): E => {
  const { issues, seen, serviceCode, serviceMessage: _, ...rest }: Worded = error
  const { status, ...place } = seen ?? {}
  const word = status === undefined ? undefined : plainWord(status)
  // The class of an error makes its copy from its own fields.
  const make = error.constructor as new (fields: object) => E
  return new make({
    ...rest,
    ...(issues !== undefined && { issues: issues.map(withoutServiceWords) }),
    ...(isCode(serviceCode) && { serviceCode }),
    ...(seen !== undefined && { seen: word === undefined ? place : { ...place, status: word } })
  })
}

/** What is known of a payout after an answer, without the words of the service. */
export const afterAnswer = (
  answer: Result.Result<Withdrawal, RequestWithdrawalError>,
  idempotencyKey: string,
  isInDoubt: boolean
): AnswerFact => {
  if (Result.isSuccess(answer)) return { _tag: "Recorded", withdrawal: answer.success }
  const failure = withoutWords(answer.failure)
  return isInDoubt || failure.outcome === "Unknown"
    ? { _tag: "Unknown", error: asDoubt(failure, idempotencyKey) }
    : { _tag: "Refused", error: failure, because: meaningOfFailure(answer.failure).because }
}

/**
 * The field by which the record that an answer names leaves a payout in doubt: another company, another PIX key, or a word for failure
 * or return that proves nothing.
 */
export const differsOf = (error: InDoubt): "companyId" | "pixKey" | "enTransaction" | undefined => {
  if (error._tag !== "OutcomeUnknown" || error.reason === "Unreadable") return undefined
  const isAt = (field: string) => error.issues?.some(({ path }) => path === field) === true
  // The issues of a refusal are about fields of the request.
  const asked = error.reason === "NotAsAsked" ? (["companyId", "pixKey"] as const).find(isAt) : undefined
  return asked ?? (isAt("enTransaction") ? "enTransaction" : undefined)
}

/** The number of the record that an answer names, of what was asked. */
export const seenIdOf = (error: InDoubt): number | undefined => {
  const id = error._tag === "OutcomeUnknown" ? Number(error.seen?.id) : Number.NaN
  return Number.isSafeInteger(id) && id >= 0 ? id : undefined
}

/**
 * A success about another company than that of the account is none. The client compares the company only where its own is
 * configured; the account learns it from its first withdrawal.
 */
export const rejectOtherCompany = (
  answer: Result.Result<Withdrawal, RequestWithdrawalError>,
  idempotencyKey: string,
  companyId: number | null
): Result.Result<Withdrawal, RequestWithdrawalError> => {
  const isOther =
    Result.isSuccess(answer) &&
    companyId !== null &&
    answer.success.companyId !== undefined &&
    answer.success.companyId !== companyId
  if (!isOther) return answer
  const issues = [{ path: "companyId", problem: "is not the company of the account" }]
  const seen = { id: String(answer.success.id) }
  return Result.fail(
    new OutcomeUnknown({ ...makeOutcomeUnknown(idempotencyKey, "Unrecognised"), reason: "NotAsAsked", issues, seen })
  )
}

/** The attributes of each log line about a payout, also of the client's warnings. The amount is in centavos. */
export const logFields = ({ amount, reference }: { readonly reference: string; readonly amount: number }) => ({
  "payments.reference": reference,
  "payments.amount": amount
})

/** A payout in the text of a log line. */
export const payoutLabel = (payout: {
  readonly reference: string
  readonly amount: number
  readonly idempotencyKey: string
}): string =>
  `reference ${payout.reference}, ${format(Centavos.make(payout.amount))}, idempotency key ${payout.idempotencyKey}`

/** What a payout waits for that is meant, and has a time at which it ends. */
export const waitsForTime = ["NotBefore", "DailyCap", "Window"] as const satisfies ReadonlyArray<Because<"accepted">>

/** The refusal of a sentence, where a person judged that it is one. */
export const judgedAsRefused = ({
  attempts,
  idempotencyKey = "",
  operation,
  serviceCode,
  status = 0
}: InDoubt): PayoutRefusal =>
  new RequestRejected({
    operation,
    attempts,
    idempotencyKey,
    status,
    outcome: "Rejected",
    ...(serviceCode !== undefined && { serviceCode })
  })
