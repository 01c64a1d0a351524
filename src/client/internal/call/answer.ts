/**
 * Answers that are no success, judged by their status and their words.
 */
import * as Headers from "effect/http/Headers"
import type * as Duration from "effect/Duration"
import * as Result from "effect/Result"
import type { FailureReason } from "../../../contract/PaymentsError.ts"
import type { AnswerHeaders } from "../../../internal/transport.ts"
import type { RefusalCause, RefusalRules } from "../../RefusalRules.ts"
import { causeOf } from "../words/refusalCause.ts"
import { displayMessage, type Secret } from "../words/mask.ts"
import { maxInput, readServiceMessage, type ServiceMessage } from "../words/serviceMessage.ts"
import type { Failed, Unanswered } from "./verdict.ts"

/** What judging an answer needs to know of its call. */
export interface Asked {
  readonly isWrite: boolean
  readonly rules: RefusalRules
  /** Values that must not be shown, even if the service echoes them. */
  readonly secrets: () => ReadonlyArray<Secret>
  /** In milliseconds. */
  readonly now: number
}

const headerOf = (headers: AnswerHeaders, name: string): string | undefined => {
  const value = headers[name]
  return typeof value === "string" ? value : value?.[0]
}

/** Reads `Retry-After` in both its forms (RFC 9110, section 10.2.3); anything else in it counts as absent. */
const retryAfterOf = (headers: AnswerHeaders, now: number): Duration.Duration | undefined => {
  const value = headerOf(headers, "retry-after")
  if (value === undefined) return undefined
  const parsed = Headers.parseRetryAfter(value)
  return Result.isSuccess(parsed) ? Headers.retryAfterDelay(parsed.success, now) : undefined
}

/** HTTP says of these that nothing was done and that the request belongs elsewhere: the base URL is wrong. */
const elsewhere: ReadonlySet<number> = new Set([301, 307, 308])

/** Why a status does not say what became of the request. `undefined`: it says that the request was refused. */
const openReason = (status: number, isWrite: boolean): FailureReason | undefined => {
  // No final status at all (101 unasked, 000): node:http lets it through.
  if (status < 200) return "Unreadable"
  if (status >= 500) return "ServerError"
  if (status >= 300 && status < 400) return elsewhere.has(status) ? undefined : "Redirect"
  if (status === 408) return "Timeout"
  if (!isWrite) return undefined
  if (status === 460 || status === 499) return "Timeout"
  return status === 423 || status === 424 ? "UnderWay" : undefined
}

/** A body that is not text: in another encoding than UTF-8, or compressed and not unpacked. */
// oxlint-disable-next-line no-control-regex -- control characters are what tells it
const noText = /[\u0000-\u0008\u000E-\u001F\uFFFD]/

/** JSON, by its first character, that does not end as JSON does. */
const isCutJson = (text: string): boolean =>
  /^\s*(?:[{"]|\[\s*[{"])/.test(text) && Result.isFailure(Result.try((): unknown => JSON.parse(text)))

/** Said to be packed, and as long as what was sent: nobody unpacked it, so that it is not what it says to be. */
const isPacked = (text: string, headers: AnswerHeaders): boolean => {
  const encoding = headerOf(headers, "content-encoding") ?? "identity"
  const isAsSent = Number(headerOf(headers, "content-length")) === encoder.encode(text).length
  return encoding.toLowerCase() !== "identity" && text !== "" && isAsSent
}

const encoder = new TextEncoder()

const unreadReason = (text: string, headers: AnswerHeaders): FailureReason | undefined => {
  if (text.length > maxInput) return "TooLarge"
  return noText.test(text) || isCutJson(text) || isPacked(text, headers) ? "Unreadable" : undefined
}

/** Words that only repeat the status. */
const ofTheStatus = /\b(?:bad request|forbidden|not found|conflict|unprocessable (?:entity|content))\b/gi
const isOfTheStatus = (text: string): boolean => /^[\s\d._-]*$/.test(text.replaceAll(ofTheStatus, ""))

/** The causes by which an earlier request may have been executed. */
const ofAnEarlier: ReadonlySet<RefusalCause | undefined> = new Set<RefusalCause>([
  "IdempotencyKeyInFlight",
  "IdempotencyKeyReused",
  "Conflict"
])

/**
 * What the message says; but a sign of an earlier request counts wherever it stands in the body. What the request itself
 * said, and the service echoes, is no sign.
 */
const causeIn = ({ rules, secrets }: Asked, { code, texts, words }: ServiceMessage): RefusalCause | undefined => {
  const parts = [words, ...(code === undefined || isOfTheStatus(code) ? [] : [code])]
  const cause = causeOf(rules, parts.join(" "))
  if (ofAnEarlier.has(cause)) return cause
  const echoed = new Set(secrets().map(({ text }) => text))
  const others = texts.filter((text) => !echoed.has(text) && !isOfTheStatus(text))
  const elsewhere = causeOf(rules, others.join("\n"))
  return ofAnEarlier.has(elsewhere) ? elsewhere : (cause ?? elsewhere)
}

/** Judges an answer outside of 2xx, by its body or by why that could not be read. */
export const judgeAnswer = (
  asked: Asked,
  status: number,
  headers: AnswerHeaders,
  body: { readonly text: string } | { readonly unread: FailureReason }
): Failed => {
  const { isWrite, now, secrets } = asked
  const text = "text" in body ? body.text : ""
  const message = readServiceMessage(text, headerOf(headers, "content-type"))
  const { code = "", words } = message
  const shown = displayMessage(words, secrets)
  const heard = {
    serviceMessage: shown === "" ? undefined : shown,
    retryAfter: retryAfterOf(headers, now)
  }
  const open = openReason(status, isWrite)
  if (open !== undefined) return { _tag: "Unanswered", sent: "Unknown", reason: open, status, ...heard }
  return {
    _tag: "Refused",
    status,
    cause: causeIn(asked, message),
    hasWords: [words, code].some((said) => /\p{L}/u.test(said.replaceAll(ofTheStatus, ""))),
    unread: "text" in body ? unreadReason(text, headers) : body.unread,
    ...heard
  }
}

/** An answer of 2xx that must not count as a success. */
export const unusable = (
  status: number,
  reason: FailureReason,
  more: Pick<Unanswered, "issues" | "seen"> = {}
): Unanswered => ({ _tag: "Unanswered", sent: "Unknown", reason, status, ...more })
