/**
 * The interface between a call and the transport that sends it. Prepared bytes, a deadline and a bound go in. A whole
 * answer comes back, or what went wrong and whether the request may have left.
 *
 * A transport sends once. It repeats nothing, follows no redirect, and holds no socket, timer or listener after it has
 * reported to its sink. It is offered for one `HttpClient` object: a client that a user wrapped is another object, which has
 * none, so that nothing a user put around it is bypassed.
 */
import type * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"

/** A request, prepared to the last byte. */
export interface TransportRequest {
  readonly method: "GET" | "POST"
  /** Scheme, host and port, without a slash at the end. */
  readonly origin: string
  /** From the first slash, with the query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array<ArrayBuffer> | undefined
  /**
   * Whether the time of the attempt is over. A transport asks it right before the first byte leaves, and then sends
   * nothing: a process that was suspended finds its connection made before its timers run.
   */
  readonly isLate: () => boolean
}

/** The headers of an answer: names in lower case. */
export type AnswerHeaders = Readonly<Record<string, string | ReadonlyArray<string> | undefined>>

/** There is no whole answer. */
export interface TransportFailure {
  /** `Broken`: the connection or the answer failed. `TooLarge`: the answer is over its bound. `Late`: the time is over. */
  readonly kind: "Broken" | "TooLarge" | "Late"
  /** Whether the request may have left. `undefined`: the transport does not know, and the cause decides. */
  readonly sent: boolean | undefined
  /** The head of the answer, where there was one. */
  readonly head: { readonly status: number; readonly headers: AnswerHeaders } | undefined
  /** The error of the platform. Never shown: it may hold what was sent. */
  readonly cause: unknown
}

/** Receives one result, once. After a cancellation it receives nothing. */
export interface TransportSink {
  /** The whole answer: its final status, and its body decoded from UTF-8. */
  readonly onAnswer: (status: number, headers: AnswerHeaders, body: string) => void
  readonly onFailure: (failure: TransportFailure) => void
}

export interface Transport {
  /**
   * Sends. The time is in milliseconds and covers connecting, the head and the whole body; the bound is in bytes after
   * decompression. It never throws. Answers how to cancel: an effect that is done when nothing is left of the request.
   */
  readonly send: (
    request: TransportRequest,
    timeout: number,
    maxBytes: number,
    sink: TransportSink
  ) => Effect.Effect<void>
}

/**
 * By the very object, since that alone is safe: a property or a service would also reach a client that wraps, copies or
 * stands in for this one, and the transport would bypass what its owner put around it.
 */
const transports = new WeakMap<HttpClient.HttpClient, Transport>()

/** Offers a transport that does what the client does. */
export const offer = (client: HttpClient.HttpClient, transport: Transport): void => {
  transports.set(client, transport)
}

/** The transport offered for this very client. */
export const offered = (client: HttpClient.HttpClient): Transport | undefined => transports.get(client)
