/**
 * What is tried again, and when. All rules about it are in this file. A call comes here only after a failure.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Pull from "effect/Pull"
import * as Schedule from "effect/Schedule"
import type { FailureReason } from "../../../contract/PaymentsError.ts"
import type { ApiCredentials } from "../../Credentials.ts"
import type { FailedAttempt, PaymentsPolicy } from "../../PaymentsPolicy.ts"
import { failureTag } from "../failureTag.ts"
import type { Call, Failed, Unanswered } from "./state.ts"

/** The failures that another attempt may cure, whatever the status. */
const passing: ReadonlySet<FailureReason> = new Set([
  "NameNotResolved",
  "NoConnection",
  "ConnectionLost",
  "Truncated",
  "Unrecognised"
])

/** The statuses of a failed service that mean "later". */
const later: ReadonlySet<number> = new Set([500, 502, 503, 504])

const isTransient = ({ reason, sent, status }: Unanswered): boolean => {
  switch (reason) {
    case "ServerError":
      return status !== undefined && later.has(status)
    case "Timeout":
      // By these the service says that its caller went away: it may still be working on the request.
      return status !== 460 && status !== 499
    case "Tls":
      // A wrong certificate is wrong the next time too. A record that broke after the request may have left is not.
      return sent === "Unknown"
    default:
      return passing.has(reason)
  }
}

/**
 * Whether another attempt may help, and is allowed. `maybe`: an attempt with this key may have been executed.
 */
const mayTryAgain = (
  verdict: Failed,
  writes: PaymentsPolicy["writes"] | "read",
  maybe: boolean
): "no" | "transient" | "throttled" => {
  if (writes === "never") return "no"
  if (verdict._tag === "Unanswered") {
    const allowed = writes !== "only-unsent" || verdict.sent === "NotSent"
    return isTransient(verdict) && allowed ? "transient" : "no"
  }
  if (writes === "only-unsent") return "no"
  if (verdict.status === 429) return "throttled"
  if (verdict.status === 425) return "transient"
  // The conflict may be with the attempt that may have been executed: its result comes under the same key.
  return maybe && verdict.status === 409 ? "transient" : "no"
}

const describe = (failed: Failed): FailedAttempt => ({
  outcome: failed._tag === "Refused" ? "Rejected" : failed.sent,
  status: failed.status,
  reason: failed._tag === "Refused" ? undefined : failed.reason,
  retryAfter: failed.retryAfter
})

/** What may follow a failed attempt of one call. */
export interface Retry {
  /** How the last attempt counts in the budget of retries. */
  readonly paid: () => "first" | "retried" | "throttled"
  /** Waits as long as it should, and answers whether to send again. */
  readonly next: (last: Failed, used: ApiCredentials) => Effect.Effect<boolean>
}

export const makeRetry = (call: Call): Retry => {
  const { client, prepared, route, settings, started } = call
  const { clock, deadline, maxRetryAfter, notAfter, policy } = settings
  const isWrite = prepared.idempotencyKey !== undefined
  let isReloaded = false
  let paid: ReturnType<Retry["paid"]> = "first"
  let step: ((now: number, input: FailedAttempt) => Pull.Pull<[unknown, Duration.Duration], never, unknown>) | undefined

  const elapsed = () => clock.currentTimeMillisUnsafe() - started
  const isInTime = (wait = 0) => elapsed() + wait < deadline && clock.currentTimeMillisUnsafe() + wait <= notAfter

  /** What a user has written runs until the deadline at most. */
  const untilDeadline = <A>(effect: Effect.Effect<A>) =>
    Effect.map(Effect.timeoutOption(effect, Duration.millis(Math.max(0, deadline - elapsed()))), Option.getOrUndefined)

  /** Other credentials may cure a 401, once. */
  const reload = Effect.fnUntraced(function* (used: ApiCredentials) {
    isReloaded = true
    const hasOthers = yield* untilDeadline(client.credentials.reload(used))
    return hasOthers === true && isInTime()
  })

  /** How long the schedule waits before another attempt; `undefined` where it ends. One that fails ends, too. */
  const scheduledWait = Effect.fnUntraced(
    function* (last: Failed) {
      step ??= yield* Schedule.toStep(isWrite ? policy.retryWrites : policy.retryReads)
      const [, wait] = yield* step(clock.currentTimeMillisUnsafe(), describe(last))
      return Duration.toMillis(wait)
    },
    Pull.catchDone(() => Effect.undefined),
    Effect.catchCause((cause) =>
      Effect.as(
        Effect.logWarning(
          `PaymentsPolicy.${isWrite ? "retryWrites" : "retryReads"} failed (${failureTag(cause)}): there is no other attempt.`
        ),
        undefined
      )
    ),
    untilDeadline
  )

  const next = Effect.fnUntraced(function* (last: Failed, used: ApiCredentials) {
    if (last._tag === "Refused" && last.status === 401 && !isReloaded && (yield* reload(used))) return true
    const again = mayTryAgain(last, isWrite ? policy.writes : "read", call.inDoubt !== undefined)
    if (again === "no") return false
    const scheduled = yield* scheduledWait(last)
    if (scheduled === undefined) return false
    const asked = last.retryAfter === undefined ? 0 : Duration.toMillis(last.retryAfter)
    const wait = Math.max(scheduled, asked)
    if (asked > maxRetryAfter || !isInTime(wait)) return false
    if (!client.budget.take(policy.retryBudget, again === "throttled")) return false
    paid = again === "throttled" ? "throttled" : "retried"
    route.meters.retries.updateUnsafe(1, call.context)
    yield* Effect.logDebug(`${route.endpoint.operation}: attempt ${call.attempts} failed, trying again`)
    yield* Effect.sleep(Duration.millis(wait))
    // The process may have been stopped meanwhile.
    return isInTime()
  })

  return { next, paid: () => paid }
}
