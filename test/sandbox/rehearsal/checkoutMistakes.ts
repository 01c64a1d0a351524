/**
 * Mistakes of programs that charge, and ship what is paid.
 */
import { Context, Deferred, Effect, Layer, Schedule } from "effect"
import { IdempotencyKey, Money, Payments, Rehearsed, TransactionWait } from "effect-pix"
import { Rehearsal } from "effect-pix/sandbox"
import { budget } from "../../support/rehearsals.ts"
import type { Mistake } from "./Mistake.ts"

/** Stands for a table of orders: it survives a death. */
interface Table {
  readonly charges: Set<string>
  readonly shipped: Set<string>
  readonly seen: Set<string>
}

class Orders extends Context.Service<Orders, Table>()("Orders") {
  static readonly layer = Layer.sync(Orders, () => ({
    charges: new Set<string>(),
    shipped: new Set<string>(),
    seen: new Set<string>()
  }))
}

const customer = { name: "Maria Silva", email: "maria@example.com" }

const later = Schedule.upTo(Schedule.spaced("1 minute"), { times: 2 })

const charge = Effect.fnUntraced(function* (order: string, amount: Money.Centavos = Money.centavos(2500)) {
  const payments = yield* Payments
  const orders = yield* Orders
  const key = IdempotencyKey.fromReference("order", order)
  const { id } = yield* IdempotencyKey.retry(key, later, (options) =>
    payments.createTransaction({ amount, paymentMethod: "PIX", customer }, options)
  )
  orders.charges.add(id)
  return id
})

const ship = (transactionId: string) => Rehearsed.fact("shipped", { transactionId })

/** Ships, unless the table says that it was. */
const shipOnce = Effect.fnUntraced(function* (transactionId: string) {
  const { shipped } = yield* Orders
  if (shipped.has(transactionId)) return
  shipped.add(transactionId)
  yield* ship(transactionId)
})

const isPaid = Effect.fnUntraced(function* (transactionId: string) {
  const payments = yield* Payments
  const { enStatusTransaction } = yield* payments.getTransaction(transactionId)
  return enStatusTransaction === "Paid"
})

const lookUp = Effect.fnUntraced(function* (transactionId: string) {
  if (yield* isPaid(transactionId)) yield* shipOnce(transactionId)
})

interface Hint {
  readonly transactionId: string
  readonly status: string
}

/** Answers 200 where the handler succeeded. */
const answer =
  <E, R>(handle: (hint: Hint) => Effect.Effect<unknown, E, R>) =>
  (request: Request) =>
    Effect.gen(function* () {
      const hint = (yield* Effect.promise(() => request.json())) as Hint // the sandbox's own shape
      yield* handle(hint)
      return new Response()
    })

/** Looks up what is not shipped, every ten minutes. */
const sweep = Effect.gen(function* () {
  const { charges, shipped } = yield* Orders
  for (const id of charges) if (!shipped.has(id)) yield* Effect.ignore(lookUp(id))
}).pipe(Effect.repeat(Schedule.spaced("10 minutes")))

/** A shop of one order: it charges, receives webhooks, and sweeps. */
const shop = <E, R, F, S>(
  handle: (hint: Hint) => Effect.Effect<unknown, E, R>,
  meanwhile: Effect.Effect<unknown, F, S>
) =>
  Effect.gen(function* () {
    yield* Rehearsed.receive(answer(handle))
    yield* charge("42")
    yield* meanwhile
  })

const options = { stores: Orders.layer, payAfter: "1 minute", stopAfter: "12 hours" } as const
const right = Rehearsal.run(
  shop(({ transactionId }) => lookUp(transactionId), sweep),
  { ...options, ...budget }
)

const afterCharge = <E, R>(handle: (transactionId: string) => Effect.Effect<unknown, E, R>) =>
  Effect.flatMap(charge("42"), handle)

const payment = { stores: Orders.layer, payAfter: "1 minute" } as const

/** Waits for two hours, looks at the status, and tells a person where the wait is over. */
const waitAndShip = (transactionId: string) =>
  Effect.gen(function* () {
    const { enStatusTransaction } = yield* TransactionWait.final(transactionId, { deadline: "2 hours" })
    if (enStatusTransaction === "Paid") yield* shipOnce(transactionId)
  }).pipe(Effect.catchTag("TimedOut", () => Rehearsed.fact("told", { transactionId })))
