import { assert, describe } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { Payments } from "effect-pix"
import { PayoutQueue } from "effect-pix/payouts"
import { Fault, Sandbox } from "effect-pix/sandbox"
import { layerMemory, payouts } from "../support/payoutQueue.ts"
import { effect } from "../support/effect.ts"

describe("the retries of the queue", () => {
  effect("leave the retry budget of the other calls of the client as it is", layerMemory(), function* () {
    const queue = yield* PayoutQueue
    const sandbox = yield* Sandbox
    const payments = yield* Payments
    const countOf = (operation: string) =>
      Effect.map(sandbox.requests, (requests) => requests.filter((one) => one.operation === operation).length)
    yield* sandbox.fault("requestWithdrawal", Fault.answer(502), { times: 1000 })
    yield* queue.submitMany(payouts(60))
    yield* TestClock.adjust("1 minute")
    // More retries than the 35 that a budget of 500 pays for.
    assert.isAbove(yield* countOf("requestWithdrawal"), 120)

    yield* sandbox.fault("getBalance", Fault.answer(502), { times: 10 })
    const fiber = yield* Effect.forkChild(Effect.exit(payments.getBalance({ companyId: 1 })))
    yield* TestClock.adjust("1 minute")
    yield* Fiber.join(fiber)
    assert.strictEqual(yield* countOf("getBalance"), 3)
  })
})
