/**
 * The attributes that spans and log lines have of a call, and of an attempt that failed; and the report of a write that ended without an
 * error of its own: an interruption or a defect ended it, so nobody gets its key.
 */
import type * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as ErrorReporter from "effect/ErrorReporter"
import type * as Tracer from "effect/Tracer"
import { fingerprint } from "../../../contract/IdempotencyKey.ts"
import { OutcomeUnknown } from "../../../contract/PaymentsError.ts"
import { errorType, log } from "../../../internal/spans.ts"
import type { PaymentsPolicy } from "../../PaymentsPolicy.ts"
import { doubtFields } from "./error.ts"
import type { Call, Failed } from "./state.ts"

/** The merchant whose client makes the call, if it is one of `Merchants`. */
const merchantOf = ({ client: { merchant } }: Pick<Call, "client">) =>
  merchant === undefined ? {} : { "payments.merchant": merchant }

/** The attributes of a call before it is sent. */
export const attributesOfCall = (call: Call) => {
  const { idempotencyKey } = call.prepared
  return {
    "payments.operation": call.route.endpoint.operation,
    ...merchantOf(call),
    ...(idempotencyKey !== undefined && { "payments.idempotency_key_hash": fingerprint(idempotencyKey) })
  }
}

/** The attributes of the error of a call. */
export const attributesOfError = (call: Pick<Call, "client">, error: ErrorReporter.Reportable) => ({
  ...error[ErrorReporter.attributes],
  ...merchantOf(call)
})

/** The attributes of a call after an attempt that failed. */
export const attributesOfAttempt = (call: Call, failed: Failed) => {
  const unanswered = call.prepared.idempotencyKey === undefined ? "NoEffect" : "Unknown"
  return {
    ...attributesOfCall(call),
    "payments.attempts": call.attempts,
    "payments.outcome": failed._tag === "Refused" ? "Rejected" : failed.sent === "NotSent" ? failed.sent : unanswered,
    "error.type": errorType(failed),
    "payments.retry_after": failed.retryAfter && Duration.toSeconds(failed.retryAfter)
  }
}

/**
 * Gets each write that is called, for a repetition that has to know what its calls left. A reference, since the user's effect, perhaps
 * over a decorated client, lies between the repetition and the calls.
 */
export const CallListener = Context.Reference<(call: Call) => void>("effect-pix/CallListener", {
  defaultValue: () => () => {}
})

/**
 * Runs `onLost` where an interruption or a defect ends `self`, or takes its result away before the caller has it; its
 * failure is the result then.
 *
 * It has to be the outermost combinator of what it guards: each `gen`, `map`, `tap`, `onExit` or span around it takes one more
 * step of the run loop, in which an interruption loses a withdrawal that was paid, neither returned nor reported. A success goes from the last step of `self` to the caller in one step of the run loop, so no
 * interruption comes between. A failure needs one more step here: an interruption in that step is not seen.
 */
export const onLostExit = <A, E, R, E2, R2>(
  self: Effect.Effect<A, E, R>,
  onLost: (cause: Cause.Cause<E>) => Effect.Effect<never, E2, R2>
): Effect.Effect<A, E | E2, R | R2> =>
  // Not `onExit`: it handles a success too, and takes a step after that.
  Effect.uninterruptibleMask((restore) => Effect.catchCause(restore(self), onLost))

/** The report of a write that may have been executed, if this one may. */
export const lostReport = (call: Call): OutcomeUnknown | undefined => {
  const { attempts, inDoubt, prepared, request, route, unclear } = call
  const { idempotencyKey } = prepared
  return idempotencyKey === undefined ||
    !(request?.mayHaveLeft() === true || inDoubt !== undefined || unclear !== undefined)
    ? undefined
    : new OutcomeUnknown({
        operation: route.endpoint.operation,
        attempts,
        idempotencyKey,
        outcome: "Unknown",
        reason: "Interrupted",
        ...doubtFields(call)
      })
}

/** How long `onInterruptedWrite` may take: an interruption waits for it. */
const hookTimeout = Duration.seconds(10)

/** Logs a report, and gives it to the hook of the policy. */
export const reportLost = (
  report: OutcomeUnknown,
  policy: PaymentsPolicy,
  call?: Call,
  span?: Tracer.Span
): Effect.Effect<unknown> => {
  const attributes = call === undefined ? { ...report[ErrorReporter.attributes] } : attributesOfError(call, report)
  const hook = Effect.suspend(() => policy.onInterruptedWrite(report))
  return log("Warn", `${report._tag}: ${report.message}`, attributes, span).pipe(
    Effect.andThen(Effect.timeoutOption(Effect.interruptible(hook), hookTimeout)),
    Effect.catchCause(() => log("Warn", "onInterruptedWrite failed. The line above holds the key.", attributes, span))
  )
}
