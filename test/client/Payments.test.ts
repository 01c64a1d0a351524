import { assert, describe } from "@effect/vitest"
import { type CreateTransactionRequest, Money, Payments, PixKey, type WithdrawalRequest } from "effect-pix"
import { Effect, Layer } from "effect"
import { answer, type Arrived, json, makeGateway, reset } from "../support/Gateway.ts"
import { impatient } from "../support/policies.ts"
import {
  balance,
  balancePath,
  charge,
  createTransaction,
  created,
  detail,
  getBalance,
  getTransaction,
  listTransactions,
  listed,
  lookupPath,
  record,
  requestWithdrawal,
  transactionId,
  withdrawal
} from "../support/operations.ts"
import { apiKey, clientId, paymentsOn, transports } from "../support/Wire.ts"
import { on } from "../support/against.ts"
import { live } from "../support/effect.ts"

const { customer } = charge

const fullPix = {
  amount: Money.centavos(12_345),
  currency: "BRL",
  paymentMethod: "PIX",
  installments: 1,
  customer: {
    id: "c-1",
    name: "José D'Ávila \u{1F600}",
    email: "jose+pix@example.com.br",
    document: { number: "52998224725", type: "CPF" },
    phone: "11987654321",
    externalRef: "crm/1"
  },
  items: [
    { title: "Café 500g", unitPrice: Money.centavos(6000), quantity: 2, tangible: true },
    { title: "Frete", unitPrice: Money.centavos(345), quantity: 1, tangible: false }
  ],
  pix: { expiresInDays: 2 },
  traceable: true,
  ip: "203.0.113.7"
} satisfies CreateTransactionRequest

/** The headers that the client sets, without those of the transport. */
const ours = ({ headers }: Arrived) => {
  const transportsOwn = new Set(
    "host connection content-length user-agent accept-language accept-encoding sec-fetch-mode".split(" ")
  )
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !transportsOwn.has(name)))
}

const readHeaders = { accept: "application/json", "x-client-id": clientId, "x-api-key": apiKey }
const writeHeaders = (idempotencyKey: string) => ({
  ...readHeaders,
  "content-type": "application/json",
  "idempotency-key": idempotencyKey
})

