/** No call, no program and no error prints a secret or personal data, whatever the gateway answers. */
import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Option, Redacted, Stream } from "effect"
import {
  BrCode,
  Credentials,
  Document,
  IdempotencyKeyGen,
  Payments,
  PaymentsPolicy,
  PixKey,
  TransactionHints
} from "effect-pix"
import { PayoutQueue, Payouts } from "effect-pix/payouts"
import { Fault, Sandbox } from "effect-pix/sandbox"
import { Webhook, WebhookVerifier } from "effect-pix/webhook"
import { FetchHttpClient } from "effect/http"
import { leaks, person, printedBy, renderings, secrets } from "../support/canary.ts"
import { effect, live } from "../support/effect.ts"
import { charge, keys, marked, memory, on, options, withPassingTime } from "../support/marked.ts"
import { memory as database } from "../support/payoutQueue.ts"
import { lostConnection, refusedConnection, type Reply, respond, scripted } from "../support/Wire.ts"

const { cnpj, copyAndPaste, cpf, email, evp, name, phone } = person
const { apiKey, clientId } = secrets

/** `Payments` with the marked credentials on replies of the test. */
const client = (...replies: readonly [Reply, ...ReadonlyArray<Reply>]) =>
  Payments.layer({ baseUrl: "https://gateway.example", companyId: 1 }).pipe(
    Layer.provide([
      scripted(...replies).layer,
      Credentials.layer({ clientId, apiKey: Redacted.make(apiKey) }),
      IdempotencyKeyGen.layerSequential
    ])
  )

const texts = (value: unknown): ReadonlyArray<string> => {
  if (typeof value === "string") return value.length < 8 ? [] : [value]
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(texts) : []
}

/** What a gateway knows of a request, in the shapes of gateways' answers. */
const echoesOf = (body: unknown): ReadonlyArray<Reply> => {
  const record = { document: cpf, company: cnpj, email, phone, pixKey: evp, qrcode: copyAndPaste }
  const echo = { headers: { "x-client-id": clientId, "x-api-key": apiKey }, body, record }
  const text = JSON.stringify(echo)
  const html = { "content-type": "text/html" }
  const withKey = { "x-echo": apiKey }
  return [
    respond(400, echo, withKey),
    respond(401, { message: `Pedido inválido: ${text}`, status: 400 }, withKey),
    respond(409, { error: { message: JSON.stringify(text) } }),
    respond(422, JSON.stringify({ message: `Pedido inválido: ${text}` }).slice(0, 300)),
    respond(429, { errors: texts(echo).map((value) => ({ field: "body", message: value })) }, { "retry-after": cpf }),
    respond(500, { title: "Bad Request", detail: text, instance: `/${email}` }),
    respond(403, `<html><head><title>${text}</title></head><body>${text}</body></html>`, html),
    respond(404, `<h1>Erro</h1><pre>${text}</pre>`, html),
    respond(422, encodeURIComponent(text)),
    respond(200, text.toUpperCase()),
    respond(200, { id: cpf, value: email, data: { id: 7, amount: name, status: [phone] }, ok: evp, res: cnpj }),
    respond(200, { [cpf]: { [email]: name } }),
    respond(200, JSON.stringify(copyAndPaste))
  ]
}

const silent: Readonly<Record<string, Reply>> = {
  "a lost connection": lostConnection,
  "a refused connection": refusedConnection,
  silence: "silence",
  "a defect of the transport": { defect: new Error(`${apiKey} ${cpf}`) },
  "a redirect": respond(302, "", { location: `https://elsewhere.example/?api_key=${apiKey}&cpf=${cpf}` }),
  "an unreadable success": respond(201, `${name} ${cpf}`)
}

