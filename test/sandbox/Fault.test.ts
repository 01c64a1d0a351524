/** The faults of the sandbox: what each does to a request, in memory as over a socket (`Sandbox.layerServer`). */
import { assert, describe, test } from "@effect/vitest"
import { Cause, Clock, Effect, Exit, Fiber, Logger, Option, Predicate, Tracer } from "effect"
import { HttpClientError } from "effect/http"
import { TestClock } from "effect/testing"
import { Payments } from "effect-pix"
import { Fault, Sandbox } from "effect-pix/sandbox"
import { effect, live } from "../support/effect.ts"
import { faults } from "../support/faults.ts"
import { listTransactions } from "../support/operations.ts"
import { ask, keyed, memory, paying, socket } from "../support/doors.ts"

const rich = { balance: 100_000 }
const pay = ask(paying({}, keyed("k")))
const list = ask({ path: listTransactions.path })
const plan = (...faults: ReadonlyArray<Fault.Fault>) =>
  Effect.flatMap(Sandbox, ({ fault }) => fault("requestWithdrawal", faults))
const payouts = Effect.flatMap(Sandbox, ({ withdrawals }) => Effect.map(withdrawals, ({ length }) => length))
const arrived = Effect.flatMap(Sandbox, ({ requests }) => Effect.map(requests, ({ length }) => length))
const statusOf = Effect.map(list, ({ status }) => status)

/** The error of a request, with the code deepest in its causes. */
const endOf = (request: typeof pay) =>
  Effect.map(Effect.flip(request), (error) => {
    assert.instanceOf(error, HttpClientError.HttpClientError)
    let cause: unknown = error.reason.cause
    while (Predicate.hasProperty(cause, "cause") && cause.cause !== undefined) cause = cause.cause
    return `${error.reason._tag} ${Predicate.hasProperty(cause, "code") ? String(cause.code) : ""}`
  })

const json = { "content-type": "application/json" }
const html = { "content-type": "text/html; charset=utf-8" }
/** What faults of the list are by themselves: whether a request is executed, and what its client reads. */
const said: Readonly<Record<string, readonly [executed: boolean, headers: object, words: string]>> = {
  "a 402": [false, {}, ""],
  "a 408 after the execution": [true, {}, ""],
  "an unreadable 422": [false, { "x-odd": "1" }, "\u0000<"],
  'a 422 "Saldo insuficiente"': [false, json, '{"message":"Saldo insuficiente","status":422}'],
  "a 422 about duplication": [true, json, '"status":422'],
  "an empty 200": [true, {}, ""],
  "a 429 with Retry-After": [false, { ...json, "retry-after": "60" }, "Limite de requisições excedido."],
  "a 503 with Retry-After": [false, { ...json, "retry-after": "2" }, '"status":503'],
  "a redirect with 307": [false, { location: "https://elsewhere.example/" }, ""],
  "a page with 200": [false, html, "<!doctype html>"],
  "a page with 504 after the execution": [true, html, "</html>"]
}

test.each(Object.entries(said))("the fault %s is a plain record", (name, [executed, headers, words]) => {
  const { answer, ...fault } = faults.find((row) => row.name === name)?.fault ?? Fault.none
  assert.deepStrictEqual(fault, { executed })
  assert.deepStrictEqual(answer?.headers, headers)
  assert.include(answer?.body, words)
  assert.strictEqual(answer?.body === "", words === "")
})

test("an empty answer leaves its request unexecuted where the fault says so", () => {
  assert.isFalse(Fault.empty(204, { executed: false }).executed)
})

const records = faults.filter(({ fault }) => !("reply" in fault))
const late = records.filter(({ fault }) => fault.wait !== undefined)
/** One of each shape: a number of other statuses differ in nothing else. */
const shapes = new Map(
  records
    .filter((row) => !late.includes(row))
    .map((row) => [JSON.stringify(row.fault).replace(/"status":(\d)\d\d/, "$1"), row])
)

