/**
 * An OTLP collector on a free loopback port. It stores the exports that it receives, as text.
 */
import { NodeHttpServer } from "@effect/platform-node"
import { Context, Effect, Layer, Queue } from "effect"
import { HttpServer, HttpServerRequest, HttpServerResponse } from "effect/http"
import { createServer } from "node:http"

export class Collector extends Context.Service<
  Collector,
  {
    readonly url: string
    /** The next export, as its JSON. */
    readonly next: Effect.Effect<string>
    /** All exports that were not read yet, as their JSON. Waits for the first one. */
    readonly all: Effect.Effect<ReadonlyArray<string>>
  }
>()("test/Collector") {
  static readonly layer = Layer.effect(
    Collector,
    Effect.gen(function* () {
      const exports = yield* Queue.unbounded<string>()
      const server = yield* HttpServer.HttpServer
      yield* server.serve(
        Effect.gen(function* () {
          const request = yield* HttpServerRequest.HttpServerRequest
          yield* Queue.offer(exports, yield* request.text)
          return HttpServerResponse.jsonUnsafe({})
        })
      )
      const url = yield* HttpServer.addressFormattedWith((address) => Effect.succeed(address))
      return Collector.of({ url, next: Queue.take(exports), all: Queue.takeAll(exports) })
    })
  ).pipe(Layer.provide(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" })))
}
