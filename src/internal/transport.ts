/**
 * The interface between a call and the transport that sends it. Its input is prepared bytes, a deadline and a bound.
 * Its result is a whole answer, or the failure and whether the request may have left.
 *
 * A transport sends a request once. It repeats nothing, follows no redirect, and uses no socket, timer or listener
 * after it has reported to its sink. It is registered for one `HttpClient` object. A client that a user wrapped is
 * another object, for which no transport is registered, so the transport never bypasses the user's wrapper.
 */
import type * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"

/** A request, prepared to the last byte. */
export interface TransportRequest {
  readonly method: "GET" | "POST"
  /** Scheme, host and port, without a slash at the end. */
  readonly origin: string
  /** Begins with a slash, and includes the query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array<ArrayBuffer> | undefined
  /**
   * Whether the time of the attempt is over. A transport calls it right before the first byte leaves, and sends nothing if
   * it is: after a suspended process resumes, its connection may be ready before its timers run.
   */
  readonly isLate: () => boolean
}

/** The headers of an answer: names in lower case. */
export type AnswerHeaders = Readonly<Record<string, string | ReadonlyArray<string> | undefined>>

/** Why there is no complete answer. */
export interface TransportFailure {
  /** `Broken`: the connection or the answer failed. `TooLarge`: the answer is over its bound. `Late`: the time is over. */
  readonly kind: "Broken" | "TooLarge" | "Late"
  /** Whether the request may have left. `undefined`: the transport does not know, and the cause decides. */
  readonly sent: boolean | undefined
  /** The head of the answer, if there was one. */
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
   * Sends a request. `timeout` is in milliseconds and covers connecting, the head and the whole body. `maxBytes` counts
   * after decompression. Never throws. Returns the effect that cancels: when that effect has ended, the request uses no
   * socket and no timer.
   */
  readonly send: (
    request: TransportRequest,
    timeout: number,
    maxBytes: number,
    sink: TransportSink
  ) => Effect.Effect<void>
}

/**
 * Transports by the identity of the client. A property or a service would also be seen on a client that wraps or copies
 * this one, and the transport would bypass the changes of its owner.
 */
const transports = new WeakMap<HttpClient.HttpClient, Transport>()

/** Registers a transport for a client that has the same effect. */
export const registerTransport = (client: HttpClient.HttpClient, transport: Transport): void => {
  transports.set(client, transport)
}

/** The transport that is registered for this client object. */
export const registeredTransport = (client: HttpClient.HttpClient): Transport | undefined => transports.get(client)
