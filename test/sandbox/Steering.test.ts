import { assert, describe, it } from "@effect/vitest"
import { OpenApi } from "effect/http-api"
import { Money, PixKey } from "effect-pix"
import { Sandbox, SandboxApi, SandboxOptions } from "effect-pix/sandbox"
import { Effect, Layer } from "effect"
import { execFile, spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { request as httpRequest } from "node:http"
import { connect } from "node:net"
import { promisify } from "node:util"
import {
  chargeBody,
  createTransaction,
  listTransactions,
  requestWithdrawal,
  withdrawalBody
} from "../support/operations.ts"

const options: SandboxOptions = { balance: 10_000, seed: "steering", webhookUrl: ["http://127.0.0.1:9/hook"] }
const served = Layer.provide(Sandbox.layerServer, Layer.succeed(SandboxOptions, options))

const auth = { "x-client-id": "sandbox-client", "x-api-key": "sandbox-key", accept: "application/json" }

/** Asks by node:http, which lets a test say any header. */
const ask = (method: string, path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}) =>
  Effect.flatMap(Sandbox, ({ baseUrl }) =>
    Effect.callback<
      { readonly status: number; readonly headers: Record<string, unknown>; readonly text: string },
      Error
    >((resume) => {
      const sent = body === undefined ? undefined : JSON.stringify(body)
      const type = sent === undefined ? {} : { "content-type": "application/json" }
      const request = httpRequest(`${baseUrl}${path}`, { method, headers: { ...type, ...headers } }, (response) => {
        const chunks: Array<Buffer> = []
        response.on("data", (chunk: Buffer) => chunks.push(chunk))
        response.on("end", () =>
          resume(
            Effect.succeed({
              status: response.statusCode ?? 0,
              headers: response.headers,
              text: Buffer.concat(chunks).toString()
            })
          )
        )
      })
      request.on("error", (error) => resume(Effect.fail(error)))
      request.end(sent)
    })
  )

const steer = (method: string, path: string, body?: unknown) =>
  Effect.map(ask(method, `/_sandbox${path}`, body), ({ status, text }) => ({ status, body: JSON.parse(text) }))

const steered = (name: string, effect: Effect.Effect<void, unknown, Sandbox>) =>
  it.live(name, () => Effect.provide(effect, served))

