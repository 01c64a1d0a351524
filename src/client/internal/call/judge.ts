/**
 * Judges one attempt, once: an answer by its status and its words, a failure by whether the request could have left this
 * process.
 *
 * Only what provably happened before the first byte of the request counts as not sent: the name, the connection, the
 * check of the certificate. Everything else, and every cause that is not known here, counts as unknown.
 */
import * as Headers from "effect/http/Headers"
import * as Duration from "effect/Duration"
import { identity } from "effect/Function"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { isWrite } from "../../../contract/Endpoints.ts"
import type { FailureReason } from "../../../contract/PaymentsError.ts"
import type { AnswerHeaders, TransportFailure } from "../../../internal/transport.ts"
import { withoutSecrets } from "../wire/seen.ts"
import { foldWords } from "../words/fold.ts"
import { displayCode, displayMessage } from "../words/mask.ts"
import { personal, type Secret, secretsOfBody } from "../words/secrets.ts"
import { maxInput, readServiceMessage } from "../words/serviceMessage.ts"
import type { Call, Failed, Unanswered } from "./state.ts"

// Secrets: values that must not be shown.

const decoder = new TextDecoder()

const parametersOf = (template: string, path: string): ReadonlyArray<string> => {
  const [written = ""] = path.split("?")
  const segments = written.split("/")
  return template
    .split("/")
    .flatMap((name, at) => (name.startsWith(":") ? [decodeURIComponent(segments[at] ?? "")] : []))
}

/** Values that must not be shown, even if the service echoes them. */
const secretsOf = ({ prepared, route, used }: Call): ReadonlyArray<Secret> => {
  const { body, idempotencyKey = "", path } = prepared
  const credentials = used === undefined ? [] : [used.clientId, Redacted.value(used.apiKey)]
  const known = [...credentials, idempotencyKey, ...parametersOf(route.endpoint.path, path)]
  return [...known.map(personal), ...(body === undefined ? [] : secretsOfBody(decoder.decode(body)))]
}

// Answers.

