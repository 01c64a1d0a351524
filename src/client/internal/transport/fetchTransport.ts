/**
 * The transport on fetch.
 *
 * Gotchas of fetch:
 *
 * - It follows redirects with the credentials. `redirect: "manual"` prevents that.
 * - On a 421 it sends the request once more, on a new connection: same key, same bytes. The body notes whether fetch has
 *   read it. If so, a request may have left, also where the second connection was refused.
 * - Deno's fetch sends a request once more when an idle connection breaks, and reports only the second request. So no idle
 *   connection is reused there.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Predicate from "effect/Predicate"
import type * as Scope from "effect/Scope"
import { decoderOf } from "../../../internal/charset.ts"
import {
  type AnswerHeaders,
  type Sent,
  type Transport,
  type TransportFailure,
  type TransportRequest,
  type TransportSink,
  withoutCache
} from "../../../internal/transport.ts"

type Fetch = typeof globalThis.fetch

const platformFetch = globalThis.fetch

/** Whether the answered bodies of a fetch were all read by their stream. A function has no name but itself; one that is not here is in doubt. */
const readings = new WeakMap<Fetch, boolean>()

/**
 * Whether a fetch that takes the stream of a body reads its bytes there, and nowhere else. The fetch of the platform does
 * (Node, Deno), or takes no stream (Bun, workers). One of the user's own, as a mock that reads only the headers, is believed
 * once it got an answer for a body that it read.
 */
const isStreaming = (fetch: Fetch): boolean => readings.get(fetch) ?? fetch === platformFetch

/**
 * A body that notes whether fetch has read it. It is a Blob, since fetch sends the length of a Blob, and reads it again
 * where it sends the request again. Node writes the head together with the body, once it has a connection: where the body
 * is refused, nothing was sent (over HTTP/2 at most a head, with which nothing can be executed). Deno reads the body before
 * it has a connection.
 */
class Body extends Blob {
  isTaken = false
  isRead = false
  readonly #bytes: Uint8Array<ArrayBuffer>
  readonly #mayLeave: () => boolean

  constructor(bytes: Uint8Array<ArrayBuffer>, mayLeave: () => boolean) {
    super([bytes])
    this.#bytes = bytes
    this.#mayLeave = mayLeave
  }

