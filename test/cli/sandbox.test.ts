/** `effect-pix sandbox`: its addresses, its file, its flags and the keys of its terminal. */
import { describe, expect } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import {
  hasPty,
  main,
  run as runProcess,
  runHere as run,
  runLine,
  runOnTerminal,
  start,
  startHere
} from "../support/command.ts"
import { live } from "../support/effect.ts"
import { answer, serveRaw } from "../support/RawServer.ts"

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "effect-pix-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)

const Line = Schema.fromJsonString(
  Schema.Struct({
    baseUrl: Schema.String,
    panel: Schema.String,
    state: Schema.NullOr(Schema.String),
    env: Schema.Record(Schema.String, Schema.String)
  })
)

/** Starts one in this process, which tells in JSON where it is. */
const serving = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
  const { shown } = yield* startHere(["sandbox", "--port", "0", "--json", ...args])
  const line = yield* Schema.decodeEffect(Line)((yield* shown("\n")).trim())
  const send = (path: string, init?: RequestInit) => Effect.promise(() => fetch(`${line.baseUrl}${path}`, init))
  const post = (name: string, body: unknown) =>
    send(`/_sandbox/${name}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body)
    })
  return { ...line, send, post }
})

/** Starts one that shows its banner. */
const showing = (...args: ReadonlyArray<string>) =>
  Effect.flatMap(startHere(["sandbox", "--port", "0", ...args]), ({ shown }) =>
    Effect.map(shown("PAYMENTS_COMPANY_ID"), (banner) => ({ banner, shown }))
  )

const chargeOf = (amount: string) => [
  "charge",
  amount,
  "--name",
  "Maria Silva",
  "--email",
  "maria@example.com",
  "--json"
]

const charge = (env: Readonly<Record<string, string>>) =>
  Effect.map(run(chargeOf("25,00"), env), ({ stdout }): string => JSON.parse(stdout).transactionId)

const list = "/api/Transaction/company/transactions"
const reset = { operation: "any", fault: { executed: false, ending: "Reset" } }

describe("the sandbox's command", () => {
  live("`sandbox --json` prints its addresses in one line, and its panel and its gateway answer there", function* () {
    const sandbox = yield* serving("--balance", "123,45")
    expect([sandbox.state, sandbox.env["PAYMENTS_BASE_URL"]]).toEqual([null, sandbox.baseUrl])
    const page = yield* Effect.promise(() => fetch(sandbox.panel))
    expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"])
    expect((yield* run(["balance"], sandbox.env)).stdout).toContain("R$ 123,45")
  })

  live("the sandbox's command ends with 0 at ctrl-C, also while a client waits for an answer", function* () {
    const sandbox = yield* start(["sandbox", "--port", "0", "--json"])
    const { baseUrl } = yield* Schema.decodeEffect(Line)((yield* sandbox.shown("\n")).trim())
    const body = JSON.stringify({ operation: "any", fault: { executed: false, ending: "Silence" } })
    yield* Effect.promise(() => fetch(`${baseUrl}/_sandbox/fault`, { method: "POST", body }))
    void fetch(`${baseUrl}${list}`).catch(() => undefined)
    const requests = Effect.promise(() => fetch(`${baseUrl}/_sandbox/requests`).then((answer) => answer.json()))
    yield* Effect.repeat(requests, { until: ({ total }) => total === 1 })
    sandbox.kill("SIGINT")
    expect((yield* sandbox.ended).code).toBe(0)
  })

  live("the sandbox's banner can be pasted into a shell, and a first payout works there", function* () {
    const { banner } = yield* showing("--webhook", "http://127.0.0.1:9/hook")
    expect(banner).toMatch(/^# Balance +R\$ 1\.000,00$/m)
    expect(banner).toMatch(/^# Panel +http:\/\/127\.0\.0\.1:\d+\/$/m)
    expect(banner).toContain("not kept")
    expect(banner).toContain("http://127.0.0.1:9/hook")
    const line = `${banner}\n"${process.execPath}" ${main} withdraw 150,00 --reference invoice-42 --yes`
    const { code, stdout } = yield* runLine(line)
    expect([code, stdout]).toEqual([0, expect.stringContaining("Withdrawal 1: R$ 150,00")])
  })

  live("the sandbox's command makes new ids at each start", function* () {
    const id = Effect.scoped(Effect.flatMap(serving(), ({ env }) => charge(env)))
    expect(yield* id).not.toBe(yield* id)
  })

  live(
    "the sandbox's command warns if it listens beyond the loopback, and prints an address that can be called",
    function* () {
      const { banner, shown } = yield* showing("--host", "0.0.0.0")
      expect(banner).toMatch(/PAYMENTS_BASE_URL=http:\/\/127\.0\.0\.1:\d+$/m)
      yield* shown("Whoever reaches that address can read and steer this sandbox")
    }
  )
})

describe("the state file of the sandbox's command", () => {
  live("a state file restores charges, addresses and balance, and a start adds an address of its own", function* () {
    const file = join(yield* folder, "state.json")
    const id = yield* Effect.scoped(
      Effect.gen(function* () {
        const before = yield* serving("--state", file, "--webhook", "http://127.0.0.1:9/first", "--balance", "1,00")
        expect(before.state).toBe(file)
        return yield* charge(before.env)
      })
    )
    yield* Effect.scoped(
      Effect.gen(function* () {
        const { env, state } = yield* serving("--state", file)
        expect(state).toBe(file)
        expect((yield* run(["transaction", id], env)).stdout).toContain("R$ 25,00")
      })
    )
    const { banner } = yield* showing("--state", file, "--webhook", "http://127.0.0.1:9/second")
    expect(banner).toMatch(/^# Webhooks +http:\/\/127\.0\.0\.1:9\/first$/m)
    expect(banner).toMatch(/^# Webhooks +http:\/\/127\.0\.0\.1:9\/second$/m)
    expect(banner).toMatch(/^# Balance +R\$ 1,00$/m)
  })

  live(
    "a state file is stored if the terminal is closed, is refused while in use, and is free after a kill",
    function* () {
      const args = ["sandbox", "--port", "0", "--json", "--state", join(yield* folder, "state.json")]
      const starting = Effect.gen(function* () {
        const sandbox = yield* start(args)
        return { ...sandbox, ...(yield* Schema.decodeEffect(Line)((yield* sandbox.shown("\n")).trim())) }
      })
      const first = yield* starting
      const id = yield* charge(first.env)
      const { code, stderr } = yield* runProcess(args)
      expect([code, stderr.trim().split("\n")]).toEqual([1, [expect.stringContaining(`process ${first.pid}`)]])
      first.kill("SIGHUP")
      expect((yield* first.ended).code).toBe(0)
      const second = yield* starting
      second.kill("SIGKILL")
      yield* second.ended
      const third = yield* starting
      expect((yield* run(["transaction", id], third.env)).code).toBe(0)
    }
  )

  live("a file that is not a state is named in one sentence, and not changed", function* () {
    const file = join(yield* folder, "notes.txt")
    writeFileSync(file, "not a state")
    const { code, stderr, stdout } = yield* run(["sandbox", "--port", "0", "--state", file])
    expect([code, stdout, stderr.trim().split("\n").length]).toEqual([1, "", 1])
    expect(stderr).toContain(`${file} is not the state of a sandbox of this version`)
    expect(readFileSync(file, "utf8")).toBe("not a state")
  })
})

describe("a flag of the sandbox's command", () => {
  live("--log prints each request with its status, and those that a fault left without one", function* () {
    const { banner, shown } = yield* showing("--log")
    const baseUrl = /PAYMENTS_BASE_URL=(\S+)/.exec(banner)?.[1] ?? ""
    const send = (path: string, init?: RequestInit) =>
      Effect.promise(() => fetch(`${baseUrl}${path}`, init).catch(() => undefined))
    yield* send(list)
    yield* shown(`GET ${list} 401`)
    yield* send("/_sandbox/fault", { method: "POST", body: JSON.stringify(reset) })
    yield* send(list)
    yield* shown(`GET ${list} no answer (fault: {"executed":false,"ending":"Reset"})`)
  })

  live("--lenient takes a request without Accept", function* () {
    const { send } = yield* serving("--lenient")
    const headers = { "x-client-id": "sandbox-client", "x-api-key": "sandbox-key", accept: "text/html" }
    expect((yield* send(list, { headers })).status).toBe(200)
  })

  live("--webhook-secret is sent in a header of each webhook", function* () {
    const receiver = yield* serveRaw(answer(200))
    const { post } = yield* serving("--webhook", `${receiver.url}/hook`, "--webhook-secret", "made-up")
    yield* post("sendWebhook", { json: {} })
    yield* receiver.nextRequest
    expect(receiver.arrived[0]?.headers["x-webhook-secret"]).toBe("made-up")
  })

  live("--allow-host takes a name for webhooks", function* () {
    const { send } = yield* serving("--allow-host", "shop", "--webhook", "http://shop:3000/hook")
    const { targets } = yield* Effect.promise(async () => (await Effect.runPromise(send("/_sandbox/overview"))).json())
    expect(targets).toEqual(["http://shop:3000/hook"])
  })

  live.each([
    [["--port", "99999"], "a port from 0 to 65535"],
    [["--prot", "1"], "Unrecognized flag: --prot"],
    [["--balance", "many"], "an amount: 2500 is centavos"],
    [["--webhook", "https://example.com/hook"], "loopback address only"],
    [["--host", "256.1.1.1"], "This machine has no address 256.1.1.1"]
  ] as const)("%s is a mistake that one sentence names, without a stack", function* ([args, sentence]) {
    const { code, stderr, stdout } = yield* run(["sandbox", ...args])
    expect([code, stdout]).toEqual([1, ""])
    expect(stderr).toContain(sentence)
    expect(stderr).not.toMatch(/^\s+at /m)
  })

  live("--port names a port that is taken, and how to take a free one", function* () {
    const { port } = yield* serveRaw()
    const { code, stderr, stdout } = yield* run(["sandbox", "--port", `${port}`])
    expect([code, stdout, stderr]).toEqual([
      1,
      "",
      `Port ${port} is taken. Try another --port; --port 0 takes a free one.\n`
    ])
  })
})

/** A folder with a browser in it that does nothing. */
const browser = Effect.tap(folder, (path) =>
  Effect.sync(() => {
    for (const name of ["xdg-open", "open"]) writeFileSync(join(path, name), "#!/bin/sh\n", { mode: 0o755 })
  })
)

describe("the terminal of the sandbox (needs python3)", () => {
  live.skipIf(!hasPty)("its keys open the panel, pay the newest charge, and quit with 0", function* () {
    const path = yield* browser
    const file = join(path, "state.json")
    yield* Effect.scoped(
      Effect.gen(function* () {
        const { env } = yield* serving("--state", file)
        for (const amount of ["10,00", "25,00"]) yield* run(chargeOf(amount), env)
      })
    )
    const { code, stdout } = yield* runOnTerminal(
      ["sandbox", "--port", "0", "--state", file],
      [
        ["q quits", "o"],
        ["Opened the panel.", "p"],
        ["Paid R$ 25,00", "p"],
        ["Paid R$ 10,00", "p"],
        ["No charge awaits its payment.", "q"]
      ],
      { PATH: `${path}${delimiter}${process.env["PATH"] ?? ""}` }
    )
    expect([code, stdout.trimEnd().endsWith("Stopped.")]).toEqual([0, true])
  })

  live.skipIf(!hasPty)("ctrl-C ends the sandbox with 0", function* () {
    expect((yield* runOnTerminal(["sandbox", "--port", "0"], [["q quits", "\u0003"]])).code).toBe(0)
  })

  /** Runs a command on a pseudo-terminal, and closes that once the keys are explained. */
  const closing = `
import os, pty, sys
pid, master = pty.fork()
if pid == 0: os.execvp(sys.argv[1], sys.argv[1:])
seen = b""
while b"q quits" not in seen: seen += os.read(master, 65536)
os.close(master)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) & 255)
`

  live.skipIf(!hasPty)("a closed terminal ends the sandbox with 0, as ctrl-C does", function* () {
    const { code, stderr } = yield* runLine(`python3 -c '${closing}' "${process.execPath}" ${main} sandbox --port 0`)
    expect([code, stderr]).toEqual([0, ""])
  })
})
