/** The sandbox's page as its server (`Sandbox.layerServer`) writes it. What it does in a browser is in the tests of the panel. */
import { assert, describe } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Money, Payments } from "effect-pix"
import { Fault, Sandbox, SandboxOptions } from "effect-pix/sandbox"
import { names, offered } from "../../src/panel/internal/page/faultForm.ts"
import { effect } from "../support/effect.ts"
import { balancePath, lookupPath } from "../support/operations.ts"
import { ask, askRaw, charging, keyed, paying, socket } from "../support/doors.ts"

const served = socket({ balance: 100_000 })
const inMemory = Layer.provide(Layer.fresh(Sandbox.layerPayments), Layer.succeed(SandboxOptions, { balance: 100_000 }))
const post = (path: string, body: unknown, headers = {}) => ask({ path, body, headers })
const pageOf = (path: string, headers = {}) => Effect.map(ask({ path, headers }), ({ text }) => text)

const entities: Readonly<Record<string, string>> = { quot: '"', "#39": "'", lt: "<", gt: ">", amp: "&" }
const unescaped = (text: string) => text.replaceAll(/&(#39|quot|lt|gt|amp);/g, (_, name) => entities[name] ?? "")
/** What a person reads of a page, or of a part of it. */
const wordsOf = (html: string) =>
  unescaped(html.replaceAll(/<[^>]*>/g, " "))
    .replaceAll(/[\s\u00a0]+/g, " ")
    .trim()
const english = (path: string) => Effect.map(pageOf(`/?lang=en&${path}`), wordsOf)
const timelineOf = (path: string) =>
  Effect.map(pageOf(`/?lang=en&${path}`), (page) =>
    [...(page.split('class="timeline"')[1] ?? "").matchAll(/<li>(.*?)<\/li>/gs)].map(([, item = ""]) => wordsOf(item))
  )

/** Sends what a button or a form of the page would send. */
const press = Effect.fnUntraced(function* (path: string, label: string, typed: object = {}) {
  const page = yield* pageOf(`/?lang=en&${path}`)
  const end = page.indexOf(`aria-label="${label}"`)
  assert.isAbove(end, 0, `the page has no button ${label}`)
  const [, send = "", body = ""] =
    [...page.slice(0, end).matchAll(/data-send="([^"]*)"\s+data-body="([^"]*)"/g)].at(-1) ?? []
  return (yield* post(send, { ...JSON.parse(unescaped(body)), ...typed })).status
})

const attack = `"'><img/src=x/onerror=alert(1)>&lt;`
const escaped = "&quot;&#39;&gt;&lt;img/src=x/onerror=alert(1)&gt;&amp;lt;"

describe("the sandbox's page", () => {
  effect("whatever a caller or an address says is text on the page, and never markup", served, function* () {
    const sandbox = yield* Sandbox
    yield* sandbox.subscribe("http://127.0.0.1:9/'><script>")
    const customer = { name: attack, email: "maria@example.com", externalRef: attack }
    const made = yield* ask(charging({ customer }, { ...keyed(attack), "x-odd": attack }))
    const paid = yield* ask(paying({ description: attack }, keyed(attack)))
    assert.deepStrictEqual([made.status, paid.status], [200, 201])
    yield* ask({ path: `/api/${encodeURIComponent(attack)}?${attack}` })
    yield* sandbox.sendWebhook({ event: attack, [attack]: attack })
    yield* sandbox.awaitWebhooks
    yield* sandbox.fault("any", Fault.answer(200, { body: attack, headers: { "x-odd": attack } }))
    const odd = encodeURIComponent(attack)
    for (const [path, isThere] of [
      ["/?open=1", true],
      ["/?tab=withdrawals&open=1", true],
      ["/?tab=requests&open=1", true],
      ["/?tab=requests&open=3", false],
      ["/?tab=webhooks&open=1", false],
      ["/?tab=faults", false],
      [`/?search=${odd}&status=${odd}&open=${odd}&page=${odd}&tab=${odd}&lang=${odd}`, true]
    ] as const) {
      const page = yield* pageOf(path)
      assert.notInclude(page, "<img/src", path)
      assert.notInclude(page, "'><", path)
      if (isThere) assert.include(page, escaped, path)
    }
  })

  const order = { operation: "getBalance", times: 2, seconds: 5, status: 418, message: "não" }
  const faults = [
    ["resetAfter", Fault.resetAfter, "resetAfter"],
    ["resetBefore", Fault.resetBefore, "resetBefore"],
    ["silence", Fault.silence(), "silence"],
    ["truncated", Fault.truncated, "truncated"],
    ["latency", Fault.latency("5 seconds"), "latency"],
    ["refusal", Fault.refusal(418, "não"), "answer 418"],
    ["answer", Fault.answer(418, { body: "não" }), "answer 418"],
    ["html", Fault.html(418), "answer 418"],
    ["empty", Fault.empty(418), "answer 418"],
    ["retryAfter", Fault.retryAfter("5 seconds", { status: 418 }), "answer 418"],
    ["tooSoon", Fault.tooSoon, "answer 400"],
    ["dailyLimit", Fault.dailyLimit, "answer 422"],
    ["nightLimit", Fault.nightLimit, "answer 422"],
    ["keyLimit", Fault.keyLimit, "answer 400"],
    ["blocked", Fault.blocked, "answer 422"],
    ["redirect", Fault.redirect("https://elsewhere.example/", 418), "answer 418"],
    ["forgetKey", Fault.forgetKey, "forgetKey"],
    ["failure", Fault.failure("não"), "failure"],
    ["brcode", Fault.brcode, "brcode"],
    ["qrcode", Fault.qrcode, "qrcode"],
    ["localTimes", Fault.localTimes, "localTimes"],
    ["falseZ", Fault.falseZ, "falseZ"]
  ] as const
  effect.each(faults)("the form plans %s as the fault of that name", served, function* ([fault, planned, name]) {
    const { overview } = yield* Sandbox
    assert.strictEqual((yield* post("/panel/fault", { ...order, fault })).status, 200)
    assert.deepStrictEqual((yield* overview).faults, [{ operation: "getBalance", fault: planned, left: 2 }])
    assert.include(yield* english("tab=faults"), `${name} · getBalance 2 requests left`)
    assert.include(yield* pageOf("/?tab=faults"), "tab=requests&amp;search=getBalance")
    assert.include(yield* english(""), "Faults are planned: 2 requests left")
  })

  effect.each(names)("the form says what a client sees that meets %s", function* (fault) {
    const { fields = {}, make, sees } = offered(fault)
    const end = yield* Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const payments = yield* Payments
      const planned = make({ seconds: Number(fields.seconds ?? 5) })
      yield* sandbox.fault("any", planned, { times: 1000 })
      const isOfCharge = "code" in planned
      const customer = { name: "Maria Silva", email: "maria@example.com" }
      const charge = payments.createTransaction({ amount: Money.centavos(2500), paymentMethod: "PIX", customer })
      const payout = payments.requestWithdrawal({ amount: Money.centavos(1000) })
      const told = <A, E extends { readonly _tag: string }>(call: Effect.Effect<A, E>) =>
        Effect.match(call, { onFailure: ({ _tag }): string => _tag, onSuccess: () => "success" })
      return yield* Sandbox.patiently(isOfCharge ? told(charge) : told(payout))
    }).pipe(Effect.provide(inMemory))
    for (const sentence of sees) assert.include(sentence.toLowerCase().replace("sucesso", "success"), end.toLowerCase())
  })

  effect("Connect has the settings of a program and a request, with the credentials of now", served, function* () {
    const sandbox = yield* Sandbox
    yield* sandbox.rotateCredentials
    const page = yield* pageOf("/?lang=en")
    const texts = [...page.matchAll(/data-copy="([^"]*)"/g)].map(([, text = ""]) => unescaped(text))
    const lines = [
      `PAYMENTS_BASE_URL=${sandbox.baseUrl}`,
      "PAYMENTS_CLIENT_ID=sandbox-client",
      "PAYMENTS_API_KEY=sandbox-key-1",
      "PAYMENTS_COMPANY_ID=1"
    ]
    const exported = lines.map((line) => `export ${line}`).join("\n")
    const [shell, file, command = ""] = texts
    assert.deepStrictEqual([shell, file], [exported, lines.join("\n")])
    const headers = { "x-client-id": "sandbox-client", "x-api-key": "sandbox-key-1", accept: "application/json" }
    const parts = Object.entries(headers).map(([name, value]) => ` \\\n  -H '${name}: ${value}'`)
    assert.strictEqual(command, `curl -X GET '${sandbox.baseUrl}${balancePath(1)}'${parts.join("")}`)
    assert.strictEqual((yield* ask({ path: balancePath(1), headers })).status, 200)
    // A program on another machine uses the name under which the browser reached the page.
    const { port } = new URL(sandbox.baseUrl)
    const { body } = yield* askRaw("/", { headers: { host: `localhost:${port}` } })
    assert.include(body, `PAYMENTS_BASE_URL=http://localhost:${port}`)
  })

  effect("requests of one kind are folded behind the newest of them, but for the open one", served, function* () {
    for (const id of ["a", "b", "c", "d"]) yield* ask({ path: lookupPath(id) })
    yield* (yield* Sandbox).fault("getTransaction", Fault.answer(404))
    yield* ask({ path: lookupPath("e") })
    const shown = (path: string) =>
      Effect.map(pageOf(`/?lang=en&tab=requests&${path}`), (page) =>
        [...page.matchAll(/id="row-(\d)"|<summary>(\d more like it)/g)].map(([, row, words]) => row ?? words)
      )
    assert.deepStrictEqual(yield* shown(""), ["5", "4", "3 more like it", "3", "2", "1"])
    assert.deepStrictEqual(yield* shown("open=3"), ["5", "4", "3", "2", "1"])
  })

  effect("the form of a fault takes what fits, from its own page, by POST", served, function* () {
    const { overview } = yield* Sandbox
    const plan = { operation: "any", fault: "refusal", times: 1, seconds: 0 }
    for (const [refused, status] of [
      [post("/panel/fault", { ...plan, fault: "nothing" }), 400],
      [post("/panel/fault", plan, { origin: "http://evil.example" }), 403],
      [post("/panel/fault", plan, { "sec-fetch-site": "cross-site" }), 403],
      [ask({ path: "/panel/fault" }), 404]
    ] as const)
      assert.strictEqual((yield* refused).status, status)
    assert.deepStrictEqual((yield* overview).faults, [])
    yield* post("/panel/fault", plan)
    assert.deepStrictEqual((yield* overview).faults[0]?.fault, Fault.refusal(503, "Serviço indisponível."))
    const page = wordsOf(yield* pageOf("/?tab=faults&lang=pt"))
    assert.include(page, "answer 503 · any resta 1 requisição")
  })

  effect("a list has pages of a hundred rows, and counts those of a search or a status", served, function* () {
    const sandbox = yield* Sandbox
    assert.include(yield* english("tab=withdrawals"), "No payout yet.")
    for (let row = 1; row <= 101; row++) yield* sandbox.charge(100 + row, `Maria ${row}`)
    const paid = yield* press("page=2&open=1", "Pay another amount: charge 1", { amount: 750 })
    assert.strictEqual(paid, 200)
    for (const [path, shown, link, hidden] of [
      ["", "(100) effect-pix sandbox", "Older", "Newer"],
      ["", "all 101 Awaiting 100 Paid 1 1–100 of 101", "Older", "Newer"],
      ["page=2", "101–101 of 101", "Newer", "Older"],
      ["open=1", "Amount paid R$ 7,50", "Balance R$ 1.007,50", "No payout yet."],
      ["status=Paid", "1 of 1", "Paid 1", "Newer"],
      ["status=Refunded", "Refunded 0", "Nothing fits the search.", "Older"],
      ["search=maria%20101", "1 of 1", "Maria 101", "Older"],
      ["search=nobody", "Nothing fits the search.", "", "Older"]
    ] as const) {
      const page = yield* english(path)
      for (const words of [shown, link]) assert.include(page, words)
      assert.notInclude(page, hidden)
    }
    // The row of a link is shown, on whatever page it is.
    assert.include(yield* pageOf("/?lang=en&open=1"), 'alt="QR code of charge 1"')
  })

  effect("a charge tells what happened to it, with its requests and webhooks", served, function* () {
    const sandbox = yield* Sandbox
    const { id } = (yield* ask(charging({}, keyed("order-1")))).json.data
    assert.include(yield* english("open=1"), "Add an address for webhooks")
    yield* sandbox.subscribe("http://127.0.0.1:9/hook")
    yield* TestClock.adjust("1 minute")
    yield* ask({ path: lookupPath(id) })
    for (const button of ["Pay late", "Refund", "Deliver twice", "Deliver out of order"]) {
      assert.strictEqual(yield* press("open=1", `${button}: charge 1`), 200)
      yield* sandbox.awaitWebhooks
    }
    const sent = (yield* sandbox.webhooks).map(({ json }) => Object(json).status)
    assert.deepStrictEqual(sent, ["Cancelled", "Paid", "Refunded", "Refunded", "Paid"])
    const story = yield* timelineOf("open=1")
    const expected = [
      "Asked for: request #1 200 order-1 {",
      "Created",
      "Looked up: request #2 200 {",
      "Cancelled",
      "Paid",
      "Refunded",
      "Sent to http://127.0.0.1:9/hook: webhook #1 no answer the target could not be reached,"
    ]
    for (const [index, words] of expected.entries())
      assert.strictEqual(story[index]?.replace(/^1 Jan 1970, 00:0\d:00 /, "").slice(0, words.length), words)
    assert.match(story.at(-1) ?? "", /Next try, in 1 sec\.: webhook #4$/)
    const page = yield* pageOf("/?lang=en&open=1")
    for (const link of ["tab=requests&amp;open=1", "tab=requests&amp;open=2", "tab=webhooks&amp;open=3"])
      assert.include(page, link)
    for (const path of ["tab=requests&open=2", "tab=webhooks&open=1"]) {
      const about = yield* pageOf(`/?lang=en&${path}`)
      assert.include(wordsOf(about), "About charge #1")
      assert.include(about, "tab=transactions&amp;open=1")
    }
  })

  effect("a payout that fails later says so in its life", served, function* () {
    yield* ask(paying({}, keyed("payout_7f3b")))
    yield* press("tab=withdrawals", "Process: payout 1")
    yield* press("tab=withdrawals", "Reject: payout 1")
    const at = "1 Jan 1970, 00:00:00"
    const life = [`${at} Executed`, `${at} Processing`, `${at} Rejected`]
    assert.deepStrictEqual((yield* timelineOf("tab=withdrawals&open=1")).slice(-3), life)
  })

  effect("a payout and a request tell what happened to them, and what was answered", served, function* () {
    yield* (yield* Sandbox).fault("requestWithdrawal", Fault.resetAfter)
    const pay = ask(paying({ description: "the rent" }, keyed("payout_7f3a")))
    yield* Effect.andThen(Effect.flip(pay), pay)
    yield* press("tab=withdrawals", "Settle: payout 1")
    const story = yield* timelineOf("tab=withdrawals&open=1")
    const at = "1 Jan 1970, 00:00:00"
    assert.strictEqual(story[0], `${at} Asked for: request #1 no answer fault: resetAfter payout_7f3a`)
    assert.deepStrictEqual(story.slice(-2), [`${at} Executed`, `${at} Settled`])
    assert.notInclude(yield* pageOf("/?lang=en&tab=withdrawals"), "Reject: payout 1")
    assert.include(yield* english("tab=withdrawals&open=1"), "Description the rent")
    // The life of a payout goes on after it was paid.
    yield* press("tab=withdrawals", "Return: payout 1")
    const life = [`${at} Executed`, `${at} Settled`, `${at} Returned`]
    assert.deepStrictEqual((yield* timelineOf("tab=withdrawals&open=1")).slice(-3), life)
    yield* ask({ path: lookupPath("nobody") })
    assert.include(yield* english("tab=requests&open=3"), "Transação não encontrada.")
    const command = unescaped(
      /class="acts">.*?data-copy="(curl[^"]*)"/.exec(yield* pageOf("/?lang=en&tab=requests"))?.[1] ?? ""
    )
    assert.include(command, lookupPath("nobody"))
  })

  effect(
    "a charge that is paid otherwise shows the amount that was paid, and so does the balance",
    served,
    function* () {
      const { charge } = yield* Sandbox
      yield* charge(2500)
      assert.strictEqual(yield* press("open=1", "Pay another amount: charge 1", { amount: 750 }), 200)
      const page = yield* english("open=1")
      for (const words of ["Paid", "Amount paid R$ 7,50", "Balance R$ 1.007,50"]) assert.include(page, words)
      yield* charge(2500)
      yield* press("", "Cancel: charge 2")
      assert.strictEqual(yield* press("open=2", "Pay late: charge 2"), 200)
    }
  )

  effect("the page says whether the gateway is offline, and its switch turns that", served, function* () {
    const { fault, offline } = yield* Sandbox
    yield* fault("any", Fault.none)
    const seen = Effect.map(pageOf("/?lang=en&tab=faults"), (page) => [
      page.includes("The gateway is offline."),
      /aria-checked="(\w+)"\s+data-send="\/_sandbox\/setOffline"\s+data-body="([^"]*)"/
        .exec(page)
        ?.slice(1)
        .map(unescaped)
    ])
    assert.deepStrictEqual(yield* seen, [false, ["false", '{"offline":true}']])
    assert.deepStrictEqual(yield* offline(seen), [true, ["true", '{"offline":false}']])
  })

  effect("the page is in the language of its address or browser, in its time zone", served, function* () {
    yield* ask(charging())
    yield* (yield* Sandbox).advance("2 hours")
    const pt = { "accept-language": "pt-BR,pt;q=0.9,en;q=0.8", "x-time-zone": "America/Sao_Paulo" }
    const shown = Effect.fnUntraced(function* (path: string, headers: object) {
      const page = yield* pageOf(path, headers)
      const [, title, ago] = /<time datetime="[^"]*" title="([^"]*)">([^<]*)</.exec(page) ?? []
      return [/<html lang="([^"]*)"/.exec(page)?.[1], title, ago]
    })
    assert.deepStrictEqual(yield* shown("/", pt), ["pt-BR", "31/12/1969, 21:00:00", "há 2 h"])
    assert.deepStrictEqual(yield* shown("/?lang=en", pt), ["en", "31 Dec 1969, 21:00:00", "2 hr. ago"])
    const other = { "accept-language": "en;q=1, pt;q=0.5", "x-time-zone": "Nowhere" }
    assert.deepStrictEqual(yield* shown("/", other), ["en", "1 Jan 1970, 00:00:00", "2 hr. ago"])
  })

  effect("a browser that has the page gets 304, until something changes or its times are old", served, function* () {
    const known = (etag: string) =>
      Effect.map(ask({ path: "/", headers: { "if-none-match": etag } }), ({ status }) => status)
    const etagOf = Effect.map(ask({ path: "/" }), ({ headers }) => headers["etag"] ?? "")
    const first = yield* etagOf
    assert.strictEqual(yield* known(first), 304)
    yield* (yield* Sandbox).credit(1)
    assert.strictEqual(yield* known(first), 200)
    const second = yield* etagOf
    yield* TestClock.adjust("15 seconds")
    assert.strictEqual(yield* known(second), 200)
  })
})
