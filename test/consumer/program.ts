/**
 * A user's program, against the sandbox in memory: one line that is the same on every runtime.
 */
import { Effect } from "effect"
import { IdempotencyKey, Money, Payments, PixKey } from "effect-pix"
import { Sandbox } from "effect-pix/sandbox"

const program = Effect.gen(function* () {
  const payments = yield* Payments
  const sandbox = yield* Sandbox

  const charge = yield* payments.createTransaction({
    amount: Money.centavos(2500),
    paymentMethod: "PIX",
    customer: { name: "Maria Silva", email: "maria@example.com" }
  })
  yield* sandbox.markPaid(charge.id)
  const detail = yield* payments.getTransaction(charge.id)
  const page = yield* payments.listTransactions({ pageSize: 10 })
  const balance = yield* payments.getBalance()
  const withdrawal = yield* payments.requestWithdrawal(
    { amount: Money.centavos(1000), pixKey: PixKey.email("supplier@example.com") },
    { idempotencyKey: IdempotencyKey.fromReference("payout", "invoice-42"), earlier: "None" }
  )
  const refused = yield* Effect.flip(payments.requestWithdrawal({ amount: Money.centavos(999) }))

  return [
    charge.status,
    detail.enStatusTransaction,
    page.totalItems,
    Money.format(balance.accBalance),
    Money.format(withdrawal.value),
    refused._tag
  ].join(" | ")
})

export const run = (): Promise<string> => Effect.runPromise(Effect.provide(program, Sandbox.layerPayments))
