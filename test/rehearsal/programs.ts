/** The parts of programs under rehearsal: what they remember, owe, pay, charge, ship and declare. */
import { Context, Effect, Layer, Schedule } from "effect"
import { IdempotencyKey, Money, Payments, PixKey, Rehearsed } from "effect-pix"
import { NodeSqlite } from "effect-pix/node"
import type { Sandbox } from "effect-pix/sandbox"

/** Stands for a table: it survives a death. */
export class Marks extends Context.Service<Marks, Set<string>>()("Marks") {
  static readonly layer = Layer.sync(Marks, () => new Set<string>())
}
export const isMarked = (name: string) => Marks.use((marks) => Effect.sync(() => marks.has(name)))
export const mark = (name: string) => Marks.use((marks) => Effect.sync(() => void marks.add(name)))

export const sqlite = NodeSqlite.layer({ filename: ":memory:" })
/** What others do on the gateway while a program runs, as a store. */
export const meanwhile = <E>(act: Effect.Effect<unknown, E, Sandbox>) => Layer.effectDiscard(Effect.forkScoped(act))
const later = Schedule.upTo(Schedule.spaced("1 minute"), { times: 3 })

/** The invoice of most programs. */
export const invoice = "invoice-1"
export const request = { amount: Money.centavos(2500), pixKey: PixKey.email("maria@example.com") }
const keyOf = (reference: string) => IdempotencyKey.fromReference("payout", reference)

/** Asks for a payout once, under the key of a reference. */
export const pay = (reference = invoice, earlier: "None" | "Unknown" = "None") =>
  Payments.use((payments) => payments.requestWithdrawal(request, { idempotencyKey: keyOf(reference), earlier }))
/** The same under a key that is made for this call. */
export const payUnderNewKey = Payments.use((payments) => payments.requestWithdrawal(request))
/** The same again after a failure, under the key of a reference. */
export const payAgain = (reference = invoice, earlier: "None" | "Unknown" = "None") =>
  Payments.use((payments) =>
    IdempotencyKey.retry({ idempotencyKey: keyOf(reference), earlier }, later, (options) =>
      payments.requestWithdrawal(request, options)
    )
  )

export const owes = (reference: string, amount = 2500) => Rehearsed.owes({ reference, amount })
export const owed = Rehearsed.owes({ reference: invoice, amount: request.amount })
export const declare = (word: "paid" | "failed" | "parked" | "told", reference = invoice) =>
  Rehearsed.fact(word, { reference })

/** Charges for an order, and gives the charge's id. */
export const chargeFor = (order: string) =>
  Payments.use((payments) =>
    Effect.map(
      IdempotencyKey.retry(
        { idempotencyKey: IdempotencyKey.fromReference("order", order), earlier: "None" },
        later,
        (options) =>
          payments.createTransaction(
            { amount: request.amount, paymentMethod: "PIX", customer: { name: "Maria", email: "maria@example.com" } },
            options
          )
      ),
      ({ id }) => id
    )
  )
export const charge = chargeFor("42")
export const isPaid = (id: string) =>
  Payments.use((payments) => payments.getTransaction(id)).pipe(
    Effect.map(({ enStatusTransaction }) => enStatusTransaction === "Paid")
  )
/** Ships. With `key` the carrier ships once for it. */
export const ship = (transactionId: string, key?: string) =>
  Rehearsed.fact("shipped", { transactionId, ...(key !== undefined && { key }) })
/** Hands the transaction and the status of each webhook to a handler, and answers 200 where it succeeds. */
export const receive = <E, R>(handle: (id: string, status: string) => Effect.Effect<unknown, E, R>) =>
  Rehearsed.receive((delivery) =>
    Effect.gen(function* () {
      const { status, transactionId } = yield* Effect.promise(() => delivery.json())
      yield* handle(transactionId, status)
      return new Response()
    })
  )

export const all = (...steps: ReadonlyArray<Effect.Effect<unknown, unknown, Payments>>) =>
  Effect.all(steps, { discard: true })
/** Pays, and never ends. */
export const worker = all(Effect.ignore(payUnderNewKey), Effect.never)
/** Ships after the charge has lapsed, for 25 centavos. */
export const shipped = Effect.gen(function* () {
  const id = yield* charge
  yield* Effect.sleep("30 hours")
  yield* Payments.use((payments) => payments.listTransactions())
  yield* Rehearsed.fact("shipped", { transactionId: id, amount: 25 })
})
