import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Option, Schema } from "effect"
import { DatabaseError, PayoutActivity, PayoutQueue, PayoutStatus } from "effect-pix/payouts"
import { Fault, Sandbox } from "effect-pix/sandbox"
import { Workflow, WorkflowEngine } from "effect/workflow"
import { layerMemory, payout } from "../support/payoutQueue.ts"

const PayInvoice = Workflow.make("PayInvoice", {
  payload: { invoice: Schema.String, amount: Schema.Int },
  idempotencyKey: ({ invoice }) => invoice,
  success: PayoutStatus,
  error: PayoutActivity.PayoutNotAccepted
})
const Resumable = PayInvoice.annotate(Workflow.SuspendOnFailure, true)
const workflow = PayInvoice.toLayer(({ amount, invoice }) => PayoutActivity.make(payout(invoice, amount)))

const layer = workflow.pipe(Layer.provideMerge(WorkflowEngine.layerMemory), Layer.provideMerge(layerMemory()))

describe("PayoutActivity", () => {
  it.effect("a workflow that is run twice pays once, and has the payout's status as a value", () =>
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

describe("PayoutActivity where the database fails", () => {
  /** The queue, whose first `submit` commits and then loses the connection. */
  const losing = Layer.effect(
    PayoutQueue,
    Effect.map(PayoutQueue, (queue) => {
      let left = 1
      return PayoutQueue.of({
        ...queue,
        submit: (item) =>
          Effect.filterOrFail(
            queue.submit(item),
            () => left-- <= 0,
            () => new DatabaseError({ operation: "submit", reason: "ConnectionError", isRetryable: true })
          )
      })
    })
  )
  const on = (annotated: typeof PayInvoice) =>
    annotated
      .toLayer(({ amount, invoice }) => PayoutActivity.make(payout(invoice, amount)))
      .pipe(
        Layer.provideMerge(WorkflowEngine.layerMemory),
        Layer.provideMerge(Layer.provideMerge(losing, layerMemory()))
      )
  const invoice = { invoice: "invoice-1", amount: 1000 }

  it.effect("the workflow ends with a defect, and the payout is sent all the same", () =>
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const queue = yield* PayoutQueue
      const first = yield* Effect.exit(PayInvoice.execute(invoice))
      const second = yield* Effect.exit(PayInvoice.execute(invoice))
      assert.isTrue(Exit.hasDies(first) && Exit.hasDies(second))
      assert.strictEqual((yield* queue.await("invoice-1")).state, "posted")
      assert.strictEqual((yield* sandbox.withdrawals).length, 1)
    }).pipe(Effect.provide(on(PayInvoice)))
  )

  it.effect("a workflow that suspends on failure is resumed, and the payout is sent once", () =>
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const executionId = yield* Resumable.execute(invoice, { discard: true })
      const isSuspended = Effect.map(
        Resumable.poll(executionId),
        Option.exists(({ _tag }) => _tag === "Suspended")
      )
      yield* Effect.repeat(Effect.andThen(Effect.yieldNow, isSuspended), { until: (suspended) => suspended })
      yield* Resumable.resume(executionId)
      assert.strictEqual((yield* Resumable.execute(invoice)).state, "posted")
      assert.strictEqual((yield* sandbox.withdrawals).length, 1)
    }).pipe(Effect.provide(on(Resumable)))
  )
})
