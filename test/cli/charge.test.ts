/** `effect-pix charge` and `transaction`. */
import { describe, expect } from "@effect/vitest"
import { Effect } from "effect"
import { Fault, Sandbox } from "effect-pix/sandbox"
import { leaksIn, person } from "../support/canary.ts"
import { hasPty, run as runProcess, runHere as run, runLine, runOnTerminal, startHere } from "../support/command.ts"
import { answer, closedPort, json, serveRaw } from "../support/RawServer.ts"
import { served, settings, settingsOf } from "../support/operator.ts"
import { live } from "../support/effect.ts"

const words = ["charge", "25,00", "--name", "Maria Silva", "--email", "maria@example.com"]

const newest = Effect.gen(function* () {
  const sandbox = yield* Sandbox
  const [charge] = (yield* sandbox.transactions).toReversed()
  return charge?.transactionId ?? "none"
})

describe("a charge", () => {
  live("a charge is shown with its id, its code and a QR code", served, function* () {
    const { code, stdout } = yield* run(words, yield* settings)
    expect(code).toBe(0)
    expect(stdout).toContain(`Charge ${yield* newest}: R$ 25,00 (2500 centavos), WAITING_PAYMENT`)
    expect(stdout).toMatch(/^000201.*6304[\dA-F]{4}$/m)
    expect(stdout).toMatch(/^█{40,}$/m)
  })

  live.skipIf(!hasPty)(
    "the QR code is white on black on a terminal of any colour (needs python3)",
    served,
    function* () {
      const { stdout } = yield* runOnTerminal(words, [], yield* settings)
      expect(stdout).toContain(`\u001b[97;40m${"█".repeat(40)}`)
    }
  )

  live("a charge is one line of JSON with `--json`, and the same charge for the same reference", served, function* () {
    const env = yield* settings
    const first = yield* run([...words, "--reference", "order-1", "--json"], env)
    const again = yield* run([...words, "--reference", "order-1", "--json"], env)
    expect(again.stdout).toBe(first.stdout)
    expect(JSON.parse(first.stdout)).toMatchObject({ transactionId: yield* newest, amount: 2500, isSound: true })
  })

  live("`charge --wait` ends when the charge is paid, and with 8 if it is cancelled", served, function* () {
    const env = yield* settings
    const sandbox = yield* Sandbox
    const paid = yield* startHere([...words, "--wait", "--json"], env)
    yield* paid.shown("The charge is Awaiting.")
    yield* sandbox.markPaid(yield* newest)
    const { code, stdout } = yield* paid.ended
    expect(code).toBe(0)
    expect(
      stdout
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line).status)
    ).toEqual(["WAITING_PAYMENT", "Paid"])

    const cancelled = yield* startHere([...words, "--wait"], env)
    yield* cancelled.shown("The charge is Awaiting.")
    yield* sandbox.cancel(yield* newest)
    expect((yield* cancelled.ended).code).toBe(8)
  })

  live(
    "a charge that may exist ends with 5, and the printed command finds it and makes no second one",
    served,
    function* () {
      const env = yield* settings
      const sandbox = yield* Sandbox
      yield* sandbox.fault("createTransaction", Fault.resetAfter, { times: 3 })
      const { code, stderr } = yield* runProcess(words, env)
      expect(code).toBe(5)
      const again = yield* runLine(/^ {2}(node .*--again)$/m.exec(stderr)?.[1] ?? "false", env)
      expect([again.code, again.stdout.includes(yield* newest)]).toEqual([0, true])
      expect((yield* sandbox.transactions).length).toBe(1)
    }
  )

  live("a charge is not sent if its amount or its e-mail is wrong", function* () {
    const gateway = yield* serveRaw()
    const env = settingsOf(gateway.url)
    const amount = yield* run(["charge", "25,0", "--name", "Maria", "--email", "m@example.com"], env)
    const email = yield* run(["charge", "25,00", "--name", "Maria", "--email", "nobody"], env)
    expect([amount.code, email.code, gateway.arrived.length]).toEqual([1, 3, 0])
  })
})

describe("a transaction that is looked up", () => {
  const detail = {
    id: 1,
    leadId: 2,
    lead: { id: 2, name: person.name, email: person.email, phone: person.phone, document: person.cpf },
    value: 2500,
    transactionId: "8f14e45f-ceea-467f-a8ad-6d7a3e2f1b0c",
    enStatusTransaction: "Paid"
  }

  live("a lookup masks the payer, unless `--full` is given", function* () {
    const gateway = yield* serveRaw()
    gateway.script(json(detail))
    const env = settingsOf(gateway.url)
    for (const more of [[], ["--json"], ["--wait"], ["--wait", "--json"]]) {
      const masked = yield* run(["transaction", detail.transactionId, ...more], env)
      expect([masked.code, leaksIn(masked.stdout + masked.stderr)]).toEqual([0, []])
    }
    const full = yield* run(["transaction", detail.transactionId, "--full"], env)
    expect(leaksIn(full.stdout).toSorted()).toEqual(["cpf", "email", "name", "phone"])
  })

  live(
    "a lookup ends with 4 if there is no such transaction, and with 6 if there is no usable answer",
    served,
    function* () {
      const env = yield* settings
      expect((yield* run(["transaction", detail.transactionId], env)).code).toBe(4)
      expect((yield* run(["transaction", "x"], settingsOf(closedPort))).code).toBe(6)
      const gateway = yield* serveRaw()
      gateway.script(answer(200, "<html>"))
      expect((yield* run(["transaction", "x"], settingsOf(gateway.url))).code).toBe(6)
    }
  )
})
