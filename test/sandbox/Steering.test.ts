import { assert, describe, it } from "@effect/vitest"
import { Money } from "effect-pix"
import {
  Fault,
  Sandbox,
  SandboxConflict,
  SandboxNotFound,
  SandboxOptions,
  SandboxUnreachable
} from "effect-pix/sandbox"
import { Cause, Effect, Exit, Fiber, Layer, Option, Redacted, Stream } from "effect"
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
import { serveRaw } from "../support/RawServer.ts"
import { live } from "../support/effect.ts"

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

/** Calls a function by its name. A read has its input in the query. */
const steer = (name: string, input?: unknown) =>
  Effect.map(ask("POST", `/_sandbox/${name}`, input), ({ status, text }) => ({ status, body: JSON.parse(text) }))
const read = (name: string) =>
  Effect.map(ask("GET", `/_sandbox/${name}`), ({ status, text }) => ({ status, body: JSON.parse(text) }))

const steered = (name: string, effect: Effect.Effect<void, unknown, Sandbox>) =>
  it.live(name, () => Effect.provide(effect, served))

describe("steering over HTTP", () => {
  steered(
    "steering moves a charge through its states, and the balance along",
    Effect.gen(function* () {
      const { body: created, status } = yield* steer("charge", { amount: 2500, name: "Ana Souza" })
      assert.strictEqual(status, 200)
      const { transactionId } = created
      assert.strictEqual((yield* read(`transaction?transactionId=${transactionId}`)).body.customer.name, "Ana Souza")
      assert.strictEqual((yield* steer("markPaid", { transactionId })).body.status, "Paid")
      assert.strictEqual((yield* read("overview")).body.balance, 12_500)
      assert.strictEqual((yield* steer("refund", { transactionId })).body.status, "Refunded")
      assert.strictEqual((yield* read("overview")).body.balance, 10_000)
      const listed = yield* read("transactions?status=Refunded")
      assert.deepStrictEqual([listed.body.total, listed.body.items.length], [1, 1])
      assert.strictEqual((yield* read("transactions?status=Paid")).body.total, 0)
      const conflict = yield* steer("cancel", { transactionId })
      assert.deepInclude(conflict, { status: 409 })
      assert.deepInclude(conflict.body, { _tag: "SandboxConflict", status: "Refunded", asked: "Cancelled" })
      assert.include(conflict.body.message, "cannot become Cancelled")
      assert.strictEqual((yield* steer("markPaid", { transactionId: "nobody" })).status, 404)
      for (const [name, ended] of [
        ["cancel", "Cancelled"],
        ["fail", "Failed"]
      ] as const) {
        const { body } = yield* steer("charge", { amount: 100 })
        assert.strictEqual((yield* steer(name, { transactionId: body.transactionId })).body.status, ended)
      }
    })
  )

  steered(
    "a charge can be paid late, and with another amount, which lookups and lists then show",
    Effect.gen(function* () {
      const { transactionId } = (yield* steer("charge", { amount: 2500 })).body
      yield* steer("advance", { seconds: 90_000 })
      assert.strictEqual((yield* steer("markPaid", { transactionId })).status, 409)
      const { body } = yield* steer("markPaid", { transactionId, amount: 2400, late: true })
      assert.deepInclude(body, { status: "Paid", amount: 2500, paid: 2400 })
      assert.strictEqual((yield* read("overview")).body.balance, 12_400)
      const path = `/api/Transaction/transactionByTransactionId/${transactionId}`
      assert.strictEqual(JSON.parse((yield* ask("GET", path, undefined, auth)).text).value, 2400)
      const { res } = JSON.parse((yield* ask("GET", listTransactions.path, undefined, auth)).text)
      assert.strictEqual(res.items[0].amount, 2400)
      yield* steer("refund", { transactionId })
      assert.strictEqual((yield* read("overview")).body.balance, 10_000)
    })
  )

  steered(
    "a list has the newest that fit a search, part by part, and says how many fit",
    Effect.gen(function* () {
      for (const name of ["Ana", "Bruno", "Ana Lúcia"]) yield* steer("charge", { amount: 1050, name })
      const namesOf = (body: { readonly items: ReadonlyArray<{ readonly customer: { readonly name: string } }> }) =>
        body.items.map(({ customer }) => customer.name)
      const { body } = yield* read("transactions?search=ana&limit=1")
      assert.strictEqual(body.total, 2)
      assert.deepStrictEqual(namesOf(body), ["Ana Lúcia"])
      assert.deepStrictEqual(namesOf((yield* read("transactions?offset=1&limit=1")).body), ["Bruno"])
      assert.deepStrictEqual(namesOf((yield* read("transactions?offset=2&limit=9")).body), ["Ana"])
      assert.deepStrictEqual(namesOf((yield* read("transactions?offset=3")).body), [])
      assert.strictEqual((yield* read("transactions?search=10,50")).body.total, 3)
      const refused = yield* read("transactions?limit=-1")
      assert.strictEqual(refused.status, 400)
      assert.include(refused.body.message, "limit")
    })
  )

  steered(
    "steering settles and rejects payouts, credits, and changes the credentials",
    Effect.gen(function* () {
      const body = { ...withdrawalBody, description: "rent", metadata: { order: 7 } }
      const withdraw = ask("POST", requestWithdrawal.path, body, auth)
      assert.strictEqual((yield* withdraw).status, 201)
      yield* withdraw
      assert.strictEqual((yield* steer("settleWithdrawal", { id: 1 })).body.status, "Settled")
      assert.strictEqual((yield* steer("rejectWithdrawal", { id: 2 })).body.status, "Rejected")
      const { items } = (yield* read("withdrawals?search=settled")).body
      assert.deepInclude(items[0], { id: 1, description: "rent", metadata: { order: 7 } })
      assert.strictEqual((yield* steer("credit", { amount: 500 })).body.balance, 9500)
      const { apiKey } = (yield* steer("rotateCredentials")).body
      assert.strictEqual((yield* withdraw).status, 401)
      assert.strictEqual((yield* read("credentials")).body.apiKey, apiKey)
      const rotated = { ...auth, "x-api-key": apiKey }
      assert.strictEqual((yield* ask("GET", listTransactions.path, undefined, rotated)).status, 200)
    })
  )

  steered(
    "requests are listed with masked credentials, and those of the sandbox's own paths are not recorded",
    Effect.gen(function* () {
      yield* ask("GET", "/", undefined)
      yield* ask("GET", "/docs/nothing")
      yield* ask("GET", `${listTransactions.path}?page=2`, undefined, auth)
      const { body } = yield* read("requests")
      assert.strictEqual(body.total, 1 + 1, "the gateway's own: the unknown path and the list")
      const [list] = body.items
      assert.deepInclude(list.headers, { "x-api-key": "<redacted>", "x-client-id": "<redacted>" })
      assert.notInclude(JSON.stringify(body), "sandbox-key")
    })
  )

  steered(
    "a request says which charge or payout it is about, and so does a webhook",
    Effect.gen(function* () {
      const keyed = { ...auth, "idempotency-key": "tx_1" }
      const { data } = JSON.parse((yield* ask("POST", createTransaction.path, chargeBody, keyed)).text)
      yield* ask("GET", `/api/Transaction/transactionByTransactionId/${data.id}`, undefined, auth)
      const paid = { ...auth, "idempotency-key": "wd_1" }
      yield* steer("fault", { operation: "requestWithdrawal", fault: { executed: true, ending: "Reset" } })
      yield* Effect.flip(ask("POST", requestWithdrawal.path, withdrawalBody, paid))
      yield* ask("POST", requestWithdrawal.path, withdrawalBody, paid)
      yield* ask("POST", requestWithdrawal.path, { ...withdrawalBody, amount: 1001 }, paid)
      yield* steer("markPaid", { transactionId: data.id })
      yield* steer("settleWithdrawal", { id: 1 })
      const { items } = (yield* read("requests")).body
      assert.deepStrictEqual(
        items
          .toReversed()
          .map((row: Record<string, unknown>) => [
            row["operation"],
            row["transactionId"] ?? row["withdrawalId"],
            row["status"],
            typeof row["answeredAt"],
            row["fault"]
          ]),
        [
          ["createTransaction", data.id, 200, "string", undefined],
          ["getTransaction", data.id, 200, "string", undefined],
          ["requestWithdrawal", 1, undefined, "undefined", { executed: true, ending: "Reset" }],
          ["requestWithdrawal", 1, 201, "string", undefined],
          ["requestWithdrawal", undefined, 422, "string", undefined]
        ]
      )
      const webhooks = (yield* read("webhooks")).body.items
      assert.deepInclude(webhooks[1], { transactionId: data.id })
      assert.deepInclude(webhooks[0], { withdrawalId: 1 })
    })
  )

  steered(
    "a request is found by its path, its operation, its key, its status, and what its body says",
    Effect.gen(function* () {
      yield* ask("GET", listTransactions.path, undefined, auth)
      const body = { ...withdrawalBody, description: "the rent" }
      yield* ask("POST", requestWithdrawal.path, body, { ...auth, "idempotency-key": "wd_rent" })
      for (const word of ["withdraw/request", "requestWithdrawal", "wd_rent", "201", "the rent"]) {
        const { body } = yield* read(`requests?search=${encodeURIComponent(word)}`)
        assert.deepStrictEqual([body.total, body.items[0].status], [1, 201], word)
      }
      assert.strictEqual((yield* read("requests?search=undefined")).body.total, 0)
    })
  )

  steered(
    "faults are planned, shown as they were given, and cleared; the gateway goes offline while the sandbox stays up",
    Effect.gen(function* () {
      const list = Effect.map(ask("GET", listTransactions.path, undefined, auth), ({ status }) => status)
      const refusal = Fault.refusal(500, "Erro")
      yield* steer("fault", { operation: "listTransactions", fault: refusal, times: 2 })
      yield* steer("fault", { operation: "any", fault: [Fault.resetAfter, { executed: true, wait: 1 }] })
      assert.strictEqual(yield* list, 500)
      assert.deepStrictEqual((yield* read("overview")).body.faults, [
        { operation: "listTransactions", fault: refusal, left: 1 },
        { operation: "any", fault: Fault.resetAfter, left: 1 },
        { operation: "any", fault: { executed: true, wait: 1 }, left: 1 }
      ])
      yield* steer("clearFaults")
      assert.strictEqual(yield* list, 200)
      yield* steer("setOffline", { offline: true })
      assert.isTrue((yield* read("overview")).body.offline)
      assert.propertyVal(yield* Effect.flip(list), "code", "ECONNRESET")
      yield* steer("setOffline", { offline: false })
      assert.strictEqual(yield* list, 200)
      assert.strictEqual((yield* steer("fault", { operation: "any", fault: "nonsense" })).status, 400)
    })
  )

  steered(
    "webhooks are sent, again and of any content, to the addresses that are listed",
    Effect.gen(function* () {
      assert.deepStrictEqual((yield* read("overview")).body.targets, ["http://127.0.0.1:9/hook"])
      yield* steer("sendWebhook", { json: { hello: "world" } })
      yield* steer("awaitWebhooks")
      yield* steer("resendWebhook", { id: 1 })
      yield* steer("awaitWebhooks")
      const { body } = yield* read("webhooks?search=world")
      assert.strictEqual(body.total, 2)
      const [, first] = body.items
      assert.deepInclude(first, { target: "http://127.0.0.1:9/hook", state: "Pending", json: { hello: "world" } })
      assert.deepInclude(first.attempts[0], { error: "the target could not be reached", answer: "" })
      assert.isString(first.nextAttemptAt)
      assert.strictEqual((yield* steer("resendWebhook", { id: 99 })).status, 404)
      assert.strictEqual((yield* steer("subscribe", { url: "https://elsewhere.example/" })).status, 400)
      yield* steer("subscribe", { url: "http://localhost:9/" })
      yield* steer("unsubscribe", { url: "http://127.0.0.1:9/hook" })
      assert.deepStrictEqual((yield* read("overview")).body.targets, ["http://localhost:9/"])
    })
  )

  steered(
    "steering pushes the clock, forgets keys and starts over",
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      yield* steer("charge", { amount: 100 })
      yield* steer("advance", { seconds: 86_400 })
      assert.strictEqual((yield* read("overview")).body.aheadSeconds, 86_400)
      assert.strictEqual((yield* sandbox.transactions)[0]?.status, "Cancelled")
      const keyed = ask("POST", requestWithdrawal.path, withdrawalBody, { ...auth, "idempotency-key": "wd_1" })
      yield* keyed
      yield* steer("forgetKeys")
      yield* keyed
      assert.strictEqual((yield* sandbox.withdrawals).length, 2)
      assert.strictEqual((yield* steer("reset")).status, 200)
      assert.deepStrictEqual(yield* sandbox.transactions, [])
    })
  )

  steered(
    "the changes after a number are listed, and none if nothing changed",
    Effect.gen(function* () {
      const { sequence } = (yield* read("overview")).body
      assert.deepStrictEqual((yield* read(`changes?since=${sequence}`)).body, { sequence, changes: [] })
      const { transactionId } = (yield* steer("charge", { amount: 100 })).body
      yield* steer("cancel", { transactionId })
      const { body } = yield* read(`changes?since=${sequence}`)
      assert.deepStrictEqual(
        body.changes.slice(0, 3).map((change: { transaction?: { status: string } }) => change.transaction?.status),
        ["Awaiting", "Cancelled", undefined]
      )
      assert.strictEqual(body.changes[2].webhook.transactionId, transactionId)
      assert.strictEqual((yield* read(`changes?since=${sequence}&limit=1`)).body.changes[0].sequence, body.sequence)
    })
  )

  steered(
    "an input that does not fit is refused in English with the name of the field, and changes nothing",
    Effect.gen(function* () {
      const { transactionId } = (yield* steer("charge", { amount: 2500 })).body
      yield* steer("advance", { seconds: 3600 })
      const before = yield* read("overview")
      const fault = { executed: true, answer: { status: 503, headers: {}, body: "" } }
      const inputs: ReadonlyArray<readonly [string, unknown, string]> = [
        ["markPaid", { transactionId, amout: 100 }, "amout is no field"],
        ["markPaid", {}, "transactionId is missing"],
        ["forgetKeys", [], "no JSON object"],
        ["advance", 5, "no JSON object"],
        ["charge", { amount: 0 }, "amount must be from 1 to"],
        ["charge", { amount: Number.MAX_SAFE_INTEGER }, "no safe integer"],
        ["fault", { operation: "nothing", fault }, "operation must be "],
        ["fault", { operation: "any", fault, times: 1.5 }, "times has a wrong value"],
        ["fault", { operation: "any", fault: { ...fault, drip: true } }, "fault.drip is no field"],
        [
          "fault",
          { operation: "any", fault: { ...fault, answer: { ...fault.answer, headers: { "a b": "" } } } },
          "fault"
        ],
        [
          "fault",
          { operation: "any", fault: { ...fault, answer: { ...fault.answer, headers: { a: "é\n" } } } },
          "fault"
        ]
      ]
      for (const [name, input, words] of inputs) {
        const { body, status } = yield* steer(name, input)
        assert.deepStrictEqual([status, body.status], [400, 400], body.message)
        assert.include(body.message, words)
      }
      assert.include((yield* read("transactions?serach=a")).body.message, "serach is no field")
      assert.deepStrictEqual({ ...(yield* read("overview")).body, now: "" }, { ...before.body, now: "" })
    })
  )

  steered(
    "a name that no function has is answered with 404, and a read takes no POST",
    Effect.gen(function* () {
      for (const answer of [yield* read("nothing"), yield* read("markPaid"), yield* steer("overview")]) {
        assert.deepInclude(answer, { status: 404 })
        assert.include(answer.body.message, "docs/sandbox.md")
      }
    })
  )
})

