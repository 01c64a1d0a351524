/** `effect-pix withdraw`: what is sent, what is asked, and what the exit codes say. */
import { describe, expect } from "@effect/vitest"

import { IdempotencyKey } from "effect-pix"
import { Fault, Sandbox } from "effect-pix/sandbox"
import { leaksIn, person, secrets } from "../support/canary.ts"
import { hasPty, run as runProcess, runHere as run, runLine, runOnTerminal, start } from "../support/command.ts"
import { answer, closedPort, json, serveRaw, silence } from "../support/RawServer.ts"
import { served, settings, settingsOf } from "../support/operator.ts"
import { live } from "../support/effect.ts"

const payout = ["withdraw", "10,00", "--reference", "invoice-42"]
const key = IdempotencyKey.fromReference("payout", "invoice-42")

/** The command that is shown to ask again. */
const shownCommand = (stderr: string): string => {
  const lines = stderr.split("\n")
  const found = lines.findIndex((line) => line.startsWith("To ask again"))
  return found === -1 ? "" : (lines[found + 1]?.trim() ?? "")
}

describe("a payout that is confirmed", () => {
  live(
    "a confirmed payout is sent once under the key of its reference, and another payout with it is refused",
    served,
    function* () {
      const env = yield* settings
      const first = yield* run([...payout, "--yes"], env)
      expect([first.code, first.stdout]).toEqual([0, expect.stringContaining("R$ 10,00")])
      const other = yield* run(["withdraw", "20,00", "--reference", "invoice-42", "--yes"], env)
      expect([other.code, other.stdout, shownCommand(other.stderr)]).toEqual([5, "", ""])
      expect(other.stderr).toContain("run this with the same amount and data as then. It shows the result.")
      expect(other.stderr).toContain("give it a reference of its own")
      const again = yield* run([...payout, "--yes", "--json"], env)
      expect(JSON.parse(again.stdout)).toMatchObject({ id: 1, reais: "10.00", status: "Awaiting", idempotencyKey: key })
      const sandbox = yield* Sandbox
      expect((yield* sandbox.withdrawals).map(({ idempotencyKey }) => idempotencyKey)).toEqual([key])
    }
  )
})

describe("a payout that nobody confirmed", () => {
  live("a payout is not sent if a y comes from a pipe", function* () {
    const gateway = yield* serveRaw()
    const { code, stderr, stdout } = yield* runProcess(payout, settingsOf(gateway.url), "y\n")
    expect([code, stdout, gateway.arrived.length]).toEqual([2, "", 0])
    expect(stderr).toContain("Nothing was sent. Without a terminal a payout needs --yes.")
  })

  live.skipIf(!hasPty)(
    "a payout is not sent if a person says no, or presses return or ctrl-C (needs python3)",
    function* () {
      const gateway = yield* serveRaw()
      const codes: Array<number | null> = []
      for (const pressed of ["n", "\r", "\u0003"]) {
        const { code, stdout } = yield* runOnTerminal(payout, [["Pay out", pressed]], settingsOf(gateway.url))
        expect(stdout).toContain("Not confirmed. Nothing was sent.")
        codes.push(code)
      }
      expect([codes, gateway.arrived.length]).toEqual([[2, 2, 130], 0])
    }
  )

  live.skipIf(!hasPty)(
    "a payout is sent if y is pressed on a terminal, which showed the amount and the masked key (needs python3)",
    served,
    function* () {
      const env = { ...(yield* settings), PAYMENTS_PIX_KEY: person.cpf }
      const { code, stdout } = yield* runOnTerminal([...payout, "--pix-key-type", "CPF"], [["Pay out", "y"]], env)
      expect(code).toBe(0)
      expect(stdout).toContain("Pay out R$ 10,00 (1000 centavos) to CPF ***.982.247-**?")
      expect(leaksIn(stdout)).toEqual([])
      const sandbox = yield* Sandbox
      expect((yield* sandbox.withdrawals).length).toBe(1)
    }
  )
})

