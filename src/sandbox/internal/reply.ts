/**
 * Plays a fault: turns the answer of the gateway into the reply that a transport shows to its client.
 */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Match from "effect/Match"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import type { Fault } from "../Fault.ts"

type Response = HttpServerResponse.HttpServerResponse

/** Bytes that no other thread shares, as the streams of the platform require. */
type Bytes = Uint8Array<ArrayBuffer>

/** How a connection ends. */
export type Ending = "Refused" | "Reset" | "HungUp"

/** The reply to a request, for any transport. */
export type Reply =
  | { readonly _tag: "Whole"; readonly response: Response }
  /** A transport over a socket compresses the body. */
  | { readonly _tag: "Compressed"; readonly response: Response; readonly body: Stream.Stream<Bytes> }
  /** The connection ends without an answer. */
  | { readonly _tag: "Broken"; readonly how: Ending }
  /** Status, headers and a part of the body, and then the end of the connection, or silence. */
  | {
      readonly _tag: "Partial"
      readonly response: Response
      /** The length of the body, as the headers say it. */
      readonly length: number
      readonly part: Bytes
      readonly ending: Ending | "Silence"
    }

const blank = new Uint8Array(64 * 1024).fill(0x20)

interface Read {
  readonly response: Response
  readonly bytes: Bytes
}

const read = (response: Response): Effect.Effect<Read> =>
  HttpServerResponse.toClientResponse(response).arrayBuffer.pipe(
    Effect.map((buffer) => ({ response, bytes: new Uint8Array(buffer) })),
    Effect.orDie
  )

/** The same answer with another body. Its header has the length if that is known. */
export const streaming = (response: Response, body: Stream.Stream<Uint8Array, unknown>, length?: number): Response =>
  HttpServerResponse.setBody(
    HttpServerResponse.removeHeader(response, "content-length"),
    HttpBody.stream(body, "application/json", length)
  )

const whole = (response: Response): Reply => ({ _tag: "Whole", response })

const broken = (how: Ending): Reply => ({ _tag: "Broken", how })

const partial = ({ bytes, response }: Read, part: Bytes, ending: Ending | "Silence"): Reply => ({
  _tag: "Partial",
  response,
  length: bytes.length,
  part,
  ending
})

const dripping = ({ bytes, response }: Read, every: Duration.Input): Response => {
  const late = Stream.mapEffect(Stream.fromIterable(bytes.slice(1)), (byte) =>
    Effect.as(Effect.sleep(every), Uint8Array.of(byte))
  )
  return streaming(response, Stream.concat(Stream.make(bytes.slice(0, 1)), late), bytes.length)
}

const padded = (bytes: Bytes, blanks: number): Stream.Stream<Bytes> =>
  Stream.range(1, Math.floor(blanks / blank.length)).pipe(
    Stream.map(() => blank),
    Stream.concat(Stream.make(blank.slice(0, blanks % blank.length), bytes))
  )

const withKey = ({ bytes, response }: Read, key: string): Response => {
  const json: unknown = JSON.parse(new TextDecoder().decode(bytes))
  return Predicate.hasProperty(json, "idempotencyKey")
    ? HttpServerResponse.setBody(response, HttpBody.jsonUnsafe({ ...json, idempotencyKey: key }))
    : response
}

const made = (status: number, headers: Readonly<Record<string, string>>, body: string | Uint8Array): Response => {
  const bytes = Predicate.isString(body) ? new TextEncoder().encode(body) : body
  return bytes.length === 0
    ? HttpServerResponse.empty({ status, headers })
    : HttpServerResponse.setHeaders(HttpServerResponse.uint8Array(bytes, { status }), headers)
}

const tooMany = (status: number, after: Duration.Input, form: "seconds" | "date") =>
  Effect.map(DateTime.now, (now) => {
    const header =
      form === "seconds"
        ? String(Math.ceil(Duration.toSeconds(after)))
        : DateTime.toDateUtc(DateTime.addDuration(now, after)).toUTCString()
    return HttpServerResponse.jsonUnsafe(
      { message: "Limite de requisições excedido.", status },
      { status, headers: { "retry-after": header } }
    )
  })

/** What the gateway can do with a request that met a fault. */
interface Chances {
  readonly execute: Effect.Effect<Response>
  readonly forgetKey: Effect.Effect<void>
  /** Runs an effect to its end, also if the client disconnects. */
  readonly detach: <A>(effect: Effect.Effect<A>) => Effect.Effect<A>
}

/** The reply to a request that met a fault. */
export const play = (fault: Fault, { detach, execute, forgetKey }: Chances): Effect.Effect<Reply> => {
  const before = (executed: boolean) => (executed ? Effect.asVoid(execute) : Effect.void)
  const done = Effect.flatMap(execute, read)
  return Match.valueTags(fault, {
    None: () => Effect.map(execute, whole),
    Refuse: () => Effect.succeed(broken("Refused")),
    Broken: ({ executed, how }) => Effect.as(before(executed), broken(how)),
    Latency: ({ duration, executed }) => {
      const sleep = Effect.sleep(duration)
      const late = executed ? Effect.tap(execute, () => sleep) : Effect.andThen(sleep, execute)
      return Effect.map(detach(late), whole)
    },
    Silence: ({ executed, headers }) =>
      headers
        ? Effect.map(done, (answer) => partial(answer, new Uint8Array(), "Silence"))
        : Effect.andThen(before(executed), Effect.never),
    Drip: ({ every }) => Effect.map(done, (answer) => whole(dripping(answer, every))),
    Truncate: ({ how }) =>
      Effect.map(done, (answer) => partial(answer, answer.bytes.slice(0, Math.floor(answer.bytes.length / 2)), how)),
    Answer: ({ body, executed, headers, status }) => Effect.as(before(executed), whole(made(status, headers, body))),
    RetryAfter: ({ after, form, status }) => Effect.map(tooMany(status, after, form), whole),
    Oversize: ({ blanks, gzip }) =>
      Effect.map(done, ({ bytes, response }): Reply => {
        const body = padded(bytes, blanks)
        return gzip ? { _tag: "Compressed", response, body } : whole(streaming(response, body))
      }),
    ForgetKey: () => Effect.map(Effect.andThen(forgetKey, execute), whole),
    OtherKey: ({ key }) => Effect.map(done, (answer) => whole(withKey(answer, key)))
  })
}
