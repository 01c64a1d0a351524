/**
 * The interface between a call and the transport that sends it. Its input is prepared bytes, a deadline and a bound.
 * Its result is a whole answer, or the failure and whether the request may have left.
 *
 * A transport sends a request once. It repeats nothing, follows no redirect, and uses no socket and no listener after it
 * has reported to its sink.
 *
 * The sink is no Effect for speed: a prototype of one Effect with a time limit took 292 us of CPU for a `create` over Node's
 * transport, in place of 231.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"

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
  /** The context of the call. */
  readonly context: Context.Context<never>
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

/** A request that was given to a transport. */
export interface Sent {
  /** Gives the request up and reports `Late`, if nothing was reported yet. */
  readonly expire: () => void
  /** Gives the request up and reports nothing. When this effect has ended, the request uses no socket. */
  readonly cancel: Effect.Effect<void>
  /** Whether the request may have left. `false` after a cancellation is final: it will not leave later. */
  readonly mayHaveLeft: () => boolean
}

export interface Transport {
  /**
   * Sends a request. `maxBytes` counts after decompression. It never throws, and may report before it returns. Who calls
   * it limits its time, over connecting, the head and the whole body, by `expire`.
   */
  readonly send: (request: TransportRequest, maxBytes: number, sink: TransportSink) => Sent
}

/**
 * The transport that sends in place of one `HttpClient`. A layer that provides a client may provide it too. It is used
 * only for that very object: a client that a user wrapped is another one, and its changes are never bypassed.
 */
export class HttpTransport extends Context.Service<
  HttpTransport,
  { readonly client: HttpClient.HttpClient; readonly transport: Transport }
>()("effect-pix/transport/HttpTransport") {}

/** A client, and the transport that sends in its place. */
export const clientWithTransport = (
  client: HttpClient.HttpClient,
  transport: Transport
): Context.Context<HttpClient.HttpClient | HttpTransport> =>
  Context.make(HttpClient.HttpClient, client).pipe(Context.add(HttpTransport, { client, transport }))

/**
 * The option by which a fetch is told to keep no answer of a read, for one that keeps them whatever the header says. A
 * platform may refuse the option, as older workers do.
 */
export const withoutCache = (method: TransportRequest["method"]): Pick<RequestInit, "cache"> =>
  method === "GET" && takesNoStore() ? { cache: "no-store" } : {}

/** The platform does not change. */
let isTaken: boolean | undefined
const takesNoStore = (): boolean => {
  if (isTaken !== undefined) return isTaken
  try {
    isTaken = new Request("https://gateway.invalid", { cache: "no-store" }) instanceof Request
  } catch {
    isTaken = false
  }
  return isTaken
}
