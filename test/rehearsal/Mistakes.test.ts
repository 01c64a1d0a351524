/**
 * Mistakes that teams make in payment programs, each in the schedule that shows it, and the same program without it: in that schedule, or
 * in all in `npm run full` and `soak`.
 */
import { assert, describe, test } from "@effect/vitest"
import { DateTime, type Duration, Effect, Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { Payments, type PaymentsClient, Rehearsed, TransactionWait } from "effect-pix"
import { PayoutQueue } from "effect-pix/payouts"
import { Rehearsal, type RehearsalOptions, type RuleName, Sandbox } from "effect-pix/sandbox"
import { isWhole, requireClean } from "../support/rehearsals.ts"
import {
  charge,
  declare,
  invoice,
  isMarked,
  isPaid,
  mark,
  Marks,
  meanwhile,
  owed,
  pay,
  receive,
  request,
  ship,
  sqlite
} from "./programs.ts"

type Store = Marks | SqlClient.SqlClient

/** A table of one open invoice, an outbox, and marks. */
const stores = Layer.effectDiscard(
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`CREATE TABLE invoices (reference TEXT, state TEXT, leased INTEGER, attempts INTEGER)`
    yield* sql`INSERT INTO invoices VALUES ('invoice-1', 'open', 0, 0)`
    yield* sql`CREATE TABLE outbox (reference TEXT)`
  })
).pipe(Layer.provideMerge(sqlite), Layer.merge(Marks.layer))

/** Asks twice under one key. Whether it remembers a doubt, also after a death, is `remembers`. */
const payTwice = (remembers: boolean) =>
  Effect.gen(function* () {
    yield* owed
    const ask = Effect.gen(function* () {
      const hasAsked = yield* isMarked(invoice)
      yield* mark(invoice)
      yield* Effect.yieldNow
      return yield* pay(invoice, remembers && hasAsked ? "Unknown" : "None")
    })
    const first = yield* Effect.result(ask)
    const isDoubtful = first._tag === "Failure" && first.failure.outcome === "Unknown"
    const second = isDoubtful ? yield* Effect.result(ask) : first
    if (second._tag === "Success") return yield* declare("paid")
    yield* declare(remembers && second.failure.outcome === "Unknown" ? "parked" : "failed")
  })
/** An outbox: what is open is put into it, and sent from it. */
const outbox = (put: "in two steps" | "in one transaction") =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* owed
    const move = Effect.gen(function* () {
      const open = yield* sql`UPDATE invoices SET state = 'moved' WHERE state = 'open' RETURNING reference`
      for (const _ of open) yield* sql`INSERT INTO outbox VALUES (${invoice})`
    })
    yield* put === "in two steps" ? move : sql.withTransaction(move)
    for (const _ of yield* sql`SELECT reference FROM outbox`) yield* Effect.andThen(pay(), sql`DELETE FROM outbox`)
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
        // What the gateway recorded as failed is answered so for ever.
        const end = yield* pay(name(attempts)).pipe(
          Effect.as("paid"),
          Effect.catchTag("WithdrawalFailed", () => Effect.as(declare("failed"), "failed"))
        )
        yield* sql`UPDATE invoices SET state = ${end}`
      }
      return (yield* sql`SELECT reference FROM invoices WHERE state = 'open'`).length === 0
    })
    const orElse = Effect.orElseSucceed(take, () => false)
    yield* Effect.repeat(orElse, { schedule: Schedule.spaced("1 minute"), until: (isDone) => isDone })
  })

/** Waits for the end of a charge, and tells a person where it is not paid. */
const sell = <E>(deliver: (id: string) => Effect.Effect<unknown, E, Payments | Marks>) =>
  Effect.gen(function* () {
    const id = yield* charge
    const { enStatusTransaction } = yield* TransactionWait.final(id, { deadline: "1 day" })
    if (enStatusTransaction !== "Paid") return yield* Rehearsed.fact("told", { transactionId: id })
    if (!(yield* isMarked(id))) yield* deliver(id)
  })
/** Pays by the queue, and says what it says. */
const payByQueue = (horizon: Duration.Input) =>
  Effect.gen(function* () {
    yield* owed
    const queue = yield* PayoutQueue
    yield* queue.submit({ reference: invoice, ...request })
    const { state } = yield* queue.await(invoice)
    yield* declare(state === "posted" ? "paid" : state === "refused" ? "failed" : "parked")
  }).pipe(Effect.provide(PayoutQueue.layer({ horizon })))
/** Ships for the price of the order. */
const shipFor = (transactionId: string) =>
  Rehearsed.fact("shipped", { transactionId, key: transactionId, amount: request.amount })
const paidFor = (id: string) =>
  Payments.use((payments) => Effect.map(payments.getTransaction(id), ({ value }) => value))
/** Pays a deposit back: by its webhook, and by a sweep for what the webhook missed. */
const payBack = (referenceOfSweep: string) =>
  Effect.gen(function* () {
    const back = Effect.fnUntraced(function* (reference: string) {
      if (yield* isMarked("back")) return
      yield* owed
      yield* pay(reference)
      yield* mark("back")
      yield* Effect.yieldNow
    })
    yield* receive((_, status) => (status === "Paid" ? back("back-42") : Effect.void))
    const id = yield* charge
    const sweep = Effect.flatMap(isPaid(id), (yes) => (yes ? back(referenceOfSweep) : Effect.void))
    yield* Effect.repeat(Effect.ignore(Effect.delay(sweep, "1 hour")), Schedule.recurs(10))
    if (!(yield* isMarked("back"))) yield* declare("parked")
  })

