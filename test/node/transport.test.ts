import { assert, describe } from "@effect/vitest"
import { Context, Deferred, Effect, Exit, Fiber, Layer, Option, Scope } from "effect"
import { constFalse } from "effect/Function"
import { NodePayments } from "effect-pix/node"
import type * as Net from "node:net"
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib"
import { HttpTransport, type Transport, type TransportFailure } from "../../src/internal/transport.ts"
import { type Play, serveRaw } from "../support/RawServer.ts"
import { headsFrom, until } from "../support/timers.ts"
import { live } from "../support/effect.ts"

type Told =
  | { readonly status: number; readonly headers: Readonly<Record<string, unknown>>; readonly body: string }
  | TransportFailure

const transport = Effect.fnUntraced(function* (options?: NodePayments.Options) {
  const context = yield* Layer.build(NodePayments.layerHttpClient(options))
  return Option.getOrThrow(Context.getOption(context, HttpTransport)).transport
})

interface Asked {
  readonly port: number
  readonly path?: string
  readonly body?: string
  readonly maxBytes?: number
  readonly isLate?: () => boolean
}

/** Sends a request, and returns all reports to the sink. */
const send = (via: Transport, { body, isLate = constFalse, maxBytes = 1024, path = "/", port }: Asked) => {
  const told: Array<Told> = []
  const first = Deferred.makeUnsafe<Told>()
  const tell = (what: Told) => {
    told.push(what)
    Deferred.doneUnsafe(first, Effect.succeed(what))
  }
  const sent = via.send(
    {
      method: body === undefined ? "GET" : "POST",
      origin: `http://127.0.0.1:${port}`,
      path,
      headers: body === undefined ? {} : { "content-type": "application/json" },
      body: body === undefined ? undefined : new TextEncoder().encode(body),
      isLate,
      context: Context.empty()
    },
    maxBytes,
    {
      onAnswer: (status, headers, text) => tell({ status, headers, body: text }),
      onFailure: tell
    }
  )
  return { told, first: Deferred.await(first), cancel: sent.cancel, expire: () => sent.expire() }
}

const failure = (told: Told): TransportFailure => ("kind" in told ? told : assert.fail("an answer came"))
const answer = (told: Told) => ("kind" in told ? assert.fail(`failed: ${told.kind}`) : told)

