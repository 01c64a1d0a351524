/**
 * Failures of the transport, judged once: could the request have left this process?
 *
 * Only what provably happened before the first byte of the request counts as not sent: the name, the connection, the
 * check of the certificate. Everything else, and every cause that is not known here, counts as unknown.
 */
import type { FailureReason } from "../../../contract/PaymentsError.ts"
import type { TransportFailure } from "../../../internal/transport.ts"
import type { Unanswered } from "./verdict.ts"

const neverResolved: ReadonlySet<string> = new Set(["ENOTFOUND", "EAI_AGAIN", "EAI_FAIL", "EAI_NODATA", "EAI_NONAME"])

/** Codes that can only come from connecting. The last is Bun's. */
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
 * What OpenSSL (from 3.2) says of a peer that does not speak TLS, by the routine that reads records until a version is
 * agreed on. The same complaint by another routine is about an answer: a request has left.
 */
const noTls = ":tls_validate_record_header:wrong version number:"

const lost: ReadonlySet<string> = new Set(["ECONNRESET", "EPIPE", "ECONNABORTED", "UND_ERR_SOCKET", "UND_ERR_CLOSED"])
const late: ReadonlySet<string> = new Set(["ETIMEDOUT", "UND_ERR_HEADERS_TIMEOUT", "UND_ERR_BODY_TIMEOUT"])

const notSent = (reason: FailureReason): Unanswered => ({ _tag: "Unanswered", sent: "NotSent", reason })

const unknown = (reason: FailureReason): Unanswered => ({ _tag: "Unanswered", sent: "Unknown", reason })

/** A failure that this module does not know. */
export const unrecognised: Unanswered = unknown("Unrecognised")

/** No full answer within the attempt's time: whether the request left is not known. */
const timedOut: Unanswered = unknown("Timeout")

/** What came back is no HTTP, or more headers than the transport takes. */
const notHttp = unknown("Unreadable")
const notHttpCodes: ReadonlySet<string> = new Set(["UND_ERR_HEADERS_OVERFLOW", "UND_ERR_RES_CONTENT_LENGTH_MISMATCH"])

const judgeCode = (code: string, syscall: unknown, message: unknown): Unanswered => {
  if (neverResolved.has(code)) return notSent("NameNotResolved")
  if (neverConnected.has(code) || syscall === "connect") return notSent("NoConnection")
  if (tlsRefused.has(code)) return notSent("Tls")
  if (lost.has(code)) return unknown("ConnectionLost")
  if (late.has(code)) return unknown("Timeout")
  if (code.startsWith("ERR_SSL_") || code === "EPROTO") {
    return String(message).includes(noTls) ? notSent("Tls") : unknown("Tls")
  }
  return code.startsWith("HPE_") || notHttpCodes.has(code) ? notHttp : unrecognised
}

const judgeCause = (cause: unknown, depth: number): Unanswered => {
  if (typeof cause !== "object" || cause === null || depth > 8) return unrecognised
  // Happy eyeballs: several addresses were tried. Not sent only if every one of them says so.
  if ("errors" in cause && Array.isArray(cause.errors) && cause.errors.length > 0) {
    let first: Unanswered | undefined
    for (const error of cause.errors) {
      const verdict = judgeCause(error, depth + 1)
      // Without looking further: the errors may contain themselves.
      if (verdict.sent === "Unknown") return verdict
      first ??= verdict
    }
    return first ?? unrecognised
  }
  if ("code" in cause && typeof cause.code === "string") {
    const syscall = "syscall" in cause ? cause.syscall : undefined
    return judgeCode(cause.code, syscall, "message" in cause ? cause.message : undefined)
  }
  // undici's own parser, in most of its errors without a code.
  if ("name" in cause && cause.name === "HTTPParserError") return notHttp
  return "cause" in cause ? judgeCause(cause.cause, depth + 1) : unrecognised
}

/** Judges a failure that came before the status of an answer. What the transport knows counts more than what its cause says. */
export const judgeFailure = ({ cause, kind, sent }: TransportFailure): Unanswered => {
  const verdict = kind === "Late" ? timedOut : judgeCause(cause, 0)
  if (sent === undefined) return verdict
  if (sent) return { ...verdict, sent: "Unknown" }
  return { ...verdict, sent: "NotSent", reason: verdict.reason === "Unrecognised" ? "NotMade" : verdict.reason }
}

/** Why a body that began could not be read. */
export const bodyReason = { Broken: "Truncated", TooLarge: "TooLarge", Late: "Timeout" } as const
