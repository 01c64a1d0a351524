/** The faults of the sandbox: what each does to a request, in memory as over a socket (`Sandbox.layerServer`). */
import { assert, describe } from "@effect/vitest"
import { Cause, Clock, Effect, Exit, Fiber, Logger, Option, Predicate, Tracer } from "effect"
import { HttpClientError } from "effect/http"
import { TestClock } from "effect/testing"
import { Payments } from "effect-pix"
import { Fault, Sandbox } from "effect-pix/sandbox"
import { effect, live } from "../support/effect.ts"
import { listTransactions } from "../support/operations.ts"
import { ask, keyed, memory, paying, socket } from "./doors.ts"

const rich = { balance: 100_000 }
const pay = ask(paying({}, keyed("k")))
const list = ask({ path: listTransactions.path })
const plan = (...faults: ReadonlyArray<Fault.Fault>) =>
  Effect.flatMap(Sandbox, ({ fault }) => fault("requestWithdrawal", faults))
const payouts = Effect.flatMap(Sandbox, ({ withdrawals }) => Effect.map(withdrawals, ({ length }) => length))
const arrived = Effect.flatMap(Sandbox, ({ requests }) => Effect.map(requests, ({ length }) => length))
const statusOf = Effect.map(list, ({ status }) => status)

/** How a request ended: its status, headers and body, or its error with the code deepest in the causes. */
const endOf = (request: typeof pay) =>
  Effect.match(request, {
    onFailure: (error) => {
      assert.instanceOf(error, HttpClientError.HttpClientError)
      let cause: unknown = error.reason.cause
      while (Predicate.hasProperty(cause, "cause") && cause.cause !== undefined) cause = cause.cause
      return `${error.reason._tag} ${Predicate.hasProperty(cause, "code") ? String(cause.code) : ""}`
    },
    onSuccess: ({ headers, status, text }) =>
      [status, headers["content-type"], headers["location"], headers["retry-after"], text].join(" ").trim()
  })

const elsewhere = "https://elsewhere.example/"
const page = /^text\/html; charset=utf-8 {3}<!doctype html>.*<\/html>/s
const json = (status: number, message: string) => `application/json   {"message":"${message}","status":${status}}`

