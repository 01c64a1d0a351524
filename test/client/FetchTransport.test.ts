import { assert, describe } from "@effect/vitest"
import { Clock, Effect, Exit, Layer, Logger, Scope } from "effect"
import { FetchHttpClient } from "effect/http"
import { PaymentsPolicy } from "effect-pix"
import { live, nextTurn } from "../support/effect.ts"
import * as FetchTransport from "../support/FetchTransport.ts"
import { serveRaw } from "../support/RawServer.ts"
import { balance, getBalance, requestWithdrawal } from "../support/operations.ts"
import { paymentsOn } from "../support/Wire.ts"
import { oneAttempt } from "../support/policies.ts"

const quiet = Logger.layer([])
const { run: pay } = requestWithdrawal
const read = getBalance.run
const once = PaymentsPolicy.layer(oneAttempt)

/** The transport on a fetch of the user's own, and how it was called. */
const fetching = (own: (init?: RequestInit) => unknown) => {
  const seen: Array<RequestInit | undefined> = []
  const fetch = (_: unknown, init?: RequestInit) => {
    seen.push(init)
    return own(init)
  }
  // A mock without types.
  return { seen, fetch: Layer.succeed(FetchHttpClient.Fetch, fetch as typeof globalThis.fetch) }
}

describe("the fetch transport", () => {
  live("leaves the outcome unknown if fetch repeats a request after a 421, and is refused then", function* () {
    const scope = yield* Scope.make()
    const closing = Scope.close(scope, Exit.void)
    const misdirecting = serveRaw((socket) => {
      socket.end("HTTP/1.1 421 Misdirected Request\r\ncontent-length: 0\r\n\r\n", () => Effect.runFork(closing))
    })
    const server = yield* Effect.provideService(misdirecting, Scope.Scope, scope)
    const payments = paymentsOn(FetchTransport.layer, { baseUrl: server.url })
    const error = yield* Effect.flip(pay).pipe(Effect.provide([payments, quiet, once]))
    assert.deepStrictEqual([error._tag, error.outcome, server.requests()], ["OutcomeUnknown", "Unknown", 1])
  })

  live.each<readonly [string, () => unknown]>([
    ["returns no promise", () => undefined],
    ["returns no answer", () => ({})],
    ["throws", () => assert.fail("the fetch's own error")]
  ])("leaves the outcome unknown where a fetch of the user's own %s", function* ([, own]) {
    const transport = Layer.provide(FetchTransport.layer, fetching(own).fetch)
    const error = yield* Effect.flip(pay).pipe(Effect.provide([paymentsOn(transport), quiet, once]))
    assert.deepStrictEqual([error._tag, error.outcome], ["OutcomeUnknown", "Unknown"])
  })

  live("says that nothing was sent where fetch refuses the port of the base URL, in its first call", function* () {
    const payments = paymentsOn(FetchTransport.layer, { baseUrl: "http://127.0.0.1:1" })
    const error = yield* Effect.flip(pay).pipe(Effect.provide([payments, quiet, once]))
    assert.deepInclude(error, { _tag: "ServiceUnavailable", outcome: "NotSent", reason: "NotMade" })
  })

  /** A fetch of the user's own that takes the body, and gets an answer or none. */
  const taking = () => {
    const plan = { isRead: false, isAnswered: false }
    const own = fetching((init) => {
      const request = new Request("https://gateway.example", init)
      const taken = plan.isRead ? request.text() : Promise.resolve("")
      return taken.then(() => (plan.isAnswered ? new Response("", { status: 410 }) : assert.fail("broken")))
    })
    const client = Effect.provide([paymentsOn(Layer.provide(FetchTransport.layer, own.fetch)), quiet, once])
    return (isRead: boolean, isAnswered: boolean) => {
      Object.assign(plan, { isRead, isAnswered })
      return client(Effect.map(Effect.flip(pay), ({ outcome }) => outcome))
    }
  }

  live("believes a fetch of the user's own about an unread body once it got an answer for a read one", function* () {
    const outcome = taking()
    assert.deepStrictEqual(
      [yield* outcome(false, false), yield* outcome(true, false), yield* outcome(false, false)],
      ["Unknown", "Unknown", "Unknown"]
    )
    assert.deepStrictEqual(
      [yield* outcome(true, true), yield* outcome(false, false), yield* outcome(true, false)],
      ["Rejected", "NotSent", "Unknown"]
    )
  })

  live("does not believe a fetch that got an answer for a body that it did not read", function* () {
    const outcome = taking()
    for (const isRead of [true, false, true]) assert.strictEqual(yield* outcome(isRead, true), "Rejected")
    assert.strictEqual(yield* outcome(false, false), "Unknown")
  })

  live("gives a body to no fetch that asks for it after the request was given up", function* () {
    let body: Blob | undefined
    const late = fetching((init) => {
      body = init?.body instanceof Blob ? init.body : assert.fail("no body")
      return Promise.reject(new TypeError("fetch failed"))
    })
    const payments = paymentsOn(Layer.provide(FetchTransport.layer, late.fetch))
    yield* Effect.flip(pay).pipe(Effect.provide([payments, quiet, once]))
    const read = body?.stream().getReader().read() ?? assert.fail("no body")
    assert.strictEqual(
      yield* Effect.race(
        Effect.as(
          Effect.promise(() => read),
          "given"
        ),
        Effect.as(nextTurn, "kept")
      ),
      "kept"
    )
  })

  live("says that nothing was sent where the time was over before fetch took the bytes", function* () {
    const clock = yield* Clock.Clock
    let suspended = 0n
    const jumping: Clock.Clock = Object.assign(Object.create(clock), {
      monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe() + suspended
    })
    const late = fetching((init) => {
      suspended = 60_000_000_000n
      return init?.body instanceof Blob ? init.body.stream().getReader().read() : assert.fail("no body")
    })
    const transport = Layer.provide(FetchTransport.layer, late.fetch)
    const error = yield* Effect.flip(pay).pipe(
      Effect.provide([paymentsOn(transport), quiet, once, Layer.succeed(Clock.Clock, jumping)])
    )
    assert.deepInclude(error, { _tag: "ServiceUnavailable", outcome: "NotSent", reason: "Timeout" })
  })

  live("uses the fetch and the RequestInit of its layer, or of the call, but for what is its own", function* () {
    const init = Layer.succeed(FetchHttpClient.RequestInit, {
      method: "PUT",
      redirect: "follow",
      cache: "force-cache",
      mode: "cors"
    })
    const ofLayer = fetching(() => Promise.resolve(Response.json(balance)))
    const ofCall = fetching(() => Promise.resolve(Response.json(balance)))
    yield* Effect.provide(read, paymentsOn(Layer.provide(FetchTransport.layer, [ofLayer.fetch, init])))
    yield* read.pipe(Effect.provide([ofCall.fetch, init]), Effect.provide(paymentsOn(FetchTransport.layer)))
    assert.deepStrictEqual([ofLayer.seen.length, ofCall.seen.length], [1, 1])
    for (const sent of [...ofLayer.seen, ...ofCall.seen])
      assert.deepInclude(sent, { mode: "cors", cache: "no-store", redirect: "manual", method: "GET" })
  })

  live.each([
    ["this transport", FetchTransport.layer],
    ["Effect's client", FetchHttpClient.layer]
  ] as const)("asks for no answer that fetch keeps, for reads alone, over %s", function* ([, transport]) {
    const caching = fetching(() => Promise.resolve(Response.json(balance)))
    const payments = paymentsOn(Layer.provide(transport, caching.fetch))
    yield* Effect.provide(Effect.all([read, Effect.ignore(pay)]), [payments, caching.fetch, quiet, once])
    assert.deepStrictEqual(
      caching.seen.map((init) => [init?.method, init?.cache, new Headers(init?.headers).get("cache-control")]),
      [
        ["GET", "no-store", "no-store"],
        ["POST", undefined, null]
      ]
    )
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
