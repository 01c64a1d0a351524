/** The real transports, each built as a program would build it, and what they do for a call. */
import { NodeHttpClient } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import { NodePayments } from "effect-pix/node"
import { FetchHttpClient, type HttpClient } from "effect/http"
import type { ClientRequest } from "node:http"
import { subscribe } from "node:diagnostics_channel"
import { nextTurn } from "./effect.ts"
import * as FetchTransport from "./FetchTransport.ts"
import { fixture } from "./RawServer.ts"

export const transports = {
  fetch: FetchHttpClient.layer,
  "our fetch": FetchTransport.layer,
  undici: NodeHttpClient.layerUndici,
  "node:http": NodeHttpClient.layerNodeHttp,
  "effect-pix/node": Layer.orDie(NodePayments.layerHttpClient())
} satisfies Record<string, Layer.Layer<HttpClient.HttpClient>>

export type Transport = keyof typeof transports

export const names: ReadonlyArray<Transport> = ["fetch", "our fetch", "undici", "node:http", "effect-pix/node"]

/** The transports that trust the certificate of the tests, for the host `servername` if it is given. `fetch` has no such option. */
export const trusting = (transport: Transport, named: { readonly servername?: string } = {}) => {
  const tls = { ca: fixture.cert, ...named }
  if (transport === "undici") return NodeHttpClient.layerUndiciOptions({ connect: tls })
  if (transport === "node:http") return NodeHttpClient.layerNodeHttpOptions(tls)
  return transport === "effect-pix/node" ? Layer.orDie(NodePayments.layerHttpClient({ tls })) : undefined
}

const heads = new Map<string, number>()
const count = (origin: string) => heads.set(origin, (heads.get(origin) ?? 0) + 1)
// The types of the messages are those that Node and undici document.
subscribe("undici:request:headers", (message) => count((message as { request: { origin: string } }).request.origin))
subscribe("http.client.response.finish", (message) =>
  count(`http://${String((message as { request: ClientRequest }).request.getHeader("host"))}`)
)

/** Waits until a transport of this process has read so many heads of answers of an origin, and its callbacks have run. */
export const headsRead = (origin: string, wanted: number) =>
  Effect.andThen(
    Effect.repeat(nextTurn, { while: () => (heads.get(origin) ?? 0) < wanted }),
    Effect.replicateEffect(nextTurn, 10, { discard: true })
  )
