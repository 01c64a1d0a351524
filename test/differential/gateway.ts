/**
 * The gateways of the programs: one in memory behind an `HttpClient`, one on a socket. Neither shares code with the
 * library's sandbox.
 */
import { Effect, Layer } from "effect"
import { HttpClient, HttpClientError, HttpClientResponse } from "effect/http"
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

export interface Arrived {
  readonly method: string
  /** Path and query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface Answer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array<ArrayBuffer>
}

/**
 * An answer, or none: `lost`, after the request was read; `unsent`, no connection; `silent`, for ever. On a socket alone:
 * `hangUp` ends the connection, `head` sends a status and half a body and no more, `cut` ends it within the body.
 */
export type Reply = Answer | "lost" | "unsent" | "silent" | "hangUp" | "head" | "cut"

export const keyOf = ({ headers }: Arrived): string => headers["idempotency-key"] ?? ""

const decoder = new TextDecoder()

/** A gateway in memory. It answers without a wait. */
export const memoryGateway = (reply: (request: Arrived, turn: number) => Reply) => {
  const arrived: Array<Arrived> = []
  const client = HttpClient.make((request, url) => {
    const { body, headers, method } = request
    const one: Arrived = {
      method,
      path: `${url.pathname}${url.search}`,
      headers: { ...headers },
      body:
        body._tag === "Uint8Array" ? decoder.decode(body.body) : body._tag === "Empty" ? "" : `a body of ${body._tag}`
    }
    arrived.push(one)
    const answer = reply(one, arrived.length - 1)
    if (answer === "silent") return Effect.never
    if (typeof answer === "string") {
      const cause =
        answer === "unsent"
          ? Object.assign(new Error("connect"), { code: "ECONNREFUSED", syscall: "connect" })
          : new TypeError("fetch failed", { cause: Object.assign(new Error("read"), { code: "ECONNRESET" }) })
      return Effect.fail(
        new HttpClientError.HttpClientError({ reason: new HttpClientError.TransportError({ request, cause }) })
      )
    }
    const empty = [101, 204, 205, 304].includes(answer.status)
    const response = new Response(empty ? null : (answer.body ?? ""), {
      status: answer.status,
      ...(answer.headers && { headers: answer.headers })
    })
    return Effect.succeed(HttpClientResponse.fromWeb(request, response))
  })
  return { arrived, layer: Layer.succeed(HttpClient.HttpClient, client) }
}

const play = (response: ServerResponse, reply: Reply) => {
  const { socket } = response
  if (reply === "silent" || socket === null) return
  if (reply === "lost" || reply === "unsent") return void socket.resetAndDestroy()
  if (reply === "hangUp") return void socket.end()
  if (reply === "head" || reply === "cut") {
    response.writeHead(200, { "content-type": "application/json", "content-length": 100 })
    response.write('{"id":', () => (reply === "cut" ? void socket.end() : undefined))
    return
  }
  // Each request has its own connection, since the choice among idle connections depends on time.
  response.writeHead(reply.status, { ...reply.headers, connection: "close" }).end(reply.body ?? "")
}

/** A gateway on a socket. The first part of the path names the case. */
export const socketGateway = Effect.acquireRelease(
  Effect.callback<{
    readonly url: string
    readonly plan: (name: string, reply: (request: Arrived, turn: number) => Reply) => ReadonlyArray<Arrived>
    readonly close: () => void
  }>((resume) => {
    const plans = new Map<
      string,
      { readonly arrived: Array<Arrived>; readonly reply: (request: Arrived, turn: number) => Reply }
    >()
    const server = createServer((message, response) => {
      const chunks: Array<Buffer> = []
      message.on("data", (chunk: Buffer) => chunks.push(chunk))
      message.on("error", () => {})
      message.on("end", () => {
        const [, name = "", ...rest] = (message.url ?? "").split("/")
        const planned = plans.get(name)
        const headers = Object.fromEntries(Object.entries(message.headers).map(([key, value]) => [key, String(value)]))
        const body = Buffer.concat(chunks).toString("utf8")
        const one = { method: message.method ?? "", path: `/${rest.join("/")}`, headers, body }
        planned?.arrived.push(one)
        play(response, planned === undefined ? { status: 500 } : planned.reply(one, planned.arrived.length - 1))
      })
    })
    server.keepAliveTimeout = 0
    server.listen(0, "127.0.0.1", () => {
      // The address of a TCP server is never a string.
      const { port } = server.address() as AddressInfo
      resume(
        Effect.succeed({
          url: `http://127.0.0.1:${port}`,
          plan: (name, reply) => {
            const arrived: Array<Arrived> = []
            plans.set(name, { arrived, reply })
            return arrived
          },
          close: () => {
            server.close()
            server.closeAllConnections()
          }
        })
      )
    })
  }),
  ({ close }) => Effect.sync(close)
)

/** The headers that the library sets. The others are headers of the transport. */
const ours = new Set(["accept", "content-type", "idempotency-key", "x-api-key", "x-client-id"])

/** The requests as lines: each different request once, with the number of its repetitions. */
export const wireOf = (arrived: ReadonlyArray<Arrived>): string => {
  const lines = arrived.map(({ body, headers, method, path }) => {
    const shown = Object.entries(headers)
      .filter(([name]) => ours.has(name))
      .map(([name, value]) => `${name}: ${value}`)
      .toSorted()
    return `${method} ${path} | ${shown.join(" | ")} | ${body}`
  })
  return [...new Set(lines)].join("\n")
}
