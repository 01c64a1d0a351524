/** The functions of a sandbox over HTTP (`Sandbox.layerServer`): what they refuse, and what their lists find. */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { IdempotencyKey, QrCode } from "effect-pix"
import { Fault, Sandbox } from "effect-pix/sandbox"
import { effect } from "../support/effect.ts"
import { lookupPath } from "../support/operations.ts"
import { ask, charging, keyed, paying, socket } from "../support/doors.ts"

const served = socket({ balance: 10_000, webhookUrl: "http://127.0.0.1:9/hook" })
/** Calls a function by its name. A read has its input in the query. */
const steer = (name: string, body: unknown = {}) => ask({ path: `/_sandbox/${name}`, body })
const read = (name: string) => ask({ path: `/_sandbox/${name}` })
const jsonOf = (name: string) => Effect.map(read(name), ({ json }) => json)

describe("a function over HTTP", () => {
  const answer = { status: 503, headers: {}, body: "" }
  const fault = (more: object, rest: object = {}) => ({ operation: "any", fault: { executed: true, ...more }, ...rest })
  const inputs: ReadonlyArray<readonly [what: string, name: string, input: unknown, words: string]> = [
    [
      "a field that it does not have",
      "markPaid",
      { transactionId: "a", amout: 100 },
      "markPaid: amout is no field of it."
    ],
    ["a field too few", "markPaid", {}, "markPaid: transactionId is missing."],
    ["a field of another kind", "markPaid", { transactionId: 7 }, "transactionId must be string"],
    ["an amount as a text", "credit", { amount: "elsewhere" }, "credit: amount must be number."],
    ["an array", "forgetKeys", [], "The body is no JSON object"],
    ["a clock that goes back", "advance", { seconds: -1 }, "seconds"],
    ["a clock beyond a century", "advance", { seconds: 3_153_600_001 }, "seconds"],
    ["a charge of nothing", "charge", { amount: 0 }, "amount must be from 1 to 999999999999 centavos"],
    [
      "a credit that no sum can have",
      "credit",
      { amount: Number.MAX_SAFE_INTEGER },
      "sum of the ledger would be no safe"
    ],
    ["a credit below zero", "credit", { amount: -1 }, "amount"],
    ["a target elsewhere", "subscribe", { url: "http://127.0.0.1.elsewhere/" }, "url must be a loopback address"],
    ["a file as a target", "subscribe", { url: "file:///hook" }, "url must be a loopback address"],
    ["no target", "subscribe", { url: "hook" }, "url must be a loopback address"],
    ["a fault of an unknown operation", "fault", { ...fault({}), operation: "nothing" }, "operation must be "],
    ["a fault of an unknown name", "fault", { operation: "any", fault: "elsewhere" }, "fault must be "],
    [
      "a field that a fault does not take",
      "fault",
      { operation: "any", fault: "tooSoon", status: 418 },
      "takes no status"
    ],
    ["a field of a fault without a name", "fault", fault({}, { seconds: 1 }), "takes no seconds"],
    ["a status of nobody for a fault", "fault", { operation: "any", fault: "html", status: 99 }, "status"],
    ["a fault for half a request", "fault", fault({}, { times: 1.5 }), "times"],
    ["a fault for no request", "fault", fault({}, { times: 0 }), "times"],
    ["an unknown ending", "fault", fault({ ending: "Nonsense" }), "ending"],
    ["a fault with another field", "fault", fault({ drip: true }), "fault.drip is no field of it"],
    ["a status of nobody", "fault", fault({ answer: { ...answer, status: 99 } }), "status"],
    ["a header's name with a space", "fault", fault({ answer: { ...answer, headers: { "a b": "" } } }), "fault"],
    ["a header with a line break", "fault", fault({ answer: { ...answer, headers: { a: "é\n" } } }), "fault"]
  ]

  effect.each(inputs)("%s is refused by its name, and changes nothing", served, function* ([, name, input, words]) {
    yield* steer("charge", { amount: 2500 })
    const before = yield* jsonOf("overview")
    const { json, status } = yield* steer(name, input)
    assert.deepStrictEqual([status, json.status], [400, 400])
    assert.include(json.message, words)
    assert.notMatch(json.message, /elsewhere|Nonsense/)
    assert.deepStrictEqual({ ...(yield* jsonOf("overview")), sequence: 0 }, { ...before, sequence: 0 })
  })

  effect("a payment that no sum can have leaves its charge awaited", served, function* () {
    const { transactionId } = yield* (yield* Sandbox).charge(100)
    assert.strictEqual((yield* steer("markPaid", { transactionId, amount: Number.MAX_SAFE_INTEGER })).status, 400)
    assert.strictEqual((yield* jsonOf(`transaction?transactionId=${transactionId}`)).status, "Awaiting")
  })

  effect("a step that the ledger cannot take is answered with its error: 404 or 409", served, function* () {
    const { transactionId: id } = yield* (yield* Sandbox).charge(100)
    const { json, status } = yield* steer("refund", { transactionId: id })
    const message = `The sandbox's transaction ${id} is Awaiting and cannot become Refunded.`
    const error = { _tag: "SandboxConflict", subject: "transaction", id, status: "Awaiting", asked: "Refunded" }
    assert.deepStrictEqual([status, json], [409, { ...error, message }])
    for (const missing of [yield* read("transaction?transactionId=x"), yield* steer("resendWebhook", { id: 99 })])
      assert.deepStrictEqual([missing.status, missing.json._tag], [404, "SandboxNotFound"])
  })

  effect("an unknown function is answered with 404, and an unknown field with 400", served, function* () {
    for (const { json, status } of [yield* read("nothing"), yield* read("markPaid"), yield* steer("overview")])
      assert.deepStrictEqual([status, json.message.includes("docs/sandbox.md")], [404, true])
    for (const query of ["serach=a", "limit=-1", "limit=1.5", "offset=x"]) {
      const { json, status } = yield* read(`transactions?${query}`)
      assert.deepStrictEqual([status, json.message.includes(query.split("=")[0])], [400, true], query)
    }
  })

  effect("the changes after a number are listed, the last of them, and none if nothing changed", served, function* () {
    const { sequence } = yield* jsonOf("overview")
    assert.deepStrictEqual(yield* jsonOf(`changes?since=${sequence}`), { sequence, changes: [] })
    const { transactionId } = yield* (yield* Sandbox).charge(100)
    yield* steer("cancel", { transactionId })
    const { changes, sequence: last } = yield* jsonOf(`changes?since=${sequence}`)
    const [made, cancelled, webhook] = changes
    assert.deepStrictEqual([made.transaction.status, cancelled.transaction.status], ["Awaiting", "Cancelled"])
    assert.strictEqual(webhook.webhook.transactionId, transactionId)
    assert.strictEqual((yield* jsonOf(`changes?since=${sequence}&limit=1`)).changes[0].sequence, last)
    assert.strictEqual((yield* jsonOf(`changes?since=${last + 9}`)).changes.at(-1).sequence, last)
  })
})

