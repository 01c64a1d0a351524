/**
 * The transport on fetch: one request and one timer for each attempt, and no stream if the length of the body is known.
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
import { identity } from "effect/Function"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import { startTimer, stopTimer } from "../../../internal/timer.ts"
import {
  type AnswerHeaders,
  registerTransport,
  type Transport,
  type TransportFailure,
  type TransportRequest,
  type TransportSink
} from "../../../internal/transport.ts"

/**
 * A body that notes whether fetch has read it. A Blob, since fetch sends its length and can repeat it on a 421. Where a
 * platform reads a Blob without its stream, nothing is noted. Node writes the head together with the body, once it has a
 * connection: where the body is refused, nothing was sent.
 */
class Body extends Blob {
  isRead = false
  readonly #bytes: Uint8Array<ArrayBuffer>
  readonly #mayLeave: () => boolean

  constructor(bytes: Uint8Array<ArrayBuffer>, mayLeave: () => boolean) {
    super([bytes])
    this.#bytes = bytes
    this.#mayLeave = mayLeave
  }

  override stream(): ReadableStream<Uint8Array<ArrayBuffer>> {
    const source: UnderlyingByteSource = {
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
  // A declared length of an uncompressed body is enforced by HTTP's framing: no counting is needed, which is faster.
  if (length !== null && !response.headers.has("content-encoding") && /^\d{1,15}$/.test(length)) {
    return Number(length) > maxBytes ? Promise.resolve(undefined) : response.text()
  }
  if (response.body === null) return Promise.resolve("")
  const reader = response.body.getReader()
  const decoder = new TextDecoder()
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
class Exchange {
  readonly #abort = new AbortController()
  readonly #sink: TransportSink
  readonly body: Body | null
  readonly #isLate: () => boolean
  readonly #timer: ReturnType<typeof startTimer>
  #head: TransportFailure["head"]
  /** Whether fetch got no body, since the time was over. */
  #isRefused = false
  #isOver = false

  constructor(sink: TransportSink, { body, isLate }: TransportRequest, timeout: number) {
    this.#sink = sink
    this.#isLate = isLate
    this.body = body === undefined ? null : new Body(body, () => this.mayLeave())
    this.#timer = startTimer(timeout, late, this)
  }

  get signal(): AbortSignal {
    return this.#abort.signal
  }

  /**
   * Whether the request is still in time. It is checked right before fetch gets the bytes. A late request is given up.
   */
  mayLeave(): boolean {
    if (!this.#isLate()) return true
    this.#isRefused = true
    this.giveUp("Late")
    return false
  }

  readAnswer(response: Response, maxBytes: number): Promise<void> {
    const { status } = response
    const headers = status >= 200 && status < 300 ? {} : Object.fromEntries(response.headers)
    this.#head = { status, headers }
    return readBounded(response, maxBytes).then((text) =>
      text === undefined ? this.giveUp("TooLarge") : this.#reportAnswer(status, headers, text)
    )
  }

  fail(cause: unknown): void {
    this.#reportFailure("Broken", cause)
  }

  /** Reports the failure, and closes the connection. */
  giveUp(kind: TransportFailure["kind"]): void {
    this.#reportFailure(kind, undefined)
    this.#abort.abort()
  }

  cancel(): void {
    if (this.#end()) this.#abort.abort()
  }

  #reportAnswer(status: number, headers: AnswerHeaders, text: string): void {
    if (this.#end()) this.#sink.onAnswer(status, headers, text)
  }

  #reportFailure(kind: TransportFailure["kind"], cause: unknown): void {
    if (!this.#end()) return
    // A body that fetch has read may have left. If the platform reads a Blob without its stream, nothing is noted, so
    // any other body may have left too.
    const sent = this.body?.isRead === true ? true : this.#isRefused ? false : undefined
    this.#sink.onFailure({ kind, sent, head: this.#head, cause })
  }

  /** Ends the exchange. Returns `false` if it had ended before. */
  #end(): boolean {
    if (this.#isOver) return false
    this.#isOver = true
    stopTimer(this.#timer)
    return true
  }
}

const late = (exchange: Exchange): void => exchange.giveUp("Late")

const transportOf = (fetch: typeof globalThis.fetch, init: RequestInit): Transport => {
  const withUserHeaders = (headers: Readonly<Record<string, string>>) =>
    init.headers === undefined ? headers : { ...Object.fromEntries(new Headers(init.headers)), ...headers }
  return {
    send: (request, timeout, maxBytes, sink) => {
      const { headers, method, origin, path } = request
      const exchange = new Exchange(sink, request, timeout)
      if (!exchange.mayLeave()) return Effect.void
      const sent = Result.try(() =>
        fetch(origin + path, {
          ...init,
          method,
          headers: withUserHeaders(headers),
          body: exchange.body,
          redirect: "manual",
          signal: exchange.signal
        })
      )
      const fail = (cause: unknown) => exchange.fail(cause)
      if (Result.isFailure(sent)) fail(sent.failure)
      // A fetch of the user's own may return no promise.
      else
        Promise.resolve(sent.success)
          .then((response) => exchange.readAnswer(response, maxBytes))
          .then(undefined, fail)
      return Effect.sync(() => exchange.cancel())
    }
  }
}

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

/**
 * The `HttpClient` of Effect over fetch, for which this transport is registered. `FetchHttpClient.Fetch` and `RequestInit` of
 * the layer hold for both; a call with a `Fetch` or `RequestInit` of its own is sent by the client.
 */
export const layer: Layer.Layer<HttpClient.HttpClient> = Layer.effect(
  HttpClient.HttpClient,
  Effect.gen(function* () {
    const context = yield* Effect.context<never>()
    const fetch = yield* FetchHttpClient.Fetch
    const init = { ...Context.getOrUndefined(context, FetchHttpClient.RequestInit), ...(yield* withoutRepetition) }
    const stock = yield* Layer.build(Layer.fresh(FetchHttpClient.layer)).pipe(
      Effect.provideService(FetchHttpClient.RequestInit, init)
    )
    // A client object of its own, since a transport is registered for one object.
    const client = HttpClient.transformResponse(Context.get(stock, HttpClient.HttpClient), identity)
    registerTransport(client, transportOf(fetch, init))
    return client
  })
)
