/** Errors of refused inputs and settings print no value, and values with personal data print masked. */
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Exit, Layer, Redacted } from "effect"
import {
  BrCode,
  Credentials,
  CredentialsReload,
  Document,
  IdempotencyKeyGen,
  Payments,
  type PaymentsError,
  PixKey
} from "effect-pix"
import { Sandbox } from "effect-pix/sandbox"
import { FetchHttpClient } from "effect/http"
import { leaks, leaksIn, person, printedBy, renderings, secrets } from "../support/canary.ts"
import { escaped } from "../support/echoes.ts"
import { charge, customer, keys, memory, on, options } from "../support/marked.ts"
import { effect } from "../support/effect.ts"

const { cnpj, copyAndPaste, cpf, email, evp, name, phone } = person

describe("the printed error of an input that is refused before it is sent", () => {
  /** An input without types, such as one from plain JavaScript or from an unchecked form. */
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
    effect(`an operation prints nothing of ${how}`, memory, function* () {
      const printed = yield* printedBy(input)
      assert.isTrue(Exit.isFailure(printed.exit))
      assert.deepStrictEqual(leaks(printed), [])
      assert.isEmpty(yield* Effect.flatMap(Sandbox, ({ requests }) => requests))
    })
  }
})

describe("what a ConfigurationError prints", () => {
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
      CredentialsReload.layer({
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
    effect(`a ConfigurationError prints nothing of ${how}`, function* () {
      const printed = yield* printedBy(build)
      assert.isTrue(Exit.isFailure(printed.exit))
      assert.include(printed.texts["String"], "ConfigurationError")
      assert.deepStrictEqual(leaks(printed), [])
    })
  }

  effect(
    "the warning that credentials could not be loaded again prints nothing of the cause",
    Layer.provide(Sandbox.layer, options),
    function* () {
      let loads = 0
      const load = Effect.suspend(() => {
        loads++
        return loads === 1 ? Effect.succeed(good) : Effect.fail(`the store has ${apiKey} and no more`)
      })
      const sandbox = yield* Sandbox
      yield* sandbox.rotateCredentials
      const payments = Payments.layer({ baseUrl: sandbox.baseUrl, companyId: 1 }).pipe(
        Layer.provide([CredentialsReload.layer({ load }), IdempotencyKeyGen.layerSequential])
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
    }
  )
})

describe("a printed value that holds personal data", () => {
  const held = {
    "a CPF key": keys.CPF,
    "a CNPJ key": keys.CNPJ,
    "an e-mail key": keys.EMAIL,
    "a phone key": keys.PHONE,
    "a random key": keys.EVP,
    "a list of keys": { to: [keys.CPF, { again: keys.EMAIL }] },
    "a key that is none": PixKey.make("CPF", email),
    "a BR Code": BrCode.parse(copyAndPaste),
    "a BR Code that is none": BrCode.parse(`${name} ${cpf}`),
    "a record with credentials": { apiKey: Redacted.make(secrets.apiKey) }
  }
  for (const [how, value] of Object.entries(held)) {
    it(`the printed text of ${how} is masked`, () => {
      assert.deepStrictEqual(leaks({ texts: renderings(value) }), [])
    })
  }

  it("Document.mask shows no whole document", () => {
    assert.deepStrictEqual(leaksIn(`${Document.mask(Document.cpf(cpf))} ${Document.mask(Document.cnpj(cnpj))}`), [])
  })

  it("the search of these tests finds a value in every spelling", () => {
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
