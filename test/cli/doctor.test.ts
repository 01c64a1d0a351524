/** `effect-pix doctor`, run against a sandbox and against gateways that differ from what is assumed. */
import { describe, expect } from "@effect/vitest"
import { Effect } from "effect"
import { Sandbox } from "effect-pix/sandbox"
import { leaksIn, person, secrets } from "../support/canary.ts"
import { runHere as run } from "../support/command.ts"
import { type Answer, answer, closedPort, json, makeGateway } from "../support/Gateway.ts"
import { served, settings, settingsOf } from "../support/operator.ts"
import { live } from "../support/effect.ts"

const id = "8f14e45f-ceea-467f-a8ad-6d7a3e2f1b0c"

type Json = Readonly<Record<string, unknown>>

const row = (index: number): Json => ({
  id: index,
  leadId: "6f0d4d3c-9b1c-4f0e-9b57-1c0f5a4b7e21",
  lead: {
    id: "6f0d4d3c-9b1c-4f0e-9b57-1c0f5a4b7e21",
    externalId: null,
    name: person.name,
    email: person.email,
    phone: person.phone,
    documentNumber: person.cpf,
    documentType: "CPF"
  },
  amount: 2500,
  status: "PENDING",
  paymentMethod: "PIX",
  providerTxId: "tx",
  createdAt: `2026-11-0${index}T12:00:00Z`,
  updatedAt: `2026-11-0${index}T12:00:00Z`
})

const detail: Json = {
  id: 1,
  leadId: 2,
  lead: { id: 2, name: person.name, email: person.email, phone: person.phone, document: person.cpf },
  companyId: 1,
  value: 2500,
  transactionId: id,
  enStatusTransaction: "Paid",
  enPaymentSystem: "Pix",
  updateDate: "2026-11-01T09:00:00-03:00",
  createdAt: "2026-11-01T12:00:00Z"
}

const balance =
  '{"id":1,"companyId":1,"currency":"BRL","enBalanceStatus":"Released","accBalance":10.50,"accBalanceCredit":0,"accBalanceCreditAwaiting":"1.5"}'

/** What a gateway does otherwise than the honest one. */
interface Faults {
  readonly rows?: (rows: ReadonlyArray<Json>) => ReadonlyArray<Json>
  readonly page?: (page: Json, query: URLSearchParams) => Json
  readonly envelope?: (res: Json) => unknown
  readonly detail?: Json
  readonly balance?: string
  readonly missing?: Answer
  readonly denied?: Answer
}

/** A gateway as it is assumed to be, but for what is said. */
const gatewayOf =
  (faults: Faults): Answer =>
  (response, request) => {
    const url = new URL(request.path, "http://gateway")
    const respond = (next: Answer) => next(response, request)
    if (request.headers["x-api-key"] !== "key") return respond(faults.denied ?? json({ message: "Unauthorized" }, 401))
    if (url.pathname.startsWith("/api/Balance")) return respond(json(faults.balance ?? balance))
    if (url.pathname.includes("transactionByTransactionId")) {
      if (!url.pathname.endsWith(id)) return respond(faults.missing ?? json({ message: "Not found" }, 404))
      return respond(json({ ...detail, ...faults.detail }))
    }
    const [page, pageSize] = [Number(url.searchParams.get("page") ?? 1), Number(url.searchParams.get("pageSize") ?? 50)]
    const sorted = url.searchParams.get("sort") === "createdAt_asc" ? [1, 2, 3] : [3, 2, 1]
    const all = sorted.slice((page - 1) * pageSize, page * pageSize).map(row)
    const items = faults.rows?.(all) ?? all
    const plain = { items, totalItems: 3, totalPages: Math.ceil(3 / pageSize), currentPage: page, pageSize }
    const res = faults.page?.(plain, url.searchParams) ?? plain
    respond(json(faults.envelope?.(res) ?? { ok: true, res }))
  }

const examine = Effect.fnUntraced(function* (faults: Faults) {
  const gateway = yield* makeGateway
  gateway.script(gatewayOf(faults))
  const ended = yield* run(["doctor", "--transaction", id], settingsOf(gateway.url))
  return { ...ended, gateway }
})

