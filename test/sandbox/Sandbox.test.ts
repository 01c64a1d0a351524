/** One contract of the gateway's paths, asked of the sandbox in memory and over a socket (`Sandbox.layerServer`). */
import { assert, describe } from "@effect/vitest"
import Ajv from "ajv/dist/2020.js"
import { Effect } from "effect"
import { OpenApi } from "effect/http-api"
import { PaymentsApi } from "effect-pix/api"
import { Sandbox, type SandboxOptions } from "effect-pix/sandbox"
import { all } from "../../src/contract/Endpoints.ts"
import { effect } from "../support/effect.ts"
import { chargeBody, listTransactions, lookupPath } from "../support/operations.ts"
import { runs, seed, seeded } from "../support/seed.ts"
import { type Asked, ask, charging, keyed, memory, paying, socket } from "../support/doors.ts"

const list: Asked = { path: listTransactions.path }
const query = (text: string): Asked => ({ path: `${listTransactions.path}?${text}` })
const lookup = (id: string): Asked => ({ path: lookupPath(id) })
const balance = (rest: string): Asked => ({ path: `/api/Balance/balance/${rest}` })
const customer = (changes: object) => charging({ customer: { ...chargeBody.customer, ...changes } })
const item = { title: "Book", unitPrice: 100, quantity: 1, tangible: true }
const loose = charging({ currency: undefined }, { accept: "*/*", "content-type": undefined })
const full = { balance: Number.MAX_SAFE_INTEGER - 10_500 }
const noUtf8 = new TextEncoder().encode(JSON.stringify(chargeBody)).map((byte) => (byte === 0x4d ? 0xff : byte))

type Row = readonly [what: string, status: number, asked: Asked, words?: string, options?: SandboxOptions]

/** What is refused, with words of its message. */
const refused: ReadonlyArray<Row> = [
  ["a request without credentials", 401, { ...list, headers: { "x-client-id": undefined, "x-api-key": undefined } }],
  ["a request with another client id", 401, { ...list, headers: { "x-client-id": "other" } }],
  ["a broken write with another secret key", 401, { ...charging({}, { "x-api-key": "other" }), body: "{" }],
  ["a request for another type", 406, { ...list, headers: { accept: "text/html, image/*" } }, "Accept"],
  ["an unknown path", 404, { path: "/nowhere" }, "Rota não encontrada."],
  ["a longer path than that of an endpoint", 404, { path: `${listTransactions.path}/1` }],
  ["a POST to the list", 405, { ...list, body: {} }],
  ["a HEAD of the list", 405, { ...list, method: "HEAD" }],
  ["a charge of a type that begins like JSON", 415, charging({}, { "content-type": "application/jsonp" })],
  ["a charge without a content type", 415, charging({}, { "content-type": undefined })],
  ["a body over a mebibyte", 413, { ...charging(), body: " ".repeat(1024 * 1024 + 1) }, "grande demais"],
  ["broken JSON", 400, { ...charging(), body: "{" }, "deve ser um objeto JSON"],
  ["an array", 400, { ...charging(), body: [chargeBody] }, "deve ser um objeto JSON"],
  ["a body that is no UTF-8", 400, { ...charging(), body: noUtf8 }, "não é UTF-8"],
  ["a body nested too deep", 400, { ...paying(), body: `{"metadata":${"[".repeat(5000)}${"]".repeat(5000)}}` }],
  ["a charge without a currency", 400, charging({ currency: undefined }), "Corpo inválido: currency é obrigatório."],
  ["a charge in dollars", 422, charging({ currency: "USD" }), "somente BRL"],
  ["a charge of a text", 400, charging({ amount: "x" }), "amount tem um valor inválido"],
  ["a charge of nothing", 400, charging({ amount: 0 }), "amount"],
  ["a charge of half a centavo", 400, charging({ amount: 25.5 }), "amount"],
  ["a charge that no QR code can state", 400, charging({ amount: 1_000_000_000_000 }), "de 1 a 999999999999 centavos"],
  ["a charge by another method", 400, charging({ paymentMethod: "CASH" }), "paymentMethod"],
  ["a boleto with the options of PIX", 400, charging({ paymentMethod: "BOLETO", pix: { expiresInDays: 1 } }), "pix"],
  ["a customer without an e-mail", 400, charging({ customer: { name: "Maria" } }), "customer.email é obrigatório"],
  ["a customer with a wrong phone", 400, customer({ phone: "not-a-phone-4711" }), "customer.phone"],
  ["an item below zero", 400, charging({ items: [item, { ...item, unitPrice: -1 }] }), "items.1.unitPrice"],
  ["a charge over the year 9999", 400, charging({ pix: { expiresInDays: 100_000_000 } }), "passa da última data"],
  ["a charge that the ledger cannot sum", 422, charging({ amount: 8001 }), "A soma", full],
  ["a page size over 100", 400, query("pageSize=101"), "Parâmetros inválidos: pageSize"],
  ["a page before the first", 400, query("page=0"), "page"],
  ["an order by amount", 400, query("sort=amount_desc"), "sort"],
  ["a lookup of nobody's charge", 404, lookup("nobody"), "Transação não encontrada."],
  ["a lookup without an id", 404, lookup("")],
  ["a lookup of an id that does not decode", 404, lookup("%zz")],
  ["a lookup of an encoded id", 404, lookup("%61".repeat(40)), "Transação não encontrada."],
  ["the balance of another company", 404, balance("2"), "Empresa não encontrada."],
  ["the balance of no number", 400, balance("one"), "Caminho inválido: companyId"],
  ["the balance in dollars", 422, balance("1?currency=USD"), "somente BRL"],
  ["a payout in dollars", 422, paying({ currency: "USD" }), "somente BRL"],
  ["a payout under the minimum", 422, paying({ amount: 999 }), "mínimo de saque é de R$ 10,00"],
  ["a payout over the balance", 422, paying({ amount: 9001 }), "Saldo insuficiente"],
  ["a payout to no CPF", 422, paying({ pixKey: "123", pixKeyType: "CPF" }), "pixKey não é uma chave"],
  ["a payout to a key of another kind", 422, paying({ pixKey: "maria@example.com", pixKeyType: "PHONE" }), "pixKey"],
  ["a payout without a key to a company without one", 422, paying(), "nenhuma chave PIX cadastrada", { pixKey: null }],
  ["an idempotency key with a space in it", 400, paying({}, keyed("k 1")), "Cabeçalhos inválidos: idempotency-key"],
  ["an idempotency key that is too long", 400, paying({}, keyed("k".repeat(256))), "Cabeçalhos inválidos"],
  ["a used key with another payout", 422, paying({ amount: 1001 }, keyed("used")), "já foi usada com outro corpo"],
  ["a used key with another charge", 422, charging({ amount: 2501 }, keyed("used")), "já foi usada com outro corpo"]
]