describe("the sandbox of another process", () => {
  /** The same functions over HTTP. The server is in this process, and only its address is known. */
  const remote = Layer.unwrap(
    Effect.map(Sandbox, ({ baseUrl }) => Layer.fresh(Sandbox.layerRemote(`${baseUrl}/`)))
  ).pipe(Layer.provide(served))

  live("the sandbox of another process is steered and read by the same service", remote, function* () {
    const sandbox = yield* Sandbox
    const { transactionId } = yield* sandbox.charge(2500, "Ana Souza")
    const paid = yield* sandbox.markPaid(transactionId, { amount: 2400 })
    assert.deepStrictEqual(yield* sandbox.transactions, [paid])
    assert.strictEqual(yield* sandbox.credit(100), 12_500)
    yield* sandbox.fault("any", [Fault.resetAfter, Fault.latency("1 second")], { times: Infinity })
    assert.deepStrictEqual(
      (yield* sandbox.overview).faults.map(({ fault }) => fault),
      [Fault.resetAfter, Fault.latency("1 second")]
    )
    yield* sandbox.clearFaults
    assert.isTrue((yield* sandbox.offline(sandbox.overview)).offline)
    assert.isFalse((yield* sandbox.overview).offline)
    yield* sandbox.sendWebhook({ hello: "world" })
    yield* sandbox.awaitWebhooks
    assert.deepStrictEqual(
      (yield* sandbox.webhooks).map(({ json, transactionId }) => transactionId ?? json),
      [transactionId, { hello: "world" }]
    )
    yield* sandbox.rotateCredentials
    assert.strictEqual(Redacted.value((yield* sandbox.credentials).apiKey), "sandbox-key-1")
    yield* sandbox.advance("1 hour")
    assert.strictEqual((yield* sandbox.overview).aheadSeconds, 3600)
  })

  live("the sandbox of another process fails as one in this process", remote, function* () {
    const sandbox = yield* Sandbox
    const missing = yield* Effect.flip(sandbox.markPaid("nobody"))
    assert.instanceOf(missing, SandboxNotFound)
    assert.strictEqual(missing.message, "The sandbox holds no transaction nobody.")
    const { transactionId } = yield* sandbox.charge(100)
    assert.instanceOf(yield* Effect.flip(sandbox.refund(transactionId)), SandboxConflict)
    assert.instanceOf(yield* Effect.flip(sandbox.resendWebhook(99)), SandboxNotFound)
    for (const wrong of [sandbox.subscribe("https://elsewhere.example/"), sandbox.credit(Number.MAX_SAFE_INTEGER)]) {
      const exit = yield* Effect.exit(wrong)
      assert.isTrue(Exit.isFailure(exit) && /url|amount/.test(Cause.pretty(exit.cause)))
    }
  })

  live("the changes of a sandbox in another process are streamed, from now on", remote, function* () {
    const sandbox = yield* Sandbox
    yield* sandbox.charge(100)
    const next = yield* Effect.forkChild(Stream.runHead(sandbox.changes), { startImmediately: true })
    const made = yield* Effect.forkChild(Effect.forever(sandbox.charge(200)))
    const change = Option.getOrThrow(yield* Fiber.join(next))
    yield* Fiber.interrupt(made)
    assert.isTrue(change._tag === "Transaction" && change.transaction.amount === 200)
  })

  live.each(["http://127.0.0.1:4", "http://127.0.0.1:4/"])(
    "nothing at %s is a typed failure of the layer",
    function* (url) {
      const error = yield* Effect.flip(Effect.provide(Sandbox, Sandbox.layerRemote(url)))
      assert.instanceOf(error, SandboxUnreachable)
      assert.include(error.message, "http://127.0.0.1:4 does not answer")
    }
  )

  live("a server that is no sandbox is a typed failure of the layer", function* () {
    const page = "<!doctype html>"
    const server = yield* serveRaw((socket) =>
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${page.length}\r\n\r\n${page}`)
    )
    const error = yield* Effect.flip(Effect.provide(Sandbox, Sandbox.layerRemote(`http://127.0.0.1:${server.port}`)))
    assert.instanceOf(error, SandboxUnreachable)
    assert.include(error.message, "with 200")
  })
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
  live.each(cases)("%s is answered as it should be", served, function* ([, headers, status]) {
    const sandbox = yield* Sandbox
    const { transactionId } = (yield* steer("charge", { amount: 100 })).body
    const answer = yield* ask("POST", "/_sandbox/markPaid", { transactionId }, headers)
    assert.strictEqual(answer.status, status)
    assert.strictEqual((yield* sandbox.balance) > 10_000, status === 200)
    assert.strictEqual((yield* ask("GET", "/_sandbox/overview", undefined, headers)).status, status)
  })

  steered(
    "a request that names no host is refused",
    Effect.gen(function* () {
      const { balance } = yield* Sandbox
      assert.match(yield* speak("GET /_sandbox/overview HTTP/1.0\r\n\r\n"), /^HTTP\/1\.1 403 /)
      assert.match(yield* speak("GET /_sandbox/overview HTTP/1.0\r\nHost: localhost\r\n\r\n"), /^HTTP\/1\.1 200 /)
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
      for (const path of ["panel.css", "panel.js", "idiomorph.js"]) {
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
  live.skipIf(!python)(
    `the Python client of the docs charges, pays and looks up${python ? "" : " (no python3 here)"}`,
    served,
    function* () {
      const { balance, baseUrl } = yield* Sandbox
      const program = (script ?? "").replace("http://127.0.0.1:4010", baseUrl)
      assert.include(program, baseUrl)
      yield* Effect.promise(() => promisify(execFile)("python3", ["-c", program]))
      assert.strictEqual(yield* balance, 10_000 + Money.centavos(2500))
    }
  )
})
