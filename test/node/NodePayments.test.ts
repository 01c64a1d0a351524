/** The transport for Node beyond the contract of `client/transports.test.ts`: its layers, its pool, its time limits and its end. */
import { assert, describe } from "@effect/vitest"
import { ConfigProvider, Context, Deferred, Effect, Exit, Fiber, Layer, Option, Redacted, Scope } from "effect"
import { constFalse } from "effect/Function"
import { HttpClient } from "effect/http"
import { Payments, PaymentsPolicy } from "effect-pix"
import { NodePayments } from "effect-pix/node"
import { Sandbox } from "effect-pix/sandbox"
import { execFile } from "node:child_process"
import { Agent } from "undici"
import {
  type AnswerHeaders,
  HttpTransport,
  type Transport,
  type TransportFailure
} from "../../src/internal/transport.ts"
import { effect, live, nextTurn } from "../support/effect.ts"
import { createTransaction, listed, listTransactions, requestWithdrawal } from "../support/operations.ts"
import { answer, json, type Play, reset, serveRaw, silence, writtenLast } from "../support/RawServer.ts"
import { watching } from "../support/watched.ts"
import { paymentsOn } from "../support/Wire.ts"
import { oneAttempt } from "../support/policies.ts"

const ownAgent = Effect.acquireRelease(
  Effect.sync(() => new Agent()),
  (agent) => Effect.promise(() => agent.destroy())
)

describe("NodePayments.layerHttpClient", () => {
  live("is an HttpClient on the dispatcher of the user, follows no redirect and closes no dispatcher", function* () {
    const server = yield* serveRaw(answer(302, "moved", { location: "/elsewhere" }))
    const client = NodePayments.layerHttpClient({ dispatcher: yield* ownAgent })
    const send = HttpClient.post(`${server.url}/path?a=1`, { urlParams: { b: "x y" } }).pipe(
      Effect.flatMap((response) => Effect.map(response.text, (text) => [response.status, text])),
      Effect.provide(client)
    )
    assert.deepStrictEqual(
      [yield* send, yield* send],
      [
        [302, "moved"],
        [302, "moved"]
      ]
    )
    for (const { method, path } of server.arrived) assert.deepStrictEqual([method, path], ["POST", "/path?a=1&b=x+y"])
  })

  effect.each<NodePayments.Options>([
    { connections: 0 },
    { connections: 1.5 },
    { connectTimeout: "0 seconds" },
    { keepAliveTimeout: -1 },
    { shutdownTimeout: Number.NaN }
  ])("refuses %o as a ConfigurationError that names the setting", function* (options) {
    const error = yield* Effect.flip(Effect.scoped(Layer.build(NodePayments.layerHttpClient(options))))
    assert.strictEqual(error._tag, "ConfigurationError")
    assert.include(error.message, Object.keys(options)[0] ?? "")
  })

  live("names the package to install in a process that has no undici", function* () {
    const program = `
      import { Effect, Layer } from "effect"
      import { registerHooks } from "node:module"
      const resolve = (name, context, next) => next(name === "undici" ? "a-package-that-nobody-has" : name, context)
      registerHooks({ resolve })
      const { layerHttpClient } = await import("./src/node/NodePayments.ts")
      console.log((await Effect.runPromise(Effect.flip(Effect.scoped(Layer.build(layerHttpClient()))))).message)
    `
    const said = yield* Effect.callback<string>((resume) => {
      execFile(process.execPath, ["--no-warnings", "--input-type=module", "--eval", program], (_, stdout, stderr) =>
        resume(Effect.succeed(stdout + stderr))
      )
    })
    assert.strictEqual(said, "undici is not installed: NodePayments needs this package (npm install undici)\n")
  })

  live("gives up a connection that is not made in time as not sent", function* () {
    const { port } = yield* serveRaw()
    const client = Layer.orDie(NodePayments.layerHttpClient({ connectTimeout: "1 millis" }))
    const error = yield* Effect.flip(createTransaction.run).pipe(
      Effect.provide([paymentsOn(client, { baseUrl: `https://127.0.0.1:${port}` }), PaymentsPolicy.layer(oneAttempt)])
    )
    assert.strictEqual(error.outcome, "NotSent")
  })

  live("lets Payments send over the dispatcher, and not over the layer's own client", function* () {
    const dispatched: Array<string> = []
    const dispatcher = (yield* ownAgent).compose((dispatch) => (options, handler) => {
      // Undici's own `request` makes a handler that is no class of this library.
      dispatched.push(handler.constructor.name)
      return dispatch(options, handler)
    })
    const { url } = yield* serveRaw(json(listed))
    const client = Layer.orDie(NodePayments.layerHttpClient({ dispatcher }))
    yield* Effect.provide(listTransactions.run, paymentsOn(client, { baseUrl: url }))
    assert.deepStrictEqual(dispatched, ["Exchange"])
  })
})