/** What is answered in a shape that the document of the contract describes. */
const taken: ReadonlyArray<Row> = [
  ["a charge", 200, charging()],
  ["a charge with a charset", 200, charging({}, { "content-type": "Application/JSON ; charset=utf-8" })],
  ["a charge by boleto", 200, charging({ paymentMethod: "BOLETO", dueDate: "2026-02-01" })],
  ["a charge of the largest amount", 200, charging({ amount: 999_999_999_999 })],
  ["a customer with brackets in the name", 200, customer({ name: "[{".repeat(200) })],
  ["a charge that the ledger can just sum", 200, charging({ amount: 8000 }), "", full],
  ["a request for anything, as curl sends it", 200, { ...list, headers: { accept: "*/*" } }],
  ["a request for JSON among others", 200, { ...list, headers: { accept: "text/html, Application/JSON;q=0.9" } }],
  ["a page in the oldest order", 200, query("page=1&pageSize=100&sort=createdAt_asc")],
  ["a payout of all that there is", 201, paying({ amount: 9000 })],
  ["a payout to a key without its kind", 201, paying({ pixKey: "maria@example.com" })],
  ["a key with space around it", 201, paying({}, keyed(" \tspaced "))],
  ["a used key with the same payout", 201, { ...paying({}, keyed("used")), body: '{"currency":"BRL", "amount":1000}' }],
  ["a charge without what is strict", 200, loose, "", { strict: false }]
]

const stored = Effect.gen(function* () {
  const { balance, transactions, withdrawals } = yield* Sandbox
  return [yield* transactions, yield* withdrawals, yield* balance] as const
})

const optionsOf = ([, , , , options]: Row): SandboxOptions => ({ balance: 10_000, seed: "contract", ...options })

