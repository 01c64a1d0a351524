import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Exit, Fiber, Layer, Redacted } from "effect"
import {
  BrCode,
  Credentials,
  Document,
  IdempotencyKeyGen,
  Money,
  type Operation,
  Payments,
  type PaymentsError,
  PaymentsPolicy,
  PixKey
} from "effect-pix"
import { Fault, Sandbox, SandboxOptions } from "effect-pix/sandbox"
import { FetchHttpClient, type HttpClient } from "effect/http"
import { TestClock } from "effect/testing"
import { leaks, leaksIn, person, printedBy, renderings, secrets } from "../support/canary.ts"

const { cnpj, copyAndPaste, cpf, email, evp, name, phone } = person

interface MarkedCall {
  readonly operation: Operation
  readonly run: Effect.Effect<unknown, PaymentsError, Payments>
  /** What it sends, as a gateway that echoes it would have it. */
  readonly body: unknown
  readonly path: string
}

const customer = {
  id: person.customerId,
  name,
  email,
  document: { number: cpf, type: "CPF" },
  phone,
  externalRef: person.reference
}
const charge = {
  amount: Money.centavos(2500),
  customer,
  items: [{ title: person.item, unitPrice: Money.centavos(2500), quantity: 1 }],
  ip: person.ip
}

const on = <A, E>(run: (payments: Payments["Service"]) => Effect.Effect<A, E>) => Effect.flatMap(Payments, run)

const keys = {
  CPF: PixKey.cpf(cpf),
  CNPJ: PixKey.cnpj(cnpj),
  EMAIL: PixKey.email(email),
  PHONE: PixKey.phone(`+${phone}`),
  EVP: PixKey.evp(evp)
}

const marked: ReadonlyArray<MarkedCall> = [
  {
    operation: "createTransaction",
    run: on((payments) => payments.createTransaction({ ...charge, paymentMethod: "PIX" })),
    body: { ...charge, paymentMethod: "PIX", currency: "BRL" },
    path: "/api/v1/transactions/create"
  },
  {
    operation: "createTransaction",
    run: on((payments) =>
      payments.createTransaction({ ...charge, paymentMethod: "BOLETO", extra: { payer: { note: person.description } } })
    ),
    body: { ...charge, paymentMethod: "BOLETO", payer: { note: person.description } },
    path: "/api/v1/transactions/create"
  },
  {
    operation: "getTransaction",
    run: on((payments) => payments.getTransaction("8b3da2f3-9a41-40d1-a91a-bd93113bd441")),
    body: undefined,
    path: "/api/Transaction/transactionByTransactionId/8b3da2f3-9a41-40d1-a91a-bd93113bd441"
  },
  {
    operation: "listTransactions",
    run: on((payments) => payments.listTransactions()),
    body: undefined,
    path: "/api/Transaction/company/transactions"
  },
  {
    operation: "getBalance",
    run: on((payments) => payments.getBalance()),
    body: undefined,
    path: "/api/Balance/balance/1"
  },
  ...Object.values(keys).map((pixKey): MarkedCall => {
    const rest = { amount: Money.centavos(1000), description: person.description, metadata: { of: person.metadata } }
    return {
      operation: "requestWithdrawal",
      run: on((payments) => payments.requestWithdrawal({ ...rest, pixKey })),
      body: { ...rest, currency: "BRL", ...PixKey.toPair(pixKey) },
      path: "/api/Withdraw/request"
    }
  })
]

const headers = (call: MarkedCall) => ({
  host: "gateway.example",
  "x-client-id": secrets.clientId,
  "x-api-key": secrets.apiKey,
  "user-agent": "node",
  url: call.path
})

/** The spellings that a gateway gives to what it shows. */
const spellings = (value: string): ReadonlyArray<string> => [
  value,
  value.toUpperCase(),
  value.toLowerCase(),
  encodeURIComponent(value),
  value.normalize("NFD"),
  value.replaceAll(" ", "+"),
  `${"x".repeat(190)} ${value}`,
  `"${value}"`
]

const escaped = (value: string, escape: (hex: string) => string) =>
  Array.from(value, (character) => escape(character.charCodeAt(0).toString(16).padStart(4, "0"))).join("")

/** The same to the last letter: found only of what the request itself carries. */
const escapings = (value: string): ReadonlyArray<string> => [
  encodeURIComponent(encodeURIComponent(value)),
  escaped(value, (hex) => `\\u${hex}`),
  escaped(value, (hex) => `&#x${hex};`),
  escaped(value, (hex) => `\\u{${hex}}`),
  `${value.slice(0, -3)}...`,
  `...${value.slice(3)}`
]

