/** The books of the sandbox: what charges, payouts and keys become, and how the gateway shows them. */
import { assert, describe } from "@effect/vitest"
import { Effect, Exit, Layer, Result } from "effect"
import { HttpClient } from "effect/http"
import { TestClock } from "effect/testing"
import { PixKey } from "effect-pix"
import { Fault, Sandbox } from "effect-pix/sandbox"
import { inspect } from "node:util"
import { verified } from "../support/brCode.ts"
import { effect } from "../support/effect.ts"
import { balancePath, chargeBody, listTransactions, lookupPath } from "../support/operations.ts"
import { ask, auth, charging, keyed, memory, paying } from "../support/doors.ts"

const customer = {
  ...chargeBody.customer,
  document: { number: "52998224725", type: "CPF" },
  phone: "11912345684",
  externalRef: "ref-1"
}
const create = (changes: object = {}, key?: string) => ask(charging(changes, key === undefined ? {} : keyed(key)))
const withdraw = (changes: object = {}, key?: string) => ask(paying(changes, key === undefined ? {} : keyed(key)))
const idOf = Effect.map(create(), ({ json }) => String(json.data.id))
const jsonOf = (path: string) => Effect.map(ask({ path }), ({ json }) => json)
const listOf = (query: string) => Effect.map(jsonOf(`${listTransactions.path}${query}`), ({ res }) => res)

describe("a charge", () => {
  effect("a PIX charge is answered, listed and looked up as the service documents it", memory(), function* () {
    yield* TestClock.setTime(Date.UTC(2026, 0, 31, 12))
    const { data, message, status } = (yield* create({ customer, pix: { expiresInDays: 2 } })).json
    const { id, pix, ...rest } = data
    assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    assert.deepStrictEqual([status, message], [200, "Transação criada com sucesso."])
    assert.deepStrictEqual(rest, { amount: 2500, paymentMethod: "PIX", status: "WAITING_PAYMENT", companyId: 1 })
    assert.strictEqual(pix.expirationDate, "2026-02-02T12:00:00.000Z")
    const code = Result.getOrThrow(verified(pix.qrcode))
    assert.strictEqual(`${code.kind} ${code.amount} ${code.merchantName}`, "dynamic 2500 LOJA DE TESTE")

    const at = "2026-01-31T12:00:00.000Z"
    const leadId = `${id.slice(0, 14)}8${id.slice(15)}`
    const times = { createdAt: at, updatedAt: at }
    const { document, externalRef, ...person } = customer
    const names = { externalId: externalRef, documentNumber: document.number, documentType: document.type }
    const lead = { ...person, ...names, id: leadId }
    const row = { id: 1, leadId, lead, amount: 2500, status: "PENDING", paymentMethod: "PIX", ...times }
    assert.deepStrictEqual((yield* listOf("")).items, [{ ...row, providerTxId: id.replaceAll("-", "") }])
    assert.deepStrictEqual(yield* jsonOf(lookupPath(id)), {
      id: 1,
      leadId: 1,
      lead: { ...person, id: 1, document: document.number },
      companyId: 1,
      value: 2500,
      transactionId: id,
      enStatusTransaction: "Awaiting",
      enPaymentSystem: "Pix",
      updateDate: at,
      createdAt: at
    })
  })

  effect.each([
    ["BOLETO", "Boleto"],
    ["CREDIT_CARD", "CreditCard"]
  ])("a charge by %s has no PIX code, and never lapses", memory(), function* ([paymentMethod, system]) {
    const { data } = (yield* create({ paymentMethod, dueDate: "2026-02-01" })).json
    const { id, ...rest } = data
    assert.deepStrictEqual(rest, { amount: 2500, paymentMethod, status: "WAITING_PAYMENT", companyId: 1 })
    yield* TestClock.adjust("900 days")
    const { enPaymentSystem, enStatusTransaction } = yield* jsonOf(lookupPath(id))
    assert.deepStrictEqual([enPaymentSystem, enStatusTransaction], [system, "Awaiting"])
  })

  effect("the list of charges has pages of fifty, the newest first, or as the query says", memory(), function* () {
    const { advance, charge } = yield* Sandbox
    const page = (query: string) =>
      Effect.map(listOf(query), ({ items, ...rest }) => [items.map((row: { amount: number }) => row.amount), rest])
    assert.deepStrictEqual(yield* page(""), [[], { totalItems: 0, totalPages: 0, currentPage: 1, pageSize: 50 }])
    for (let amount = 1; amount <= 120; amount++) yield* Effect.andThen(charge(amount), advance("1 second"))
    const down = Array.from({ length: 120 }, (_, index) => 120 - index)
    const rest = { totalItems: 120, totalPages: 3, currentPage: 1, pageSize: 50 }
    assert.deepStrictEqual(yield* page(""), [down.slice(0, 50), rest])
    const second = { ...rest, totalPages: 2, currentPage: 2, pageSize: 100 }
    assert.deepStrictEqual(yield* page("?page=2&pageSize=100&sort=createdAt_desc"), [down.slice(100), second])
    const oldest = { ...rest, totalPages: 40, currentPage: 2, pageSize: 3 }
    assert.deepStrictEqual(yield* page("?page=2&pageSize=3&sort=createdAt_asc"), [[4, 5, 6], oldest])
    assert.deepStrictEqual(yield* page("?page=9"), [[], { ...rest, currentPage: 9 }])
  })
})

