/** No call, no program and no error prints a secret or personal data, whatever the gateway answers. */
import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe } from "@effect/vitest"
import { Effect, Exit, Layer, Option, Redacted } from "effect"
import {
  Credentials,
  IdempotencyKeyGen,
  Money,
  Payments,
  type PaymentsClient,
  PaymentsPolicy,
  WithdrawalLookup
} from "effect-pix"
import { TransactionHints } from "../../src/transactions/TransactionHints.ts"
import { Fault, Sandbox } from "effect-pix/sandbox"
import { Webhook, WebhookClient, WebhookVerifier } from "effect-pix/webhook"
import { FetchHttpClient } from "effect/http"
import { leaks, person, printedBy, renderings, secrets } from "../support/canary.ts"
import { effect, live } from "../support/effect.ts"
import { charge, keys, marked, memory, on, options, pix, withPassingTime } from "../support/marked.ts"
import { memory as database } from "../support/payoutQueue.ts"
import { lostConnection, refusedConnection, type Reply, respond, scripted } from "../support/Wire.ts"
import { oneAttempt } from "../support/policies.ts"

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
    ...["Failure", "FALHOU"].map((enTransaction) =>
      respond(201, {
        id: 7184,
        idempotencyKey: "wd_1",
        value: 10,
        enTransaction,
        message: text,
        code: cpf,
        motivo: evp
      })
    ),
    respond(200, JSON.stringify(copyAndPaste)),
    ...texts(echo).map((value) => respond(422, { message: `O valor ${value} é inválido`, code: value }))
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

const payout = { amount: Money.centavos(1000), pixKey: keys.CPF, description: person.description }

describe("a call", () => {
  const named = marked.map((call, at) => [`${call.operation} (call ${at} of the table)`, call] as const)

  effect.each(named)(
    "of %s prints nothing of its request when it succeeds",
    memory,
    function* ([, { operation, run }]) {
      const { id } = yield* on((payments) => payments.createTransaction(pix))
      const { id: withdrawalId } = yield* on((payments) => payments.requestWithdrawal(payout))
      const lookups: Partial<Record<typeof operation, typeof run>> = {
        getTransaction: on((payments) => payments.getTransaction(id)),
        getWithdrawal: Effect.flatMap(WithdrawalLookup, ({ get }) => get(withdrawalId))
      }
      const printed = yield* printedBy(lookups[operation] ?? run)
      assert.isTrue(Exit.isSuccess(printed.exit))
      assert.deepStrictEqual([printed.spans, printed.valuesInSpans], [3, []])
      assert.deepStrictEqual(leaks(printed), [])
    }
  )

  effect.each(named)(
    "of %s prints nothing of its request when the service echoes it or fails",
    function* ([, { body, run }]) {
      for (const [how, reply] of [...echoesOf(body).entries(), ...Object.entries(silent)]) {
        const printed = yield* withPassingTime(printedBy(run)).pipe(Effect.provide(client(reply)))
        assert.deepStrictEqual([...leaks(printed), ...printed.valuesInSpans], [], `after ${how}`)
        // The searched texts are not empty: the error was logged and traced.
        assert.isAtLeast(printed.lines, Exit.isFailure(printed.exit) ? 1 : 0)
        assert.isAtLeast(printed.spans, 2)
      }
    }
  )

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
      for (const { operation, run } of marked.slice(0, 7)) {
        for (const fault of [Fault.resetBefore, Fault.resetAfter, Fault.truncated, Fault.html()]) {
          yield* sandbox.clearFaults
          yield* sandbox.fault(operation, fault)
          const printed = yield* printedBy(run).pipe(
            Effect.provide(overSocket),
            Effect.provideService(PaymentsPolicy, oneAttempt)
          )
          assert.isTrue(Exit.isFailure(printed.exit))
          assert.deepStrictEqual(leaks(printed), [])
        }
      }
    }
  )
})

const deliveries = (id: string) => [
  { transactionId: id, status: "Paid", customer: { name, email, phone, document: { number: cpf } } },
  { withdrawalId: 7, pixKey: evp, idempotencyKey: cnpj, status: "Paid", qrcode: copyAndPaste },
  { [email]: { [name]: cpf } }
]

const receive = Effect.gen(function* () {
  const { id } = yield* on((payments) => payments.createTransaction(pix))
  yield* (yield* Sandbox).markPaid(id)
  const webhook = yield* Webhook
  for (const body of deliveries(id)) {
    const init = { method: "POST", body: JSON.stringify(body), headers: { "x-secret": apiKey } }
    yield* webhook.answer(new Request(`https://shop.example/pix?key=${apiKey}&payer=${cpf}`, init))
  }
  const { deadLetters, idle } = yield* WebhookClient
  yield* Effect.timeoutOption(idle, "2 minutes")
  return yield* deadLetters
}).pipe(
  Effect.provide([
    Webhook.layerSql({
      verifier: WebhookVerifier.sharedSecret({ header: "x-secret", secret: Redacted.make(apiKey) }),
      onPaid: () => Effect.fail(`${name} is not in the books of ${email}`)
    }).pipe(Layer.provide(database)),
    TransactionHints.layer
  ])
)

effect.each([
  ["executes it", Fault.none],
  ["echoes it", Fault.answer(422, { body: JSON.stringify({ message: `${name} ${cpf}`, of: deliveries("7") }) })],
  ["is lost on the way", Fault.resetAfter]
] as const)(
  "a webhook prints and answers nothing of its deliveries when the lookup's answer %s",
  memory,
  function* ([, fault]) {
    yield* (yield* Sandbox).fault("getTransaction", fault, { times: Infinity })
    const printed = yield* withPassingTime(printedBy<unknown, unknown, Payments | PaymentsClient | Sandbox>(receive))
    assert.deepStrictEqual([...leaks(printed), ...printed.valuesInSpans], [])
    assert.deepStrictEqual(leaks({ texts: renderings(Option.getOrUndefined(Exit.getSuccess(printed.exit))) }), [])
    assert.isAtLeast(printed.spans, 2)
  }
)

/** An input without types, such as one from plain JavaScript or from an unchecked form. */
const wrong = (input: object) => input as never // the types would not let it through
const creating = (change: object) => on((payments) => payments.createTransaction(wrong({ ...pix, ...change })))
const withdrawing = (change: object) =>
  on((payments) => payments.requestWithdrawal(wrong({ amount: 1000, description: person.description, ...change })))

effect.each([
  ["a person's name as a field's", creating({ customer: { ...charge.customer, [name]: cpf } })],
  ["values of the wrong type", creating({ amount: cpf, customer: [name, phone], ip: name, items: evp })],
  ["an id that is a path", on((payments) => payments.getTransaction(`../${email}/${cpf}`))],
  ["a person's page", on((payments) => payments.listTransactions(wrong({ page: cpf, sort: email })))],
  ["a person's currency", on((payments) => payments.getBalance(wrong({ currency: email, companyId: cpf })))],
  ["a key of the wrong kind", withdrawing({ pixKey: email, pixKeyType: "CPF" })],
  ["a person's kind of key", withdrawing({ pixKey: cpf, pixKeyType: email })],
  ["too small an amount", withdrawing({ amount: 1, pixKey: keys.CPF })],
  ["metadata with a forbidden name", withdrawing({ metadata: { [cpf]: { constructor: email } } })]
] as const)("a call that is refused for %s prints nothing of it", function* ([, input]) {
  const printed = yield* Effect.provide(printedBy<unknown, unknown, Payments>(input), client(respond(500)))
  assert.isTrue(Exit.isFailure(printed.exit))
  assert.deepStrictEqual(leaks(printed), [])
})
