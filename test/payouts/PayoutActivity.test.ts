import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { PayoutActivity, PayoutStatus } from "effect-pix/payouts"
import { Fault, Sandbox } from "effect-pix/sandbox"
import { Workflow, WorkflowEngine } from "effect/workflow"
import { layerMemory, payout } from "../support/payoutQueue.ts"

const PayInvoice = Workflow.make("PayInvoice", {
  payload: { invoice: Schema.String, amount: Schema.Int },
  idempotencyKey: ({ invoice }) => invoice,
  success: PayoutStatus,
  error: PayoutActivity.PayoutNotAccepted
})
const workflow = PayInvoice.toLayer(({ amount, invoice }) => PayoutActivity.make(payout(invoice, amount)))

const layer = workflow.pipe(Layer.provideMerge(WorkflowEngine.layerMemory), Layer.provideMerge(layerMemory()))

describe("PayoutActivity", () => {
  it.effect("a workflow that is asked twice pays once, and has the payout's state as a value", () =>
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const first = yield* PayInvoice.execute({ invoice: "invoice-1", amount: 1000 })
      const second = yield* PayInvoice.execute({ invoice: "invoice-1", amount: 1000 })
      assert.deepStrictEqual([first.state, second.state], ["posted", "posted"])
      assert.strictEqual((yield* sandbox.withdrawals).length, 1)
    }).pipe(Effect.provide(layer))
  )

  it.effect("a refusal is a value, and a payout that cannot be accepted is the workflow's failure", () =>
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      yield* sandbox.fault("requestWithdrawal", Fault.refusal(422, "Chave recusada."))
      const refused = yield* PayInvoice.execute({ invoice: "invoice-1", amount: 1000 })
      assert.isTrue(refused._tag === "Refused")
      const small = yield* Effect.flip(PayInvoice.execute({ invoice: "invoice-2", amount: 1 }))
      assert.strictEqual(small._tag, "BelowMinimum")
    }).pipe(Effect.provide(layer))
  )
})
