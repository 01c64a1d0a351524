/** `effect-pix doctor`, run against the sandbox, whose answers a test changes where they are to differ from what is assumed. */
import { describe, expect } from "@effect/vitest"
import { Effect } from "effect"
import type { Operation } from "effect-pix"
import { Sandbox } from "effect-pix/sandbox"
import { HttpServerResponse } from "effect/http"
import { leaksIn, person, secrets } from "../support/canary.ts"
import { runHere as run } from "../support/command.ts"
import { live } from "../support/effect.ts"
import { served, settings, settingsOf } from "../support/operator.ts"
import { answer, closedPort, type Play, serveRaw, serveTls } from "../support/RawServer.ts"
import { changedJson } from "../support/rawReplies.ts"

// An answer as parsed JSON: a test changes any field of it.
type Json = any
type Change = (json: Json) => Json

/** Three charges of a gateway, the oldest one to be looked up, and these changes of its answers. */
const examine = Effect.fnUntraced(function* (
  changes: Partial<Record<Operation, Change>>,
  ...flags: ReadonlyArray<string>
) {
  const sandbox = yield* Sandbox
  const env = yield* settings
  const words = ["charge", "25,00", "--name", person.name, "--email", person.email]
  for (const _ of [1, 2, 3]) yield* run(words, env)
  const [charge] = yield* sandbox.transactions
  for (const [operation, change] of Object.entries(changes)) {
    const fault = changedJson((json, response) => {
      const { status = response.status, text, ...body } = change({ ...Object(json), status: response.status })
      return HttpServerResponse.text(text ?? JSON.stringify(body), { status, contentType: "application/json" })
    })
    yield* sandbox.fault(operation as Operation, fault, { times: 20 }) // the keys of a record of operations
  }
  const before = (yield* sandbox.requests).length
  const ended = yield* run(["doctor", "--transaction", charge?.transactionId ?? "", ...flags], env)
  expect(leaksIn(ended.stdout + ended.stderr)).toEqual([])
  return { ...ended, env, requests: (yield* sandbox.requests).slice(before) }
})

type Case = readonly [what: string, changes: Partial<Record<Operation, Change>>, finding: RegExp]

const ofRows =
  (change: (row: Json, index: number) => Json): Change =>
  (json) =>
    json.res === undefined ? json : { ...json, res: { ...json.res, items: json.res.items.map(change) } }
const ofPage =
  (change: Change): Change =>
  (json) =>
    json.res === undefined ? json : { ...json, res: { ...json.res, ...change(json.res) } }
const onSuccess =
  (change: object): Change =>
  (json) =>
    json.status === 200 ? { ...json, ...change } : json
/** The rows of the first page, on a page that has none or others. */
const firstRows = (isMeant: (page: Json) => boolean): Change => {
  let rows: ReadonlyArray<Json> = []
  return ofPage((page) => {
    if (rows.length === 0) rows = page.items
    return isMeant(page) ? { items: rows.slice(0, 1) } : {}
  })
}

const list = (change: Change) => ({ listTransactions: change })
const lookup = (change: object) => ({ getTransaction: onSuccess(change) })