live("NodePayments.layer takes all settings from the environment", Sandbox.layerServer, function* () {
  const { baseUrl, credentials } = yield* Sandbox
  const { apiKey, clientId } = yield* credentials
  const provider = ConfigProvider.fromUnknown({
    PAYMENTS_BASE_URL: baseUrl,
    PAYMENTS_CLIENT_ID: clientId,
    PAYMENTS_API_KEY: Redacted.value(apiKey)
  })
  const created = Effect.flatMap(Payments, createTransaction.call)
  const client = Layer.provide(NodePayments.layer, ConfigProvider.layer(provider))
  assert.strictEqual((yield* Effect.provide(created, client)).status, "WAITING_PAYMENT")
})

/** `NodePayments.layer` with these variables, and a withdrawal by it. */
const paying = (variables: Readonly<Record<string, string>>) => {
  const provider = ConfigProvider.fromUnknown({
    PAYMENTS_BASE_URL: "https://gateway.invalid",
    PAYMENTS_CLIENT_ID: "id",
    PAYMENTS_API_KEY: "key",
    ...variables
  })
  const client = Layer.provide(NodePayments.layer, ConfigProvider.layer(provider))
  return Effect.flatMap(Payments, requestWithdrawal.call).pipe(
    Effect.provide([client, PaymentsPolicy.layer(oneAttempt)]),
    Effect.flip
  )
}

/** A proxy that opens no tunnel, and why. */
const closedProxies: ReadonlyArray<readonly [what: string, play: Play]> = [
  ["refuses with 407", answer(407, "who are you?", { "proxy-authenticate": "Basic" })],
  ["refuses with 403", answer(403)],
  ["refuses with 502", writtenLast("HTTP/1.1 502 Bad Gateway", "content-length: 0", "connection: close", "", "")],
  ["resets the connection", reset],
  ["closes the connection", (socket) => void socket.end()]
]