const doubt = "call 1 requestWithdrawal: executed, answer lost, each request"

const selling = { payAfter: "1 minute" } as const

/** A program with a mistake, the rule that it breaks in a schedule, and the program without it. */
interface Mistake {
  readonly name: string
  readonly rule: RuleName
  readonly schedule: string
  /** The schedule of the corrected program, where it has another name. */
  readonly corrected?: string
  readonly options?: Omit<RehearsalOptions<never>, "stores">
  /** What others do on the gateway. */
  readonly around?: Layer.Layer<never, never, Sandbox>
  readonly mistaken: Effect.Effect<unknown, unknown, Payments | PaymentsClient | Store>
  readonly mended: Effect.Effect<unknown, unknown, Payments | PaymentsClient | Store>
}

const mistakes: ReadonlyArray<Mistake> = [
  {
    name: "a doubt that is forgotten when the key is asked for again",
    rule: "told-not-executed-but-executed",
    schedule: `${doubt}, then each later call under its key refused, request`,
    mistaken: payTwice(false),
    mended: payTwice(true)
  },
  {
    name: "an outbox that is filled in two steps",
    rule: "owed-not-paid",
    schedule: "step 2 before INSERT outbox: death",
    corrected: "step 3 before DELETE outbox: death",
    mistaken: outbox("in two steps"),
    mended: outbox("in one transaction")
  },
  {
    name: "a key with the number of the attempt, and two workers",
    rule: "paid-twice",
    schedule: "call 1 requestWithdrawal: its process stands still before it is sent",
    options: { processes: 2 },
    mistaken: worker((attempt) => `${invoice}/${attempt}`),
    mended: worker(() => invoice)
  },
  {
    name: "goods that are marked as shipped before they are",
    rule: "not-shipped",
    schedule: "fact 1 shipped: death before it",
    options: selling,
    mistaken: sell((id) => Effect.all([mark(id), ship(id)])),
    mended: sell((id) => Effect.andThen(ship(id, id), mark(id)))
  },
  {
    name: "goods that are shipped without a key, and marked after that",
    rule: "shipped-twice",
    schedule: "fact 1 shipped: death after it",
    options: selling,
    mistaken: sell((id) => Effect.all([ship(id), mark(id)])),
    mended: sell((id) => Effect.all([ship(id, id), mark(id)]))
  },
  {
    name: "a payout that is in the books before it is asked for",
    rule: "told-done-but-absent",
    schedule: "call 1 requestWithdrawal: refused, balance",
    mistaken: Effect.all([owed, declare("paid"), pay()]),
    mended: Effect.all([owed, pay(), declare("paid")])
  },
  {
    name: "goods of a charge that another amount was paid for",
    rule: "amount-differs",
    schedule: "call 1 createTransaction: the payer pays less",
    options: selling,
    mistaken: sell((id) => Effect.andThen(shipFor(id), mark(id))),
    mended: sell((id) =>
      Effect.flatMap(paidFor(id), (paid) =>
        paid === request.amount ? Effect.andThen(shipFor(id), mark(id)) : Rehearsed.fact("told", { transactionId: id })
      )
    )
  },
  {
    name: "goods that are shipped long after the lookup of their charge",
    rule: "shipped-unpaid",
    schedule: "call 17 getTransaction: the charge is refunded after it",
    options: selling,
    mistaken: sell((id) => Effect.all([Effect.sleep("30 minutes"), ship(id, id), mark(id)])),
    mended: sell((id) =>
      Effect.andThen(
        Effect.sleep("30 minutes"),
        Effect.flatMap(isPaid(id), (yes) => (yes ? Effect.andThen(ship(id, id), mark(id)) : Effect.void))
      )
    )
  },
  {
    name: "a payout that is repeated for longer than the gateway knows its key",
    rule: "paid-twice",
    schedule: "call 1 requestWithdrawal: an outage begins, executed, answer lost",
    around: meanwhile(Sandbox.use(({ forgetKeys }) => Effect.delay(forgetKeys, "20 hours"))),
    mistaken: payByQueue("3 days"),
    mended: payByQueue("12 hours")
  },
  {
    name: "a deposit that the webhook and the sweep pay back under two keys",
    rule: "paid-twice",
    schedule: "call 2 requestWithdrawal: death after it was executed, and webhook 1 is not repeated",
    options: selling,
    mistaken: payBack("sweep-42"),
    mended: payBack("back-42")
  }
]

describe("a rehearsal names the mistake of", () => {
  for (const { around, corrected, mended, mistaken, name, options, rule, schedule } of mistakes)
    test(`${name}: ${rule}, and finds nothing in the corrected program`, async () => {
      const world = around === undefined ? stores : Layer.merge(stores, around)
      const play = (program: Mistake["mended"], played: { readonly only?: string }) =>
        Effect.runPromise(Rehearsal.run(program, { ...options, stores: world, ...played }))
      const { findings, undecided } = await play(mistaken, { only: schedule })
      assert.include(
        findings.map((finding) => finding.rule),
        rule
      )
      assert.deepStrictEqual(undecided, [])
      const twin = await play(mended, isWhole ? {} : { only: corrected ?? schedule })
      requireClean(twin, isWhole ? 10 : 1)
      assert.isUndefined(twin.rules.find((checked) => checked.rule === rule)?.notChecked)
    })
})