const cases: ReadonlyArray<Case> = [
  [
    "an amount in decimals",
    list(ofRows((row) => ({ ...row, amount: 25.5 }))),
    /The list is JSON.*res.items\[\].amount is a number with decimals.*\n.*src\/contract\/Transaction.ts/
  ],
  [
    "ids that are text",
    list(ofRows((row) => ({ ...row, id: "7" }))),
    /The list is JSON.*\.id is a text of another form/
  ],
  [
    "an optional field of another type",
    list(ofRows((row) => ({ ...row, leadId: 7 }))),
    /The list is JSON.*res.items\[\].leadId is a whole number/
  ],
  [
    "timestamps of another form",
    list(ofRows((row) => ({ ...row, createdAt: "01/11/2026 12:00" }))),
    /The list is JSON.*\.createdAt is a text of another form/
  ],
  ["another envelope", list((json) => ({ ...json, ok: false })), /The list says ok: true: ok is false/],
  ["rows elsewhere", list(({ res, ...json }) => ({ ...json, data: res })), /The list is JSON.*: res is not there/],
  [
    "a list that is empty text",
    list((json) => ({ ...json, text: "" })),
    /The list is JSON with the documented fields: it is empty/
  ],
  [
    "a page that is not full",
    list(ofPage(() => ({ totalItems: 9 }))),
    /A page of 100 rows is full, or the last one: 3 rows, and another totalItems\n.*docs\/listing.md/
  ],
  [
    "rows past the end",
    list(firstRows(({ items }) => items.length === 0)),
    /A page past the end is there, without rows: it has rows\n.*docs\/listing.md/
  ],
  [
    "one page for every number",
    list(firstRows(({ currentPage }) => currentPage === 2)),
    /The second page of one row has the second row: other rows/
  ],
  [
    "another order",
    list(ofPage(({ items }) => ({ items: items.toReversed() }))),
    /createdAt_desc is newest first: another order/
  ],
  [
    "another order, of times with a comma",
    list((json) =>
      ofPage(({ items }) => ({ items: items.toReversed() }))(
        ofRows((row, index) => ({ ...row, createdAt: `2026-11-0${index + 1}T12:00:00,5Z` }))(json)
      )
    ),
    /createdAt_asc is oldest first: another order/
  ],
  [
    "a count of pages that is wrong",
    list(ofPage(() => ({ totalPages: 9 }))),
    /totalPages is totalItems by 100, rounded up: another number/
  ],
  [
    "one id twice",
    list(ofRows((row) => ({ ...row, id: 1 }))),
    /Each row of a page has an id of its own: one id comes twice/
  ],
  [
    "another status for a wrong key",
    list((json) => (json.status === 401 ? { status: 500 } : json)),
    /A wrong key is answered with 401 or 403: HTTP 500/
  ],
  ["another company's transaction", lookup({ companyId: 2 }), /The lookup is about PAYMENTS_COMPANY_ID: another/],
  ["another transaction", lookup({ transactionId: "another" }), /The lookup is about the transaction asked for/],
  [
    "an update time without offset",
    lookup({ updateDate: "2026-11-01T09:00:00" }),
    /The lookup's updateDate says its offset from UTC: it does not, and is read as UTC/
  ],
  ["a value that is text", lookup({ value: "2500" }), /The lookup is JSON.*value is a text/],
  [
    "a row of another amount by the lookup's id",
    lookup({ value: 9900 }),
    /The lookup's id is that of its row in the list: the row of this id has another amount or time\n.*reconciling.md/
  ],
  [
    "a row of another time by the lookup's id",
    lookup({ createdAt: "2026-10-01T12:00:01Z" }),
    /The lookup's id is that of its row in the list: the row of this id has another amount or time/
  ],
  [
    "a lookup whose id no row has",
    lookup({ id: 4711 }),
    /The lookup's id is that of its row in the list: no row has this id/
  ],
  [
    "no 404",
    { getTransaction: (json) => (json.status === 404 ? { status: 400 } : json) },
    /An unknown transaction is answered with 404: HTTP 400\n.*docs\/service.md#errors/
  ],
  [
    "three decimals",
    { getBalance: onSuccess({ accBalance: 10.505 }) },
    /at most two decimals: accBalance has 3\n.*src\/pix\/Money.ts/
  ],
  [
    "another company's balance",
    { getBalance: onSuccess({ companyId: 2 }) },
    /The balance is of PAYMENTS_COMPANY_ID: another company/
  ],
  ["another currency", { getBalance: onSuccess({ currency: "USD" }) }, /The balance is in BRL: another currency/]
]

