/** HTTP requests for which the client has no operation, and their raw answers. */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import type * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"

export interface Answer {
  readonly status: number
  /** Its content type. */
  readonly type: string
  readonly text: string
}

/** A request without a whole answer. `problem` says why, without a header, an address or words of the transport. */
export class NoAnswer extends Data.TaggedError("NoAnswer")<{ readonly problem: string }> {}

const mostBytes = 4 * 1024 * 1024

/** A body as text, cut after four megabytes. */
const bodyOf = Effect.fnUntraced(function* (response: HttpClientResponse.HttpClientResponse) {
  const decoder = new TextDecoder()
  let left = mostBytes
  return yield* response.stream.pipe(
    Stream.takeWhile(() => left > 0),
    Stream.runFold(
      () => "",
      (text, chunk) => {
        const part = chunk.subarray(0, left)
        left -= part.length
        return text + decoder.decode(part, { stream: true })
      }
    )
  )
})

const problems: Readonly<Record<string, string>> = {
  ECONNREFUSED: "the connection is refused: nobody listens there",
  ECONNRESET: "the connection was closed before an answer",
  UND_ERR_SOCKET: "the connection was closed before the answer was complete",
  UND_ERR_CONNECT_TIMEOUT: "no connection could be made in time",
  ENOTFOUND: "the host name is not known",
  EAI_AGAIN: "the host name could not be looked up"
}

const tlsCode = /^ERR_(?:SSL|TLS)_|CERT|^UNABLE_TO_VERIFY|^HOSTNAME_MISMATCH$|^EPROTO$/

/** Words for a code of the system, of OpenSSL or of the transport: an error's only text that shows nothing of the request. */
const problemOf = (cause: unknown, depth = 0): string => {
  if (!Predicate.isObject(cause) || depth > 8) return "the transport failed without a code"
  const code = Reflect.get(cause, "code")
  if (typeof code !== "string" || !/^[A-Z][A-Z_\d]{2,49}$/.test(code)) {
    return problemOf(Reflect.get(cause, "cause"), depth + 1)
  }
  const words = tlsCode.test(code) ? "the TLS certificate or handshake is not acceptable" : "the transport failed"
  return `${problems[code] ?? words} (${code})`
}

/** The error of a transport may show a header, so only its code is taken. */
const noAnswer = ({ reason: { cause } }: HttpClientError.HttpClientError) => new NoAnswer({ problem: problemOf(cause) })

const late = new NoAnswer({ problem: "no answer within 30 seconds" })

/** Sends a request once, and follows no redirect. Fails if there is no whole answer within 30 seconds. */
export const send = (request: HttpClientRequest.HttpClientRequest): Effect.Effect<Answer, NoAnswer> =>
  HttpClient.execute(request).pipe(
    Effect.flatMap((response) =>
      Effect.map(bodyOf(response), (text) => ({
        status: response.status,
        type: response.headers["content-type"] ?? "",
        text
      }))
    ),
    Effect.mapError(noAnswer),
    Effect.timeoutOrElse({ duration: "30 seconds", orElse: () => Effect.fail(late) }),
    Effect.provideService(FetchHttpClient.RequestInit, { redirect: "manual" }),
    Effect.provide(FetchHttpClient.layer)
  )
