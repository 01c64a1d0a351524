import { assert, describe, it } from "@effect/vitest"
import { Money, Payments, PixKey } from "effect-pix"
import * as BrCode from "../../src/pix/BrCode.ts"
import { Sandbox, SandboxConflict, SandboxNotFound, SandboxOptions } from "effect-pix/sandbox"
import { Cause, Effect, Exit, Layer, Logger, Redacted, Result } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { TestClock } from "effect/testing"
import { inspect } from "node:util"
import {
  balancePath,
  charge,
  chargeBody,
  createTransaction,
  listTransactions,
  lookupPath,
  requestWithdrawal,
  withdrawal,
  withdrawalBody
} from "../support/operations.ts"
import { effect } from "../support/effect.ts"

const base = "https://sandbox.example"
const auth = { "x-client-id": "sandbox-client", "x-api-key": "sandbox-key", accept: "application/json" }

const customer = {
  id: "c-1",
  name: "Maria Silva",
  email: "maria@example.com",
  document: { number: "52998224725", type: "CPF" },
  phone: "11912345684",
  externalRef: "ref-1"
}
const fullCharge = { ...chargeBody, customer }

const get = (path: string, headers: Record<string, string> = auth) =>
  Effect.gen(function* () {
    const response = yield* HttpClient.execute(HttpClientRequest.get(base + path, { headers }))
    return { status: response.status, body: JSON.parse(yield* response.text) }
  })

const post = (path: string, body: unknown, key?: string, headers: Record<string, string> = auth) =>
  Effect.gen(function* () {
    const request = HttpClientRequest.post(base + path, { headers }).pipe(
      HttpClientRequest.bodyText(typeof body === "string" ? body : JSON.stringify(body), "application/json"),
      key === undefined ? (self) => self : HttpClientRequest.setHeader("idempotency-key", key)
    )
    const response = yield* HttpClient.execute(request)
    return { status: response.status, body: JSON.parse(yield* response.text) }
  })

const create = (overrides: Record<string, unknown> = {}, key?: string) =>
  post(createTransaction.path, { ...fullCharge, ...overrides }, key)
const withdraw = (overrides: Record<string, unknown> = {}, key?: string) =>
  post(requestWithdrawal.path, { ...withdrawalBody, ...overrides }, key)

const fresh = <A, E>(effect: Effect.Effect<A, E, HttpClient.HttpClient | Sandbox>, options: SandboxOptions = {}) =>
  Effect.provide(effect, Layer.provide(Sandbox.layer, Layer.succeed(SandboxOptions, options)))