describe("a call", () => {
  const named = marked.map((call, at) => [`${call.operation} (call ${at} of the table)`, call] as const)

  effect.each(named)(
    "of %s prints nothing of its request when it succeeds",
    memory,
    function* ([, { operation, run }]) {
      const { id } = yield* on((payments) => payments.createTransaction({ ...charge, paymentMethod: "PIX" }))
      const printed = yield* printedBy(
        operation === "getTransaction" ? on((payments) => payments.getTransaction(id)) : run
      )
      assert.isTrue(Exit.isSuccess(printed.exit))
      assert.strictEqual(printed.spans, 3)
      assert.deepStrictEqual(leaks(printed), [])
    }
  )

  effect.each(named)(
    "of %s prints nothing of its request when the service echoes it or fails",
    function* ([, { body, run }]) {
      for (const [how, reply] of [...echoesOf(body).entries(), ...Object.entries(silent)]) {
        const printed = yield* withPassingTime(printedBy(run)).pipe(Effect.provide(client(reply)))
        assert.deepStrictEqual(leaks(printed), [], `after ${how}`)
        // The searched texts are not empty: the error was logged and traced.
        assert.isAtLeast(printed.lines, Exit.isFailure(printed.exit) ? 1 : 0)
        assert.isAtLeast(printed.spans, 2)
      }
    }
  )

  effect.each(named.filter(([, { body }]) => body !== undefined))(
    "of %s prints no part of a value that is all that the service says",
    function* ([, { body, run }]) {
      for (const value of [apiKey, clientId, ...texts(body)]) {
        for (const said of [value, value.toUpperCase(), `...${value.slice(3)}`]) {
          const reply = respond(422, { message: `O valor ${said} é inválido`, code: said })
          const printed = yield* Effect.provide(printedBy(run), client(reply))
          assert.deepStrictEqual(leaks(printed, "part"), [], said)
        }
      }
    }
  )

  effect.each([
    ["Código 987 inválido", "CVV_987"],
    ["O cartão de final 6351 foi recusado", "987"],
    ["Titular: Ana Li, Li, ANA", "ANA"]
  ] as const)(
    "with a card prints no security code, no last digits and no short name of %j",
    function* ([message, code]) {
      const extra = { card: { number: "5031433215406351", cvv: 987, holder: "ANA LI" } }
      const customer = { name: "Ana Li", email: "ana@example.com" }
      const pay = on((payments) =>
        payments.createTransaction({ ...charge, paymentMethod: "CREDIT_CARD", customer, extra })
      )
      const { texts } = yield* Effect.provide(printedBy(pay), client(respond(422, { message, code })))
      assert.include(texts["message"], "[redacted]")
      assert.notMatch(`${texts["message"]}\n${texts["stored"]}`, /987|6351|\bana\b|\bli\b/i)
    }
  )

  const created = { id: "7", amount: charge.amount, status: "x" }
  effect.each([
    ...[{ errorBoaventura: "x" }, { fail_boaventura: 1 }].map((more) => ({ ...created, ...more })),
    ...[cpf, "Ana Boaventura"].flatMap((value) =>
      [
        Buffer.from(value).toString("base64url"),
        Buffer.from(value).toString("hex"),
        `id_${[...value].toReversed().join("-")}`
      ].map((coded) => ({ id: coded, amount: 1, status: coded }))
    ),
    { ...created, amount: 1, status: "Ana" }
  ])("shows nothing of the customer that is in the answer %j", function* (data) {
    const customer = { ...charge.customer, name: "Ana Boaventura" }
    const pay = on((payments) => payments.createTransaction({ ...charge, paymentMethod: "PIX", customer }))
    const { exit, texts } = yield* Effect.provide(printedBy(pay), client(respond(200, { data })))
    assert.isTrue(Exit.isFailure(exit))
    const printed = JSON.stringify(texts)
    assert.notMatch(printed, /boaventura|\bana\b/i)
    if (data.id !== "7") assert.notInclude(printed, data.id)
  })

  live.each([
    ["fetch", FetchHttpClient.layer],
    ["undici", NodeHttpClient.layerUndici],
    ["node:http", NodeHttpClient.layerNodeHttp]
  ] as const)(
    "over %s prints nothing of its request where the connection fails",
    Layer.provide(Sandbox.layerServer, options),
    function* ([, transport]) {
      const sandbox = yield* Sandbox
      const overSocket = Payments.layer({ baseUrl: sandbox.baseUrl, companyId: 1 }).pipe(
        Layer.provide([transport, Credentials.layer(yield* sandbox.credentials), IdempotencyKeyGen.layerSequential])
      )
      for (const { operation, run } of marked.slice(0, 6)) {
        for (const fault of [Fault.resetBefore, Fault.resetAfter, Fault.truncated, Fault.html()]) {
          yield* sandbox.clearFaults
          yield* sandbox.fault(operation, fault)
          const printed = yield* printedBy(run).pipe(
            Effect.provide(overSocket),
            Effect.provideService(PaymentsPolicy, PaymentsPolicy.once)
          )
          assert.isTrue(Exit.isFailure(printed.exit))
          assert.deepStrictEqual(leaks(printed), [])
        }
      }
    }
  )
})

const sheet = Object.values(keys).map((pixKey, index) => ({
  reference: `invoice-${index}`,
  amount: charge.amount,
  pixKey,
  description: person.description,
  metadata: { of: person.metadata }
}))
const deliveries = (id: string) => [
  { transactionId: id, status: "Paid", customer: { name, email, phone, document: { number: cpf } } },
  { withdrawalId: 7, pixKey: evp, idempotencyKey: cnpj, status: "Paid", qrcode: copyAndPaste },
  { [email]: { [name]: cpf } }
]

const payOut = Effect.gen(function* () {
  const queue = yield* PayoutQueue
  const plan = yield* Payouts.plan(sheet)
  const twins = yield* Effect.flip(
    Payouts.run([...sheet, ...sheet.map((item) => ({ ...item, reference: `twin of ${item.reference}` }))])
  )
  const report = yield* Payouts.run(sheet, { waitFor: "2 minutes" })
  const conflict = yield* Effect.flip(queue.submit({ reference: "invoice-0", amount: charge.amount }))
  const steered = yield* Effect.forEach(["park", "resume", "retry", "settle", "status"] as const, (step) =>
    Effect.exit<unknown, unknown, never>(queue[step]("invoice-1"))
  )
  return [plan, twins, report, conflict, steered, yield* Stream.runCollect(queue.list())]
}).pipe(Effect.provide(Layer.provide(PayoutQueue.layer({ poll: "1 minute", drain: "1 second" }), database)))

