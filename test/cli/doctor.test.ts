/** `effect-pix doctor`, run against the sandbox, whose answers a test changes where they are to differ from what is assumed. */
import { describe, expect } from "@effect/vitest"
import { ConfigProvider, Effect, Fiber, Layer } from "effect"
import { Money, type Operation, Payments, PixKey } from "effect-pix"
import { Sandbox, SandboxOptions } from "effect-pix/sandbox"
import { FetchHttpClient, HttpServerResponse } from "effect/http"
import { TestClock } from "effect/testing"
import { leaksIn, person, secrets } from "../support/canary.ts"
import { run, runRows } from "../support/command.ts"
import { effect, live } from "../support/effect.ts"
import { served, settings, settingsOf } from "../support/operator.ts"
import { answer, closedPort, type Play, serveRaw, serveTls, silence } from "../support/RawServer.ts"
import { changedJson } from "../support/rawReplies.ts"

const seen = Layer.provide(Sandbox.layerServer, Layer.succeed(SandboxOptions, { as: "seen", balance: 5000, port: 0 }))

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

/** Changes the rows of a page of the list, or the page. */
const rows = (change: (row: Json, index: number) => Json) => ({
  listTransactions: ({ res, ...json }: Json) => ({ ...json, res: res && { ...res, items: res.items.map(change) } })
})
const page = (change: Change) => ({
  listTransactions: ({ res, ...json }: Json) => ({ ...json, res: res && { ...res, ...change(res) } })
})
/** Changes a success of an operation. */
const success =
  (operation: Operation) =>
  (change: object): Partial<Record<Operation, Change>> => ({
    [operation]: (json: Json) => (json.status === 200 ? { ...json, ...change } : json)
  })
const lookup = success("getTransaction")
const balance = success("getBalance")
const list = success("listTransactions")
/** Another status in the place of one. */
const status = (operation: Operation, from: number, to: number) => ({
  [operation]: (json: Json) => (json.status === from ? { status: to } : json)
})