const rows: ReadonlyArray<[name: string, fault: Fault.Fault, executed: 0 | 1, end: string, rest?: RegExp | string]> = [
  ["none", Fault.none, 1, "201", /^application\/json {3}\{"id":1,.*"value":10.*\}$/],
  ["resetBefore", Fault.resetBefore, 0, "TransportError ECONNRESET"],
  ["resetAfter", Fault.resetAfter, 1, "TransportError ECONNRESET"],
  ["truncated", Fault.truncated, 1, "DecodeError UND_ERR_SOCKET"],
  ["answer", Fault.answer(418, { body: "não", headers: { "content-type": "text/x" } }), 0, "418", "text/x   não"],
  ["answer, executed", Fault.answer(500, { executed: true }), 1, "500"],
  ["refusal", Fault.refusal(503, "Em manutenção"), 0, "503", json(503, "Em manutenção")],
  ["refusal, executed", Fault.refusal(500, "Erro", { executed: true }), 1, "500", json(500, "Erro")],
  ["html", Fault.html(), 0, "200", page],
  ["html, executed", Fault.html(502, { executed: true }), 1, "502", page],
  ["empty", Fault.empty(), 1, "200"],
  ["empty with 204", Fault.empty(204), 1, "204"],
  [
    "retryAfter",
    Fault.retryAfter("90 seconds"),
    0,
    "429",
    /^application\/json {2}90 \{"message":"Limite .*","status":429\}$/
  ],
  [
    "retryAfter with 503",
    Fault.retryAfter("1500 millis", { status: 503 }),
    0,
    "503",
    /^application\/json {2}2 \{.*"status":503\}$/
  ],
  ["redirect", Fault.redirect(elsewhere), 0, "307", elsewhere],
  ["redirect with 302", Fault.redirect(elsewhere, 302), 0, "302", elsewhere],
  ["forgetKey", Fault.forgetKey, 1, "201", /^application\/json {3}\{"id":1,/]
]

describe.each([
  ["in memory", memory],
  ["over a socket", socket]
])("%s", (where, door) => {
  const titled = rows.map((row) => [row[0], row[2] === 1 ? "executed" : "not executed", row[3], row] as const)

  effect.each(titled)("a payout that meets %s is %s, and ends with %s", door(rich), function* ([, , , row]) {
    const [, fault, executed, end, rest = ""] = row
    yield* plan(fault)
    const ended = yield* endOf(pay)
    assert.strictEqual(ended.slice(0, end.length), end)
    const more = ended.slice(end.length).trim()
    if (typeof rest === "string") assert.strictEqual(more, rest)
    else assert.match(more, rest)
    assert.strictEqual(yield* payouts, executed)
    assert.strictEqual((yield* pay).status, 201)
    assert.strictEqual(yield* payouts, 1)
    const [first, second] = yield* (yield* Sandbox).requests
    assert.deepStrictEqual(first?.fault, fault === Fault.none ? undefined : fault)
    assert.isUndefined(second?.fault)
  })

  effect("a payout that meets silence has no answer, also after a minute", door(rich), function* () {
    yield* plan(Fault.silence(), Fault.silence({ executed: true }))
    for (const executed of [0, 1]) {
      const fiber = yield* Effect.forkChild(pay, { startImmediately: true })
      yield* Effect.repeat(arrived, { until: (count) => count === 2 * executed + 1 })
      assert.strictEqual(yield* statusOf, 200)
      yield* TestClock.adjust("1 minute")
      assert.isUndefined(fiber.pollUnsafe())
      assert.strictEqual(yield* payouts, executed)
    }
  })

  effect("a payout under a forgotten key is executed again", door(rich), function* () {
    yield* plan(Fault.resetAfter, Fault.forgetKey)
    yield* Effect.flip(pay)
    assert.strictEqual((yield* pay).json.id, 2)
    assert.strictEqual(yield* payouts, 2)
  })

  // On a socket the panel stays reachable on the same port, so connections are reset.
  const [refusal, connections] =
    where === "in memory" ? ["TransportError ECONNREFUSED", 0] : ["TransportError ECONNRESET", 1]

  effect("a payout whose connection is refused is not executed", door(rich), function* () {
    yield* plan(Fault.refuse)
    assert.strictEqual(yield* endOf(pay), refusal)
    assert.deepStrictEqual([yield* payouts, yield* arrived], [0, connections])
    assert.strictEqual((yield* pay).status, 201)
  })

  effect("a payout breaks and is not recorded until the last offline ends", door(rich), function* () {
    const { offline, overview } = yield* Sandbox
    const broken = endOf(pay)
    assert.strictEqual(yield* offline(Effect.andThen(offline(broken), broken)), refusal)
    assert.strictEqual((yield* overview).offline, false)
    assert.strictEqual((yield* pay).status, 201)
    assert.strictEqual(yield* arrived, 1)
  })
})

describe("a planned fault", () => {
  effect("planned faults meet one request of their operation each, in order", memory(rich), function* () {
    const sandbox = yield* Sandbox
    yield* sandbox.fault("listTransactions", [Fault.answer(500), Fault.none, Fault.answer(502)])
    assert.strictEqual((yield* pay).status, 201)
    assert.deepStrictEqual(yield* Effect.replicateEffect(statusOf, 4), [500, 200, 502, 200])
  })

  effect("a planned fault meets as many requests as `times` says, and can be removed", memory(), function* () {
    const sandbox = yield* Sandbox
    yield* sandbox.fault("listTransactions", Fault.answer(500), { times: 3 })
    assert.deepStrictEqual(yield* Effect.replicateEffect(statusOf, 2), [500, 500])
    const planned = { operation: "listTransactions", fault: Fault.answer(500), left: 1 } as const
    assert.deepStrictEqual((yield* sandbox.overview).faults, [planned])
    assert.deepStrictEqual(yield* Effect.replicateEffect(statusOf, 2), [500, 200])
    yield* sandbox.fault("listTransactions", Fault.answer(500), { times: Infinity })
    assert.deepStrictEqual(yield* Effect.replicateEffect(statusOf, 3), [500, 500, 500])
    yield* sandbox.clearFaults
    assert.strictEqual(yield* statusOf, 200)
    assert.deepStrictEqual((yield* sandbox.overview).faults, [])
  })

  effect("a fault for any operation is used after the faults of the operation itself", memory(rich), function* () {
    const sandbox = yield* Sandbox
    yield* sandbox.fault("any", [Fault.answer(500), Fault.refuse])
    yield* sandbox.fault("listTransactions", Fault.answer(502))
    assert.deepStrictEqual([yield* statusOf, (yield* pay).status], [502, 500])
    assert.strictEqual(yield* endOf(ask({ path: "/nowhere" })), "TransportError ECONNREFUSED")
    assert.strictEqual(yield* statusOf, 200)
  })
})

describe("latency", () => {
  effect("latency passes on the caller's clock, and then the request is executed", memory(rich), function* () {
    yield* plan(Fault.latency("10 seconds"))
    const fiber = yield* Effect.forkChild(pay)
    yield* TestClock.adjust("9999 millis")
    assert.deepStrictEqual([yield* payouts, fiber.pollUnsafe()], [0, undefined])
    yield* TestClock.adjust("1 millis")
    assert.strictEqual((yield* Fiber.join(fiber)).status, 201)
    assert.strictEqual((yield* (yield* Sandbox).withdrawals)[0]?.createdAt, "1970-01-01T00:00:10.000Z")
  })

  effect("latency can follow the execution", memory(rich), function* () {
    yield* plan(Fault.latency("10 seconds", { executed: true }))
    const fiber = yield* Effect.forkChild(pay)
    yield* TestClock.adjust("9999 millis")
    assert.deepStrictEqual([yield* payouts, fiber.pollUnsafe()], [1, undefined])
    yield* TestClock.adjust("1 millis")
    assert.strictEqual((yield* Fiber.join(fiber)).status, 201)
  })

  effect("a late payout is executed though its client gave up", memory(rich), function* () {
    yield* plan(Fault.latency("10 seconds"))
    const gaveUp = yield* Effect.forkChild(Effect.timeoutOption(pay, "5 seconds"))
    yield* TestClock.adjust("5 seconds")
    assert.isTrue(Option.isNone(yield* Fiber.join(gaveUp)))
    assert.strictEqual((yield* pay).status, 201)
    yield* TestClock.adjust("5 seconds")
    assert.deepStrictEqual([yield* payouts, yield* arrived], [1, 2])
  })
})

describe("Sandbox.patiently", () => {
  const patient = [
    [
      "logged, with the name of Sandbox.patiently, if nothing moves the clock",
      (self: Effect.Effect<unknown, unknown, Payments>) => self,
      /Sandbox\.patiently/
    ],
    ["not logged in Sandbox.patiently", Sandbox.patiently<unknown, unknown, Payments>, /^$/]
  ] as const

  effect.each(patient)(
    "a fault that waits for the test's clock is %s",
    Sandbox.layerPayments,
    function* ([, wrap, words]) {
      const lines: Array<string> = []
      const logger = Logger.make(({ message }) => lines.push(String(message)))
      yield* (yield* Sandbox).fault("getBalance", Fault.latency("1 second"))
      const asking = Effect.provide(wrap(Payments.use(({ getBalance }) => getBalance())), Logger.layer([logger]))
      const fiber = yield* Effect.forkChild(asking, { startImmediately: true })
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(fiber)
      assert.match(lines.join("\n"), words)
    }
  )

  effect("Sandbox.patiently ends a call that has no answer", Sandbox.layerPayments, function* () {
    yield* (yield* Sandbox).fault("any", Fault.silence(), { times: Infinity })
    const error = yield* Effect.flip(Sandbox.patiently(Payments.use(({ getBalance }) => getBalance())))
    assert.strictEqual(error._tag, "ServiceUnavailable")
  })

  effect("Sandbox.patiently returns the value of the effect, and fails with its error", function* () {
    assert.strictEqual(yield* Sandbox.patiently(Effect.as(Effect.sleep("3 days"), 7)), 7)
    assert.strictEqual(yield* Effect.flip(Sandbox.patiently(Effect.delay(Effect.fail("no"), "1 hour"))), "no")
  })

  effect("Sandbox.patiently moves the clock little further than the effect needs", function* () {
    yield* Sandbox.patiently(Effect.sleep("10 minutes"))
    const passed = yield* Clock.currentTimeMillis
    assert.isTrue(passed >= 600_000 && passed < 620_000, String(passed))
  })

  effect("Sandbox.patiently ends an effect that waits for nothing, and says so", function* () {
    const exit = yield* Effect.exit(Sandbox.patiently(Effect.never))
    assert.isTrue(Exit.isFailure(exit) && Cause.pretty(exit.cause).includes("waits for something that never comes"))
  })

  live("Sandbox.patiently is the effect itself under a live clock", function* () {
    assert.strictEqual(yield* Sandbox.patiently(Effect.as(Effect.sleep(1), 7)), 7)
  })
})

describe("a sandbox on a port", () => {
  effect("a sandbox on a port adds no spans of its own to the traces of a program", socket(rich), function* () {
    const kinds: Array<string> = []
    const tracer = Tracer.make({
      span: (options) => {
        kinds.push(options.kind)
        return new Tracer.NativeSpan(options)
      }
    })
    yield* Effect.withTracer(pay, tracer)
    assert.deepStrictEqual(kinds, ["client"])
  })

  effect("a sandbox on a port fails if the port is taken", socket(), function* () {
    const { baseUrl } = yield* Sandbox
    assert.match(baseUrl, /^http:\/\/127\.0\.0\.1:\d+$/)
    const second = Effect.scoped(Effect.provide(Effect.void, socket({ port: Number(new URL(baseUrl).port) })))
    assert.strictEqual((yield* Effect.flip(second))._tag, "ServeError")
  })

  // No time passes: a server that waited for the answers would never end.
  effect("a sandbox on a port ends at once, also if a client still waits for an answer", socket(rich), function* () {
    yield* plan(Fault.silence())
    yield* Effect.forkChild(pay)
    yield* Effect.repeat(arrived, { until: (count) => count === 1 })
  })
})