describe("NodePayments.layer behind a proxy of the environment", () => {
  live.each(closedProxies)("sends nothing where the proxy %s", function* ([, play]) {
    const proxy = yield* serveRaw(play)
    for (const name of ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY"]) {
      const error = yield* paying({ [name]: proxy.url.replace("://", "://user:pass-word@") })
      assert.deepInclude(error, { _tag: "ServiceUnavailable", outcome: "NotSent" }, name)
      assert.notInclude(JSON.stringify(error), "pass-word")
    }
    assert.deepStrictEqual(
      proxy.arrived.map(({ headers, method, path }) => [method, path, headers["proxy-authorization"]]),
      Array.from({ length: 3 }, () => ["CONNECT", "gateway.invalid:443", `Basic ${btoa("user:pass-word")}`])
    )
  })

  live("forwards plain http, whose 407 is a refusal, and asks no proxy for a host of NO_PROXY", function* () {
    const proxy = yield* serveRaw(answer(407, "who are you?"))
    const server = yield* serveRaw(json({ message: "Chave Pix inválida" }, 422))
    const variables = { PAYMENTS_BASE_URL: server.url, HTTP_PROXY: proxy.url }
    assert.deepInclude(yield* paying(variables), { _tag: "RequestRejected", status: 407, concerns: "Setup" })
    assert.deepInclude(yield* paying({ ...variables, NO_PROXY: "127.0.0.1" }), { _tag: "RequestRejected", status: 422 })
    assert.deepStrictEqual([proxy.requests(), server.requests()], [1, 1])
  })

  live("is not built with what is no URL of a proxy, and shows none of it", function* () {
    for (const url of ["pass-word", "user:pass-word@proxy:3128", "ftp://user:pass-word@proxy"]) {
      const error = yield* paying({ HTTPS_PROXY: url })
      assert.strictEqual(error._tag, "ConfigurationError", url)
      assert.include(error.message, "HTTPS_PROXY")
      assert.notInclude(JSON.stringify(error), "pass-word")
    }
  })
})

/** What is reported of a request: its status and headers, or why it failed and whether it may have left. */
interface Reported extends Partial<Pick<TransportFailure, "kind" | "sent">> {
  readonly status?: number
  readonly headers?: AnswerHeaders
}

const transport = Effect.fnUntraced(function* (options?: NodePayments.Options) {
  const context = yield* Layer.build(NodePayments.layerHttpClient(options))
  return Option.getOrThrow(Context.getOption(context, HttpTransport)).transport
})

interface Request {
  readonly port: number
  readonly headers?: Readonly<Record<string, string>>
  readonly isLate?: () => boolean
}

/** Sends a request, and returns all reports to the sink. */
const send = (via: Transport, { headers = {}, isLate = constFalse, port }: Request) => {
  const reported: Array<Reported> = []
  const first = Deferred.makeUnsafe<Reported>()
  const report = (result: Reported) => {
    reported.push(result)
    Deferred.doneUnsafe(first, Effect.succeed(result))
  }
  const origin = `http://127.0.0.1:${port}`
  const request = {
    origin,
    method: "GET",
    path: "/",
    headers,
    body: undefined,
    isLate,
    context: Context.empty()
  } as const
  const sent = via.send(request, 1024, {
    onAnswer: (status, headers) => report({ status, headers }),
    onFailure: ({ kind, sent }) => report({ kind, sent })
  })
  return { reported, first: Deferred.await(first), cancel: sent.cancel, expire: Effect.sync(() => sent.expire()) }
}
const answered = (sent: ReturnType<typeof send>) =>
  Effect.map(sent.first, (report) => {
    assert.strictEqual(report.status, 200)
    return report
  })

