/** `effect-pix transactions`, `withdrawal` and `balance`. */
import { describe, expect } from "@effect/vitest"
import { Effect } from "effect"
import { Sandbox } from "effect-pix/sandbox"
import { leaksIn, person } from "../support/canary.ts"
import { run, runRows } from "../support/command.ts"
import { live } from "../support/effect.ts"
import balancePending from "../fixtures/field/balance-pending.json" with { type: "json" }
import { balancePath } from "../support/operations.ts"
import { served, settings, settingsOf } from "../support/operator.ts"
import { answer, json, type Play, serveRaw } from "../support/RawServer.ts"

const linesOf = (stdout: string) => stdout.trim().split(/\r?\n/)

/** The settings for a gateway with one transaction. */
const listed = Effect.fnUntraced(function* (lead: object | null, status = "Paid") {
  const gateway = yield* serveRaw()
  const row = { id: 1, lead, amount: 5, status, createdAt: "2026-11-01T00:00:00Z" }
  gateway.script(json({ ok: true, res: { items: [row], totalItems: 1, totalPages: 1, currentPage: 1, pageSize: 100 } }))
  return settingsOf(gateway.url)
})

describe("the transactions", () => {
  live("transactions are each printed once, over all pages, as JSON, as a table and as CSV", served, function* () {
    const { charge } = yield* Sandbox
    yield* Effect.forEach(Array.from({ length: 205 }), (_, index) => charge(index + 1))
    const env = yield* settings
    const { stderr, stdout } = yield* run(["transactions", "--json"], env)
    expect(stderr).toBe("205 transaction(s)\n")
    const amounts = Array.from({ length: 205 }, (_, index) => 205 - index)
    expect(linesOf(stdout).map((line) => JSON.parse(line).amount)).toEqual(amounts)
    expect(linesOf((yield* run(["transactions"], env)).stdout)).toHaveLength(206)
    const csv = linesOf((yield* run(["transactions", "--csv", "--oldest-first"], env)).stdout)
    const cells = csv.map((line) => line.split(",").slice(2, 4))
    expect([cells.length, cells[0], cells[200]]).toEqual([206, ["amount_centavos", "amount_reais"], ["200", "2.00"]])
    yield* runRows(env, [
      ["transactions --limit 2 --json", 0, /^(\{.*\}\n){2}$/],
      ["transactions --since 2020-01-01 --limit 1", 0, /^ +ID {2}CREATED .*\n.*R\$ 2,05 .*\n$/],
      ["transactions --until 2020-01-01 --csv", 0, /^\uFEFFid,created_at,.*\r\n$/, /^0 transaction/],
      ["transactions --csv --json", 1, ""]
    ])
  })

  live("transactions mask the payer unless `--full` is given", function* () {
    const { email, name, phone, cpf: documentNumber } = person
    const env = yield* listed({ name, email, phone, documentNumber, externalId: null })
    for (const format of ["", " --csv", " --json"]) {
      const rows = (flags: string) => runRows(env, [[`transactions${format}${flags}`, 0, /Paid/]])
      expect(leaksIn(yield* rows(""))).toEqual([])
      expect(leaksIn(yield* rows(" --full"))).toContain("email")
    }
  })

  live("a withdrawal is looked up, and its payee is masked unless `--full` is given", function* () {
    const gateway = yield* serveRaw()
    const record = {
      id: 7,
      companyId: 1,
      value: 25.5,
      pixKey: person.email,
      pixKeyType: "EMAIL",
      creditorDocument: person.cpf
    }
    const [enTransaction, createdAt] = ["Successful", "2026-11-01T00:00:00Z"]
    gateway.script(json({ ...record, idempotencyKey: "wd_1", currency: "BRL", enTransaction, createdAt }))
    const look = (flags: string) =>
      runRows(settingsOf(gateway.url), [[`withdrawal 7${flags}`, 0, /Successful[^]*(R\$ 25,50|"value":"25.5)/]])
    expect(leaksIn(`${yield* look("")}${yield* look(" --json")}`)).toEqual([])
    expect(leaksIn(yield* look(" --full"))).toContain("email")
    expect(gateway.requests()).toBe(3)
  })

  live("transactions of a hostile gateway run no formula in a spreadsheet and redraw no terminal", function* () {
    const lead = { name: '=HYPERLINK("http://x")', email: "+1@x", phone: "@1", documentNumber: "-1", externalId: null }
    const written = yield* runRows(yield* listed(lead, "\u001b[31m=cmd"), [
      ["transactions --csv --full", 0, /,"'=HYPERLINK\(""http:\/\/x""\)","'\+1@x","'@1",-1,/],
      ["transactions --full", 0, /HYPERLINK/]
    ])
    expect(written).not.toContain("\u001b")
  })

  live("transactions without a payer have empty cells", function* () {
    yield* runRows(yield* listed(null), [
      ["transactions", 0, /Paid\n$/],
      ["transactions --csv", 0, /\r\n1,2026-11-01T00:00:00Z,5,0\.05,Paid,,,,,,,\r\n$/]
    ])
  })

  live("transactions that cannot be read end with 6, and a wrong key with 4", function* () {
    const gateway = yield* serveRaw()
    for (const [play, code] of [
      [answer(200, "<html>"), 6],
      [json({ ok: false }), 6],
      [answer(503), 6],
      [answer(401), 4]
    ] as const satisfies ReadonlyArray<readonly [Play, number]>) {
      gateway.script(play)
      expect(yield* runRows(settingsOf(gateway.url), [["transactions", code, ""]])).not.toMatch(/^\s+at /m)
    }
  })
})

describe("the balance", () => {
  live("the balance of no company ends with 1, and names the variable and the flag that say whose", function* () {
    const gateway = yield* serveRaw()
    const { PAYMENTS_COMPANY_ID: _, ...env } = settingsOf(gateway.url)
    yield* runRows(env, [["balance", 1, "", /PAYMENTS_COMPANY_ID.* --company/]])
    expect(gateway.arrived).toEqual([])
  })

  live("the balance is printed with every digit that the service wrote", function* () {
    const gateway = yield* serveRaw()
    gateway.script(json('{"id":1,"enBalanceStatus":"Released","accBalance":90071992547409.915,"accBalanceCredit":1.5}'))
    yield* runRows(settingsOf(gateway.url), [
      ["balance", 0, "Status     Released\nAvailable  R$ 90.071.992.547.409,915\nCredit     R$ 1,50\n"],
      ["balance --json --company 7", 0, '{"status":"Released","available":"90071992547409.915","credit":"1.50"}\n']
    ])
    expect(gateway.arrived.map(({ path }) => path.replace(/\?.*/, ""))).toEqual([balancePath(1), balancePath(7)])
    gateway.script(json(JSON.stringify(balancePending)))
    yield* runRows(settingsOf(gateway.url), [
      ["balance", 0, /^Status +Pending: not released, do not pay out yet\nAvailable +R\$ 1\.234,56\n/m]
    ])
  })
})
