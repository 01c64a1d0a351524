/**
 * Creates charges on a sandbox, and counts their lookups.
 */
import { Effect } from "effect"
import { Sandbox } from "effect-pix/sandbox"
import { createTransaction } from "./operations.ts"

/** Creates a PIX charge of R$ 25,00. */
export const charge = createTransaction.run

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
