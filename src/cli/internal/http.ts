/** HTTP requests for which the client has no operation, and their raw answers. */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import type * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Stream from "effect/Stream"
import { codeOf, problemOf } from "./errorCode.ts"

export interface Answer {
  readonly status: number
  /** Its content type. */
  readonly type: string
  /** Its `Date` header. */
  readonly date: string
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

/** The error of a transport may show a header, so only its code is taken. */
const noAnswer = ({ reason: { cause } }: HttpClientError.HttpClientError) => {
  const code = codeOf(cause)
  if (code === undefined) return new NoAnswer({ problem: "the transport failed without a code" })
  return new NoAnswer({ problem: `${problemOf(code) ?? "the transport failed"} (${code})` })
}

const late = new NoAnswer({ problem: "no answer within 30 seconds" })

/** Sends a request once, and follows no redirect. Fails if there is no whole answer within 30 seconds. */
export const send = (request: HttpClientRequest.HttpClientRequest): Effect.Effect<Answer, NoAnswer> =>
  HttpClient.execute(request).pipe(
    Effect.flatMap((response) =>
      Effect.map(bodyOf(response), (text) => ({
        status: response.status,
        type: response.headers["content-type"] ?? "",
        date: response.headers["date"] ?? "",
        text
      }))
    ),
    Effect.mapError(noAnswer),
    Effect.timeoutOrElse({ duration: "30 seconds", orElse: () => Effect.fail(late) }),
    Effect.provideService(FetchHttpClient.RequestInit, { redirect: "manual" }),
    Effect.provide(FetchHttpClient.layer)
  )
