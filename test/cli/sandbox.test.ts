/** `effect-pix sandbox`, run as a process. */
import { describe, expect } from "@effect/vitest"
import { Deferred, Effect, Schema } from "effect"
import { createServer as createHttpServer } from "node:http"
import { createServer } from "node:net"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { main, runHere, runLine, start } from "../support/command.ts"
import { live } from "../support/effect.ts"

const Line = Schema.fromJsonString(
  Schema.Struct({
    baseUrl: Schema.String,
    panel: Schema.String,
    state: Schema.NullOr(Schema.String),
    env: Schema.Record(Schema.String, Schema.String)
  })
)

/** Starts one that tells in JSON where it is. */
const serving = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
  const process = yield* start(["sandbox", "--port", "0", "--json", ...args])
  const text = yield* process.shown("\n")
  return { ...process, ...(yield* Schema.decodeEffect(Line)(text.trim())) }
})

const charge = (env: Readonly<Record<string, string>>, ...args: ReadonlyArray<string>) =>
  Effect.map(
    runHere(["charge", "25,00", "--name", "Maria Silva", "--email", "maria@example.com", "--json", ...args], env),
    ({ stdout }) =>
      Schema.decodeSync(Schema.fromJsonString(Schema.Struct({ transactionId: Schema.String })))(stdout.trim())
  )

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "effect-pix-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)

describe("the sandbox's command", () => {
  live("`sandbox --json` prints its addresses in one line, and its panel and its gateway answer there", function* () {
    const sandbox = yield* serving("--balance", "123,45")
    expect(sandbox.state).toBeNull()
    expect(sandbox.env["PAYMENTS_BASE_URL"]).toBe(sandbox.baseUrl)
    const page = yield* Effect.promise(() => fetch(sandbox.panel))
    expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"])
    const balance = yield* runHere(["balance"], sandbox.env)
    expect(balance.stdout).toContain("R$ 123,45")
  })

  live("the sandbox's command ends with 0 at ctrl-C, also while a client waits for an answer", function* () {
    const sandbox = yield* serving()
    const plan = { operation: "any", fault: { executed: false, ending: "Silence" } }
    const fault = { method: "POST", body: JSON.stringify(plan) }
    yield* Effect.promise(() => fetch(`${sandbox.baseUrl}/_sandbox/fault`, fault))
    void fetch(`${sandbox.baseUrl}/api/Transaction/company/transactions`).catch(() => undefined)
    const requests = Effect.promise(() => fetch(`${sandbox.baseUrl}/_sandbox/requests`).then((answer) => answer.json()))
    yield* Effect.repeat(requests, { until: ({ total }) => total === 1 })
    sandbox.kill("SIGINT")
    expect((yield* sandbox.ended).code).toBe(0)
  })

  live(
    "the sandbox's command shows a banner whose lines can be pasted into a shell, and a first payout works there",
    function* () {
      const sandbox = yield* start(["sandbox", "--port", "0", "--webhook", "http://127.0.0.1:9/hook"])
      const banner = yield* sandbox.shown("PAYMENTS_COMPANY_ID")
      expect(banner).toMatch(/^# Balance +R\$ 1\.000,00$/m)
      expect(banner).toMatch(/^# Panel +http:\/\/127\.0\.0\.1:\d+\/$/m)
      expect(banner).toContain("not kept")
      expect(banner).toContain("http://127.0.0.1:9/hook")
      const { stdout } = yield* runLine(`${banner}\nenv`)
      const paid = yield* runLine(
        `${banner}\n"${process.execPath}" ${main} withdraw 150,00 --reference invoice-42 --yes`
      )
      expect([paid.code, paid.stdout]).toEqual([0, expect.stringContaining("Withdrawal 1: R$ 150,00")])
      expect(stdout).toMatch(/^PAYMENTS_BASE_URL=http:\/\/127\.0\.0\.1:\d+$/m)
      expect(stdout).toMatch(/^PAYMENTS_API_KEY=.+$/m)
    }
  )

  live("the sandbox's command makes new ids at each start", function* () {
    const first = yield* Effect.scoped(Effect.flatMap(serving(), ({ env }) => charge(env)))
    const second = yield* Effect.scoped(Effect.flatMap(serving(), ({ env }) => charge(env)))
    expect(first).not.toEqual(second)
  })

  live(
    "the sandbox's command restores its charges from the state file after a restart, also if its terminal was closed",
    function* () {
      const file = join(yield* folder, "state.json")
      const before = yield* serving("--state", file)
      expect(before.state).toBe(file)
      const { transactionId } = yield* charge(before.env)
      before.kill("SIGHUP")
      expect((yield* before.ended).code).toBe(0)
      const after = yield* serving("--state", file)
      const found = yield* runHere(["transaction", transactionId], after.env)
      expect([found.code, found.stdout.includes("R$ 25,00")]).toEqual([0, true])
    }
  )

  live(
    "the sandbox's command warns if it listens beyond the loopback, and prints an address that can be called",
    function* () {
      const sandbox = yield* start(["sandbox", "--port", "0", "--host", "0.0.0.0"])
      const shown = yield* sandbox.shown("Warning")
      expect(shown).toMatch(/PAYMENTS_BASE_URL=http:\/\/127\.0\.0\.1:\d+$/m)
      expect(shown).toContain("Whoever reaches that address can read and steer this sandbox")
    }
  )
})

describe("the sandbox's command on the file of an earlier one", () => {
  live("the sandbox's command shows the addresses of the file and its own, and the balance of the file", function* () {
    const file = join(yield* folder, "state.json")
    const first = yield* serving("--state", file, "--webhook", "http://127.0.0.1:9/first", "--balance", "1,00")
    first.kill("SIGINT")
    yield* first.ended
    const args = ["--state", file, "--webhook", "http://127.0.0.1:9/second"]
    const second = yield* start(["sandbox", "--port", "0", ...args])
    const shown = yield* second.shown("PAYMENTS_COMPANY_ID")
    expect(shown).toMatch(/^# Webhooks +http:\/\/127\.0\.0\.1:9\/first$/m)
    expect(shown).toMatch(/^# Webhooks +http:\/\/127\.0\.0\.1:9\/second$/m)
    expect(shown).toMatch(/^# Balance +R\$ 1,00$/m)
  })
})

describe("a flag of the sandbox's command", () => {
  live("--log prints each request with its status, and those that a fault left without one", function* () {
    const sandbox = yield* start(["sandbox", "--port", "0", "--log"])
    const baseUrl = /PAYMENTS_BASE_URL=(\S+)/.exec(yield* sandbox.shown("PAYMENTS_COMPANY_ID"))?.[1] ?? ""
    const path = "/api/Transaction/company/transactions"
    yield* Effect.promise(() => fetch(`${baseUrl}${path}`))
    yield* sandbox.shown(`GET ${path} 401`)
    yield* Effect.promise(() =>
      fetch(`${baseUrl}/_sandbox/fault`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ operation: "any", fault: { executed: false, ending: "Reset" } })
      })
    )
    yield* Effect.promise(() => fetch(`${baseUrl}${path}`).catch(() => undefined))
    yield* sandbox.shown(`GET ${path} no answer (fault: {"executed":false,"ending":"Reset"})`)
  })

  live("--lenient takes a request without Accept", function* () {
    const { baseUrl } = yield* serving("--lenient")
    const headers = { "x-client-id": "sandbox-client", "x-api-key": "sandbox-key", accept: "text/html" }
    const path = "/api/Transaction/company/transactions"
    const { status } = yield* Effect.promise(() => fetch(`${baseUrl}${path}`, { headers }))
    expect(status).toBe(200)
  })

  live("--webhook-secret is sent in a header of each webhook", function* () {
    const received = yield* Deferred.make<string | undefined>()
    const receiver = yield* Effect.acquireRelease(
      Effect.sync(() =>
        createHttpServer((request, response) => {
          Deferred.doneUnsafe(received, Effect.succeed(request.headers["x-webhook-secret"]?.toString()))
          response.end()
        }).listen(0, "127.0.0.1")
      ),
      (server) => Effect.sync(() => server.close())
    )
    yield* Effect.callback<void>((resume) => {
      if (receiver.listening) resume(Effect.void)
      else receiver.once("listening", () => resume(Effect.void))
    })
    const { port } = receiver.address() as AddressInfo // a TCP server's address is never a string
    const sandbox = yield* serving("--webhook", `http://127.0.0.1:${port}/hook`, "--webhook-secret", "made-up")
    yield* Effect.promise(() =>
      fetch(`${sandbox.baseUrl}/_sandbox/sendWebhook`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: '{"json":{}}'
      })
    )
    expect(yield* Deferred.await(received)).toBe("made-up")
  })

  live("--allow-host takes a name for webhooks", function* () {
    const { baseUrl } = yield* serving("--allow-host", "shop", "--webhook", "http://shop:3000/hook")
    const { targets } = yield* Effect.promise(() =>
      fetch(`${baseUrl}/_sandbox/overview`).then((answer) => answer.json())
    )
    expect(targets).toEqual(["http://shop:3000/hook"])
  })
})

const taken = Effect.acquireRelease(
  Effect.callback<{ readonly port: number; readonly close: () => void }>((resume) => {
    const server = createServer()
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo // a TCP server's address is never a string
      resume(Effect.succeed({ port, close: () => server.close() }))
    })
  }),
  ({ close }) => Effect.sync(close)
)

