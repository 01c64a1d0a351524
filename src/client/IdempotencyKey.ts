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
import * as Exit from "effect/Exit"
import * as Predicate from "effect/Predicate"
import type * as Schedule from "effect/Schedule"
import { OutcomeUnknown } from "../contract/PaymentsError.ts"
import { isUnclear, type Unclear, type WriteOptions } from "../contract/WriteOptions.ts"
import { CallListener, lostReport, onLostExit, reportLost } from "./internal/call/report.ts"
import type { Call } from "./internal/call/state.ts"
import { PaymentsPolicy } from "./PaymentsPolicy.ts"

export { fingerprint, fromReference, fromReferenceOption, type IdempotencyKey } from "../contract/IdempotencyKey.ts"
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

/** The report of a doubt: the error itself where it is an `OutcomeUnknown`. */
const reportOf = (error: Unclear): OutcomeUnknown => {
  if (error._tag === "OutcomeUnknown") return error
  const { attempts, fingerprint, firstSentAt, idempotencyKey = "", operation, status } = error
  return new OutcomeUnknown({
    operation,
    attempts,
    idempotencyKey,
    status,
    outcome: "Unknown",
    reason: "Interrupted",
    ...(fingerprint !== undefined && { fingerprint }),
    ...(firstSentAt !== undefined && { firstSentAt })
  })
}

/** What is known of the key of one run of `retry`. */
const makeKnown = <E>(first: WriteOptions) => {
  const idempotencyKey = first.after?.idempotencyKey ?? first.idempotencyKey
  /** The last call of the client under the key. */
  let call: Call | undefined
  let isExecuted = false
  /** Whether the last attempt ended with an error, so that the schedule decides. */
  let isScheduled = false
  let options = first
  /** The error of an attempt that may have been executed. */
  let doubt: Cause.Fail<E> | undefined

  return {
    options: () => options,
    doubt: () => doubt,
    isScheduled: () => isScheduled,
    onCall: (next: Call): void => {
      if (next.prepared.idempotencyKey !== idempotencyKey) return
      next.isReported = call?.isReported === true
      call = next
    },
    onAttempt: (exit: Exit.Exit<unknown, E>): undefined => {
      isExecuted = Exit.isSuccess(exit)
      isScheduled = Exit.isFailure(exit) && Cause.hasFails(exit.cause)
      if (Exit.isSuccess(exit) || exit.cause.reasons.every(isHarmless)) return
      const found = doubtIn(exit.cause)
      if (outcomeOf(doubt?.error) !== "Unknown" || outcomeOf(found?.error) === "Unknown") doubt = found ?? doubt
      // The error may be a time limit of the caller: then the call that it cut off knows the sender and the time.
      const after = [found?.error, call?.unclear, options.after].find(
        (error): error is Unclear => isUnclear(error) && error.idempotencyKey === idempotencyKey
      )
      if (after !== undefined) options = { after }
      else if (idempotencyKey !== undefined) options = { idempotencyKey, earlier: "Unknown" }
    },
    /** Reports what is in doubt, where no call under the key has reported it. */
    report: Effect.withFiber((fiber): Effect.Effect<unknown> => {
      const lost = isExecuted && call !== undefined ? lostReport(call) : undefined
      const report = options.after === undefined ? lost : reportOf(options.after)
      if (report === undefined || call?.isReported === true) return Effect.void
      return reportLost(report, call?.settings.policy ?? fiber.getRef(PaymentsPolicy), call)
    })
  }
}

/**
 * Repeats a write under one key, by a schedule: that of `first`, which says its past too, or has it in `after`. Pass the options
 * to the call inside `write`: those of the first call are `first`.
 *
 * Unlike `Effect.retry` around a call it loses no Unknown. After an attempt that may have been executed, the options have
 * its error as `after` (or `earlier: "Unknown"`, where a client left no error), so that a later refusal is not taken for a
 * proof that nothing was executed, and nothing is sent under another client id or past the policy's horizon. Such an
 * attempt failed with the outcome `Unknown`, or with an error that has no outcome: a time limit of your own may have cut off
 * a request. After such an attempt the result is a success or the error of such an attempt: the last `Unknown`, or else
 * the last error without an outcome, replaces any other last error, also where the schedule fails or throws.
 *
 * The schedule sees each error and decides whether to try again: without a condition it always does, also after
 * `InvalidRequest`, and after `WithdrawalFailed`, which the same key shows again. A defect or an interruption ends the repetition at once. If money may have moved then, or the schedule
 * failed, `onInterruptedWrite` of the policy gets the last `OutcomeUnknown`, once for a key. So a time limit may be around
 * the repetition too.
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
 *   const paid = yield* IdempotencyKey.retry({ idempotencyKey: key, earlier: "None" }, schedule, (options) =>
 *     payments.requestWithdrawal({ amount: Money.centavos(1000) }, options)
 *   )
 *   return paid.idempotencyKey === key
 * })
 *
 * const same = await Effect.runPromise(Effect.provide(program, Sandbox.layerPayments)) // => true
 * ```
 */
export const retry = <A, E extends Input, R, Output, Input, ScheduleError, ScheduleR>(
  first: WriteOptions,
  schedule: Schedule.Schedule<Output, Input, ScheduleError, ScheduleR>,
  write: (options: WriteOptions) => Effect.Effect<A, E, R>
): Effect.Effect<A, E | ScheduleError, R | ScheduleR> =>
  Effect.suspend(() => {
    const known = makeKnown<E>(first)
    let hasEnded = false
    const attempts = Effect.suspend(() => Effect.onExitPrimitive(write(known.options()), known.onAttempt)).pipe(
      Effect.provideService(CallListener, known.onCall),
      Effect.retryOrElse(schedule, (error) => {
        hasEnded = true
        return Effect.fail(known.doubt()?.error ?? error)
      })
    )
    return onLostExit(attempts, (cause) => {
      if (hasEnded && Cause.hasFails(cause)) return Effect.failCause(cause)
      const doubt = known.doubt()
      const hasScheduleFailed = known.isScheduled() && !Cause.hasInterrupts(cause)
      const result: Cause.Cause<E | ScheduleError> =
        hasScheduleFailed && doubt !== undefined ? Cause.fail(doubt.error) : cause
      return Effect.andThen(known.report, Effect.failCause(result))
    })
  })
