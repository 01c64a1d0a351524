/** HTTP requests for which the client has no operation, and their raw answers. */
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Stream from "effect/Stream"

export interface Answer {
  readonly status: number
  /** Its content type. */
  readonly type: string
  readonly text: string
}

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

/** Sends a request once and follows no redirect. `undefined` if there is no answer within 30 seconds. */
export const send = (request: HttpClientRequest.HttpClientRequest): Effect.Effect<Answer | undefined> =>
  HttpClient.execute(request).pipe(
    Effect.flatMap((response) =>
      Effect.map(bodyOf(response), (text) => ({
        status: response.status,
        type: response.headers["content-type"] ?? "",
        text
      }))
    ),
    Effect.timeout("30 seconds"),
    // The error of a transport may show a header, so it is dropped.
    Effect.orElseSucceed(() => undefined),
    Effect.provideService(FetchHttpClient.RequestInit, { redirect: "manual" }),
    Effect.provide(FetchHttpClient.layer)
  )