describe("the doctor", () => {
  live("the doctor finds nothing wrong with the sandbox, and sends only reads", served, function* () {
    const env = yield* settings
    const sandbox = yield* Sandbox
    yield* run(["charge", "25,00", "--name", "Maria", "--email", "m@example.com"], env)
    yield* run(["charge", "25,00", "--name", "Maria", "--email", "m@example.com"], env)
    const [charge] = yield* sandbox.transactions
    const before = (yield* sandbox.requests).length
    const { code, stderr, stdout } = yield* run(["doctor", "--transaction", charge?.transactionId ?? ""], env)
    expect([code, stdout, stderr]).toEqual([0, "23 hold, 0 wrong\n1 not checked: give --webhook URL\n", ""])
    const methods = (yield* sandbox.requests).slice(before).map(({ method }) => method)
    expect(new Set(methods)).toEqual(new Set(["GET"]))
  })

  live("the doctor finds nothing wrong with a gateway that is as assumed, and prints no personal data", function* () {
    const { code, gateway, stderr, stdout } = yield* examine({})
    expect([code, stdout.includes("WRONG")]).toEqual([0, false])
    expect(leaksIn(stdout + stderr)).toEqual([])
    expect(stdout + stderr).not.toContain(gateway.url)
  })

  type Case = readonly [what: string, faults: Faults, finding: string]

  const ofList: ReadonlyArray<Case> = [
    [
      "an amount in decimals",
      { rows: (all) => all.map((each) => ({ ...each, amount: 25.5 })) },
      "The list is JSON.*res.items\\[\\].amount is a number with decimals.*\\n.*src/contract/Transaction.ts"
    ],
    [
      "ids that are text",
      { rows: (all) => all.map((each) => ({ ...each, id: "7" })) },
      "The list is JSON.*res.items\\[\\].id is a text of another form"
    ],
    [
      "an optional field of another type",
      { rows: (all) => all.map((each) => ({ ...each, leadId: 7 })) },
      "The list is JSON.*res.items\\[\\].leadId is a whole number"
    ],
    [
      "timestamps of another form",
      { rows: (all) => all.map((each) => ({ ...each, createdAt: "01/11/2026 12:00" })) },
      "The list is JSON.*res.items\\[\\].createdAt is a text of another form"
    ],
    ["another envelope", { envelope: (res) => ({ ok: false, res }) }, "The list says ok: true: ok is false"],
    ["rows elsewhere", { envelope: (res) => ({ ok: true, data: res }) }, "The list is JSON.*: res is not there"],
    [
      "a page that is not full",
      { page: (page) => ({ ...page, totalItems: 9 }) },
      "A page of 100 rows is full, or the last one: 3 rows, and another totalItems\\n.*docs/listing.md"
    ],
    [
      "rows past the end",
      { page: (page, query) => (query.get("page") === "1" ? page : { ...page, items: [row(2)] }) },
      "A page past the end is there, without rows: it has rows\\n.*docs/listing.md"
    ],
    [
      "one page for every number",
      { page: (page, query) => (query.get("page") === "2" ? { ...page, items: [row(3)] } : page) },
      "The second page of one row has the second row: other rows"
    ],
    ["another order", { rows: (all) => all.toReversed() }, "createdAt_desc is newest first: another order"],
    [
      "another order, of times with a comma",
      {
        rows: (all) =>
          all.toReversed().map((each) => ({ ...each, createdAt: String(each["createdAt"]).replace("Z", ",5Z") }))
      },
      "createdAt_asc is oldest first: another order"
    ],
    [
      "a count of pages that is wrong",
      { page: (page) => ({ ...page, totalPages: 9 }) },
      "totalPages is totalItems by 100, rounded up: another number"
    ],
    [
      "one id twice",
      { rows: (all) => all.map((each) => ({ ...each, id: 1 })) },
      "Each row of a page has an id of its own: one id comes twice"
    ]
  ]

  const ofTheRest: ReadonlyArray<Case> = [
    [
      "a row of another amount by the lookup's id",
      { detail: { value: 9900 } },
      "The lookup's id is that of its row in the list: the row of this id has another amount or time\\n.*reconciling.md"
    ],
    ["another company's transaction", { detail: { companyId: 2 } }, "The lookup is about PAYMENTS_COMPANY_ID: another"],
    ["another transaction", { detail: { transactionId: "another" } }, "The lookup is about the transaction asked for"],
    [
      "an update time without offset",
      { detail: { updateDate: "2026-11-01T09:00:00" } },
      "The lookup's updateDate says its offset from UTC: it does not, and is read as UTC"
    ],
    ["a value that is text", { detail: { value: "2500" } }, "The lookup is JSON.*value is a text"],
    [
      "three decimals",
      { balance: balance.replace("10.50", "10.505") },
      "at most two decimals: accBalance has 3\\n.*src/pix/Money.ts"
    ],
    [
      "another company's balance",
      { balance: balance.replace('"companyId":1', '"companyId":2') },
      "The balance is of PAYMENTS_COMPANY_ID: another company"
    ],
    ["another currency", { balance: balance.replace("BRL", "USD") }, "The balance is in BRL: another currency"],
    [
      "no 404",
      { missing: json({ message: "none" }, 400) },
      "An unknown transaction is answered with 404: HTTP 400\\n.*docs/service.md#errors"
    ],
    [
      "another status for a wrong key",
      { denied: answer(500, "x") },
      "A wrong key is answered with 401 or 403: HTTP 500"
    ],
    [
      "a row of another time by the lookup's id",
      { detail: { createdAt: "2026-11-01T12:00:01Z" } },
      "The lookup's id is that of its row in the list: the row of this id has another amount or time"
    ],
    [
      "a lookup whose id no row has",
      { detail: { id: 4711 } },
      "The lookup's id is that of its row in the list: no row has this id"
    ]
  ]

  // A gateway for each case of the list, which has another fault elsewhere: a process finds both.
  const pairs = ofList.map(([what, faults, finding], index) => {
    const [other, more, found] = ofTheRest[index] ?? []
    return [
      other === undefined ? what : `${what} and ${other}`,
      { ...faults, ...more },
      [finding, ...(found === undefined ? [] : [found])]
    ] as const
  })

  live.each(pairs)("the doctor reports %s as wrong, and where the code assumes it", function* ([, faults, findings]) {
    const { code, stderr, stdout } = yield* examine(faults)
    expect(code).toBe(7)
    for (const finding of findings) expect(stdout).toMatch(new RegExp(`WRONG  (?:.*)(?:${finding})`))
    expect(leaksIn(stdout + stderr)).toEqual([])
  })

  live("the doctor misses what its page says that it may miss", function* () {
    const { code, stdout } = yield* examine({
      rows: (all) => all.map((each) => ({ ...each, status: "PAID", e2eId: person.evp })),
      page: (page) => ({ ...page, pageSize: 20, currentPage: 1 }),
      detail: { enStatusTransaction: "Chargeback", fee: 1 },
      missing: json({ code: 7 }, 404)
    })
    expect([code, stdout]).toEqual([0, expect.stringContaining("23 hold, 0 wrong\n")])
    expect(leaksIn(stdout)).toEqual([])
  })

  live("the doctor does not check the id of a lookup whose row is in the middle of a long list", function* () {
    const { stdout } = yield* examine({ detail: { id: 4711 }, page: (page) => ({ ...page, totalItems: 500 }) })
    expect(stdout).toMatch(/^2 not checked: its row is not among the newest and the oldest hundred; give --webhook/m)
  })

  live(
    "the doctor names why there is no answer: refused, no name, no TLS, a lost connection, an empty answer",
    function* () {
      const gateway = yield* makeGateway
      const seenAt = (url: string) => Effect.map(run(["doctor"], settingsOf(url)), ({ stdout }) => stdout)
      const answers = "WRONG  The service answers at PAYMENTS_BASE_URL: "
      expect(yield* seenAt(yield* closedPort)).toContain(
        `${answers}the connection is refused: nobody listens there (ECONNREFUSED)`
      )
      expect(yield* seenAt("https://pix.invalid")).toContain(`${answers}the host name `)
      const noTls = yield* seenAt(gateway.url.replace("http:", "https:"))
      expect(noTls).toContain(`${answers}the TLS certificate or handshake is not acceptable (E`)
      gateway.script((response) => response.destroy())
      expect(yield* seenAt(gateway.url)).toContain(`${answers}the connection was closed before `)
      gateway.script(answer(200, ""))
      expect(yield* seenAt(gateway.url)).toContain("WRONG  The list is JSON with the documented fields: it is empty")
    }
  )

  live(
    "the doctor sends a GET to the webhook's address, which a route of Webhook answers with 405",
    served,
    function* () {
      const env = yield* settings
      const route = yield* makeGateway
      const seen = () => Effect.map(run(["doctor", "--webhook", `${route.url}/hook`], env), ({ stdout }) => stdout)
      route.script(answer(405))
      expect(yield* seen()).not.toContain("WRONG")
      route.script(answer(404))
      expect(yield* seen()).toContain("WRONG  The webhook's address takes POST alone, as Webhook does: HTTP 404\n")
      expect(route.requests.map(({ method, path }) => `${method} ${path}`)).toEqual(["GET /hook", "GET /hook"])
    }
  )

  live("the doctor names each wrong setting, a service that is down and credentials that are refused", function* () {
    const unset = yield* run(["doctor"], { PAYMENTS_BASE_URL: "http://example.com", PAYMENTS_COMPANY_ID: "x" })
    expect(unset.code).toBe(7)
    for (const name of ["PAYMENTS_BASE_URL", "PAYMENTS_CLIENT_ID", "PAYMENTS_API_KEY", "PAYMENTS_COMPANY_ID"]) {
      expect(unset.stdout).toMatch(new RegExp(`WRONG {2}${name} can be used`))
    }
    const down = yield* run(["doctor"], settingsOf(yield* closedPort))
    expect([down.code, down.stdout.includes("WRONG  The service answers at PAYMENTS_BASE_URL")]).toEqual([7, true])
    const gateway = yield* makeGateway
    gateway.script(answer(401))
    const env = { ...settingsOf(gateway.url), PAYMENTS_API_KEY: secrets.apiKey, PAYMENTS_CLIENT_ID: secrets.clientId }
    const denied = yield* run(["doctor", "--json"], env)
    expect([denied.code, leaksIn(denied.stdout + denied.stderr)]).toEqual([7, []])
    const findings = denied.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
    expect(findings).toContainEqual(expect.objectContaining({ verdict: "wrong", what: "The credentials are accepted" }))
  })
})
