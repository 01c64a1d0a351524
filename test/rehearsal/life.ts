/** Parts of programs about what becomes of a payout or a charge after it was accepted, and about limits. */
import { Effect, Schedule } from "effect"
import {
  IdempotencyKey,
  Money,
  Payments,
  Rehearsed,
  type RequestWithdrawalError,
  Status,
  WithdrawalLookup
} from "effect-pix"
import {
  chargeFor,
  declare,
  invoice,
  isMarked,
  mark,
  Marks,
  owed,
  owes,
  pay,
  payAgain,
  receive,
  request
} from "./programs.ts"

export type Program = Effect.Effect<unknown, unknown, Payments | WithdrawalLookup | Marks>
/** What a program does when it hears of a payout. */
type OnPayout = (id: number, status: string) => Program

const isLost = (meaning: string) => meaning === "failed" || meaning === "returned"
const isEnd = (meaning: string) => meaning === "paid" || isLost(meaning)
export const meaningOf = (id: number) =>
  WithdrawalLookup.use((lookup) => lookup.get(id)).pipe(
    Effect.map(({ enTransaction }) => Status.meaningOf(enTransaction, "payout")),
    Effect.retry(Schedule.spaced("5 minutes"))
  )
/** Looks a payout up until it has ended. */
export const endOf = (id: number) =>
  Effect.repeat(meaningOf(id), { schedule: Schedule.spaced("20 minutes"), until: isEnd })
const book = (meaning: string) => (isEnd(meaning) ? declare(isLost(meaning) ? "failed" : "paid") : Effect.void)
/** Asks for a payout, again where its outcome is not known. */
export const ask = (reference = invoice) =>
  Effect.retry(pay(reference), {
    schedule: Schedule.upTo(Schedule.spaced("1 minute"), { times: 5 }),
    while: ({ outcome }) => outcome !== "Rejected"
  })
const orParked = <A, E, R>(program: Effect.Effect<A, E, R>) => Effect.catchCause(program, () => declare("parked"))
export const bookEnd = (id: number) => Effect.flatMap(endOf(id), book)

/** Pays once. */
export const payOnce = (onAccepted: (id: number) => Program) =>
  orParked(
    Effect.andThen(
      owed,
      Effect.flatMap(ask(), ({ id }) => onAccepted(id))
    )
  )
/** Pays, and hears of its payouts by webhooks, as they were seen. */
export const payAndHear = (onPayout: OnPayout, onAccepted: (id: number) => Program = bookEnd) =>
  Effect.andThen(
    Rehearsed.receive((delivery) =>
      Effect.gen(function* () {
        const { object, status, withdrawId } = yield* Effect.promise(() => delivery.json())
        if (object === "withdraw") yield* onPayout(withdrawId, status)
        return new Response()
      })
    ),
    payOnce(onAccepted)
  )
/** Hears of a payout for a day. */
export const listen = Effect.sleep("1 day")
/** Hears that something happened, and looks what it was. */
export const look: OnPayout = (id) => Effect.flatMap(meaningOf(id), book)

/** Pays under another key. */
export const replace = orParked(Effect.flatMap(ask(`${invoice}/2`), ({ id }) => bookEnd(id)))
/** Pays under another key where the payout has failed or come back. */
export const replaceLost = (meaning: string) => (isLost(meaning) ? replace : book(meaning))
export const onFailure = (failed: Program) =>
  orParked(
    Effect.andThen(
      owed,
      Effect.catchTag(ask(), "WithdrawalFailed", () => failed)
    )
  )

/** Pays, with another way to meet a limit. */
export const onLimit = (met: Program) =>
  orParked(
    Effect.andThen(
      owed,
      Effect.catchTag(ask(), "LimitReached", () => met)
    )
  )
/** Asks again, some times. */
export const askAgain = (times: number) =>
  Effect.retry(ask(), {
    schedule: Schedule.upTo(Schedule.spaced("10 minutes"), { times }),
    while: ({ _tag }) => _tag === "LimitReached"
  })
/** Pays a half, under a key of its own. */
export const payHalf = (part: string) =>
  Payments.use((payments) =>
    payments.requestWithdrawal(
      { ...request, amount: Money.centavos(1250), description: invoice },
      { idempotencyKey: IdempotencyKey.fromReference("half", `${invoice}/${part}`), earlier: "None" }
    )
  )
/** Asks once a day, and twice where it is in doubt. */
export const daily = (keyOf: (day: number) => string) =>
  Effect.gen(function* () {
    yield* owed
    for (let day = 1; day <= 3; day++) {
      const first = yield* Effect.result(pay(keyOf(day)))
      const isDoubtful = first._tag === "Failure" && first.failure.outcome === "Unknown"
      const last = isDoubtful ? yield* Effect.result(pay(keyOf(day))) : first
      if (last._tag === "Success") return
      yield* Effect.sleep("14 hours")
    }
    yield* declare("parked")
  })
const namesOf = (prefix: string) =>
  Marks.use((marks) => Effect.sync(() => [...marks].filter((name) => name.startsWith(prefix))))
