/**
 * Idempotency keys: each logical write has one, so that the service can recognise a repetition and not execute it
 * again.
 *
 * Gotcha: a retry after a crash must use the same key, so a key must outlive its process. Make it from your own business
 * reference (`fromReference`), or store it before you send.
 */
declare module "./IdempotencyKey.ts" {}

import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type * as Schedule from "effect/Schedule"
import type { WriteOptions } from "../contract/WriteOptions.ts"

export * from "../contract/IdempotencyKey.ts"
export type { WriteOptions } from "../contract/WriteOptions.ts"

const outcomeOf = (error: unknown): unknown => (Predicate.hasProperty(error, "outcome") ? error.outcome : undefined)

/** Whether a failure proves that its attempt executed nothing. */
const isHarmless = (reason: Cause.Reason<unknown>): boolean => {
  const outcome = Cause.isFailReason(reason) ? outcomeOf(reason.error) : undefined
  return outcome === "NotSent" || outcome === "Rejected" || outcome === "NoEffect"
}

/**
 * The error of an attempt that may have been executed. An error with the outcome `Unknown` is preferred to one without
 * an outcome.
 */
const doubtIn = <E>(cause: Cause.Cause<E>): Cause.Fail<E> | undefined => {
  const errors = cause.reasons.filter(Cause.isFailReason).filter((reason) => !isHarmless(reason))
  return errors.find(({ error }) => outcomeOf(error) === "Unknown") ?? errors[0]
}

/**
 * Repeats a write under one key, by a schedule. Pass the options to the call inside `write`.
 *
 * Unlike `Effect.retry` around a call it loses no Unknown. After an attempt that may have been executed, the options have
 * `earlier: "Unknown"`, so that a later refusal is not taken for a proof that nothing was executed. Such an attempt
 * failed with the outcome `Unknown`, or with an error that has no outcome: a time limit of your own may have cut off a
 * request. After such an attempt the result is a success or the error of such an attempt: the last `Unknown`, or else
 * the last error without an outcome, replaces any other last error.
 *
 * The schedule sees each error and decides whether to try again: without a condition it always does, also after
 * `InvalidRequest`. A defect or an interruption ends the repetition at once.
 *
 * ```ts
 * import { Effect, Schedule } from "effect"
 * import { IdempotencyKey, Money, Payments } from "effect-pix"
 * import { Sandbox } from "effect-pix/sandbox"
 *
 * const key = IdempotencyKey.fromReference("payout", "invoice-42")
 * const schedule = Schedule.exponential("1 minute").pipe(Schedule.upTo({ times: 5 }))
 *
 * const program = Effect.gen(function* () {
 *   const payments = yield* Payments
 *   const sandbox = yield* Sandbox
 *   yield* sandbox.credit(5000)
 *   const paid = yield* IdempotencyKey.retry(key, schedule, (options) =>
 *     payments.requestWithdrawal({ amount: Money.centavos(1000) }, options)
 *   )
 *   return paid.idempotencyKey === key
 * })
 *
 * const same = await Effect.runPromise(Effect.provide(program, Sandbox.layerPayments)) // => true
 * ```
 */
export const retry = <A, E extends Input, R, Output, Input, ScheduleError, ScheduleR>(
  idempotencyKey: string,
  schedule: Schedule.Schedule<Output, Input, ScheduleError, ScheduleR>,
  write: (options: WriteOptions) => Effect.Effect<A, E, R>
): Effect.Effect<A, E | ScheduleError, R | ScheduleR> =>
  Effect.suspend(() => {
    let options: WriteOptions = { idempotencyKey }
    let doubt: Cause.Fail<E> | undefined
    return Effect.suspend(() => write(options)).pipe(
      Effect.tapCause((cause) =>
        Effect.sync(() => {
          if (!cause.reasons.every(isHarmless)) options = { idempotencyKey, earlier: "Unknown" }
          const found = doubtIn(cause)
          if (outcomeOf(doubt?.error) !== "Unknown" || outcomeOf(found?.error) === "Unknown") doubt = found ?? doubt
        })
      ),
      Effect.retry(schedule),
      Effect.mapError((error) => doubt?.error ?? error)
    )
  })
