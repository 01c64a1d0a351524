import { assert, describe } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { FetchHttpClient, HttpClient } from "effect/http"
import { PaymentsPolicy } from "effect-pix"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { live } from "../support/effect.ts"
import * as FetchTransport from "../support/FetchTransport.ts"
import { answer, json, serveRaw } from "../support/RawServer.ts"
import { balance, getBalance, requestWithdrawal } from "../support/operations.ts"
import { paymentsOn } from "../support/Wire.ts"

const quiet = Logger.layer([])
const { run: pay } = requestWithdrawal
const read = getBalance.run
const once = PaymentsPolicy.layer(PaymentsPolicy.once)

/** A server that answers the first request with 421, and is closed before the second. */
const misdirecting = Effect.callback<{ readonly url: string; readonly requests: () => number }>((resume) => {
  let requests = 0
  const server = createServer((request, response) => {
    request.resume().once("end", () => {
      requests++
      server.close()
      response.writeHead(421).end()
    })
  })
  server.listen(0, "127.0.0.1", () => {
    const { port } = server.address() as AddressInfo // the address of a TCP server is never a string
    resume(Effect.succeed({ url: `http://127.0.0.1:${port}`, requests: () => requests }))
  })
})

/** The transport on a fetch of the user's own, and how it was called. */
const fetching = (own: () => unknown) => {
  const seen: Array<RequestInit | undefined> = []
  const fetch = (_: unknown, init?: RequestInit) => {
    seen.push(init)
    return own()
  }
  // A mock without types.
  return { seen, fetch: Layer.succeed(FetchHttpClient.Fetch, fetch as typeof globalThis.fetch) }
}

describe("the fetch transport", () => {
  live(
    "leaves the outcome unknown if fetch repeats a request after a 421 and the connection is then refused",
    function* () {
      const { requests, url } = yield* misdirecting
      const payments = paymentsOn(FetchTransport.layer, { baseUrl: url })
      const error = yield* Effect.flip(pay).pipe(Effect.provide([payments, quiet]), Effect.provide(once))
      assert.deepStrictEqual([error._tag, error.outcome, requests()], ["OutcomeUnknown", "Unknown", 1])
    }
  )

  live.each<readonly [string, () => unknown]>([
    ["returns no promise", () => undefined],
    ["returns no answer", () => ({})],
    ["throws", () => assert.fail("the fetch's own error")]
  ])("leaves the outcome unknown where a fetch of the user's own %s", function* ([, own]) {
    const transport = Layer.provide(FetchTransport.layer, fetching(own).fetch)
    const error = yield* Effect.flip(pay).pipe(Effect.provide([paymentsOn(transport), quiet, once]))
    assert.deepStrictEqual([error._tag, error.outcome], ["OutcomeUnknown", "Unknown"])
  })

  live("uses the fetch and the RequestInit of its layer, or of the call, and never follows a redirect", function* () {
    const init = Layer.succeed(FetchHttpClient.RequestInit, {
      headers: { "X-Proxy": "yes" },
      redirect: "follow",
      cache: "no-store"
    })
    const ofLayer = fetching(() => Promise.resolve(Response.json(balance)))
    const ofCall = fetching(() => Promise.resolve(Response.json(balance)))
    const transport = Layer.provide(FetchTransport.layer, [ofLayer.fetch, init])
    yield* Effect.provide(read, paymentsOn(transport))
    yield* read.pipe(Effect.provide([ofCall.fetch, init]), Effect.provide(paymentsOn(FetchTransport.layer)))
    assert.deepStrictEqual([ofLayer.seen.length, ofCall.seen.length], [1, 1])
    for (const sent of [...ofLayer.seen, ...ofCall.seen]) {
      assert.deepInclude(sent, { cache: "no-store", redirect: "manual", method: "GET" })
      assert.strictEqual(new Headers(sent?.headers).get("x-proxy"), "yes")
    }
  })

  live("is not used for a client that a user wrapped", function* () {
    const server = yield* serveRaw(json(balance))
    const mapped = HttpClient.mapRequest((request) => ({ ...request, url: `${server.url}/mapped` }))
    const wrapped = Layer.effect(HttpClient.HttpClient, Effect.map(HttpClient.HttpClient, mapped))
    yield* Effect.provide(read, paymentsOn(Layer.provide(wrapped, FetchTransport.layer)))
    assert.strictEqual(server.arrived[0]?.path, "/mapped")
  })

  live("logs a warning at its build if fetch may repeat a payment and has no option against that", function* () {
    const lines: Array<string> = []
    const logger = Logger.layer([Logger.make(({ message }) => lines.push(String(message)))])
    const building = Effect.scoped(Layer.build(FetchTransport.layer)).pipe(Effect.provide(logger))
    const inDeno = (deno: object) =>
      Effect.acquireUseRelease(
        Effect.sync(() => Reflect.set(globalThis, "Deno", deno)),
        () => building,
        () => Effect.sync(() => Reflect.deleteProperty(globalThis, "Deno"))
      )
    const pools: Array<unknown> = []
    let closed = 0
    const createHttpClient = (options: unknown) => {
      pools.push(options)
      return { close: () => closed++ }
    }
    yield* building
    yield* inDeno({ createHttpClient })
    assert.deepStrictEqual([pools, closed, lines], [[{ poolMaxIdlePerHost: 0 }], 1, []])
    yield* inDeno({})
    assert.match(lines.join("\n"), /may send a payment once more/)
  })
})

describe("Effect's client over fetch", () => {
  live(
    "uses a RequestInit of the user's own, of the layer or of the call, and follows no redirect all the same",
    function* () {
      const target = yield* serveRaw(json({}))
      const server = yield* serveRaw(answer(307, "", { location: target.url }))
      const init = Layer.succeed(FetchHttpClient.RequestInit, { redirect: "follow", headers: { "x-proxy": "yes" } })
      const client = paymentsOn(FetchHttpClient.layer, { baseUrl: server.url })
      for (const layer of [Layer.provide(client, init), Layer.merge(client, init)]) {
        assert.strictEqual((yield* Effect.flip(Effect.provide(pay, layer)))._tag, "RequestRejected")
      }
      assert.deepStrictEqual(
        server.arrived.map(({ headers }) => headers["x-proxy"]),
        ["yes", "yes"]
      )
      assert.strictEqual(target.requests(), 0)
    }
  )
})
