/**
 * Judges an answer outside of 2xx, or a record that says that its write failed, by its status and its words.
 */
import * as Headers from "effect/http/Headers"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { isWrite } from "../../../contract/Endpoints.ts"
import type { FailureReason, Seen } from "../../../contract/PaymentsError.ts"
import { millisOf } from "../../../contract/Options.ts"
import { refusedField } from "../../../contract/RequestIssues.ts"
import { setupStatuses } from "../../../contract/SetupStatus.ts"
import type { AnswerHeaders } from "../../../internal/transport.ts"
import type { RefusalCause, ServiceRefusal } from "../../GatewayFacts.ts"
import { isBrokenBehind } from "../words/brokenBehind.ts"
import { isAboutDuplication } from "../words/earlierRequest.ts"
import { fieldsNamed, withFields } from "../words/fieldsNamed.ts"
import { foldWords } from "../words/fold.ts"
import { displayCode, displayMessage } from "../../../internal/mask.ts"
import { isLimited } from "../words/limits.ts"
import { withoutSecrets } from "../wire/seen.ts"
import { pathOfRequest } from "../words/requestFields.ts"
import { secretsOfBody } from "../words/secrets.ts"
import { maxInput, readServiceMessage } from "../words/serviceMessage.ts"
import { isTimedOut } from "../words/timeOut.ts"
import { waitSeconds } from "../words/waitSeconds.ts"
import { isWithdrawalCause } from "../words/withdrawalCauses.ts"
import type { Call, Failed, FailedRecord } from "./state.ts"
import { saoPaulo } from "../../../internal/utc.ts"

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
const waitInBody = (body: string, words: ReadonlyArray<string>): Duration.Duration | undefined => {
  const seconds = waitSeconds(body, words.join("\n"))
  return seconds === undefined ? undefined : Duration.min(Duration.seconds(seconds), longestRetryAfter)
}

/** A permanent redirect means that nothing was executed, and that the base URL is wrong. */
const permanentRedirects: ReadonlySet<number> = new Set([301, 307, 308])

/**
 * Whether the status decides, whatever the words are: the credentials are refused, a redirect, or a proxy refuses this client
 * (407, of which Node's `fetch` shows no body).
 */
export const isDecidedByStatus = (status: number): boolean =>
  status === 401 || status === 407 || (status >= 300 && status < 400)

/** The reason why a status does not show whether the request was executed. `undefined`: the request was refused. */
const doubtReason = (status: number, isWrite: boolean): FailureReason | undefined => {
  // node:http accepts an answer without a final status: a 101 that was not requested, or 000.
  if (status < 200) return "Unreadable"
  if (status >= 500) return "ServerError"
  if (status >= 300 && status < 400) return permanentRedirects.has(status) ? undefined : "Redirect"
  if (status === 408) return "Timeout"
  if (!isWrite) return undefined
  if (status === 460 || status === 499) return "Timeout"
  return status === 423 || status === 424 ? "UnderWay" : undefined
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
  if (text.length > maxInput) return "TooLarge"
  const isCut = !isJson && jsonStart.test(text)
  return controlCharacters.test(text) || isCut || isPacked(text, headers) ? "Unreadable" : undefined
}

/** The phrases that only repeat the status. */
const statusPhrases =
  /\b(?:bad[ _]?request|forbidden|not[ _]?found|conflict|unprocessable[ _]?(?:entity|content)|method[ _]not[ _]allowed|not[ _]acceptable|gone)\b/gi
const isStatusPhrase = (text: string): boolean => !/\p{L}/u.test(text.replaceAll(statusPhrases, ""))

/** Removes the texts that repeat a value of the request or the status, and joins the others: one line for each. */
const withoutEchoes = (texts: ReadonlyArray<string>, secrets: ReadonlyArray<string>): string => {
  const sent = new Set(secrets)
  const own = texts.filter((text) => !sent.has(text) && !isStatusPhrase(text))
  return own.map((text) => text.replaceAll("\n", ". ")).join("\n")
}

