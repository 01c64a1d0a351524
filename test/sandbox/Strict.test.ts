/** What the sandbox refuses before it executes anything, over a real socket. */
import { assert, describe, it } from "@effect/vitest"
import { Sandbox, SandboxOptions } from "effect-pix/sandbox"
import { Effect, Layer } from "effect"
import { request as httpRequest } from "node:http"
import { live } from "../support/effect.ts"

const served = (options: SandboxOptions = {}) =>
  Layer.provide(Layer.fresh(Sandbox.layerServer), Layer.succeed(SandboxOptions, options))

const auth = { "x-client-id": "sandbox-client", "x-api-key": "sandbox-key", accept: "application/json" }

/** Sends a request whose target is written as it is. */
const ask = (method: string, path: string, body?: unknown) =>
  Effect.flatMap(Sandbox, ({ baseUrl }) =>
    Effect.callback<{ readonly status: number; readonly body: Record<string, unknown> }, Error>((resume) => {
      const { hostname, port } = new URL(baseUrl)
      const headers = { ...auth, ...(body !== undefined && { "content-type": "application/json" }) }
      const request = httpRequest({ hostname, port, method, path, headers }, (response) => {
        let text = ""
        response.on("data", (chunk: Buffer) => (text += chunk.toString()))
        response.on("end", () => {
          resume(Effect.try(() => ({ status: response.statusCode ?? 0, body: JSON.parse(text) })).pipe(Effect.orDie))
        })
      })
      request.on("error", (error) => resume(Effect.fail(error)))
      request.end(body instanceof Uint8Array || body === undefined ? body : JSON.stringify(body))
    })
  )

const create = "/api/v1/transactions/create"
const withdraw = "/api/Withdraw/request"
const customer = { name: "Maria Silva", email: "maria@example.com" }
const charge = { amount: 2500, currency: "BRL", paymentMethod: "PIX", customer }
const payout = { amount: 1000, currency: "BRL" }

describe("a sum beyond the safe integers", () => {
  live(
    "a credit beyond the safe integers is refused, and the balance does not change",
    served({ balance: 10_000 }),
    function* () {
      const credited = yield* ask("POST", "/_sandbox/credit", { amount: Number.MAX_SAFE_INTEGER })
      assert.strictEqual(credited.status, 400)
      assert.include(String(credited.body["message"]), "amount")
      assert.strictEqual((yield* ask("GET", "/_sandbox/overview")).body["balance"], 10_000)
    }
  )

  live(
    "a charge beyond the safe integers is refused, and none is created",
    served({ balance: Number.MAX_SAFE_INTEGER - 1000 }),
    function* () {
      const sandbox = yield* Sandbox
      assert.strictEqual((yield* ask("POST", create, charge)).status, 422)
      assert.deepStrictEqual(yield* sandbox.transactions, [])
      assert.strictEqual((yield* ask("POST", create, { ...charge, amount: 1000 })).status, 200)
      const [created] = yield* sandbox.transactions
      yield* sandbox.markPaid(created?.transactionId ?? "")
      assert.strictEqual((yield* ask("GET", "/_sandbox/overview")).body["balance"], Number.MAX_SAFE_INTEGER)
    }
  )

  live(
    "a payment of another amount beyond the safe integers is refused, and the charge stays as it is",
    served(),
    function* () {
      const { transactionId } = yield* (yield* Sandbox).charge(100)
      const paid = yield* ask("POST", "/_sandbox/markPaid", { transactionId, amount: Number.MAX_SAFE_INTEGER })
      assert.strictEqual(paid.status, 400)
      assert.strictEqual((yield* (yield* Sandbox).transactions)[0]?.status, "Awaiting")
    }
  )
})

describe("a target that is no path", () => {
  it.live.each(["//[", "//", "/%zz", "*", "http://127.0.0.1//["])(
    "the target %s, which is no path, is answered with a JSON body",
    (path) =>
      Effect.gen(function* () {
        const { body, status } = yield* ask("GET", path)
        assert.deepStrictEqual([status, body["status"]], [404, 404])
      }).pipe(Effect.provide(served()))
  )
})

describe("a PIX key", () => {
  it.live.each([
    { pixKey: "123", pixKeyType: "CPF" },
    { pixKey: "123" },
    { pixKey: "maria@example.com", pixKeyType: "PHONE" }
  ])("the PIX key %j is refused with 422, and nothing is paid", (key) =>
    Effect.gen(function* () {
      const { body, status } = yield* ask("POST", withdraw, { ...payout, ...key })
      assert.strictEqual(status, 422)
      assert.include(String(body["message"]), "pixKey")
      assert.deepStrictEqual(yield* (yield* Sandbox).withdrawals, [])
    }).pipe(Effect.provide(served({ balance: 10_000 })))
  )

  live("a PIX key of its kind is paid, with its kind and without", served({ balance: 10_000 }), function* () {
    const key = { pixKey: "529.982.247-25", pixKeyType: "CPF" }
    assert.strictEqual((yield* ask("POST", withdraw, { ...payout, ...key })).status, 201)
    assert.strictEqual((yield* ask("POST", withdraw, { ...payout, pixKey: "maria@example.com" })).status, 201)
  })
})

describe("a refusal of a body", () => {
  const invalid = new TextEncoder().encode(JSON.stringify(charge)).map((byte) => (byte === 0x4d ? 0xff : byte))

  live("the refusal of a body that is no UTF-8 says so, and nothing is created", served(), function* () {
    const { body, status } = yield* ask("POST", create, invalid)
    assert.strictEqual(status, 400)
    assert.include(String(body["message"]), "UTF-8")
    assert.deepStrictEqual(yield* (yield* Sandbox).transactions, [])
  })

  const wrong: ReadonlyArray<readonly [sent: unknown, field: string]> = [
    [{ ...charge, amount: "x" }, "amount"],
    [{ ...charge, amount: 2 ** 53 }, "amount"],
    [{ ...charge, amount: 2.5 }, "amount"],
    [{ ...charge, customer: { name: "Maria" } }, "customer.email"],
    [{ ...charge, paymentMethod: "CASH" }, "paymentMethod"],
    [{ ...charge, paymentMethod: "BOLETO", pix: { expiresInDays: 1 } }, "pix"],
    [{ ...charge, ip: "here" }, "ip"],
    [{ ...charge, items: [{ title: "Book", unitPrice: -1, quantity: 1, tangible: true }] }, "items.0.unitPrice"],
    [[], "objeto"]
  ]
  it.live.each(wrong)("the refusal of %j is in Portuguese and names the field", ([sent, field]) =>
    Effect.gen(function* () {
      const { body, status } = yield* ask("POST", create, sent)
      assert.strictEqual(status, 400)
      const message = String(body["message"])
      assert.match(message, /^Corpo inválido: /)
      assert.include(message, field)
      assert.notMatch(message, /Expected|Missing|extra|\n/)
    }).pipe(Effect.provide(served()))
  )
})
