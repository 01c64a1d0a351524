/** Each reference at each place where a user may put it, and all that reads it there. */
import { assert, describe } from "@effect/vitest"
import { Context, Effect, Layer, Option, Stream } from "effect"
import {
  GatewayFacts,
  Money,
  OrderCharge,
  Payments,
  PaymentsClient,
  PaymentsPolicy,
  Reconcile,
  TransactionWait
} from "effect-pix"
import { PayoutQueue } from "effect-pix/payouts"
import { Fault, Sandbox, SandboxOptions } from "effect-pix/sandbox"
import { Webhook } from "effect-pix/webhook"
import { TestClock } from "effect/testing"
import { effect } from "../support/effect.ts"
import { memory, payout } from "../support/payoutQueue.ts"

const sandbox = Layer.provide(Sandbox.layerPayments, Layer.succeed(SandboxOptions, { as: "seen", balance: 1_000_000 }))

/** Where a layer is put: around all of it, below the layer of `Payments`, below those over it, or around one call. */
type Place = "program" | "Payments" | "over it" | "call"

const none = Layer.empty

/** A queue and a webhook on a gateway, with a layer at one place. */
const worldWith = (given: Layer.Layer<never, unknown>, place: Place, paid: Array<string> = []) => {
  const at = (here: Place) => (place === here ? given : none)
  const over = Layer.merge(
    PayoutQueue.layer({ poll: "1 second", confirm: true }),
    Webhook.layer({ onPaid: ({ id }) => Effect.sync(() => paid.push(id)) })
  ).pipe(Layer.provide(at("over it")))
  return over.pipe(
    Layer.provideMerge(memory),
    Layer.provideMerge(Layer.fresh(Layer.provide(sandbox, at("Payments")))),
    Layer.provideMerge(at("program"))
  )
}
const build = (given: Layer.Layer<never, unknown>, place: Place, paid?: Array<string>) =>
  Layer.build(worldWith(given, place, paid))

const withdraw = Effect.flatMap(Payments, (payments) => payments.requestWithdrawal({ amount: Money.centavos(1000) }))
const charge = {
  amount: Money.centavos(2500),
  paymentMethod: "PIX",
  customer: { name: "M", email: "m@e.com" }
} as const

describe("a PaymentsPolicy", () => {
  const policy = PaymentsPolicy.layer({ writes: "never", retryReads: PaymentsPolicy.fullJitter({ base: 1, times: 0 }) })
  const asked = (operation: string) =>
    Sandbox.use(({ requests }) =>
      Effect.map(requests, (all) => all.filter((request) => request.operation === operation).length)
    )

  // A queue sends within its own fibers, so a policy around one call is not for it.
  effect.each<readonly [Place, calls: number, lookups: number]>([
    ["program", 1, 1],
    ["Payments", 1, 1],
    ["call", 1, 1],
    ["over it", 3, 1]
  ])("put at %s holds for what is there", function* ([place, calls, lookups]) {
    const context = yield* build(policy, place)
    const around = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      Effect.provideContext(
        place === "call" || place === "program" ? Effect.provide(effect, policy) : effect,
        context
      ) as Effect.Effect<A, unknown>
    const { fault } = Context.get(context, Sandbox)
    yield* fault("requestWithdrawal", Fault.answer(503), { times: Infinity })
    yield* Sandbox.patiently(Effect.flip(around(withdraw)))
    const own = yield* Effect.provideContext(asked("requestWithdrawal"), context)
    assert.strictEqual(own, calls)
    const queue = Context.get(context, PayoutQueue)
    yield* queue.submit(payout("invoice-1"))
    yield* TestClock.adjust("20 seconds")
    const marks = (yield* queue.history("invoice-1")).filter(({ _tag }) => _tag === "Marked").length
    const sent = (yield* Effect.provideContext(asked("requestWithdrawal"), context)) - own
    // A mark is one request, whatever the policy is.
    assert.strictEqual(sent, marks)
    yield* fault("getTransaction", Fault.answer(503), { times: Infinity })
    const answer = Context.get(context, Webhook).answer(
      new Request("https://shop.example", { method: "POST", body: `{"transactionId":"${"a".repeat(26)}"}` })
    )
    yield* Sandbox.patiently(around(answer))
    const reads = yield* Effect.provideContext(asked("getTransaction"), context)
    assert.strictEqual(reads % 4 === 0 && reads / 4 === lookups, true, `${reads} lookups`)
  })
})

