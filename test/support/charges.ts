/**
 * Charges on a sandbox, and how often they were looked up.
 */
import { Effect } from "effect"
import { Money, Payments } from "effect-pix"
import { Sandbox } from "effect-pix/sandbox"

/** Creates a PIX charge of R$ 25,00. */
export const charge = Effect.gen(function* () {
  const payments = yield* Payments
  return yield* payments.createTransaction({
    amount: Money.centavos(2500),
    paymentMethod: "PIX",
    customer: { name: "Maria Silva", email: "maria@example.com" }
  })
})

/** How many lookups the gateway received. */
export const lookups = Effect.gen(function* () {
  const sandbox = yield* Sandbox
  return (yield* sandbox.requests).filter(({ operation }) => operation === "getTransaction").length
})
