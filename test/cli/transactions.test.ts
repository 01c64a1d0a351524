/** `effect-pix transactions` and `balance`. */
import { describe, expect } from "@effect/vitest"
import { Effect } from "effect"
import { Credentials, IdempotencyKeyGen, Money, Payments } from "effect-pix"
import { Sandbox } from "effect-pix/sandbox"
import { FetchHttpClient } from "effect/http"
import { leaksIn, person } from "../support/canary.ts"
import { runHere as run } from "../support/command.ts"
import { answer, json, serveRaw, type Play } from "../support/RawServer.ts"
import { balancePath, charge } from "../support/operations.ts"
import { served, settings, settingsOf } from "../support/operator.ts"
import { live } from "../support/effect.ts"

/** Makes so many charges of 1, 2, 3... centavos. */
const charges = Effect.fnUntraced(function* (count: number) {
  const { baseUrl, credentials } = yield* Sandbox
  const payments = Payments.layer({ baseUrl })
  yield* Effect.gen(function* () {
    const { createTransaction } = yield* Payments
    for (let amount = 1; amount <= count; amount++) {
      yield* createTransaction({
        ...charge,
        amount: Money.centavos(amount),
        customer: { name: person.name, email: person.email, phone: person.phone }
      })
    }
  }).pipe(
    Effect.provide(payments),
    Effect.provide([FetchHttpClient.layer, Credentials.layer(yield* credentials), IdempotencyKeyGen.layer])
  )
})

const linesOf = (stdout: string) => stdout.trim().split(/\r?\n/)

describe("the transactions", () => {
  live(
    "transactions are each printed once, over all pages, as JSON, as a table and as CSV, with the count on stderr",
    served,
    function* () {
      yield* charges(205)
      const env = yield* settings
      const jsonLines = yield* run(["transactions", "--json"], env)
      expect(jsonLines.stderr).toBe("205 transaction(s)\n")
      const amounts = linesOf(jsonLines.stdout).map((line) => JSON.parse(line).amount)
      expect(amounts).toEqual(Array.from({ length: 205 }, (_, index) => 205 - index))
      const table = yield* run(["transactions"], env)
      expect(linesOf(table.stdout)).toHaveLength(206)
      const csv = yield* run(["transactions", "--csv", "--oldest-first"], env)
      const rows = linesOf(csv.stdout).map((line) => line.split(","))
      expect(rows).toHaveLength(206)
      expect([rows[0]?.[2], rows[0]?.[3], rows[200]?.[2], rows[200]?.[3]]).toEqual([
        "amount_centavos",
        "amount_reais",
        "200",
        "2.00"
      ])
    }
  )

  live(
    "transactions are limited by number and time, and mask the payer unless `--full` is given",
    served,
    function* () {
      yield* charges(3)
      const env = yield* settings
      const two = yield* run(["transactions", "--limit", "2", "--json"], env)
      expect(linesOf(two.stdout)).toHaveLength(2)
      const old = yield* run(["transactions", "--until", "2020-01-01", "--csv"], env)
      expect(linesOf(old.stdout)).toHaveLength(1)
      for (const format of [[], ["--csv"], ["--json"]]) {
        const masked = yield* run(["transactions", ...format, "--since", "2020-01-01"], env)
        expect([masked.code, leaksIn(masked.stdout + masked.stderr)]).toEqual([0, []])
        const full = yield* run(["transactions", ...format, "--full"], env)
        expect(leaksIn(full.stdout)).toContain("email")
      }
      const wrong = yield* run(["transactions", "--csv", "--json"], env)
      expect([wrong.code, wrong.stdout]).toEqual([1, ""])
    }
  )

  live("transactions of a hostile gateway run no formula in a spreadsheet and redraw no terminal", function* () {
    const gateway = yield* serveRaw()
    const lead = {
      name: '=HYPERLINK("http://x")',
      email: "+1@x",
      phone: "@1",
      documentNumber: "-1",
      externalId: null
    }
    const row = { id: 1, lead, amount: 5, status: "\u001b[31m=cmd", createdAt: "2026-11-01T00:00:00Z" }
    const page = { items: [row], totalItems: 1, totalPages: 1, currentPage: 1, pageSize: 100 }
    gateway.script(json({ ok: true, res: page }))
    const env = settingsOf(gateway.url)
    const csv = yield* run(["transactions", "--limit", "1", "--csv", "--full"], env)
    const [, cells] = linesOf(csv.stdout)
    expect(cells).toContain(`"'=HYPERLINK(""http://x"")","'+1@x","'@1","'-1"`)
    const table = yield* run(["transactions", "--limit", "1", "--full"], env)
    expect([table.code, table.stdout.includes("\u001b")]).toEqual([0, false])
  })

  live("transactions that cannot be read end with 6, and a wrong key with 4", function* () {
    const gateway = yield* serveRaw()
    const codes: Array<number | null> = []
    const hostile: ReadonlyArray<Play> = [answer(200, "<html>"), json({ ok: false }), answer(503), answer(401)]
    for (const next of hostile) {
      gateway.script(next)
      const { code, stderr, stdout } = yield* run(["transactions"], settingsOf(gateway.url))
      expect(stdout).toBe("")
      expect(stderr).not.toMatch(/^\s+at /m)
      codes.push(code)
    }
    expect(codes).toEqual([6, 6, 6, 4])
  })
})

describe("the balance", () => {
  live("the balance of no company ends with 1, and names the variable and the flag that say whose", function* () {
    const gateway = yield* serveRaw()
    const { PAYMENTS_COMPANY_ID: _, ...env } = settingsOf(gateway.url)
    const ended = yield* run(["balance"], env)
    expect([ended.code, ended.stdout, gateway.arrived]).toEqual([1, "", []])
    expect(ended.stderr).toMatch(/PAYMENTS_COMPANY_ID.* --company/)
  })

  live("the balance is printed with every digit that the service wrote", function* () {
    const gateway = yield* serveRaw()
    gateway.script(json('{"id":1,"enBalanceStatus":"Released","accBalance":90071992547409.915,"accBalanceCredit":1.5}'))
    const env = settingsOf(gateway.url)
    const shown = yield* run(["balance"], env)
    expect(shown.stdout).toBe("Available  R$ 90.071.992.547.409,915  (Released)\nCredit     R$ 1,50\n")
    const machine = yield* run(["balance", "--json", "--company", "7"], env)
    expect(JSON.parse(machine.stdout)).toEqual({
      status: "Released",
      available: "90071992547409.915",
      credit: "1.50"
    })
    expect(gateway.arrived.map(({ path }) => path.replace(/\?.*/, ""))).toEqual([balancePath(1), balancePath(7)])
  })
})