const given = { seconds: 3, status: 418, message: "não" }
const byName: ReadonlyArray<readonly [name: string, fields: ReadonlyArray<keyof typeof given>, planned: Fault.Fault]> =
  [
    ["resetAfter", [], Fault.resetAfter],
    ["resetBefore", [], Fault.resetBefore],
    ["silence", [], Fault.silence()],
    ["truncated", [], Fault.truncated],
    ["latency", ["seconds"], Fault.latency("3 seconds")],
    ["refusal", ["status", "message"], Fault.refusal(418, "não")],
    ["answer", ["status", "message"], Fault.answer(418, { body: "não" })],
    ["html", ["status"], Fault.html(418)],
    ["empty", ["status"], Fault.empty(418)],
    ["retryAfter", ["seconds", "status"], Fault.retryAfter("3 seconds", { status: 418 })],
    ["tooSoon", [], Fault.tooSoon],
    ["dailyLimit", [], Fault.dailyLimit],
    ["nightLimit", [], Fault.nightLimit],
    ["keyLimit", [], Fault.keyLimit],
    ["blocked", [], Fault.blocked],
    ["ownWords", ["message"], Fault.ownWords("não")],
    ["redirect", ["status"], Fault.redirect("https://elsewhere.example/", 418)],
    ["forgetKey", [], Fault.forgetKey],
    ["failure", ["message"], Fault.failure("não")],
    ["brcode", [], Fault.brcode],
    ["qrcode", [], Fault.qrcode],
    ["localTimes", [], Fault.localTimes],
    ["falseZ", [], Fault.falseZ]
  ]