/** For how long the user's facts say to wait, if they say that; `tomorrow` is the next day of São Paulo. */
const ownWait = (verdict: unknown, now: number): Duration.Duration | undefined => {
  if (!Predicate.hasProperty(verdict, "waitFor")) return undefined
  const { waitFor } = verdict
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

/** What the user's facts say of a refusal: nothing for a value that is none of its words. */
const ownVerdict = (
  call: Call,
  said: Omit<ServiceRefusal, "operation">,
  now: number
): { readonly cause?: RefusalCause | "Unknown"; readonly wait?: Duration.Duration } => {
  // The outcome of a write that is in doubt stays unknown whatever the refusal is.
  if (call.inDoubt !== undefined) return {}
  const { operation } = call.route.endpoint
  const verdict = Result.getOrElse(
    Result.try(() => call.client.facts.refusal({ operation, ...said })),
    // A function that throws cannot say that nothing was executed.
    () => "Unknown" as const
  )
  const wait = ownWait(verdict, now)
  if (wait !== undefined) return { cause: "LimitReached", wait }
  const isWord = verdict === "Unknown" || verdict === "IdempotencyConflict" || verdict === "RequestRejected"
  return isWord || (typeof verdict === "string" && isWithdrawalCause(verdict)) ? { cause: verdict } : {}
}

/** What a body shows that has the id and the amount of a charge or a withdrawal. An id alone may be that of the request. */
const recordIn = ({ prepared }: Call, text: string, secrets: ReadonlyArray<string>): Seen | undefined => {
  const seen = prepared.seen?.(text) ?? {}
  return seen.id === undefined || seen.value === undefined ? undefined : withoutSecrets(seen, secrets)
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
  const { code = "", isJson, reasons, texts, words: known } = readServiceMessage(text)
  const own = reasons.filter((reason) => !secrets.includes(reason))
  const message = known || [...new Set(own)].join("; ")
  const pathOf = pathOfRequest(call.route.endpoint)
  const fields = fieldsNamed(text, pathOf).filter(({ words }) => !secrets.includes(words))
  const display = (words: string) =>
    displayMessage(
      words,
      () => secrets,
      (token) => pathOf(token) !== undefined
    )
  const shown = {
    serviceMessage: display(withFields(message, fields)) || undefined,
    serviceCode: displayCode(code, () => secrets),
    retryAfter: retryAfterOf(headers, now) ?? (status === 429 ? waitInBody(text, [message, ...texts]) : undefined)
  }
  const found =
    record === undefined ? { seen: recordIn(call, text, secrets) } : { issues: record.issues, seen: record.seen }
  const inDoubt = (reason: FailureReason): Failed => ({
    _tag: "Unanswered",
    sent: "Unknown",
    reason,
    status,
    ...shown,
    ...found
  })
  const isOfWrite = isWrite(call.route.endpoint)
  const unread = "text" in body ? unreadReason(text, isJson, headers) : body.unread
  const isProof = record?.isProof === true && call.inDoubt === undefined && unread === undefined
  const doubt = record === undefined ? doubtReason(status, isOfWrite) : isProof ? undefined : "NotAsAsked"
  if (doubt !== undefined) return inDoubt(doubt)

  const words = foldWords(withoutEchoes([message, code, ...texts], secrets))
  const { cause: verdict, wait = shown.retryAfter } = isOfWrite
    ? ownVerdict(call, { status, message, code: code || undefined, words }, now)
    : {}
  if (verdict === "Unknown") return inDoubt("RefusalUnknown")
  // What was not read may speak of a withdrawal that exists. A record is answered again to the same key, whenever it is asked.
  const isLimit =
    call.route.endpoint.operation === "requestWithdrawal" &&
    record === undefined &&
    unread === undefined &&
    status !== 409 &&
    isLimited(words, status === 429)
  const isConflict = isOfWrite && !isLimit && (status === 409 || isAboutDuplication(words))
  const isDecided = isDecidedByStatus(status) || isConflict || verdict !== undefined
  const isBroken = isOfWrite && !isLimit && !isConflict && (isTimedOut(words) || isBrokenBehind(words))
  if (isBroken && !isDecided) return inDoubt("UnderWay")
  // What was not read may say so too.
  if (isOfWrite && unread !== undefined && status !== 429 && !isDecided) return inDoubt(unread)
  const hasWords = withoutEchoes([known, code, ...own], secrets) !== ""
  const isPage = !isJson && text.trim() !== ""
  return {
    _tag: "Refused",
    status,
    words,
    hasWords,
    isPage,
    isConflict: isConflict || isBroken,
    isLimit,
    cause: verdict,
    unread,
    record,
    fields: fields.map(({ path, words: said }) => refusedField(path, display(said))),
    ...shown,
    // A page, or the phrase of the status, are no words of the service.
    ...(setupStatuses.has(status) && (isPage || !hasWords) && { serviceMessage: undefined, serviceCode: undefined }),
    retryAfter: wait
  }
}
