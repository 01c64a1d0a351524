/** What only a process of the command shows: a terminal, signals, and the command line that it prints to be run again. */
import { describe, expect } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Money } from "effect-pix"
import { NodeSqlite } from "effect-pix/node"
import { PayoutQueue } from "effect-pix/payouts"
import { Fault, Sandbox } from "effect-pix/sandbox"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { leaksIn, person, secrets } from "../support/canary.ts"
import { hasPty, main, run, runLine, runOnTerminal, start } from "../support/commandProcess.ts"
import { live } from "../support/effect.ts"
import { folder } from "../support/operated.ts"
import { served, settings, settingsOf } from "../support/operator.ts"
import { json, serveRaw, silence } from "../support/RawServer.ts"

const charge = ["charge", "25,00", "--name", "Maria Silva", "--email", "maria@example.com"]

/** The settings of a new SQLite file with the tables of the queue. */
const makeFile = Effect.gen(function* () {
  const filename = join(yield* folder, "payments.sqlite")
  yield* Effect.scoped(Layer.build(Layer.provide(PayoutQueue.layerClient(), NodeSqlite.layer({ filename }))))
  return { DATABASE_URL: filename, EFFECT_PIX_BY: "ops" }
})

/** The command that is shown to ask again. */
const shownCommand = (stderr: string) => /^To ask again.*\n *(.*)$/m.exec(stderr)?.[1] ?? ""

describe.skipIf(!hasPty)("a terminal (needs python3)", () => {
  live(
    "a step is not taken if a person says no, or presses return or ctrl-C, and is taken if y is pressed",
    function* () {
      const env = yield* makeFile
      for (const [pressed, expected, shown] of [
        ["n", 2, "Not confirmed. Nothing was changed."],
        ["\r", 2, "Not confirmed. Nothing was changed."],
        ["\u0003", 130, "Not confirmed. Nothing was changed."],
        ["y", 0, "paused"]
      ] as const) {
        const { code, stdout } = yield* runOnTerminal(["payouts", "pause"], [["pause of default?", pressed]], env)
        expect([code, stdout]).toEqual([expected, expect.stringContaining(shown)])
      }
    }
  )

  live("a QR code is white on black, whatever the colours of the terminal are", served, function* () {
    const { stdout } = yield* runOnTerminal(charge, [], yield* settings)
    expect(stdout).toContain(`\u001b[97;40m${"█".repeat(40)}`)
  })
})

describe("a pipe", () => {
  live("a step is not taken if a y comes from a pipe", function* () {
    const { code, stderr, stdout } = yield* run(["payouts", "pause"], yield* makeFile, "y\n")
    expect([code, stdout]).toEqual([2, ""])
    expect(stderr).toContain("Nothing was changed. Without a terminal a pause needs --yes.")
  })
})

describe("a signal", () => {
  live.each([
    ["ctrl-C", "SIGINT"],
    ["the end of its terminal", "SIGHUP"]
  ] as const)("%s ends a charge under way with 5, and the command to repeat it is printed", function* ([, signal]) {
    const gateway = yield* serveRaw()
    gateway.script(silence)
    const process = yield* start([...charge, "--reference", "order-42"], settingsOf(gateway.url))
    yield* gateway.nextRequest
    yield* process.shown("Charging R$ 25,00 (2500 centavos), reference order-42")
    process.kill(signal)
    const { code, stderr } = yield* process.ended
    expect([code, shownCommand(stderr)]).toEqual([5, expect.stringMatching(/charge 25,00 .*--again$/)])
  })

  live.each(["SIGHUP", "SIGINT"] as const)("%s ends the sandbox with 0, also while a client waits", function* (signal) {
    const sandbox = yield* start(["sandbox", "--port", "0"])
    const [, url] = /PAYMENTS_BASE_URL=(\S+)/.exec(yield* sandbox.shown("PAYMENTS_COMPANY_ID")) ?? []
    const fetching = (path: string, init?: RequestInit) =>
      Effect.promise(() => fetch(`${url}/_sandbox/${path}`, init).then((answer) => answer.json()))
    const body = JSON.stringify({ operation: "any", fault: { executed: false, ending: "Silence" } })
    yield* fetching("fault", { method: "POST", body })
    void fetch(`${url}/api/Transaction/company/transactions`).catch(() => undefined)
    yield* Effect.repeat(fetching("requests"), { until: ({ total }) => total === 1 })
    sandbox.kill(signal)
    expect(yield* sandbox.ended).toMatchObject({ code: 0 })
  })
})

