/** The functions of the sandbox: the docs' table, and one contract for a sandbox in this process and in another (`Sandbox.layerServer`). */
import { assert, describe, test } from "@effect/vitest"
import { Cause, Effect, Exit, Fiber, Option, Redacted, SchemaAST, Stream } from "effect"
import { Fault, Sandbox, SandboxConflict, SandboxNotFound } from "effect-pix/sandbox"
import { readFileSync } from "node:fs"
import { functions, type Untyped } from "../../src/sandbox/SandboxFunctions.ts"
import { effect, live } from "../support/effect.ts"
import { listTransactions, lookupPath } from "../support/operations.ts"
import { ask, charging, keyed, memory, paying, remote } from "../support/doors.ts"

const page = readFileSync(new URL("../../docs/sandbox.md", import.meta.url), "utf8")

/** What the page has to name of a function: its request, and what it takes. */
const namesOf = ([name, { input, method }]: readonly [string, Untyped]) => {
  const fields = SchemaAST.isObjects(input.ast) ? input.ast.propertySignatures : []
  const taken = fields.map((field) => `${String(field.name)}${SchemaAST.isOptional(field.type) ? "?" : ""}`)
  return `${method} ${name} ${taken.join(" ")}`.trim()
}

/** The same of a line of the page, which may name several functions that take the same: "`POST cancel`, `fail` (`transactionId`)". */
const namesOfLine = (line: string) => {
  const [, method = "", first, others = "", , taken = ""] =
    /^- `(GET|POST) (\w+)`((?:, `\w+`)*)( \(((?:`\w+\??`(?:, )?)+)\))?: /.exec(line) ?? []
  return [first, ...(others.match(/\w+/g) ?? [])].map((name) =>
    `${method} ${name} ${taken.replaceAll(/[`,]/g, "")}`.trim()
  )
}

test("the page of the sandbox names each function, with what it takes, as the table of functions does", () => {
  const lines = page.split("\n").filter((line) => /^- `(?:GET|POST) \w+`/.test(line))
  assert.sameMembers(lines.flatMap(namesOfLine), Object.entries<Untyped>(functions).map(namesOf))
})

const options = { balance: 10_000, webhookUrl: "http://127.0.0.1:9/hook" }

describe.each([
  ["in this process", memory(options)],
  ["in another process", remote(options)]
])("a sandbox %s", (_, sandboxLayer) => {
  const statusOf = Effect.map(ask({ path: listTransactions.path }), ({ status }) => status)

  effect("a sandbox has each function but those that serve its page alone", sandboxLayer, function* () {
    const sandbox = yield* Sandbox
    const missing = Object.keys(functions).filter((name) => !(name in sandbox))
    assert.deepStrictEqual(missing, ["faults", "setOffline", "transaction", "timeline"])
  })

  effect("a charge is brought into every state, once, and the balance goes along", sandboxLayer, function* () {
    const { advance, balance, cancel, charge, fail, markPaid, overview, refund, transactions } = yield* Sandbox
    const charges = yield* Effect.replicateEffect(charge(2500, "Ana Souza"), 5)
    const [paid = "", refunded = "", cancelled = "", failed = "", lapsed = ""] = charges.map((one) => one.transactionId)
    assert.deepStrictEqual(charges[0]?.customer, { name: "Ana Souza", email: "maria@example.com" })
    const sums = Effect.map(overview, (seen) => [seen.balance, seen.awaited])
    assert.deepStrictEqual(yield* sums, [10_000, 12_500])
    for (const id of [paid, paid, refunded]) assert.strictEqual((yield* markPaid(id)).status, "Paid")
    assert.deepStrictEqual(yield* sums, [15_000, 7500])
    for (const id of [refunded, refunded]) assert.strictEqual((yield* refund(id)).status, "Refunded")
    assert.strictEqual((yield* cancel(cancelled)).status, "Cancelled")
    assert.strictEqual((yield* fail(failed)).status, "Failed")
    assert.deepStrictEqual(yield* sums, [12_500, 2500])
    yield* advance("1 day")
    assert.deepStrictEqual(yield* sums, [12_500, 0])
    assert.strictEqual(yield* balance, 12_500)
    assert.deepStrictEqual(
      (yield* transactions).map(({ states }) => states.map(({ status }) => status)),
      [["Paid"], ["Paid", "Refunded"], ["Cancelled"], ["Failed"], ["Cancelled"]]
    )
    const { items } = (yield* ask({ path: `${listTransactions.path}?sort=createdAt_asc` })).json.res
    assert.deepStrictEqual(
      items.map((item: { status: string }) => item.status),
      ["PAID", "REFUNDED", "CANCELLED", "FAILED", "CANCELLED"]
    )
    const conflict = yield* Effect.flip(markPaid(lapsed))
    assert.instanceOf(conflict, SandboxConflict)
    assert.strictEqual(conflict.message, `The sandbox's transaction ${lapsed} is Cancelled and cannot become Paid.`)
    const missing = yield* Effect.flip(markPaid("nobody"))
    assert.instanceOf(missing, SandboxNotFound)
    assert.strictEqual(missing.message, "The sandbox holds no transaction nobody.")
  })

  effect("a charge is paid late, and with another amount, which all show", sandboxLayer, function* () {
    const { advance, balance, charge, markPaid, refund } = yield* Sandbox
    const { transactionId } = yield* charge(2500)
    yield* advance("25 hours")
    const paid = yield* markPaid(transactionId, { amount: 2400, late: true })
    assert.strictEqual(`${paid.status} ${paid.amount} ${paid.paid}`, "Paid 2500 2400")
    assert.strictEqual(yield* balance, 12_400)
    assert.strictEqual((yield* ask({ path: lookupPath(transactionId) })).json.value, 2400)
    assert.strictEqual((yield* ask({ path: listTransactions.path })).json.res.items[0].amount, 2400)
    yield* refund(transactionId)
    assert.strictEqual(yield* balance, 10_000)
    const early = yield* markPaid((yield* charge(100)).transactionId, { amount: 100, late: true })
    assert.deepStrictEqual([early.paid, early.states.map(({ status }) => status)], [undefined, ["Cancelled", "Paid"]])
  })

  effect("a payout is settled or rejected, once, and a rejection returns the money", sandboxLayer, function* () {
    const { balance, rejectWithdrawal, returnWithdrawal, settleWithdrawal, withdraw } = yield* Sandbox
    const made = [yield* withdraw(1000), yield* withdraw(1000, "52998224725")]
    assert.deepStrictEqual(
      made.map(({ pixKey, pixKeyType, status }) => [pixKey, pixKeyType, status]),
      [
        ["123e4567-e12b-12d1-a456-426655440000", "EVP", "Awaiting"],
        ["52998224725", undefined, "Awaiting"]
      ]
    )
    for (let times = 2; times > 0; times--) {
      assert.strictEqual((yield* settleWithdrawal(1)).status, "Settled")
      assert.strictEqual((yield* rejectWithdrawal(2)).status, "Rejected")
      assert.strictEqual(yield* balance, 9000)
    }
    assert.instanceOf(yield* Effect.flip(rejectWithdrawal(1)), SandboxConflict)
    assert.instanceOf(yield* Effect.flip(settleWithdrawal(3)), SandboxNotFound)
    assert.instanceOf(yield* Effect.flip(returnWithdrawal(2)), SandboxConflict)
    for (let times = 2; times > 0; times--) {
      assert.strictEqual((yield* returnWithdrawal(1)).status, "Returned")
      assert.strictEqual(yield* balance, 10_000)
    }
  })

  effect(
    "faults meet one request each, those of an operation first; offline lasts as its effect",
    sandboxLayer,
    function* () {
      const { clearFaults, fault, offline, overview } = yield* Sandbox
      const faults = Effect.map(overview, (seen) => seen.faults)
      yield* fault("any", Fault.answer(503), { times: 5 })
      yield* fault("any", Fault.latency("1 second"), { times: Infinity })
      yield* fault("listTransactions", [Fault.refusal(500, "Erro"), Fault.none, Fault.answer(502)])
      assert.deepStrictEqual(yield* Effect.replicateEffect(statusOf, 4), [500, 200, 502, 503])
      assert.strictEqual((yield* ask({ path: "/nowhere" })).status, 503)
      yield* fault("listTransactions", Fault.resetAfter, { times: 2 })
      assert.deepStrictEqual(yield* faults, [
        { operation: "any", fault: Fault.answer(503), left: 3 },
        { operation: "any", fault: Fault.latency("1 second"), left: Number.MAX_SAFE_INTEGER },
        { operation: "listTransactions", fault: Fault.resetAfter, left: 2 }
      ])
      yield* clearFaults
      assert.deepStrictEqual(yield* faults, [])
      const during = yield* offline(overview)
      assert.deepStrictEqual([during.offline, (yield* overview).offline, yield* statusOf], [true, false, 200])
    }
  )

  effect("webhooks are sent to the addresses that are subscribed, and again to their own", sandboxLayer, function* () {
    const { awaitWebhooks, overview, resendWebhook, sendWebhook, subscribe, unsubscribe, webhooks } = yield* Sandbox
    const other = "http://localhost:9/"
    yield* sendWebhook("first")
    for (const url of [other, other]) yield* subscribe(url)
    assert.deepStrictEqual((yield* overview).targets, [options.webhookUrl, other])
    yield* sendWebhook({ hello: "world" })
    yield* resendWebhook(1)
    yield* unsubscribe(other)
    yield* awaitWebhooks
    assert.deepStrictEqual((yield* overview).targets, [options.webhookUrl])
    const error = "the target could not be reached"
    assert.deepStrictEqual(
      (yield* webhooks).map((one) => [one.id, one.json, one.target, one.state, one.attempts[0]?.error]),
      [
        [1, "first", options.webhookUrl, "Pending", error],
        [2, { hello: "world" }, options.webhookUrl, "Pending", error],
        [3, { hello: "world" }, other, "Pending", error],
        [4, "first", options.webhookUrl, "Pending", error]
      ]
    )
    assert.instanceOf(yield* Effect.flip(resendWebhook(99)), SandboxNotFound)
  })

  effect("a reset brings credentials, keys and the clock to the beginning", sandboxLayer, function* () {
    const sandbox = yield* Sandbox
    const pay = ask(paying({}, keyed("k")))
    const write = Effect.andThen(pay, ask(charging({}, keyed("k"))))
    yield* Effect.andThen(write, Effect.andThen(sandbox.forgetKeys, write))
    assert.deepStrictEqual([(yield* sandbox.withdrawals).length, (yield* sandbox.transactions).length], [2, 2])
    assert.strictEqual(yield* sandbox.credit(100), 8100)
    yield* sandbox.advance("1 hour")
    assert.strictEqual((yield* sandbox.overview).aheadSeconds, 3600)
    const { apiKey, clientId } = yield* sandbox.rotateCredentials
    const key = Redacted.value(apiKey)
    assert.deepStrictEqual([clientId, key], ["sandbox-client", "sandbox-key-1"])
    assert.strictEqual(Redacted.value((yield* sandbox.credentials).apiKey), key)
    assert.strictEqual(yield* statusOf, 401)
    assert.strictEqual((yield* ask({ path: listTransactions.path, headers: { "x-api-key": key } })).status, 200)
    yield* sandbox.subscribe("http://localhost:9/")
    yield* sandbox.fault("any", Fault.html())
    yield* sandbox.reset
    const { aheadSeconds, faults, targets } = yield* sandbox.overview
    assert.deepStrictEqual([aheadSeconds, faults, targets], [0, [], [options.webhookUrl]])
    const lists = [yield* sandbox.transactions, yield* sandbox.withdrawals, yield* sandbox.requests]
    assert.deepStrictEqual(lists, [[], [], []])
    assert.deepStrictEqual([yield* sandbox.balance, (yield* pay).json.id], [10_000, 1])
  })

  effect("an input that no function takes is a defect, which says why", sandboxLayer, function* () {
    const sandbox = yield* Sandbox
    for (const [wrong, words] of [
      [sandbox.subscribe("https://elsewhere.example/"), /url|loopback/],
      [sandbox.credit(Number.MAX_SAFE_INTEGER), /Sandbox\.credit: .*safe integer/],
      [sandbox.withdraw(999), /Sandbox\.withdraw: A payout is of R\$ 10,00/],
      [sandbox.charge(1_000_000_000_000), /Sandbox\.charge: amount must be from 1 to/]
    ] as const) {
      const exit = yield* Effect.exit<unknown, unknown, never>(wrong)
      assert.match(Exit.isFailure(exit) && Exit.hasDies(exit) ? Cause.pretty(exit.cause) : "", words)
    }
  })
})

describe("a sandbox in another process", () => {
  live("the changes of a sandbox in another process are streamed, from now on", remote(), function* () {
    const sandbox = yield* Sandbox
    yield* sandbox.charge(100)
    const next = yield* Effect.forkChild(Stream.runHead(sandbox.changes), { startImmediately: true })
    const made = yield* Effect.forkChild(Effect.forever(sandbox.charge(200)))
    const change = Option.getOrThrow(yield* Fiber.join(next))
    yield* Fiber.interrupt(made)
    assert.isTrue(change._tag === "Transaction" && change.transaction.amount === 200)
  })

  effect("a sandbox in another process takes no function as a target of webhooks", remote(), function* () {
    const { subscribe } = yield* Sandbox
    const exit = yield* Effect.exit(subscribe(() => Effect.succeed(new Response())))
    assert.include(Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "", "takes an address only")
  })
})
