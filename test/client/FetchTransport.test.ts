import { assert, describe } from "@effect/vitest"
import { Effect, Layer, Logger, References } from "effect"
import { FetchHttpClient, HttpClient } from "effect/http"
import { Payments, PaymentsPolicy } from "effect-pix"
import { spawn } from "node:child_process"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { fileURLToPath } from "node:url"
import * as FetchTransport from "../support/FetchTransport.ts"
import { json, makeGateway } from "../support/Gateway.ts"
import { balance, record, requestWithdrawal } from "../support/operations.ts"
import { paymentsOn } from "../support/Wire.ts"
import { live } from "../support/effect.ts"

const quiet = Logger.layer([])
const { run: pay } = requestWithdrawal
const read = Effect.flatMap(Payments, (payments) => payments.getBalance({ companyId: 7 }))
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

describe("the fetch transport", () => {
  live(
    "the fetch transport reports an unknown outcome if fetch repeats a request after a 421 and the connection is then refused",
    function* () {
      const { requests, url } = yield* misdirecting
      const error = yield* Effect.flip(pay).pipe(
        Effect.provide([paymentsOn(FetchTransport.layer, { baseUrl: url }), quiet]),
        Effect.provide(once)
      )
      assert.deepStrictEqual([error._tag, error.outcome, requests()], ["OutcomeUnknown", "Unknown", 1])
    }
  )

  live(
    "the fetch transport leaves the outcome unknown where a fetch of the user's own returns no promise or throws",
    function* () {
      const returning: ReadonlyArray<() => unknown> = [
        () => undefined,
        () => ({}),
        () => assert.fail("the fetch's own error")
      ]
      for (const own of returning) {
        const fetch = Layer.succeed(FetchHttpClient.Fetch, own as typeof globalThis.fetch) // a mock without types
        const error = yield* Effect.flip(pay).pipe(
          Effect.provide([paymentsOn(Layer.provide(FetchTransport.layer, fetch)), quiet, once])
        )
        assert.deepStrictEqual([error._tag, error.outcome], ["OutcomeUnknown", "Unknown"])
      }
    }
  )

  live("the fetch transport sends the length of a body, and the body once", function* () {
    const gateway = yield* makeGateway
    gateway.script(json(record("wd_1"), 201))
    yield* Effect.provide(pay, paymentsOn(FetchTransport.layer, { baseUrl: gateway.url }))
    const [request] = gateway.requests
    assert.strictEqual(request?.headers["content-length"], String(request?.bytes.length))
    assert.strictEqual(request?.headers["content-type"], "application/json")
  })

  live(
    "the fetch transport uses the fetch and the RequestInit of its layer, and never follows a redirect",
    function* () {
      const seen: Array<RequestInit | undefined> = []
      const fetch: typeof globalThis.fetch = (_, init) => {
        seen.push(init)
        return Promise.resolve(Response.json(balance))
      }
      const transport = FetchTransport.layer.pipe(
        Layer.provide([
          Layer.succeed(FetchHttpClient.Fetch, fetch),
          Layer.succeed(FetchHttpClient.RequestInit, {
            headers: { "X-Proxy": "yes" },
            redirect: "follow",
            cache: "no-store"
          })
        ])
      )
      yield* Effect.provide(read, paymentsOn(transport))
      const [init] = seen
      assert.deepInclude(init, { cache: "no-store", redirect: "manual", method: "GET" })
      assert.strictEqual(new Headers(init?.headers).get("x-proxy"), "yes")
    }
  )

  live(
    "the fetch transport is not used for a client that a user wrapped, or for a call with its own fetch",
    function* () {
      const gateway = yield* makeGateway
      gateway.script(json(balance))
      const wrapped = Layer.effect(
        HttpClient.HttpClient,
        Effect.map(
          HttpClient.HttpClient,
          HttpClient.mapRequest((request) => ({ ...request, url: `${gateway.url}/mapped` }))
        )
      ).pipe(Layer.provide(FetchTransport.layer))
      yield* Effect.provide(read, paymentsOn(wrapped))
      assert.strictEqual(gateway.requests[0]?.path, "/mapped")

      let asked = 0
      const own: typeof globalThis.fetch = () => {
        asked++
        return Promise.resolve(Response.json(balance))
      }
      yield* read.pipe(
        Effect.provideService(FetchHttpClient.Fetch, own),
        Effect.provide(paymentsOn(FetchTransport.layer))
      )
      assert.strictEqual(asked, 1)
    }
  )

  live("the fetch transport reports a fetch that throws as a typed error", function* () {
    const broken: typeof globalThis.fetch = () => assert.fail("no fetch here")
    const transport = Layer.provide(FetchTransport.layer, Layer.succeed(FetchHttpClient.Fetch, broken))
    const error = yield* Effect.flip(pay).pipe(Effect.provide([paymentsOn(transport), quiet]), Effect.provide(once))
    assert.strictEqual(error._tag, "OutcomeUnknown")
  })

  live(
    "the fetch transport logs a warning at its build if fetch may repeat a payment and has no option against that",
    function* () {
      const lines: Array<string> = []
      const logger = Layer.merge(
        Logger.layer([Logger.make(({ message }) => lines.push(String(message)))]),
        Layer.succeed(References.MinimumLogLevel, "Info")
      )
      const building = Effect.scoped(Layer.build(FetchTransport.layer)).pipe(Effect.provide(logger))
      yield* building
      assert.deepStrictEqual(lines, [])

      const pools: Array<unknown> = []
      let closed = 0
      const createHttpClient = (options: unknown) => {
        pools.push(options)
        return { close: () => closed++ }
      }
      const inDeno = (deno: object) =>
        Effect.acquireUseRelease(
          Effect.sync(() => Reflect.set(globalThis, "Deno", deno)),
          () => building,
          () => Effect.sync(() => Reflect.deleteProperty(globalThis, "Deno"))
        )
      yield* inDeno({ createHttpClient })
      assert.deepStrictEqual([pools, closed, lines], [[{ poolMaxIdlePerHost: 0 }], 1, []])
      yield* inDeno({})
      assert.match(lines.join("\n"), /may send a payment once more/)
    }
  )
})

describe("an answer that declares more than the bound", () => {
  const program = fileURLToPath(new URL("../support/oversize.ts", import.meta.url))

  const ending = (transports: ReadonlyArray<string>, url: string) =>
    Effect.callback<readonly [code: number | null, said: string]>((resume) => {
      const env = { ...process.env, PAYMENTS_BASE_URL: url, PAYMENTS_CLIENT_ID: "id", PAYMENTS_API_KEY: "secret" }
      const child = spawn(process.execPath, ["--no-warnings", program, ...transports], { env })
      let said = ""
      child.stdout.on("data", (chunk: Buffer) => (said += chunk.toString()))
      child.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()))
      child.once("exit", (code) => resume(Effect.succeed([code, said.trim()])))
      return Effect.sync(() => child.kill())
    })

  live("is cancelled at once, so that a program over any of the transports ends", function* () {
    const gateway = yield* makeGateway
    // The body never ends, and the connection stays open.
    gateway.script((response) => {
      response.writeHead(200, { "content-type": "application/json", "content-length": 99_999_999 })
      response.write("{")
    })
    const names = ["our fetch", "fetch", "undici", "node:http", "our Node transport"]
    const ended = yield* ending(names, gateway.url)
    assert.deepStrictEqual(ended, [0, names.map((name) => `${name}: UnexpectedResponse TooLarge`).join("\n")])
  })
})
