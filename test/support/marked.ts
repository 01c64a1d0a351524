/**
 * Calls that send marked secrets and marked personal data.
 */
import { Effect, Fiber, Layer, Redacted } from "effect"
import { Money, type Operation, Payments, type PaymentsError, PixKey, WithdrawalLookup } from "effect-pix"
import { Sandbox, SandboxOptions } from "effect-pix/sandbox"
import { TestClock } from "effect/testing"
import { person, secrets } from "./canary.ts"
import { transactionId } from "./operations.ts"

const { cnpj, cpf, email, evp, name, phone } = person

interface MarkedCall {
  readonly operation: Operation
  readonly run: Effect.Effect<unknown, PaymentsError, Payments | WithdrawalLookup>
  /** The request, in the form in which a gateway can echo it. */
  readonly body?: object
}

export const on = <A, E>(run: (payments: Payments["Service"]) => Effect.Effect<A, E>) => Effect.flatMap(Payments, run)

export const keys = {
  CPF: PixKey.cpf(cpf),
  CNPJ: PixKey.cnpj(cnpj),
  EMAIL: PixKey.email(email),
  PHONE: PixKey.phone(`+${phone}`),
  EVP: PixKey.evp(evp)
}

const rest = { amount: Money.centavos(1000), description: person.description, metadata: { of: person.metadata } }

export const charge = {
  amount: Money.centavos(2500),
  customer: {
    id: person.customerId,
    name,
    email,
    document: { number: cpf, type: "CPF" },
    phone,
    externalRef: person.reference
  },
  items: [{ title: person.item, unitPrice: Money.centavos(2500), quantity: 1 }],
  ip: person.ip
}
export const pix = {
  ...charge,
  paymentMethod: "PIX",
  postbackUrl: `https://shop.example/webhooks/${person.reference}`,
  extra: { metadata: { of: person.metadata } }
} as const
const boleto = { ...charge, paymentMethod: "BOLETO", extra: { payer: { note: person.description } } } as const

/** Calls of every operation, and of a withdrawal to each kind of key. */
export const marked: ReadonlyArray<MarkedCall> = [
  { operation: "createTransaction", run: on((payments) => payments.createTransaction(pix)), body: pix },
  { operation: "createTransaction", run: on((payments) => payments.createTransaction(boleto)), body: boleto },
  { operation: "getTransaction", run: on((payments) => payments.getTransaction(transactionId)) },
  { operation: "listTransactions", run: on((payments) => payments.listTransactions()) },
  { operation: "getBalance", run: on((payments) => payments.getBalance()) },
  { operation: "getWithdrawal", run: Effect.flatMap(WithdrawalLookup, ({ get }) => get(7184)) },
  ...Object.values(keys).map((pixKey): MarkedCall => ({
    operation: "requestWithdrawal",
    run: on((payments) => payments.requestWithdrawal({ ...rest, pixKey })),
    body: { ...rest, ...PixKey.toPair(pixKey) }
  }))
]

/** A sandbox with the marked credentials, which answers as seen: it has the lookup of a withdrawal. */
export const options = Layer.succeed(SandboxOptions, {
  as: "seen",
  balance: 1_000_000_000,
  clientId: secrets.clientId,
  apiKey: Redacted.make(secrets.apiKey),
  creditorDocument: cpf
})
export const memory = Layer.provide(Sandbox.layerPayments, options)

/** Runs an effect, and moves the test's clock on until it ends. */
export const withPassingTime = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(effect)
    for (let minute = 0; fiber.pollUnsafe() === undefined && minute < 60; minute++) yield* TestClock.adjust("1 minute")
    return yield* Fiber.join(fiber)
  })
