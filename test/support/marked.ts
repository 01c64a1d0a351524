/**
 * Calls that send marked secrets and marked personal data, and the sandbox that answers them.
 */
import { Effect, Fiber, Layer, Redacted, Struct } from "effect"
import { Money, type Operation, Payments, type PaymentsError, PixKey } from "effect-pix"
import { Sandbox, SandboxOptions } from "effect-pix/sandbox"
import { TestClock } from "effect/testing"
import { person, secrets } from "./canary.ts"
import {
  balancePath,
  createTransaction,
  getTransaction,
  listTransactions,
  requestWithdrawal,
  transactionId
} from "./operations.ts"

const { cnpj, cpf, email, evp, name, phone } = person

export interface MarkedCall {
  readonly operation: Operation
  readonly run: Effect.Effect<unknown, PaymentsError, Payments>
  /** The request, in the form in which a gateway can echo it. */
  readonly body: unknown
  readonly path: string
}

export const customer = {
  id: person.customerId,
  name,
  email,
  document: { number: cpf, type: "CPF" },
  phone,
  externalRef: person.reference
}
export const charge = {
  amount: Money.centavos(2500),
  customer,
  items: [{ title: person.item, unitPrice: Money.centavos(2500), quantity: 1 }],
  ip: person.ip
}

export const on = <A, E>(run: (payments: Payments["Service"]) => Effect.Effect<A, E>) => Effect.flatMap(Payments, run)

export const keys = {
  CPF: PixKey.cpf(cpf),
  CNPJ: PixKey.cnpj(cnpj),
  EMAIL: PixKey.email(email),
  PHONE: PixKey.phone(`+${phone}`),
  EVP: PixKey.evp(evp)
}

const calls: Record<Operation, ReadonlyArray<Omit<MarkedCall, "operation">>> = {
  createTransaction: [
    {
      run: on((payments) => payments.createTransaction({ ...charge, paymentMethod: "PIX" })),
      body: { ...charge, paymentMethod: "PIX", currency: "BRL" },
      path: createTransaction.path
    },
    {
      run: on((payments) =>
        payments.createTransaction({
          ...charge,
          paymentMethod: "BOLETO",
          extra: { payer: { note: person.description } }
        })
      ),
      body: { ...charge, paymentMethod: "BOLETO", payer: { note: person.description } },
      path: createTransaction.path
    }
  ],
  getTransaction: [
    {
      run: on((payments) => payments.getTransaction(transactionId)),
      body: undefined,
      path: getTransaction.path
    }
  ],
  listTransactions: [
    {
      run: on((payments) => payments.listTransactions()),
      body: undefined,
      path: listTransactions.path
    }
  ],
  getBalance: [
    {
      run: on((payments) => payments.getBalance()),
      body: undefined,
      path: balancePath(1)
    }
  ],
  requestWithdrawal: Object.values(keys).map((pixKey) => {
    const rest = { amount: Money.centavos(1000), description: person.description, metadata: { of: person.metadata } }
    return {
      run: on((payments) => payments.requestWithdrawal({ ...rest, pixKey })),
      body: { ...rest, currency: "BRL", ...PixKey.toPair(pixKey) },
      path: requestWithdrawal.path
    }
  })
}

/** Calls of every operation. */
export const marked: ReadonlyArray<MarkedCall> = Struct.keys(calls).flatMap((operation) =>
  calls[operation].map((call) => ({ operation, ...call }))
)

/** A sandbox with the marked credentials. */
export const options = Layer.succeed(SandboxOptions, {
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
