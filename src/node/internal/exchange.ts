/**
 * The transport on undici's `dispatch`: one handler and one timer for each request.
 *
 * undici starts a request only when it has a connection for it, and then writes it at once. So a request that was never
 * started sent no byte, whatever happened to it, and one whose time is over by then is not started. A request that was
 * started may have been sent.
 */
import { Buffer } from "node:buffer"
import { brotliDecompress, gunzip, inflate } from "node:zlib"
import * as Effect from "effect/Effect"
import type { Dispatcher } from "undici"
import { startTimer, stopTimer, type Timer } from "../../internal/timer.ts"
import type { AnswerHeaders, Transport, TransportFailure, TransportSink } from "../../internal/transport.ts"

type Unpack = (body: Buffer, options: { readonly maxOutputLength: number }, done: Unpacked) => void
type Unpacked = (error: Error | null, body: Buffer) => void

/** No compression is asked for. The answer of a server that compresses all the same is bounded too. */
const unpackers: ReadonlyMap<string, Unpack> = new Map<string, Unpack>([
  ["gzip", gunzip],
  ["x-gzip", gunzip],
  ["deflate", inflate],
  ["br", brotliDecompress]
])

/** Aborts a request. It is thrown where the request has not started, so that its connection stays open. */
const givenUp = new Error("the request was given up")

const textOf = (body: Buffer): string => {
  const text = body.toString("utf8")
  return text.startsWith("\uFEFF") ? text.slice(1) : text
}

class Exchange implements Dispatcher.DispatchHandler {
  readonly #sink: TransportSink
  readonly #maxBytes: number
  readonly #timer: Timer
  readonly #isLate: () => boolean
  #controller: Dispatcher.DispatchController | undefined
  #head: { readonly status: number; readonly headers: AnswerHeaders } | undefined
  readonly #chunks: Array<Buffer> = []
  #size = 0
  #isOver = false

  constructor(sink: TransportSink, timeout: number, maxBytes: number, isLate: () => boolean) {
    this.#sink = sink
    this.#maxBytes = maxBytes
    this.#isLate = isLate
    this.#timer = startTimer(timeout, late, this)
  }

  /** undici has a connection, and writes the request when this returns. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#isLate()) this.#reportFailure("Late", undefined)
    if (this.#isOver) throw givenUp
    this.#controller = controller
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: AnswerHeaders): void {
    if (status < 200 || this.#isOver) return
    this.#head = { status, headers }
    if (Number(headers["content-length"]) > this.#maxBytes) this.giveUp("TooLarge")
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#size += chunk.length
    if (this.#size > this.#maxBytes) this.giveUp("TooLarge")
    else this.#chunks.push(chunk)
  }

  onResponseEnd(): void {
    const [first = Buffer.alloc(0)] = this.#chunks
    // Most answers are one chunk, which is not copied.
    const body = this.#chunks.length > 1 ? Buffer.concat(this.#chunks) : first
    const encoding = this.#head?.headers["content-encoding"]
    if (encoding === undefined || encoding === "identity" || body.length === 0) this.#reportAnswer(body)
    else this.#unpack(body, String(encoding).toLowerCase())
  }

  onResponseError(_: unknown, cause: unknown): void {
    this.#reportFailure("Broken", cause)
  }

  /** Reports a failure, and closes the connection of a request that was started. */
  giveUp(kind: TransportFailure["kind"]): void {
    this.#reportFailure(kind, undefined)
    this.#controller?.abort(givenUp)
  }

  cancel(): void {
    if (!this.#end()) return
    this.#controller?.abort(givenUp)
  }

  #unpack(body: Buffer, encoding: string): void {
    const unpack = unpackers.get(encoding)
    // An encoding that is not known is read as it is: where that is no text, it does not decode.
    if (unpack === undefined) return this.#reportAnswer(body)
    unpack(body, { maxOutputLength: this.#maxBytes }, (error, unpacked) => {
      if (error === null) this.#reportAnswer(unpacked)
      else this.#reportFailure("code" in error && error.code === "ERR_BUFFER_TOO_LARGE" ? "TooLarge" : "Broken", error)
    })
  }

  #reportAnswer(body: Buffer): void {
    const head = this.#head
    if (head !== undefined && this.#end()) this.#sink.onAnswer(head.status, head.headers, textOf(body))
  }

  #reportFailure(kind: TransportFailure["kind"], cause: unknown): void {
    if (!this.#end()) return
    this.#sink.onFailure({ kind, cause, head: this.#head, sent: this.#controller !== undefined })
  }

  /** Ends the exchange. `false`: it had ended already. */
  #end(): boolean {
    if (this.#isOver) return false
    this.#isOver = true
    stopTimer(this.#timer)
    return true
  }
}

const late = (exchange: Exchange): void => exchange.giveUp("Late")

/** The transport of a dispatcher. */
export const transportOf = (dispatcher: Dispatcher): Transport => ({
  send: (request, timeout, maxBytes, sink) => {
    const exchange = new Exchange(sink, timeout, maxBytes, request.isLate)
    try {
      dispatcher.dispatch(
        {
          origin: request.origin,
          path: request.path,
          method: request.method,
          headers: request.headers,
          body: request.body ?? null,
          headersTimeout: 0,
          bodyTimeout: 0
        },
        exchange
      )
    } catch (cause) {
      exchange.onResponseError(undefined, cause)
    }
    return Effect.sync(() => exchange.cancel())
  }
})
