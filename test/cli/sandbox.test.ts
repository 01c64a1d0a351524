/** `effect-pix sandbox`: its addresses, its file and its flags. `process.test.ts` has its terminal and its end. */
import { describe, expect } from "@effect/vitest"
import { Effect } from "effect"
import { join } from "node:path"
import { run, runRows, start } from "../support/command.ts"
import { live } from "../support/effect.ts"
import { folder } from "../support/operated.ts"
import { answer, serveRaw } from "../support/RawServer.ts"

/** Starts one that tells in JSON where it is. */
const serving = Effect.fnUntraced(function* (flags: string) {
  const { shown } = yield* start(`sandbox --port 0 --json${flags}`.split(" "))
  const line = JSON.parse(yield* shown("\n"))
  const send = (path: string, init?: RequestInit) => Effect.promise(() => fetch(`${line.baseUrl}${path}`, init))
  return { ...line, send }
})

/** Starts one that shows its banner. */
const showing = Effect.fnUntraced(function* (flags: string) {
  const { shown } = yield* start(`sandbox --port 0${flags}`.split(" "))
  const banner = yield* shown("PAYMENTS_COMPANY_ID")
  return { banner, shown, baseUrl: /PAYMENTS_BASE_URL=(\S+)/.exec(banner)?.[1] ?? "" }
})

const post = (body: unknown) => ({
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body)
})

const list = "/api/Transaction/company/transactions"

describe("the sandbox's command", () => {
  live("`sandbox --json` prints its addresses in one line, and its panel and its gateway answer there", function* () {
    const { baseUrl, env, panel, state } = yield* serving(" --balance 123,45")
    expect([state, env["PAYMENTS_BASE_URL"]]).toEqual([null, baseUrl])
    const page = yield* Effect.promise(() => fetch(panel))
    expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"])
    yield* runRows(env, [["balance", 0, /R\$ 123,45/]])
  })

  live("`sandbox --as seen` says so, and makes charges as seen", function* () {
    const { banner, baseUrl } = yield* showing(" --as seen")
    expect(banner).toMatch(/^# Answers +as the gateway was seen to/m)
    const made = yield* Effect.promise(() => fetch(`${baseUrl}/_sandbox/charge`, post({ amount: 2500 })))
    expect(yield* Effect.promise(() => made.json())).toMatchObject({
      transactionId: expect.stringMatching(/^[\da-f]{26}$/)
    })
  })

  live("the sandbox on every address warns, and prints one that can be called", function* () {
    const { baseUrl, shown } = yield* showing(" --host 0.0.0.0")
    expect(baseUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    yield* shown("Warning: it listens on 0.0.0.0. Whoever reaches that address can read and steer this sandbox")
  })

  live("a state file restores charges, addresses and balance, and a start adds an address of its own", function* () {
    const file = join(yield* folder, "state.json")
    const webhook = (name: string) => ` --state ${file} --webhook http://127.0.0.1:9/${name}`
    yield* Effect.scoped(
      Effect.gen(function* () {
        const { env, state } = yield* serving(`${webhook("first")} --balance 1,00`)
        expect(state).toBe(file)
        yield* runRows(env, [["charge 25,00 --name Maria --email maria@example.com", 0, /R\$ 25,00/]])
      })
    )
    const { banner } = yield* showing(webhook("second"))
    expect(banner).toMatch(
      /^# Panel +http:.*\n# Balance +R\$ 1,00\n# State +stored in .*\n# Webhooks .*\/first\n# Webhooks .*\/second$/m
    )
    const settings = Array.from(banner.matchAll(/^export (\w+)=(\S+)$/gm), ([, ...setting]) => setting)
    yield* runRows(Object.fromEntries(settings), [["transactions", 0, /R\$ 25,00/]])
  })
})

describe("a flag of the sandbox's command", () => {
  live("--log prints each request with its status, and those that a fault left without one", function* () {
    const { baseUrl, shown } = yield* showing(" --log")
    const send = (path: string, init?: RequestInit) =>
      Effect.promise(() => fetch(`${baseUrl}${path}`, init).catch(() => undefined))
    yield* send(list)
    yield* shown(`GET ${list} 401\n`)
    yield* send("/_sandbox/fault", post({ operation: "any", fault: { executed: false, ending: "Reset" } }))
    yield* send(list)
    const all = yield* shown(`GET ${list} no answer (fault: {"executed":false,"ending":"Reset"})`)
    expect(all.match(/GET |Warning/g)).toEqual(["GET ", "GET "])
  })

  live("--lenient, --webhook-secret and --allow-host reach the sandbox", function* () {
    const receiver = yield* serveRaw(answer(200))
    const hooks = `--webhook ${receiver.url}/hook --webhook-secret made-up`
    const { send, webhooks } = yield* serving(` --lenient ${hooks} --allow-host shop --webhook http://shop:3000/hook`)
    expect(webhooks).toContain("http://shop:3000/hook")
    const headers = { "x-client-id": "sandbox-client", "x-api-key": "sandbox-key", accept: "text/html" }
    expect((yield* send(list, { headers })).status).toBe(200)
    yield* send("/_sandbox/sendWebhook", post({ json: {} }))
    yield* receiver.nextRequest
    expect(receiver.arrived[0]?.headers["x-webhook-secret"]).toBe("made-up")
  })

  live.each([
    ["--port 99999", /a port from 0 to 65535/],
    ["--prot 1", /Unrecognized flag: --prot /],
    ["--balance many", /an amount: 2500 is centavos/],
    ["--webhook https://example.com/hook", /loopback address only/],
    ["--state package.json", /^.*package\.json is not the state of a sandbox.*\n$/],
    ["--host 256.1.1.1", /cannot listen on 256\.1\.1\.1/]
  ] as const)("%s is a mistake that a sentence names, without a stack", function* ([flags, sentence]) {
    expect(yield* runRows({}, [[`sandbox ${flags}`, 1, "", sentence]])).not.toMatch(/^\s+at /m)
  })

  live("--port names a port that is taken, and how to take a free one", function* () {
    const { port } = yield* serveRaw()
    const { code, stderr, stdout } = yield* run(["sandbox", "--port", `${port}`])
    const sentence = `Port ${port} is taken. Try another --port; --port 0 takes a free one.\n`
    expect([code, stdout, stderr]).toEqual([1, "", sentence])
  })
})
