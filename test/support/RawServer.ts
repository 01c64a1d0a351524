/**
 * Servers on raw sockets: the test writes the bytes of each answer, which need not be HTTP, and sees the requests. One speaks
 * TLS with a self-signed certificate.
 */
import { Effect, Queue, type Scope } from "effect"
import * as Net from "node:net"
import * as Tls from "node:tls"

/** A key and a self-signed certificate for the name `another.example`. They protect no data. */
export const fixture = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg1TQ4zpJ/yUnxSXLq
fVpnoHVvEoWedgkKH+vPlIaE9dKhRANCAAQc/9S5FZToPUJP1SnKU3CFYXZJaSXJ
XJ04mFb63sh1FX9mqqQ4Pwrm+WlxbiAxvRewikCEgB51xOBDHB7+exUU
-----END PRIVATE KEY-----
`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBgzCCASmgAwIBAgIBATAKBggqhkjOPQQDAjAiMSAwHgYDVQQDDBdlZmZlY3Qt
cGl4IHRlc3QgZml4dHVyZTAgFw0yMDAxMDEwMDAwMDBaGA8yMTIwMDEwMTAwMDAw
MFowIjEgMB4GA1UEAwwXZWZmZWN0LXBpeCB0ZXN0IGZpeHR1cmUwWTATBgcqhkjO
PQIBBggqhkjOPQMBBwNCAAQc/9S5FZToPUJP1SnKU3CFYXZJaSXJXJ04mFb63sh1
FX9mqqQ4Pwrm+WlxbiAxvRewikCEgB51xOBDHB7+exUUo04wTDAaBgNVHREEEzAR
gg9hbm90aGVyLmV4YW1wbGUwDwYDVR0TAQH/BAUwAwEB/zAdBgNVHQ4EFgQUoaUO
ai54h7Enm8qZme/Xa/aEXuswCgYIKoZIzj0EAwIDSAAwRQIgZylynGk0KJh19+Sk
yVHDnGcYvTy0F1rwiBA4+H7zh3MCIQCxlk/ai4JQmwyawL+uOp+YYuOqc/aX2f5f
phkZknu9AQ==
-----END CERTIFICATE-----
`
}

