/**
 * One script of requests, run in memory and over a socket: the answers are the same, to the byte where no clock is in
 * them.
 */
import { assert, describe } from "@effect/vitest"
import { Fault, Sandbox, SandboxOptions } from "effect-pix/sandbox"
import { Effect, Layer } from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest, type HttpMethod } from "effect/http"
import {
  balancePath,
  chargeBody,
  lookupPath,
  createTransaction,
  listTransactions,
  requestWithdrawal,
  withdrawalBody
} from "../support/operations.ts"
import { effect, live } from "../support/effect.ts"

const auth = { "x-client-id": "sandbox-client", "x-api-key": "sandbox-key" }
const reads = { ...auth, accept: "application/json" }
const writes = { ...reads, "content-type": "application/json" }

interface Step {
  readonly does: string
  readonly method?: HttpMethod.HttpMethod
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly fault?: Fault.Fault
  /** What is to come back; in memory and over a socket alike. */
  readonly status: number
  readonly allow?: string
}

const post = { method: "POST", headers: writes } as const
const get = { headers: reads } as const

const script: ReadonlyArray<Step> = [
  { does: "creates", ...post, path: createTransaction.path, body: chargeBody, status: 200 },
  {
    does: "refuses an amount that no QR code can state",
    ...post,
    path: createTransaction.path,
    body: { ...chargeBody, amount: 9_000_000_000_000_000 },
    status: 400
  },
  { does: "creates after a refusal", ...post, path: createTransaction.path, body: chargeBody, status: 200 },
  {
    does: "refuses without credentials",
    path: listTransactions.path,
    headers: { accept: "application/json" },
    status: 401
  },
  { does: "refuses without Accept", path: listTransactions.path, headers: { ...auth, accept: "*/*" }, status: 406 },
  {
    does: "refuses another Accept",
    path: listTransactions.path,
    headers: { ...auth, accept: "text/html" },
    status: 406
  },
  {
    does: "takes JSON among others",
    path: listTransactions.path,
    headers: { ...auth, accept: "text/html, Application/JSON;q=0.9" },
    status: 200
  },
  {
    does: "refuses another Content-Type",
    ...post,
    headers: { ...writes, "content-type": "text/plain" },
    path: createTransaction.path,
    body: chargeBody,
    status: 415
  },
  {
    does: "takes a charset",
    ...post,
    headers: { ...writes, "content-type": "application/json; charset=utf-8" },
    path: createTransaction.path,
    body: chargeBody,
    status: 200
  },
  {
    does: "refuses a charge without currency",
    ...post,
    path: createTransaction.path,
    body: { ...chargeBody, currency: undefined },
    status: 400
  },
  {
    does: "refuses a payout without currency",
    ...post,
    path: requestWithdrawal.path,
    body: { amount: 1000 },
    status: 400
  },
  { does: "refuses an empty body", ...post, path: createTransaction.path, body: "", status: 400 },
  { does: "refuses broken JSON", ...post, path: createTransaction.path, body: "{", status: 400 },
  { does: "refuses an array", ...post, path: createTransaction.path, body: [chargeBody], status: 400 },
  {
    does: "refuses a day that does not exist",
    ...post,
    path: createTransaction.path,
    body: { ...chargeBody, pix: { expiresInDays: 100_000_000 } },
    status: 400
  },
  {
    does: "takes the last century",
    ...post,
    path: createTransaction.path,
    body: { ...chargeBody, pix: { expiresInDays: 36_500 } },
    status: 200
  },
  {
    does: "refuses what is nested too deep",
    ...post,
    path: requestWithdrawal.path,
    body: `{"metadata":${"[".repeat(5000)}${"]".repeat(5000)}}`,
    status: 400
  },
  {
    does: "takes brackets in a text",
    ...post,
    path: createTransaction.path,
    body: { ...chargeBody, customer: { ...chargeBody.customer, name: "[{".repeat(200) } },
    status: 200
  },
  {
    does: "refuses a body over a mebibyte",
    ...post,
    path: createTransaction.path,
    body: " ".repeat(1_200_000),
    status: 413
  },
  { does: "finds no path elsewhere", ...get, path: "/nowhere", status: 404 },
  { does: "finds no charge without an id", ...get, path: lookupPath(""), status: 404 },
  { does: "refuses an id that does not decode", ...get, path: lookupPath("%zz"), status: 404 },
  { does: "finds no charge of another id", ...get, path: lookupPath("nobody"), status: 404 },
  { does: "takes an encoded id", ...get, path: lookupPath("%61".repeat(40)), status: 404 },
  { does: "has another method for creating", ...get, path: createTransaction.path, status: 405, allow: "POST" },
  { does: "has another method for listing", ...post, path: listTransactions.path, body: {}, status: 405, allow: "GET" },
  { does: "has no HEAD", method: "HEAD", headers: reads, path: listTransactions.path, status: 405, allow: "GET" },
  { does: "has no DELETE", method: "DELETE", headers: reads, path: listTransactions.path, status: 405, allow: "GET" },
  { does: "lists", ...get, path: `${listTransactions.path}?page=1&pageSize=2&sort=createdAt_asc`, status: 200 },
  { does: "refuses a page of a thousand", ...get, path: `${listTransactions.path}?pageSize=1000`, status: 400 },
  { does: "reads the balance", ...get, path: `${balancePath(1)}?currency=BRL`, status: 200 },
  {
    does: "drops space around a header",
    ...post,
    headers: { ...writes, "idempotency-key": "  k 1  " },
    path: requestWithdrawal.path,
    body: withdrawalBody,
    status: 400
  },
  {
    does: "takes a key with space around it",
    ...post,
    headers: { ...writes, "idempotency-key": " \tk1 " },
    path: requestWithdrawal.path,
    body: withdrawalBody,
    status: 201
  },
  {
    does: "knows that key",
    ...post,
    headers: { ...writes, "idempotency-key": "k1" },
    path: requestWithdrawal.path,
    body: { currency: "BRL", amount: 1000 },
    status: 201
  },
  {
    does: "refuses another body under it",
    ...post,
    headers: { ...writes, "idempotency-key": "k1" },
    path: requestWithdrawal.path,
    body: { ...withdrawalBody, amount: 1001 },
    status: 422
  },
  { does: "answers a page", ...get, path: listTransactions.path, fault: Fault.html(502), status: 502 },
  { does: "answers nothing", ...get, path: listTransactions.path, fault: Fault.empty(204), status: 204 },
  { does: "asks to wait", ...get, path: listTransactions.path, fault: Fault.retryAfter("90 seconds"), status: 429 }
]