const afterWait = Rehearsal.run(afterCharge(waitAndShip), { ...payment, ...budget })

/** Goods that cost R$ 25,00. */
const sell = Effect.fnUntraced(function* (amount: Money.Centavos) {
  const transactionId = yield* charge("42", amount)
  yield* TransactionWait.final(transactionId, { deadline: "2 hours" })
  if (yield* isPaid(transactionId)) yield* Rehearsed.fact("shipped", { transactionId, amount: 2500 })
})

export const checkoutMistakes: ReadonlyArray<Mistake> = [
  {
    name: "goods that go out by the webhook's word",
    rule: "shipped-unpaid",
    mistaken: Rehearsal.run(
      shop(({ status, transactionId }) => (status === "Paid" ? shipOnce(transactionId) : Effect.void), sweep),
      options
    ),
    mended: right
  },
  {
    name: "a webhook that is handled twice",
    rule: "shipped-twice",
    mistaken: Rehearsal.run(
      shop(
        ({ transactionId }) =>
          Effect.flatMap(isPaid(transactionId), (yes) => (yes ? ship(transactionId) : Effect.void)),
        Effect.never
      ),
      options
    ),
    mended: right
  },
  {
    name: "a sweep that does not read the mark of the handler",
    rule: "shipped-twice",
    mistaken: Rehearsal.run(
      shop(
        Effect.fnUntraced(function* ({ transactionId }) {
          const { seen } = yield* Orders
          if (seen.has(transactionId) || !(yield* isPaid(transactionId))) return
          seen.add(transactionId)
          yield* ship(transactionId)
        }),
        sweep
      ),
      options
    ),
    mended: right
  },
  {
    name: "a webhook that is answered before it is handled",
    rule: "not-shipped",
    mistaken: Rehearsal.run(
      shop(({ transactionId }) => Effect.forkDetach(lookUp(transactionId)), Effect.never),
      options
    ),
    mended: right
  },
  {
    name: "a webhook that is marked as handled before it is",
    rule: "not-shipped",
    mistaken: Rehearsal.run(
      shop(
        Effect.fnUntraced(function* ({ transactionId }) {
          const { seen } = yield* Orders
          if (seen.has(transactionId)) return
          seen.add(transactionId)
          yield* lookUp(transactionId)
        }),
        Effect.never
      ),
      options
    ),
    mended: right
  },
  {
    name: "the end of a wait, taken for a payment",
    rule: "shipped-unpaid",
    mistaken: Rehearsal.run(
      afterCharge((id) => Effect.andThen(TransactionWait.final(id, { deadline: "2 hours" }), shipOnce(id))),
      payment
    ),
    mended: afterWait
  },
  {
    name: "goods that go out as soon as there is a charge",
    rule: "shipped-unpaid",
    mistaken: Rehearsal.run(afterCharge(shipOnce), payment),
    mended: afterWait
  },
  {
    name: "a lookup that failed, taken for a charge that is not paid",
    rule: "not-shipped",
    mistaken: Rehearsal.run(
      afterCharge((id) =>
        Effect.forEach(
          ["0 seconds", "45 seconds", "45 seconds"] as const,
          (pause) => Effect.delay(Effect.ignore(lookUp(id)), pause),
          { discard: true }
        )
      ),
      payment
    ),
    mended: afterWait
  },
  {
    name: "a charge in reais for goods in centavos",
    rule: "amount-differs",
    mistaken: Rehearsal.run(sell(Money.centavos(25)), payment),
    mended: Rehearsal.run(sell(Money.fromReais("25.00")), { ...payment, ...budget })
  },
  {
    name: "a shop that waits for the webhook alone",
    rule: "never-ends",
    mistaken: Rehearsal.run(
      Effect.gen(function* () {
        const paid = yield* Deferred.make<void>()
        yield* Rehearsed.receive(
          answer(({ transactionId }) => Effect.andThen(lookUp(transactionId), Deferred.succeed(paid, undefined)))
        )
        yield* charge("42")
        yield* Deferred.await(paid)
      }),
      payment
    ),
    mended: afterWait
  }
]
