/** The shop's own code on a gateway, a database and a clock in memory: no container, no socket, no waiting. */
import { assert, it } from "@effect/vitest"
import { ConfigProvider, DateTime, Effect, Layer, Option, Stream } from "effect"
import { TestClock } from "effect/testing"
import { Money, PixKey } from "effect-pix"
import { NodeSqlite } from "effect-pix/node"
import { PayoutQueue } from "effect-pix/payouts"
import { Fault, Sandbox } from "effect-pix/sandbox"
import { Webhook, WebhookClient } from "effect-pix/webhook"
import { jobs } from "../src/nightly.ts"
import { chargeFor, create, find } from "../src/orders.ts"
import { createShop } from "../src/tables.ts"
import { webhook } from "../src/webhook.ts"

const shop = webhook.pipe(
  Layer.provideMerge(PayoutQueue.layer()),
  Layer.provide(Layer.effectDiscard(createShop)),
  Layer.provideMerge([NodeSqlite.layer({ filename: ":memory:" }), Sandbox.layerPayments]),
  Layer.provideMerge(ConfigProvider.layer(ConfigProvider.fromUnknown({ WEBHOOK_SECRET: "open-sesame" })))
)

const placed = Effect.fn("placed")(function* (share: number) {
  yield* create({
    id: "42",
    total: Money.centavos(5000),
    share: Money.centavos(share),
    customer: { name: "Maria Silva", email: "maria@example.com" },
    seller: PixKey.email("seller@example.com")
  })
  return yield* Effect.flatMap(find("42"), Effect.fromOption)
})

/** The payer pays the order's charge. */
const pay = Effect.gen(function* () {
  const answer = yield* chargeFor(yield* placed(4000))
  assert(answer._tag === "Renewed")
  yield* Sandbox.use(({ markPaid }) => markPaid(answer.charge.transactionId))
  return answer.charge.transactionId
})

const delivered = Effect.fn("delivered")(function* (transactionId: string) {
  const { answer } = yield* Webhook
  const body = JSON.stringify({ transactionId, status: "Paid" })
  const { status } = yield* answer(
    new Request("https://shop.example/webhooks/pix/open-sesame", { method: "POST", body })
  )
  assert.strictEqual(status, 200)
  yield* WebhookClient.use(({ idle }) => Sandbox.patiently(idle))
})

const state = Effect.map(find("42"), (order) => Option.getOrUndefined(order)?.state)

/** Sets the clock before the layers are built, which then wait for times after it. */
const startingAt =
  (time: string) =>
  <A, E, R>(test: Effect.Effect<A, E, R>) =>
    Effect.andThen(TestClock.setTime(DateTime.toEpochMillis(DateTime.makeUnsafe(time))), test)

it.effect("two presses of the button are one charge", () =>
  Effect.gen(function* () {
    const order = yield* placed(4000)
    yield* Effect.all([chargeFor(order), chargeFor(order)], { concurrency: "unbounded" })
    const again = yield* chargeFor(yield* Effect.flatMap(find("42"), Effect.fromOption))
    assert.strictEqual(again._tag, "Reuse")
    assert.lengthOf(yield* Sandbox.use(({ transactions }) => transactions), 1)
  }).pipe(Effect.provide(shop))
)

it.effect("a delivery twice is one payout, though the gateway's answer is lost", () =>
  Effect.gen(function* () {
    const sandbox = yield* Sandbox
    const queue = yield* PayoutQueue
    // Executed, and never answered: the client waits and asks again, so the clock has to move.
    yield* sandbox.fault("requestWithdrawal", Fault.silence({ executed: true }))
    const id = yield* pay
    yield* delivered(id)
    yield* delivered(id)
    assert.strictEqual(yield* state, "paid")
    const payout = yield* Sandbox.patiently(queue.await("order/42"))
    assert.strictEqual(payout.state, "posted")
    assert.lengthOf(yield* sandbox.withdrawals, 1)
  }).pipe(Effect.provide(shop))
)

it.effect("a share that is too small does not undo that the order is paid", () =>
  Effect.gen(function* () {
    const answer = yield* chargeFor(yield* placed(600))
    assert(answer._tag === "Renewed")
    yield* Sandbox.use(({ markPaid }) => markPaid(answer.charge.transactionId))
    yield* delivered(answer.charge.transactionId)
    assert.strictEqual(yield* state, "paid")
    assert.isEmpty(yield* PayoutQueue.use((queue) => Stream.runCollect(queue.list())))
  }).pipe(Effect.provide(shop))
)

it.effect("a payment whose delivery was lost is found within the hour", () =>
  Effect.gen(function* () {
    yield* pay
    assert.strictEqual(yield* state, "open")
    yield* TestClock.adjust("1 hour")
    yield* WebhookClient.use(({ idle }) => Sandbox.patiently(idle))
    assert.strictEqual(yield* state, "paid")
  }).pipe(Effect.provide(Layer.provideMerge(jobs, shop)))
)

it.effect("a refund that nobody told is found at São Paulo's midnight", () =>
  Effect.gen(function* () {
    const id = yield* pay
    yield* delivered(id)
    yield* Sandbox.use(({ refund }) => refund(id))
    assert.strictEqual(yield* state, "paid")
    yield* TestClock.adjust("30 seconds")
    yield* WebhookClient.use(({ idle }) => Sandbox.patiently(idle))
    assert.strictEqual(yield* state, "refunded")
  }).pipe(Effect.provide(Layer.provideMerge(jobs, shop)), startingAt("1970-01-01T23:59:30-03:00"))
)
