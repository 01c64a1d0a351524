/**
 * Replies of a gateway that no `Fault` can say, for tests of the client and its transports. A test plans one where a program plans
 * a fault.
 */
import { Duration, Effect, Predicate, Stream } from "effect"
import { HttpBody, HttpServerResponse } from "effect/http"
import * as Fault from "../../src/sandbox/Fault.ts"
import { type RawReply, type Reply, streaming } from "../../src/sandbox/Reply.ts"

type Response = HttpServerResponse.HttpServerResponse

// The plan of a gateway takes both. A program can make records only.
const raw = (reply: RawReply["reply"]) => ({ reply }) as unknown as Fault.Fault

const bytesOf = (response: Response) =>
  Effect.map(
    Effect.orDie(HttpServerResponse.toClientResponse(response).arrayBuffer),
    (buffer) => new Uint8Array(buffer)
  )

const hungUp: Reply = { _tag: "Broken", how: "HungUp" }

/** The connection is closed in good order, without an answer, before the request is executed. */
export const hangUpBefore = raw(() => Effect.succeed(hungUp))

/** The request is executed, and the connection is closed in good order without an answer. */
export const hangUpAfter = raw((execute) => Effect.as(execute, hungUp))

const partial = (share: number, ending: "Reset" | "Silence") =>
  raw((execute) =>
    Effect.flatMap(execute, (response) =>
      Effect.map(bytesOf(response), (bytes): Reply => {
        const part = bytes.slice(0, Math.floor(bytes.length * share))
        return { _tag: "Partial", response, length: bytes.length, part, ending }
      })
    )
  )

/** The request is executed; status and headers are sent, and no byte of the body. */
export const headersThenSilence = partial(0, "Silence")

/** The request is executed; half of the body is sent, and the connection is reset. */
export const truncatedByReset = partial(0.5, "Reset")

/** Executes the request, and answers with another response made of the bytes of its answer. */
const changed = (change: (response: Response, bytes: Uint8Array<ArrayBuffer>) => Response) =>
  raw((execute) =>
    Effect.flatMap(execute, (response) =>
      Effect.map(bytesOf(response), (bytes): Reply => ({ _tag: "Whole", response: change(response, bytes) }))
    )
  )

/** The request is executed, and its answer is sent byte by byte. */
export const drip = (every: Duration.Input) =>
  changed((response, bytes) => {
    const late = Stream.mapEffect(Stream.fromIterable(bytes.slice(1)), (byte) =>
      Effect.as(Effect.sleep(every), Uint8Array.of(byte))
    )
    return streaming(response, Stream.concat(Stream.make(bytes.slice(0, 1)), late), bytes.length)
  })

const blank = new Uint8Array(64 * 1024).fill(0x20)

const padded = (bytes: Uint8Array<ArrayBuffer>, blanks: number) =>
  Stream.range(1, Math.floor(blanks / blank.length)).pipe(
    Stream.map(() => blank),
    Stream.concat(Stream.make(blank.slice(0, blanks % blank.length), bytes))
  )

/** The request is executed, and its answer follows after that many bytes of blanks. */
export const oversize = (blanks: number) => changed((response, bytes) => streaming(response, padded(bytes, blanks)))

const packed = (body: Stream.Stream<Uint8Array<ArrayBuffer>>) =>
  Stream.unwrap(
    Effect.map(Stream.toReadableStreamEffect(body), (readable) =>
      Stream.fromReadableStream({
        evaluate: () => readable.pipeThrough(new CompressionStream("gzip")),
        onError: (error) => error
      })
    )
  )

/** As `oversize`, over a socket compressed to about a thousandth of it. In memory `fetch` would show the body unpacked. */
export const gzipBomb = (blanks: number, where: "socket" | "memory" = "socket") =>
  changed((response, bytes) => {
    const body = padded(bytes, blanks)
    return HttpServerResponse.setHeader(
      streaming(response, where === "socket" ? packed(body) : body),
      "content-encoding",
      "gzip"
    )
  })

/** The request is executed, and the test answers with another response, by the JSON of the gateway's answer. */
export const changedJson = (change: (json: unknown, response: Response) => Response) =>
  changed((response, bytes) => change(JSON.parse(new TextDecoder().decode(bytes)), response))

/** The request is executed, and the withdrawal's record echoes another idempotency key. */
export const otherKey = (key = "wd_another") =>
  changedJson((json, response) =>
    Predicate.hasProperty(json, "idempotencyKey")
      ? HttpServerResponse.setBody(response, HttpBody.jsonUnsafe({ ...json, idempotencyKey: key }))
      : response
  )

/** The request is executed, and answered with a body that is not JSON, with the content type of JSON. */
export const malformed = (status = 200) =>
  Fault.answer(status, { headers: { "content-type": "application/json" }, body: '{"data":{"id":', executed: true })

/** These bytes as a body, which need be no text. The request is not executed. */
export const bytes = (status: number, body: Uint8Array) =>
  raw(() => Effect.succeed({ _tag: "Whole", response: HttpServerResponse.uint8Array(body, { status }) }))

/** As `Fault.retryAfter`, with the header as a date. */
export const retryAfterDate = (after: Duration.Input, status: number) =>
  raw(() =>
    Effect.clockWith(({ currentTimeMillis }) =>
      Effect.map(currentTimeMillis, (now): Reply => {
        const date = new Date(now + Duration.toMillis(Duration.fromInputUnsafe(after)))
        const response = HttpServerResponse.empty({ status, headers: { "retry-after": date.toUTCString() } })
        return { _tag: "Whole", response }
      })
    )
  )
