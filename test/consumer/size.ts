/**
 * What a program that charges and lists brings along.
 */
import * as Effect from "effect/Effect"
import { centavos } from "effect-pix/Money"
import { Payments } from "effect-pix/Payments"

const program = Effect.gen(function* () {
  const payments = yield* Payments
  yield* payments.createTransaction({
    amount: centavos(2500),
    paymentMethod: "PIX",
    customer: { name: "Maria Silva", email: "maria@example.com" }
  })
  return yield* payments.listTransactions()
})

await Effect.runPromise(Effect.provide(program, Payments.layerFetch))
