/**
 * Mistakes that one fault at one call does not show: a doubt that goes on, an outage, two faults, a death between two steps, a
 * webhook that is half handled, and a second process.
 */
import { Context, DateTime, Effect, Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { IdempotencyKey, Money, Payments, PixKey, Rehearsed, TransactionWait } from "effect-pix"
import { NodeSqlite } from "effect-pix/node"
import { Rehearsal, type RehearsalOptions } from "effect-pix/sandbox"
import { budget } from "../../support/rehearsals.ts"
import type { Mistake } from "./Mistake.ts"

const reference = "invoice-1"
const request = { amount: Money.centavos(2500), pixKey: PixKey.email("maria@example.com") }
const owed = Rehearsed.owes({ reference, amount: request.amount })
const write = (word: "paid" | "failed" | "parked") => Rehearsed.fact(word, { reference })
const keyOf = (name: string) => IdempotencyKey.fromReference("payout", name)

const payUnder = (idempotencyKey: string, options: { readonly earlier?: "Unknown" } = {}) =>
  Payments.use((payments) => payments.requestWithdrawal(request, { idempotencyKey, ...options }))

/** Asks every hour for 27 hours, under a key that is made at each time. */
const payHourly = (name: Effect.Effect<string>) =>
  Effect.gen(function* () {
    yield* owed
    const again = Effect.flatMap(name, (made) => payUnder(keyOf(made)))
    yield* Effect.retry(again, Schedule.upTo(Schedule.spaced("1 hour"), { times: 27 }))
  })

/** Asks once, and writes down what a refusal means. */
const payOnce = (refused: "failed" | "parked") =>
  Effect.gen(function* () {
    yield* owed
    const paid = yield* Effect.result(payUnder(keyOf(reference)))
    if (paid._tag === "Success") return yield* write("paid")
    yield* write(paid.failure.outcome === "Unknown" ? "parked" : refused)
  })

/** Stands for a table: it survives a death. */
class Marks extends Context.Service<Marks, Set<string>>()("Marks") {
  static readonly layer = Layer.sync(Marks, () => new Set<string>())
}
const isMarked = (name: string) => Marks.use((marks) => Effect.sync(() => marks.has(name)))
const mark = (name: string) =>
  Effect.andThen(
    Marks.use((marks) => Effect.sync(() => marks.add(name))),
    Effect.yieldNow
  )

/** Asks twice under one key. Whether it remembers that it has asked before, also after a death, is `remembers`. */
const payTwice = (remembers: boolean) =>
  Effect.gen(function* () {
    yield* owed
    const ask = Effect.gen(function* () {
      const hasAsked = yield* isMarked(reference)
      yield* mark(reference)
      return yield* payUnder(keyOf(reference), remembers && hasAsked ? { earlier: "Unknown" } : {})
    })
    const first = yield* Effect.result(ask)
    const isDoubtful = first._tag === "Failure" && first.failure.outcome === "Unknown"
    const second = isDoubtful ? yield* Effect.result(ask) : first
    if (second._tag === "Success") return yield* write("paid")
    yield* write(second.failure.outcome === "Unknown" ? "parked" : "failed")
  })

const customer = { name: "Maria Silva", email: "maria@example.com" }
const later = Schedule.upTo(Schedule.spaced("1 minute"), { times: 3 })
const charge = Payments.use((payments) =>
  IdempotencyKey.retry(IdempotencyKey.fromReference("order", "42"), later, (options) =>
    payments.createTransaction({ amount: request.amount, paymentMethod: "PIX", customer }, options)
  )
)

const ship = (transactionId: string) => Rehearsed.fact("shipped", { transactionId })
/** The carrier ships once for a key. */
const shipUnderKey = (transactionId: string) => Rehearsed.fact("shipped", { transactionId, key: transactionId })

const sell = <E, R>(deliver: (transactionId: string) => Effect.Effect<unknown, E, R>) =>
  Effect.gen(function* () {
    const { id } = yield* charge
    const { enStatusTransaction } = yield* TransactionWait.final(id, { deadline: "1 day" })
    if (enStatusTransaction !== "Paid") return yield* Rehearsed.fact("told", { transactionId: id })
    if (!(yield* isMarked(id))) yield* deliver(id)
  })

/** A shop that pays a deposit back: by its webhook, and by a sweep for what the webhook missed. */
const payBack = (keyOfSweep: string) =>
  Effect.gen(function* () {
    const back = (name: string) =>
      Effect.gen(function* () {
        if (yield* isMarked("back")) return
        yield* owed
        yield* payUnder(keyOf(name))
        yield* mark("back")
      })
    yield* Rehearsed.receive((delivery) =>
      Effect.gen(function* () {
        const { status } = yield* Effect.promise(() => delivery.json())
        if (status === "Paid") yield* back("back-42")
        return new Response()
      })
    )
    const { id } = yield* charge
    const sweep = Effect.gen(function* () {
      const { enStatusTransaction } = yield* Payments.use((payments) => payments.getTransaction(id))
      if (enStatusTransaction === "Paid") yield* back(keyOfSweep)
    })
    yield* Effect.repeat(Effect.ignore(Effect.delay(sweep, "1 hour")), Schedule.recurs(10))
    if (!(yield* isMarked("back"))) yield* write("parked")
  })

const table = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE invoices (reference TEXT, state TEXT, leased INTEGER, attempts INTEGER)`
  yield* sql`INSERT INTO invoices VALUES (${reference}, 'open', 0, 0)`
  yield* sql`CREATE TABLE outbox (reference TEXT)`
})
const database = Layer.provideMerge(Layer.effectDiscard(table), NodeSqlite.layer({ filename: ":memory:" }))

/** An outbox: what is open is put into it, and sent from it. */
const outbox = (put: "in two steps" | "in one transaction") =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* owed
    const move = Effect.gen(function* () {
      const open = yield* sql`UPDATE invoices SET state = 'moved' WHERE state = 'open' RETURNING reference`
      for (const _ of open) yield* sql`INSERT INTO outbox VALUES (${reference})`
    })
    yield* put === "in two steps" ? move : sql.withTransaction(move)
    for (const _ of yield* sql`SELECT reference FROM outbox`) {
      yield* payUnder(keyOf(reference))
      yield* sql`DELETE FROM outbox`
    }
  })

/** Workers that lease a row for five minutes. The key may have the number of the attempt. */
const worker = (name: (attempt: number) => string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* owed
    const take = Effect.gen(function* () {
      const now = DateTime.toEpochMillis(yield* DateTime.now)
      const leased = yield* sql<{ readonly attempts: number }>`
        UPDATE invoices SET leased = ${now + 300_000}, attempts = attempts + 1
        WHERE state = 'open' AND leased < ${now} RETURNING attempts`
      for (const { attempts } of leased) {
        yield* payUnder(keyOf(name(attempts)))
        yield* sql`UPDATE invoices SET state = 'paid'`
      }
      return (yield* sql`SELECT reference FROM invoices WHERE state = 'open'`).length === 0
    })
    const orElse = Effect.orElseSucceed(take, () => false)
    yield* Effect.repeat(orElse, { schedule: Schedule.spaced("1 minute"), until: (isDone) => isDone })
  })

const today = Effect.map(DateTime.now, (now) => `${reference}/${DateTime.formatIsoDate(now)}`)

/** The mistake is played in the schedule that shows it, and its twin in all. */
const played = (schedule: string) => ({ mistaken: { only: schedule }, mended: budget })

const doubt = played(
  "call 1 requestWithdrawal: executed, answer lost, each request, then each later call under its key refused, request"
)
const outage = played("call 1 requestWithdrawal: an outage begins, executed, answer lost")
const pair = played(
  "call 1 requestWithdrawal: death after it was executed + call 2 requestWithdrawal: refused, credentials"
)
const beforeFact = played("fact 1 shipped: death before it")
const afterFact = played("fact 1 shipped: death after it")
const half = played("call 2 requestWithdrawal: death after it was executed, and webhook 1 is not repeated")
const step = played("step 2 before INSERT outbox: death")
const stall = played("call 1 requestWithdrawal: its process stands still before it is sent")

const shop: RehearsalOptions<Marks> & { readonly stores: Layer.Layer<Marks> } = {
  stores: Marks.layer,
  payAfter: "1 minute",
  within: "3 days"
}

export const faultMistakes: ReadonlyArray<Mistake> = [
  {
    name: "a doubt that is forgotten when the key is asked for again",
    rule: "told-not-executed-but-executed",
    mistaken: Rehearsal.run(payTwice(false), { ...shop, ...doubt.mistaken }),
    mended: Rehearsal.run(payTwice(true), { ...shop, ...doubt.mended })
  },
  {
    name: "a key with the day in it, tried for longer than a day",
    rule: "paid-twice",
    mistaken: Rehearsal.run(payHourly(today), outage.mistaken),
    mended: Rehearsal.run(payHourly(Effect.succeed(reference)), outage.mended)
  },
  {
    name: "a refusal after a restart, taken for one of all requests",
    rule: "told-not-executed-but-executed",
    mistaken: Rehearsal.run(payOnce("failed"), pair.mistaken),
    mended: Rehearsal.run(payOnce("parked"), pair.mended)
  },
  {
    name: "goods that are marked as shipped before they are",
    rule: "not-shipped",
    mistaken: Rehearsal.run(
      sell((id) => Effect.andThen(mark(id), ship(id))),
      { ...shop, ...beforeFact.mistaken }
    ),
    mended: Rehearsal.run(
      sell((id) => Effect.andThen(shipUnderKey(id), mark(id))),
      { ...shop, ...beforeFact.mended }
    )
  },
  {
    name: "goods that are shipped without a key, and marked after that",
    rule: "shipped-twice",
    mistaken: Rehearsal.run(
      sell((id) => Effect.andThen(Effect.andThen(ship(id), Effect.yieldNow), mark(id))),
      { ...shop, ...afterFact.mistaken }
    ),
    mended: Rehearsal.run(
      sell((id) => Effect.andThen(Effect.andThen(shipUnderKey(id), Effect.yieldNow), mark(id))),
      { ...shop, ...afterFact.mended }
    )
  },
  {
    name: "a deposit that the webhook and the sweep pay back under two keys",
    rule: "paid-twice",
    mistaken: Rehearsal.run(payBack("sweep-42"), { ...shop, ...half.mistaken }),
    mended: Rehearsal.run(payBack("back-42"), { ...shop, ...half.mended })
  },
  {
    name: "an outbox that is filled in two steps",
    rule: "owed-not-paid",
    mistaken: Rehearsal.run(outbox("in two steps"), { stores: database, ...step.mistaken }),
    mended: Rehearsal.run(outbox("in one transaction"), { stores: database, ...step.mended })
  },
  {
    name: "a key with the number of the attempt, and two workers",
    rule: "paid-twice",
    mistaken: Rehearsal.run(
      worker((attempt) => `${reference}/${attempt}`),
      { stores: database, processes: 2, ...stall.mistaken }
    ),
    mended: Rehearsal.run(
      worker(() => reference),
      { stores: database, processes: 2, ...stall.mended }
    )
  }
]
