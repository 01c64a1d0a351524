/**
 * The fields that errors share, and the parts of their messages.
 */
import * as Duration from "effect/Duration"
import * as Schema from "effect/Schema"
import * as Endpoints from "../Endpoints.ts"
import { FailureReason, reasonInWords } from "../FailureReason.ts"
import { issuesInWords, RequestIssue } from "../Outcome.ts"

const common = {
  operation: Endpoints.Operation,
  /** How many attempts were made, whether or not their request was sent. */
  attempts: Schema.Natural,
  /** The key of the write, the same on every attempt. Absent for reads. */
  idempotencyKey: Schema.optionalKey(Schema.String)
}

type Fields = Schema.Struct.Fields
type With<Base extends Fields, More extends Fields> = {
  readonly [K in keyof (Omit<Base, keyof More> & More)]: (Omit<Base, keyof More> & More)[K]
}

/**
 * Makes a function that adds fields to these. An error that a program does not use is not in its bundle: bundlers drop an
 * unused call, and keep an unused spread.
 */
const withFields =
  <const Base extends Fields>(base: Base) =>
  <const More extends Fields>(more: More) =>
    ({ ...base, ...more }) as With<Base, More> // the type of the spread of the two

/** The words and the code of the service's answer. */
export const serviceWords = {
  /** The words of the service, cut, cleaned and masked. Absent if there are no readable words. */
  serviceMessage: Schema.optionalKey(Schema.String),
  /** The error code of the service. Absent if it gave none, or if the request holds the same text. */
  serviceCode: Schema.optionalKey(Schema.String)
}

/** Adds fields to those of every error. */
export const callFields = withFields(common)

/** Adds fields to those of an error of an answered call. */
export const answerFields = withFields(
  callFields({
    /** The HTTP status of the answer. */
    status: Schema.Int,
    ...serviceWords,
    /**
     * The fields of the request that the answer names, in the contract's spelling, with its masked words about each. Absent if it
     * names none. A key that is no documented field is in none.
     */
    issues: Schema.optionalKey(Schema.Array(RequestIssue))
  })
)

/** Adds fields to those of an error of a call without a usable answer. */
export const failureFields = withFields(
  callFields({
    reason: FailureReason,
    /** The HTTP status of the last answer, if there was one. */
    status: Schema.optionalKey(Schema.Int),
    ...serviceWords,
    /** The time that the service asked to wait before another attempt, if it did. */
    retryAfter: Schema.optionalKey(Schema.Duration)
  })
)

/** Adds what the next call needs to know of a write in doubt: see `after` of `WriteOptions`. */
export const doubtFields = withFields({
  /**
   * A hash of the base URL, the client id and the company under which the key was sent, without a secret. Absent if the
   * error was not made by a client, or no request of it is known.
   */
  fingerprint: Schema.optionalKey(Schema.String),
  /** The time of the first request with the key that is known. */
  firstSentAt: Schema.optionalKey(Schema.DateTimeUtcFromString)
})

/**
 * The SHA-256, in hexadecimal, of what the refusal says: its operation, its status and its masked words, in which a number is one sign.
 * Refusals that differ only by their request have one digest, by which a person judges them. Absent where nothing is to be judged.
 */
export const digest = Schema.optionalKey(Schema.String)

/** The sentence has a word of doubt, or only says that the request failed: what one payout shows of it holds for no other one. */
export const oneByOne = Schema.optionalKey(Schema.Literal(true))

/** What to do about a refusal that nobody knows. */
export const adviceInWords = (error: { readonly reason: FailureReason; readonly digest?: string }) =>
  error.reason !== "RefusalUnknown"
    ? ""
    : ` If your gateway says by this that it executed nothing, add it to GatewayFacts.refusals${error.digest === undefined ? "" : ` (digest ${error.digest.slice(0, 12)})`}.`

export const serviceSaid = ({
  serviceCode,
  serviceMessage
}: {
  readonly serviceMessage?: string
  readonly serviceCode?: string
}) => {
  const code = serviceCode === undefined ? "" : ` (code ${serviceCode})`
  if (serviceMessage !== undefined) {
    const stop = code === "" && /[.!?]$/.test(serviceMessage) ? "" : "."
    return ` The service said: "${serviceMessage}"${code}${stop}`
  }
  return serviceCode === undefined ? "" : ` The service gave the code ${serviceCode}.`
}

/** The fields that the service named, where its words, which hold their names, are not there. */
export const fieldsInWords = (error: {
  readonly serviceMessage?: string
  readonly issues?: ReadonlyArray<RequestIssue>
}) =>
  error.serviceMessage !== undefined || error.issues === undefined
    ? ""
    : ` The service named: ${error.issues.map(({ path }) => path).join(", ")}.`

/** A refusal proves nothing about earlier calls with the same key, so the sentence is about this call only. */
export const nothingExecuted = (error: { readonly idempotencyKey?: string }) =>
  error.idempotencyKey === undefined
    ? "Nothing was executed"
    : `Nothing was executed by this call (idempotency key ${error.idempotencyKey})`

export const waitInWords = (duration: Duration.Duration): string => {
  const seconds = Math.ceil(Duration.toSeconds(duration))
  return seconds > 86_400 ? "in more than a day" : seconds <= 0 ? "now" : `in ${seconds} second(s)`
}

export const retryAfterInWords = (error: { readonly retryAfter?: Duration.Duration }) =>
  error.retryAfter === undefined ? "" : ` The service asks to try again ${waitInWords(error.retryAfter)}.`

export const keyInWords = (error: { readonly idempotencyKey?: string }) =>
  error.idempotencyKey === undefined ? "" : ` (idempotency key ${error.idempotencyKey})`

/** What a write may have done. */
export const stakeInWords = (operation: Endpoints.Operation): string =>
  operation === "createTransaction" ? "THE CHARGE MAY EXIST." : "MONEY MAY HAVE MOVED."

export const failureInWords = (error: { readonly reason: FailureReason; readonly status?: number }) =>
  `${reasonInWords[error.reason]}${error.status === undefined ? "" : ` (HTTP ${error.status})`}`

/** The mistakes in an answer as the end of a sentence, if there are any. */
export const withIssues = (issues: ReadonlyArray<RequestIssue> = []) =>
  issues.length === 0 ? "" : `: ${issuesInWords(issues, "the body")}`