const ok =
  (body: string | Buffer, headers = ""): Play =>
  (socket) => {
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${Buffer.byteLength(body)}\r\n${headers}\r\n`)
    socket.write(body)
  }

const silent: Play = () => undefined

/** Completes when the server's side of the connection is closed. */
const closing = () => {
  const closed = Deferred.makeUnsafe<void>()
  const watch = (socket: Net.Socket) => socket.once("close", () => Deferred.doneUnsafe(closed, Effect.void))
  return { watch, closed: Deferred.await(closed) }
}

/** A transport with one connection, on which a first request waits for its answer. */
const heldConnection = Effect.gen(function* () {
  const arrived = Deferred.makeUnsafe<Net.Socket>()
  const server = yield* serveRaw((socket, request) =>
    request.count === 1 ? Deferred.doneUnsafe(arrived, Effect.succeed(socket)) : ok("{}")(socket, request)
  )
  const via = yield* transport({ connections: 1 })
  const holding = send(via, server)
  return { holding, server, socket: yield* Deferred.await(arrived), via }
})

describe("the Node transport, when the service answers", () => {
  live("an answer has the status, the headers and the body that the service sent", function* () {
    const server = yield* serveRaw(ok('{"ok":true}', "X-One: 1\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\n"))
    const { status, headers, body } = answer(yield* send(yield* transport(), server).first)
    assert.deepStrictEqual([status, body, headers["x-one"]], [200, '{"ok":true}', "1"])
    assert.deepStrictEqual(headers["set-cookie"], ["a=1", "b=2"])
  })

  live("a request has the prepared bytes and their length, and requests no compression", function* () {
    let head = ""
    const server = yield* serveRaw((socket, request) => {
      head = request.head
      ok("{}")(socket, request)
    })
    yield* send(yield* transport(), { ...server, path: "/a?b=c", body: '{"name":"João"}' }).first
    assert.match(head, /^POST \/a\?b=c HTTP\/1\.1\r\n/)
    assert.match(head, /\r\ncontent-length: 16(\r\n|$)/i)
    assert.notMatch(head, /accept-encoding|transfer-encoding/i)
  })

  live("a body is decoded from UTF-8 without its byte order mark, also if chunks cut a character", function* () {
    const bytes = Buffer.from("\uFEFFação 💸")
    const server = yield* serveRaw((socket) => {
      socket.setNoDelay(true)
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${bytes.length}\r\n\r\n`)
      for (const byte of bytes) socket.write(Buffer.of(byte))
    })
    assert.strictEqual(answer(yield* send(yield* transport(), server).first).body, "ação 💸")
  })

  for (const [encoding, pack] of [
    ["gzip", gzipSync],
    ["deflate", deflateSync],
    ["br", brotliCompressSync]
  ] as const) {
    live(`an answer in ${encoding}, which was not requested, is read`, function* () {
      const server = yield* serveRaw(ok(pack("a".repeat(900)), `Content-Encoding: ${encoding}\r\n`))
      assert.strictEqual(answer(yield* send(yield* transport(), server).first).body, "a".repeat(900))
    })

    live(`an answer in ${encoding} that is too large once unpacked is too large`, function* () {
      const server = yield* serveRaw(ok(pack("a".repeat(1_000_000)), `Content-Encoding: ${encoding}\r\n`))
      const told = failure(yield* send(yield* transport(), { ...server, maxBytes: 4096 }).first)
      assert.deepStrictEqual([told.kind, told.head?.status], ["TooLarge", 200])
    })
  }

  live("an answer that cannot be unpacked is reported as broken, with its head", function* () {
    const server = yield* serveRaw(ok("this is no gzip", "Content-Encoding: gzip\r\n"))
    const told = failure(yield* send(yield* transport(), server).first)
    assert.deepStrictEqual([told.kind, told.sent, told.head?.status], ["Broken", true, 200])
  })

  live("an answer in an unknown encoding is read unchanged", function* () {
    const server = yield* serveRaw(ok("???", "Content-Encoding: zstd\r\n"))
    assert.strictEqual(answer(yield* send(yield* transport(), server).first).body, "???")
  })

  live("a redirect is an answer, and is not followed", function* () {
    const server = yield* serveRaw((socket) =>
      socket.write(`HTTP/1.1 307 No\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n`)
    )
    assert.strictEqual(answer(yield* send(yield* transport(), { ...server, body: "{}" }).first).status, 307)
    assert.strictEqual(server.requests(), 1)
  })

  live("an informational answer is not the answer", function* () {
    const server = yield* serveRaw((socket, request) => {
      socket.write("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
      ok("{}")(socket, request)
    })
    assert.strictEqual(answer(yield* send(yield* transport(), server).first).status, 200)
  })

  live("calls share at most the configured number of connections", function* () {
    const server = yield* serveRaw(ok("{}"))
    const via = yield* transport({ connections: 1 })
    const calls = Array.from({ length: 5 }, () => send(via, { ...server, body: "{}" }))
    for (const { first } of calls) answer(yield* first)
    assert.deepStrictEqual([server.requests(), server.connections()], [5, 1])
  })
})