const formatted = [
  "529.982.247-25",
  "529 982 247 25",
  "12.ABC.345/01DE-35",
  "12.abc.345/01de-35",
  "+55 (11) 98765-4321",
  "(55) 11 98765-4321",
  evp.toUpperCase()
]

/** What is known by its shape, whoever sent it. */
const shaped = [cpf, cnpj, email, phone, evp, copyAndPaste]

const texts = (value: unknown): ReadonlyArray<string> => {
  if (typeof value === "string") return value.length < 8 ? [] : [value]
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(texts) : []
}

/** What a call sends that must not be shown. */
const carried = ({ body }: MarkedCall): ReadonlyArray<string> => [...Object.values(secrets), ...texts(body)]

const json = { "content-type": "application/json" }

/** A gateway that answers an error with what it was sent. */
const echoes = (call: MarkedCall): ReadonlyArray<readonly [string, Fault.Fault]> => {
  const record = { document: cpf, company: cnpj, email, phone, pixKey: evp, qrcode: copyAndPaste }
  const echo = { headers: headers(call), body: call.body, record }
  const text = JSON.stringify(echo)
  const plain = Object.entries(headers(call))
    .map(([name, value]) => `${name}: ${value}`)
    .join("\r\n")
  const bodies: Record<string, readonly [string, Readonly<Record<string, string>>]> = {
    JSON: [text, json],
    "JSON, indented": [JSON.stringify(echo, undefined, 2), json],
    "message with JSON": [JSON.stringify({ message: `Pedido inválido: ${text}`, status: 400 }), json],
    "JSON in JSON": [JSON.stringify({ error: { message: JSON.stringify(text) } }), json],
    "JSON that breaks off": [JSON.stringify({ message: `Pedido inválido: ${text}` }).slice(0, 300), json],
    details: [JSON.stringify({ errors: texts(echo).map((value) => ({ field: "body", message: value })) }), json],
    problem: [
      JSON.stringify({ title: "Bad Request", detail: text, instance: call.path }),
      { "content-type": "application/problem+json" }
    ],
    HTML: [
      `<html><head><title>${text}</title></head><body><pre>${plain}\n${text}</pre></body></html>`,
      { "content-type": "text/html" }
    ],
    "HTML without a title": [`<h1>Erro</h1><pre>${plain}\n${text}</pre>`, { "content-type": "text/html" }],
    text: [`${plain}\r\n\r\n${text}`, { "content-type": "text/plain" }],
    "percent-encoded": [encodeURIComponent(text), { "content-type": "application/x-www-form-urlencoded" }],
    "upper case": [text.toUpperCase(), json]
  }
  return Object.entries(bodies).flatMap(([shape, [body, headers]]) =>
    [400, 401, 409, 422, 429, 500, 200].map(
      (status) =>
        [
          `${status} with ${shape}`,
          Fault.answer(status, { body, headers: { ...headers, "x-echo": secrets.apiKey } })
        ] as const
    )
  )
}

/** A gateway that answers an error with one value, in one spelling. */
const single = (call: MarkedCall): ReadonlyArray<readonly [string, Fault.Fault]> =>
  [
    ...new Set([...carried(call).flatMap(escapings), ...[...shaped, ...carried(call)].flatMap(spellings), ...formatted])
  ].flatMap((spelling) =>
    [
      JSON.stringify({ message: `O valor ${spelling} é inválido` }),
      JSON.stringify({ error: spelling, code: spelling.slice(0, 64) }),
      `<title>${spelling}</title>`
    ].map((body) => [`422 with ${body}`, Fault.answer(422, { body })] as const)
  )

const unhelpful: ReadonlyArray<readonly [string, Fault.Fault]> = Object.entries({
  refuse: Fault.refuse,
  resetBefore: Fault.resetBefore,
  resetAfter: Fault.resetAfter,
  hangUpAfter: Fault.hangUpAfter,
  truncated: Fault.truncated,
  truncatedByReset: Fault.truncatedByReset,
  silence: Fault.silence(),
  headersThenSilence: Fault.headersThenSilence,
  drip: Fault.drip("1 minute"),
  latency: Fault.latency("1 hour"),
  oversize: Fault.oversize(5_000_000),
  gzipBomb: Fault.gzipBomb(5_000_000),
  otherKey: Fault.otherKey(),
  html: Fault.html(),
  empty: Fault.empty(),
  malformed: Fault.malformed(),
  tooMany: Fault.retryAfter("1 hour"),
  redirect: Fault.redirect(`https://elsewhere.example/?api_key=${secrets.apiKey}&cpf=${cpf}`),
  seeOther: Fault.redirect(`https://elsewhere.example/${email}`, 303),
  "a body of another shape": Fault.answer(200, {
    headers: json,
    body: JSON.stringify({ id: cpf, value: email, data: { id: 7, amount: name, status: [phone] }, ok: evp, res: cnpj })
  }),
  "a body with other names": Fault.answer(200, { headers: json, body: JSON.stringify({ [cpf]: { [email]: name } }) }),
  "a body that is one value": Fault.answer(200, { headers: json, body: JSON.stringify(copyAndPaste) })
})

