/**
 * An `HttpClient` in memory that answers by the script of the test, for tests under `TestClock`, and the shared values of
 * the tests of the client.
 */
import { NodeHttpClient } from "@effect/platform-node"
import { Credentials, IdempotencyKeyGen, Payments, type PaymentsOptions } from "effect-pix"
import { BigDecimal, Clock, DateTime, Effect, Layer, Redacted } from "effect"
import * as FetchTransport from "./FetchTransport.ts"
import { FetchHttpClient, HttpClient, HttpClientError, HttpClientResponse } from "effect/http"

interface Sent {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly bytes: Uint8Array | undefined
  /** When the request was sent, by the test's clock. */
  readonly at: number
}

/** The reply to one request: a response, a failure with this cause, or silence. */
export type Reply =
  | { readonly response: () => Response }
  | { readonly cause: unknown }
  | { readonly defect: unknown }
  | "silence"

export const respond = (status: number, body: unknown = "", headers: Record<string, string> = {}): Reply => ({
  response: () => new Response(typeof body === "string" ? body : JSON.stringify(body), { status, headers })
})

export const refusedConnection: Reply = {
  cause: Object.assign(new Error("connect"), { code: "ECONNREFUSED", syscall: "connect" })
}
export const lostConnection: Reply = {
  cause: new TypeError("fetch failed", { cause: Object.assign(new Error("read"), { code: "ECONNRESET" }) })
}

/** A client that gives the replies one after another, and repeats the last one. */
export const scripted = (...replies: readonly [Reply, ...ReadonlyArray<Reply>]) => {
  const sent: Array<Sent> = []
  const client = HttpClient.make((request, url, _signal, fiber) => {
    const reply = replies[Math.min(sent.length, replies.length - 1)] ?? replies[0]
    sent.push({
      method: request.method,
      url: url.href,
      headers: { ...request.headers },
      bytes: request.body._tag === "Uint8Array" ? request.body.body : undefined,
      at: fiber.getRef(Clock.Clock).currentTimeMillisUnsafe()
    })
    if (reply === "silence") return Effect.never
    if ("defect" in reply) return Effect.die(reply.defect)
    return "cause" in reply
      ? Effect.fail(
          new HttpClientError.HttpClientError({
            reason: new HttpClientError.TransportError({ request, cause: reply.cause })
          })
        )
      : Effect.succeed(HttpClientResponse.fromWeb(request, reply.response()))
  })
  return { sent, layer: Layer.succeed(HttpClient.HttpClient, client) }
}

export const clientId = "client-4711"
export const apiKey = "sk_live_0f9d2c7b"

export const credentials = Credentials.layer({ clientId, apiKey: Redacted.make(apiKey) })

/** `Payments` on a transport, with keys tx_1, wd_2 and so on. */
export const paymentsOn = (
  transport: Layer.Layer<HttpClient.HttpClient>,
  options: PaymentsOptions = { baseUrl: "https://gateway.example" }
) => Payments.layer(options).pipe(Layer.provide([transport, credentials, IdempotencyKeyGen.layerSequential]))

/** The transports that users may choose. */
export const transports = {
  "FetchHttpClient.layer": FetchHttpClient.layer,
  "FetchTransport.layer": FetchTransport.layer,
  "NodeHttpClient.layerUndici": NodeHttpClient.layerUndici,
  "NodeHttpClient.layerNodeHttp": NodeHttpClient.layerNodeHttp
}

/** A value in a readable form: decimals and instants as text with their type. */
export const shown = (value: unknown): unknown => {
  if (BigDecimal.isBigDecimal(value)) return `${BigDecimal.format(value)} reais`
  if (DateTime.isDateTime(value)) return `${DateTime.isUtc(value) ? "utc" : "zoned"} ${DateTime.formatIso(value)}`
  if (Array.isArray(value)) return value.map(shown)
  return typeof value === "object" && value !== null
    ? Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shown(member)]))
    : value
}