describe.each([
  ["in memory", memory],
  ["over a socket", socket]
])("%s", (where, door) => {
  // On a socket the panel stays reachable on the same port, so connections are reset.
  const refusal = where === "in memory" ? "TransportError ECONNREFUSED" : "TransportError ECONNRESET"
  const endings = { Refused: refusal, Reset: "TransportError ECONNRESET", Truncated: "DecodeError UND_ERR_SOCKET" }

  effect.each([...shapes.values()])("$name meets one payout, and ends as the list says", door(rich), function* (row) {
    const { answer, ending } = row.fault
    yield* plan(row.fault)
    if (ending === "Silence") {
      const fiber = yield* Effect.forkChild(pay, { startImmediately: true })
      yield* Effect.repeat(arrived, { until: (count) => count === 1 })
      assert.strictEqual(yield* statusOf, 200)
      yield* TestClock.adjust("1 minute")
      assert.isUndefined(fiber.pollUnsafe())
    } else if (ending === undefined) {
      const { headers, status, text } = yield* pay
      if (answer === undefined) assert.match(`${status} ${text}`, /^201 \{"id":1,.*"value":10.*\}$/)
      else assert.deepStrictEqual([status, text], [answer.status, answer.body])
      assert.deepInclude(headers, answer?.headers ?? json)
    } else assert.strictEqual(yield* endOf(pay), endings[ending])
    assert.strictEqual(yield* payouts, row.executed === true ? 1 : 0)
    assert.strictEqual((yield* pay).status, 201)
    assert.strictEqual(yield* payouts, 1)
    const records = (yield* (yield* Sandbox).requests).filter(({ operation }) => operation === "requestWithdrawal")
    const met = records.map(({ fault, status }) => [fault, status])
    const isAnswered = ending === undefined || ending === "Truncated"
    const status = isAnswered ? (answer?.status ?? 201) : undefined
    const first = [row.fault === Fault.none ? undefined : row.fault, status]
    const isUnseen = ending === "Refused" && where === "in memory"
    assert.deepStrictEqual(met, isUnseen ? [[undefined, 201]] : [first, [undefined, 201]])
  })

  effect("a payout under a forgotten key is executed again", door(rich), function* () {
    yield* plan(Fault.resetAfter, Fault.forgetKey)
    yield* Effect.flip(pay)
    assert.strictEqual((yield* pay).json.id, 2)
    assert.strictEqual(yield* payouts, 2)
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

describe("latency", () => {
  effect.each(late)(
    "$name passes on the caller's clock, and then the payout is answered",
    memory(rich),
    function* (row) {
      const { executed, wait = 0 } = row.fault
      yield* plan(row.fault)
      const fiber = yield* Effect.forkChild(pay, { startImmediately: true })
      yield* TestClock.adjust(wait - 1)
      assert.deepStrictEqual([yield* payouts, fiber.pollUnsafe()], [executed ? 1 : 0, undefined])
      yield* TestClock.adjust(1)
      assert.strictEqual((yield* Fiber.join(fiber)).status, 201)
      const [payout] = yield* (yield* Sandbox).withdrawals
      assert.strictEqual(Date.parse(payout?.createdAt ?? ""), executed ? 0 : wait)
    }
  )

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
  const getBalance = Payments.use((payments) => payments.getBalance())
  const patient = [
    ["logged, with the name of Sandbox.patiently, if nothing moves the clock", getBalance, /Sandbox\.patiently/],
    ["not logged in Sandbox.patiently", Sandbox.patiently(getBalance), /^$/]
  ] as const

  effect.each(patient)(
    "a fault that waits for the test's clock is %s",
    Sandbox.layerPayments,
    function* ([, asking, words]) {
      const lines: Array<string> = []
      const logger = Logger.make(({ message }) => lines.push(String(message)))
      yield* (yield* Sandbox).fault("getBalance", Fault.latency("1 second"))
      const fiber = yield* Effect.forkChild(Effect.provide(asking, Logger.layer([logger])), { startImmediately: true })
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(fiber)
      assert.match(lines.join("\n"), words)
    }
  )

  effect("Sandbox.patiently ends a call that has no answer", Sandbox.layerPayments, function* () {
    yield* (yield* Sandbox).fault("any", Fault.silence(), { times: Infinity })
    assert.strictEqual((yield* Effect.flip(Sandbox.patiently(getBalance)))._tag, "ServiceUnavailable")
  })

  effect("Sandbox.patiently ends as its effect does, and moves the clock little further than it needs", function* () {
    assert.strictEqual(yield* Sandbox.patiently(Effect.as(Effect.sleep("10 minutes"), 7)), 7)
    assert.approximately(yield* Clock.currentTimeMillis, 610_000, 10_000)
    assert.strictEqual(yield* Effect.flip(Sandbox.patiently(Effect.delay(Effect.fail("no"), "3 days"))), "no")
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

  // No time passes: a server that waited for the answers would never end.
  effect("a sandbox on a port ends at once, also if a client still waits for an answer", socket(rich), function* () {
    yield* plan(Fault.silence())
    yield* Effect.forkChild(pay)
    yield* Effect.repeat(arrived, { until: (count) => count === 1 })
  })
})
