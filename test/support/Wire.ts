/**
 * An `HttpClient` in memory that answers by the script of the test, for tests under `TestClock`, and the shared values of
 * the tests of the client.
 */
import { Credentials, IdempotencyKeyGen, Payments, type PaymentsOptions } from "effect-pix"
import { BigDecimal, Clock, DateTime, Effect, Layer, Redacted } from "effect"
import type { Body, Met } from "../tables/outcome.ts"
import { HttpClient, HttpClientError, HttpClientResponse } from "effect/http"

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
  | "interruption"
  | "silence"

const megabyte = new Uint8Array(2 ** 20)

const endless = () => new ReadableStream({ pull: (controller) => controller.enqueue(megabyte) })

const cut = (text: string) =>
  new ReadableStream({
    start: (controller) => {
      controller.enqueue(new TextEncoder().encode(text))
      controller.error(new Error("terminated"))
    }
  })

const bodyOf = (status: number, body: Body) => {
  if (status === 204 || status === 304) return null
  if (typeof body === "object" && "isEndless" in body) return endless()
  return typeof body === "object" && "cutAfter" in body ? cut(body.cutAfter) : body
}

/** The reply of a row of the tables. */
export const replyOf = (met: Met): Reply => {
  if (met === "interruption" || !("status" in met)) return met
  const { body = "", headers = {}, status } = met
  // The constructor of `Response` refuses some statuses that a server may send.
  const response = () =>
    Object.defineProperty(new Response(bodyOf(status, body), { headers }), "status", { value: status })
  return { response }
}

export const respond = (status: number, body: unknown = "", headers: Record<string, string> = {}): Reply =>
  replyOf({ status, body: typeof body === "string" ? body : JSON.stringify(body), headers })

export const refusedConnection: Reply = {
  cause: Object.assign(new Error("connect"), { code: "ECONNREFUSED", syscall: "connect" })
}
export const lostConnection: Reply = {
  cause: new TypeError("fetch failed", { cause: Object.assign(new Error("read"), { code: "ECONNRESET" }) })
}

export type Script = readonly [Reply, ...ReadonlyArray<Reply>]

/** A client that gives the replies one after another, and repeats the last one. `script` begins anew with others. */
export const scripted = (...first: Script) => {
  let replies = first
  const sent: Array<Sent> = []
  const script = (...next: Script) => {
    replies = next
    sent.length = 0
  }
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
    if (reply === "interruption") return Effect.interrupt
    if ("defect" in reply) return Effect.die(reply.defect)
    return "cause" in reply
      ? Effect.fail(
          new HttpClientError.HttpClientError({
            reason: new HttpClientError.TransportError({ request, cause: reply.cause })
          })
        )
      : Effect.succeed(HttpClientResponse.fromWeb(request, reply.response()))
  })
  return { sent, script, layer: Layer.succeed(HttpClient.HttpClient, client) }
}

export const clientId = "client-4711"
export const apiKey = "sk_live_0f9d2c7b"

export const credentials = Credentials.layer({ clientId, apiKey: Redacted.make(apiKey) })

/** `Payments` on a transport, with keys tx_1, wd_2 and so on. */
export const paymentsOn = (
  transport: Layer.Layer<HttpClient.HttpClient>,
  options: PaymentsOptions = { baseUrl: "https://gateway.example" }
) => Payments.layer(options).pipe(Layer.provide([transport, credentials, IdempotencyKeyGen.layerSequential]))

/** A value in a readable form: decimals and instants as text with their type, and what is redacted as its label. */
export const shown = (value: unknown): unknown => {
  if (BigDecimal.isBigDecimal(value)) return `${BigDecimal.format(value)} reais`
  if (DateTime.isDateTime(value)) return `${DateTime.isUtc(value) ? "utc" : "zoned"} ${DateTime.formatIso(value)}`
  if (Redacted.isRedacted(value)) return `<redacted:${value.label ?? ""}>`
  if (Array.isArray(value)) return value.map(shown)
  return typeof value === "object" && value !== null
    ? Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shown(member)]))
    : value
}
