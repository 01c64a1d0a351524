/** A sandbox with `as: "seen"`: its answers and webhooks, against the bodies that were seen of the gateway. */
import { assert, describe } from "@effect/vitest"
import { Effect, Layer, Predicate } from "effect"
import { TestClock } from "effect/testing"
import { BrCode, Money, Payments, PixKey, WithdrawalLookup } from "effect-pix"
import { Fault, Sandbox, SandboxConflict, SandboxOptions } from "effect-pix/sandbox"
import { readFileSync } from "node:fs"
import { ask, charging, keyed, memory, paying } from "../support/doors.ts"
import { effect } from "../support/effect.ts"
import { listTransactions, lookupPath } from "../support/operations.ts"

const field = (name: string) =>
  JSON.parse(readFileSync(new URL(`../fixtures/field/${name}.json`, import.meta.url), "utf8"))

/** The members of a value and their kinds. A text is of a kind by its form, if that is a time or an id. */
const forms: ReadonlyArray<readonly [string, RegExp]> = [
  ["charge id", /^[\da-f]{26}$/],
  ["UUID", /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/],
  ["end-to-end id", /^E\d{8}\d{12}[\dA-Za-z]{11}$/],
  ["local time", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}$/],
  ["local time with Z", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/],
  ["time in seconds", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/],
  ["time with seven digits", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}\+00:00$/]
]
const kindOf = (value: unknown): unknown => {
  if (Predicate.isString(value)) return forms.find(([, form]) => form.test(value))?.[0] ?? "text"
  if (!Predicate.isObject(value)) return value === null ? "null" : typeof value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, kindOf(member)]))
}
const assertKind = (value: unknown, name: string) => assert.deepStrictEqual(kindOf(value), kindOf(field(name)), name)

const cpf = { pixKey: "52998224725", pixKeyType: "CPF" }
const seen = memory({ as: "seen", balance: 100_000 })
const layered = (as: "documented" | "seen") =>
  Layer.provide(Sandbox.layerPayments, Layer.succeed(SandboxOptions, { as, balance: 100_000 }))
const request = { amount: Money.centavos(1000), pixKey: PixKey.email("maria@example.com") }
const order = {
  externalRef: "order-42",
  postbackUrl: "https://shop.example/webhooks/pix/secret",
  customer: { name: "Maria Silva", email: "maria@example.com", document: { number: "52998224725", type: "CPF" } }
}
const pay = ask(paying({ ...cpf, metadata: { reference: "invoice-42" } }, keyed("k")))
const lookup = (id: unknown, method: "GET" | "POST" = "GET") => ask({ path: `/api/Withdraw/${String(id)}`, method })

/** Subscribes a receiver, which collects what it is sent and takes it at the second attempt. */
const receive = Effect.gen(function* () {
  const sent: Array<{ readonly event: string | null; readonly body: { readonly [name: string]: unknown } }> = []
  const { subscribe } = yield* Sandbox
  yield* subscribe(async (request) => {
    sent.push({ event: request.headers.get("x-webhook-event-id"), body: await request.json() })
    return new Response(null, { status: sent.length % 2 === 0 ? 200 : 500 })
  })
  return sent
})
const deliver = Effect.gen(function* () {
  const { awaitWebhooks } = yield* Sandbox
  yield* awaitWebhooks
  yield* Effect.andThen(TestClock.adjust("1 second"), awaitWebhooks)
})

describe("a charge of a sandbox that answers as seen", () => {
  effect("is created with the members that were seen, and with its code under either name", seen, function* () {
    const { fault } = yield* Sandbox
    yield* fault("createTransaction", [Fault.none, Fault.qrcode, Fault.brcode])
    const [first, second, third] = yield* Effect.replicateEffect(ask(charging(order)), 3)
    assertKind(first?.json, "created-brcode")
    assertKind(second?.json, "created-qrcode")
    assertKind(third?.json, "created-brcode")
    const { data } = first?.json ?? {}
    assert.include(data, { externalRef: "order-42", postbackUrl: order.postbackUrl, status: "WAITING_PAYMENT" })
    assert.strictEqual(data.pix.txId, data.id)
    assert.strictEqual(atob(data.pix.payloadBase64), data.pix.brcode)
    assert.isTrue(BrCode.parse(data.pix.brcode)._tag === "Success")
    assert.strictEqual(data.pix.expiresAt, "1970-01-02T00:00:00.0000000+00:00")
  })

  effect("is answered the same for a repeated key, and found by its id in lookup and list", seen, function* () {
    const { markPaid } = yield* Sandbox
    const [first, second] = yield* Effect.replicateEffect(ask(charging(order, keyed("k"))), 2)
    assert.deepStrictEqual(second?.json, first?.json)
    const { id } = first?.json.data ?? {}
    yield* markPaid(id)
    assert.strictEqual((yield* ask({ path: lookupPath(id) })).json.enStatusTransaction, "Paid")
    assert.strictEqual((yield* ask({ path: listTransactions.path })).json.res.items[0].providerTxId, id)
  })

  effect("is told by a webhook as seen, whose attempts have one event", seen, function* () {
    const { markPaid, refund, resendWebhook } = yield* Sandbox
    const sent = yield* receive
    const { json } = yield* ask(charging(order))
    yield* TestClock.adjust("12 hours")
    yield* Effect.andThen(markPaid(json.data.id), deliver)
    yield* Effect.andThen(resendWebhook(1), deliver)
    yield* Effect.andThen(refund(json.data.id), deliver)
    const [first, ...rest] = sent
    assertKind(first?.body, "webhook-cashin")
    assert.deepInclude(first?.body, {
      object: "transaction",
      status: "successful",
      transactionId: json.data.id,
      externalRef: "order-42",
      value: 2500,
      amount: 25,
      providerCreditedAt: "1970-01-01T09:00:00.000000",
      processedAt: "1970-01-01T09:00:00.000000Z"
    })
    assert.deepStrictEqual(
      rest.map(({ body, event }) => `${String(body["status"])} ${event === first?.event}`),
      [...Array<string>(3).fill("successful true"), ...Array<string>(2).fill("refunded false")]
    )
    assert.match(first?.event ?? "", /^[\w-]{36}$/)
  })
})