describe("creating a charge", () => {
  it.effect("a PIX charge is answered with the documented envelope", () =>
    fresh(
      Effect.gen(function* () {
        yield* TestClock.setTime(Date.UTC(2026, 0, 31, 12))
        const { body, status } = yield* create({ pix: { expiresInDays: 2 } })
        assert.strictEqual(status, 200)
        assert.strictEqual(body.status, 200)
        assert.isString(body.message)
        assert.match(body.data.id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
        assert.deepStrictEqual(
          { ...body.data, id: "", pix: { ...body.data.pix, qrcode: "" } },
          {
            id: "",
            amount: 2500,
            paymentMethod: "PIX",
            status: "WAITING_PAYMENT",
            companyId: 1,
            pix: { qrcode: "", expirationDate: "2026-02-02T12:00:00.000Z" }
          }
        )
      })
    )
  )

  it.effect("a PIX charge has a copy-and-paste text that a bank's reader accepts, with the amount", () =>
    fresh(
      Effect.gen(function* () {
        const { body } = yield* create()
        const code = Result.getOrThrow(Result.flatMap(BrCode.parse(body.data.pix.qrcode), BrCode.verify))
        assert.strictEqual(code.kind, "dynamic")
        assert.strictEqual(code.amount, 2500)
        assert.strictEqual(code.merchantName, "LOJA DE TESTE")
        assert.isTrue(code.crc.ok)
      })
    )
  )

  it.effect("a charge without a number of days expires after one day", () =>
    fresh(
      Effect.gen(function* () {
        const { body } = yield* create()
        assert.strictEqual(body.data.pix.expirationDate, "1970-01-02T00:00:00.000Z")
      })
    )
  )

  it.effect("BOLETO and CREDIT_CARD charges are answered with the envelope, without pix", () =>
    fresh(
      Effect.forEach(["BOLETO", "CREDIT_CARD"], (paymentMethod) =>
        Effect.gen(function* () {
          const { body, status } = yield* create({ paymentMethod, dueDate: "2026-02-01" })
          assert.strictEqual(status, 200)
          const { id, ...rest } = body.data
          assert.isString(id)
          assert.deepStrictEqual(rest, { amount: 2500, paymentMethod, status: "WAITING_PAYMENT", companyId: 1 })
        })
      )
    )
  )

  it.effect("a charge that breaks the contract is refused with 400, which names the field and not the value", () =>
    fresh(
      Effect.gen(function* () {
        const bodies = [
          "{",
          "",
          { ...fullCharge, amount: 25.5 },
          { ...fullCharge, amount: -1 },
          { ...fullCharge, amount: 0 },
          { ...fullCharge, paymentMethod: "CASH" },
          { ...fullCharge, customer: { name: "Maria Silva" } },
          { ...fullCharge, customer: { ...customer, phone: "not-a-phone-4711" } }
        ]
        for (const body of bodies) {
          const answer = yield* post(createTransaction.path, body)
          assert.strictEqual(answer.status, 400)
          assert.strictEqual(answer.body.status, 400)
          assert.isNotEmpty(answer.body.message)
          assert.notInclude(answer.body.message, "4711")
        }
        assert.deepStrictEqual(yield* (yield* Sandbox).transactions, [])
      })
    )
  )

  it.effect("a charge with another content type is refused with 415", () =>
    fresh(
      Effect.gen(function* () {
        const response = yield* HttpClient.execute(
          HttpClientRequest.post(base + createTransaction.path, { headers: auth }).pipe(
            HttpClientRequest.bodyText("a=b", "text/csv")
          )
        )
        assert.strictEqual(response.status, 415)
        assert.deepInclude(yield* response.json, { status: 415 })
      })
    )
  )
})

describe("credentials and paths", () => {
  const wrong: ReadonlyArray<[string, Record<string, string>]> = [
    ["no credentials", { accept: "application/json" }],
    ["no client id", { "x-api-key": "sandbox-key" }],
    ["no secret key", { "x-client-id": "sandbox-client" }],
    ["a wrong client id", { ...auth, "x-client-id": "other" }],
    ["a wrong secret key", { ...auth, "x-api-key": "other" }]
  ]
  it.effect.each(wrong)("the sandbox answers 401 to %s before it checks anything else", ([, headers]) =>
    fresh(
      Effect.gen(function* () {
        for (const answer of [
          yield* get("/nowhere", headers),
          yield* get(`${listTransactions.path}?pageSize=1000`, headers),
          yield* post(createTransaction.path, "{", "tx_1", headers)
        ]) {
          assert.strictEqual(answer.status, 401)
          assert.deepInclude(answer.body, { status: 401 })
        }
      })
    )
  )

  it.effect("the sandbox refuses the secret key from before a rotation and takes the new one", () =>
    fresh(
      Effect.gen(function* () {
        const sandbox = yield* Sandbox
        const { apiKey, clientId } = yield* sandbox.rotateCredentials
        assert.strictEqual((yield* get(listTransactions.path)).status, 401)
        const rotated = { ...auth, "x-client-id": clientId, "x-api-key": Redacted.value(apiKey) }
        assert.strictEqual((yield* get(listTransactions.path, rotated)).status, 200)
      })
    )
  )

  it.effect("the sandbox answers 404 to a path that the service does not have, and 405 to another method", () =>
    fresh(
      Effect.gen(function* () {
        const answers = [yield* get("/"), yield* get(createTransaction.path), yield* post(listTransactions.path, {})]
        assert.deepStrictEqual(
          answers.map(({ body, status }) => [status, body.status]),
          [
            [404, 404],
            [405, 405],
            [405, 405]
          ]
        )
      })
    )
  )

  it.effect("the base URL may have any origin, and any path before that of the contract", () =>
    fresh(
      Effect.gen(function* () {
        const response = yield* HttpClient.get(`http://localhost:9999/gateway/v2${listTransactions.path}?page=1`, {
          headers: auth
        })
        assert.strictEqual(response.status, 200)
        const [request] = yield* (yield* Sandbox).requests
        assert.strictEqual(request?.operation, "listTransactions")
        assert.strictEqual(request?.origin, "http://localhost:9999")
        assert.strictEqual(request?.path, `/gateway/v2${listTransactions.path}`)
      })
    )
  )
})

const amounts = (answer: { body: { res: { items: ReadonlyArray<{ amount: number }> } } }) =>
  answer.body.res.items.map(({ amount }) => amount)

describe("listing and looking up", () => {
  it.effect("the list has pages and orders as documented", () =>
    fresh(
      Effect.gen(function* () {
        for (let amount = 1; amount <= 120; amount++) {
          yield* create({ amount })
          yield* TestClock.adjust("1 second")
        }
        const first = yield* get(listTransactions.path)
        assert.isTrue(first.body.ok)
        const { items: _, ...page } = first.body.res
        assert.deepStrictEqual(page, { totalItems: 120, totalPages: 3, currentPage: 1, pageSize: 50 })
        assert.deepStrictEqual(
          amounts(first),
          Array.from({ length: 50 }, (_, index) => 120 - index)
        )
        assert.deepStrictEqual(
          amounts(yield* get(`${listTransactions.path}?page=2&pageSize=3&sort=createdAt_asc`)),
          [4, 5, 6]
        )
        assert.deepStrictEqual(
          amounts(yield* get(`${listTransactions.path}?page=2&pageSize=100&sort=createdAt_desc`)).length,
          20
        )
        const beyond = yield* get(`${listTransactions.path}?page=9`)
        assert.deepStrictEqual(beyond.body.res.items, [])
        assert.strictEqual(beyond.body.res.currentPage, 9)
      })
    )
  )

  it.effect("the list is empty before there is any charge", () =>
    fresh(
      Effect.gen(function* () {
        assert.deepStrictEqual((yield* get(listTransactions.path)).body.res, {
          items: [],
          totalItems: 0,
          totalPages: 0,
          currentPage: 1,
          pageSize: 50
        })
      })
    )
  )

  it.effect("the list refuses a page size over 100, a page under 1 and another order with 400", () =>
    fresh(
      Effect.gen(function* () {
        for (const query of ["pageSize=101", "pageSize=0", "page=0", "page=x", "sort=amount_desc"]) {
          assert.strictEqual((yield* get(`${listTransactions.path}?${query}`)).status, 400)
        }
      })
    )
  )

  it.effect("the rows of a list have an integer id and the customer's documented fields", () =>
    fresh(
      Effect.gen(function* () {
        const { body } = yield* create()
        const [item] = (yield* get(listTransactions.path)).body.res.items
        assert.deepStrictEqual(item, {
          id: 1,
          leadId: item.leadId,
          lead: {
            id: item.leadId,
            name: "Maria Silva",
            email: "maria@example.com",
            externalId: "ref-1",
            phone: "11912345684",
            documentNumber: "52998224725",
            documentType: "CPF"
          },
          amount: 2500,
          status: "PENDING",
          paymentMethod: "PIX",
          providerTxId: body.data.id.replaceAll("-", ""),
          createdAt: "1970-01-01T00:00:00.000Z",
          updatedAt: "1970-01-01T00:00:00.000Z"
        })
      })
    )
  )

  it.effect("the lookup finds a charge by its transaction id", () =>
    fresh(
      Effect.gen(function* () {
        const { body } = yield* create()
        const detail = yield* get(lookupPath(body.data.id))
        assert.strictEqual(detail.status, 200)
        assert.deepStrictEqual(detail.body, {
          id: 1,
          leadId: 1,
          lead: {
            id: 1,
            name: "Maria Silva",
            email: "maria@example.com",
            phone: "11912345684",
            document: "52998224725"
          },
          companyId: 1,
          value: 2500,
          transactionId: body.data.id,
          enStatusTransaction: "Awaiting",
          enPaymentSystem: "Pix",
          updateDate: "1970-01-01T00:00:00.000Z",
          createdAt: "1970-01-01T00:00:00.000Z"
        })
        assert.strictEqual((yield* get(lookupPath("nobody"))).status, 404)
      })
    )
  )
})

const statusOf = (id: string) => Effect.map(get(lookupPath(id)), ({ body }) => body.enStatusTransaction)

describe("steering charges", () => {
  it.effect("steering brings charges into every documented state, and changes the balance", () =>
    fresh(
      Effect.gen(function* () {
        const sandbox = yield* Sandbox
        const ids = yield* Effect.replicateEffect(
          Effect.map(create(), ({ body }) => String(body.data.id)),
          5
        )
        const [paid = "", refunded = "", cancelled = "", failed = "", expired = ""] = ids
        yield* TestClock.adjust("1 minute")
        yield* sandbox.markPaid(paid)
        yield* sandbox.markPaid(paid)
        yield* sandbox.markPaid(refunded)
        assert.strictEqual(yield* sandbox.balance, 5000)
        yield* sandbox.refund(refunded)
        assert.strictEqual(yield* sandbox.balance, 2500)
        yield* sandbox.cancel(cancelled)
        yield* sandbox.fail(failed)
        yield* sandbox.advance("1 day")
        assert.deepInclude((yield* sandbox.transactions)[4], { transactionId: expired, status: "Cancelled" })
        assert.deepStrictEqual(yield* Effect.forEach(ids, statusOf), [
          "Paid",
          "Refunded",
          "Cancelled",
          "Failed",
          "Cancelled"
        ])
        const { items } = (yield* get(`${listTransactions.path}?sort=createdAt_asc`)).body.res
        assert.deepStrictEqual(
          items.map((item: { status: string }) => item.status),
          ["PAID", "REFUNDED", "CANCELLED", "FAILED", "CANCELLED"]
        )
        assert.strictEqual(items[0].updatedAt, "1970-01-01T00:01:00.000Z")
      })
    )
  )

  it.effect("a charge lapses when the clock reaches its expiry, and not before", () =>
    fresh(
      Effect.gen(function* () {
        const pix = String((yield* create()).body.data.id)
        const boleto = String((yield* create({ paymentMethod: "BOLETO" })).body.data.id)
        yield* TestClock.adjust(24 * 60 * 60 * 1000 - 1)
        assert.strictEqual(yield* statusOf(pix), "Awaiting")
        yield* TestClock.adjust("1 millis")
        assert.strictEqual(yield* statusOf(pix), "Cancelled")
        assert.strictEqual(yield* statusOf(boleto), "Awaiting")
        assert.instanceOf(yield* Effect.flip((yield* Sandbox).markPaid(pix)), SandboxConflict)
      })
    )
  )

  it.effect("steering fails if there is no such charge, or no way from its state", () =>
    fresh(
      Effect.gen(function* () {
        const sandbox = yield* Sandbox
        const missing = yield* Effect.flip(sandbox.markPaid("nobody"))
        assert.instanceOf(missing, SandboxNotFound)
        assert.strictEqual(missing.message, "The sandbox holds no transaction nobody.")
        assert.instanceOf(yield* Effect.flip(sandbox.cancel("nobody")), SandboxNotFound)
        const id = String((yield* create()).body.data.id)
        const conflict = yield* Effect.flip(sandbox.refund(id))
        assert.strictEqual(conflict.message, `The sandbox's transaction ${id} is Awaiting and cannot become Refunded.`)
      })
    )
  )
})

describe("the balance", () => {
  it.effect("the balance is in decimal reais", () =>
    fresh(
      Effect.gen(function* () {
        const sandbox = yield* Sandbox
        yield* create({ amount: 1999 })
        assert.strictEqual(yield* sandbox.credit(123_456_789), 123_456_799)
        assert.deepStrictEqual(yield* get(`${balancePath(7)}?currency=BRL`), {
          status: 200,
          body: {
            id: 7,
            companyId: 7,
            currency: "BRL",
            enBalanceStatus: "Released",
            accBalance: 1_234_567.99,
            accBalanceCredit: 0,
            accBalanceCreditAwaiting: 19.99
          }
        })
      }),
      { companyId: 7, balance: 10 }
    )
  )

  it.effect("the balance is refused for another company, another currency and a company id that is no integer", () =>
    fresh(
      Effect.gen(function* () {
        assert.strictEqual((yield* get(balancePath(1))).status, 200)
        assert.strictEqual((yield* get(balancePath(2))).status, 404)
        assert.strictEqual((yield* get(`${balancePath(1)}?currency=USD`)).status, 422)
        assert.strictEqual((yield* get("/api/Balance/balance/one")).status, 400)
      })
    )
  )
})

describe("withdrawing", () => {
  it.effect("a withdrawal is answered with 201 and its record in reais, and its amount is taken from the balance", () =>
    fresh(
      Effect.gen(function* () {
        const sandbox = yield* Sandbox
        const request = {
          amount: 2550,
          pixKey: "maria@example.com",
          pixKeyType: "EMAIL",
          description: "rent",
          metadata: { order: 7 }
        }
        const { body, status } = yield* withdraw(request, "wd_1")
        assert.strictEqual(status, 201)
        assert.deepStrictEqual(body, {
          id: 1,
          companyId: 1,
          idempotencyKey: "wd_1",
          value: 25.5,
          pixKey: "maria@example.com",
          pixKeyType: "EMAIL",
          creditorDocument: "12345678909",
          description: "rent",
          currency: "BRL",
          enTransaction: "Awaiting",
          createdAt: "1970-01-01T00:00:00.000Z"
        })
        assert.strictEqual(yield* sandbox.balance, 7450)
        const [kept] = yield* sandbox.withdrawals
        assert.deepStrictEqual(kept?.metadata, { order: 7 })
      }),
      { balance: 10_000 }
    )
  )

  it.effect("a withdrawal without a key pays to the key on file", () =>
    fresh(
      Effect.gen(function* () {
        const { body } = yield* withdraw()
        assert.deepInclude(body, { pixKey: "52998224725", pixKeyType: "CPF", creditorDocument: "52998224725" })
        assert.notProperty(body, "idempotencyKey")
      }),
      { balance: 10_000, pixKey: PixKey.cpf("529.982.247-25") }
    )
  )

  it.effect("a withdrawal without a key is refused if there is none on file", () =>
    fresh(
      Effect.gen(function* () {
        const refused = yield* withdraw()
        assert.strictEqual(refused.status, 422)
        assert.include(refused.body.message, "nenhuma chave PIX cadastrada")
        assert.strictEqual((yield* withdraw({ pixKey: "a@b.com", pixKeyType: "EMAIL" })).status, 201)
      }),
      { balance: 10_000, pixKey: null }
    )
  )

  it.effect(
    "a withdrawal under the minimum, over the balance or in another currency is refused, and no money moves",
    () =>
      fresh(
        Effect.gen(function* () {
          const sandbox = yield* Sandbox
          const messages = [
            yield* withdraw({ amount: 999 }),
            yield* withdraw({ amount: 1001 }),
            yield* withdraw({ currency: "USD" })
          ].map(({ body, status }) => {
            assert.strictEqual(status, 422)
            return body.message
          })
          assert.match(messages[0], /mínimo/)
          assert.match(messages[1], /Saldo insuficiente/)
          assert.match(messages[2], /Moeda/)
          assert.strictEqual(yield* sandbox.balance, 1000)
          assert.strictEqual((yield* withdraw({ amount: 1000 })).status, 201)
          assert.strictEqual(yield* sandbox.balance, 0)
        }),
        { balance: 1000 }
      )
  )

  it.effect("a withdrawal is settled or rejected by steering, and a rejection returns the money", () =>
    fresh(
      Effect.gen(function* () {
        const sandbox = yield* Sandbox
        yield* withdraw()
        yield* withdraw()
        assert.strictEqual((yield* sandbox.settleWithdrawal(1)).status, "Settled")
        assert.strictEqual((yield* sandbox.rejectWithdrawal(2)).status, "Rejected")
        yield* sandbox.rejectWithdrawal(2)
        assert.strictEqual(yield* sandbox.balance, 1000)
        assert.instanceOf(yield* Effect.flip(sandbox.rejectWithdrawal(1)), SandboxConflict)
        assert.instanceOf(yield* Effect.flip(sandbox.settleWithdrawal(3)), SandboxNotFound)
      }),
      { balance: 2000 }
    )
  )
})

describe("idempotency keys", () => {
  it.effect("a used key is answered with the first result again, also if its charge has changed", () =>
    fresh(
      Effect.gen(function* () {
        const sandbox = yield* Sandbox
        const created = yield* create({}, "k")
        const paid = yield* withdraw({}, "k")
        yield* sandbox.markPaid(created.body.data.id)
        yield* sandbox.settleWithdrawal(1)
        yield* TestClock.adjust("10 days")
        assert.deepStrictEqual(yield* create({}, "k"), created)
        assert.deepStrictEqual(yield* withdraw({}, "k"), paid)
        assert.strictEqual((yield* sandbox.transactions).length, 1)
        assert.strictEqual((yield* sandbox.withdrawals).length, 1)
      }),
      { balance: 10_000 }
    )
  )

  it.effect("a used key with the same JSON is accepted, and with another body refused", () =>
    fresh(
      Effect.gen(function* () {
        const first = yield* withdraw({ amount: 1000 }, "k")
        const reordered = yield* post(requestWithdrawal.path, ' { "currency": "BRL", "amount": 1000 }', "k")
        assert.deepStrictEqual(reordered, first)
        const other = yield* withdraw({ amount: 1001 }, "k")
        assert.strictEqual(other.status, 422)
        assert.match(other.body.message, /Idempotency-Key/)
        assert.strictEqual((yield* (yield* Sandbox).withdrawals).length, 1)
      }),
      { balance: 10_000 }
    )
  )

  it.effect("a key of a refused request stays unused", () =>
    fresh(
      Effect.gen(function* () {
        const sandbox = yield* Sandbox
        assert.strictEqual((yield* withdraw({}, "k")).status, 422)
        yield* sandbox.credit(1000)
        assert.strictEqual((yield* withdraw({}, "k")).status, 201)
      })
    )
  )

  it.effect("concurrent requests under one key make one payout", () =>
    fresh(
      Effect.gen(function* () {
        const sandbox = yield* Sandbox
        const answers = yield* Effect.replicateEffect(withdraw({}, "k"), 20, { concurrency: "unbounded" })
        assert.strictEqual(new Set(answers.map((answer) => JSON.stringify(answer))).size, 1)
        assert.strictEqual(yield* sandbox.balance, 9000)
        assert.strictEqual((yield* sandbox.requests).length, 20)
      }),
      { balance: 10_000 }
    )
  )

  it.effect("a forgotten key is executed again", () =>
    fresh(
      Effect.gen(function* () {
        const sandbox = yield* Sandbox
        yield* withdraw({}, "k")
        yield* create({}, "k")
        yield* sandbox.forgetKeys
        assert.strictEqual((yield* withdraw({}, "k")).body.id, 2)
        yield* create({}, "k")
        assert.strictEqual((yield* sandbox.transactions).length, 2)
      }),
      { balance: 10_000 }
    )
  )

  it.effect("a key that cannot be sent in a header is refused", () =>
    fresh(
      Effect.gen(function* () {
        assert.strictEqual((yield* withdraw({}, "k".repeat(256))).status, 400)
      }),
      { balance: 10_000 }
    )
  )
})

describe("recorded requests", () => {
  it.effect("recorded requests show what arrived, and print no secret and no personal data", () =>
    fresh(
      Effect.gen(function* () {
        const sandbox = yield* Sandbox
        yield* create({}, "tx_1")
        yield* withdraw({ pixKey: "maria@example.com", pixKeyType: "EMAIL" })
        yield* get(`${listTransactions.path}?page=2`)
        yield* get("/nowhere")
        const requests = yield* sandbox.requests
        assert.deepStrictEqual(
          requests.map(({ idempotencyKey, method, operation, path, query }) => [
            method,
            path,
            operation,
            idempotencyKey,
            query
          ]),
          [
            ["POST", createTransaction.path, "createTransaction", "tx_1", {}],
            ["POST", requestWithdrawal.path, "requestWithdrawal", undefined, {}],
            ["GET", listTransactions.path, "listTransactions", undefined, { page: "2" }],
            ["GET", "/nowhere", undefined, undefined, {}]
          ]
        )
        const [first] = requests
        assert.deepInclude(first?.headers, {
          accept: "application/json",
          "content-type": "application/json",
          "idempotency-key": "tx_1",
          "x-api-key": "<redacted>",
          "x-client-id": "<redacted>"
        })
        assert.strictEqual(first?.body, JSON.stringify(fullCharge))
        for (const value of [requests, sandbox]) {
          const texts = [inspect(value, { depth: 20 }), inspect(value, { depth: 20, customInspect: false })]
          for (const text of texts) assert.notMatch(text, /sandbox-key|sandbox-client/)
        }
      }),
      { balance: 10_000 }
    )
  )
})

describe("settings", () => {
  it.effect("a setting that no answer can state is answered with a 500, and logged with its cause", () =>
    fresh(
      Effect.gen(function* () {
        const lines: Array<unknown> = []
        const logger = Logger.make(({ cause, message }) => lines.push([message, Cause.hasDies(cause)]))
        const { body, status } = yield* Effect.provide(create(), Logger.layer([logger]))
        assert.strictEqual(status, 500)
        assert.strictEqual(body.status, 500)
        assert.deepInclude(lines, [
          ["The sandbox failed to answer a request. This is a mistake in it, or in its options."],
          true
        ])
      }),
      { companyId: 1.5 }
    )
  )

  effect("a merchant that no QR code can name fails when the sandbox is built", function* () {
    const built = Layer.provide(
      Sandbox.layer,
      Layer.succeed(SandboxOptions, { merchant: { name: "N".repeat(26), city: "SAO PAULO" } })
    )
    assert.isTrue(Exit.hasDies(yield* Effect.exit(Effect.scoped(Layer.build(built)))))
  })
})

describe("starting over", () => {
  it.effect("starting over restores everything as at the beginning", () =>
    fresh(
      Effect.gen(function* () {
        const sandbox = yield* Sandbox
        yield* withdraw({}, "k")
        yield* create()
        yield* sandbox.rotateCredentials
        yield* sandbox.reset
        assert.strictEqual(yield* sandbox.balance, 1000)
        assert.deepStrictEqual(yield* sandbox.transactions, [])
        assert.deepStrictEqual(yield* sandbox.requests, [])
        assert.strictEqual((yield* withdraw({}, "k")).status, 201)
      }),
      { balance: 1000 }
    )
  )

  effect("starting over makes the same ids again for the same seed, and other ids for another seed", function* () {
    const id = Effect.map(create(), ({ body }) => body.data.id)
    assert.strictEqual(yield* fresh(id), yield* fresh(id))
    assert.notStrictEqual(yield* fresh(id), yield* fresh(id, { seed: "another" }))
  })
})

const asks = Effect.gen(function* () {
  const payments = yield* Payments
  const sandbox = yield* Sandbox
  const { id } = yield* payments.createTransaction(charge)
  yield* sandbox.markPaid(id)
  const { enStatusTransaction } = yield* payments.getTransaction(id)
  const { accBalance } = yield* payments.getBalance()
  const { totalItems } = yield* payments.listTransactions()
  const { idempotencyKey } = yield* payments.requestWithdrawal(withdrawal)
  const left = yield* sandbox.balance
  return { enStatusTransaction, accBalance: Money.format(accBalance), totalItems, idempotencyKey, left }
})

describe("the client on the sandbox", () => {
  effect("the client works on one layer, with predictable keys", Sandbox.layerPayments, function* () {
    assert.deepStrictEqual(yield* asks, {
      enStatusTransaction: "Paid",
      accBalance: "R$ 25,00",
      totalItems: 1,
      idempotencyKey: "wd_2",
      left: 1500
    })
  })
})
