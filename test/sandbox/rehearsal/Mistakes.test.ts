/**
 * Mistakes that teams make in payment programs, each in the schedule that shows it, and the same program without it: in that schedule, or
 * in all in `npm run full` and `soak`.
 */
import { assert, describe, test } from "@effect/vitest"
import { DateTime, Effect, type Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { type Payments, TransactionWait } from "effect-pix"
import type { RehearsalOptions, RuleName } from "effect-pix/sandbox"
import { budget, isWhole, requireClean } from "../../support/rehearsals.ts"
import {
  charge,
  database,
  declare,
  invoice,
  isMarked,
  isPaid,
  mark,
  Marks,
  owed,
  pay,
  playing,
  receive,
  ship,
  shipOnce,
  tell
} from "./programs.ts"

const remembering = { stores: Marks.layer }

/** Asks twice under one key. Whether it remembers that it has asked before, also after a death, is `remembers`. */
const payTwice = (remembers: boolean) =>
  Effect.gen(function* () {
    yield* owed
    const ask = Effect.gen(function* () {
      const hasAsked = yield* isMarked(invoice)
      yield* mark(invoice)
      yield* Effect.yieldNow
      return yield* pay(invoice, remembers && hasAsked ? { earlier: "Unknown" } : {})
    })
    const first = yield* Effect.result(ask)
    const isDoubtful = first._tag === "Failure" && first.failure.outcome === "Unknown"
    const second = isDoubtful ? yield* Effect.result(ask) : first
    if (second._tag === "Success") return yield* declare("paid")
    yield* declare(second.failure.outcome === "Unknown" ? "parked" : "failed")
  })
/** Asks every hour for 27 hours, under a key that is made at each time. */
const payHourly = (reference: Effect.Effect<string>) =>
  Effect.andThen(
    owed,
    Effect.retry(Effect.flatMap(reference, pay), Schedule.upTo(Schedule.spaced("1 hour"), { times: 27 }))
  )
const today = Effect.map(DateTime.now, (now) => `${invoice}/${DateTime.formatIsoDate(now)}`)
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
        yield* pay(name(attempts))
        yield* sql`UPDATE invoices SET state = 'paid'`
      }
      return (yield* sql`SELECT reference FROM invoices WHERE state = 'open'`).length === 0
    })
    const orElse = Effect.orElseSucceed(take, () => false)
    yield* Effect.repeat(orElse, { schedule: Schedule.spaced("1 minute"), until: (isDone) => isDone })
  })

const shopping = { stores: Marks.layer, payAfter: "1 minute", stopAfter: "12 hours" } as const
const lookUp = (id: string) => Effect.flatMap(isPaid(id), (yes) => (yes ? shipOnce(id) : Effect.void))
/** Charges, receives webhooks, and looks up what is not shipped every ten minutes. */
const shop = <E>(
  handle: (id: string, status: string) => Effect.Effect<unknown, E, Payments | Marks>,
  isSweeping = true
) =>
  Effect.gen(function* () {
    yield* receive(handle)
    const id = yield* charge
    const sweep = Effect.flatMap(isMarked(id), (done) => (done ? Effect.void : Effect.ignore(lookUp(id))))
    yield* isSweeping ? Effect.repeat(sweep, Schedule.spaced("10 minutes")) : Effect.never
  })

const selling = { stores: Marks.layer, payAfter: "1 minute", within: "3 days" } as const
/** Waits for the end of a charge, and tells a person where it is not paid. */
const sell = <E>(deliver: (id: string) => Effect.Effect<unknown, E, Payments | Marks>) =>
  Effect.gen(function* () {
    const id = yield* charge
    const { enStatusTransaction } = yield* TransactionWait.final(id, { deadline: "1 day" })
    if (enStatusTransaction !== "Paid") return yield* tell(id)
    if (!(yield* isMarked(id))) yield* deliver(id)
  })
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

const mistake = <S>(
  name: string,
  rule: RuleName,
  world: RehearsalOptions<S> & { readonly stores: Layer.Layer<S, Error> },
  /** The schedule that shows it, and that of the corrected program where it has another name. */
  [schedule, corrected = schedule]: readonly [string, string?],
  mistaken: Effect.Effect<unknown, unknown, Payments | S>,
  mended: Effect.Effect<unknown, unknown, Payments | S>
) => ({ name, rule, schedule, corrected, mistaken: playing(mistaken, world), mended: playing(mended, world) })

const mistakes = [
  mistake(
    "a doubt that is forgotten when the key is asked for again",
    "told-not-executed-but-executed",
    remembering,
    [`${doubt}, then each later call under its key refused, request`],
    payTwice(false),
    payTwice(true)
  ),
  mistake(
    "a key with the day in it, tried for longer than a day",
    "paid-twice",
    remembering,
    ["call 1 requestWithdrawal: an outage begins, executed, answer lost"],
    payHourly(today),
    payHourly(Effect.succeed(invoice))
  ),
  mistake(
    "an outbox that is filled in two steps",
    "owed-not-paid",
    { stores: database },
    ["step 2 before INSERT outbox: death", "step 3 before DELETE outbox: death"],
    outbox("in two steps"),
    outbox("in one transaction")
  ),
  mistake(
    "a key with the number of the attempt, and two workers",
    "paid-twice",
    { stores: database, processes: 2 },
    ["call 1 requestWithdrawal: its process stands still before it is sent"],
    worker((attempt) => `${invoice}/${attempt}`),
    worker(() => invoice)
  ),
  mistake(
    "a webhook that is answered before it is handled",
    "not-shipped",
    shopping,
    ["call 2 getTransaction: not sent, each request"],
    shop((id) => Effect.forkDetach(lookUp(id)), false),
    shop(lookUp)
  ),
  mistake(
    "goods that are marked as shipped before they are",
    "not-shipped",
    selling,
    ["fact 1 shipped: death before it"],
    sell((id) => Effect.all([mark(id), Effect.yieldNow, ship(id)])),
    sell((id) => Effect.andThen(ship(id, id), mark(id)))
  ),
  mistake(
    "goods that are shipped without a key, and marked after that",
    "shipped-twice",
    selling,
    ["fact 1 shipped: death after it"],
    sell((id) => Effect.all([ship(id), Effect.yieldNow, mark(id)])),
    sell((id) => Effect.all([ship(id, id), Effect.yieldNow, mark(id)]))
  ),
  mistake(
    "a deposit that the webhook and the sweep pay back under two keys",
    "paid-twice",
    selling,
    ["call 2 requestWithdrawal: death after it was executed, and webhook 1 is not repeated"],
    payBack("sweep-42"),
    payBack("back-42")
  )
]

describe("a rehearsal names the mistake of", () => {
  for (const { corrected, mended, mistaken, name, rule, schedule } of mistakes)
    test(`${name}: ${rule}, and finds nothing in the corrected program`, async () => {
      const { findings, undecided } = await Effect.runPromise(mistaken({ only: schedule }))
      assert.include(
        findings.map((finding) => finding.rule),
        rule
      )
      assert.deepStrictEqual(undecided, [])
      const twin = await Effect.runPromise(mended(isWhole ? budget : { only: corrected }))
      requireClean(twin, isWhole ? 10 : 1)
      assert.isUndefined(twin.rules.find((checked) => checked.rule === rule)?.notChecked)
    })
})
