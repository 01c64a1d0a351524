/**
 * Effect's `HttpClient` on an undici dispatcher, for programs that wrap the client or send other requests with it.
 */
import { Readable } from "node:stream"
import { ReadableStream } from "node:stream/web"
import * as Effect from "effect/Effect"
import { constVoid } from "effect/Function"
import type * as HttpBody from "effect/http/HttpBody"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Stream from "effect/Stream"
import type { Dispatcher } from "undici"

const withoutBody: ReadonlySet<number> = new Set([204, 205, 304])

interface Outgoing {
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array | Readable | string | null
}

const outgoingOf = (headers: Readonly<Record<string, string>>, body: HttpBody.HttpBody): Effect.Effect<Outgoing> => {
  switch (body._tag) {
    case "Empty":
      return Effect.succeed({ headers, body: null })
    case "Uint8Array":
      return Effect.succeed({ headers, body: body.body })
    case "Stream":
      return Effect.map(Stream.toAsyncIterableEffect(body.stream), (chunks) => ({
        headers,
        body: Readable.from(chunks)
      }))
    // The platform's `Response` writes every body that it accepts: forms, blobs, web streams, plain text.
    case "FormData":
      return readBody(headers, body.formData)
    case "Raw":
      // `Raw` promises a body that the platform accepts; `new Response` throws if it does not.
      return readBody(headers, body.body as BodyInit)
  }
}

const readBody = (headers: Readonly<Record<string, string>>, body: BodyInit): Effect.Effect<Outgoing> =>
  Effect.promise(async () => {
    const response = new Response(body)
    const type = response.headers.get("content-type")
    return {
      headers: body instanceof FormData && type !== null ? { ...headers, "content-type": type } : headers,
      body: new Uint8Array(await response.arrayBuffer())
    }
  })

const headerEntries = (headers: Dispatcher.ResponseData["headers"]): Array<[string, string]> =>
  Object.entries(headers).flatMap(([name, value = []]) =>
    (typeof value === "string" ? [value] : value).map((one): [string, string] => [name, one])
  )

const toResponse = (
  request: HttpClientRequest.HttpClientRequest,
  url: URL,
  { body, headers, statusCode }: Dispatcher.ResponseData
): HttpClientResponse.HttpClientResponse => {
  const isEmpty = withoutBody.has(statusCode)
  // A body may fail before it is read. Without a listener that would end the process. A reader gets the error as well.
  body.on("error", constVoid)
  if (isEmpty) body.resume()
  // `Readable.toWeb` is not used: if data arrives after a cancellation, its stream throws where nothing can catch it. The
  // type of `from` is Node's own `ReadableStream`, which is the web's.
  const stream = isEmpty ? null : (ReadableStream.from(body) as globalThis.ReadableStream<Uint8Array>)
  const response = new Response(stream, { status: statusCode, headers: headerEntries(headers) })
  Object.defineProperty(response, "url", { value: url.href.replace(/#.*/s, "") })
  return HttpClientResponse.fromWeb(request, response)
}

/** The client of a dispatcher. It follows no redirect, repeats nothing and asks for no compression. */
export const clientOf = (dispatcher: Dispatcher): HttpClient.HttpClient =>
  HttpClient.make((request, url, signal) => {
    const failed = (cause: unknown) =>
      new HttpClientError.HttpClientError({ reason: new HttpClientError.TransportError({ request, cause }) })
    return Effect.flatMap(outgoingOf(request.headers, request.body), ({ body, headers }) =>
      Effect.tryPromise({
        try: async () =>
          toResponse(
            request,
            url,
            await dispatcher.request({
              origin: url.origin,
              path: url.pathname + url.search,
              method: request.method,
              headers,
              body,
              signal,
              headersTimeout: 0,
              bodyTimeout: 0
            })
          ),
        catch: failed
      })
    )
  })
