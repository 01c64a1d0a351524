/** Sheets of payouts for tests of runs. */
import { Effect, Fiber } from "effect"
import { Money, PixKey } from "effect-pix"
import { type PayoutItem, Payouts } from "effect-pix/payouts"
import { TestClock } from "effect/testing"
import { settle } from "./payoutQueue.ts"

/** A line of its own key. */
export const line = (reference: string, amount = 1000): PayoutItem => ({
  reference,
  amount: Money.centavos(amount),
  pixKey: PixKey.email(`${reference.replaceAll("/", "-")}@example.com`)
})

export const sheet = (...references: ReadonlyArray<string>) => references.map((reference) => line(reference))

/** The references of each list that has some. */
export const listsOf = (report: Payouts.PayoutReport) =>
  Object.fromEntries(
    (["done", "failed", "refused", "parked", "open"] as const).flatMap((list) =>
      report[list].length === 0 ? [] : [[list, report[list].map(({ reference }) => reference)]]
    )
  )

/** The lists of a run, or what is wrong with its lines: the index, the error, and the payout that it looks like. */
export const run = Effect.fnUntraced(function* (items: ReadonlyArray<PayoutItem>, options?: Payouts.RunOptions) {
  const fiber = yield* Effect.forkChild(Payouts.run(items, options))
  for (let second = 0; second < 400 && fiber.pollUnsafe() === undefined; second++) {
    yield* settle
    yield* TestClock.adjust("1 second")
  }
  return yield* Fiber.join(fiber).pipe(
    Effect.map(listsOf),
    Effect.catchTag("PayoutsNotAccepted", ({ wrong }) =>
      Effect.succeed(wrong.map(({ error, index }) => [index, error._tag === "LooksAlike" ? error.other : error._tag]))
    )
  )
})