const options = Layer.succeed(SandboxOptions, {
  balance: 1_000_000_000,
  clientId: secrets.clientId,
  apiKey: Redacted.make(secrets.apiKey),
  creditorDocument: cpf
})
const memory = Layer.provide(Sandbox.layerPayments, options)

const jumping = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(effect)
    yield* TestClock.adjust("10 minutes")
    return yield* Fiber.join(fiber)
  })

const check = Effect.fnUntraced(function* (
  call: MarkedCall,
  how: string,
  fault: Fault.Fault,
  extent?: "whole" | "part"
) {
  const sandbox = yield* Sandbox
  yield* sandbox.clearFaults
  yield* sandbox.fault(call.operation, fault, { times: Infinity })
  const printed = yield* jumping(printedBy(call.run))
  assert.deepStrictEqual(leaks(printed, extent), [], `${call.operation}, ${how}`)
  return printed
})

describe.each(marked.map((call, index) => ({ call, title: `${call.operation} (${index})` })))("$title", ({ call }) => {
  it.effect("prints nothing of it when it succeeds", () =>
    Effect.gen(function* () {
      const payments = yield* Payments
      const created = yield* payments.createTransaction({ ...charge, paymentMethod: "PIX" })
      const found = { ...call, run: on((service) => service.getTransaction(created.id)) }
      const printed = yield* check(call.operation === "getTransaction" ? found : call, "success", Fault.none)
      assert.isTrue(Exit.isSuccess(printed.exit))
      assert.strictEqual(printed.spans, 3)
    }).pipe(Effect.provide(memory))
  )

  it.effect("prints nothing of it when it fails", () =>
    Effect.gen(function* () {
      for (const [how, fault] of unhelpful) {
        const printed = yield* check(call, how, fault)
        // What was searched is there: the error was logged, and traced.
        assert.isAtLeast(printed.lines, Exit.isFailure(printed.exit) ? 1 : 0, how)
        assert.isAtLeast(printed.spans, 3, how)
      }
    }).pipe(Effect.provide(memory))
  )

  it.effect("prints nothing of it when the service answers with what it was sent", () =>
    Effect.forEach(echoes(call), ([how, fault]) => check(call, how, fault), { discard: true }).pipe(
      Effect.provide(memory)
    )
  )

  it.effect(
    "prints nothing of it when the service answers with one value of it or a part, however that is spelled",
    () =>
      Effect.forEach(single(call), ([how, fault]) => check(call, how, fault, "part"), { discard: true }).pipe(
        Effect.provide([memory, PaymentsPolicy.layer(PaymentsPolicy.once)])
      ),
    30_000
  )
})

const transports: Record<string, Layer.Layer<HttpClient.HttpClient>> = {
  fetch: FetchHttpClient.layer,
  undici: NodeHttpClient.layerUndici,
  "node:http": NodeHttpClient.layerNodeHttp
}

describe.each(Object.entries(transports))("over %s", (_, transport) => {
  it.live("as little is printed", () =>
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const client = Payments.layer({ baseUrl: sandbox.baseUrl, companyId: 1 }).pipe(
        Layer.provide([transport, Credentials.layer(yield* sandbox.credentials), IdempotencyKeyGen.layerSequential])
      )
      const policy = PaymentsPolicy.make({ ...PaymentsPolicy.once, attemptTimeout: "1 second" })
      yield* Effect.gen(function* () {
        for (const call of marked.filter((_, index) => [0, 2, 5].includes(index))) {
          const some = unhelpful.filter(([how]) => !["silence", "headersThenSilence", "drip", "latency"].includes(how))
          for (const [how, fault] of [...some, ...echoes(call).filter(([how]) => how.startsWith("400"))]) {
            yield* sandbox.clearFaults
            yield* sandbox.fault(call.operation, fault)
            assert.deepStrictEqual(leaks(yield* printedBy(call.run)), [], `${call.operation}, ${how}`)
          }
        }
      }).pipe(Effect.provide(client), Effect.provideService(PaymentsPolicy, policy))
    }).pipe(Effect.provide(Layer.provide(Sandbox.layerServer, options)))
  )
})

