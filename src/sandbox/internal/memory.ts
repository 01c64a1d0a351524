/**
 * The gateway as an `HttpClient`, without a socket. Only late answers and webhooks need timers or fibers of their own, so a
 * `TestClock` controls all of it. It answers any origin, and any path before that of the contract.
 *
 * Failures are those of `FetchHttpClient` on Node: the same reasons, and causes with the same codes. Headers and bodies are
 * handled in the same way: space around a header's value is dropped, a header that cannot be sent fails, and HEAD has no
 * body.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Match from "effect/Match"
import * as Stream from "effect/Stream"
import type { Gateway } from "../Gateway.ts"
import { type Ending, OwnFault, type Reply, streaming } from "../Reply.ts"
import { untraced } from "./untraced.ts"

const causes: Record<Ending, () => Error> = {
  Refused: () =>
    Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:443"), {
      errno: -111,
      code: "ECONNREFUSED",
      syscall: "connect",
      address: "127.0.0.1",
      port: 443
    }),
  Reset: () => Object.assign(new Error("read ECONNRESET"), { errno: -104, code: "ECONNRESET", syscall: "read" }),
  HungUp: () => Object.assign(new Error("other side closed"), { name: "SocketError", code: "UND_ERR_SOCKET" })
}

const failed = (request: HttpClientRequest.HttpClientRequest, cause: unknown) =>
  Effect.fail(new HttpClientError.HttpClientError({ reason: new HttpClientError.TransportError({ request, cause }) }))

const broken = (request: HttpClientRequest.HttpClientRequest, how: Ending) =>
  failed(request, new TypeError("fetch failed", { cause: causes[how]() }))

/** The request as it would arrive; `undefined` if it cannot be sent. */
const asArrived = (request: HttpClientRequest.HttpClientRequest): HttpClientRequest.HttpClientRequest | undefined => {
  // A header holds characters of one byte, and no line break.
  const unsendable = /[^\t\x20-\x7e\x80-\xff]/
  const trimmed = Object.entries(request.headers).map(
    ([name, value]) => [name, value.replaceAll(/^[ \t]+|(?<![ \t])[ \t]+$/g, "")] as const
  )
  return trimmed.some(([, value]) => unsendable.test(value))
    ? undefined
    : HttpClientRequest.setHeaders(request, Object.fromEntries(trimmed))
}

const withoutBody = (response: HttpServerResponse.HttpServerResponse) =>
  HttpServerResponse.setBody(response, HttpBody.empty).pipe(HttpServerResponse.setHeaders(response.headers))

const respond = (request: HttpClientRequest.HttpClientRequest, reply: Reply) => {
  const show = (response: HttpServerResponse.HttpServerResponse) =>
    Effect.succeed(
      HttpServerResponse.toClientResponse(request.method === "HEAD" ? withoutBody(response) : response, { request })
    )
  return Match.valueTags(reply, {
    Whole: ({ response }) => show(response),
    Broken: ({ how }) => broken(request, how),
    Partial: ({ ending, length, part, response }) => {
      const rest =
        ending === "Silence" ? Stream.never : Stream.fail(new TypeError("terminated", { cause: causes[ending]() }))
      return show(streaming(response, Stream.concat(Stream.make(part), rest), length))
    }
  })
}

/** The client of a gateway in the same process. */
export const client = (gateway: Gateway): HttpClient.HttpClient =>
  HttpClient.make((request, url, _signal, fiber) =>
    Effect.suspend(() => {
      const fault = Context.get(fiber.context, OwnFault)
      const arrived = asArrived(request)
      if (arrived === undefined) return failed(request, new TypeError("Headers.append: invalid header value."))
      return gateway.refuses(request.method, url, fault)
        ? broken(request, "Refused")
        : Effect.flatMap(untraced(gateway.receive(HttpServerRequest.fromClientRequest(arrived), url, fault)), (reply) =>
            respond(request, reply)
          )
    })
  )
