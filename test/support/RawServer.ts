/**
 * Servers on raw sockets: the test writes the bytes of each answer, which need not be HTTP. One speaks TLS with a
 * self-signed certificate.
 */
import { Effect, type Scope } from "effect"
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

/** Writes the answer to the n-th request, from 1. */
export type Play = (socket: Net.Socket, request: { readonly head: string; readonly count: number }) => void

interface RawServer {
  readonly port: number
  /** How many whole requests arrived. */
  readonly requests: () => number
  /** How many connections were made. */
  readonly connections: () => number
}

/** Calls back for each whole request of a connection. */
const onRequest = (socket: Net.Socket, onHead: (head: string) => void) => {
  let seen = ""
  socket.on("data", (chunk: Buffer) => {
    seen += chunk.toString("latin1")
    for (let end = seen.indexOf("\r\n\r\n"); end !== -1; end = seen.indexOf("\r\n\r\n")) {
      const head = seen.slice(0, end)
      const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0)
      if (seen.length < end + 4 + length) return
      seen = seen.slice(end + 4 + length)
      onHead(head)
    }
  })
}

const listen = (
  make: (accept: (socket: Net.Socket) => void) => Net.Server,
  play: Play
): Effect.Effect<RawServer, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.callback<RawServer & { readonly close: () => void }>((resume) => {
      let requests = 0
      let connections = 0
      const sockets = new Set<Net.Socket>()
      const server = make((socket) => {
        // A client that aborts resets its connection, which is not an error of the test.
        socket.on("error", () => socket.destroy())
        onRequest(socket, (head) => {
          requests++
          play(socket, { head, count: requests })
        })
      })
      server.on("connection", (socket: Net.Socket) => {
        connections++
        sockets.add(socket)
        socket.on("error", () => socket.destroy())
        socket.once("close", () => sockets.delete(socket))
      })
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        const port = typeof address === "object" && address !== null ? address.port : 0
        const close = () => {
          server.close()
          for (const socket of sockets) socket.destroy()
        }
        resume(Effect.succeed({ port, close, requests: () => requests, connections: () => connections }))
      })
    }),
    ({ close }) => Effect.sync(close)
  )

/** Serves plain bytes until the scope ends. */
export const serveRaw = (play: Play): Effect.Effect<RawServer, never, Scope.Scope> => listen(Net.createServer, play)

/** The same over TLS, with the untrusted certificate. */
export const serveTls = (play: Play): Effect.Effect<RawServer, never, Scope.Scope> =>
  listen((accept) => {
    const server = Tls.createServer(fixture, accept)
    server.on("tlsClientError", () => undefined)
    return server
  }, play)

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
      () => undefined
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
    () => undefined
  )