/** A request that arrived. */
interface Arrived {
  readonly head: string
  /** Counts the requests of the server, from 1. */
  readonly count: number
  readonly method: string
  /** Path and query of the request line, as they were sent. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly bytes: Uint8Array
  readonly text: string
}

/** Answers a request, or leaves it unanswered. */
export type Play = (socket: Net.Socket, request: Arrived) => void

/** Writes these lines, which need not be HTTP. */
export const written =
  (...lines: ReadonlyArray<string>): Play =>
  (socket) =>
    void socket.write(lines.join("\r\n"), "latin1")

/** The same, and the connection ends. */
export const writtenLast =
  (...lines: ReadonlyArray<string>): Play =>
  (socket) =>
    void socket.end(lines.join("\r\n"), "latin1")

/** An answer of any status, headers and body, with its length. */
export const answer =
  (status: number, body: string | Uint8Array = "", headers: Readonly<Record<string, string | number>> = {}): Play =>
  (socket) => {
    const fields = Object.entries({ "content-length": Buffer.byteLength(body), ...headers })
    const lines = [`HTTP/1.1 ${status} OK`, ...fields.map(([name, value]) => `${name}: ${value}`), "", ""]
    socket.write(Buffer.concat([Buffer.from(lines.join("\r\n")), Buffer.from(body)]))
  }

/** A JSON answer. A string is sent unchanged. */
export const json = (body: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Play =>
  answer(status, typeof body === "string" ? body : JSON.stringify(body), {
    "content-type": "application/json; charset=utf-8",
    ...headers
  })

/** A TCP reset, after the whole request was read. */
export const reset: Play = (socket) => void socket.resetAndDestroy()

/** No answer at all. */
export const silence: Play = () => undefined

/** An address at which nothing listens: the system assigns this port to no program. */
export const closedPort = "http://127.0.0.1:4"

interface RawServer {
  readonly port: number
  readonly url: string
  /** How many whole requests arrived. */
  readonly requests: () => number
  readonly arrived: ReadonlyArray<Arrived>
  /** How many connections were made. */
  readonly connections: () => number
  /** Sets the answers to the next requests; the last one is repeated. */
  readonly script: (...plays: ReadonlyArray<Play>) => void
  /** Completes when a request has arrived, as often as it is waited for. */
  readonly nextRequest: Effect.Effect<Net.Socket>
  /** Completes when a connection was made, as often as it is waited for. */
  readonly nextConnection: Effect.Effect<Net.Socket>
}

const parse = (head: string, body: string): Omit<Arrived, "count"> => {
  const [line = "", ...fields] = head.split("\r\n")
  const [method = "", path = ""] = line.split(" ")
  const headers = fields.map((field) => {
    const [, name = "", value = ""] = /^([^:]*): *(.*)$/.exec(field) ?? []
    return [name.toLowerCase(), value] as const
  })
  const bytes = Buffer.from(body, "latin1")
  return { head, method, path, headers: Object.fromEntries(headers), bytes, text: bytes.toString("utf8") }
}

/** Calls back for each whole request of a connection. */
const onRequest = (socket: Net.Socket, onArrived: (request: Omit<Arrived, "count">) => void) => {
  let seen = ""
  socket.on("data", (chunk: Buffer) => {
    seen += chunk.toString("latin1")
    for (let end = seen.indexOf("\r\n\r\n"); end !== -1; end = seen.indexOf("\r\n\r\n")) {
      const head = seen.slice(0, end)
      const next = end + 4 + Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0)
      if (seen.length < next) return
      onArrived(parse(head, seen.slice(end + 4, next)))
      seen = seen.slice(next)
    }
  })
}

const listen = (
  make: (accept: (socket: Net.Socket) => void) => Net.Server,
  plays: ReadonlyArray<Play>
): Effect.Effect<RawServer, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.callback<RawServer & { readonly close: () => void }>((resume) => {
      const arrived: Array<Arrived> = []
      let connections = 0
      let script = plays
      const sockets = new Set<Net.Socket>()
      const requested = Effect.runSync(Queue.unbounded<Net.Socket>())
      const connected = Effect.runSync(Queue.unbounded<Net.Socket>())
      const server = make((socket) => {
        // A client that aborts resets its connection, which is not an error of the test.
        socket.on("error", () => socket.destroy())
        onRequest(socket, (one) => {
          const request = { ...one, count: arrived.length + 1 }
          arrived.push(request)
          const [play = silence, ...rest] = script
          if (rest.length > 0) script = rest
          play(socket, request)
          Queue.offerUnsafe(requested, socket)
        })
      })
      server.on("connection", (socket: Net.Socket) => {
        connections++
        sockets.add(socket)
        socket.on("error", () => socket.destroy())
        socket.once("close", () => sockets.delete(socket))
        Queue.offerUnsafe(connected, socket)
      })
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        const port = typeof address === "object" && address !== null ? address.port : 0
        resume(
          Effect.succeed({
            port,
            url: `http://127.0.0.1:${port}`,
            arrived,
            requests: () => arrived.length,
            connections: () => connections,
            script: (...next) => {
              script = next
            },
            nextRequest: Queue.take(requested),
            nextConnection: Queue.take(connected),
            close: () => {
              server.close()
              for (const socket of sockets) socket.destroy()
            }
          })
        )
      })
    }),
    ({ close }) => Effect.sync(close)
  )

/** Serves plain bytes until the scope ends. Each play answers a request, and the last one answers the others too. */
export const serveRaw = (...plays: ReadonlyArray<Play>): Effect.Effect<RawServer, never, Scope.Scope> =>
  listen(Net.createServer, plays)

/** The same over TLS, with the untrusted certificate. */
export const serveTls = (...plays: ReadonlyArray<Play>): Effect.Effect<RawServer, never, Scope.Scope> =>
  listen((accept) => {
    const server = Tls.createServer(fixture, accept)
    server.on("tlsClientError", () => undefined)
    return server
  }, plays)

/** Reads a request over TLS and answers it without TLS, as a broken proxy may do. */
export const serveTlsThenPlain = (answer: string): Effect.Effect<RawServer, never, Scope.Scope> =>
  Effect.gen(function* () {
    const outsides = new Map<number | undefined, Net.Socket>()
    const inside = yield* serveTls((socket) => outsides.get(socket.remotePort)?.end(answer))
    const outside = yield* listen(
      () =>
        Net.createServer((socket) => {
          const through = Net.connect(inside.port, "127.0.0.1", () => outsides.set(through.localPort, socket))
          through.on("error", () => socket.destroy())
          socket.pipe(through)
          through.pipe(socket)
        }),
      []
    )
    return { ...outside, requests: inside.requests }
  })

/** Answers the first bytes of each connection, TLS or not, with this text, and closes it. `null` never answers. */
export const serveBlindly = (answer: string | null): Effect.Effect<RawServer, never, Scope.Scope> =>
  listen(
    (accept) =>
      Net.createServer((socket) => {
        accept(socket)
        if (answer !== null) socket.once("data", () => socket.end(answer))
      }),
    []
  )
