/**
 * Queues of payouts that look posted ones up, on a gateway that answers as it was seen in the field.
 */
import { Context, Effect, Layer, Option } from "effect"
import { WithdrawalLookup } from "effect-pix"
import { type PayoutConfirmingOptions, PayoutQueue } from "effect-pix/payouts"
import { Sandbox } from "effect-pix/sandbox"
import { payout, settle, worldOf } from "./payoutQueue.ts"

/** What a program makes of the client's own lookup. */
export type Decorate = (get: WithdrawalLookup["Service"]["get"]) => WithdrawalLookup["Service"]["get"]

/** The gateway that was seen, and a database in memory. */
export const seenWorld = worldOf({}, undefined, "seen")

/** The lookup of the world, decorated. */
const decorated = (decorate: Decorate) =>
  Layer.effect(
    WithdrawalLookup,
    Effect.map(WithdrawalLookup, (lookup) => ({ ...lookup, get: decorate(lookup.get) }))
  )

/** A worker that confirms, until its scope closes. */
export const startConfirming = (options: Partial<PayoutConfirmingOptions> = {}, decorate: Decorate = (get) => get) =>
  Effect.map(
    Layer.build(Layer.fresh(PayoutQueue.layer({ confirm: true, ...options }).pipe(Layer.provide(decorated(decorate))))),
    Context.get(PayoutQueue)
  )

/** Submits a payout, which is posted then, and returns the number of its withdrawal. */
export const post = Effect.fnUntraced(function* (queue: PayoutQueue["Service"], reference = "invoice-1") {
  yield* queue.submit(payout(reference))
  yield* settle
  return yield* numberOf(queue, reference)
})

/** The number of a payout's withdrawal. */
export const numberOf = (queue: PayoutQueue["Service"], reference = "invoice-1") =>
  Effect.map(queue.status(reference), (found) => {
    const status = Option.getOrThrow(found)
    return "withdrawalId" in status && status.withdrawalId !== undefined ? status.withdrawalId : -1
  })

/** How many lookups of withdrawals arrived. */
export const lookups = Sandbox.use(({ requests }) =>
  Effect.map(requests, (all) => all.filter(({ operation }) => operation === "getWithdrawal").length)
)
