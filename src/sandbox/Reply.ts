/**
 * Plays a fault: turns the answer of the gateway into the reply that a transport shows to its client.
 */
declare module "./Reply.ts" {}

import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type * as Stream from "effect/Stream"
import type { Fault } from "./PlannedFault.ts"
import { withCode, withLocalTimes } from "./internal/seen.ts"

type Response = HttpServerResponse.HttpServerResponse

/** How a connection ends. */
export type Ending = "Refused" | "Reset" | "HungUp"

/** The reply to a request, for any transport. */
export type Reply =
  | { readonly _tag: "Whole"; readonly response: Response }
  /** The connection ends without an answer. */
  | { readonly _tag: "Broken"; readonly how: Ending }
  /** Status, headers and a part of the body, and then the end of the connection, or silence. */
  | {
      readonly _tag: "Partial"
      readonly response: Response
      /** The length of the body, as the headers say it. */
      readonly length: number
      /** Bytes that no other thread shares, as the streams of the platform require. */
      readonly part: Uint8Array<ArrayBuffer>
      readonly ending: Ending | "Silence"
    }

/** A reply that no `Fault` can say, such as a body of a gigabyte. Our own tests plan it where a program plans a fault. */
export interface RawReply {
  readonly reply: (execute: Effect.Effect<Response>) => Effect.Effect<Reply>
}

/** What a request meets. */
export type Met = Fault | RawReply

/**
 * What one request meets, which a caller in memory may set. It is used before the planned faults, and no concurrent request
 * meets it. `Rehearsal` uses it. A reference and no argument, since the five operations of `Payments` lie between the two.
 */
export const OwnFault = Context.Reference<Met | undefined>("effect-pix/OwnFault", { defaultValue: () => undefined })

/** The fault that a request meets, where it is one. */
export const faultOf = (met: Met | undefined): Fault | undefined =>
  met === undefined || "reply" in met ? undefined : met

/** The same answer with another body. Its header has the length if that is known. */
export const streaming = (response: Response, body: Stream.Stream<Uint8Array, unknown>, length?: number): Response =>
  HttpServerResponse.setBody(
    HttpServerResponse.removeHeader(response, "content-length"),
    HttpBody.stream(body, "application/json", length)
  )

const truncate = (response: Response): Effect.Effect<Reply> =>
  HttpServerResponse.toClientResponse(response).arrayBuffer.pipe(
    Effect.map((buffer): Reply => {
      const part = new Uint8Array(buffer).slice(0, Math.floor(buffer.byteLength / 2))
      return { _tag: "Partial", response, length: buffer.byteLength, part, ending: "HungUp" }
    }),
    Effect.orDie
  )

/** The gateway's own answer as a fault has it written. */
export const rewrite = (response: Response, fault: Fault | undefined): Effect.Effect<Response> => {
  const { code, times } = fault ?? {}
  if (code === undefined && times === undefined) return Effect.succeed(response)
  return HttpServerResponse.toClientResponse(response).text.pipe(
    Effect.map((json) => {
      const named = code === undefined ? json : withCode(json, code)
      const timed = times === undefined ? named : withLocalTimes(named, times)
      return HttpServerResponse.setBody(response, HttpBody.text(timed, "application/json"))
    }),
    Effect.orDie
  )
}

const toResponse = ({ body, headers, status }: NonNullable<Fault["answer"]>): Response =>
  body === ""
    ? HttpServerResponse.empty({ status, headers })
    : HttpServerResponse.setHeaders(HttpServerResponse.uint8Array(new TextEncoder().encode(body), { status }), headers)

/** What the gateway can do with a request that met a fault. */
interface Chances {
  readonly execute: Effect.Effect<Response>
  readonly forgetKey: Effect.Effect<void>
  /** Runs an effect to its end, also if the client disconnects. */
  readonly detach: <A>(effect: Effect.Effect<A>) => Effect.Effect<A>
}

const broken = (how: Ending): Reply => ({ _tag: "Broken", how })

/** The reply to a request that met a fault. */
export const play = (met: Met, { detach, execute, forgetKey }: Chances): Effect.Effect<Reply> => {
  if ("reply" in met) return met.reply(execute)
  const { answer, ending, executed, forgetsKey = false, wait } = met
  if (ending === "Refused") return Effect.succeed(broken("Refused"))
  const first = Effect.andThen(forgetsKey ? forgetKey : Effect.void, executed ? execute : Effect.undefined)
  const later = wait === undefined ? first : Effect.tap(first, () => Effect.sleep(wait))
  if (ending === "Reset") return Effect.as(later, broken("Reset"))
  if (ending === "Silence") return Effect.andThen(later, Effect.never)
  const answered = Effect.flatMap(later, (own) =>
    answer !== undefined ? Effect.succeed(toResponse(answer)) : own === undefined ? execute : Effect.succeed(own)
  )
  return Effect.flatMap(wait === undefined ? answered : detach(answered), (response): Effect.Effect<Reply> =>
    ending === "Truncated" ? truncate(response) : Effect.succeed({ _tag: "Whole", response })
  )
}
