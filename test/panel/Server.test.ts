/** What the server of a sandbox (`Sandbox.layerServer`) answers, and to whom; where there is none; and its webhooks over HTTP. */
import { assert, describe } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { Money } from "effect-pix"
import { Sandbox, SandboxUnreachable } from "effect-pix/sandbox"
import { TestClock } from "effect/testing"
import { execFile, spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { mkdtemp } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { gzipSync } from "node:zlib"
import { serve } from "../../src/panel/internal/server.ts"
import * as Gateway from "../../src/sandbox/Gateway.ts"
import { withDefaults } from "../../src/sandbox/SandboxOptions.ts"
import { effect, live, nextTurn } from "../support/effect.ts"
import { endsFromBelow } from "../support/endedBelow.ts"
import { listTransactions } from "../support/operations.ts"
import { makeWarnings } from "../support/payoutQueue.ts"
import { answer, closedPort, json, type Play, serveRaw } from "../support/RawServer.ts"
import { ask, askRaw, charging, socket, speak } from "../support/doors.ts"

const served = socket({ balance: 10_000 })
const list = { path: listTransactions.path }
describe("a request to the server of a sandbox", () => {
  const overview = "/_sandbox/overview"
  const callers: ReadonlyArray<
    readonly [who: string, answered: "answered" | "refused", headers: Readonly<Record<string, string>>]
  > = [
    ["a program, which says nothing of itself,", "answered", {}],
    ["a page elsewhere", "refused", { origin: "https://evil.example" }],
    ["a page on another port of this machine", "refused", { origin: "http://127.0.0.1:1" }],
    ["a page without an origin", "refused", { origin: "null" }],
    ["a page on a secure port of the same name", "refused", { origin: "https://127.0.0.1" }],
    ["the sandbox's own page", "answered", { origin: "http://127.0.0.1", "sec-fetch-site": "same-origin" }],
    ["a browser that says the request crosses sites", "refused", { "sec-fetch-site": "cross-site" }],
    ["a browser that says the request comes from another port", "refused", { "sec-fetch-site": "same-site" }],
    ["a person who typed the address", "answered", { "sec-fetch-site": "none" }],
    ["a name that was rebound to this machine", "refused", { host: "evil.example" }],
    ["a name that begins as an address", "refused", { host: "127.0.0.1.evil.example:80" }],
    ["localhost", "answered", { host: "localhost:4010" }],
    ["an address of IPv6", "answered", { host: "[::1]:4010" }],
    ["a name that the options allow, in any case,", "answered", { host: "Shop:4010" }]
  ]
  effect.each(callers)("a call by %s is %s", socket({ allowHost: "SHOP" }), function* ([, answered, headers]) {
    const status = answered === "answered" ? 200 : 403
    assert.strictEqual((yield* askRaw("/_sandbox/credit", { headers, body: { amount: 100 } })).status, status)
    assert.strictEqual((yield* askRaw(overview, { headers })).status, status)
    assert.strictEqual(yield* (yield* Sandbox).balance, answered === "answered" ? 100 : 0)
    const isKnown = headers["host"] === undefined || answered === "answered"
    assert.strictEqual((yield* askRaw(list.path, { headers })).status, isKnown ? 200 : 403)
    assert.strictEqual((yield* (yield* Sandbox).requests).length, isKnown ? 1 : 0)
    // A link elsewhere may open the page, and a script elsewhere may not read it.
    const isLink = headers["sec-fetch-site"] !== undefined
    assert.strictEqual((yield* askRaw("/", { headers })).status, isLink ? 200 : status)
  })

  effect("a request that names no host is refused", socket({ allowHost: "shop" }), function* () {
    assert.match(yield* speak(`GET ${overview} HTTP/1.0\r\n\r\n`), /^HTTP\/1\.1 403 /)
    assert.match(yield* speak(`GET ${overview} HTTP/1.0\r\nHost: localhost\r\n\r\n`), /^HTTP\/1\.1 200 /)
    yield* (yield* Sandbox).subscribe("http://shop:3000/hook")
  })

  effect("a request whose body breaks off has not arrived: it is neither recorded nor executed", served, function* () {
    const { requests, withdrawals } = yield* Sandbox
    const head = ["POST /api/Withdraw/request HTTP/1.1", "Host: localhost", "Content-Type: application/json"]
    const keys = ["X-Client-Id: sandbox-client", "X-Api-Key: sandbox-key"]
    yield* speak([...head, ...keys, "Content-Length: 100", "", '{"amount":1000}'].join("\r\n"))
    assert.strictEqual((yield* ask(list)).status, 200)
    const operations = (yield* requests).map(({ operation }) => operation)
    assert.deepStrictEqual([operations, yield* withdrawals], [["listTransactions"], []])
  })

  effect("a page has its files, loads nothing from elsewhere, and is not recorded", served, function* () {
    const { headers } = yield* ask({ path: "/" })
    const policy = headers["content-security-policy"] ?? ""
    for (const words of ["default-src 'self'", "frame-ancestors 'none'"]) assert.include(policy, words)
    assert.notInclude(policy, "unsafe")
    const cautious = {
      "x-content-type-options": "nosniff",
      "cache-control": "no-cache",
      "referrer-policy": "no-referrer"
    }
    assert.deepInclude(headers, cautious)
    const types = { css: "text/css", js: "text/javascript", json: "application/json", svg: "image/svg+xml" }
    let gzipped = gzipSync((yield* ask({ path: "/" })).text).length
    for (const path of [
      "panel.css",
      "panel.js",
      "rows.js",
      "store.js",
      "state.js",
      "text.js",
      "preact.js",
      "words.json",
      "icon.svg"
    ]) {
      const file = yield* ask({ path: `/panel/${path}` })
      const [, kind] = Object.entries(types).find(([ending]) => path.endsWith(`.${ending}`)) ?? []
      assert.strictEqual(file.headers["content-type"]?.split(";")[0], kind, path)
      // The policy of the page allows no text as code, and the page writes none as markup.
      assert.notMatch(
        file.text,
        path === "preact.js" ? /new Function|\beval\(/ : /\bFunction\(|\beval\(|innerHTML/i,
        path
      )
      gzipped += gzipSync(file.text).length
    }
    assert.isAtMost(gzipped, 40_000)
    assert.strictEqual((yield* ask({ path: "/panel/nothing.js" })).status, 404)
    assert.strictEqual((yield* ask({ path: "/openapi.json" })).json.openapi, "3.1.0")
    assert.deepStrictEqual(yield* (yield* Sandbox).requests, [])
  })

  const targets = ["//[", "//", "/%zz", "*", "http://127.0.0.1//["]
  effect.each(targets)("the target %s is answered with a 404 in JSON", served, function* (target) {
    const { body, status } = yield* askRaw(target)
    assert.deepStrictEqual([status, JSON.parse(body)], [404, { message: "Rota não encontrada.", status: 404 }])
  })
})

const others: ReadonlyArray<readonly [what: string, play: Play | undefined, words: string]> = [
  ["at which nothing answers", undefined, "does not answer"],
  ["of a page", answer(200, "<!doctype html>"), "answered overview with 200, and not as a sandbox"],
  ["that refuses", json({ message: "Not here." }, 403), "answered overview with 403: Not here."]
]
effect.each(others)("an address %s is a typed failure of the sandbox's layer", function* ([, play, words]) {
  const url = play === undefined ? closedPort : (yield* serveRaw(play)).url
  for (const given of [url, `${url}/`]) {
    const error = yield* Effect.flip(Effect.provide(Sandbox, Layer.fresh(Sandbox.layerRemote(given))))
    assert.instanceOf(error, SandboxUnreachable)
    assert.include(error.message, `${url} `)
    assert.include(error.message, words)
  }
})

live("a webhook is posted to its address with the secret, and no redirect is followed", function* () {
  const target = yield* serveRaw(answer(200, "thank you"), answer(307, "", { location: "/" }))
  const webhookSecret = Redacted.make("a-shared-secret")
  yield* Effect.gen(function* () {
    const { awaitWebhooks, sendWebhook, subscribe, webhooks } = yield* Sandbox
    yield* Effect.andThen(sendWebhook({ event: "paid" }), awaitWebhooks)
    yield* subscribe(`${closedPort}/hook`)
    yield* Effect.andThen(sendWebhook({ event: "another" }), awaitWebhooks)
    const seen = (yield* webhooks).map(({ attempts: [attempt] }) => `${attempt?.status} ${attempt?.answer}`)
    assert.deepStrictEqual(seen, ["200 thank you", "307 ", "undefined "])
  }).pipe(Effect.provide(socket({ webhookUrl: `${target.url}/hook`, webhookSecret })))
  assert.deepStrictEqual(
    target.arrived.map(({ headers, method, path, text }) => [method, path, headers["x-webhook-secret"], text]),
    ["paid", "another"].map((event) => ["POST", "/hook", "a-shared-secret", JSON.stringify({ event })])
  )
  assert.strictEqual(target.arrived[0]?.headers["content-type"], "application/json")
})

live("as seen, a charge's webhook goes to its postbackUrl on this machine alone", function* () {
  const own = yield* serveRaw(answer(500, ""), answer(200, ""))
  const target = yield* serveRaw(answer(200, ""))
  const postbackUrl = `${own.url}/webhooks/a-secret?key=path`
  yield* Effect.gen(function* () {
    const { advance, awaitWebhooks, markPaid, webhooks } = yield* Sandbox
    for (const url of [postbackUrl, "http://192.0.2.1/elsewhere", undefined]) {
      const { json } = yield* ask(charging({ postbackUrl: url }))
      yield* Effect.andThen(markPaid(json.data.id), awaitWebhooks)
    }
    yield* Effect.andThen(advance("1 second"), awaitWebhooks)
    const targets = (yield* webhooks).map((webhook) => webhook.target)
    assert.deepStrictEqual(targets, [postbackUrl, `${target.url}/hook`, `${target.url}/hook`])
    const events = own.arrived.map(({ headers, path }) => `${path} ${headers["x-webhook-event-id"]}`)
    const event = `/webhooks/a-secret?key=path ${(yield* webhooks)[0]?.eventId}`
    assert.deepStrictEqual(events, [event, event])
  }).pipe(Effect.provide(socket({ as: "seen", webhookUrl: `${target.url}/hook` })))
  assert.lengthOf(target.arrived, 2)
})

const python = spawnSync("python3", ["--version"]).status === 0
/** The program to which docs/sandbox.md leads. */
const script = readFileSync(new URL("../../docs/examples/sandbox.py", import.meta.url), "utf8")

live.skipIf(!python)(
  `the Python client of the docs charges, pays and looks up${python ? "" : " (no python3 here)"}`,
  served,
  function* () {
    const { balance, baseUrl } = yield* Sandbox
    const program = script.replace("http://127.0.0.1:4010", baseUrl)
    assert.include(program, baseUrl)
    yield* Effect.promise(() => promisify(execFile)("python3", ["-c", program]))
    assert.strictEqual(yield* balance, 10_000 + Money.centavos(2500))
  }
)

describe("a sandbox with a server", () => {
  effect.each(endsFromBelow)("goes on after %s of what it looks at each second, with a line", function* ([, end]) {
    const { layer, lines } = makeWarnings()
    const stateFile = join(yield* Effect.promise(() => mkdtemp(join(tmpdir(), "loops-"))), "state.json")
    const gateway = yield* Gateway.make(withDefaults({ port: 0, stateFile }))
    let isEnding = false
    const looks = { state: 0, lapsed: 0 }
    const sequence = () => {
      if (isEnding) throw new TypeError("no")
      looks.state++
      // Nothing changes, so that nothing is written after the start.
      return 0
    }
    const now = Effect.suspend(() => {
      looks.lapsed++
      // What a gateway calls has no failure: what fails there is a defect.
      return isEnding ? Effect.orDie(end) : gateway.now
    })
    yield* Effect.provide(serve({ ...gateway, now, changes: { ...gateway.changes, sequence } }), layer)
    const seconds = Effect.repeat(Effect.andThen(TestClock.adjust("1 second"), nextTurn), { times: 9 })
    yield* seconds
    isEnding = true
    yield* seconds
    isEnding = false
    const before = { ...looks }
    yield* seconds
    assert.isAbove(looks.state, before.state)
    assert.isAbove(looks.lapsed, before.lapsed)
    assert.isAtLeast(lines.length, 2)
  })
})
