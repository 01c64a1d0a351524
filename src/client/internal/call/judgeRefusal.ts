/**
 * Judges an answer outside of 2xx, or a record that says that its write failed, by its status and its words.
 */
import * as Headers from "effect/http/Headers"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { isWrite } from "../../../contract/Endpoints.ts"
import type { FailureReason, Seen } from "../../../contract/PaymentsError.ts"
import { millisOf } from "../../../contract/Options.ts"
import { refusedField } from "../../../contract/RequestIssues.ts"
import { setupStatuses } from "../../../contract/SetupStatus.ts"
import type { AnswerHeaders } from "../../../internal/transport.ts"
import { displayCode, displayMessage } from "../../../internal/mask.ts"
import { saoPaulo } from "../../../internal/utc.ts"
import type { KnownRefusal } from "../../KnownRefusal.ts"
import { withoutSecrets } from "../wire/seen.ts"
import { fieldsNamed, pathOfRequest, withFields } from "../words/fieldsNamed.ts"
import { readPhrases } from "../words/phrases.ts"
import { secretsOfBody } from "../words/secrets.ts"
import { digestOf, isStatusPhrase, withoutValues } from "../words/sentence.ts"
import { maxRefusalLength } from "../../../internal/bounds.ts"
import { readServiceMessage, waitSeconds } from "../words/serviceMessage.ts"
import { type Answer, readByStatus, readRefusal } from "./refusalLines.ts"
import type { Call, Failed, FailedRecord } from "./state.ts"

const parametersOf = (template: string, path: string): ReadonlyArray<string> => {
  const [written = ""] = path.split("?")
  const segments = written.split("/")
  return template
    .split("/")
    .flatMap((name, at) => (name.startsWith(":") ? [decodeURIComponent(segments[at] ?? "")] : []))
}

/** Values that must not be shown, even if the service echoes them. */
export const secretsOf = ({ prepared, route, used }: Call): ReadonlyArray<string> => {
  const { idempotencyKey = "", path, text } = prepared
  const credentials = used === undefined ? [] : [used.clientId, Redacted.value(used.apiKey)]
  const known = [...credentials, idempotencyKey, ...parametersOf(route.endpoint.path, path)]
  return [...known, ...(text === undefined ? [] : secretsOfBody(text))]
}

export const headerOf = (headers: AnswerHeaders, name: string): string | undefined => {
  const value = headers[name]
  return typeof value === "string" ? value : value?.[0]
}

/** A longer `Retry-After` counts as this: a number without a bound could be a person's document. */
const longestRetryAfter = Duration.days(365)

/** Reads `Retry-After` in both its forms (RFC 9110, section 10.2.3); anything else in it counts as absent. */
const retryAfterOf = (headers: AnswerHeaders, now: number): Duration.Duration | undefined => {
  const value = headerOf(headers, "retry-after")
  if (value === undefined) return undefined
  const parsed = Headers.parseRetryAfter(value)
  return Result.isSuccess(parsed)
    ? Duration.min(Headers.retryAfterDelay(parsed.success, now), longestRetryAfter)
    : undefined
}

/** Reads it from the body of a 429 without that header. */
const waitInBody = (body: string): Duration.Duration | undefined => {
  const seconds = waitSeconds(body)
  return seconds === undefined ? undefined : Duration.min(Duration.seconds(seconds), longestRetryAfter)
}

/** Control characters: the body is in another encoding than UTF-8, or compressed. */
// oxlint-disable-next-line no-control-regex -- the expression finds control characters
const controlCharacters = /[\u0000-\u0008\u000E-\u001F\uFFFD]/

