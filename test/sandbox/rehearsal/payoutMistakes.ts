/**
 * Mistakes around one payout: keys, doubts, amounts and timeouts.
 */
import { Effect, Schedule } from "effect"
import { IdempotencyKey, Money, Payments, PixKey, Rehearsed } from "effect-pix"
import { Rehearsal } from "effect-pix/sandbox"
import { budget } from "../../support/rehearsals.ts"
import type { Mistake } from "./Mistake.ts"

const reference = "invoice-1"
const request = { amount: Money.centavos(2500), pixKey: PixKey.email("maria@example.com") }
const idempotencyKey = IdempotencyKey.fromReference("payout", reference)
const owed = Rehearsed.owes({ reference, amount: request.amount })
const paid = Rehearsed.fact("paid", { reference })
const failed = Rehearsed.fact("failed", { reference })
const parked = Rehearsed.fact("parked", { reference })

const atOnce = Schedule.recurs(2)

/** One payout under a key that is made for this call. */
const payUnderNewKey = Effect.gen(function* () {
  const payments = yield* Payments
  return yield* payments.requestWithdrawal(request)
})

/** One payout under the key of its reference. */
const pay = Effect.gen(function* () {
  const payments = yield* Payments
  return yield* payments.requestWithdrawal(request, { idempotencyKey })
})

/** The same, again after a failure. */
const payAgain = Effect.gen(function* () {
  const payments = yield* Payments
  return yield* IdempotencyKey.retry(idempotencyKey, atOnce, (options) => payments.requestWithdrawal(request, options))
})

const right = Effect.gen(function* () {
  yield* owed
  yield* payAgain
  yield* paid
})

/** Whatever is asked after the first payout failed. */
const withSecondTry = <E, R>(second: Effect.Effect<unknown, E, R>) =>
  Effect.gen(function* () {
    yield* owed
    yield* pay.pipe(Effect.catch(() => second))
  })

const twin = Rehearsal.run(right, budget)
const secondTwin = Rehearsal.run(withSecondTry(payAgain), budget)

export const payoutMistakes: ReadonlyArray<Mistake> = [
  {
    name: "a retry around a call that makes its own key",
    rule: "paid-twice",
    mistaken: Rehearsal.run(Effect.andThen(owed, Effect.retry(payUnderNewKey, { times: 3 }))),
    mended: twin
  },
  {
    name: "a new reference after a payout that was left in doubt",
    rule: "paid-twice",
    mistaken: Rehearsal.run(
      withSecondTry(
        Effect.gen(function* () {
          const payments = yield* Payments
          const second = IdempotencyKey.fromReference("payout", `${reference}-second`)
          yield* payments.requestWithdrawal(request, { idempotencyKey: second })
        })
      )
    ),
    mended: secondTwin
  },
  {
    name: "a timeout around a payout, and another payout after it",
    rule: "paid-twice",
    mistaken: Rehearsal.run(
      Effect.andThen(
        owed,
        Effect.catchTag(Effect.timeout(payUnderNewKey, "10 seconds"), "TimeoutError", () => payUnderNewKey)
      )
    ),
    mended: Rehearsal.run(
      Effect.andThen(
        owed,
        Effect.catchTag(Effect.timeout(pay, "10 seconds"), "TimeoutError", () => payAgain)
      ),
      budget
    )
  },
  {
    name: "a second request that overtakes a slow first one",
    rule: "paid-twice",
    mistaken: Rehearsal.run(
      Effect.andThen(owed, Effect.race(payUnderNewKey, Effect.delay(payUnderNewKey, "3 seconds")))
    ),
    mended: Rehearsal.run(Effect.andThen(owed, Effect.race(payAgain, Effect.delay(payAgain, "3 seconds"))), budget)
  },
  {
    name: "a balance that has not changed, taken as the proof that a payout did not go",
    rule: "paid-twice",
    mistaken: Rehearsal.run(
      Effect.gen(function* () {
        yield* owed
        const payments = yield* Payments
        const before = yield* payments.getBalance()
        yield* payUnderNewKey.pipe(
          Effect.catch((error) =>
            Effect.gen(function* () {
              const after = yield* payments.getBalance()
              if (String(after.accBalance) !== String(before.accBalance)) return
              if (error.outcome === "Unknown") yield* payUnderNewKey
            })
          )
        )
      })
    ),
    mended: secondTwin
  },
  {
    name: "each failure of a payout taken as one that moved nothing",
    rule: "told-not-executed-but-executed",
    mistaken: Rehearsal.run(
      Effect.gen(function* () {
        yield* owed
        yield* Effect.matchEffect(pay, { onSuccess: () => paid, onFailure: () => failed })
      })
    ),
    mended: Rehearsal.run(
      Effect.gen(function* () {
        yield* owed
        // The process that died before this one may have sent what is refused now.
        yield* Effect.matchEffect(payAgain, { onSuccess: () => paid, onFailure: () => parked })
      }),
      budget
    )
  },
  {
    name: "an invoice that is marked as paid before it is",
    rule: "told-done-but-absent",
    mistaken: Rehearsal.run(
      Effect.gen(function* () {
        yield* owed
        yield* paid
        yield* Effect.ignore(pay)
      })
    ),
    mended: twin
  },
  {
    name: "a payout whose failure nobody hears of",
    rule: "owed-not-paid",
    mistaken: Rehearsal.run(Effect.andThen(owed, Effect.ignore(pay))),
    mended: Rehearsal.run(Effect.andThen(owed, payAgain.pipe(Effect.catch(() => parked))), budget)
  },
  {
    name: "a payout in doubt that nobody asks for again",
    rule: "unknown-dropped",
    mistaken: Rehearsal.run(Effect.ignore(pay)),
    mended: Rehearsal.run(payAgain, budget)
  },
  {
    name: "reais where centavos are asked for",
    rule: "amount-differs",
    mistaken: Rehearsal.run(
      Effect.gen(function* () {
        yield* Rehearsed.owes({ reference, amount: 250_000 })
        const payments = yield* Payments
        yield* payments.requestWithdrawal({ ...request, amount: Money.centavos(2500) }, { idempotencyKey })
      })
    ),
    mended: Rehearsal.run(
      Effect.gen(function* () {
        yield* Rehearsed.owes({ reference, amount: 250_000 })
        const payments = yield* Payments
        const amount = Money.fromReais("2500.00")
        yield* payments.requestWithdrawal({ ...request, amount }, { idempotencyKey })
      }),
      budget
    )
  }
]