describe("a payout", () => {
  const filed = { balance: 10_000, companyId: 7, pixKey: PixKey.cpf("529.982.247-25") }

  effect("a payout is answered in reais, and leaves the balance", memory(filed), function* () {
    const sandbox = yield* Sandbox
    const to = { pixKey: "maria@example.com", pixKeyType: "EMAIL", description: "rent" }
    const { json } = yield* withdraw({ ...to, amount: 2550, metadata: { order: 7 } }, "wd_1")
    const record = { companyId: 7, currency: "BRL", enTransaction: "Awaiting", createdAt: "1970-01-01T00:00:00.000Z" }
    const creditorDocument = "12345678909"
    assert.deepStrictEqual(json, { ...record, ...to, id: 1, idempotencyKey: "wd_1", value: 25.5, creditorDocument })
    assert.strictEqual(yield* sandbox.balance, 7450)
    assert.deepStrictEqual((yield* sandbox.withdrawals)[0]?.metadata, { order: 7 })
    const onFile = { pixKey: "52998224725", pixKeyType: "CPF", creditorDocument: "52998224725" }
    assert.deepStrictEqual((yield* withdraw()).json, { ...record, ...onFile, id: 2, value: 10 })
  })

  effect("the balance is in reais", memory({ ...filed, balance: 10 }), function* () {
    const sandbox = yield* Sandbox
    yield* create({ amount: 1999 })
    yield* sandbox.cancel(yield* idOf)
    yield* sandbox.credit(123_456_789)
    assert.deepStrictEqual(yield* jsonOf(`${balancePath(7)}?currency=BRL`), {
      id: 7,
      companyId: 7,
      currency: "BRL",
      enBalanceStatus: "Released",
      accBalance: 1_234_567.99,
      accBalanceCredit: 0,
      accBalanceCreditAwaiting: 19.99
    })
  })
})

describe("an idempotency key", () => {
  const rich = memory({ balance: 10_000 })

  effect("a used key is answered with its first result, also if that has changed", rich, function* () {
    const sandbox = yield* Sandbox
    const created = yield* create({}, "k")
    const paid = yield* withdraw({}, "k")
    yield* sandbox.markPaid(created.json.data.id)
    yield* sandbox.settleWithdrawal(1)
    yield* TestClock.adjust("10 days")
    assert.deepStrictEqual((yield* create({}, "k")).json, created.json)
    assert.deepStrictEqual((yield* withdraw({}, "k")).json, paid.json)
    assert.deepStrictEqual([(yield* sandbox.transactions).length, (yield* sandbox.withdrawals).length], [1, 1])
  })

  effect("a key of a refused request stays unused", memory(), function* () {
    assert.strictEqual((yield* withdraw({}, "k")).status, 422)
    yield* (yield* Sandbox).credit(1000)
    assert.strictEqual((yield* withdraw({}, "k")).status, 201)
  })

  effect("concurrent requests under one key make one payout", rich, function* () {
    const answers = yield* Effect.replicateEffect(withdraw({}, "k"), 20, { concurrency: "unbounded" })
    assert.strictEqual(new Set(answers.map(({ text }) => text)).size, 1)
    assert.strictEqual(yield* (yield* Sandbox).balance, 9000)
  })
})

describe("the sandbox in memory", () => {
  effect("a request says what it asked, what it is about, and what it met", memory({ balance: 10_000 }), function* () {
    const sandbox = yield* Sandbox
    const { json, text } = yield* create({}, "tx_1")
    const { id } = json.data
    yield* ask({ path: lookupPath(id), headers: { cookie: "s=1", authorization: "a" } })
    yield* sandbox.fault("requestWithdrawal", Fault.resetAfter)
    yield* Effect.flip(withdraw({}, "k"))
    yield* ask({ path: `${listTransactions.path}?page=2` })
    const requests = yield* sandbox.requests
    assert.deepStrictEqual(
      requests.map((one) => [one.operation, one.transactionId ?? one.withdrawalId, one.fault]),
      [
        ["createTransaction", id, undefined],
        ["getTransaction", id, undefined],
        ["requestWithdrawal", 1, Fault.resetAfter],
        ["listTransactions", undefined, undefined]
      ]
    )
    const [first, second, lost, listed] = requests
    assert.deepStrictEqual(
      [first?.body, first?.answer, lost?.answeredAt, listed?.query],
      [JSON.stringify(chargeBody), text, undefined, { page: "2" }]
    )
    const hidden = { "x-api-key": "<redacted>", "x-client-id": "<redacted>" }
    const shown = { "content-type": "application/json", "idempotency-key": "tx_1" }
    assert.deepInclude(first?.headers, { ...hidden, ...shown })
    assert.deepInclude(second?.headers, { ...hidden, cookie: "<redacted>", authorization: "<redacted>" })
    for (const value of [requests, sandbox])
      for (const customInspect of [true, false])
        assert.notMatch(inspect(value, { depth: 20, customInspect }), /sandbox-key|sandbox-client/)
  })

  effect("the sandbox answers any origin, and any path before that of the contract", memory(), function* () {
    const path = `/gateway/v2${listTransactions.path}`
    const { status } = yield* HttpClient.get(`http://localhost:9999${path}?page=1`, { headers: auth })
    const [one] = yield* (yield* Sandbox).requests
    assert.deepStrictEqual(
      [status, one?.operation, one?.origin, one?.path],
      [200, "listTransactions", "http://localhost:9999", path]
    )
  })

  effect("a merchant that no QR code can name stops the sandbox when it is built", function* () {
    const built = Layer.build(memory({ merchant: { name: "N".repeat(26), city: "SAO PAULO" } }))
    assert.isTrue(Exit.hasDies(yield* Effect.exit(Effect.scoped(built))))
  })
})
