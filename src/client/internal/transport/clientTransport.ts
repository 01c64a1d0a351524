/**
 * The transport on any `HttpClient`: for clients that a user supplies or wrapped.
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Headers from "effect/http/Headers"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpClient from "effect/http/HttpClient"
import type * as HttpClientError from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as UrlParams from "effect/http/UrlParams"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { decoderOf } from "../../../internal/charset.ts"
import {
  HttpTransport,
  type Transport,
  type TransportFailure,
  type TransportRequest,
  withoutCache
} from "../../../internal/transport.ts"

/** The body has more bytes than the policy allows. */
class BodyTooLarge extends Data.TaggedError("BodyTooLarge") {}
class OutOfTime extends Data.TaggedError("OutOfTime") {}

const requestOf = ({ body, headers, method, origin, path }: TransportRequest) =>
  HttpClientRequest.makeWith(
    method,
    origin + path,
    UrlParams.empty,
    Option.none(),
    Headers.fromRecordUnsafe({ ...headers }),
    body === undefined ? HttpBody.empty : HttpBody.uint8Array(body, headers["content-type"])
  )

/** Gathers a body, bounded: the bytes are counted after decompression, while they stream. */
const gather = (response: HttpClientResponse.HttpClientResponse, limit: number) =>
  Effect.suspend(() => {
    const decoder = decoderOf(response.headers["content-type"]) ?? new TextDecoder()
    let text = ""
    let size = 0
    return response.stream.pipe(
      Stream.runForEach((chunk) => {
        size += chunk.byteLength
        if (size > limit) return new BodyTooLarge()
        text += decoder.decode(chunk, { stream: true })
        return Effect.void
      }),
      Effect.map(() => text + decoder.decode())
    )
  })

/** The whole body as text; an absent body is the empty text. */
const readBody = (
  response: HttpClientResponse.HttpClientResponse,
  limit: number
): Effect.Effect<string, BodyTooLarge | HttpClientError.HttpClientError> => {
  const { "content-encoding": encoding, "content-length": length, "content-type": type } = response.headers
  // A declared length of an uncompressed body is enforced by HTTP's framing: no counting is needed, which is faster.
  if (length !== undefined && encoding === undefined && /^\d{1,15}$/.test(length)) {
    if (Number(length) <= limit && decoderOf(type) === undefined) return response.text
    // The first chunk is too much. Reading it cancels the body: otherwise its socket stays open, and the process does not end.
    if (Number(length) > limit) return gather(response, -1)
  }
  return Effect.catchIf(
    gather(response, limit),
    (error) => error._tag === "HttpClientError" && error.reason._tag === "EmptyBodyError",
    () => Effect.succeed("")
  )
}

type Broken = BodyTooLarge | OutOfTime | HttpClientError.HttpClientError

const kindOf = (error: Broken | undefined): TransportFailure["kind"] => {
  if (error?._tag === "BodyTooLarge") return "TooLarge"
  return error?._tag === "OutOfTime" ? "Late" : "Broken"
}

/** Whether the error of a client shows that nothing was sent, and its cause. */
const sentAndCause = (error: Broken | undefined): Pick<TransportFailure, "sent" | "cause"> => {
  if (error?._tag !== "HttpClientError") return { sent: undefined, cause: undefined }
  const { reason } = error
  if (reason._tag === "EncodeError" || reason._tag === "InvalidUrlError") return { sent: false, cause: undefined }
  return { sent: undefined, cause: reason._tag === "TransportError" ? reason.cause : reason._tag }
}

/**
 * The context in which a client sends. No redirect is followed, since it would carry the credentials to another host, and
 * the stock span and trace headers stay out, since the spans are ours.
 */
const sendingContext = ({ context, method }: TransportRequest, builtIn: Context.Context<never>) => {
  const init =
    Context.getOrUndefined(context, FetchHttpClient.RequestInit) ??
    Context.getOrUndefined(builtIn, FetchHttpClient.RequestInit)
  return context.pipe(
    Context.add(FetchHttpClient.RequestInit, { ...init, ...withoutCache(method), redirect: "manual" }),
    Context.add(HttpClient.TracerDisabledWhen, () => true)
  )
}

/** The transport on a client. `builtIn` is the context in which `Payments` was built. */
const transportOn = (client: HttpClient.HttpClient, builtIn: Context.Context<never>): Transport => ({
  send: (request, limit, sink) => {
    let isLate = false
    let isCancelled = false
    /** Whether the request was given to the client. */
    let isHandedOver = false
    let response: HttpClientResponse.HttpClientResponse | undefined

    const read = (head: HttpClientResponse.HttpClientResponse) => {
      response = head
      return readBody(head, limit)
    }
    // It is suspended, since a client that a user wrapped may throw.
    const answer = Effect.suspend((): Effect.Effect<HttpClientResponse.HttpClientResponse, Broken> => {
      if (request.isLate()) return new OutOfTime()
      isHandedOver = true
      return client.execute(requestOf(request))
    })
    const sent = Effect.matchEffect(answer, {
      onSuccess: read,
      // A client that a user wrapped with a filter of statuses fails with an error that holds the answer.
      onFailure: (error) =>
        error._tag === "HttpClientError" && error.reason._tag === "StatusCodeError"
          ? read(error.reason.response)
          : Effect.fail(error)
    })

    const fiber = Effect.runForkWith(sendingContext(request, builtIn))(sent)
    fiber.addObserver((exit) => {
      if (isCancelled) return
      if (Exit.isSuccess(exit) && response !== undefined) {
        return sink.onAnswer(response.status, response.headers, exit.value)
      }
      const error = Exit.isFailure(exit) ? Option.getOrUndefined(Cause.findErrorOption(exit.cause)) : undefined
      sink.onFailure({
        kind: isLate ? "Late" : kindOf(error),
        head: response === undefined ? undefined : { status: response.status, headers: response.headers },
        ...(isHandedOver ? sentAndCause(error) : { sent: false, cause: undefined })
      })
    })
    return {
      expire: () => {
        isLate = true
        fiber.interruptUnsafe()
      },
      cancel: Effect.suspend(() => {
        isCancelled = true
        return Fiber.interrupt(fiber)
      }),
      mayHaveLeft: () => isHandedOver
    }
  }
})

/** The transport of the client of the context: the one that its layer provides for it, else one on the client itself. */
export const make: Effect.Effect<Transport, never, HttpClient.HttpClient> = Effect.contextWith(
  (context: Context.Context<HttpClient.HttpClient>) => {
    const client = Context.get(context, HttpClient.HttpClient)
    const own = Context.getOrUndefined(context, HttpTransport)
    return Effect.succeed(own?.client === client ? own.transport : transportOn(client, context))
  }
)
