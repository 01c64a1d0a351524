import { assert, describe, it } from "@effect/vitest"
import { Credentials, IdempotencyKeyGen, Money, Payments } from "effect-pix"
import { Fault, Sandbox, SandboxOptions } from "effect-pix/sandbox"
import { Cause, Effect, Exit, Fiber, Layer, Option, Predicate, Tracer } from "effect"
import { FetchHttpClient, HttpClient, HttpClientError, HttpClientRequest } from "effect/http"
import { TestClock } from "effect/testing"
import { listTransactions, requestWithdrawal, withdrawalBody } from "../support/operations.ts"
import { effect, live } from "../support/effect.ts"

const auth = { "x-client-id": "sandbox-client", "x-api-key": "sandbox-key", accept: "application/json" }

const options = Layer.succeed(SandboxOptions, { balance: 100_000 })
const memory = Layer.provide(Sandbox.layer, options)
const socket = Layer.mergeAll(Layer.provide(Sandbox.layerServer, options), FetchHttpClient.layer).pipe(
  Layer.provideMerge(Layer.succeed(FetchHttpClient.RequestInit, { redirect: "manual" }))
)

const send = (request: HttpClientRequest.HttpClientRequest) =>
  Effect.flatMap(Sandbox, ({ baseUrl }) =>
    HttpClient.execute(HttpClientRequest.prependUrl(request, baseUrl).pipe(HttpClientRequest.setHeaders(auth)))
  )

const withdraw = (key: string) =>
  send(
    HttpClientRequest.post(requestWithdrawal.path).pipe(
      HttpClientRequest.setHeader("idempotency-key", key),
      HttpClientRequest.bodyJsonUnsafe(withdrawalBody)
    )
  )

const whole = (key: string) =>
  Effect.flatMap(withdraw(key), (response) =>
    Effect.map(response.text, (text) => ({ status: response.status, headers: response.headers, text }))
  )

/** How a request failed: the error's reason, and the code or name deepest in its cause. */
const howItFailed = (error: HttpClientError.HttpClientError) => {
  let cause: unknown = error.reason.cause
  while (Predicate.hasProperty(cause, "cause") && cause.cause !== undefined) cause = cause.cause
  return { reason: error.reason._tag, code: Predicate.hasProperty(cause, "code") ? cause.code : undefined }
}

const plan = (...faults: ReadonlyArray<Fault.Fault>) =>
  Effect.flatMap(Sandbox, (sandbox) => sandbox.fault("requestWithdrawal", faults))

const payouts = Effect.flatMap(Sandbox, ({ withdrawals }) => Effect.map(withdrawals, ({ length }) => length))
const arrived = Effect.flatMap(Sandbox, ({ requests }) => Effect.map(requests, ({ length }) => length))

const transports: ReadonlyArray<[string, Layer.Layer<Sandbox | HttpClient.HttpClient, unknown>]> = [
  ["memory", memory],
  ["a socket", socket]
]

/** Whether nothing more came within a moment, on the live clock. */
const hangs = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.timeoutOption(effect, "150 millis"), Option.isNone)