describe("a payout of a sandbox that answers as seen", () => {
  effect("is Pending, Processing and Successful, and may come back", seen, function* () {
    const { balance, processWithdrawal, returnWithdrawal, settleWithdrawal } = yield* Sandbox
    const sent = yield* receive
    const { json, status } = yield* pay
    assert.strictEqual(status, 201)
    assertKind(json, "withdrawal-201-pending")
    assert.strictEqual(json.enTransaction, "Pending")
    const words = ["Processing", "Successful", "Refunded"]
    for (const [at, step] of [processWithdrawal, settleWithdrawal, returnWithdrawal].entries()) {
      yield* Effect.andThen(step(json.id), deliver)
      const record = (yield* lookup(json.id)).json
      assert.strictEqual(record.enTransaction, words[at])
      assert.strictEqual(kindOf(record.providerEndToEndId), at === 0 ? "null" : "end-to-end id")
      assert.strictEqual(yield* balance, at === 2 ? 100_000 : 99_000)
    }
    assert.deepStrictEqual((yield* pay).json, json)
    const told = ["pending", "successful", "refunded"]
    assert.deepStrictEqual(
      sent.map(({ body }) => body["status"]),
      told.flatMap((word) => [word, word])
    )
    for (const [at, word] of told.entries()) assertKind(sent[2 * at]?.body, `webhook-cashout-${word}`)
    assert.deepInclude(sent[0]?.body, { withdrawId: json.id, value: 10, valueInCents: 1000 })
    assert.strictEqual(sent[0]?.body["metadata"], '{"reference":"invoice-42"}')
    assert.strictEqual(new Set(sent.map(({ event }) => event)).size, 3)
    assert.instanceOf(yield* Effect.flip(settleWithdrawal(json.id)), SandboxConflict)
  })

  effect("may fail later: the record, the webhook and the balance say so", seen, function* () {
    const { balance, rejectWithdrawal } = yield* Sandbox
    const { json } = yield* pay
    const sent = yield* receive
    yield* Effect.andThen(rejectWithdrawal(json.id, { reason: "Conta encerrada" }), deliver)
    assertKind(sent[0]?.body, "webhook-cashout-failure")
    const record = (yield* lookup(json.id)).json
    assertKind(record, "withdrawal-lookup")
    assert.include(record, { enTransaction: "Failure", providerErrorDescription: "Conta encerrada" })
    assert.strictEqual(yield* balance, 100_000)
  })

  effect("may fail at once: 201 with Failure, the reason and no money, under its key for ever", seen, function* () {
    const { balance, fault, withdrawals } = yield* Sandbox
    const sent = yield* receive
    yield* fault("requestWithdrawal", Fault.failure("Chave inexistente"))
    const { json, status } = yield* pay
    assert.strictEqual(status, 201)
    const { providerErrorDescription, ...rest } = json
    assertKind(rest, "withdrawal-201-failure")
    assert.deepStrictEqual([json.enTransaction, providerErrorDescription], ["Failure", "Chave inexistente"])
    assert.deepStrictEqual((yield* pay).json, json)
    assertKind((yield* lookup(json.id)).json, "withdrawal-lookup")
    assert.deepStrictEqual([yield* balance, (yield* withdrawals)[0]?.status], [100_000, "Rejected"])
    yield* deliver
    assert.lengthOf(sent, 0)
  })

  effect("that the provider refuses fails at once", seen, function* () {
    for (const body of [{ amount: 999 }, { pixKey: "nobody", pixKeyType: "EVP" }]) {
      const { json, status } = yield* ask(paying(body))
      assert.deepStrictEqual([status, json.enTransaction], [201, "Failure"])
      assert.isNotEmpty(json.providerErrorDescription)
    }
  })

  effect("is looked up by the client, with what became of it", layered("seen"), function* () {
    const { rejectWithdrawal, requests, settleWithdrawal } = yield* Sandbox
    const { get } = yield* WithdrawalLookup
    const payments = yield* Payments
    const [paid, failed] = yield* Effect.replicateEffect(payments.requestWithdrawal(request), 2)
    yield* settleWithdrawal(paid?.id ?? 0)
    yield* rejectWithdrawal(failed?.id ?? 0, { reason: "Conta encerrada" })
    const found = yield* Effect.forEach([1, 2], get)
    assert.deepStrictEqual(
      found.map(({ amount, enTransaction, idempotencyKey, providerErrorDescription }) => [
        amount,
        enTransaction,
        idempotencyKey,
        providerErrorDescription
      ]),
      [
        [1000, "Successful", paid?.idempotencyKey, undefined],
        [1000, "Failure", failed?.idempotencyKey, "Conta encerrada"]
      ]
    )
    assert.match(found[0]?.providerEndToEndId ?? "", /^E\d{16}/)
    const { _tag: tag } = yield* Effect.flip(get(3))
    assert.deepStrictEqual([tag, (yield* requests).at(-1)?.operation], ["WithdrawalNotFound", "getWithdrawal"])
  })

  effect("is looked up by its number, with the credentials alone", seen, function* () {
    yield* pay
    const statuses = [yield* lookup(1), yield* lookup(2), yield* lookup("x"), yield* lookup(1, "POST")]
    assert.deepStrictEqual(
      statuses.map(({ status }) => status),
      [200, 404, 404, 405]
    )
    assert.deepStrictEqual(statuses[1]?.json, { message: "Saque não encontrado.", status: 404 })
    const bare = yield* ask({ path: "/api/Withdraw/1", headers: { "x-api-key": "another" } })
    assert.strictEqual(bare.status, 401)
    assert.strictEqual((yield* (yield* Sandbox).requests).find(({ method }) => method === "GET")?.withdrawalId, 1)
  })
})

