/**
 * The transport on undici's `dispatch`: one handler for each request.
 *
 * Details: undici starts a request only when it has a connection for it, and then writes it at once. So a request that was
 * never started sent no byte. A request whose time is over is not started. A request that was started may have been sent.
 */
import { Buffer } from "node:buffer"
import { brotliDecompress, gunzip, inflate } from "node:zlib"
import * as Effect from "effect/Effect"
import type { Dispatcher } from "undici"
import { decoderOf } from "../../internal/charset.ts"
import type { AnswerHeaders, Sent, Transport, TransportFailure, TransportSink } from "../../internal/transport.ts"

type Unpack = (body: Buffer, options: { readonly maxOutputLength: number }, done: Unpacked) => void
type Unpacked = (error: Error | null, body: Buffer) => void

/** Requests ask for no compression. If a server compresses anyway, the unpacked size is bounded too. */
const unpackers: ReadonlyMap<string, Unpack> = new Map<string, Unpack>([
  ["gzip", gunzip],
  ["x-gzip", gunzip],
  ["deflate", inflate],
  ["br", brotliDecompress]
])

/** The reason of an abort. `onRequestStart` throws it, so that undici keeps the connection open. */
const aborted = new Error("the request was aborted")

const textOf = (body: Buffer, contentType: AnswerHeaders[string]): string => {
  const decoder = contentType === undefined ? undefined : decoderOf(String(contentType))
  if (decoder !== undefined) return decoder.decode(body)
  const text = body.toString("utf8")
  return text.startsWith("\uFEFF") ? text.slice(1) : text
}

class Exchange implements Dispatcher.DispatchHandler, Sent {
  readonly #sink: TransportSink
  readonly #maxBytes: number
  readonly #isLate: () => boolean
  #controller: Dispatcher.DispatchController | undefined
  #head: { readonly status: number; readonly headers: AnswerHeaders } | undefined
  readonly #chunks: Array<Buffer> = []
  #size = 0
  #isOver = false

  constructor(sink: TransportSink, maxBytes: number, isLate: () => boolean) {
    this.#sink = sink
    this.#maxBytes = maxBytes
    this.#isLate = isLate
  }

  expire(): void {
    this.#abort("Late")
  }

  get cancel(): Effect.Effect<void> {
    return Effect.sync(() => {
      if (this.#end()) this.#controller?.abort(aborted)
    })
  }

  mayHaveLeft(): boolean {
    return this.#controller !== undefined
  }

  /** undici calls this when it has a connection, and writes the request when this returns. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#isLate()) this.#reportFailure("Late", undefined)
    if (this.#isOver) throw aborted
    this.#controller = controller
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: AnswerHeaders): void {
    if (status < 200 || this.#isOver) return
    this.#head = { status, headers }
    if (Number(headers["content-length"]) > this.#maxBytes) this.#abort("TooLarge")
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#size += chunk.length
    if (this.#size > this.#maxBytes) this.#abort("TooLarge")
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
  #abort(kind: TransportFailure["kind"]): void {
    this.#reportFailure(kind, undefined)
    this.#controller?.abort(aborted)
  }

  #unpack(body: Buffer, encoding: string): void {
    const unpack = unpackers.get(encoding)
    // The body of an unknown encoding is read unchanged. If it is not text, decoding fails later.
    if (unpack === undefined) return this.#reportAnswer(body)
    unpack(body, { maxOutputLength: this.#maxBytes }, (error, unpacked) => {
      if (error === null) this.#reportAnswer(unpacked)
      else this.#reportFailure("code" in error && error.code === "ERR_BUFFER_TOO_LARGE" ? "TooLarge" : "Broken", error)
    })
  }

  #reportAnswer(body: Buffer): void {
    const head = this.#head
    if (head !== undefined && this.#end())
      this.#sink.onAnswer(head.status, head.headers, textOf(body, head.headers["content-type"]))
  }

  #reportFailure(kind: TransportFailure["kind"], cause: unknown): void {
    if (!this.#end()) return
    this.#sink.onFailure({ kind, cause, head: this.#head, sent: this.mayHaveLeft() })
  }

  /** Ends the exchange. Returns `false` if it has ended before. */
  #end(): boolean {
    if (this.#isOver) return false
    this.#isOver = true
    return true
  }
}

/** The transport of a dispatcher. */
export const transportOf = (dispatcher: Dispatcher): Transport => ({
  send: (request, maxBytes, sink) => {
    const exchange = new Exchange(sink, maxBytes, request.isLate)
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
    return exchange
  }
})