describe("the exit code of a payout", () => {
  live(
    "the exit code of a payout is 3 if nothing was sent: the gateway is down, or the amount too small",
    function* () {
      const down = yield* run([...payout, "--yes"], settingsOf(closedPort))
      expect([down.code, down.stdout]).toEqual([3, ""])
      expect(down.stderr).toContain("Nothing was sent")
      const gateway = yield* serveRaw()
      const small = yield* run(["withdraw", "999", "--reference", "a", "--yes"], settingsOf(gateway.url))
      expect([small.code, gateway.arrived.length]).toEqual([3, 0])
    }
  )

  live(
    "the exit code of a payout is 4 if the service refuses it, and 1 for wrong usage or settings",
    served,
    function* () {
      const env = yield* settings
      const poor = yield* run(["withdraw", "1.000.000,00", "--reference", "b", "--yes"], env)
      expect([poor.code, poor.stderr.includes("The balance does not cover")]).toEqual([4, true])
      const denied = yield* run([...payout, "--yes"], { ...env, PAYMENTS_API_KEY: "another" })
      expect(denied.code).toBe(4)
      expect((yield* run([...payout, "--yes"], {})).code).toBe(1)
      expect((yield* run(["withdraw", "10,00", "--yes"], env)).code).toBe(1)
      expect((yield* run([...payout, "--pix-key", "52998224725", "--yes"], env)).code).toBe(1)
      expect((yield* run(["withdraw", "10,00", "--reference", " x", "--yes"], env)).code).toBe(1)
      const sandbox = yield* Sandbox
      expect(yield* sandbox.withdrawals).toEqual([])
    }
  )

  live(
    "the exit code of a payout is 5 if it may have been executed, and the printed command repeats the same payout",
    served,
    function* () {
      const env = yield* settings
      const sandbox = yield* Sandbox
      yield* sandbox.fault("requestWithdrawal", Fault.resetAfter, { times: 3 })
      const words = ["withdraw", "10,00", "--reference", "it's $HOME", "--description", 'a "b"', "--yes"]
      const unknown = yield* runProcess(words, env)
      expect([unknown.code, unknown.stdout]).toEqual([5, ""])
      expect(unknown.stderr).toContain("MONEY MAY HAVE MOVED")
      const again = yield* runLine(shownCommand(unknown.stderr), env)
      expect([again.code, again.stdout.includes("R$ 10,00")]).toEqual([0, true])
      expect((yield* sandbox.withdrawals).length).toBe(1)
    }
  )

  live("the exit code of a repeated payout stays 5 if the service refuses it", function* () {
    const gateway = yield* serveRaw()
    gateway.script(json({ message: "Saldo insuficiente" }, 422))
    const env = settingsOf(gateway.url)
    expect((yield* run([...payout, "--yes"], env)).code).toBe(4)
    const again = yield* runProcess([...payout, "--yes", "--again"], env)
    expect([again.code, shownCommand(again.stderr)]).toEqual([5, expect.stringMatching(/withdraw 10,00 .*--again$/)])
    expect(again.stderr).toContain(
      "If the answer stays the same, another one will not help: ask the operator of the gateway"
    )
    expect(gateway.arrived.map(({ headers }) => headers["idempotency-key"])).toEqual([key, key])
  })

  live.each([
    ["ctrl-C", "SIGINT"],
    ["the end of its terminal", "SIGHUP"]
  ] as const)(
    "the exit code of a payout is 5 if %s ends it while the request is under way, and the command to repeat it is printed",
    function* ([, signal]) {
      const gateway = yield* serveRaw()
      gateway.script(silence)
      const process = yield* start([...payout, "--yes"], settingsOf(gateway.url))
      yield* gateway.nextRequest
      const shown = yield* process.shown(key)
      expect(shown).toContain("Payout of R$ 10,00 (1000 centavos) to the company's own PIX key\nReference invoice-42")
      process.kill(signal)
      const { code, stderr } = yield* process.ended
      expect([code, shownCommand(stderr)]).toEqual([5, expect.stringMatching(/withdraw 10,00 .*--again$/)])
    }
  )

  live.each([
    [answer(200, "<html>"), 5],
    [answer(307, "", { location: "http://127.0.0.1:1/" }), 4],
    [answer(502, "bad gateway"), 5],
    [json({ message: "\u001b[2Jno" }, 400), 4]
  ] as const)("tells hostile answers apart, and passes no escape code on (%#)", function* ([hostile, expected]) {
    const gateway = yield* serveRaw()
    gateway.script(hostile)
    const { code, stderr } = yield* run([...payout, "--yes"], settingsOf(gateway.url))
    expect([code, stderr.includes("\u001b")]).toEqual([expected, false])
    expect(stderr).not.toMatch(/^\s+at /m)
  })
})

describe("what a payout prints", () => {
  live("a payout prints no secret and no data of a person, whatever its result", function* () {
    const gateway = yield* serveRaw()
    const env = {
      ...settingsOf(gateway.url),
      PAYMENTS_CLIENT_ID: secrets.clientId,
      PAYMENTS_API_KEY: secrets.apiKey,
      PAYMENTS_PIX_KEY: person.email
    }
    const words = [...payout, "--pix-key-type", "EMAIL", "--yes"]
    const echo = `no ${person.email} ${person.cpf} ${secrets.apiKey}`
    for (const hostile of [json({ message: echo }, 400), json({ message: echo }, 500), answer(200, echo)]) {
      gateway.script(hostile)
      const { code, stderr, stdout } = yield* runProcess([...words, "--log-level", "all"], env)
      expect(code).toBeGreaterThan(3)
      expect(leaksIn(stdout + stderr)).toEqual([])
    }
    gateway.script(
      json({ id: 7, value: 10, enTransaction: "Awaiting", pixKey: person.email, pixKeyType: "EMAIL" }, 201)
    )
    const done = yield* run(words, env)
    expect([done.code, leaksIn(done.stdout + done.stderr)]).toEqual([0, []])
  })
})