effect("a fault is planned by its name, with the fields that it takes or their defaults", served, function* () {
  const { clearFaults, overview } = yield* Sandbox
  const names = yield* jsonOf("faults")
  assert.deepStrictEqual(
    names.map((one: { name: string; fields: object }) => [one.name, Object.keys(one.fields).toSorted()]),
    byName.map(([name, fields]) => [name, fields.toSorted()])
  )
  for (const [fault, fields, planned] of byName) {
    const named = Object.fromEntries(fields.map((field) => [field, given[field]]))
    assert.strictEqual((yield* steer("fault", { operation: "getBalance", fault, times: 2, ...named })).status, 200)
    assert.deepStrictEqual((yield* overview).faults, [{ operation: "getBalance", fault: planned, left: 2 }], fault)
    yield* clearFaults
  }
  yield* steer("fault", { operation: "any", fault: "refusal" })
  assert.deepStrictEqual((yield* overview).faults[0]?.fault, Fault.refusal(503, "Serviço indisponível."))
})

effect("a timeline has the requests and webhooks of one row, oldest first, by its id or its key", served, function* () {
  const sandbox = yield* Sandbox
  yield* sandbox.fault("requestWithdrawal", Fault.resetBefore)
  const pay = ask(paying({}, keyed("payout_1")))
  yield* Effect.andThen(Effect.flip(pay), pay)
  const { id } = (yield* ask(charging({}, keyed("payout_1")))).json.data
  yield* ask(charging({}, keyed("other")))
  yield* ask({ path: lookupPath(id) })
  yield* Effect.andThen(sandbox.markPaid(id), sandbox.settleWithdrawal(1))
  const numbers = Effect.fnUntraced(function* (query: string) {
    const { requests, webhooks } = yield* jsonOf(`timeline?${query}`)
    return [requests, webhooks].map((rows: ReadonlyArray<{ id: number }>) => rows.map((row) => row.id))
  })
  assert.deepStrictEqual(yield* numbers("withdrawalId=1"), [[1, 2], [2]])
  assert.deepStrictEqual(yield* numbers(`transactionId=${id}`), [[3, 5], [1]])
  for (const query of ["", "withdrawalId=2", "transactionId=1"])
    assert.strictEqual((yield* read(`timeline?${query}`)).status, 404)
})

effect("the picture of a charge's QR code is an SVG, and that of no charge a 404", served, function* () {
  const { qrcode = "", transactionId } = yield* (yield* Sandbox).charge(100)
  const { headers, text } = yield* read(`qrcode.svg?transactionId=${transactionId}`)
  assert.deepStrictEqual([headers["content-type"], text], ["image/svg+xml", QrCode.svg(qrcode)])
  assert.strictEqual((yield* read("qrcode.svg?transactionId=x")).status, 404)
})

effect("a payout that the gateway refuses is refused in both languages, for the page", served, function* () {
  const { json } = yield* steer("withdraw", { amount: 999 })
  assert.deepStrictEqual(json, {
    message: "A payout is of R$ 10,00 (1000 centavos) at least.",
    portuguese: "O valor mínimo de saque é de R$ 10,00 (1000 centavos).",
    status: 400
  })
})

