/** The sandbox's page as the server writes it. What it does in a browser is in the tests of the panel. */
import { assert, describe } from "@effect/vitest"
import { Fault, Sandbox, SandboxOptions } from "effect-pix/sandbox"
import { Effect, Layer } from "effect"
import { live } from "../support/effect.ts"

const served = (options: SandboxOptions = {}) =>
  Layer.provide(Layer.fresh(Sandbox.layerServer), Layer.succeed(SandboxOptions, options))

const credentials = {
  "content-type": "application/json",
  accept: "application/json",
  "x-client-id": "sandbox-client",
  "x-api-key": "sandbox-key"
}

const ask = (path: string, init?: RequestInit) =>
  Effect.flatMap(Sandbox, ({ baseUrl }) => Effect.promise(() => fetch(`${baseUrl}${path}`, init)))

const pageOf = (path: string, headers: Record<string, string> = {}) =>
  Effect.flatMap(ask(path, { headers }), (answer) => Effect.promise(() => answer.text()))

const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  ask(path, { method: "POST", headers: { ...credentials, ...headers }, body: JSON.stringify(body) })

const attack = `"'><img/src=x/onerror=alert(1)>&lt;`
const escaped = "&quot;&#39;&gt;&lt;img/src=x/onerror=alert(1)&gt;&amp;lt;"