describe("steering over HTTP", () => {
  steered(
    "moves a charge through its states, and the balance along",
    Effect.gen(function* () {
      const { body: created, status } = yield* steer("POST", "/transactions", { amount: 2500, name: "Ana Souza" })
      assert.strictEqual(status, 200)
      const path = `/transactions/${created.transactionId}`
      assert.strictEqual((yield* steer("GET", path)).body.customer.name, "Ana Souza")
      assert.strictEqual((yield* steer("POST", `${path}/pay`)).body.status, "Paid")
      assert.strictEqual((yield* steer("GET", "")).body.balance, 12_500)
      assert.strictEqual((yield* steer("POST", `${path}/refund`)).body.status, "Refunded")
      assert.strictEqual((yield* steer("GET", "")).body.balance, 10_000)
      const listed = yield* steer("GET", "/transactions?status=Refunded")
      assert.deepStrictEqual([listed.body.total, listed.body.items.length], [1, 1])
      assert.strictEqual((yield* steer("GET", "/transactions?status=Paid")).body.total, 0)
      const conflict = yield* steer("POST", `${path}/cancel`)
      assert.deepInclude(conflict, { status: 409 })
      assert.deepInclude(conflict.body, { _tag: "SandboxConflict", status: "Refunded", asked: "Cancelled" })
      assert.strictEqual((yield* steer("POST", "/transactions/nobody/pay")).status, 404)
      for (const [act, ended] of [
        ["cancel", "Cancelled"],
        ["expire", "Cancelled"],
        ["fail", "Failed"]
      ] as const) {
        const { body } = yield* steer("POST", "/transactions", { amount: 100 })
        assert.strictEqual((yield* steer("POST", `/transactions/${body.transactionId}/${act}`)).body.status, ended)
      }
    })
  )

  steered(
    "draws the QR code of a charge, and has none for what it does not hold",
    Effect.gen(function* () {
      const { body } = yield* steer("POST", "/transactions", { amount: 2500 })
      const { headers, text } = yield* ask("GET", `/_sandbox/transactions/${body.transactionId}/qrcode.svg`)
      assert.match(String(headers["content-type"]), /^image\/svg\+xml/)
      assert.match(text, /^<svg /)
      assert.strictEqual((yield* ask("GET", "/_sandbox/transactions/nobody/qrcode.svg")).status, 404)
      const boleto = yield* ask("POST", createTransaction.path, { ...chargeBody, paymentMethod: "BOLETO" }, auth)
      const { data } = JSON.parse(boleto.text)
      assert.strictEqual((yield* ask("GET", `/_sandbox/transactions/${data.id}/qrcode.svg`)).status, 404)
    })
  )

  steered(
    "lists the newest that fit a search, and says how many fit",
    Effect.gen(function* () {
      for (const name of ["Ana", "Bruno", "Ana Lúcia"]) yield* steer("POST", "/transactions", { amount: 1050, name })
      const { body } = yield* steer("GET", "/transactions?search=ana&limit=1")
      assert.strictEqual(body.total, 2)
      assert.deepStrictEqual(
        body.items.map((item: { customer: { name: string } }) => item.customer.name),
        ["Ana Lúcia"]
      )
      assert.strictEqual((yield* steer("GET", "/transactions?search=10,50")).body.total, 3)
      const refused = yield* steer("GET", "/transactions?limit=0")
      assert.strictEqual(refused.status, 400)
      assert.isNotEmpty(refused.body.message)
    })
  )

  steered(
    "settles and rejects payouts, credits, and changes the PIX key and the credentials",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const withdraw = ask(
        "POST",
        requestWithdrawal.path,
        { ...withdrawalBody, description: "rent", metadata: { order: 7 } },
        auth
      )
      assert.strictEqual((yield* withdraw).status, 201)
      yield* withdraw
      assert.strictEqual((yield* steer("POST", "/withdrawals/1/settle")).body.status, "Settled")
      assert.strictEqual((yield* steer("POST", "/withdrawals/2/reject")).body.status, "Rejected")
      assert.strictEqual((yield* steer("GET", "/withdrawals?search=settled")).body.items[0].id, 1)
      assert.strictEqual((yield* steer("POST", "/balance/credit", { amount: 500 })).body.balance, 9500)
      yield* steer("PUT", "/pix-key", { pixKey: "a@b.com", pixKeyType: "EMAIL" })
      assert.deepStrictEqual((yield* steer("GET", "")).body.pixKey, { pixKey: "a@b.com", pixKeyType: "EMAIL" })
      assert.strictEqual((yield* steer("PUT", "/pix-key", { pixKey: "123", pixKeyType: "CPF" })).status, 400)
      yield* steer("DELETE", "/pix-key")
      assert.strictEqual((yield* withdraw).status, 422)
      yield* sandbox.setPixKey(PixKey.email("a@b.com"))
      const { apiKey } = (yield* steer("POST", "/credentials/rotate")).body
      assert.strictEqual((yield* withdraw).status, 401)
      assert.strictEqual(
        (yield* ask("GET", listTransactions.path, undefined, { ...auth, "x-api-key": apiKey })).status,
        200
      )
    })
  )

  steered(
    "shows requests with masked credentials and as curl, and records none of its own",
    Effect.gen(function* () {
      yield* ask("GET", "/", undefined)
      yield* ask("GET", "/docs/nothing")
      yield* ask("GET", `${listTransactions.path}?page=2`, undefined, { ...auth, "idempotency-key": "it's" })
      const { body } = yield* steer("GET", "/requests")
      assert.strictEqual(body.total, 1 + 1, "the gateway's own: the unknown path and the list")
      const [list] = body.items
      assert.deepInclude(list.headers, { "x-api-key": "<redacted>", "x-client-id": "<redacted>" })
      assert.include(list.curl, '-H "x-api-key: $PAYMENTS_API_KEY"')
      assert.include(list.curl, String.raw`-H 'idempotency-key: it'\''s'`)
      assert.notInclude(JSON.stringify(body), "sandbox-key")
    })
  )

  steered(
    "finds a request by its path, its operation, its key, its status, and what its body says",
    Effect.gen(function* () {
      yield* ask("GET", listTransactions.path, undefined, auth)
      const body = { ...withdrawalBody, description: "the rent" }
      yield* ask("POST", requestWithdrawal.path, body, { ...auth, "idempotency-key": "wd_rent" })
      for (const word of ["withdraw/request", "requestWithdrawal", "wd_rent", "201", "the rent"]) {
        const { body } = yield* steer("GET", `/requests?search=${encodeURIComponent(word)}`)
        assert.deepStrictEqual([body.total, body.items[0].status], [1, 201], word)
      }
      assert.strictEqual((yield* steer("GET", "/requests?search=undefined")).body.total, 0)
    })
  )

  steered(
    "plans faults by name, shows and clears them, and takes the gateway offline while it stays up itself",
    Effect.gen(function* () {
      const list = Effect.map(ask("GET", listTransactions.path, undefined, auth), ({ status }) => status)
      yield* steer("POST", "/faults", { fault: "refusal", status: 500, times: 2, operation: "listTransactions" })
      yield* steer("POST", "/faults", { fault: "resetAfter" })
      assert.strictEqual(yield* list, 500)
      assert.deepStrictEqual((yield* steer("GET", "/faults")).body, [
        { operation: "listTransactions", fault: "answer 500", left: 1 },
        { operation: "any", fault: "resetAfter", left: 1 }
      ])
      yield* steer("DELETE", "/faults")
      assert.strictEqual(yield* list, 200)
      yield* steer("PUT", "/offline", { offline: true })
      assert.isTrue((yield* steer("GET", "")).body.offline)
      assert.propertyVal(yield* Effect.flip(list), "code", "ECONNRESET")
      yield* steer("PUT", "/offline", { offline: false })
      assert.strictEqual(yield* list, 200)
      assert.strictEqual((yield* steer("POST", "/faults", { fault: "nonsense" })).status, 400)
    })
  )

  steered(
    "orders every fault that it names",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const document = OpenApi.fromApi(SandboxApi)
      const text = JSON.stringify(document)
      const names: ReadonlyArray<string> = JSON.parse(
        /"fault":\{"type":"string","enum":(\[[^\]]*\])/.exec(text)?.[1] ?? "[]"
      )
      assert.isAbove(names.length, 15)
      for (const fault of names) assert.strictEqual((yield* steer("POST", "/faults", { fault })).status, 200, fault)
      assert.strictEqual((yield* sandbox.faults).length, names.length)
      const shown: ReadonlyArray<{ readonly fault: string }> = (yield* steer("GET", "/faults")).body
      const called = shown.map(({ fault }) => fault)
      assert.includeMembers(called, [
        "latency",
        "resetBefore",
        "hangUpAfter",
        "silence",
        "gzipBomb",
        "otherKey",
        "drip"
      ])
    })
  )

  steered(
    "sends webhooks, again and of any content, to the addresses that it lists",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      assert.deepStrictEqual((yield* steer("GET", "")).body.targets, ["http://127.0.0.1:9/hook"])
      yield* steer("POST", "/webhooks", { hello: "world" })
      yield* sandbox.awaitWebhooks
      yield* steer("POST", "/webhooks/1/resend")
      yield* sandbox.awaitWebhooks
      const { body } = yield* steer("GET", "/webhooks?search=world")
      assert.strictEqual(body.total, 2)
      const [, first] = body.items
      assert.deepInclude(first, { target: "http://127.0.0.1:9/hook", state: "Pending", json: { hello: "world" } })
      assert.deepInclude(first.attempts[0], { error: "the target could not be reached", answer: "" })
      assert.isString(first.nextAttemptAt)
      assert.strictEqual((yield* steer("POST", "/webhooks/99/resend")).status, 404)
      assert.strictEqual((yield* steer("POST", "/webhooks/targets", { url: "https://elsewhere.example/" })).status, 400)
      yield* steer("POST", "/webhooks/targets", { url: "http://localhost:9/" })
      yield* steer("DELETE", `/webhooks/targets?url=${encodeURIComponent("http://127.0.0.1:9/hook")}`)
      assert.deepStrictEqual((yield* steer("GET", "")).body.targets, ["http://localhost:9/"])
    })
  )

  steered(
    "pushes the clock, takes and gives the state, forgets keys and starts over",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      yield* steer("POST", "/transactions", { amount: 100 })
      yield* steer("POST", "/clock/advance", { seconds: 86_400 })
      assert.strictEqual((yield* steer("GET", "")).body.aheadSeconds, 86_400)
      assert.strictEqual((yield* sandbox.transactions)[0]?.status, "Cancelled")
      const state = (yield* steer("GET", "/state")).body
      assert.strictEqual(state.version, 1)
      assert.strictEqual((yield* steer("POST", "/forget-keys")).status, 200)
      assert.strictEqual((yield* steer("POST", "/reset")).status, 200)
      assert.deepStrictEqual(yield* sandbox.transactions, [])
      assert.strictEqual((yield* steer("PUT", "/state", state)).status, 200)
      assert.strictEqual((yield* sandbox.transactions).length, 1)
      assert.strictEqual((yield* steer("PUT", "/state", { version: 9 })).status, 400)
    })
  )

  steered(
    "tells of changes as server-sent events, the last number first",
    Effect.gen(function* () {
      const { baseUrl } = yield* Sandbox
      const signal = yield* Effect.abortSignal
      const response = yield* Effect.promise(() => fetch(`${baseUrl}/_sandbox/changes`, { signal }))
      assert.match(response.headers.get("content-type") ?? "", /^text\/event-stream/)
      const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
      const next = Effect.promise(async () => (await reader?.read())?.value ?? "")
      assert.match(yield* next, /^id: \d+\nevent: ready\ndata: \d+\n\n$/)
      yield* steer("POST", "/transactions", { amount: 100 })
      const data = yield* next
      const { _tag, transaction } = JSON.parse(/^data: (.*)$/m.exec(data)?.[1] ?? "")
      assert.deepStrictEqual([_tag, transaction.amount], ["Transaction", 100])
    }).pipe(Effect.scoped)
  )
})

