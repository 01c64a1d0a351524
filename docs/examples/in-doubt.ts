/**
 * Payouts that your old code left in doubt are finished under their old keys, before the new code starts: under another key the
 * gateway would pay them again.
 */
import { Effect, Schedule } from "effect"
import { IdempotencyKey, Money, Payments, PaymentsPolicy } from "effect-pix"
import { Fault, Sandbox } from "effect-pix/sandbox"

/** A row of your own table: what the old code sent, without a known end, within the time that your gateway remembers keys. */
const inDoubt = { oldKey: "wd-77", request: { amount: Money.centavos(1000), description: "Invoice 77" } }
const schedule = Schedule.spaced("10 millis").pipe(Schedule.upTo({ times: 5 })) // in production: minutes

const finish = Effect.fn("finish")(function* ({ oldKey, request }: typeof inDoubt) {
  const payments = yield* Payments
  return yield* IdempotencyKey.retry({ idempotencyKey: oldKey, earlier: "Unknown" }, schedule, (options) =>
    payments.requestWithdrawal(request, options)
  ).pipe(
    Effect.map((withdrawal) => `paid, withdrawal ${withdrawal.id}`),
    Effect.catch(({ outcome }) => Effect.succeed(`${outcome}: look in the panel`))
  )
})

const program = Effect.gen(function* () {
  const payments = yield* Payments
  const sandbox = yield* Sandbox
  yield* sandbox.credit(5000)
  // The old code: the gateway pays, and the answer is lost.
  yield* sandbox.fault("requestWithdrawal", Fault.resetAfter)
  yield* Effect.exit(payments.requestWithdrawal(inDoubt.request, { idempotencyKey: inDoubt.oldKey, earlier: "None" }))
  return [yield* finish(inDoubt), (yield* sandbox.withdrawals).length]
})

export const end = await Effect.runPromise(
  program.pipe(
    Effect.provide(Sandbox.layerPayments),
    Effect.provideService(PaymentsPolicy, PaymentsPolicy.make({ writes: "never" }))
  )
) // => ["paid, withdrawal 1", 1]
