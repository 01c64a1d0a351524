import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { Payments, PixKey } from "effect-pix"
import { type PayoutItem, PayoutQueue, Payouts } from "effect-pix/payouts"
import { queueOver } from "../support/payoutQueue.ts"
import { effect } from "../support/effect.ts"

const email = PixKey.email("maria@example.com")

/** Requests that cannot be sent, as a caller without types gives them. */
const wrong: ReadonlyArray<readonly [string, Record<string, unknown>]> = [
  ["a kind of key without a key", { amount: 1000, pixKeyType: "CPF" }],
  ["a plain key without its kind", { amount: 1000, pixKey: "52998224725" }],
  ["a PixKey value and a kind", { amount: 1000, pixKey: email, pixKeyType: "EMAIL" }],
  ["a key that is no text", { amount: 1000, pixKey: 42, pixKeyType: "CPF" }],
  ["a null for a key", { amount: 1000, pixKey: null }],
  ["a wrong CPF", { amount: 1000, pixKey: "52998224726", pixKeyType: "CPF" }],
  ["a field that the contract has not", { amount: 1000, pixKey: email, speed: "fast" }],
  ["a field named by a person's data", { amount: 1000, pixKey: email, "529.982.247-25": 1 }],
  ["metadata that is none", { amount: 1000, pixKey: email, metadata: { secret: Number.NaN } }],
  ["several at once", { amount: 10.5, currency: 1, description: 2 }],
  ["an amount below the minimum", { amount: 999, pixKey: email }]
]

const shown = (error: { readonly message: string; readonly issues?: unknown }) => [error.message, error.issues]

describe("a request that cannot be sent", () => {
  for (const [name, request] of wrong)
    effect(`is refused with the same words by a call, a run and the queue: ${name}`, queueOver(), function* () {
      const payments = yield* Payments
      const queue = yield* PayoutQueue
      // A caller without types may give anything.
      const item = { reference: "invoice-1", ...request } as unknown as PayoutItem
      const { reference: _, ...asked } = item
      const submitted = yield* Effect.flip(queue.submit(item))
      assert.include(["InvalidRequest", "BelowMinimum"], submitted._tag)
      const called = yield* Effect.flip(payments.requestWithdrawal(asked))
      assert.deepStrictEqual(shown(called), shown(submitted))
      const sheet = yield* Effect.flip(Payouts.run([item]))
      assert.deepStrictEqual(sheet._tag === "PayoutsNotAccepted" && shown(sheet.wrong[0].error), shown(submitted))
      assert.notInclude(JSON.stringify(shown(submitted)), "529")
    })
})
