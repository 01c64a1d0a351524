/**
 * The gateway on a loopback port, over `@effect/platform-node`. Faults are played on the raw socket.
 *
 * This is the one module of the sandbox that needs Node; `Sandbox.layerServer` loads it when it is built.
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as Effect from "effect/Effect"
import { constTrue } from "effect/Function"
import * as HttpMiddleware from "effect/http/HttpMiddleware"
import * as HttpServer from "effect/http/HttpServer"
import type * as HttpServerError from "effect/http/HttpServerError"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Match from "effect/Match"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as Http from "node:http"
import type { Gateway } from "../../sandbox/Gateway.ts"
import { isKnownHost } from "./guard.ts"
import * as Refusal from "../../sandbox/Refusal.ts"
import type { Ending, Reply } from "../../sandbox/Reply.ts"
import type { SandboxStateError } from "../../sandbox/SandboxError.ts"
import { isOwn, makePages } from "./pages.ts"
import { saveIn } from "./stateFile.ts"

/** The answer on a socket that was destroyed: the server writes nothing. */
const nothing = HttpServerResponse.empty()

const end = (response: Http.ServerResponse, how: Ending) =>
  Effect.sync(() => {
    if (how !== "HungUp") response.socket?.resetAndDestroy()
    response.destroy()
    return nothing
  })

const respond = (request: HttpServerRequest.HttpServerRequest, reply: Reply) => {
  // An HTTP/1 server has responses of this class only.
  const raw = NodeHttpServerRequest.toServerResponse(request) as Http.ServerResponse
  return Match.valueTags(reply, {
    Whole: ({ response }) => Effect.succeed(response),
    Broken: ({ how }) => end(raw, how),
    Partial: ({ ending, length, part, response }) =>
      Effect.callback<void>((resume) => {
        raw.writeHead(response.status, { ...response.headers, "content-length": length })
        raw.flushHeaders()
        if (part.length === 0) resume(Effect.void)
        else raw.write(part, () => resume(Effect.void))
      }).pipe(Effect.andThen(ending === "Silence" ? Effect.never : end(raw, ending)))
  })
}

/** The URL of a request's target, which is a path or a whole URL. The host of a whole URL is not used. */
const urlOf = (target: string, baseUrl: string): URL => {
  const path = target.replace(/^https?:\/\/[^/?#]*/i, "")
  return new URL(`${baseUrl}${path.startsWith("/") ? "" : "/"}${path}`)
}

/** Serves the gateway, its panel and its functions until the scope ends, and returns the base URL. With port 0 it takes a free port. */
export const serve = Effect.fnUntraced(function* (
  gateway: Gateway
): Effect.fn.Return<string, HttpServerError.ServeError | SandboxStateError, Scope.Scope> {
  const { allowedHosts, host, port, stateFile } = gateway.settings
  const hosts = [...allowedHosts, host.toLowerCase()]
  if (stateFile !== undefined) yield* saveIn(gateway, stateFile)
  const node = Http.createServer()
  const server = yield* NodeHttpServer.make(() => node, { port, host, disablePreemptiveShutdown: true })
  const baseUrl = HttpServer.formatAddress(server.address)
  const pages = yield* makePages({ gateway, baseUrl }, hosts)

  const answer = Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const url = urlOf(request.url, baseUrl)
    if (isOwn(url.pathname)) return yield* pages.answer
    if (!isKnownHost(request.headers["host"], hosts)) return Refusal.toResponse(Refusal.unknownHost)
    if (gateway.isOffline()) return yield* respond(request, { _tag: "Broken", how: "Reset" })
    return yield* respond(request, yield* gateway.receive(request, url))
  })
  yield* server
    .serve(Effect.interruptible(answer))
    .pipe(Effect.provideService(HttpMiddleware.TracerDisabledWhen, constTrue))
  yield* Effect.addFinalizer(() => Effect.sync(() => node.closeAllConnections()))
  // A charge also lapses without a request, so that the panel shows it and its webhook is sent.
  const lapse = Effect.flatMap(gateway.now, (now) => {
    gateway.ledger().lapse(now)
    return gateway.webhooks.flush
  })
  yield* Effect.forkScoped(Effect.repeat(Effect.ignoreCause(lapse, { log: "Error" }), Schedule.spaced("1 second")))
  return baseUrl
})