describe("the Node transport, when a call fails", () => {
  live("a refused connection is reported as not sent", function* () {
    // The system assigns this port to no program.
    const told = failure(yield* send(yield* transport(), { port: 4, body: "{}" }).first)
    assert.deepStrictEqual([told.kind, told.sent, told.head], ["Broken", false, undefined])
  })

  live("a request whose connection is lost after its start is reported as possibly sent", function* () {
    const server = yield* serveRaw((socket) => socket.resetAndDestroy())
    const told = failure(yield* send(yield* transport(), { ...server, body: "{}" }).first)
    assert.deepStrictEqual([told.kind, told.sent, server.requests()], ["Broken", true, 1])
  })

  live("a body that is cut off is reported as broken, with its head", function* () {
    const server = yield* serveRaw((socket) => socket.end("HTTP/1.1 201 Created\r\nContent-Length: 100\r\n\r\n{"))
    const told = failure(yield* send(yield* transport(), { ...server, body: "{}" }).first)
    assert.deepStrictEqual([told.kind, told.sent, told.head?.status], ["Broken", true, 201])
  })

  live("a request without an answer in time is reported as late, and its connection is closed", function* () {
    const { closed, watch } = closing()
    const server = yield* serveRaw(watch)
    const sent = send(yield* transport(), { ...server, body: "{}" })
    const call = yield* Effect.forkChild(sent.first, { startImmediately: true })
    yield* until(
      Effect.sync(() => server.requests() === 1),
      call
    )
    sent.expire()
    const told = failure(yield* Fiber.join(call))
    assert.deepStrictEqual([told.kind, told.sent, told.head], ["Late", true, undefined])
    yield* closed
  })

  live("a body that does not end in time is reported as late, with its head", function* () {
    const server = yield* serveRaw((socket) => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"))
    const sent = send(yield* transport(), server)
    const call = yield* Effect.forkChild(sent.first, { startImmediately: true })
    yield* until(
      Effect.sync(() => headsFrom(`http://127.0.0.1:${server.port}`) === 1),
      call
    )
    sent.expire()
    const told = failure(yield* Fiber.join(call))
    assert.deepStrictEqual([told.kind, told.head?.status], ["Late", 200])
  })

  live(
    "a request that waits for a connection until its time is over is reported as not sent, and the connection stays open",
    function* () {
      const { holding, server, socket, via } = yield* heldConnection
      const waiting = send(via, { ...server, body: "{}" })
      waiting.expire()
      const told = failure(yield* waiting.first)
      assert.deepStrictEqual([told.kind, told.sent], ["Late", false])
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
      answer(yield* holding.first)
      answer(yield* send(via, server).first)
      assert.deepStrictEqual([server.requests(), server.connections()], [2, 1])
    }
  )

  live(
    "a request whose time is over when it gets its connection is reported as not sent, and the connection stays open",
    function* () {
      const { holding, server, socket, via } = yield* heldConnection
      let isLate = false
      const waiting = send(via, { ...server, body: "{}", isLate: () => isLate })
      isLate = true
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
      const told = failure(yield* waiting.first)
      assert.deepStrictEqual([told.kind, told.sent], ["Late", false])
      answer(yield* holding.first)
      answer(yield* send(via, server).first)
      assert.deepStrictEqual([server.requests(), server.connections()], [2, 1])
    }
  )

  live(
    "an answer whose declared length is over the bound is given up at once, and its connection closed",
    function* () {
      const { closed, watch } = closing()
      const server = yield* serveRaw((socket) => {
        watch(socket)
        socket.write("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
      })
      const told = failure(yield* send(yield* transport(), server).first)
      assert.deepStrictEqual([told.kind, told.head?.status], ["TooLarge", 200])
      yield* closed
    }
  )

  live("an answer without a declared length is given up when it exceeds the bound", function* () {
    const { closed, watch } = closing()
    const server = yield* serveRaw((socket) => {
      watch(socket)
      socket.write(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7d0\r\n${"a".repeat(2000)}\r\n`)
    })
    const told = failure(yield* send(yield* transport(), server).first)
    assert.deepStrictEqual([told.kind, told.head?.status], ["TooLarge", 200])
    yield* closed
  })

  live("a cancelled request reports nothing, and its connection is closed", function* () {
    const { closed, watch } = closing()
    const arrived = Deferred.makeUnsafe<void>()
    const server = yield* serveRaw((socket) => {
      watch(socket)
      Deferred.doneUnsafe(arrived, Effect.void)
    })
    const { cancel, told } = send(yield* transport(), { ...server, body: "{}" })
    yield* Deferred.await(arrived)
    yield* cancel
    yield* closed
    assert.deepStrictEqual(told, [])
  })

  live(
    "a request that is cancelled after its answer reports nothing more, and the next request uses its connection",
    function* () {
      const server = yield* serveRaw(ok("{}"))
      const via = yield* transport({ connections: 1 })
      const { cancel, first, told } = send(via, server)
      answer(yield* first)
      yield* cancel
      answer(yield* send(via, server).first)
      assert.deepStrictEqual([told.length, server.requests(), server.connections()], [1, 2, 1])
    }
  )

  live("a request with a header that cannot be sent is reported as not sent", function* () {
    const via = yield* transport()
    const told = yield* Effect.callback<Told>((resume) => {
      via.send(
        {
          method: "GET",
          origin: "http://127.0.0.1:1",
          path: "/",
          headers: { "x-a": "a\r\nb" },
          body: undefined,
          isLate: constFalse,
          context: Context.empty()
        },
        1000,
        { onAnswer: () => assert.fail("answered"), onFailure: (failed) => resume(Effect.succeed(failed)) }
      )
    })
    assert.strictEqual(failure(told).sent, false)
  })
})

describe("the end of the Node transport's scope", () => {
  live("waits for a request that is under way", function* () {
    const arrived = Deferred.makeUnsafe<Net.Socket>()
    const server = yield* serveRaw((socket) => Deferred.doneUnsafe(arrived, Effect.succeed(socket)))
    const scope = yield* Scope.make()
    const call = send(yield* Effect.provideService(transport(), Scope.Scope, scope), server)
    const socket = yield* Deferred.await(arrived)
    const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
    socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
    assert.strictEqual(answer(yield* call.first).status, 200)
    yield* Fiber.join(closing)
  })

  live("ends a request that is still under way after the time to wait", function* () {
    const server = yield* serveRaw(silent)
    const scope = yield* Scope.make()
    const via = yield* Effect.provideService(transport({ shutdownTimeout: "30 millis" }), Scope.Scope, scope)
    const call = send(via, { ...server, body: "{}" })
    yield* Scope.close(scope, Exit.void)
    const told = failure(yield* call.first)
    assert.strictEqual(told.kind, "Broken")
  })

  live("makes later requests fail as not sent", function* () {
    const server = yield* serveRaw(silent)
    const via = yield* Effect.scoped(transport())
    assert.strictEqual(failure(yield* send(via, server).first).sent, false)
    assert.strictEqual(server.connections(), 0)
  })
})