const tellOf = (transactionId: string) => Rehearsed.fact("told", { transactionId })
export const shipOrder = (transactionId: string) =>
  Rehearsed.fact("shipped", { transactionId, key: "42", amount: request.amount })
/** Ships for the first charge that is paid. Another one is given back by a person. */
export const shipOnce = Effect.fnUntraced(function* (id: string) {
  const [first = `order ${id}`] = yield* namesOf("order ")
  yield* mark(first)
  yield* first === `order ${id}` ? shipOrder(id) : tellOf(id)
})
/** Pays a reference, and says what became of it. */
const payAndSay = (reference: string) =>
  Effect.gen(function* () {
    yield* owes(reference)
    const asked = yield* isMarked(`asked ${reference}`)
    yield* mark(`asked ${reference}`)
    const paid = yield* Effect.result(payAgain(reference, asked ? "Unknown" : "None"))
    yield* declare(paid._tag === "Success" ? "paid" : "parked", reference)
  })
/** Ships for the first charge that is paid, and pays the money of another one back. */
export const shipOrPayBack = ({ both }: { readonly both: boolean }) =>
  Effect.fnUntraced(function* (id: string) {
    const [first = `order ${id}`] = yield* namesOf("order ")
    yield* mark(first)
    if (first === `order ${id}`) return yield* shipOrder(id)
    yield* payAndSay(`back-${id}`)
    if (both) yield* payAndSay(`back-${first.slice("order ".length)}`)
  })
/** Ships for the first charge that is paid, and pays its seller under a reference that has the charge's id. */
export const shipAndPaySeller = ({ markedFirst }: { readonly markedFirst: boolean }) =>
  Effect.fnUntraced(function* (id: string) {
    const [first = `order ${id}`] = yield* namesOf("order ")
    yield* mark(first)
    if (first !== `order ${id}`) return yield* tellOf(id)
    if (markedFirst && (yield* isMarked("sent"))) return
    yield* mark("sent")
    yield* Effect.yieldNow
    yield* shipOrder(id)
    yield* owes(`seller-${id}`, 2000)
    const sellers = Payments.use((payments) =>
      payments.requestWithdrawal(
        { ...request, amount: Money.centavos(2000) },
        { idempotencyKey: IdempotencyKey.fromReference("payout", `seller-${id}`), earlier: "Unknown" }
      )
    )
    yield* Effect.matchEffect(sellers, {
      onSuccess: () => Effect.void,
      onFailure: () => declare("parked", `seller-${id}`)
    })
  })
/** Pays once, and says what became of it, or what a failure tells it to. */
export const tell = (onFailure: (error: RequestWithdrawalError) => Program) =>
  Effect.gen(function* () {
    yield* owed
    const hasAsked = yield* isMarked(invoice)
    yield* mark(invoice)
    const paid = pay(invoice, hasAsked ? "Unknown" : "None")
    yield* Effect.matchEffect(paid, { onSuccess: () => declare("paid"), onFailure })
  })
/** Marks the program as done, and does it. */
export const onceMarked = (program: Program): Program =>
  Effect.gen(function* () {
    yield* owed
    if (yield* isMarked("done")) return
    yield* mark("done")
    yield* program
  })
export const hasNotLapsed = (id: string) => Effect.map(isMarked(`lapsed ${id}`), (hasLapsed) => !hasLapsed)

interface Shop {
  /** What it does with a paid charge. */
  readonly onPaid: (id: string) => Program
  /** Whether it still knows the charge of a webhook. */
  readonly knows?: (id: string) => Effect.Effect<boolean, never, Marks>
  /** Whether the customer gets another charge after half an hour. */
  readonly isSecond?: boolean
}
/** A shop of one order, with webhooks and a sweep. */
export const shop = ({ isSecond = true, knows = () => Effect.succeed(true), onPaid }: Shop) =>
  Effect.gen(function* () {
    const look = Effect.fnUntraced(function* (id: string) {
      if ((yield* isMarked(`done ${id}`)) || !(yield* knows(id))) return
      const { enStatusTransaction, value } = yield* Payments.use(({ getTransaction }) => getTransaction(id))
      if (enStatusTransaction === "Cancelled") yield* mark(`lapsed ${id}`)
      if (enStatusTransaction !== "Paid") return
      yield* value === request.amount ? onPaid(id) : tellOf(id)
      yield* mark(`done ${id}`)
    })
    yield* receive(look)
    const first = yield* chargeFor("42")
    yield* mark(`charge ${first}`)
    yield* Effect.sleep("30 minutes")
    if (isSecond && !(yield* isMarked(`done ${first}`))) yield* mark(`charge ${yield* chargeFor("42/2")}`)
    const sweep = Effect.flatMap(namesOf("charge "), (names) =>
      Effect.forEach(names, (name) => Effect.ignore(look(name.slice("charge ".length))))
    )
    yield* Effect.repeat(sweep, Schedule.spaced("1 hour"))
  })
