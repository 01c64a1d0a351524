/**
 * What a program that charges and lists brings along.
 */
import * as Effect from "effect/Effect"
import { Money, Payments } from "effect-pix"

const program = Effect.gen(function* () {
  const payments = yield* Payments
  yield* payments.createTransaction({
    amount: Money.centavos(2500),
    paymentMethod: "PIX",
    customer: { name: "Maria Silva", email: "maria@example.com" }
  })
  return yield* payments.listTransactions()
})

await Effect.runPromise(Effect.provide(program, Payments.layerFetch))
