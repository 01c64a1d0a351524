/**
 * A queue of payouts for a test, over a gateway in memory.
 */
import { Effect, Layer, Logger } from "effect"
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

/** Submits a payout while the workers are paused, and parks it: somebody has to be told of it. */
export const parkOne = Effect.gen(function* () {
  const queue = yield* PayoutQueue
  yield* queue.setPaused(true)
  yield* queue.submit(payout("parked"))
  yield* queue.park("parked")
})

/** What the queue logs of it within a minute. */
export const parkedLine = '1 payout(s) wait for a person: list({ state: "parked" }) names them.'

/** The warnings and errors that are logged under the layer. */
export const makeWarnings = () => {
  const lines: Array<string> = []
  const logger = Logger.make(({ logLevel, message }) => {
    if (logLevel === "Warn" || logLevel === "Error") lines.push(String(message))
  })
  return { lines, layer: Logger.layer([logger]) }
}