describe("the command to ask again", () => {
  live.each([
    ["charge", [...charge, "--reference", `it's $HOME "b"`]],
    ["charge without a reference", charge]
  ] as const)("the command to ask again finds the same %s, and makes no second one", served, function* ([, words]) {
    const env = yield* settings
    const sandbox = yield* Sandbox
    yield* sandbox.fault("createTransaction", Fault.html(200, { executed: true }))
    const unknown = yield* run(words, env)
    expect([unknown.code, unknown.stdout]).toEqual([5, ""])
    expect(yield* runLine(shownCommand(unknown.stderr), env)).toMatchObject({ code: 0 })
    expect(yield* sandbox.transactions).toHaveLength(1)
  })
})

describe("a SQLite file", () => {
  live("a SQLite file that a program has open is read, and every step on it is refused", function* () {
    const filename = join(yield* folder, "payments.sqlite")
    const env = { DATABASE_URL: filename, EFFECT_PIX_BY: "ops" }
    const pause = run(["payouts", "pause", "--yes"], env)
    yield* Effect.gen(function* () {
      const { submit } = yield* PayoutQueue
      yield* submit({ reference: "invoice-1", amount: Money.centavos(1000) })
      const before = readFileSync(filename)
      // The program goes on, and what it has written is read.
      yield* submit({ reference: "invoice-2", amount: Money.centavos(1000) })
      expect((yield* run(["payouts", "list", "--json"], env)).stdout).toMatch(/^(.*"invoice-\d".*\n){2}$/)
      const says =
        /is open in another process[^]*Nothing was changed\. For this step stop your program, run the command/
      expect(yield* pause).toMatchObject({ code: 1, stdout: "", stderr: expect.stringMatching(says) })
      expect(readFileSync(filename).equals(before)).toBe(true)
    }).pipe(Effect.provide(Layer.provideMerge(PayoutQueue.layerClient(), NodeSqlite.layer({ filename }))))
    expect(yield* pause).toMatchObject({ code: 0 })
  })
})

describe("the sandbox's banner", () => {
  live("the sandbox's banner can be pasted into a shell, and a first charge works there", function* () {
    const { shown } = yield* start(["sandbox", "--port", "0"])
    const banner = yield* shown("PAYMENTS_COMPANY_ID")
    const line = `${banner}\n"${process.execPath}" ${main} charge 25,00 --name Maria --email maria@example.com`
    expect(yield* runLine(line)).toMatchObject({ code: 0, stdout: expect.stringContaining(": R$ 25,00") })
  })
})

describe("the entry", () => {
  live("the entry says which Node it needs before it loads code that an older one cannot read", function* () {
    const older = "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.20.0' } })"
    const line = `"${process.execPath}" --import "data:text/javascript,${older}" ${main} sandbox`
    const { code, stderr, stdout } = yield* runLine(line)
    expect([code, stdout, stderr]).toEqual([1, "", "effect-pix needs Node 22.19 or newer. This is Node 18.20.0.\n"])
  })

  live("the entry logs why a command failed at the level debug alone, and no secret at any level", function* () {
    expect((yield* run(["payouts", "list"])).stderr).not.toContain("level=DEBUG")
    const gateway = yield* serveRaw()
    gateway.script(json({ message: `no ${person.email} ${person.cpf} ${secrets.apiKey}` }, 400))
    const { stderr, stdout } = yield* run([...charge.slice(0, 5), person.email, "--log-level", "all"], {
      ...settingsOf(gateway.url),
      PAYMENTS_CLIENT_ID: secrets.clientId,
      PAYMENTS_API_KEY: secrets.apiKey
    })
    expect(stderr).toMatch(/level=DEBUG.* cause=/)
    expect(leaksIn(stdout + stderr)).toEqual([])
  })
})