  override stream(): ReadableStream<Uint8Array<ArrayBuffer>> {
    this.isTaken = true
    const source: UnderlyingByteSource = {
      // Node's fetch tees the stream, and reads one that is not of bytes ahead, before it has a connection.
      type: "bytes",
      pull: (controller) => {
        if (!this.#mayLeave()) return
        this.isRead = true
        controller.enqueue(this.#bytes.slice())
        controller.close()
        controller.byobRequest?.respond(0)
      }
    }
    return new ReadableStream(source, { highWaterMark: 0 })
  }
}

/** Reads the body as text. Returns `undefined` if it is over the bound. */
const readBounded = (response: Response, maxBytes: number): Promise<string | undefined> => {
  const length = response.headers.get("content-length")
  const declared = decoderOf(response.headers.get("content-type"))
  // A declared length of an uncompressed body is enforced by HTTP's framing: no counting is needed, which is faster.
  if (length !== null && !response.headers.has("content-encoding") && /^\d{1,15}$/.test(length)) {
    if (Number(length) > maxBytes) return Promise.resolve(undefined)
    if (declared === undefined) return response.text()
  }
  if (response.body === null) return Promise.resolve("")
  const reader = response.body.getReader()
  const decoder = declared ?? new TextDecoder()
  let text = ""
  let size = 0
  const more = (): Promise<string | undefined> =>
    reader.read().then(({ done, value }) => {
      if (done) return text + decoder.decode()
      size += value.byteLength
      if (size > maxBytes) return undefined
      text += decoder.decode(value, { stream: true })
      return more()
    })
  return more()
}

/** One request under way. */
class Exchange implements Sent {
  readonly #abort = new AbortController()
  readonly #sink: TransportSink
  readonly #isLate: () => boolean
  readonly #body: Body | null
  #fetch: Fetch | undefined
  #head: TransportFailure["head"]
  /** Whether fetch got no body, since the time was over. */
  #isRefused = false
  #isOver = false

  constructor(sink: TransportSink, { body, isLate }: TransportRequest) {
    this.#sink = sink
    this.#isLate = isLate
    this.#body = body === undefined ? null : new Body(body, () => this.#mayLeave())
  }

  expire(): void {
    this.#giveUp("Late")
  }

  get cancel(): Effect.Effect<void> {
    return Effect.sync(() => {
      if (this.#end()) this.#abort.abort()
    })
  }

  mayHaveLeft(): boolean {
    return this.#sent !== false
  }

  send(fetch: Fetch, url: string, init: RequestInit, maxBytes: number): void {
    if (!this.#mayLeave()) return
    this.#fetch = fetch
    const { signal } = this.#abort
    // A fetch of the user's own may throw, or return no promise.
    void Promise.resolve()
      .then(() => fetch(url, { ...init, redirect: "manual", body: this.#body, signal }))
      .then((response) => this.#readAnswer(response, maxBytes))
      .then(undefined, (cause: unknown) => this.#fail("Broken", cause))
  }

  #readAnswer(response: Response, maxBytes: number): Promise<void> {
    const { status } = response
    this.#noteReading()
    const headers = status >= 200 && status < 300 ? {} : Object.fromEntries(response.headers)
    this.#head = { status, headers }
    return readBounded(response, maxBytes).then((text) =>
      text === undefined ? this.#giveUp("TooLarge") : this.#reportAnswer(status, headers, text)
    )
  }

  #reportAnswer(status: number, headers: AnswerHeaders, text: string): void {
    if (this.#end()) this.#sink.onAnswer(status, headers, text)
  }

  /** Notes of an answered request whether fetch has read its body by the stream. */
  #noteReading(): void {
    if (this.#fetch === undefined || this.#body === null) return
    readings.set(this.#fetch, this.#body.isRead && readings.get(this.#fetch) !== false)
  }

  /**
   * Whether the request is still wanted and in time. It is checked right before fetch gets the bytes: what was reported as
   * unsent never leaves later. A late request is given up.
   */
  #mayLeave(): boolean {
    if (!this.#isOver && !this.#isLate()) return true
    this.#isRefused = true
    this.#giveUp("Late")
    return false
  }

  /** Reports the failure, and closes the connection. */
  #giveUp(kind: TransportFailure["kind"]): void {
    this.#fail(kind, undefined)
    this.#abort.abort()
  }

  #fail(kind: TransportFailure["kind"], cause: unknown): void {
    if (!this.#end()) return
    this.#sink.onFailure({ kind, sent: this.#sent, head: this.#head, cause })
  }

  /** Whether the request may have left. Where a platform reads a Blob without its stream, nothing is noted. */
  get #sent(): boolean | undefined {
    if (this.#body?.isRead === true) return true
    if (this.#isRefused || this.#fetch === undefined) return false
    return this.#body?.isTaken === true && isStreaming(this.#fetch) ? false : undefined
  }

  /** Ends the exchange. Returns `false` if it had ended before. */
  #end(): boolean {
    if (this.#isOver) return false
    this.#isOver = true
    return true
  }
}

const withUserHeaders = ({ headers }: RequestInit, ours: Readonly<Record<string, string>>) =>
  headers === undefined ? ours : { ...Object.fromEntries(new Headers(headers)), ...ours }

/** The transport of a fetch. A call may have a `Fetch` and a `RequestInit` of its own. */
const transportOf = (builtIn: Context.Context<never>, unrepeated: object): Transport => ({
  send: (request, maxBytes, sink) => {
    const { context, headers, method, origin, path } = request
    const find = <I, S>(key: Context.Key<I, S>) =>
      Context.getOrUndefined(context, key) ?? Context.getOrUndefined(builtIn, key)
    const init = { ...find(FetchHttpClient.RequestInit), ...unrepeated, ...withoutCache(method), method }
    const exchange = new Exchange(sink, request)
    exchange.send(
      find(FetchHttpClient.Fetch) ?? globalThis.fetch,
      origin + path,
      { ...init, headers: withUserHeaders(init, headers) },
      maxBytes
    )
    return exchange
  }
})

/** Options of fetch that prevent a platform from repeating a request on its own. */
const withoutRepetition = Effect.gen(function* () {
  const deno: unknown = Reflect.get(globalThis, "Deno")
  if (deno === undefined) return {}
  if (!Predicate.hasProperty(deno, "createHttpClient") || !Predicate.isFunction(deno.createHttpClient)) {
    yield* Effect.logWarning(
      "This platform's fetch may send a payment once more by itself when a connection breaks, and offers no way to prevent it. The gateway must recognise idempotency keys."
    )
    return {}
  }
  const create = deno.createHttpClient
  const client = yield* Effect.acquireRelease(
    Effect.sync((): unknown => create({ poolMaxIdlePerHost: 0 })),
    (client) =>
      Effect.sync(() => {
        if (Predicate.hasProperty(client, "close") && Predicate.isFunction(client.close)) client.close()
      })
  )
  return { client }
})

/** Makes the transport. A call without a `Fetch` or a `RequestInit` of its own uses those of the context in which this runs. */
export const make: Effect.Effect<Transport, never, Scope.Scope> = Effect.gen(function* () {
  return transportOf(yield* Effect.context<never>(), yield* withoutRepetition)
})