const receive = Effect.gen(function* () {
  const { id } = yield* on((payments) => payments.createTransaction({ ...charge, paymentMethod: "PIX" }))
  yield* (yield* Sandbox).markPaid(id)
  const webhook = yield* Webhook
  for (const body of deliveries(id)) {
    const init = { method: "POST", body: JSON.stringify(body), headers: { "x-secret": apiKey } }
    yield* webhook.answer(new Request(`https://shop.example/pix?key=${apiKey}&payer=${cpf}`, init))
  }
  yield* Effect.timeoutOption(webhook.idle, "2 minutes")
  return yield* webhook.deadLetters
}).pipe(
  Effect.provide([
    Webhook.layerSql({
      verifier: WebhookVerifier.sharedSecret({ header: "x-secret", secret: Redacted.make(apiKey) }),
      onPaid: () => Effect.fail(`${name} is not in the books of ${email}`)
    }).pipe(Layer.provide(database)),
    TransactionHints.layer
  ])
)

const answers = {
  "the service executes it": Fault.none,
  "the service echoes it": Fault.answer(422, {
    body: JSON.stringify({ message: `${name} ${cpf}`, sheet, deliveries: deliveries("7") })
  }),
  "the connection is lost": Fault.resetAfter
}
const programs = [
  ["a sheet of payouts", "requestWithdrawal", payOut],
  ["a webhook", "getTransaction", receive]
] as const

describe("a program", () => {
  effect.each(
    programs.flatMap(([title, operation, run]) =>
      Object.entries(answers).map(([when, fault]) => [title, when, operation, run, fault] as const)
    )
  )("of %s prints and answers nothing of its requests when %s", memory, function* ([, , operation, run, fault]) {
    yield* (yield* Sandbox).fault(operation, fault, { times: Infinity })
    const printed = yield* withPassingTime(printedBy<unknown, unknown, Payments | Sandbox>(run))
    assert.deepStrictEqual(leaks(printed), [])
    assert.deepStrictEqual(leaks({ texts: renderings(Option.getOrUndefined(Exit.getSuccess(printed.exit))) }), [])
    assert.deepStrictEqual(printed.valuesInSpans, [])
    assert.isAtLeast(printed.spans, 2)
  })
})

/** An input without types, such as one from plain JavaScript or from an unchecked form. */
const wrong = (input: object) => input as never // the types would not let it through
const creating = (change: object) =>
  on((payments) => payments.createTransaction(wrong({ ...charge, paymentMethod: "PIX", ...change })))
const withdrawing = (change: object) =>
  on((payments) => payments.requestWithdrawal(wrong({ amount: 1000, description: person.description, ...change })))

describe("an input that is refused", () => {
  effect.each([
    ["an e-mail that is none", creating({ customer: { ...charge.customer, email: `${name} ${cpf}` } })],
    [
      "values of the wrong type",
      creating({ amount: cpf, paymentMethod: email, customer: [name, phone], ip: name, items: evp })
    ],
    ["a person's name as a field's", creating({ customer: { ...charge.customer, [name]: cpf } })],
    ["an id that is a path", on((payments) => payments.getTransaction(`../${email}/${cpf}`))],
    ["a person's page", on((payments) => payments.listTransactions(wrong({ page: cpf, sort: email })))],
    ["a person's currency", on((payments) => payments.getBalance(wrong({ currency: email, companyId: cpf })))],
    ["a key of the wrong kind", withdrawing({ pixKey: email, pixKeyType: "CPF" })],
    ["a person's kind of key", withdrawing({ pixKey: cpf, pixKeyType: email })],
    ["too small an amount", withdrawing({ amount: 1, pixKey: keys.CPF })],
    ["metadata with a forbidden name", withdrawing({ metadata: { [cpf]: { constructor: email } } })],
    [
      "an idempotency key that is none",
      on((payments) => payments.requestWithdrawal({ amount: charge.amount }, { idempotencyKey: `${name}\r\n${cpf}` }))
    ]
  ] as const)("as %s prints nothing of it", function* ([, input]) {
    const printed = yield* Effect.provide(printedBy<unknown, unknown, Payments>(input), client(respond(500)))
    assert.isTrue(Exit.isFailure(printed.exit))
    assert.deepStrictEqual(leaks(printed), [])
  })
})

describe("a printed value that holds personal data", () => {
  it.each([
    ...Object.entries(keys),
    ["keys in a list", { to: [keys.CPF, { again: keys.EMAIL }] }],
    ["a key that is none", PixKey.make("CPF", email)],
    ["a BR Code", BrCode.parse(copyAndPaste)],
    ["a BR Code that is none", BrCode.parse(`${name} ${cpf}`)],
    ["credentials", { apiKey: Redacted.make(apiKey) }],
    ["masked documents", `${Document.mask(Document.cpf(cpf))} ${Document.mask(Document.cnpj(cnpj))}`]
  ] as const)("is masked: %s", (_, value) => {
    assert.deepStrictEqual(leaks({ texts: renderings(value) }), [])
  })
})