describe("a mistake at the start of the sandbox", () => {
  live("the sandbox's command prints one sentence if the port is taken", function* () {
    const { port } = yield* taken
    const { code, stderr, stdout } = yield* runHere(["sandbox", "--port", `${port}`])
    expect({ code, stderr, stdout }).toEqual({
      code: 1,
      stderr: `Port ${port} is taken. Try another --port; --port 0 takes a free one.\n`,
      stdout: ""
    })
  })

  live(
    "the sandbox's command prints one sentence if the file is not a state file, and does not change it",
    function* () {
      const file = join(yield* folder, "notes.txt")
      writeFileSync(file, "not a state")
      const { code, stderr, stdout } = yield* runHere(["sandbox", "--port", "0", "--state", file])
      expect([code, stdout, stderr.trim().split("\n").length]).toEqual([1, "", 1])
      expect(stderr).toContain(`${file} is not the state of a sandbox of this version`)
      expect(readFileSync(file, "utf8")).toBe("not a state")
    }
  )

  live.each([
    [["--port", "99999"], "a port from 0 to 65535"],
    [["--prot", "1"], "Unrecognized flag: --prot"],
    [["--balance", "many"], "an amount: 2500 is centavos"],
    [["--webhook", "https://example.com/hook"], "loopback address only"],
    [["--host", "256.1.1.1"], "This machine has no address 256.1.1.1"]
  ] as const)("the sandbox's command names what is wrong with %s, without a stack", function* ([args, sentence]) {
    const { code, stderr, stdout } = yield* runHere(["sandbox", ...args])
    expect([code, stdout]).toEqual([1, ""])
    expect(stderr).toContain(sentence)
    expect(stderr).not.toMatch(/^\s+at /m)
  })
})