describe("the sandbox's page", () => {
  live(
    "whatever a caller or an address says is text on it, and never markup",
    served({ balance: 100_000 }),
    function* () {
      const sandbox = yield* Sandbox
      yield* sandbox.subscribe("http://127.0.0.1:9/'><script>")
      const customer = { name: attack, email: "maria@example.com", externalRef: attack }
      const charge = { amount: 2500, currency: "BRL", paymentMethod: "PIX", customer }
      const made = yield* post("/api/v1/transactions/create", charge, { "idempotency-key": attack, "x-odd": attack })
      const payout = { amount: 5000, currency: "BRL", description: attack }
      const paid = yield* post("/api/Withdraw/request", payout, { "idempotency-key": attack })
      assert.deepStrictEqual([made.status, paid.status], [200, 201])
      yield* ask(`/api/${encodeURIComponent(attack)}?${attack}`)
      yield* sandbox.sendWebhook({ event: attack, [attack]: attack })
      yield* sandbox.awaitWebhooks
      yield* sandbox.fault("any", Fault.answer(200, { body: attack, headers: { "x-odd": attack } }))
      const odd = encodeURIComponent(attack)
      for (const [path, isThere] of [
        ["/?open=1", true],
        ["/?tab=withdrawals&open=1", true],
        ["/?tab=requests&open=1", true],
        ["/?tab=requests&open=2", true],
        ["/?tab=requests&open=3", false],
        ["/?tab=webhooks&open=1", false],
        ["/?tab=faults", false],
        [`/?search=${odd}&status=${odd}&open=${odd}&page=${odd}&tab=${odd}&lang=${odd}`, true]
      ] as const) {
        const page = yield* pageOf(path)
        assert.notInclude(page, "<img/src", path)
        assert.notInclude(page, "'><", path)
        if (isThere) assert.include(page, escaped, path)
      }
    }
  )

  live("a browser that has the page gets 304, until something changes", served(), function* () {
    const sandbox = yield* Sandbox
    const etag = (yield* ask("/")).headers.get("etag") ?? ""
    const again = yield* ask("/", { headers: { "if-none-match": etag } })
    yield* sandbox.credit(1)
    const changed = yield* ask("/", { headers: { "if-none-match": etag } })
    // The times on the page are renewed every fifteen seconds, perhaps between the two.
    assert.include([200, 304], again.status)
    assert.strictEqual(changed.status, 200)
  })

  live(
    "each fault of its form is planned as the fault of that name, and listed under its name",
    served(),
    function* () {
      const sandbox = yield* Sandbox
      const order = { operation: "getBalance", times: 2, seconds: 5, status: 418, message: "não" }
      for (const [fault, planned, name] of [
        ["resetAfter", Fault.resetAfter, "resetAfter"],
        ["resetBefore", Fault.resetBefore, "resetBefore"],
        ["silence", Fault.silence(), "silence"],
        ["truncated", Fault.truncated, "truncated"],
        ["latency", Fault.latency("5 seconds"), "latency"],
        ["refusal", Fault.refusal(418, "não"), "answer 418"],
        ["answer", Fault.answer(418, { body: "não" }), "answer 418"],
        ["html", Fault.html(418), "answer 418"],
        ["empty", Fault.empty(418), "answer 418"],
        ["retryAfter", Fault.retryAfter("5 seconds", { status: 418 }), "answer 418"],
        ["redirect", Fault.redirect("https://elsewhere.example/", 418), "answer 418"],
        ["forgetKey", Fault.forgetKey, "forgetKey"]
      ] as const) {
        assert.strictEqual((yield* post("/panel/fault", { ...order, fault })).status, 200, fault)
        assert.deepStrictEqual((yield* sandbox.overview).faults, [{ operation: "getBalance", fault: planned, left: 2 }])
        assert.include(yield* pageOf("/?tab=faults&lang=en"), `<strong>${name}</strong> · getBalance`)
        yield* sandbox.clearFaults
      }
      yield* post("/panel/fault", { operation: "any", fault: "refusal", times: 1, seconds: 0 })
      const [first] = (yield* sandbox.overview).faults
      assert.deepStrictEqual(first?.fault, Fault.refusal(503, "Serviço indisponível."))
      yield* sandbox.clearFaults
      yield* sandbox.fault("any", [Fault.none, Fault.refuse])
      const page = yield* pageOf("/?tab=faults&lang=pt")
      for (const name of ["none", "refuse"]) assert.include(page, `<strong>${name}</strong> · any`)
    }
  )

  live("a list has pages of a hundred rows, and says what fits a search or a status", served(), function* () {
    const sandbox = yield* Sandbox
    for (let row = 1; row <= 101; row++) yield* sandbox.charge(100 + row)
    const [last] = (yield* sandbox.transactions).slice(-1)
    yield* sandbox.markPaid(last?.transactionId ?? "")
    const first = yield* pageOf("/?lang=en")
    const second = yield* pageOf("/?lang=en&page=2")
    assert.include(first, "1–100 of 101")
    assert.include(second, "101–101 of 101")
    assert.deepStrictEqual([first.includes("Older"), first.includes("Newer")], [true, false])
    assert.deepStrictEqual([second.includes("Older"), second.includes("Newer")], [false, true])
    assert.include(yield* pageOf("/?lang=en&status=Paid"), "1 of 1")
    assert.include(yield* pageOf("/?lang=en&status=Refunded"), "Refunded 0")
    const none = yield* pageOf("/?lang=en&search=nobody")
    assert.notInclude(none, "Maria Silva")
    assert.notStrictEqual(none, yield* pageOf("/?lang=en&tab=withdrawals"))
  })

  live("the timeline of a charge has every state that it had, in their order", served(), function* () {
    const sandbox = yield* Sandbox
    const { transactionId } = yield* sandbox.charge(2500)
    yield* sandbox.markPaid(transactionId, { late: true })
    yield* sandbox.refund(transactionId)
    const [, timeline = ""] = (yield* pageOf("/?open=1&lang=en")).split('class="timeline"')
    assert.deepStrictEqual(timeline.match(/Created|Cancelled|Paid|Refunded/g)?.slice(0, 4), [
      "Created",
      "Cancelled",
      "Paid",
      "Refunded"
    ])
  })

  live("its language is that of the address, else that of the browser", served(), function* () {
    const pt = { "accept-language": "pt-BR,pt;q=0.9,en;q=0.8" }
    assert.include(yield* pageOf("/", pt), '<html lang="pt-BR">')
    assert.include(yield* pageOf("/?lang=en", pt), '<html lang="en">')
    assert.include(yield* pageOf("/", { "accept-language": "en;q=1, pt;q=0.5" }), '<html lang="en">')
  })

  live("its form of a fault takes what fits from its own page, by POST alone", served(), function* () {
    const sandbox = yield* Sandbox
    const order = { operation: "any", fault: "resetAfter", times: 1, seconds: 5 }
    const statuses = [
      (yield* post("/panel/fault", { ...order, fault: "nothing" })).status,
      (yield* post("/panel/fault", order, { origin: "http://evil.example" })).status,
      (yield* post("/panel/fault", order, { "sec-fetch-site": "cross-site" })).status,
      (yield* ask("/panel/fault")).status
    ]
    assert.deepStrictEqual(statuses, [400, 403, 403, 404])
    assert.notInclude(yield* pageOf("/"), "Faults are planned")
    assert.strictEqual((yield* post("/panel/fault", order)).status, 200)
    assert.include(yield* pageOf("/"), "Faults are planned")
    yield* sandbox.clearFaults
  })
})
