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
import { type Answer, readByStatus, readRefusal, type Verdict } from "./refusalLines.ts"
import type { Call, Failed, FailedRecord, Refused, Unanswered } from "./state.ts"

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

/** What a body says: to be judged, and to be shown. */
const readWords = (call: Call, status: number, text: string, secrets: ReadonlyArray<string>) => {
  const answered = readServiceMessage(text, status)
  const { code = "", isJson, said } = answered
  const reasons = answered.reasons.filter((reason) => !secrets.includes(reason))
  const pathOf = pathOfRequest(call.route.endpoint)
  const fields = fieldsNamed(text, pathOf).filter(({ words }) => !secrets.includes(words))
  const display = (words: string) =>
    displayMessage(
      words,
      () => secrets,
      (token) => pathOf(token) !== undefined
    )
  return {
    said,
    isJson,
    isPage: !isJson && text.trim() !== "",
    isSilent: said.length === 0 && reasons.every((reason) => isStatusPhrase(reason, status)),
    serviceMessage: display(withFields(answered.words || [...new Set(reasons)].join("; "), fields)) || undefined,
    serviceCode: displayCode(code, () => secrets),
    fields: fields.map(({ path, words }) => refusedField(path, display(words)))
  }
}

/** What is known of a refusal, whatever it is. */
interface Read extends Pick<Refused, "digest" | "oneByOne" | "status" | "unread" | "record"> {
  readonly words: ReturnType<typeof readWords>
  readonly retryAfter: Duration.Duration | undefined
  readonly seen: () => Seen | undefined
}

const unanswered = (
  { inDoubt }: Call,
  { doubt, isUnknown = false }: Extract<Verdict, { readonly doubt: unknown }>,
  { digest, oneByOne, record, retryAfter, seen, status, words: { fields, serviceCode, serviceMessage } }: Read
): Unanswered => {
  // After an attempt that may have been executed, a refusal is no sentence to be judged.
  const isSentence = isUnknown && inDoubt === undefined
  return {
    _tag: "Unanswered",
    sent: "Unknown",
    reason: doubt === "RefusalUnknown" && inDoubt !== undefined ? "RefusedAfterUnknown" : doubt,
    status,
    serviceMessage,
    serviceCode,
    retryAfter,
    issues: record?.issues ?? (isSentence && fields.length > 0 ? fields : undefined),
    seen: seen(),
    digest: isSentence ? digest?.() : undefined,
    oneByOne: isSentence ? oneByOne : undefined
  }
}

const refused = (
  { cause, entry }: Extract<Verdict, { readonly cause: unknown }>,
  { words, digest, oneByOne, record, retryAfter, status, unread }: Read,
  ours: KnownRefusal | undefined,
  now: number
): Refused => {
  const { fields, isPage, isSilent, serviceCode, serviceMessage } = words
  // A page, or the phrase of the status, are no words of the service.
  const isShown = !(setupStatuses.has(status) && (isPage || isSilent))
  return {
    _tag: "Refused",
    status,
    cause,
    isPage,
    unread,
    record,
    fields,
    oneByOne,
    digest: cause === "IdempotencyConflict" || (entry !== undefined && entry === ours) ? digest : undefined,
    serviceMessage: isShown ? serviceMessage : undefined,
    serviceCode: isShown ? serviceCode : undefined,
    retryAfter: (entry && waitOf(entry, now)) ?? retryAfter
  }
}

/** Judges a refusal, by its body or by the reason why the body could not be read. One by a record has a 2xx. */
export const judgeRefusal = (
  call: Call,
  status: number,
  headers: AnswerHeaders,
  body: { readonly text: string } | { readonly unread: FailureReason },
  record?: FailedRecord
): Failed => {
  const { endpoint } = call.route
  const now = call.settings.clock.currentTimeMillisUnsafe()
  const secrets = secretsOf(call)
  const text = "text" in body ? body.text : ""
  const words = readWords(call, status, text, secrets)
  const { isSilent, said } = words
  const unread = "text" in body ? unreadReason(text, words.isJson, headers) : body.unread
  const reading = readPhrases(withoutValues(said, [...secrets, call.prepared.path]), status, call.client.refusals)
  const proof = record && (record.isProof && call.inDoubt === undefined ? "Sure" : "Unsure")
  const verdict = isWrite(endpoint)
    ? readRefusal({ ...reading, status, kind: kindOf(call), record: proof, unread, isSilent })
    : readByStatus(status)
  const read = {
    words,
    status,
    unread,
    record,
    retryAfter: retryAfterOf(headers, now) ?? (status === 429 ? waitInBody(text) : undefined),
    seen: () => (record === undefined ? recordIn(call, text, secrets) : record.seen),
    digest: () => digestOf(endpoint.operation, status, said, secrets),
    oneByOne: reading.isDoubtful || reading.isVague || undefined
  }
  return "doubt" in verdict ? unanswered(call, verdict, read) : refused(verdict, read, reading.ours, now)
}
