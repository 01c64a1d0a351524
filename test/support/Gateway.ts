/**
 * A gateway on a free loopback port: a `node:http` server that answers by the script of the test and records each request.
 */
import { Effect } from "effect"
import { createServer, type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

/** A request that arrived. */
export interface Arrived {
  readonly method: string
  /** Path and query of the request line, as they were sent. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly bytes: Uint8Array
  readonly text: string
}

/** The handler of one request, which may leave it unanswered. */
export type Answer = (response: ServerResponse, request: Arrived) => void

/** Any status, headers and body. */
export const answer =
  (status: number, body: string | Uint8Array = "", headers: OutgoingHttpHeaders = {}): Answer =>
  (response) => {
    response.writeHead(status, headers).end(body)
  }

/** A JSON answer. A string is sent unchanged. */
export const json = (body: unknown, status = 200, headers: OutgoingHttpHeaders = {}): Answer =>
  answer(status, typeof body === "string" ? body : JSON.stringify(body), {
    "content-type": "application/json; charset=utf-8",
    ...headers
  })

/** A TCP reset, after the whole request was read. */
export const reset: Answer = (response) => {
  response.socket?.resetAndDestroy()
}

/** No answer at all. */
export const silence: Answer = () => {}

interface Gateway {
  readonly url: string
  readonly requests: ReadonlyArray<Arrived>
  /** Sets the answers to the next requests; the last answer is repeated. */
  readonly script: (...answers: readonly [Answer, ...ReadonlyArray<Answer>]) => void
  /** Waits until this number of requests has arrived. */
  readonly arrived: (count: number) => Effect.Effect<void>
}

const unscripted: Answer = answer(500, "the test has scripted no answer")

const read = (message: IncomingMessage, done: (arrived: Arrived) => void) => {
  const chunks: Array<Buffer> = []
  message.on("data", (chunk: Buffer) => chunks.push(chunk))
  message.on("end", () => {
    const bytes = Buffer.concat(chunks)
    const headers = Object.fromEntries(Object.entries(message.headers).map(([name, value]) => [name, String(value)]))
    done({ method: message.method ?? "", path: message.url ?? "", headers, bytes, text: bytes.toString("utf8") })
  })
}

const listen = Effect.callback<{ readonly gateway: Gateway; readonly close: Effect.Effect<void> }>((resume) => {
  const requests: Array<Arrived> = []
  const waiting = new Set<() => void>()
  let answers: ReadonlyArray<Answer> = [unscripted]
  const server = createServer((message, response) =>
    read(message, (request) => {
      requests.push(request)
      const [next = unscripted, ...rest] = answers
      if (rest.length > 0) answers = rest
      next(response, request)
      for (const check of waiting) check()
    })
  )
  const arrived = (count: number) =>
    Effect.callback<void>((resumeWaiter) => {
      const check = () => {
        if (requests.length >= count) resumeWaiter(Effect.void)
      }
      waiting.add(check)
      check()
      return Effect.sync(() => waiting.delete(check))
    })
  const close = Effect.callback<void>((resumeClose) => {
    server.close(() => resumeClose(Effect.void))
    server.closeAllConnections()
  })
  server.listen(0, "127.0.0.1", () => {
    const { port } = server.address() as AddressInfo // the address of a TCP server is never a string
    const script: Gateway["script"] = (...given) => {
      answers = given
    }
    resume(Effect.succeed({ gateway: { url: `http://127.0.0.1:${port}`, requests, script, arrived }, close }))
  })
})

/** A gateway for one test. It closes with all its connections at the end of the scope. */
export const makeGateway = Effect.map(
  Effect.acquireRelease(listen, ({ close }) => close),
  ({ gateway }) => gateway
)

/** An address at which nothing listens: the system assigns this port to no program. */
export const closedPort = Effect.succeed("http://127.0.0.1:4")
