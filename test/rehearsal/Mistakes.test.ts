/**
 * Mistakes that teams make in payment programs, each in the schedule that shows it, and the same program without it: in that schedule, or
 * in all in `npm run full` and `soak`.
 */
import { assert, describe, test } from "@effect/vitest"
import { DateTime, type Duration, Effect, Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { Payments, type PaymentsClient, Rehearsed, TransactionWait, type WithdrawalLookup } from "effect-pix"
import { PayoutQueue } from "effect-pix/payouts"
import { Rehearsal, type RehearsalOptions, type RuleName, Sandbox } from "effect-pix/sandbox"
import { isWhole, requireClean } from "../support/rehearsals.ts"
import * as Life from "./life.ts"
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

const call = "call 1 requestWithdrawal:"
const fails = `${call} the payout fails an hour later`
const returned = `${call} the payout is returned an hour later`
const daily = "refused, limit of the day"
const late = "call 1 createTransaction: the payer pays after 26 hours, or when another charge was made"

type Program<S> = Effect.Effect<unknown, unknown, Payments | PaymentsClient | WithdrawalLookup | S>
/** The options of a row, and the schedule of the program without the mistake, where it has another name. */
type Played<S> = RehearsalOptions<S> & { readonly without?: string }
/** A mistake, the rule that names it, a schedule that shows it, the program with it and without it, and how they are played. */
type Mistake<S> = readonly [
  mistake: string,
  rule: RuleName,
  schedule: string,
  with_: Program<S>,
  without: Program<S>,
  played?: Played<S>
]

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

const selling = { payAfter: "1 minute" } as const

const ofPayouts: ReadonlyArray<Mistake<Marks>> = [
  [
    "a payout that its first webhook books",
    "told-done-but-absent",
    fails,
    Life.payAndHear(
      (_, status) => (status === "failure" ? Effect.void : declare("paid")),
      () => Life.listen
    ),
    Life.payAndHear(Life.look)
  ],
  [
    "a payout that is booked as paid when it has ended, however that was",
    "told-done-but-absent",
    returned,
    Life.payOnce((id) => Effect.andThen(Life.endOf(id), declare("paid"))),
    Life.payOnce(Life.bookEnd)
  ],
  [
    "a payout whose end only a webhook tells",
    "owed-not-paid",
    `${fails}, and its webhook never comes`,
    Life.payAndHear(Life.look, () => Life.listen),
    Life.payAndHear(Life.look)
  ],
  [
    "a payout that is made again before the first has failed",
    "paid-twice",
    `${call} the payout arrives 20 hours later`,
    Life.payOnce((id) =>
      Effect.flatMap(Effect.delay(Life.meaningOf(id), "30 minutes"), (meaning) =>
        meaning === "paid" ? declare("paid") : Life.replace
      )
    ),
    Life.payOnce((id) => Effect.flatMap(Life.endOf(id), Life.replaceLost))
  ],
  [
    "a payout that is made again by the word of a webhook",
    "paid-twice",
    `${call} a forged webhook says that the payout failed`,
    Life.payAndHear((_, status) => (status === "failure" ? Life.replace : Effect.void)),
    Life.payAndHear(
      (id) => Effect.flatMap(Life.meaningOf(id), Life.replaceLost),
      (id) => Effect.flatMap(Life.endOf(id), Life.replaceLost)
    )
  ],
  [
    "a payout that is booked by the word of a webhook",
    "told-done-but-absent",
    `${call} a forged webhook says that the payout arrived, which fails an hour later`,
    Life.payAndHear(
      (_, status) => (status === "successful" ? declare("paid") : Effect.void),
      () => Life.listen
    ),
    Life.payAndHear(Life.look)
  ]
]

const ofAnswers: ReadonlyArray<Mistake<Marks>> = [
  [
    "a payout that is recorded as failed, and dropped",
    "owed-not-paid",
    `${call} recorded as failed at once`,
    Life.onFailure(Effect.void),
    Life.onFailure(Life.ask(`${invoice}/2`))
  ],
  [
    "a limit that lasts for longer than the program asks",
    "owed-not-paid",
    `${call} each payout from now on ${daily}`,
    Life.onLimit(Effect.ignore(Life.askAgain(3))),
    Life.onLimit(Life.askAgain(3))
  ],
  [
    "a limit that is met by two halves, of which one is paid",
    "amount-differs",
    `${call} ${daily}`,
    Life.onLimit(Effect.all([Life.payHalf("1"), Effect.ignore(Life.payHalf("2"))])),
    Life.onLimit(Life.askAgain(300))
  ],
  [
    "a key that has the day on which a limit is waited for",
    "paid-twice",
    `${call} executed, answer lost, each request, then each later call under its key ${daily}`,
    Life.daily((day) => `${invoice}/${day}`),
    Life.daily(() => invoice)
  ]
]

const ofCharges: ReadonlyArray<Mistake<Marks>> = [
  [
    "goods that go out once for two charges that are paid",
    "not-shipped",
    late,
    Life.shop({ onPaid: Life.shipOrder }),
    Life.shop({ onPaid: Life.shipOnce })
  ],
  [
    "a charge that is forgotten when it has lapsed, and is paid",
    "not-shipped",
    late,
    Life.shop({ onPaid: Life.shipOnce, knows: Life.hasNotLapsed, isSecond: false }),
    Life.shop({ onPaid: Life.shipOnce, isSecond: false })
  ]
]

const refunding: ReadonlyArray<Mistake<Marks>> = [
  [
    "goods that went out, and whose money is paid back too",
    "paid-twice",
    late,
    Life.shop({ onPaid: Life.shipOrPayBack({ both: true }) }),
    Life.shop({ onPaid: Life.shipOrPayBack({ both: false }) })
  ],
  [
    "goods that are marked before they go out, of an order whose seller is paid",
    "not-shipped",
    "fact 1 shipped: death before it",
    Life.shop({ onPaid: Life.shipAndPaySeller({ markedFirst: true }) }),
    Life.shop({ onPaid: Life.shipAndPaySeller({ markedFirst: false }) })
  ]
]

const ofDoubts: ReadonlyArray<Mistake<Marks>> = [
  [
    "a conflict that is taken for success",
    "told-done-but-absent",
    `${call} refused, conflict`,
    Life.tell((error) => (error._tag === "IdempotencyConflict" ? declare("paid") : declare("parked"))),
    Life.tell(() => declare("parked"))
  ],
  [
    "a doubt that nobody hears of",
    "owed-not-paid",
    `${call} answered 500, each request`,
    Life.tell(({ outcome }) => (outcome === "Unknown" ? Effect.void : declare("failed"))),
    Life.tell(({ outcome }) => declare(outcome === "Unknown" ? "parked" : "failed"))
  ],
  [
    "a payout that is marked as sent before it is sent",
    "owed-not-paid",
    `${call} death before it is sent`,
    Life.onceMarked(Life.tell(() => declare("parked"))),
    Life.tell(() => declare("parked"))
  ]
]

const doubt = "call 1 requestWithdrawal: executed, answer lost, each request"
const ofStores: ReadonlyArray<Mistake<Marks | SqlClient.SqlClient>> = [
  [
    "a doubt that is forgotten when the key is asked for again",
    "told-not-executed-but-executed",
    `${doubt}, then each later call under its key refused, request`,
    payTwice(false),
    payTwice(true)
  ],
  [
    "an outbox that is filled in two steps",
    "owed-not-paid",
    "step 2 before INSERT outbox: death",
    outbox("in two steps"),
    outbox("in one transaction"),
    { without: "step 3 before DELETE outbox: death" }
  ],
  [
    "a key with the number of the attempt, and two workers",
    "paid-twice",
    "call 1 requestWithdrawal: its process stands still before it is sent",
    worker((attempt) => `${invoice}/${attempt}`),
    worker(() => invoice),
    { processes: 2 }
  ],
  [
    "goods that are shipped without a key, and marked after that",
    "shipped-twice",
    "fact 1 shipped: death after it",
    sell((id) => Effect.all([ship(id), mark(id)])),
    sell((id) => Effect.all([ship(id, id), mark(id)])),
    selling
  ],
  [
    "goods of a charge that another amount was paid for",
    "amount-differs",
    "call 1 createTransaction: the payer pays less",
    sell((id) => Effect.andThen(shipFor(id), mark(id))),
    sell((id) =>
      Effect.flatMap(paidFor(id), (paid) =>
        paid === request.amount ? Effect.andThen(shipFor(id), mark(id)) : Rehearsed.fact("told", { transactionId: id })
      )
    ),
    selling
  ],
  [
    "goods that are shipped long after the lookup of their charge",
    "shipped-unpaid",
    "call 17 getTransaction: the charge is refunded after it",
    sell((id) => Effect.all([Effect.sleep("30 minutes"), ship(id, id), mark(id)])),
    sell((id) =>
      Effect.andThen(
        Effect.sleep("30 minutes"),
        Effect.flatMap(isPaid(id), (yes) => (yes ? Effect.andThen(ship(id, id), mark(id)) : Effect.void))
      )
    ),
    selling
  ],
  [
    "a payout that is repeated for longer than the gateway knows its key",
    "paid-twice",
    "call 1 requestWithdrawal: an outage begins, executed, answer lost",
    payByQueue("3 days"),
    payByQueue("12 hours"),
    { stores: Layer.merge(stores, meanwhile(Sandbox.use(({ forgetKeys }) => Effect.delay(forgetKeys, "20 hours")))) }
  ],
  [
    "a deposit that the webhook and the sweep pay back under two keys",
    "paid-twice",
    "call 2 requestWithdrawal: death after it was executed, and webhook 1 is not repeated",
    payBack("sweep-42"),
    payBack("back-42"),
    selling
  ]
]

const seen = { stores: Marks.layer, sandbox: { as: "seen" } } as const
const sold = { stores: Marks.layer, payAfter: "5 minutes", stopAfter: "3 days" } as const

const rehearse = <S>(group: RehearsalOptions<S>, mistakes: ReadonlyArray<Mistake<S>>) => {
  for (const [mistake, rule, schedule, mistaken, mended, { without = schedule, ...options } = {}] of mistakes)
    test(`${mistake}: ${rule}, and nothing without it`, async () => {
      const play = (program: Program<S>, only: string | undefined) =>
        Effect.runPromise(Rehearsal.run(program, { ...group, ...options, only }))
      const { findings, undecided } = await play(mistaken, schedule)
      assert.include(
        findings.map((finding) => finding.rule),
        rule
      )
      assert.deepStrictEqual(undecided, [])
      const twin = await play(mended, isWhole ? undefined : without)
      requireClean(twin, isWhole ? 10 : 1)
      // A shop that pays nobody back undisturbed is not checked for payouts there.
      if (group.payAfter === undefined)
        assert.isUndefined(twin.rules.find((checked) => checked.rule === rule)?.notChecked)
    })
}

describe("a rehearsal finds", () => {
  rehearse(seen, ofPayouts)
  rehearse({ stores: Marks.layer }, [...ofAnswers, ...ofDoubts])
  rehearse(sold, [...ofCharges, ...refunding])
  rehearse({ stores }, ofStores)
})
