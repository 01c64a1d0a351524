/** Answers as they come, before anything reads them. */
import * as Effect from "effect/Effect"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Stream from "effect/Stream"

const mostBytes = 4 * 1024 * 1024

/** A body as text. What is longer than four megabytes is cut. */
export const bodyOf = Effect.fnUntraced(function* (response: HttpClientResponse.HttpClientResponse) {
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