const shownHeaders = ["content-type", "content-length", "content-encoding", "allow", "retry-after"]
const instants = /\d{4}-\d\d-\d\dT[\d:.]+Z/g

const play = Effect.gen(function* () {
  const sandbox = yield* Sandbox
  const answers: Array<readonly [string, number, Readonly<Record<string, string | undefined>>, string]> = []
  for (const { body, does, fault, headers, method = "GET", path } of script) {
    if (fault !== undefined) yield* sandbox.fault("any", fault)
    const request = HttpClientRequest.make(method)(`${sandbox.baseUrl}${path}`, { headers })
    const text = typeof body === "string" ? body : JSON.stringify(body)
    const response = yield* HttpClient.execute(
      body === undefined ? request : HttpClientRequest.bodyText(request, text, headers["content-type"] ?? "")
    )
    const shown = Object.fromEntries(shownHeaders.map((name) => [name, response.headers[name]]))
    answers.push([does, response.status, shown, (yield* response.text).replaceAll(instants, "<instant>")])
  }
  const recorded = (yield* sandbox.requests).map(({ fault, idempotencyKey, method, path, status }) => [
    method,
    path,
    idempotencyKey,
    fault,
    status
  ])
  return { answers, recorded }
})

const options = Layer.succeed(SandboxOptions, { balance: 10_000, seed: "conformance" })
const inMemory = Effect.provide(play, Layer.provide(Sandbox.layer, options))
const overHttp = Effect.provide(play, [Layer.provide(Sandbox.layerServer, options), FetchHttpClient.layer])

