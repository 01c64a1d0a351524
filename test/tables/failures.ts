/** What becomes of a call whose request gets no answer, by the error of the platform: the rows of `outcomes.ts` about transports. */
import type { FailureReason } from "effect-pix"
import type { End, Met, Row } from "./outcome.ts"

const coded = (code: string, more: object = {}): unknown => Object.assign(new Error("x"), { code, ...more })
const failed = (...all: ReadonlyArray<unknown>): ReadonlyArray<Met> => all.map((cause) => ({ cause }))
/** As a cause of Node, and as `fetch` wraps it. */
const causes = (code: string, more: object = {}) =>
  failed(coded(code, more), new TypeError("fetch failed", { cause: coded(code, more) }))
const eachOf = (codes: string, more: object = {}) =>
  Object.fromEntries(codes.split(" ").map((code) => [code, causes(code, more)]))
const during = (syscall: string) => ({ syscall })
const noTls = "0A:error:0A00010B:SSL routines:tls_validate_record_header:wrong version number:ssl/record:77:"
const otherRecord = "SSL routines:ssl3_get_record:wrong version number:"
const cyclic: { cause?: unknown } = {}
cyclic.cause = cyclic
const ownErrors = new AggregateError([])
ownErrors.errors = Array.from({ length: 50 }, () => ownErrors)
const revoked = Proxy.revocable({}, {})
revoked.revoke()
const throws = () => {
  throw new Error("a property that cannot be read")
}
const nested = (depth: number): unknown => (depth === 0 ? coded("ECONNREFUSED") : { cause: nested(depth - 1) })
const addresses = (...all: ReadonlyArray<unknown>) => Object.assign(new AggregateError(all), { code: "ECONNREFUSED" })

type Failures = Readonly<Record<string, ReadonlyArray<Met>>>
const again = " again"
type Group = readonly [reason: FailureReason, again: "" | typeof again, failures: Failures]

/** The failures before the first byte of a request. A certificate that is refused will be refused again. */
const unsent: ReadonlyArray<Group> = [
  ["NameNotResolved", again, eachOf("ENOTFOUND EAI_AGAIN EAI_FAIL EAI_NODATA EAI_NONAME")],
  ["NoConnection", again, eachOf("ECONNREFUSED UND_ERR_CONNECT_TIMEOUT ConnectionRefused")],
  // Undici's errors of a tunnel that a proxy does not open.
  ["NoConnection", again, eachOf("UND_ERR_PRX_CONN UND_ERR_SOCKS5 UND_ERR_SOCKS5_AUTH_FAILED UND_ERR_SOCKS5_REPLY_2")],
  [
    "NoConnection",
    again,
    Object.fromEntries(
      [403, 407, 502].map((status) => [
        `a proxy that answers CONNECT with ${status}`,
        causes("UND_ERR_ABORTED", { message: `Proxy response (${status}) !== 200 when HTTP Tunneling` })
      ])
    )
  ],
  ["NoConnection", again, eachOf("ETIMEDOUT ECONNRESET EHOSTUNREACH ENETUNREACH", during("connect"))],
  [
    "NoConnection",
    again,
    {
      "several addresses, all of which refused": failed(
        addresses(coded("ECONNREFUSED"), coded("ENETUNREACH", during("connect")))
      ),
      "a refused connection under eight wrappers": failed(nested(8))
    }
  ],
  ["Tls", "", eachOf("UND_ERR_PRX_TLS")],
  ["Tls", "", eachOf("CERT_HAS_EXPIRED CERT_NOT_YET_VALID CERT_REVOKED CERT_UNTRUSTED CERT_REJECTED")],
  ["Tls", "", eachOf("CERT_SIGNATURE_FAILURE DEPTH_ZERO_SELF_SIGNED_CERT SELF_SIGNED_CERT_IN_CHAIN")],
  ["Tls", "", eachOf("UNABLE_TO_GET_ISSUER_CERT UNABLE_TO_GET_ISSUER_CERT_LOCALLY UNABLE_TO_VERIFY_LEAF_SIGNATURE")],
  ["Tls", "", eachOf("ERR_TLS_CERT_ALTNAME_INVALID HOSTNAME_MISMATCH ERR_SSL_UNSUPPORTED_PROTOCOL")],
  ["Tls", "", eachOf("ERR_SSL_WRONG_VERSION_NUMBER EPROTO", { message: noTls })]
]

/** The failures after which the request may have left. */
const perhapsSent: ReadonlyArray<Group> = [
  ["ConnectionLost", again, eachOf("ECONNRESET EPIPE ECONNABORTED UND_ERR_SOCKET UND_ERR_CLOSED", during("read"))],
  [
    "ConnectionLost",
    again,
    {
      "several addresses, one of which was lost while reading": failed(
        addresses(coded("ECONNREFUSED"), coded("ECONNRESET", during("read")))
      )
    }
  ],
  ["Timeout", again, eachOf("ETIMEDOUT UND_ERR_HEADERS_TIMEOUT UND_ERR_BODY_TIMEOUT", during("read"))],
  ["Tls", again, eachOf("EPROTO ERR_SSL_BAD_RECORD_TYPE")],
  ["Tls", again, { "a record of TLS that broke after the handshake": causes("EPROTO", { message: otherRecord }) }],
  ["Unreadable", "", eachOf("HPE_INVALID_CONSTANT UND_ERR_HEADERS_OVERFLOW UND_ERR_RES_CONTENT_LENGTH_MISMATCH")],
  ["Unreadable", "", { "an HTTPParserError": failed({ name: "HTTPParserError" }) }],
  [
    "Unrecognised",
    again,
    {
      ...eachOf("E_NEVER_SEEN econnrefused UND_ERR_ABORTED"),
      "a failure without a cause that can be read": [
        ...failed(new TypeError("fetch failed"), "ECONNREFUSED", null, nested(9), new AggregateError([])),
        ...failed({ code: { toString: () => "ECONNREFUSED" } }, () => "ECONNREFUSED", Object.create(null)),
        ...failed(new DOMException("The operation was aborted", "AbortError"))
      ],
      "a failure whose cause contains itself": failed(cyclic, ownErrors),
      "a failure whose cause cannot be read": failed(
        Object.defineProperty({}, "code", { get: throws }),
        Object.defineProperty({}, "cause", { get: throws }),
        revoked.proxy
      ),
      "a defect of the transport": [{ defect: coded("ECONNREFUSED") }],
      "a transport that interrupts itself": ["interruption"]
    }
  ]
]

const rowsOf = (tag: "ServiceUnavailable" | "OutcomeUnknown", groups: ReadonlyArray<Group>) =>
  groups.flatMap(([reason, again, failures]) =>
    Object.entries(failures).map(([name, met]): Row => {
      const write: End = `${tag} ${reason}${again}`
      return { name, met, write, read: `ServiceUnavailable ${reason}${again}` }
    })
  )

/** A write is `NotSent` only after what provably happens before its first byte. */
export const failures: ReadonlyArray<Row> = [
  ...rowsOf("ServiceUnavailable", unsent),
  ...rowsOf("OutcomeUnknown", perhapsSent)
]