describe.each(transports)("over %s", (name, transport) => {
  const live = (name: string, effect: Effect.Effect<void, unknown, Sandbox | HttpClient.HttpClient>) =>
    it.live(name, () => Effect.provide(effect, transport))

  live(
    "a request without a fault is answered",
    Effect.gen(function* () {
      yield* plan(Fault.none)
      const { headers, status, text } = yield* whole("k")
      assert.strictEqual(status, 201)
      assert.strictEqual(headers["content-type"], "application/json")
      assert.deepInclude(JSON.parse(text), { id: 1, value: 10, idempotencyKey: "k" })
      const [request] = yield* (yield* Sandbox).requests
      assert.isUndefined(request?.fault)
      assert.strictEqual(request?.origin, (yield* Sandbox).baseUrl)
    })
  )

  const dropped: ReadonlyArray<[string, Fault.Fault, "TransportError" | "DecodeError", string, number]> = [
    ["resetBefore", Fault.resetBefore, "TransportError", "ECONNRESET", 0],
    ["resetAfter", Fault.resetAfter, "TransportError", "ECONNRESET", 1],
    ["truncated", Fault.truncated, "DecodeError", "UND_ERR_SOCKET", 1]
  ]
  for (const [name, fault, reason, code, executed] of dropped) {
    live(
      `${name} fails as ${reason} with ${code}, ${executed === 1 ? "executed" : "not executed"}`,
      Effect.gen(function* () {
        yield* plan(fault)
        const error = yield* Effect.flip(whole("k"))
        assert.instanceOf(error, HttpClientError.HttpClientError)
        assert.deepStrictEqual(howItFailed(error), { reason, code })
        assert.strictEqual(yield* payouts, executed)
        assert.strictEqual((yield* whole("k")).status, 201)
        assert.strictEqual(yield* payouts, 1)
        assert.strictEqual(yield* arrived, 2)
      })
    )
  }

  const answered: ReadonlyArray<[string, Fault.Fault, number, string | undefined, RegExp, number]> = [
    ["html", Fault.html(), 200, "text/html; charset=utf-8", /^<!doctype html>/, 0],
    ["html of a 502", Fault.html(502), 502, "text/html; charset=utf-8", /^<!doctype html>/, 0],
    ["empty", Fault.empty(), 200, undefined, /^$/, 1],
    ["refusal", Fault.refusal(503, "Em manutenção"), 503, "application/json", /^\{"message":"Em manutenção"/, 0],
    ["an executed 500", Fault.refusal(500, "Erro", { executed: true }), 500, "application/json", /Erro/, 1],
    ["no content", Fault.empty(204), 204, undefined, /^$/, 1]
  ]
  for (const [name, fault, status, contentType, body, executed] of answered) {
    live(
      `${name} is answered as planned`,
      Effect.gen(function* () {
        yield* plan(fault)
        const answer = yield* whole("k")
        assert.strictEqual(answer.status, status)
        assert.strictEqual(answer.headers["content-type"], contentType)
        assert.match(answer.text, body)
        assert.strictEqual(yield* payouts, executed)
      })
    )
  }

  live(
    "a redirect names another host and executes nothing",
    Effect.gen(function* () {
      yield* plan(Fault.redirect("https://elsewhere.example/steal"))
      const { headers, status } = yield* whole("k")
      assert.strictEqual(status, 307)
      assert.strictEqual(headers["location"], "https://elsewhere.example/steal")
      assert.strictEqual(yield* payouts, 0)
    })
  )

  live(
    "silence leaves the client waiting, executed or not",
    Effect.gen(function* () {
      yield* plan(Fault.silence(), Fault.silence({ executed: true }))
      assert.isTrue(yield* hangs(withdraw("k")))
      assert.strictEqual(yield* payouts, 0)
      assert.isTrue(yield* hangs(withdraw("k")))
      assert.strictEqual(yield* payouts, 1)
    })
  )

  live(
    "Retry-After comes in whole seconds, with the status of the fault",
    Effect.gen(function* () {
      yield* plan(Fault.retryAfter("90 seconds"), Fault.retryAfter("1500 millis", { status: 503 }))
      const first = yield* whole("k")
      assert.deepStrictEqual([first.status, first.headers["retry-after"]], [429, "90"])
      const second = yield* whole("k")
      assert.deepStrictEqual([second.status, second.headers["retry-after"]], [503, "2"])
      assert.strictEqual(yield* payouts, 0)
    })
  )

  live(
    "a forgotten key executes twice",
    Effect.gen(function* () {
      yield* plan(Fault.resetAfter, Fault.forgetKey)
      yield* Effect.flip(withdraw("k"))
      assert.deepInclude(JSON.parse((yield* whole("k")).text), { id: 2 })
      assert.strictEqual(yield* payouts, 2)
    })
  )

  live(
    "offline breaks connections while it lasts, and records nothing",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      assert.strictEqual((yield* whole("a")).status, 201)
      const error = yield* sandbox.offline(Effect.flip(whole("b")))
      assert.instanceOf(error, HttpClientError.HttpClientError)
      // On a socket the panel stays up on the same port, so connections are reset.
      const code = name === "memory" ? "ECONNREFUSED" : "ECONNRESET"
      assert.deepStrictEqual(howItFailed(error), { reason: "TransportError", code })
      assert.strictEqual((yield* whole("b")).status, 201)
      assert.strictEqual(yield* arrived, 2)
    })
  )

  live(
    "offline may overlap: it ends with the last",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const refused = Effect.flip(whole("a"))
      yield* sandbox.offline(Effect.andThen(sandbox.offline(refused), refused))
      assert.strictEqual((yield* whole("a")).status, 201)
    })
  )
})

describe("planned faults", () => {
  const list = Effect.map(send(HttpClientRequest.get(listTransactions.path)), ({ status }) => status)

  effect("planned faults meet one request each, in order, and only requests of their operation", memory, function* () {
    const sandbox = yield* Sandbox
    yield* sandbox.fault("listTransactions", [Fault.answer(500), Fault.none, Fault.answer(502)])
    assert.strictEqual((yield* withdraw("k")).status, 201)
    assert.deepStrictEqual(yield* Effect.replicateEffect(list, 4), [500, 200, 502, 200])
  })

  effect("a planned fault meets as many requests as `times` says, and can be removed", memory, function* () {
    const sandbox = yield* Sandbox
    yield* sandbox.fault("listTransactions", Fault.answer(500), { times: 2 })
    assert.deepStrictEqual(yield* Effect.replicateEffect(list, 3), [500, 500, 200])
    yield* sandbox.fault("listTransactions", Fault.answer(500), { times: Infinity })
    assert.deepStrictEqual(yield* Effect.replicateEffect(list, 3), [500, 500, 500])
    yield* sandbox.clearFaults
    assert.strictEqual(yield* list, 200)
  })

  effect("a fault for any operation is used after the faults of the operation itself", memory, function* () {
    const sandbox = yield* Sandbox
    yield* sandbox.fault("any", [Fault.answer(500), Fault.refuse])
    yield* sandbox.fault("listTransactions", Fault.answer(502))
    assert.strictEqual(yield* list, 502)
    assert.strictEqual((yield* withdraw("k")).status, 500)
    const error = yield* Effect.flip(send(HttpClientRequest.get("/nowhere")))
    assert.deepStrictEqual(howItFailed(error), { reason: "TransportError", code: "ECONNREFUSED" })
    assert.strictEqual(yield* list, 200)
  })

  effect("a planned fault can refuse a connection: no request arrives", memory, function* () {
    yield* plan(Fault.refuse)
    const error = yield* Effect.flip(whole("k"))
    assert.deepStrictEqual(howItFailed(error).code, "ECONNREFUSED")
    assert.strictEqual(yield* arrived, 0)
    assert.strictEqual((yield* whole("k")).status, 201)
  })

  live("a fault that refuses in memory is a reset over a socket", socket, function* () {
    yield* plan(Fault.refuse)
    const error = yield* Effect.flip(whole("k"))
    assert.deepStrictEqual(howItFailed(error).code, "ECONNRESET")
    assert.strictEqual(yield* payouts, 0)
    assert.strictEqual(yield* arrived, 1)
  })
})