const headerOf = (headers: AnswerHeaders, name: string): string | undefined => {
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

/** A permanent redirect means that nothing was executed, and that the base URL is wrong. */
const permanentRedirects: ReadonlySet<number> = new Set([301, 307, 308])

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

/** Whether a text begins like JSON and does not end like JSON. */
const isCutJson = (text: string): boolean =>
  /^\s*(?:[{"]|\[\s*[{"])/.test(text) && Result.isFailure(Result.try((): unknown => JSON.parse(text)))

/** Whether a compressed body was not unpacked: it has a `content-encoding`, and the length that was sent. */
const isPacked = (text: string, headers: AnswerHeaders): boolean => {
  const encoding = headerOf(headers, "content-encoding") ?? "identity"
  const isAsSent = Number(headerOf(headers, "content-length")) === encoder.encode(text).length
  return encoding.toLowerCase() !== "identity" && text !== "" && isAsSent
}

const encoder = new TextEncoder()

const unreadReason = (text: string, headers: AnswerHeaders): FailureReason | undefined => {
  if (text.length > maxInput) return "TooLarge"
  return controlCharacters.test(text) || isCutJson(text) || isPacked(text, headers) ? "Unreadable" : undefined
}

/** The phrases that only repeat the status. */
const statusPhrases =
  /\b(?:bad request|forbidden|not found|conflict|unprocessable (?:entity|content)|method not allowed|not acceptable|gone)\b/gi
const isStatusPhrase = (text: string): boolean => !/\p{L}/u.test(text.replaceAll(statusPhrases, ""))

/** Removes the texts that repeat a value of the request or the status, and joins the others. */
const withoutEchoes = (texts: ReadonlyArray<string>, secrets: ReadonlyArray<Secret>): string => {
  const sent = new Set(secrets.map(({ text }) => text))
  return texts.filter((text) => !sent.has(text) && !isStatusPhrase(text)).join("\n")
}

/** Judges an answer outside of 2xx, by its body or by the reason why the body could not be read. */
const judgeRefusal = (
  call: Call,
  status: number,
  headers: AnswerHeaders,
  body: { readonly text: string } | { readonly unread: FailureReason }
): Failed => {
  const now = call.settings.clock.currentTimeMillisUnsafe()
  const secrets = () => secretsOf(call)
  const text = "text" in body ? body.text : ""
  const { code = "", texts, words } = readServiceMessage(text, headerOf(headers, "content-type"))
  const shown = {
    serviceMessage: displayMessage(words, secrets) || undefined,
    serviceCode: displayCode(code, secrets),
    retryAfter: retryAfterOf(headers, now)
  }
  const doubt = doubtReason(status, isWrite(call.route.endpoint))
  if (doubt !== undefined) return { _tag: "Unanswered", sent: "Unknown", reason: doubt, status, ...shown }
  const unread = "text" in body ? unreadReason(text, headers) : body.unread
  const sent = secrets()
  const own = foldWords(withoutEchoes([words, code, ...texts], sent))
  return { _tag: "Refused", status, words: own, hasWords: withoutEchoes([words, code], sent) !== "", unread, ...shown }
}

/** An answer of 2xx that must not count as a success. */
const unusable = (
  status: number,
  reason: FailureReason,
  more: Pick<Unanswered, "issues" | "seen"> = {}
): Unanswered => ({ _tag: "Unanswered", sent: "Unknown", reason, status, ...more })

// Failures.

const neverResolved: ReadonlySet<string> = new Set(["ENOTFOUND", "EAI_AGAIN", "EAI_FAIL", "EAI_NODATA", "EAI_NONAME"])

/** Error codes that only connecting can cause. The last is a code of Bun. */
const neverConnected: ReadonlySet<string> = new Set(["ECONNREFUSED", "UND_ERR_CONNECT_TIMEOUT", "ConnectionRefused"])

/** The client's own check of the certificate, and of the version that the peer chose: before the request. */
const tlsRefused: ReadonlySet<string> = new Set([
  "CERT_HAS_EXPIRED",
  "CERT_NOT_YET_VALID",
  "CERT_REVOKED",
  "CERT_UNTRUSTED",
  "CERT_REJECTED",
  "CERT_SIGNATURE_FAILURE",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "ERR_TLS_CERT_ALTNAME_INVALID",
  "HOSTNAME_MISMATCH",
  "ERR_SSL_UNSUPPORTED_PROTOCOL"
])

/**
 * The error of OpenSSL (from 3.2) for a peer without TLS, raised by the routine that reads records until a version is agreed
 * on. The same error of another routine is about an answer: a request has left.
 */
const noTls = ":tls_validate_record_header:wrong version number:"

const connectionLost: ReadonlySet<string> = new Set([
  "ECONNRESET",
  "EPIPE",
  "ECONNABORTED",
  "UND_ERR_SOCKET",
  "UND_ERR_CLOSED"
])
const timeouts: ReadonlySet<string> = new Set(["ETIMEDOUT", "UND_ERR_HEADERS_TIMEOUT", "UND_ERR_BODY_TIMEOUT"])

const notSent = (reason: FailureReason): Unanswered => ({ _tag: "Unanswered", sent: "NotSent", reason })

const unknown = (reason: FailureReason): Unanswered => ({ _tag: "Unanswered", sent: "Unknown", reason })

/** A failure with an unknown cause. */
const unrecognised: Unanswered = unknown("Unrecognised")

/** No full answer within the attempt's time: whether the request left is not known. */
const timedOut: Unanswered = unknown("Timeout")

/** The answer is no HTTP, or has more headers than the transport takes. */
const notHttp = unknown("Unreadable")
const notHttpCodes: ReadonlySet<string> = new Set(["UND_ERR_HEADERS_OVERFLOW", "UND_ERR_RES_CONTENT_LENGTH_MISMATCH"])

const judgeCode = (code: string, syscall: unknown, message: unknown): Unanswered => {
  if (neverResolved.has(code)) return notSent("NameNotResolved")
  if (neverConnected.has(code) || syscall === "connect") return notSent("NoConnection")
  if (tlsRefused.has(code)) return notSent("Tls")
  if (connectionLost.has(code)) return unknown("ConnectionLost")
  if (timeouts.has(code)) return unknown("Timeout")
  if (code.startsWith("ERR_SSL_") || code === "EPROTO") {
    return String(message).includes(noTls) ? notSent("Tls") : unknown("Tls")
  }
  return code.startsWith("HPE_") || notHttpCodes.has(code) ? notHttp : unrecognised
}

const judgeCause = (cause: unknown, depth: number): Unanswered => {
  if (typeof cause !== "object" || cause === null || depth > 8) return unrecognised
  // Several addresses were tried (happy eyeballs). The request was not sent only if that is true of each attempt.
  if ("errors" in cause && Array.isArray(cause.errors) && cause.errors.length > 0) {
    let first: Unanswered | undefined
    for (const error of cause.errors) {
      const verdict = judgeCause(error, depth + 1)
      // The other errors are not read, since an error may contain itself.
      if (verdict.sent === "Unknown") return verdict
      first ??= verdict
    }
    return first ?? unrecognised
  }
  if ("code" in cause && typeof cause.code === "string") {
    const syscall = "syscall" in cause ? cause.syscall : undefined
    return judgeCode(cause.code, syscall, "message" in cause ? cause.message : undefined)
  }
  // Most errors of undici's parser have no code.
  if ("name" in cause && cause.name === "HTTPParserError") return notHttp
  return "cause" in cause ? judgeCause(cause.cause, depth + 1) : unrecognised
}

/**
 * Judges a failure before the status of an answer. If the transport knows whether the request left, that decides, and
 * not the cause.
 */
const judgeUnanswered = ({ cause, kind, sent }: TransportFailure): Unanswered => {
  const verdict = kind === "Late" ? timedOut : judgeCause(cause, 0)
  if (sent === undefined) return verdict
  if (sent) return { ...verdict, sent: "Unknown" }
  return { ...verdict, sent: "NotSent", reason: verdict.reason === "Unrecognised" ? "NotMade" : verdict.reason }
}

/** The reason why the rest of a body could not be read. */
const bodyReason = { Broken: "Truncated", TooLarge: "TooLarge", Late: "Timeout" } as const

/**
 * Judges without throwing: a rule or a predicate of the user may throw, and so may reading an error of the platform.
 */
const judgeSafely = <A>(status: number | undefined, judge: () => Result.Result<A, Failed>): Result.Result<A, Failed> =>
  Result.flatMap(Result.try({ try: judge, catch: (): Failed => ({ ...unrecognised, status }) }), identity)

const isSuccess = (status: number) => status >= 200 && status < 300

/** Judges a whole answer. */
export const judgeAnswer = <A>(call: Call<A>, status: number, headers: AnswerHeaders, body: string) =>
  judgeSafely(status, (): Result.Result<A, Failed> => {
    if (!isSuccess(status)) return Result.fail(judgeRefusal(call, status, headers, { text: body }))
    const decoded = call.prepared.decode(body, call.settings.policy, call.misfits)
    return Result.mapError(decoded, ({ issues, reason, seen = {} }) => {
      const secrets = secretsOf(call)
      // A path may have a name that the service chose.
      const shown = issues.map((issue) => ({ ...issue, path: displayCode(issue.path, () => secrets) ?? "" }))
      return unusable(status, reason, { issues: shown, seen: withoutSecrets(seen, secrets) })
    })
  })

/** Judges an attempt without a whole answer. */
export const judgeFailure = <A>(call: Call<A>, failure: TransportFailure) =>
  judgeSafely(failure.head?.status, (): Result.Result<A, Failed> => {
    const { cause, head, kind } = failure
    if (head === undefined) return Result.fail(judgeUnanswered(failure))
    const reason = cause === undefined && kind === "Broken" ? "Unrecognised" : bodyReason[kind]
    return Result.fail(
      isSuccess(head.status)
        ? unusable(head.status, reason)
        : judgeRefusal(call, head.status, head.headers, { unread: reason })
    )
  })