effect("the balance has the members that were seen", seen, function* () {
  const { json } = yield* ask({ path: "/api/Balance/balance/1?currency=BRL" })
  assertKind(json, "balance-pending")
  assert.strictEqual(json.accBalance, 1000)
})

describe("times of Brasília", () => {
  effect.each([{ as: "documented" as const }, { as: "seen" as const }])(
    "a fault writes the times of an answer of a sandbox that answers as $as as Brasília's clock shows them",
    function* ({ as }) {
      yield* Effect.gen(function* () {
        const { charge, fault } = yield* Sandbox
        const { transactionId } = yield* charge(2500)
        const path = lookupPath(transactionId)
        yield* fault("any", [Fault.localTimes, Fault.falseZ])
        const times = (yield* Effect.replicateEffect(ask({ path }), 3)).map(({ json }) => json.createdAt)
        assert.deepStrictEqual(times, [
          "1969-12-31T21:00:00.000000",
          "1969-12-31T21:00:00.000000Z",
          "1970-01-01T00:00:00.000Z"
        ])
      }).pipe(Effect.provide(memory({ as })))
    }
  )
})

describe("a sandbox that answers as documented", () => {
  const documented = memory({ balance: 100_000 })

  effect(
    "has no lookup of a payout, and plays a failure at once and another name of the code",
    documented,
    function* () {
      const { fault } = yield* Sandbox
      yield* fault("requestWithdrawal", Fault.failure())
      yield* fault("createTransaction", Fault.brcode)
      const { json } = yield* pay
      assert.deepStrictEqual([json.enTransaction, Object.hasOwn(json, "providerErrorDescription")], ["Failure", false])
      assert.strictEqual((yield* lookup(json.id)).status, 404)
      const { pix } = (yield* ask(charging(order))).json.data
      assert.deepStrictEqual([typeof pix.brcode, pix.qrcode, typeof pix.expirationDate], ["string", null, "string"])
    }
  )

  effect("has no lookup for the client either", layered("documented"), function* () {
    const { get } = yield* WithdrawalLookup
    const payments = yield* Payments
    const { id } = yield* payments.requestWithdrawal(request)
    assert.strictEqual((yield* Effect.flip(get(id)))._tag, "WithdrawalNotFound")
  })

  effect("sends no event id, and all webhooks to its own targets", documented, function* () {
    const { markPaid } = yield* Sandbox
    const sent = yield* receive
    const { json } = yield* ask(charging({ ...order, postbackUrl: "http://127.0.0.1:9/elsewhere" }))
    yield* Effect.andThen(markPaid(json.data.id), deliver)
    assert.deepStrictEqual([sent.length, sent[0]?.event, sent[0]?.body["event"]], [2, null, "transaction.updated"])
    assert.notInclude(json.data, { postbackUrl: "http://127.0.0.1:9/elsewhere" })
  })
})
