/** What the library has above the client, in programs as its users write them, under every fault and death. */
import { describe, test } from "@effect/vitest"
import { Context, Effect, Layer, Predicate, Schedule, Stream } from "effect"
import {
  IdempotencyKey,
  Money,
  Payments,
  PixKey,
  Reconcile,
  Rehearsed,
  TransactionWait,
  type WriteOptions
} from "effect-pix"
import { NodeSqlite } from "effect-pix/node"
import { PayoutQueue, Payouts } from "effect-pix/payouts"
import { Webhook } from "effect-pix/webhook"
import { Rehearsal, type RehearsalWorld } from "effect-pix/sandbox"
import { budget, requireClean } from "../../support/rehearsals.ts"

class Orders extends Context.Service<Orders, { readonly charges: Set<string>; readonly shipped: Set<string> }>()(
  "Orders"
) {
  static readonly layer = Layer.sync(Orders, () => ({ charges: new Set<string>(), shipped: new Set<string>() }))
}

const later = Schedule.upTo(Schedule.spaced("1 minute"), { times: 3 })
const pixKey = PixKey.email("maria@example.com")
const customer = { name: "Maria Silva", email: "maria@example.com" }
const amount = Money.centavos(2500)

const charge = Effect.gen(function* () {
  const payments = yield* Payments
  const { charges } = yield* Orders
  const key = IdempotencyKey.fromReference("order", "42")
  const { id } = yield* IdempotencyKey.retry(key, later, (options) =>
    payments.createTransaction({ amount, paymentMethod: "PIX", customer }, options)
  )
  charges.add(id)
  return id
})

const shipOnce = Effect.fnUntraced(function* (transactionId: string) {
  const { shipped } = yield* Orders
  if (shipped.has(transactionId)) return
  shipped.add(transactionId)
  yield* Rehearsed.fact("shipped", { transactionId })
})

const items = ["invoice-1", "invoice-2", "invoice-3"].map((reference, index) => ({
  reference,
  amount: Money.centavos(1000 + index),
  pixKey
}))

/** Asks for a payout as `send` does, and writes down what became of it. It remembers what it asked before a death. */
const payOnce = (send: (past: WriteOptions) => Effect.Effect<unknown, { readonly outcome: string }, Payments>) =>
  Effect.gen(function* () {
    const reference = "invoice-1"
    const { charges: asked } = yield* Orders
    yield* Rehearsed.owes({ reference, amount })
    const idempotencyKey = IdempotencyKey.fromReference("payout", reference)
    const past = asked.has(reference) ? ({ earlier: "Unknown" } as const) : {}
    asked.add(reference)
    yield* Effect.yieldNow
    const paid = yield* Effect.result(send({ idempotencyKey, ...past }))
    if (paid._tag === "Success") return yield* Rehearsed.fact("paid", { reference })
    yield* Rehearsed.fact(paid.failure.outcome === "Unknown" ? "parked" : "failed", { reference })
  })

describe("under every fault and death", () => {
  test("a payout says what became of it, and so do its retries under its key", async () => {
    const once = payOnce((options) =>
      Payments.use((payments) => payments.requestWithdrawal({ amount, pixKey }, options))
    )
    const again = payOnce(({ idempotencyKey = "", ...past }) =>
      Payments.use((payments) =>
        IdempotencyKey.retry(idempotencyKey, later, (options) =>
          payments.requestWithdrawal({ amount, pixKey }, { ...past, ...options })
        )
      )
    )
    for (const program of [once, again]) {
      const report = await Effect.runPromise(Rehearsal.run(program, { stores: Orders.layer, ...budget }))
      requireClean(report, 25)
    }
  })

  const sheet = Effect.gen(function* () {
    for (const item of items) yield* Rehearsed.owes(item)
    const { done, open, parked, refused } = yield* Payouts.run(items)
    for (const { reference } of done) yield* Rehearsed.fact("paid", { reference })
    for (const { reference } of refused) yield* Rehearsed.fact("failed", { reference })
    for (const { reference } of [...open, ...parked]) yield* Rehearsed.fact("parked", { reference })
    if (done.length < items.length) return yield* Effect.fail("open" as const)
  })
  test.each([
    ["that is run once in each process", sheet],
    ["that is run until all is paid", Effect.retry(sheet, later)]
  ])("a sheet of payouts %s pays each line once, and knows what it paid", async (_, run) => {
    const stores = NodeSqlite.layer({ filename: ":memory:" })
    const report = await Effect.runPromise(
      Rehearsal.run(Effect.provide(run, PayoutQueue.layer()), { stores, ...budget })
    )
    requireClean(report, 50)
  })

  test("a shop with a Webhook in memory, which asks again after a restart and every hour, ships what is paid", async () => {
    const webhooks = Webhook.layer({ onPaid: ({ transaction }) => shipOnce(transaction.transactionId) })
    const sweep = Effect.gen(function* () {
      const webhook = yield* Webhook
      const { charges, shipped } = yield* Orders
      for (const id of charges) if (!shipped.has(id)) yield* webhook.check(id)
    }).pipe(Effect.repeat(Schedule.spaced("1 hour")))
    const program = Effect.provide(Effect.andThen(charge, sweep), webhooks)
    const report = await Effect.runPromise(
      Rehearsal.run(program, { stores: Orders.layer, payAfter: "1 minute", stopAfter: "6 hours", ...budget })
    )
    requireClean(report, 40)
  })

  test("TransactionWait.final ends, and never reports an unpaid charge as paid", async () => {
    const program = Effect.gen(function* () {
      const transactionId = yield* charge
      const detail = yield* TransactionWait.final(transactionId, { deadline: "1 day" })
      if (detail.enStatusTransaction === "Paid") yield* shipOnce(transactionId)
      else yield* Rehearsed.fact("told", { transactionId })
    })
    const isPatient = ({ result }: RehearsalWorld) =>
      Predicate.isTagged(result, "ServiceUnavailable") &&
      Predicate.hasProperty(result, "outcome") &&
      result.outcome === "NoEffect"
        ? Effect.fail("The wait ended because the service did not answer.")
        : Effect.void
    const report = await Effect.runPromise(
      Rehearsal.run(program, { stores: Orders.layer, payAfter: "1 minute", rules: { isPatient }, ...budget })
    )
    requireClean(report, 40)
  })

  test("a nightly Reconcile ships the charges that were paid meanwhile, and reports those that it cannot read", async () => {
    const reconcile = Effect.gen(function* () {
      const { charges } = yield* Orders
      const orders = Array.from(charges, (transactionId) => ({ transactionId, amount, status: "Paid" as const }))
      yield* Stream.runForEach(Reconcile.stream(orders), ({ _tag, order: { transactionId } }) =>
        _tag === "Matched" ? shipOnce(transactionId) : Rehearsed.fact("told", { transactionId })
      )
    })
    const program = Effect.gen(function* () {
      yield* charge
      yield* Effect.delay(reconcile, "8 hours")
    })
    const report = await Effect.runPromise(
      Rehearsal.run(program, { stores: Orders.layer, payAfter: "1 minute", ...budget })
    )
    requireClean(report, 30)
  })
})
