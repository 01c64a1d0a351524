/**
 * Judges one attempt, once: an answer by its status and its words, a failure by whether the request could have left this
 * process.
 *
 * Only what provably happened before the first byte of the request counts as not sent: the name, the connection, the
 * check of the certificate. Everything else, and every cause that is not known here, counts as unknown.
 */
import { identity } from "effect/Function"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type { FailureReason } from "../../../contract/PaymentsError.ts"
import type { AnswerHeaders, TransportFailure } from "../../../internal/transport.ts"
import { withoutSecrets } from "../wire/seen.ts"
import { judgeRefusal, secretsOf } from "./judgeRefusal.ts"
import type { Call, Failed, Unanswered } from "./state.ts"

/** An answer of 2xx that must not count as a success. */
const unusable = (
  status: number,
  reason: FailureReason,
  more: Pick<Unanswered, "issues" | "seen"> = {}
): Unanswered => ({ _tag: "Unanswered", sent: "Unknown", reason, status, ...more })

// Failures.

const notSent = (reason: FailureReason): Unanswered => ({ _tag: "Unanswered", sent: "NotSent", reason })

const unknown = (reason: FailureReason): Unanswered => ({ _tag: "Unanswered", sent: "Unknown", reason })

/** A failure with an unknown cause. */
const unrecognised: Unanswered = unknown("Unrecognised")

/** No full answer within the attempt's time: whether the request left is not known. */
const timedOut: Unanswered = unknown("Timeout")

/** The answer is no HTTP, or has more headers than the transport takes. */
const notHttp = unknown("Unreadable")

/**
 * What codes of errors prove. Before the request: the name; connecting, which only these can be of; and the client's own check of the
 * certificate, and of the version that the peer chose. `ConnectionRefused` is a code of Bun.
 */
const codes: ReadonlyArray<readonly [verdict: Unanswered, codes: string]> = [
  [notSent("NameNotResolved"), "ENOTFOUND EAI_AGAIN EAI_FAIL EAI_NODATA EAI_NONAME"],
  [notSent("NoConnection"), "ECONNREFUSED UND_ERR_CONNECT_TIMEOUT ConnectionRefused UND_ERR_PRX_CONN"],
  [
    notSent("Tls"),
    `UND_ERR_PRX_TLS CERT_HAS_EXPIRED CERT_NOT_YET_VALID CERT_REVOKED CERT_UNTRUSTED CERT_REJECTED CERT_SIGNATURE_FAILURE
      DEPTH_ZERO_SELF_SIGNED_CERT SELF_SIGNED_CERT_IN_CHAIN UNABLE_TO_GET_ISSUER_CERT UNABLE_TO_GET_ISSUER_CERT_LOCALLY
      UNABLE_TO_VERIFY_LEAF_SIGNATURE ERR_TLS_CERT_ALTNAME_INVALID HOSTNAME_MISMATCH ERR_SSL_UNSUPPORTED_PROTOCOL`
  ],
  [unknown("ConnectionLost"), "ECONNRESET EPIPE ECONNABORTED UND_ERR_SOCKET UND_ERR_CLOSED"],
  [timedOut, "ETIMEDOUT UND_ERR_HEADERS_TIMEOUT UND_ERR_BODY_TIMEOUT"],
  [notHttp, "UND_ERR_HEADERS_OVERFLOW UND_ERR_RES_CONTENT_LENGTH_MISMATCH"]
]
const verdicts = new Map(codes.flatMap(([verdict, all]) => all.split(/\s+/).map((code) => [code, verdict] as const)))

/**
 * The error of OpenSSL (from 3.2) for a peer without TLS, raised by the routine that reads records until a version is agreed
 * on. The same error of another routine is about an answer: a request has left.
 */
const noTls = ":tls_validate_record_header:wrong version number:"