/** Plays a row where a charge and a payout were made under the key `used`: its answer, and what it changed. */
const play = Effect.fnUntraced(function* ([, , asked]: Row) {
  const { requests } = yield* Sandbox
  yield* ask(charging({}, keyed("used")))
  yield* ask(paying({}, keyed("used")))
  const before = yield* stored
  const { headers, status, text } = yield* ask(asked)
  const shown = ["content-type", "content-length", "allow"].map((name) => headers[name])
  const records = (yield* requests).map((one) => [one.method, one.path, one.query, one.idempotencyKey, one.status])
  const operation = (yield* requests).at(-1)?.operation
  return { before, after: yield* stored, operation, allow: headers["allow"], answer: { status, text, shown, records } }
})
const playInMemory = (row: Row) => Effect.provide(play(row), memory(optionsOf(row)))

const ajv = new Ajv.default({ strict: false, validateFormats: false })
ajv.addSchema({ ...OpenApi.fromApi(PaymentsApi), $id: "document" })

/** Fails where the document of the contract does not describe a success. */
const requireDocumented = (operation: keyof typeof all | undefined, status: number, text: string) => {
  const { method, path } = all[operation ?? "getBalance"]
  const pointer = path.replaceAll(/:(\w+)/g, "{$1}").replaceAll("/", "~1")
  const check = ajv.getSchema(
    `document#/paths/${pointer}/${method.toLowerCase()}/responses/${status}/content/application~1json/schema`
  )
  assert.isTrue(check?.(JSON.parse(text)), `${operation} ${status} ${text} ${ajv.errorsText(check?.errors)}`)
}

/** Fails where a refusal does not say what is wrong, in its status and in words without the values that were sent. */
const requireRefusal = (status: number, text: string, words = "") => {
  const refusal = JSON.parse(text)
  assert.deepStrictEqual(Object.keys(refusal).toSorted(), ["message", "status"])
  assert.strictEqual(refusal.status, status)
  assert.match(refusal.message, /^\p{L}.*\.$/u)
  assert.include(refusal.message, words)
  assert.notMatch(refusal.message, /Expected|Missing|extra|4711|\n/)
}

describe("the sandbox", () => {
  effect.each(refused)("refuses %s with %i, and stores nothing", function* (row) {
    const [, status, { method, path }, words] = row
    const { after, allow, answer, before } = yield* playInMemory(row)
    assert.strictEqual(answer.status, status)
    if (method !== "HEAD") requireRefusal(status, answer.text, words)
    const endpoint = Object.values(all).find((one) => one.path === path)
    assert.strictEqual(allow, status === 405 ? endpoint?.method : undefined)
    assert.deepStrictEqual(after, before)
  })

  effect.each(taken)("answers %s with %i, in the shape of the document", function* (row) {
    const { answer, operation } = yield* playInMemory(row)
    assert.strictEqual(answer.status, row[1], answer.text)
    requireDocumented(operation, answer.status, answer.text)
  })

  const usual = [...refused, ...taken].filter(([, , , , options]) => options === undefined)
  effect(
    "answers and records over a socket what it does in memory",
    socket(optionsOf(["a usual row", 200, list])),
    function* () {
      for (const row of usual) {
        yield* (yield* Sandbox).reset
        assert.deepStrictEqual([row[0], (yield* play(row)).answer], [row[0], (yield* playInMemory(row)).answer])
      }
    }
  )
})

const wild = [null, true, -1, 1.5, 2 ** 53, "", "\ud800", [], {}, [[[[]]]], "__proto__"] as const

effect(
  `the sandbox answers a spoiled body, or refuses it in words of its own, and never fails (seed ${seed})`,
  memory({ balance: 1e9 }),
  function* () {
    const { below, pick } = seeded(seed)
    const spoil = (value: unknown): unknown => {
      if (typeof value !== "object" || value === null || below(5) === 0) return pick(wild)
      const [name, old] = pick([["unknown", 1], ...Object.entries(value)])
      return { ...value, [name]: below(3) === 0 ? undefined : below(3) === 0 ? spoil(old) : pick(wild) }
    }
    const posted = taken.map(([, , asked]) => asked).filter(({ body }) => typeof body === "object")
    const statuses = new Set<number>()
    for (let count = runs(400, 20_000); count > 0; count--) {
      const { body, path } = pick([paying(), ...posted])
      const spoiled = JSON.stringify(spoil(body))
      const { status, text } = yield* ask({ path, body: spoiled })
      statuses.add(status)
      if (status >= 400) requireRefusal(status, text)
      assert.isBelow(status, 500, spoiled)
    }
    assert.includeMembers([...statuses], [200, 201, 400])
  }
)