const cases: ReadonlyArray<readonly [what: string, changes: Partial<Record<Operation, Change>>, finding: RegExp]> = [
  ["an amount in decimals", rows((row) => ({ ...row, amount: 25.5 })), /^The list has .*: res\.items\.\[\]\.amount\n/],
  ["ids that are text", rows((row) => ({ ...row, id: "7" })), /^The list has .*items\.\[\]\.id/],
  ["a field that is a list", rows((row) => ({ ...row, leadId: [7] })), /^The list has .*items\.\[\]\.leadId/],
  ["rows elsewhere", list({ res: undefined, data: [] }), /^The list has .*: not as documented: res\n/],
  ["a list that is empty text", list({ text: "" }), /^The list has the documented fields: it is no JSON object/],
  ["a list that is no JSON", list({ text: "<html>" }), /^The list has the documented fields: it is no JSON/],
  ["another order", page(({ items }) => ({ items: items.toReversed() })), /newest first, .*: another order/],
  ["one id twice", rows((row) => ({ ...row, id: 1 })), /each row once: one id comes twice/],
  ["500 for a wrong key", status("listTransactions", 401, 500), /^A wrong key is answered with 401 or 403: HTTP 500/],
  ["another company's transaction", lookup({ companyId: 2 }), /^The lookup is of .*: it is of another company/],
  ["another transaction", lookup({ transactionId: "another" }), /^The lookup is of .*: it is of another one/],
  ["a value that is text", lookup({ value: "2500" }), /^The lookup is of .*not as documented: value/],
  ["another amount of a row", lookup({ value: 9900 }), /^The lookup's row .*another amount or time/],
  ["another time of a row", lookup({ createdAt: "2026-10-01T12:00:01Z" }), /^The lookup's row .*amount or time/],
  ["a lookup whose id no row has", lookup({ id: 4711 }), /^The lookup's row .*: no row has its id/],
  ["another id of the provider", rows((row) => ({ ...row, providerTxId: "E1823" })), /: providerTxId is another/],
  ["a list that never says refunded", lookup({ enStatusTransaction: "Refunded" }), /means open, and not refunded/],
  ["no 404", status("getTransaction", 404, 400), /^An unknown .* 404: HTTP 400\n +in docs\/service\.md#errors/],
  ["another company's balance", balance({ companyId: 2 }), /^The balance is of .*: it is of another company/],
  ["a word that is not listed", lookup({ enStatusTransaction: "Successful" }), /: "Successful" is not listed\./],
  ["another currency", balance({ currency: "USD" }), /^The balance is of .*: another currency/]
]

const ago = (millis: number) => new Date(Date.now() - millis).toISOString()
const behind = 3 * 3_600_000
const localOf = (iso: string) => new Date(Date.parse(iso) - behind).toISOString().slice(0, -1)
/** Times of the newest row, or of the lookup, and what the doctor says of them. */
const clocks: ReadonlyArray<readonly [what: string, changes: Partial<Record<Operation, Change>>, finding: RegExp]> = [
  [
    "local times",
    rows((row) => ({ ...row, createdAt: ago(behind).slice(0, -1), updatedAt: ago(behind).slice(0, 19) })),
    /^The times are .*: createdAt is three hours behind it.* set PAYMENTS_ZONE=America/
  ],
  ["a false Z", rows((row) => ({ ...row, createdAt: ago(behind) })), /its Z cannot be true, and no setting mends it/],
  ["a local time of a lookup", lookup({ createdAt: ago(behind).slice(0, -1) }), /^The times are .*: createdAt is th/],
  ["a Z of the future", lookup({ updateDate: ago(-behind) }), /updateDate is ahead of it: .*its Z cannot be true/]
]

describe("the doctor", () => {
  live.each(clocks)("the doctor names the field and the setting for %s", served, function* ([, changes, finding]) {
    const { code, stdout } = yield* examine(changes)
    expect(stdout.split("WRONG  ")).toContainEqual(expect.stringMatching(finding))
    expect(code).toBe(7)
  })

  live("the doctor reads local times in PAYMENTS_ZONE", served, function* () {
    const { env } = yield* examine(rows((row) => ({ ...row, createdAt: localOf(row.createdAt) })))
    yield* runRows({ ...env, PAYMENTS_ZONE: "America/Sao_Paulo" }, [["doctor", 0, /^9 hold, 0 wrong, /m]])
  })

  live("the doctor finds nothing wrong with the sandbox, and sends only reads", served, function* () {
    const { env, requests, stdout } = yield* examine({})
    expect(stdout).toMatch(
      /^(holds {2}\w.*\n){12}(\? {6}\w.*: give --(withdrawal|webhook) (ID|URL)\n){2}12 hold, 0 wrong, 2 not checked\n$/
    )
    expect(new Set(requests.map(({ method }) => method))).toEqual(new Set(["GET"]))
    const { PAYMENTS_COMPANY_ID: _, ...nameless } = env
    const unchecked =
      /^\? .*lookup.*: give --transaction ID$[^]*^\? .*balance.*: set PAYMENTS_COMPANY_ID$[^]*^8 hold, 0 wrong, 6 not checked$/m
    yield* runRows(nameless, [["doctor", 0, unchecked]])
  })

  live.each(cases)("the doctor reports %s as wrong", served, function* ([, changes, finding]) {
    const { code, stdout } = yield* examine(changes)
    const [, ...found] = stdout.split("WRONG  ")
    expect(found).toContainEqual(expect.stringMatching(finding))
    expect(code).toBe(7)
  })

  live("the doctor does not check the id of a lookup whose row is in the middle of a long list", served, function* () {
    const { stdout } = yield* examine({ ...lookup({ id: 4711 }), ...page(() => ({ totalItems: 500 })) })
    expect(stdout).toMatch(
      /^\? {6}The lookup's row in the list .*: its row is not among the newest hundred$[^]* 3 not checked$/m
    )
  })

  live.each<readonly [string, Play | string, RegExp]>([
    ["a refused connection", closedPort, /: the connection is refused: nobody listens there \(ECONNREFUSED\)\n/],
    ["an unknown host", "https://pix.invalid", /: the host name /],
    ["a lost connection", (socket) => socket.destroy(), /: the connection was closed before /],
    ["a redirect", answer(302, "", { location: "/" }), /PAYMENTS_BASE_URL is the service's own address: it redirects/]
  ])("the doctor names %s as the reason for no answer", function* ([, play, reason]) {
    const url = typeof play === "string" ? play : (yield* serveRaw(play)).url
    yield* runRows(settingsOf(url), [["doctor", 7, reason]])
  })

  effect("the doctor waits thirty seconds for an answer", function* () {
    const gateway = yield* serveRaw(silence)
    const rows = [["doctor", 7, /PAYMENTS_BASE_URL: no answer within 30 seconds\n/]] as const
    const examined = yield* Effect.forkChild(runRows(settingsOf(gateway.url), rows))
    yield* gateway.nextRequest
    yield* TestClock.adjust("30 seconds")
    yield* Fiber.join(examined)
  })

  live("the doctor names a certificate that nobody trusts", function* () {
    const { url } = yield* serveTls()
    const reason = /PAYMENTS_BASE_URL: the TLS certificate or handshake is not acceptable \(/
    yield* runRows(settingsOf(url.replace("http:", "https:")), [["doctor", 7, reason]])
  })

  live("the doctor sends a GET to a webhook's address, which a route answers with 405", served, function* () {
    const route = yield* serveRaw(answer(405), answer(404))
    const webhook = `--webhook ${route.url}/hook`
    const { env, stdout } = yield* examine({}, ...webhook.split(" "))
    expect(stdout).toMatch(/^holds {2}The webhook's address takes POST[^]*\n13 hold, 0 wrong, 1 not checked\n$/m)
    yield* runRows(env, [[`doctor ${webhook}`, 7, /WRONG {2}The webhook's address takes POST alone, .*: HTTP 404\n/]])
    expect(route.arrived.map(({ method, path }) => `${method} ${path}`)).toEqual(["GET /hook", "GET /hook"])
  })

  live("the doctor says whether the gateway has the lookup of a withdrawal", seen, function* () {
    const { rejectWithdrawal } = yield* Sandbox
    const env = yield* settings
    const payments = Layer.provide(Payments.layerEnv, FetchHttpClient.layer)
    const { id } = yield* Effect.flatMap(Payments, ({ requestWithdrawal }) =>
      requestWithdrawal({ amount: Money.centavos(1000), pixKey: PixKey.cpf(person.cpf) })
    ).pipe(Effect.provide(Layer.provide(payments, ConfigProvider.layer(ConfigProvider.fromUnknown(env)))))
    yield* rejectWithdrawal(id, { reason: `A conta ${person.cpf} foi encerrada` })
    const zoned = { ...env, PAYMENTS_ZONE: "America/Sao_Paulo" }
    const none = /^WRONG {2}The gateway has the lookup of a withdrawal, .*: HTTP 404: it has none, or no withdrawal of/m
    const written = yield* runRows(zoned, [
      [`doctor --withdrawal ${id}`, 0, /^holds {2}The gateway has the lookup of a withdrawal[^]*^10 hold, /m],
      ["doctor --withdrawal 99", 7, none]
    ])
    expect(leaksIn(written)).toEqual([])
    const local = /^WRONG {2}The times are .*: createdAt is three hours behind it.*PAYMENTS_ZONE=America/m
    yield* runRows(env, [[`doctor --withdrawal ${id}`, 7, local]])
  })

  live("the doctor names each wrong setting, and prints no credentials that are refused", served, function* () {
    const names = ["PAYMENTS_BASE_URL", "PAYMENTS_CLIENT_ID", "PAYMENTS_API_KEY", "PAYMENTS_COMPANY_ID"]
    const unset = yield* runRows({ PAYMENTS_BASE_URL: "http://example.com", PAYMENTS_COMPANY_ID: "x" }, [
      ["doctor", 7, /./]
    ])
    for (const name of names) expect(unset).toContain(`WRONG  ${name} can be used`)
    const wrong = { PAYMENTS_API_KEY: secrets.apiKey, PAYMENTS_CLIENT_ID: secrets.clientId }
    const denied = /^{"verdict":"wrong","what":"The credentials are accepted",.*}$/m
    expect(leaksIn(yield* runRows({ ...(yield* settings), ...wrong }, [["doctor --json", 7, denied]]))).toEqual([])
  })
})
