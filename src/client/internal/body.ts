/**
 * Reads a response's body as text, bounded: a counter over the decompressed bytes stops a body that is too large
 * while it streams.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Stream from "effect/Stream"

/** The body has more bytes than the policy allows. */
export class BodyTooLarge extends Data.TaggedError("BodyTooLarge")<{ readonly limit: number }> {}

const gather = (response: HttpClientResponse.HttpClientResponse, limit: number) =>
  Effect.suspend(() => {
    const decoder = new TextDecoder()
    let text = ""
    let size = 0
    return response.stream.pipe(
      Stream.runForEach((chunk) => {
        size += chunk.byteLength
        if (size > limit) return new BodyTooLarge({ limit })
        text += decoder.decode(chunk, { stream: true })
        return Effect.void
      }),
      Effect.map(() => text + decoder.decode())
    )
  })

/** The whole body as text; an absent body is the empty text. */
export const readBody = (
  response: HttpClientResponse.HttpClientResponse,
  limit: number
): Effect.Effect<string, BodyTooLarge | HttpClientError.HttpClientError> => {
  const headers = response.headers
  const length = headers["content-length"]
  // A declared length of an uncompressed body is enforced by HTTP's framing: no counting is needed, which is faster.
  if (length !== undefined && headers["content-encoding"] === undefined && /^\d{1,15}$/.test(length)) {
    return Number(length) > limit ? new BodyTooLarge({ limit }) : response.text
  }
  return Effect.catchIf(
    gather(response, limit),
    (error) => error._tag === "HttpClientError" && error.reason._tag === "EmptyBodyError",
    () => Effect.succeed("")
  )
}
