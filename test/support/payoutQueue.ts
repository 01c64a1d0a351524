/**
 * A queue of payouts for a test, over a gateway in memory.
 */
import { Layer } from "effect"
import { Money, PixKey } from "effect-pix"
import { type PayoutItem, PayoutQueue, type PayoutQueueOptions } from "effect-pix/payouts"
import { Sandbox, SandboxOptions } from "effect-pix/sandbox"

export const payout = (reference: string, amount = 1000): PayoutItem => ({
  reference,
  amount: Money.centavos(amount),
  pixKey: PixKey.email("maria@example.com")
})

export const payouts = (count: number, amount = 1000): ReadonlyArray<PayoutItem> =>
  Array.from({ length: count }, (_, index) => payout(`invoice-${index + 1}`, amount))

export const gateway = Layer.provide(Sandbox.layerPayments, Layer.succeed(SandboxOptions, { balance: 10_000_000 }))

export const layerMemory = (options: PayoutQueueOptions = {}) =>
  Layer.provideMerge(PayoutQueue.layerMemory(options), gateway)