/** The errors of undici for a tunnel that a proxy did not open: before the first byte of the request. */
const isNoTunnel = (code: string, message: unknown): boolean =>
  code.startsWith("UND_ERR_SOCKS5") ||
  (code === "UND_ERR_ABORTED" && /^Proxy response \(\d+\) !== 200 when HTTP Tunneling$/.test(String(message)))

const judgeCode = (code: string, syscall: unknown, message: unknown): Unanswered => {
  if (isNoTunnel(code, message)) return notSent("NoConnection")
  const verdict = verdicts.get(code)
  if (syscall === "connect" && verdict?.sent !== "NotSent") return notSent("NoConnection")
  if (verdict !== undefined) return verdict
  if (code.startsWith("ERR_SSL_") || code === "EPROTO") {
    return String(message).includes(noTls) ? notSent("Tls") : unknown("Tls")
  }
  return code.startsWith("HPE_") ? notHttp : unrecognised
}

/** Of several addresses that were tried (happy eyeballs): the request was not sent only if that is true of each attempt. */
const judgeAll = (errors: ReadonlyArray<unknown>, depth: number): Unanswered => {
  let first: Unanswered | undefined
  for (const error of errors) {
    const verdict = judgeCause(error, depth)
    // The other errors are not read, since an error may contain itself.
    if (verdict.sent === "Unknown") return verdict
    first ??= verdict
  }
  return first ?? unrecognised
}

const judgeCause = (error: unknown, depth: number): Unanswered => {
  if (!Predicate.isObject(error) || depth > 8) return unrecognised
  const { cause, code, errors, message, name, syscall } = error
  if (Array.isArray(errors) && errors.length > 0) return judgeAll(errors, depth + 1)
  if (Predicate.isString(code)) return judgeCode(code, syscall, message)
  // Most errors of undici's parser have no code.
  return name === "HTTPParserError" ? notHttp : judgeCause(cause, depth + 1)
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

/** Whether it is what undici makes of a proxy's 407 to a request that it forwards without a tunnel, since it is plain http. */
const isForwardRefusal = (cause: unknown): boolean =>
  cause instanceof Error &&
  (("code" in cause &&
    cause.code === "UND_ERR_INVALID_ARG" &&
    cause.message === "Proxy Authentication Required (407)") ||
    (cause.message === "fetch failed" && isForwardRefusal(cause.cause)))

/**
 * Whether it is what undici's fetch makes of a 407 (fetch, "HTTP-network-or-cache fetch", step 15): a network error without any
 * reason. Each other network error of a request that follows no redirect has a message or a code.
 */
const isFetchRefusal = (cause: unknown): boolean =>
  cause instanceof TypeError &&
  cause.message === "fetch failed" &&
  cause.cause instanceof Error &&
  Object.getPrototypeOf(cause.cause) === Error.prototype &&
  cause.cause.message === "" &&
  Object.keys(cause.cause).length === 0 &&
  cause.cause.cause === undefined

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
    const decoded = call.prepared.decode(body, call.misfits)
    return Result.mapError(decoded, ({ issues, reason, record, seen = {} }) => {
      const found = { issues, seen: withoutSecrets(seen, secretsOf(call)) }
      return record === undefined
        ? unusable(status, reason, found)
        : judgeRefusal(call, status, headers, { text: record.said }, { ...record, ...found })
    })
  })

/** Judges an attempt without a whole answer. */
export const judgeFailure = <A>(call: Call<A>, failure: TransportFailure) =>
  judgeSafely(failure.head?.status, (): Result.Result<A, Failed> => {
    const { cause, head, kind } = failure
    if (head === undefined) {
      const isRefused = kind === "Broken" && (isFetchRefusal(cause) || isForwardRefusal(cause))
      return Result.fail(isRefused ? judgeRefusal(call, 407, {}, { text: "" }) : judgeUnanswered(failure))
    }
    const reason = cause === undefined && kind === "Broken" ? "Unrecognised" : bodyReason[kind]
    return Result.fail(
      isSuccess(head.status)
        ? unusable(head.status, reason)
        : judgeRefusal(call, head.status, head.headers, { unread: reason })
    )
  })