describe.each(Object.entries(transports))("over %s", (_, transport) => {
  const { succeeds } = on(transport)

  describe("the sent request", () => {
    const posted = (request: Arrived, path: string, key: string, body: string) => {
      assert.strictEqual(request.method, "POST")
      assert.strictEqual(request.path, path)
      assert.deepStrictEqual(ours(request), writeHeaders(key))
      assert.strictEqual(request.text, body)
      assert.strictEqual(request.headers["content-length"], String(Buffer.byteLength(body)))
    }

    live("a minimal PIX charge has amount, currency, method and customer, and nothing else", function* () {
      const { request } = yield* succeeds(json(created), (payments) => payments.createTransaction(charge))
      posted(
        request,
        createTransaction.path,
        "tx_1",
        `{"amount":2500,"currency":"BRL","paymentMethod":"PIX","customer":{"name":"Maria Silva","email":"maria@example.com"}}`
      )
    })

    live("a full PIX charge has each documented field under its documented name, in UTF-8", function* () {
      const same = { data: { ...created.data, amount: fullPix.amount } }
      const { request } = yield* succeeds(json(same), (payments) => payments.createTransaction(fullPix))
      assert.deepStrictEqual(JSON.parse(request.text), fullPix)
      assert.strictEqual(request.headers["content-length"], String(request.bytes.length))
    })

    live(
      "a boleto and a card charge have their undocumented fields unchanged, beside the documented ones",
      function* () {
        const extra = { boleto: { dueDate: "2026-12-01", fine: 2.5 }, softDescriptor: null, split: [1, { to: "a" }] }
        for (const paymentMethod of ["BOLETO", "CREDIT_CARD"] as const) {
          const { request } = yield* succeeds(json(created), (payments) =>
            payments.createTransaction({ amount: Money.centavos(1), paymentMethod, installments: 3, customer, extra })
          )
          assert.deepStrictEqual(JSON.parse(request.text), {
            amount: 1,
            currency: "BRL",
            paymentMethod,
            installments: 3,
            customer,
            ...extra
          })
        }
      }
    )

    live("a minimal withdrawal has amount and currency", function* () {
      const { request } = yield* succeeds(json(record("wd_1"), 201), (payments) =>
        payments.requestWithdrawal(withdrawal)
      )
      posted(request, requestWithdrawal.path, "wd_1", `{"amount":1000,"currency":"BRL"}`)
    })

    live(
      "a full withdrawal has key, kind, description and metadata, and a PixKey and a plain pair give the same bytes",
      function* () {
        const rest = {
          amount: Money.centavos(150_000),
          currency: "BRL",
          description: "Aluguel nº 4",
          metadata: { invoice: 42, tags: ["rent", null], nested: { deep: true } }
        }
        const asked: ReadonlyArray<WithdrawalRequest> = [
          { ...rest, pixKey: PixKey.cpf("529.982.247-25") },
          { ...rest, pixKey: "52998224725", pixKeyType: "CPF" },
          { ...rest, pixKey: "529.982.247-25", pixKeyType: "CPF" }
        ]
        for (const request of asked) {
          const sent = yield* succeeds(json({ ...record("wd_1"), pixKey: undefined }, 201), (payments) =>
            payments.requestWithdrawal(request)
          )
          assert.deepStrictEqual(JSON.parse(sent.request.text), {
            ...rest,
            pixKey: "52998224725",
            pixKeyType: "CPF"
          })
        }
      }
    )

    live("metadata that is text is sent as that text", function* () {
      const { request } = yield* succeeds(json(record("wd_1"), 201), (payments) =>
        payments.requestWithdrawal({ ...withdrawal, metadata: `{"a": 1}` })
      )
      assert.strictEqual(request.text, String.raw`{"amount":1000,"currency":"BRL","metadata":"{\"a\": 1}"}`)
    })

    live("each kind of PIX key is sent as the directory writes it", function* () {
      const kinds: ReadonlyArray<readonly [PixKey.PixKey, string, string]> = [
        [PixKey.cpf("111.444.777-35"), "CPF", "11144477735"],
        [PixKey.cnpj("12.ABC.345/01DE-35"), "CNPJ", "12ABC34501DE35"],
        [PixKey.email("Maria@Example.com"), "EMAIL", "maria@example.com"],
        [PixKey.phone("(11) 91234-5684"), "PHONE", "+5511912345684"],
        [PixKey.evp("123E4567-E12B-12D1-A456-426655440000"), "EVP", "123e4567-e12b-12d1-a456-426655440000"]
      ]
      for (const [pixKey, pixKeyType, text] of kinds) {
        const { request } = yield* succeeds(json({ ...record("wd_1"), pixKey: undefined }, 201), (payments) =>
          payments.requestWithdrawal({ ...withdrawal, pixKey })
        )
        assert.deepStrictEqual(JSON.parse(request.text), {
          amount: 1000,
          currency: "BRL",
          pixKey: text,
          pixKeyType
        })
      }
    })

    live("a key that the caller gives is sent unchanged as the header", function* () {
      const idempotencyKey = `!"#$%&'()*+,-./:;<=>?@[\\]^_\`{|}~${"k".repeat(200)}`
      const charged = yield* succeeds(json(created), (payments) =>
        payments.createTransaction(charge, { idempotencyKey })
      )
      assert.strictEqual(charged.request.headers["idempotency-key"], idempotencyKey)
      assert.strictEqual(charged.value.idempotencyKey, idempotencyKey)
      const paid = yield* succeeds(json(record(idempotencyKey), 201), (payments) =>
        payments.requestWithdrawal(withdrawal, { idempotencyKey })
      )
      assert.strictEqual(paid.request.headers["idempotency-key"], idempotencyKey)
    })

    live("a read is a GET without body, content type and key", function* () {
      const looked = yield* succeeds(json(detail), (payments) => payments.getTransaction(transactionId))
      assert.strictEqual(looked.request.method, "GET")
      assert.strictEqual(looked.request.path, getTransaction.path)
      assert.deepStrictEqual(ours(looked.request), readHeaders)
      assert.strictEqual(looked.request.bytes.length, 0)
      assert.isUndefined(looked.request.headers["content-length"])
    })

    live("a list sends the given options and leaves the others to the service", function* () {
      const { path } = listTransactions
      const cases: ReadonlyArray<readonly [Parameters<Payments["Service"]["listTransactions"]>[0], string]> = [
        [undefined, path],
        [{}, path],
        [{ page: 2 }, `${path}?page=2`],
        [{ pageSize: 100, sort: "createdAt_asc" }, `${path}?pageSize=100&sort=createdAt_asc`],
        [{ page: 1, pageSize: 1, sort: "createdAt_desc" }, `${path}?page=1&pageSize=1&sort=createdAt_desc`]
      ]
      for (const [options, expected] of cases) {
        const { request } = yield* succeeds(json(listed), (payments) => payments.listTransactions(options))
        assert.deepStrictEqual([request.method, request.path], ["GET", expected])
        assert.deepStrictEqual(ours(request), readHeaders)
      }
    })

    live(
      "a balance is requested for the named company, or else for the configured one, in BRL unless another currency is given",
      function* () {
        const cases: ReadonlyArray<readonly [Parameters<Payments["Service"]["getBalance"]>[0], string]> = [
          [undefined, `${balancePath(7)}?currency=BRL`],
          [{ companyId: 8 }, `${balancePath(8)}?currency=BRL`],
          [{ companyId: 0 }, `${balancePath(0)}?currency=BRL`],
          [{ currency: "USD" }, `${balancePath(7)}?currency=USD`],
          [{ companyId: undefined, currency: undefined }, `${balancePath(7)}?currency=BRL`]
        ]
        for (const [options, expected] of cases) {
          const { request } = yield* succeeds(json(balance), (payments) => payments.getBalance(options), {
            companyId: 7
          })
          assert.deepStrictEqual([request.method, request.path], ["GET", expected])
          assert.deepStrictEqual(ours(request), readHeaders)
        }
      }
    )

    live("a path prefix of the base URL is put before every path", function* () {
      for (const prefix of ["/pix/v2", "/pix/v2/", "/pix/v2//"]) {
        const charged = yield* succeeds(json(created), (payments) => payments.createTransaction(charge), { prefix })
        assert.strictEqual(charged.request.path, `/pix/v2${createTransaction.path}`)
        const read = yield* succeeds(json(balance), (payments) => payments.getBalance({ companyId: 7 }), { prefix })
        assert.strictEqual(read.request.path, `/pix/v2${getBalance.path}`)
      }
    })

    live("an id with punctuation stays one segment of the path", function* () {
      for (const id of ["a?b#c", "%2e%2e", "...", "a:b@c;d", "a%2Fb"]) {
        const own = json({ ...detail, transactionId: id })
        const { request } = yield* succeeds(own, (payments) => payments.getTransaction(id))
        assert.strictEqual(request.path, lookupPath(encodeURIComponent(id)), `for ${id}`)
      }
    })

    live("a retry sends the same key and the same bytes", function* () {
      const { requests, script, url } = yield* makeGateway
      const pay = Effect.flatMap(Payments, (payments) =>
        payments.requestWithdrawal({
          ...withdrawal,
          pixKey: PixKey.email("maria@example.com"),
          description: "Aluguel \u{1F3E0}",
          metadata: { z: 1, a: [0.1, "é"] }
        })
      ).pipe(Effect.provide(Layer.provide(paymentsOn(transport, { baseUrl: url }), impatient)))
      script(answer(503), reset, json(record("wd_1"), 201))
      yield* pay
      assert.strictEqual(requests.length, 3)
      const [first, ...others] = requests
      assert.isAbove(first?.bytes.length ?? 0, 100)
      for (const other of others) {
        assert.deepStrictEqual(other.bytes, first?.bytes)
        assert.deepStrictEqual(ours(other), writeHeaders("wd_1"))
      }
    })
  })
})