describe("GatewayFacts", () => {
  const facts = GatewayFacts.layer({
    statuses: { charge: { paid: ["Liquidada"] }, payout: { failed: ["Estornado"], paid: ["Liquidada"] } },
    refusals: [{ cause: "Unknown", phrases: ["saldo insuficiente"] }],
    acceptValue: () => true
  })

  effect.each<Place>(["program", "Payments"])(
    "put at %s hold for calls, waits, orders, reconciliation, a webhook, the queue and its lookups",
    function* (place) {
      const paid: Array<string> = []
      const context = yield* build(facts, place, paid)
      const { fault, markPaid } = Context.get(context, Sandbox)
      const inside = Effect.provideContext(
        Effect.gen(function* () {
          const { createTransaction } = yield* Payments
          const { id, pix } = yield* createTransaction(charge)
          yield* markPaid(id)
          const detail = { id: 1, value: charge.amount, transactionId: id, enStatusTransaction: "LIQUIDADA" }
          yield* fault("getTransaction", Fault.answer(200, { body: JSON.stringify(detail) }), { times: Infinity })
          const waited = yield* TransactionWait.final(id)
          const stored = { number: 1, transactionId: id, amount: charge.amount, pix, earlier: [] }
          const order = yield* OrderCharge.get({ reference: "o", request: charge, last: stored })
          const books = [{ transactionId: id, amount: charge.amount, status: "Paid" }]
          const [found] = yield* Stream.runCollect(Reconcile.stream(books))
          const webhook = yield* Webhook
          yield* webhook.check(id)
          yield* fault("requestWithdrawal", Fault.refusal(422, "Saldo insuficiente"))
          const refused = yield* Effect.flip(withdraw)
          const queue = yield* PayoutQueue
          yield* fault("requestWithdrawal", Fault.refusal(422, "Saldo insuficiente"))
          yield* queue.submit(payout("invoice-1"))
          yield* TestClock.adjust("500 millis")
          const doubted = yield* queue.status("invoice-1")
          yield* queue.resume("invoice-1")
          yield* TestClock.adjust("30 seconds")
          const { idempotencyKey } = Option.getOrThrow(doubted)
          const record = { id: 1, idempotencyKey, value: 10, enTransaction: "ESTORNADO" }
          yield* fault("getWithdrawal", Fault.answer(200, { body: JSON.stringify(record) }), { times: Infinity })
          yield* TestClock.adjust("1 hour")
          const ended = yield* queue.status("invoice-1")
          return [
            waited.enStatusTransaction,
            order._tag,
            found?._tag,
            paid.length,
            refused._tag,
            Option.getOrThrow(doubted).state,
            Option.getOrThrow(ended).state
          ]
        }),
        context
      )
      assert.deepStrictEqual(yield* inside, ["LIQUIDADA", "Paid", "Matched", 1, "OutcomeUnknown", "parked", "failed"])
    }
  )

  effect("put below the queue or the webhook alone fail their layer, since they would hold nowhere", function* () {
    const error = yield* Effect.flip(build(facts, "over it"))
    assert.include(String(error), "GatewayFacts must be provided to the layer of Payments")
  })

  effect("around a call change nothing that the client was built with", function* () {
    const context = yield* build(facts, "Payments")
    const { fault } = Context.get(context, Sandbox)
    yield* fault("requestWithdrawal", Fault.refusal(422, "Saldo insuficiente"))
    const error = yield* Effect.flip(
      Effect.provideContext(
        Effect.provide(
          withdraw,
          GatewayFacts.layer({ refusals: [{ cause: "RequestRejected", phrases: ["saldo insuficiente"] }] })
        ),
        context
      )
    )
    assert.strictEqual(Object(error)._tag, "OutcomeUnknown")
  })

  effect("around a call or beside the layer of Payments refuse the call of a client without facts", function* () {
    const client = Layer.fresh(sandbox)
    const built = yield* Layer.build(client)
    const look = OrderCharge.get({ reference: "o", request: charge, last: undefined })
    const calls: ReadonlyArray<Effect.Effect<unknown, unknown>> = [
      Effect.provide(withdraw, Layer.merge(client, facts)),
      Effect.provide(withdraw, Layer.provideMerge(facts, client)),
      Effect.provideContext(Effect.provide(withdraw, facts), built),
      Effect.provideContext(Effect.provide(look, facts), built)
    ]
    for (const call of calls) {
      const error: unknown = yield* Effect.flip(call)
      assert.deepStrictEqual(
        [Object(error)._tag, Object(error).outcome, Object(error).issues[0].path],
        ["InvalidRequest", "NotSent", "GatewayFacts"]
      )
    }
    yield* Effect.provideContext(Effect.provide(withdraw, GatewayFacts.layer({})), built)
  })

  effect("around a delivery are not those of its lookup", function* () {
    const paid: Array<string> = []
    const context = yield* build(none, "program", paid)
    const { id } = yield* Effect.provideContext(
      Effect.flatMap(Payments, ({ createTransaction }) => createTransaction(charge)),
      context
    )
    yield* Context.get(context, Sandbox).markPaid(id)
    const body = JSON.stringify({ transactionId: id, status: "Paid" })
    const answer = Context.get(context, Webhook).answer(new Request("https://shop.example", { method: "POST", body }))
    const { status } = yield* Effect.provide(answer, facts)
    assert.deepStrictEqual([status, paid], [200, [`${id}:Paid`]])
  })

  effect("hold for a claim that a fiber without the client gives to the queue", function* () {
    const context = yield* build(facts, "Payments")
    const queue = Context.get(context, PayoutQueue)
    yield* queue.submit(payout("invoice-1"))
    yield* TestClock.adjust("5 seconds")
    const { idempotencyKey } = Option.getOrThrow(yield* queue.status("invoice-1"))
    const claimed = yield* queue.hint({ idempotencyKey, status: "Estornado" })
    assert.deepInclude(Option.getOrThrow(claimed), { state: "posted", claimed: "failed" })
  })

  effect.each<readonly [wrong: unknown, ...settings: ReadonlyArray<string>]>([
    ["garbage", "facts"],
    [{ statuses: { charge: { paid: [""] } } }, "statuses.charge.paid.0"],
    [{ statuses: { charge: { paid: "Pago" } } }, "statuses.charge.paid"],
    [{ statuses: { payout: { refunded: [] } } }, "statuses.payout.refunded"],
    [{ statuses: { paid: ["Pago"] } }, "statuses.paid"],
    [{ statuses: { charge: { paid: ["Pago"], closed: ["PAGO"] } } }, "statuses.charge"],
    [{ statuses: { charge: { closed: ["PAID"] } } }, "statuses.charge"],
    [{ statuses: { payout: { open: ["Failure"], paid: ["Successful"] } } }, "statuses.payout"],
    [{ refusal: () => "Unknown", acceptValue: true, deadline: 1 }, "acceptValue", "refusal", "deadline"],
    [{ refusals: [{ cause: "Poor", phrases: ["saldo baixo"] }] }, "refusals.0.cause"],
    [{ refusals: [{ cause: "IdempotencyConflict", phrases: ["saldo baixo"] }] }, "refusals.0.cause"],
    [{ refusals: [{ cause: "Unknown", phrases: [] }] }, "refusals.0.phrases"],
    [
      { refusals: [{ cause: "Unknown", phrases: ["saldo", "saldo baixo", "!?", "R$"] }] },
      ...[0, 2, 3].map((at) => `refusals.0.phrases.${at}`)
    ],
    [
      { refusals: [{ cause: "Unknown", phrases: ["a b"], statuses: [422, 401, 500, 200] }] },
      ...[1, 2, 3].map((at) => `refusals.0.statuses.${at}`)
    ],
    [{ refusals: [{ cause: "Unknown", phrases: ["a b"], waitFor: "1 hour" }] }, "refusals.0"],
    [{ refusals: [{ cause: "LimitReached", phrases: ["a b"], waitFor: "today" }] }, "refusals.0.waitFor"],
    [{ refusals: [{ cause: "Unknown", phrases: ["a b"], phrase: "c d" }] }, "refusals.0.phrase"]
  ])("that are %j fail their layer and that of Payments, by name", function* ([wrong, ...settings]) {
    const given = wrong as Parameters<typeof GatewayFacts.layer>[0] // as from JavaScript
    const own = yield* Effect.flip(Effect.scoped(Layer.build(GatewayFacts.layer(given))))
    const names = own.settings.map(({ setting }) => setting)
    assert.sameMembers(names, [...settings])
    const raw = Layer.succeed(GatewayFacts, given as GatewayFacts) // as from JavaScript
    const ofClient = yield* Effect.flip(Effect.scoped(Layer.build(Layer.provide(PaymentsClient.layerMock, raw))))
    assert.sameMembers(
      ofClient.settings.map(({ setting }) => setting),
      settings.map((setting) => `GatewayFacts.${setting}`)
    )
    assert.throws(() => GatewayFacts.make(given))
  })
})
