/** `effect/http` for a program of the docs that is played: its sandbox of another process is up, and counts nothing. */
import { Effect, Layer } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"

export * from "effect/http"
export const FetchHttpClient = {
  layer: Layer.succeed(
    HttpClient.HttpClient,
    HttpClient.make((request) => Effect.succeed(HttpClientResponse.fromWeb(request, Response.json({ total: 0 }))))
  )
}