describe("a list over HTTP", () => {
  effect("a list has the newest that fit a search, and counts them by their status", served, function* () {
    const sandbox = yield* Sandbox
    for (const name of ["Ana", "Bruno", "Ana Lúcia"]) yield* sandbox.charge(1050, name)
    yield* sandbox.markPaid((yield* sandbox.transactions)[0]?.transactionId ?? "")
    const page = Effect.fnUntraced(function* (query: string) {
      const { counts, items, total } = yield* jsonOf(`transactions?${query}`)
      return [total, items.map((row: { customer: { name: string } }) => row.customer.name), counts]
    })
    const anas = { Awaiting: 1, Paid: 1 }
    assert.deepStrictEqual(yield* page("search=%20ANA&limit=1"), [2, ["Ana Lúcia"], anas])
    assert.deepStrictEqual(yield* page("search=ana&status=Paid"), [1, ["Ana"], anas])
    assert.deepStrictEqual((yield* page("offset=1&limit=1")).slice(0, 2), [3, ["Bruno"]])
    assert.deepStrictEqual((yield* page("offset=2&limit=9")).slice(0, 2), [3, ["Ana"]])
    assert.deepStrictEqual((yield* page("offset=3")).slice(0, 2), [3, []])
    assert.deepStrictEqual((yield* page("row=1&limit=2")).slice(0, 2), [3, ["Ana"]])
    assert.deepStrictEqual((yield* page("row=2&limit=2&offset=2")).slice(0, 2), [3, ["Ana Lúcia", "Bruno"]])
    assert.deepStrictEqual((yield* page("row=2&search=ana&limit=1")).slice(0, 2), [2, ["Ana Lúcia"]])
    assert.strictEqual((yield* jsonOf("transactions?row=1&limit=2")).offset, 2)
    assert.deepStrictEqual(yield* page("status=Refunded"), [0, [], { Awaiting: 2, Paid: 1 }])
  })

  effect("each list is searched by what its rows show", served, function* () {
    const { data } = (yield* ask(
      charging({ customer: { name: "Ana", email: "ana@example.com", externalRef: "ext-9" } }, keyed("order-1"))
    )).json
    yield* ask(paying({ amount: 1050, pixKey: "ana@example.com", description: "the rent" }, keyed("wd_rent")))
    yield* steer("sendWebhook", { json: { hello: "world" } })
    const words = {
      transactions: [data.id, "order-1", "awaiting", "ana", "ana@example.com", "ext-9", "25.00", "25,00", "#1"],
      withdrawals: ["wd_rent", "awaiting", "ana@example.com", "10.50", "10,50", "#1"],
      requests: ["withdraw/request", "requestWithdrawal", "wd_rent", "201", "the rent", data.id, "#2"],
      webhooks: ["127.0.0.1:9", "pending", "world", "#1"]
    }
    for (const [name, searched] of Object.entries(words)) {
      for (const word of searched)
        assert.strictEqual((yield* jsonOf(`${name}?search=${encodeURIComponent(word)}`)).total, 1, word)
      assert.strictEqual((yield* jsonOf(`${name}?search=nothing`)).total, 0)
    }
  })

  effect("a charge, a payout and its requests are found by the reference of their key", served, function* () {
    const found = (name: string, reference: string) =>
      Effect.map(jsonOf(`${name}?search=${encodeURIComponent(reference)}`), ({ items }) =>
        items.map((row: { idempotencyKey: string }) => row.idempotencyKey.split("_")[0])
      )
    for (const [kind, reference] of [
      ["payout", "Invoice-2"],
      ["payout", "invoice-2"],
      ["payout-account", "padaria/invoice-2"]
    ] as const)
      yield* ask(paying({}, keyed(IdempotencyKey.fromReference(kind, reference))))
    yield* ask(charging({}, keyed(IdempotencyKey.fromReference("charge", "invoice-2"))))
    assert.deepStrictEqual(yield* found("withdrawals", " invoice-2 "), ["payout"])
    assert.deepStrictEqual(yield* found("withdrawals", "padaria/invoice-2"), ["payout-account"])
    assert.deepStrictEqual(yield* found("transactions", "invoice-2"), ["charge"])
    assert.deepStrictEqual(yield* found("requests", "invoice-2"), ["charge", "payout"])
    assert.deepStrictEqual(yield* found("withdrawals", "invoice"), [])
  })
})