describe("what is refused before it is sent", () => {
  /** As a caller's JavaScript has it, or a form that nobody checked. */
  const wrong = (input: object) => input as never // the types would not let it through
  const withdrawal = { amount: 1000, description: person.description, metadata: person.metadata }
  const inputs: Record<string, Effect.Effect<unknown, PaymentsError, Payments>> = {
    "an e-mail that is none": on((payments) =>
      payments.createTransaction(
        wrong({ ...charge, paymentMethod: "PIX", customer: { ...customer, email: `${name} ${cpf}` } })
      )
    ),
    "a phone with punctuation": on((payments) =>
      payments.createTransaction(
        wrong({ ...charge, paymentMethod: "PIX", customer: { ...customer, phone: `+${phone}` } })
      )
    ),
    "values of the wrong type": on((payments) =>
      payments.createTransaction(
        wrong({ amount: cpf, paymentMethod: email, customer: [name, phone], ip: person.name, items: evp })
      )
    ),
    "a field that the contract does not name": on((payments) =>
      payments.createTransaction(wrong({ ...charge, paymentMethod: "PIX", note: person.description, [email]: cpf }))
    ),
    "a person's name as a field's": on((payments) =>
      payments.createTransaction(wrong({ ...charge, paymentMethod: "PIX", customer: { ...customer, [name]: cpf } }))
    ),
    "a charge that contains itself": on((payments) => {
      const round: Record<string, unknown> = { ...charge, paymentMethod: "PIX", customer }
      round["items"] = [round]
      return payments.createTransaction(wrong(round))
    }),
    "an id that is a path": on((payments) => payments.getTransaction(`../${email}/${cpf}`)),
    "an id that is a person's": on((payments) => payments.getTransaction(`${name} ${phone}`)),
    "a page that is a person's": on((payments) => payments.listTransactions(wrong({ page: cpf, sort: email }))),
    "a currency that is a person's": on((payments) => payments.getBalance(wrong({ currency: email, companyId: cpf }))),
    "a key of the wrong kind": on((payments) =>
      payments.requestWithdrawal(wrong({ ...withdrawal, pixKey: email, pixKeyType: "CPF" }))
    ),
    "a key of no kind": on((payments) => payments.requestWithdrawal(wrong({ ...withdrawal, pixKey: cpf }))),
    "a kind that is a person's": on((payments) =>
      payments.requestWithdrawal(wrong({ ...withdrawal, pixKey: cpf, pixKeyType: email }))
    ),
    "too small an amount": on((payments) =>
      payments.requestWithdrawal(wrong({ ...withdrawal, amount: 1, pixKey: keys.CPF }))
    ),
    "metadata with a forbidden name": on((payments) =>
      payments.requestWithdrawal(
        wrong({ ...withdrawal, pixKey: keys.CPF, metadata: { [cpf]: { constructor: email } } })
      )
    ),
    "metadata that is too long": on((payments) =>
      payments.requestWithdrawal(wrong({ ...withdrawal, pixKey: keys.CPF, metadata: { [email]: name.repeat(1000) } }))
    ),
    "an idempotency key that is none": on((payments) =>
      payments.requestWithdrawal(
        wrong({ ...withdrawal, pixKey: keys.CPF }),
        wrong({ idempotencyKey: `${name}\r\n${cpf}` })
      )
    )
  }
  for (const [how, input] of Object.entries(inputs)) {
    it.effect(how, () =>
      Effect.gen(function* () {
        const printed = yield* printedBy(input)
        assert.isTrue(Exit.isFailure(printed.exit))
        assert.deepStrictEqual(leaks(printed), [])
        assert.isEmpty(yield* Effect.flatMap(Sandbox, ({ requests }) => requests))
      }).pipe(Effect.provide(memory))
    )
  }
})

