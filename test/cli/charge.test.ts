/** `effect-pix charge` and `transaction`. */
import { describe, expect } from "@effect/vitest"
import { Sandbox } from "effect-pix/sandbox"
import { leaksIn, person } from "../support/canary.ts"
import { run, runRows } from "../support/command.ts"
import { live } from "../support/effect.ts"
import { created } from "../support/operations.ts"
import { served, settings, settingsOf } from "../support/operator.ts"
import { answer, closedPort, json, serveRaw } from "../support/RawServer.ts"

const words = ["charge", "25,00", "--name", "Maria Silva", "--email", "maria@example.com"]

const lookup = (status: string) => ({
  id: 1,
  leadId: 2,
  lead: { id: 2, name: person.name, email: person.email, phone: person.phone, document: person.cpf },
  value: 2500,
  transactionId: created.data.id,
  enStatusTransaction: status
})

const linesOf = (stdout: string) =>
  stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))

describe("a charge", () => {
  live("a charge is shown with its id, its code and a QR code", served, function* () {
    const { code, stdout } = yield* run(words, yield* settings)
    const [charge] = yield* (yield* Sandbox).transactions
    expect(code).toBe(0)
    expect(stdout).toContain(`Charge ${charge?.transactionId}: R$ 25,00 (2500 centavos), WAITING_PAYMENT`)
    expect(stdout).toMatch(/^000201.*6304[\dA-F]{4}$/m)
    expect(stdout).toMatch(/^█{40,}$/m)
  })

  live("a charge is one line of JSON with `--json`, and the same charge for the same reference", served, function* () {
    const env = yield* settings
    const first = yield* run([...words, "--reference", "order-1", "--json"], env)
    expect(yield* run([...words, "--reference", "order-1", "--json"], env)).toEqual(first)
    const [charge, ...others] = yield* (yield* Sandbox).transactions
    expect(others).toEqual([])
    const copyAndPaste = expect.stringMatching(/^0002/)
    const shown = { transactionId: charge?.transactionId, amount: 2500, copyAndPaste }
    expect(linesOf(first.stdout)).toMatchObject([shown])
  })

  live("`charge --wait` masks the payer, and ends with 0 if the charge is paid and with 8 if not", function* () {
    const gateway = yield* serveRaw()
    for (const [status, code] of [
      ["Paid", 0],
      ["PAID", 0],
      ["Cancelled", 8]
    ] as const) {
      gateway.script(json(created, 201), json(lookup(status)))
      const ended = yield* run([...words, "--wait", "--json"], settingsOf(gateway.url))
      expect(linesOf(ended.stdout)).toMatchObject([{ status: "WAITING_PAYMENT" }, { status }])
      expect([ended.code, leaksIn(ended.stdout + ended.stderr)]).toEqual([code, []])
      expect(ended.stderr).toMatch(new RegExp(`^Waiting .*\\n(?:.*\\n)?The charge is ${status}\\.$`, "m"))
    }
  })

  live("a charge is not sent if its amount or its e-mail is wrong", function* () {
    const gateway = yield* serveRaw()
    yield* runRows(settingsOf(gateway.url), [
      ["charge 25,0 --name Maria --email m@example.com", 1, "", /2500 is centavos/],
      ["charge 25 --name Maria --email m@example.com", 1, "", /Below R\$ 10,00 write reais, as 0,25/],
      ["charge 999 --name Maria --email m@example.com", 1, "", /Below R\$ 10,00 write reais/],
      ["charge 25,00 --name Maria --email nobody", 3, "", /email/],
      ["charge 25,00 --name Maria --email m@example.com --expires-in-days 0", 3, "", /expiresInDays/]
    ])
    expect(gateway.arrived).toEqual([])
  })
})

describe("a transaction that is looked up", () => {
  live("a lookup masks the payer, unless `--full` is given", function* () {
    const gateway = yield* serveRaw()
    gateway.script(json(lookup("Paid")))
    const env = settingsOf(gateway.url)
    for (const more of ["", " --json", " --wait", " --wait --json"])
      expect(leaksIn(yield* runRows(env, [[`transaction ${created.data.id}${more}`, 0, /Paid/]]))).toEqual([])
    const full = yield* runRows(env, [
      [`transaction ${created.data.id} --full`, 0, /^Amount +R\$ 25,00 \(2500 centavos\)$/m]
    ])
    expect(leaksIn(full).toSorted()).toEqual(["cpf", "email", "name", "phone"])
  })

  live("a lookup ends with 4 if the service refuses it, and with 6 if there is no usable answer", function* () {
    const gateway = yield* serveRaw()
    gateway.script(json({ message: "Transação não encontrada." }, 404), answer(200, "<html>"))
    yield* runRows(settingsOf(gateway.url), [
      ["transaction x", 4, ""],
      ["transaction x", 6, ""]
    ])
    yield* runRows(settingsOf(closedPort), [["transaction x", 6, ""]])
  })
})