/** The beginning of JSON. */
const jsonStart = /^\s*(?:[{"]|\[\s*[{"])/

/** Whether a compressed body was not unpacked: it has a `content-encoding`, and the length that was sent. */
const isPacked = (text: string, headers: AnswerHeaders): boolean => {
  const encoding = headerOf(headers, "content-encoding") ?? "identity"
  const isAsSent = Number(headerOf(headers, "content-length")) === encoder.encode(text).length
  return encoding.toLowerCase() !== "identity" && text !== "" && isAsSent
}

const encoder = new TextEncoder()

const unreadReason = (text: string, isJson: boolean, headers: AnswerHeaders): FailureReason | undefined => {
  if (text.length > maxRefusalLength) return "TooLarge"
  const isCut = !isJson && jsonStart.test(text)
  return controlCharacters.test(text) || isCut || isPacked(text, headers) ? "Unreadable" : undefined
}

/** For how long an entry says to wait; `tomorrow` is the next day of São Paulo. */
const waitOf = ({ waitFor }: KnownRefusal, now: number): Duration.Duration | undefined => {
  const millis =
    waitFor === "tomorrow"
      ? DateTime.toEpochMillis(
          DateTime.startOf(
            DateTime.add(DateTime.makeUnsafe(now).pipe(DateTime.setZone(saoPaulo())), { days: 1 }),
            "day"
          )
        ) - now
      : millisOf(waitFor)
  return millis === undefined ? undefined : Duration.min(Duration.millis(millis), longestRetryAfter)
}

/** What a body shows that has the id and the amount of a charge or a withdrawal. An id alone may be that of the request. */
const recordIn = ({ prepared }: Call, text: string, secrets: ReadonlyArray<string>): Seen | undefined => {
  const seen = prepared.seen?.(text) ?? {}
  return seen.id === undefined || seen.value === undefined ? undefined : withoutSecrets(seen, secrets)
}

const kindOf = ({ prepared: { asked }, route }: Call): Answer["kind"] => {
  if (route.endpoint.operation === "requestWithdrawal")
    return asked?.pixKey === undefined ? "WithdrawalWithoutKey" : "Withdrawal"
  return asked?.paymentMethod === "PIX" ? "PixCharge" : "OtherCharge"
}

/** Judges a refusal, by its body or by the reason why the body could not be read. One by a record has a 2xx. */
export const judgeRefusal = (
  call: Call,
  status: number,
  headers: AnswerHeaders,
  body: { readonly text: string } | { readonly unread: FailureReason },
  record?: FailedRecord
): Failed => {
  const now = call.settings.clock.currentTimeMillisUnsafe()
  const secrets = secretsOf(call)
  const text = "text" in body ? body.text : ""
  const answered = readServiceMessage(text, status)
  const { code = "", isJson, said } = answered
  const reasons = answered.reasons.filter((reason) => !secrets.includes(reason))
  const message = answered.words || [...new Set(reasons)].join("; ")
  const pathOf = pathOfRequest(call.route.endpoint)
  const fields = fieldsNamed(text, pathOf).filter(({ words }) => !secrets.includes(words))
  const display = (words: string) =>
    displayMessage(
      words,
      () => secrets,
      (token) => pathOf(token) !== undefined
    )
  const retryAfter = retryAfterOf(headers, now) ?? (status === 429 ? waitInBody(text) : undefined)
  const shown = {
    serviceMessage: display(withFields(message, fields)) || undefined,
    serviceCode: displayCode(code, () => secrets),
    retryAfter
  }
  const isPage = !isJson && text.trim() !== ""
  const isSilent = said.length === 0 && reasons.every((reason) => isStatusPhrase(reason, status))
  const unread = "text" in body ? unreadReason(text, isJson, headers) : body.unread
  const reading = readPhrases(withoutValues(said, [...secrets, call.prepared.path]), status, call.client.refusals)
  const verdict = isWrite(call.route.endpoint)
    ? readRefusal({
        ...reading,
        status,
        kind: kindOf(call),
        record: record && (record.isProof && call.inDoubt === undefined ? "Sure" : "Unsure"),
        unread,
        isSilent
      })
    : readByStatus(status)
  const named = fields.map(({ path, words }) => refusedField(path, display(words)))
  const digest = () => digestOf(call.route.endpoint.operation, status, said, secrets)
  const oneByOne = reading.isDoubtful || reading.isVague || undefined
  if ("doubt" in verdict) {
    // After an attempt that may have been executed, a refusal is no sentence to be judged.
    const isUnknown = verdict.isUnknown === true && call.inDoubt === undefined
    return {
      _tag: "Unanswered",
      sent: "Unknown",
      reason: verdict.doubt === "RefusalUnknown" && call.inDoubt !== undefined ? "RefusedAfterUnknown" : verdict.doubt,
      status,
      ...shown,
      issues: record?.issues ?? (isUnknown && named.length > 0 ? named : undefined),
      seen: record === undefined ? recordIn(call, text, secrets) : record.seen,
      digest: isUnknown ? digest() : undefined,
      oneByOne: isUnknown ? oneByOne : undefined
    }
  }
  const { cause, entry } = verdict
  return {
    _tag: "Refused",
    status,
    cause,
    isPage,
    unread,
    record,
    digest: cause === "IdempotencyConflict" || (entry !== undefined && entry === reading.ours) ? digest : undefined,
    oneByOne,
    fields: named,
    ...shown,
    // A page, or the phrase of the status, are no words of the service.
    ...(setupStatuses.has(status) && (isPage || isSilent) && { serviceMessage: undefined, serviceCode: undefined }),
    retryAfter: (entry && waitOf(entry, now)) ?? retryAfter
  }
}