describe("a script of requests", () => {
  live(
    "a script of requests gets the statuses of the contract, and each refusal has a body with its status",
    function* () {
      const { answers } = yield* inMemory
      for (const [index, { allow, does, fault, method, status }] of script.entries()) {
        const [, answered, headers, text = ""] = answers[index] ?? []
        assert.strictEqual(answered, status, does)
        assert.strictEqual(headers?.["allow"], allow, does)
        if (status >= 400 && fault === undefined && method !== "HEAD") {
          const { message, status: told } = JSON.parse(text)
          assert.strictEqual(told, status, does)
          assert.isNotEmpty(message, does)
        }
      }
    }
  )

  live("a script of requests gets the same answers in memory and over a socket", function* () {
    const memory = yield* inMemory
    const socket = yield* overHttp
    for (const [index, answer] of memory.answers.entries()) assert.deepStrictEqual(socket.answers[index], answer)
    assert.deepStrictEqual(socket.recorded, memory.recorded)
  })

  live("a header that cannot be sent fails in memory as over a socket", function* () {
    const ask = Effect.gen(function* () {
      const { baseUrl } = yield* Sandbox
      const headers = { ...reads, "idempotency-key": "a\u2603b" }
      const error = yield* Effect.flip(HttpClient.get(`${baseUrl}${listTransactions.path}`, { headers }))
      return error.reason._tag
    })
    const memory = yield* Effect.provide(ask, Layer.provide(Sandbox.layer, options))
    const socket = yield* Effect.provide(ask, [Layer.provide(Sandbox.layerServer, options), FetchHttpClient.layer])
    assert.strictEqual(memory, socket)
  })
})

const untyped = Effect.gen(function* () {
  const { baseUrl } = yield* Sandbox
  const body = new TextEncoder().encode(JSON.stringify({ ...chargeBody, currency: undefined }))
  const request = HttpClientRequest.post(`${baseUrl}${createTransaction.path}`, { headers: auth })
  const bare = HttpClientRequest.removeHeader(HttpClientRequest.bodyUint8Array(request, body), "content-type")
  const accepting = HttpClientRequest.setHeader(bare, "accept", "application/json")
  return [(yield* HttpClient.execute(bare)).status, (yield* HttpClient.execute(accepting)).status]
})

describe("a lenient sandbox", () => {
  effect(
    "the default sandbox refuses a request without Accept, and then one without Content-Type",
    Layer.provide(Sandbox.layer, options),
    function* () {
      assert.deepStrictEqual(yield* untyped, [406, 415])
    }
  )

  effect(
    "a lenient sandbox takes a request without Accept, Content-Type and currency, and the currency is BRL",
    Layer.provide(Sandbox.layer, Layer.succeed(SandboxOptions, { strict: false })),
    function* () {
      assert.deepStrictEqual(yield* untyped, [200, 200])
      const [created] = yield* (yield* Sandbox).transactions
      assert.strictEqual(created?.currency, "BRL")
    }
  )
})

describe("a charge in another currency", () => {
  effect(
    "a charge in another currency is refused with 422, and nothing is created",
    Layer.provide(Sandbox.layer, options),
    function* () {
      const sandbox = yield* Sandbox
      const body = JSON.stringify({ ...chargeBody, currency: "USD" })
      const request = HttpClientRequest.post(`${sandbox.baseUrl}${createTransaction.path}`, { headers: writes })
      const answer = yield* HttpClient.execute(HttpClientRequest.bodyText(request, body, "application/json"))
      assert.strictEqual(answer.status, 422)
      assert.deepStrictEqual(yield* sandbox.transactions, [])
    }
  )
})