describe("latency", () => {
  effect("latency passes on the caller's clock, and then the request is executed", memory, function* () {
    yield* plan(Fault.latency("10 seconds"))
    const fiber = yield* Effect.forkChild(whole("k"))
    yield* TestClock.adjust("9999 millis")
    assert.strictEqual(yield* payouts, 0)
    assert.isUndefined(fiber.pollUnsafe())
    yield* TestClock.adjust("1 millis")
    assert.strictEqual((yield* Fiber.join(fiber)).status, 201)
    const [paid] = yield* (yield* Sandbox).withdrawals
    assert.strictEqual(paid?.createdAt, "1970-01-01T00:00:10.000Z")
  })

  effect("latency can follow the execution", memory, function* () {
    yield* plan(Fault.latency("10 seconds", { executed: true }))
    const fiber = yield* Effect.forkChild(whole("k"))
    yield* TestClock.adjust("1 second")
    assert.strictEqual(yield* payouts, 1)
    yield* TestClock.adjust("9 seconds")
    assert.strictEqual((yield* Fiber.join(fiber)).status, 201)
  })

  effect("a late payout is executed though its client gave up", memory, function* () {
    yield* plan(Fault.latency("10 seconds"))
    const gaveUp = yield* Effect.forkChild(Effect.timeoutOption(whole("k"), "5 seconds"))
    yield* TestClock.adjust("5 seconds")
    assert.isTrue(Option.isNone(yield* Fiber.join(gaveUp)))
    assert.strictEqual((yield* whole("k")).status, 201)
    yield* TestClock.adjust("5 seconds")
    assert.strictEqual(yield* payouts, 1)
    assert.strictEqual(yield* arrived, 2)
  })
})

describe("the sandbox on a port", () => {
  live("the sandbox on a port serves the client over HTTP", socket, function* () {
    const { baseUrl, companyId, credentials, requests } = yield* Sandbox
    assert.match(baseUrl, /^http:\/\/127\.0\.0\.1:\d+$/)
    const client = Payments.layer({ baseUrl, companyId }).pipe(
      Layer.provide([Credentials.layer(yield* credentials), IdempotencyKeyGen.layerSequential])
    )
    const { idempotencyKey, value } = yield* Effect.flatMap(Payments, (payments) =>
      payments.requestWithdrawal({ amount: Money.centavos(2550) })
    ).pipe(Effect.provide(client))
    assert.strictEqual(idempotencyKey, "wd_1")
    assert.strictEqual(Money.format(value), "R$ 25,50")
    const [request] = yield* requests
    assert.strictEqual(request?.headers["x-api-key"], "<redacted>")
    assert.deepStrictEqual([request?.withdrawalId, request?.idempotencyKey], [1, "wd_1"])
  })

  it.live("the sandbox on a port adds no spans of its own to the traces of a program", () => {
    const kinds: Array<string> = []
    const tracer = Tracer.make({
      span: (options) => {
        kinds.push(options.kind)
        return new Tracer.NativeSpan(options)
      }
    })
    return whole("k").pipe(
      Effect.provide(socket),
      Effect.withTracer(tracer),
      Effect.tap(() => Effect.sync(() => assert.deepStrictEqual(kinds, ["client"])))
    )
  })

  live("the sandbox on a port fails if the port is taken", socket, function* () {
    const port = Number(new URL((yield* Sandbox).baseUrl).port)
    const second = Layer.provide(Layer.fresh(Sandbox.layerServer), Layer.succeed(SandboxOptions, { port }))
    const exit = yield* Effect.exit(Effect.scoped(Layer.build(second)))
    assert.isTrue(Exit.isFailure(exit) && Option.isSome(Cause.findErrorOption(exit.cause)))
  })

  // No time passes: a server that waited for the answers would never end.
  effect("the sandbox on a port ends at once, also if a client still waits for an answer", socket, function* () {
    yield* plan(Fault.silence())
    yield* Effect.forkChild(withdraw("k"))
    yield* Effect.repeat(arrived, { until: (count) => count === 1 })
  })
})