describe("a configuration that is refused", () => {
  const { apiKey, clientId } = secrets
  const good = { clientId, apiKey: Redacted.make(apiKey) }
  const settings = {
    PAYMENTS_BASE_URL: "https://gateway.example",
    PAYMENTS_CLIENT_ID: clientId,
    PAYMENTS_API_KEY: apiKey
  }
  const fromEnvironment = (env: Readonly<Record<string, string>>) =>
    Layer.provide(Payments.layerFetch, ConfigProvider.layer(ConfigProvider.fromEnv({ env })))
  const at = (baseUrl: string) =>
    Layer.provide(Payments.layer({ baseUrl }), [
      FetchHttpClient.layer,
      Credentials.layer(good),
      IdempotencyKeyGen.layer
    ])
  const building = <A, E>(layer: Layer.Layer<A, E>): Effect.Effect<void, unknown> =>
    Effect.asVoid(Effect.scoped(Layer.build(layer)))
  const refused: Record<string, Effect.Effect<void, unknown>> = {
    "a key with a line break": building(
      Credentials.layer({ ...good, apiKey: Redacted.make(`${apiKey}\r\nx-admin: 1`) })
    ),
    "a key with a character of no header": building(
      Credentials.layer({ ...good, apiKey: Redacted.make(`${apiKey}\u0000`) })
    ),
    "a client id with a space": building(Credentials.layer({ ...good, clientId: `${clientId} ` })),
    "a loaded key with a line break": building(
      Credentials.layerReload({
        load: Effect.succeed({ ...good, apiKey: Redacted.make(`${apiKey}\n`) })
      })
    ),
    "a key from the environment": building(fromEnvironment({ ...settings, PAYMENTS_API_KEY: `${apiKey}\n` })),
    "a client id from the environment": building(fromEnvironment({ ...settings, PAYMENTS_CLIENT_ID: `${clientId}\t` })),
    "a company that is a key": building(fromEnvironment({ ...settings, PAYMENTS_COMPANY_ID: apiKey })),
    "a base URL that is a key": building(fromEnvironment({ ...settings, PAYMENTS_BASE_URL: apiKey })),
    "a base URL with a password": building(at(`https://${clientId}:${apiKey}@gateway.example`)),
    "a base URL with a query": building(at(`https://gateway.example/?key=${apiKey}`)),
    "a base URL with a fragment": building(at(`https://gateway.example/#${apiKey}`)),
    "a base URL that is none": building(at(`https://${apiKey}:${clientId}`)),
    "a base URL of another scheme": building(at(`http://${clientId}.example/${apiKey}`))
  }
  for (const [how, build] of Object.entries(refused)) {
    it.effect(how, () =>
      Effect.gen(function* () {
        const printed = yield* printedBy(build)
        assert.isTrue(Exit.isFailure(printed.exit))
        assert.include(printed.texts["String"], "ConfigurationError")
        assert.deepStrictEqual(leaks(printed), [])
      })
    )
  }

  it.effect("nor does one that cannot be loaded again say why", () =>
    Effect.gen(function* () {
      let loads = 0
      const load = Effect.suspend(() => {
        loads++
        return loads === 1 ? Effect.succeed(good) : Effect.fail(`the store has ${apiKey} and no more`)
      })
      const sandbox = yield* Sandbox
      yield* sandbox.rotateCredentials
      const payments = Payments.layer({ baseUrl: sandbox.baseUrl, companyId: 1 }).pipe(
        Layer.provide([Credentials.layerReload({ load }), IdempotencyKeyGen.layerSequential])
      )
      const printed = yield* printedBy(
        Effect.provide(
          on((service) => service.getBalance()),
          payments
        )
      )
      assert.strictEqual(loads, 2)
      assert.include(printed.texts["logs"], "Loading credentials failed")
      assert.deepStrictEqual(leaks(printed), [])
    }).pipe(Effect.provide(Layer.provide(Sandbox.layer, options)))
  )
})

describe("values that hold somebody's data", () => {
  const held = {
    ...keys,
    "a list of keys": { to: [keys.CPF, { again: keys.EMAIL }] },
    "a key that is none": PixKey.make("CPF", email),
    "a BR Code": BrCode.parse(copyAndPaste),
    "a BR Code that is none": BrCode.parse(`${name} ${cpf}`),
    credentials: { apiKey: Redacted.make(secrets.apiKey) }
  }
  for (const [how, value] of Object.entries(held)) {
    it(`print masked: ${how}`, () => {
      assert.deepStrictEqual(leaks({ texts: renderings(value) }), [])
    })
  }

  it("print masked: a document", () => {
    assert.deepStrictEqual(leaksIn(`${Document.mask(Document.cpf(cpf))} ${Document.mask(Document.cnpj(cnpj))}`), [])
  })

  it("are looked for in every spelling", () => {
    const written = [
      `o CPF 529.982.247-25`,
      encodeURIComponent(email),
      escaped(name, (hex) => `\\u${hex}`),
      `[${phone}]`
    ]
    assert.deepStrictEqual(
      written.flatMap((text) => leaksIn(text)),
      ["cpf", "email", "name", "phone"]
    )
    assert.include(
      leaks({ texts: renderings({ PixKey: { nested: [new Map([[1, cnpj]])] } }) }),
      "cnpj in inspect, bare"
    )
  })
})
