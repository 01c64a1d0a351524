import { assert, describe } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Payments } from "effect-pix"
import { PayoutQueue } from "effect-pix/payouts"
import { Sandbox } from "effect-pix/sandbox"
import { interruptible } from "../support/interruptible.ts"
import { gateway, payout } from "../support/payoutQueue.ts"
import { live } from "../support/effect.ts"

describe("a database statement that interrupts itself", () => {
  live(
    "is tried again after the gateway recorded a payout: the payout is paid once, under one key, and posted",
    gateway,
    function* () {
      const { client, interrupted, interruptNext } = yield* interruptible
      const payments = yield* Payments
      const sandbox = yield* Sandbox
      let asked = 0
      const queue = PayoutQueue.layer({ poll: "50 millis", lease: "2 seconds" }).pipe(
        Layer.provide([
          Layer.succeed(SqlClient.SqlClient, client),
          Layer.succeed(Payments, {
            ...payments,
            requestWithdrawal: (request, options) =>
              Effect.tap(payments.requestWithdrawal(request, options), () =>
                Effect.suspend(() => (++asked === 1 ? interruptNext : Effect.void))
              )
          })
        ])
      )
      const state = yield* Effect.gen(function* () {
        const { await: settled, submit } = yield* PayoutQueue
        yield* submit(payout("invoice-1", 1000))
        return (yield* settled("invoice-1")).state
      }).pipe(Effect.provide(queue))
      assert.strictEqual(state, "posted")
      assert.strictEqual(interrupted(), 1)
      const sent = (yield* sandbox.requests).filter(({ operation }) => operation === "requestWithdrawal")
      assert.strictEqual(new Set(sent.map(({ idempotencyKey }) => idempotencyKey)).size, 1)
      assert.strictEqual((yield* sandbox.withdrawals).length, 1)
    }
  )
})
