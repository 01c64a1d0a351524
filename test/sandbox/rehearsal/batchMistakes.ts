/**
 * Mistakes of programs that pay many, and are started again after a death.
 */
import { Context, Effect, Layer, Random, Schedule } from "effect"
import { IdempotencyKey, Money, Payments, PixKey, Rehearsed } from "effect-pix"
import { NodeSqlite } from "effect-pix/node"
import { PayoutQueue, Payouts } from "effect-pix/payouts"
import { Rehearsal } from "effect-pix/sandbox"
import { budget } from "../../support/rehearsals.ts"
import type { Mistake } from "./Mistake.ts"

interface Invoice {
  readonly reference: string
  readonly amount: Money.Centavos
  readonly pixKey: PixKey.PixKey
  isSent: boolean
}

/** Stands for a table of invoices: it survives a death. */
class Invoices extends Context.Service<Invoices, ReadonlyArray<Invoice>>()("Invoices") {}

const pixKey = PixKey.email("maria@example.com")
const stores = Layer.sync(Invoices, () =>
  ["invoice-1", "invoice-2"].map((reference) => ({ reference, amount: Money.centavos(1000), pixKey, isSent: false }))
)

const later = Schedule.upTo(Schedule.spaced("1 minute"), { times: 2 })

const keyOf = (reference: string) => IdempotencyKey.fromReference("payout", reference)

const itemOf = ({ amount, pixKey, reference }: Invoice) => ({ reference, amount, pixKey })

/** Declares all that is owed, and gives what is not marked as sent. */
const open = Effect.gen(function* () {
  const invoices = yield* Invoices
  for (const invoice of invoices) yield* Rehearsed.owes(invoice)
  return invoices.filter(({ isSent }) => !isSent)
})

/** Sends what is open, one after the other. */
const sendEach = <E, R>(send: (invoice: Invoice, index: number) => Effect.Effect<unknown, E, R>) =>
  Effect.flatMap(open, (invoices) => Effect.forEach(invoices, send, { discard: true }))

const send = Effect.fnUntraced(function* ({ amount, pixKey }: Invoice, idempotencyKey?: string) {
  const payments = yield* Payments
  if (idempotencyKey === undefined) return yield* payments.requestWithdrawal({ amount, pixKey })
  return yield* IdempotencyKey.retry(idempotencyKey, later, (options) =>
    payments.requestWithdrawal({ amount, pixKey }, options)
  )
})

const mark = (invoice: Invoice) =>
  Effect.sync(() => {
    invoice.isSent = true
  })

const right = sendEach((invoice) => Effect.andThen(send(invoice, keyOf(invoice.reference)), mark(invoice)))

/** A table of invoices, and a database. */
const database = Layer.merge(stores, NodeSqlite.layer({ filename: ":memory:" }))

/** Runs a sheet of what is open, and says what waits for a person or for the next run. */
const paySheet = Effect.gen(function* () {
  const { open: inDoubt, parked, refused } = yield* Payouts.run((yield* open).map(itemOf), { allowAlike: true })
  for (const { reference } of refused) yield* Rehearsed.fact("failed", { reference })
  for (const { reference } of [...parked, ...inDoubt]) yield* Rehearsed.fact("parked", { reference })
}).pipe(Effect.provide(PayoutQueue.layer()))

/** A database's transaction that is run again after it could not be serialized, as it may be at its first time. */
const transaction = <A, E, R>(effect: Effect.Effect<A, E, R>) => {
  let runs = 0
  return Effect.retry(
    Effect.tap(effect, () => (++runs === 1 ? Effect.fail("could not serialize access" as const) : Effect.void)),
    { times: 3, while: (error) => error === "could not serialize access" }
  )
}

/** A job that is started every 5 seconds, whether or not the last one has ended. */
const cron = <E, R>(job: Effect.Effect<unknown, E, R>) =>
  Effect.forEach([0, 5, 10], (second) => Effect.delay(job, `${second} seconds`), {
    concurrency: "unbounded",
    discard: true
  })

const twin = Rehearsal.run(right, { stores, ...budget })

export const batchMistakes: ReadonlyArray<Mistake> = [
  {
    name: "an own queue that marks after it has sent, without a key of the row",
    rule: "paid-twice",
    mistaken: Rehearsal.run(
      sendEach((invoice) => Effect.andThen(send(invoice), mark(invoice))),
      { stores }
    ),
    mended: twin
  },
  {
    name: "an own queue that marks before it sends",
    rule: "owed-not-paid",
    mistaken: Rehearsal.run(
      sendEach((invoice) => Effect.andThen(mark(invoice), send(invoice, keyOf(invoice.reference)))),
      { stores }
    ),
    mended: twin
  },
  {
    name: "a key of the row's number in the list of what is open",
    rule: "owed-not-paid",
    mistaken: Rehearsal.run(
      sendEach((invoice, index) => Effect.andThen(send(invoice, keyOf(`row-${index}`)), mark(invoice))),
      { stores }
    ),
    mended: twin
  },
  {
    name: "a sheet that is written anew at each start, with other references",
    rule: "paid-twice",
    mistaken: Rehearsal.run(
      Effect.gen(function* () {
        const invoices = yield* open
        const batch = yield* Random.nextIntBetween(1, 1_000_000)
        yield* Payouts.run(
          invoices.map((invoice) => ({ ...itemOf(invoice), reference: `${batch}/${invoice.reference}` })),
          { allowAlike: true }
        )
      }).pipe(Effect.provide(PayoutQueue.layer())),
      { stores: database }
    ),
    mended: Rehearsal.run(paySheet, { stores: database, ...budget })
  },
  {
    name: "payouts of a run that are left in doubt, put among those that were refused",
    rule: "told-not-executed-but-executed",
    mistaken: Rehearsal.run(
      Effect.gen(function* () {
        const { open: inDoubt, refused } = yield* Payouts.run((yield* open).map(itemOf), { allowAlike: true })
        for (const { reference } of [...refused, ...inDoubt]) yield* Rehearsed.fact("failed", { reference })
      }).pipe(Effect.provide(PayoutQueue.layer())),
      { stores: database }
    ),
    mended: Rehearsal.run(paySheet, { stores: database, ...budget })
  },
  {
    name: "a payout in a transaction of the database that is run again",
    rule: "paid-twice",
    mistaken: Rehearsal.run(
      Effect.suspend(() => transaction(sendEach((invoice) => send(invoice)))),
      { stores }
    ),
    mended: Rehearsal.run(
      Effect.suspend(() => transaction(right)),
      { stores, ...budget }
    )
  },
  {
    name: "a job that is started while the last one still runs",
    rule: "paid-twice",
    mistaken: Rehearsal.run(cron(sendEach((invoice) => Effect.andThen(send(invoice), mark(invoice)))), { stores }),
    mended: Rehearsal.run(cron(right), { stores, ...budget })
  }
]