describe("the doctor", () => {
  live("the doctor finds nothing wrong with the sandbox, and sends only reads", served, function* () {
    const { code, requests, stderr, stdout } = yield* examine({})
    expect([code, stdout, stderr]).toEqual([0, "23 hold, 0 wrong\n1 not checked: give --webhook URL\n", ""])
    expect(new Set(requests.map(({ method }) => method))).toEqual(new Set(["GET"]))
  })

  live.each(cases)(
    "the doctor reports %s as wrong, and where the code assumes it",
    served,
    function* ([, changes, finding]) {
      const { code, stdout } = yield* examine(changes)
      expect([
        code,
        stdout
          .split("WRONG  ")
          .slice(1)
          .some((each) => finding.test(each))
      ]).toEqual([7, true])
    }
  )

  live("the doctor misses what its page says that it may miss", served, function* () {
    const { code, stdout } = yield* examine({
      listTransactions: (json) =>
        ofPage(() => ({ pageSize: 20, currentPage: 1 }))(
          ofRows((row) => ({ ...row, status: "PAID", e2eId: person.evp }))(json)
        ),
      getTransaction: (json) =>
        json.status === 404 ? { status: 404, code: 7 } : { ...json, enStatusTransaction: "Chargeback", fee: 1 }
    })
    expect([code, stdout]).toEqual([0, expect.stringContaining("23 hold, 0 wrong\n")])
  })

  live("the doctor does not check the id of a lookup whose row is in the middle of a long list", served, function* () {
    const { stdout } = yield* examine({ ...lookup({ id: 4711 }), ...list(ofPage(() => ({ totalItems: 500 }))) })
    expect(stdout).toMatch(/^2 not checked: its row is not among the newest and the oldest hundred; give --webhook/m)
  })

  live.each<readonly [string, Play | string, string]>([
    ["a refused connection", closedPort, "the connection is refused: nobody listens there (ECONNREFUSED)"],
    ["an unknown host", "https://pix.invalid", "the host name "],
    ["a lost connection", (socket) => socket.destroy(), "the connection was closed before "]
  ])("the doctor names %s as the reason for no answer", function* ([, play, reason]) {
    const url = typeof play === "string" ? play : (yield* serveRaw(play)).url
    const { code, stdout } = yield* run(["doctor"], settingsOf(url))
    expect([code, stdout]).toEqual([
      7,
      expect.stringContaining(`WRONG  The service answers at PAYMENTS_BASE_URL: ${reason}`)
    ])
  })

  live("the doctor names a certificate that nobody trusts", function* () {
    const { url } = yield* serveTls()
    const { stdout } = yield* run(["doctor"], settingsOf(url.replace("http:", "https:")))
    expect(stdout).toContain("PAYMENTS_BASE_URL: the TLS certificate or handshake is not acceptable (")
  })

  live(
    "the doctor sends a GET to the webhook's address, which a route of Webhook answers with 405",
    served,
    function* () {
      const route = yield* serveRaw(answer(405), answer(404))
      const fine = yield* examine({}, "--webhook", `${route.url}/hook`)
      expect(fine.stdout).not.toContain("WRONG")
      const { stdout } = yield* run(["doctor", "--webhook", `${route.url}/hook`], fine.env)
      expect(stdout).toContain("WRONG  The webhook's address takes POST alone, as Webhook does: HTTP 404\n")
      expect(route.arrived.map(({ method, path }) => `${method} ${path}`)).toEqual(["GET /hook", "GET /hook"])
    }
  )

  live("the doctor names each wrong setting, and prints no credentials that are refused", served, function* () {
    const unset = yield* run(["doctor"], { PAYMENTS_BASE_URL: "http://example.com", PAYMENTS_COMPANY_ID: "x" })
    expect(unset.code).toBe(7)
    for (const name of ["PAYMENTS_BASE_URL", "PAYMENTS_CLIENT_ID", "PAYMENTS_API_KEY", "PAYMENTS_COMPANY_ID"]) {
      expect(unset.stdout).toMatch(new RegExp(`WRONG {2}${name} can be used`))
    }
    const wrong = { PAYMENTS_API_KEY: secrets.apiKey, PAYMENTS_CLIENT_ID: secrets.clientId }
    const denied = yield* run(["doctor", "--json"], { ...(yield* settings), ...wrong })
    expect([denied.code, leaksIn(denied.stdout + denied.stderr)]).toEqual([7, []])
    const findings = denied.stdout.trim().split("\n")
    expect(findings.map((line) => JSON.parse(line))).toContainEqual(
      expect.objectContaining({ verdict: "wrong", what: "The credentials are accepted" })
    )
  })
})
