/**
 * The gateway on a loopback port, over `@effect/platform-node`. Faults are played on the raw socket.
 *
 * This is the one module of the sandbox that needs Node; `Sandbox.layerServer` loads it when it is built.
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as Effect from "effect/Effect"
import { constTrue, identity } from "effect/Function"
import * as HttpMiddleware from "effect/http/HttpMiddleware"
import * as HttpServer from "effect/http/HttpServer"
import type * as HttpServerError from "effect/http/HttpServerError"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Match from "effect/Match"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Http from "node:http"
import type { Gateway } from "../internal/gateway.ts"
import { type Ending, type Reply, streaming } from "../internal/reply.ts"

type Socket = Http.IncomingMessage["socket"]

const host = "127.0.0.1"

/** A socket that was ended by hand needs no answer any more: the server finds it destroyed, and writes nothing. */
const nothing = HttpServerResponse.empty()

const end = (response: Http.ServerResponse, how: Ending) =>
  Effect.sync(() => {
    if (how !== "HungUp") response.socket?.resetAndDestroy()
    response.destroy()
    return nothing
  })

const gzip = (body: Stream.Stream<Uint8Array<ArrayBuffer>>): Effect.Effect<Stream.Stream<Uint8Array, unknown>> =>
  Effect.map(Stream.toReadableStreamEffect(body), (readable) =>
    Stream.fromReadableStream({
      evaluate: () => readable.pipeThrough(new CompressionStream("gzip")),
      onError: identity
    })
  )

const respond = (request: HttpServerRequest.HttpServerRequest, reply: Reply) => {
  // An HTTP/1 server has no responses of another kind.
  const raw = NodeHttpServerRequest.toServerResponse(request) as Http.ServerResponse
  return Match.valueTags(reply, {
    Whole: ({ response }) => Effect.succeed(response),
    Compressed: ({ body, response }) =>
      Effect.map(gzip(body), (packed) =>
        HttpServerResponse.setHeader(streaming(response, packed), "content-encoding", "gzip")
      ),
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

// A client that has seen the end of its connection will not send on it: its next request is refused, not lost.
const hangUp = (socket: Socket) =>
  Effect.callback<void>((resume) => {
    socket.once("close", () => resume(Effect.void))
    socket.end()
  })

/** Serves the gateway until the scope ends; a port of 0 is a free one. */
export const serve = Effect.fnUntraced(function* (
  gateway: Gateway,
  port: number
): Effect.fn.Return<
  { readonly baseUrl: string; readonly offline: Gateway["offline"] },
  HttpServerError.ServeError,
  Scope.Scope
> {
  const node = Http.createServer()
  const sockets = new Set<Socket>()
  node.on("connection", (socket) => {
    sockets.add(socket)
    socket.once("close", () => sockets.delete(socket))
  })
  const server = yield* NodeHttpServer.make(() => node, { port, host, disablePreemptiveShutdown: true })
  const baseUrl = HttpServer.formatAddress(server.address)

  yield* server
    .serve(
      Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
        Effect.flatMap(gateway.receive(request, new URL(`${baseUrl}${request.url}`)), (reply) =>
          respond(request, reply)
        )
      ).pipe(Effect.interruptible)
    )
    .pipe(Effect.provideService(HttpMiddleware.TracerDisabledWhen, constTrue))
  yield* Effect.addFinalizer(() => Effect.sync(() => node.closeAllConnections()))

  const close = Effect.suspend(() => {
    node.close()
    return Effect.forEach([...sockets], hangUp, { concurrency: "unbounded", discard: true })
  })
  const open = Effect.callback<void>((resume) => {
    const failed = (cause: Error) => resume(Effect.die(cause))
    node.once("error", failed)
    node.listen(Number(new URL(baseUrl).port), host, () => {
      node.off("error", failed)
      resume(Effect.void)
    })
  })
  // Those that overlap are offline together: the first closes, the last opens.
  let offline = 0
  return {
    baseUrl,
    offline: (effect) =>
      Effect.acquireUseRelease(
        Effect.suspend(() => (offline++ === 0 ? close : Effect.void)),
        () => effect,
        () => Effect.suspend(() => (--offline === 0 ? open : Effect.void))
      )
  }
})