/** What a server answers to bytes of a client's own. */
const speak = (bytes: string) =>
  Effect.flatMap(Sandbox, ({ baseUrl }) =>
    Effect.callback<string, Error>((resume) => {
      const socket = connect(Number(new URL(baseUrl).port), "127.0.0.1")
      let said = ""
      socket.on("data", (chunk: Buffer) => (said += chunk.toString()))
      socket.on("error", (error) => resume(Effect.fail(error)))
      socket.on("close", () => resume(Effect.succeed(said)))
      socket.end(bytes)
    })
  )

describe("who may steer", () => {
  const cases: ReadonlyArray<[string, Readonly<Record<string, string>>, number]> = [
    ["a program, which says nothing of itself", {}, 200],
    ["a page elsewhere", { origin: "https://evil.example" }, 403],
    ["a page on another port of this machine", { origin: "http://127.0.0.1:1" }, 403],
    ["a page without an origin", { origin: "null" }, 403],
    ["a browser that says the request crosses sites", { "sec-fetch-site": "cross-site" }, 403],
    ["a browser that says the request comes from another port", { "sec-fetch-site": "same-site" }, 403],
    ["a browser on the sandbox's own page", { "sec-fetch-site": "same-origin" }, 200],
    ["a name that was rebound to this machine", { host: "evil.example" }, 403],
    ["a name that begins as an address", { host: "127.0.0.1.evil.example:80" }, 403],
    ["localhost", { host: "localhost:4010" }, 200]
  ]
  it.live.each(cases)("%s is answered as it should be", ([, headers, status]) =>
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const { transactionId } = (yield* steer("POST", "/transactions", { amount: 100 })).body
      const answer = yield* ask("POST", `/_sandbox/transactions/${transactionId}/pay`, undefined, headers)
      assert.strictEqual(answer.status, status)
      assert.strictEqual((yield* sandbox.balance) > 10_000, status === 200)
      assert.strictEqual((yield* ask("GET", "/_sandbox", undefined, headers)).status, status)
    }).pipe(Effect.provide(served))
  )

  steered(
    "a request that names no host is refused",
    Effect.gen(function* () {
      const { balance } = yield* Sandbox
      assert.match(yield* speak("GET /_sandbox HTTP/1.0\r\n\r\n"), /^HTTP\/1\.1 403 /)
      assert.match(yield* speak("GET /_sandbox HTTP/1.0\r\nHost: localhost\r\n\r\n"), /^HTTP\/1\.1 200 /)
      assert.strictEqual(yield* balance, 10_000)
    })
  )

  steered(
    "a request whose body breaks off has not arrived: it is neither recorded nor executed",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const head = `POST /api/Withdraw/request HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nX-Client-Id: ${auth["x-client-id"]}\r\nX-Api-Key: ${auth["x-api-key"]}`
      yield* speak(`${head}\r\nContent-Length: 100\r\n\r\n{"amount":1000}`)
      assert.strictEqual((yield* ask("GET", listTransactions.path, undefined, auth)).status, 200)
      assert.deepStrictEqual(
        (yield* sandbox.requests).map(({ operation }) => operation),
        ["listTransactions"]
      )
      assert.deepStrictEqual(yield* sandbox.withdrawals, [])
    })
  )

  steered(
    "its own page may, and no page may frame it or load scripts from elsewhere into it",
    Effect.gen(function* () {
      const { baseUrl } = yield* Sandbox
      assert.strictEqual((yield* ask("POST", "/_sandbox/reset", undefined, { origin: baseUrl })).status, 200)
      const page = yield* ask("GET", "/", undefined, { "sec-fetch-site": "cross-site" })
      assert.strictEqual(page.status, 200)
      const policy = String(page.headers["content-security-policy"])
      assert.include(policy, "default-src 'self'")
      assert.include(policy, "frame-ancestors 'none'")
      assert.notInclude(policy, "unsafe")
      for (const path of [
        "panel.css",
        "main.js",
        "dom.js",
        "words.js",
        "server.js",
        "lists.js",
        "rows.js"
      ]) {
        assert.strictEqual((yield* ask("GET", `/panel/${path}`)).status, 200, path)
      }
      assert.strictEqual((yield* ask("GET", "/", undefined, { host: "evil.example" })).status, 403)
      assert.strictEqual((yield* ask("GET", "/panel/nothing.js")).status, 404)
    })
  )
})

const python = spawnSync("python3", ["--version"]).status === 0
/** The program that docs/sandbox.md shows. */
const script = /^```python\n(.*?)^```/ms.exec(
  readFileSync(new URL("../../docs/sandbox.md", import.meta.url), "utf8")
)?.[1]

describe("a client in another language", () => {
  it.live.skipIf(!python)(
    `the Python client of the docs charges, pays and looks up${python ? "" : " (no python3 here)"}`,
    () =>
      Effect.gen(function* () {
        const { balance, baseUrl } = yield* Sandbox
        const program = (script ?? "").replace("http://127.0.0.1:4010", baseUrl)
        assert.include(program, baseUrl)
        yield* Effect.promise(() => promisify(execFile)("python3", ["-c", program]))
        assert.strictEqual(yield* balance, 10_000 + Money.centavos(2500))
      }).pipe(Effect.provide(served))
  )
})