describe("the Node transport", () => {
  live("reports an answer with each header of it", function* () {
    const server = yield* serveRaw(answer(200, "{}", { "x-one": 1, "set-cookie": "a=1\r\nset-cookie: b=2" }))
    const { headers } = yield* answered(send(yield* transport(), server))
    assert.deepStrictEqual([headers?.["x-one"], headers?.["set-cookie"]], ["1", ["a=1", "b=2"]])
    assert.notMatch(server.arrived[0]?.head ?? "", /accept-encoding|transfer-encoding/i)
  })

  live("sends calls over the configured number of connections at most", function* () {
    const server = yield* serveRaw(json({}))
    const via = yield* transport({ connections: 1 })
    yield* Effect.forEach(
      Array.from({ length: 5 }, () => send(via, server)),
      answered
    )
    assert.deepStrictEqual([server.requests(), server.connections()], [5, 1])
  })

  live("reports a request at which the dispatcher of the user throws as not sent", function* () {
    const dispatcher = yield* ownAgent
    dispatcher.dispatch = () => {
      throw new Error("no dispatcher takes this")
    }
    const { reported } = send(yield* transport({ dispatcher }), { port: 9 })
    assert.deepStrictEqual(reported, [{ kind: "Broken", sent: false }])
  })

  const late = [{ kind: "Late", sent: false }]
  live.each<readonly [string, giveUp: (sent: ReturnType<typeof send>) => Effect.Effect<void>, object]>([
    ["is over while it waits for a connection, as not sent", ({ expire }) => expire, late],
    ["is over when it gets its connection, as not sent", () => Effect.void, late],
    ["is cancelled while it waits for a connection, in no way", ({ cancel }) => cancel, []]
  ])("reports a request that %s, and keeps the connection open", function* ([, giveUp, reports]) {
    const server = yield* serveRaw(silence, json({}))
    const via = yield* transport({ connections: 1 })
    const holding = send(via, server)
    const socket = yield* server.nextRequest
    let isLate = false
    const waiting = send(via, { ...server, isLate: () => isLate })
    yield* giveUp(waiting)
    isLate = true
    json({})(socket, server.arrived[0] ?? assert.fail("no request"))
    yield* answered(holding)
    yield* answered(send(via, server))
    assert.deepStrictEqual(waiting.reported, reports)
    assert.deepStrictEqual([server.requests(), server.connections()], [2, 1])
  })

  live(
    "reports nothing more of a request that is cancelled or expires after its answer, and keeps its connection",
    function* () {
      const server = yield* serveRaw(json({}))
      const via = yield* transport({ connections: 1 })
      const sent = send(via, server)
      yield* Effect.andThen(answered(sent), Effect.andThen(sent.expire, sent.cancel))
      yield* answered(send(via, server))
      assert.deepStrictEqual([sent.reported.length, server.requests()], [1, 2])
    }
  )

  live("a write that is interrupted while it waits for a connection is not reported, one that left is", function* () {
    const server = yield* serveRaw(silence)
    const { logger, policy, reports } = watching({})
    const pool = Layer.orDie(NodePayments.layerHttpClient({ connections: 1 }))
    yield* Effect.gen(function* () {
      const sent = yield* Effect.forkChild(requestWithdrawal.run)
      yield* server.nextRequest
      const waiting = yield* Effect.forkChild(requestWithdrawal.run)
      yield* nextTurn
      yield* Fiber.interrupt(waiting)
      assert.deepStrictEqual(reports, [])
      yield* Fiber.interrupt(sent)
    }).pipe(Effect.provide([Layer.orDie(paymentsOn(pool, { baseUrl: server.url })), policy, logger]))
    assert.deepStrictEqual([reports.length, reports[0]?.idempotencyKey, server.requests()], [1, "wd_1", 1])
  })

  effect("reports a request with a header that cannot be sent as not sent", function* () {
    const { first } = send(yield* transport(), { port: 1, headers: { "x-a": "a\r\nb" } })
    assert.propertyVal(yield* first, "sent", false)
  })
})

describe("the end of the Node transport's scope", () => {
  live("waits for a request that is under way", function* () {
    const server = yield* serveRaw(silence)
    const scope = yield* Scope.make()
    const call = send(yield* Effect.provideService(transport(), Scope.Scope, scope), server)
    const socket = yield* server.nextRequest
    const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
    json({})(socket, server.arrived[0] ?? assert.fail("no request"))
    yield* answered(call)
    yield* Fiber.join(closing)
  })

  live("ends a request that is still under way after the time to wait, and fails later ones as not sent", function* () {
    const server = yield* serveRaw(silence)
    const scope = yield* Scope.make()
    const via = yield* Effect.provideService(transport({ shutdownTimeout: "1 millis" }), Scope.Scope, scope)
    const call = send(via, server)
    yield* server.nextRequest
    yield* Scope.close(scope, Exit.void)
    assert.deepStrictEqual(yield* call.first, { kind: "Broken", sent: true })
    assert.propertyVal(yield* send(via, server).first, "sent", false)
    assert.strictEqual(server.requests(), 1)
  })
})
