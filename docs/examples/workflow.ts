/**
 * A payout as a step of a workflow, on Effect's own engine. The key is the reference, never the id of a step or a run: a step that
 * runs again finds the same payout.
 */
import { NodeCrypto } from "@effect/platform-node"
import { Effect, Layer, Schema } from "effect"
import { BelowMinimum, InvalidRequest, Money, PixKey } from "effect-pix"
import { NodeSqlite } from "effect-pix/node"
import { type PayoutItem, PayoutQueue, PayoutStateConflict, PayoutStatus, ReferenceConflict } from "effect-pix/payouts"
import { Sandbox, SandboxOptions } from "effect-pix/sandbox"
import { ClusterWorkflowEngine, SingleRunner } from "effect/cluster"
import { Activity, Workflow } from "effect/workflow"

const NotAccepted = Schema.Union([InvalidRequest, BelowMinimum, ReferenceConflict, PayoutStateConflict])

const pay = (payout: PayoutItem) =>
  Activity.make({
    name: `pay ${payout.reference}`,
    success: PayoutStatus,
    error: NotAccepted,
    execute: Effect.gen(function* () {
      const queue = yield* PayoutQueue
      yield* queue.submit(payout)
      return yield* queue.await(payout.reference)
    }).pipe(Effect.catchTags({ DatabaseError: Effect.die, ForeignTransaction: Effect.die, PayoutNotFound: Effect.die }))
  })

const CloseOrder = Workflow.make("CloseOrder", {
  payload: { order: Schema.String, amount: Schema.Int },
  idempotencyKey: ({ order }) => order,
  success: PayoutStatus,
  error: NotAccepted
})
const closeOrder = CloseOrder.toLayer(({ amount, order }) =>
  pay({ reference: order, amount: Money.centavos(amount), pixKey: PixKey.email("maria@example.com") })
)

const database = NodeSqlite.layer({ filename: ":memory:" })
const gateway = Layer.provideMerge(Sandbox.layerPayments, Layer.succeed(SandboxOptions, { balance: 500_000 }))

const cluster = Layer.provide(SingleRunner.layer({ runnerStorage: "sql" }), NodeCrypto.layerDigest)
const engine = Layer.provide(ClusterWorkflowEngine.layer, cluster)
const queue = PayoutQueue.layer({ poll: "50 millis" })

const layer = closeOrder.pipe(
  Layer.provideMerge(engine),
  Layer.provide(queue),
  Layer.provideMerge(gateway),
  Layer.provide(database)
)

const program = Effect.gen(function* () {
  const sandbox = yield* Sandbox
  const first = yield* CloseOrder.execute({ order: "order-42", amount: 2500 })
  const again = yield* CloseOrder.execute({ order: "order-42", amount: 2500 })
  return [first.state, again.state, (yield* sandbox.withdrawals).length]
})

export const result = await Effect.runPromise(Effect.provide(program, layer)) // => ["posted", "posted", 1]
