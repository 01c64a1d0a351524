/** The transport on fetch in place of Effect's client over fetch: a layer as those of the other transports. */
import { Effect, Layer } from "effect"
import { FetchHttpClient, HttpClient } from "effect/http"
import { make } from "../../src/client/internal/transport/fetchTransport.ts"
import { clientWithTransport } from "../../src/internal/transport.ts"

export const layer: Layer.Layer<HttpClient.HttpClient> = Layer.effectContext(
  Effect.gen(function* () {
    return clientWithTransport(yield* HttpClient.HttpClient, yield* make)
  })
).pipe(Layer.provide(FetchHttpClient.layer))
