/**
 * Creates charges on a sandbox, and counts their lookups.
 */
import { Effect } from "effect"
import { Payments } from "effect-pix"
import { Sandbox } from "effect-pix/sandbox"
import { charge as request } from "./operations.ts"

/** Creates a PIX charge of R$ 25,00. */
export const charge = Effect.gen(function* () {
  const payments = yield* Payments
  return yield* payments.createTransaction(request)
})

/** Creates a charge that is paid, and answers its id. */
export const paidCharge = Effect.gen(function* () {
  const { id } = yield* charge
  yield* (yield* Sandbox).markPaid(id)
  return id
})

/** How many lookups the gateway received. */
export const lookups = Effect.gen(function* () {
  const sandbox = yield* Sandbox
  return (yield* sandbox.requests).filter(({ operation }) => operation === "getTransaction").length
})
