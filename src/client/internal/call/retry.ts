/**
 * The rules for another attempt: whether there is one, and when. All of them are in this file.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Pull from "effect/Pull"
import * as Schedule from "effect/Schedule"
import type { FailureReason } from "../../../contract/PaymentsError.ts"
import type { ApiCredentials } from "../../Credentials.ts"
import type { FailedAttempt, PaymentsPolicy } from "../../PaymentsPolicy.ts"
import { errorType, inTraceOf, log } from "../../../internal/spans.ts"
import { failureTag } from "../failureTag.ts"
import { attributesOfAttempt } from "./report.ts"
import { type Call, type Failed, sendUntil, type Unanswered } from "./state.ts"

/** The reasons after which another attempt may succeed, whatever the status. */
const transientReasons: ReadonlySet<FailureReason> = new Set([
  "NameNotResolved",
  "NoConnection",
  "ConnectionLost",
  "Truncated",
  "Unrecognised"
])

/** The statuses of failures of the service that may end soon. */
const transientStatuses: ReadonlySet<number> = new Set([500, 502, 503, 504])

const isTransient = ({ reason, sent, status = 0 }: Unanswered): boolean => {
  // A refusal that proves nothing would be the same again; and after 460 and 499 the service may still be working on it.
  if (status >= 400 && status < 500) return status === 408
  switch (reason) {
    case "ServerError":
      return transientStatuses.has(status)
    case "Timeout":
      return true
    case "Tls":
      // A wrong certificate will be wrong again. A record that broke after the request may have left is a lost connection.
      return sent === "Unknown"
    default:
      return transientReasons.has(reason)
  }
}

/**
 * Whether another attempt may succeed, and is allowed. `isInDoubt`: an attempt with this key may have been executed.
 */
const mayTryAgain = (
  verdict: Failed,
  writes: PaymentsPolicy["writes"] | "read",
  isInDoubt: boolean
): "no" | "transient" | "throttled" => {
  if (writes === "never") return "no"
  if (verdict._tag === "Unanswered") {
    const allowed = writes !== "only-unsent" || verdict.sent === "NotSent"
    return isTransient(verdict) && allowed ? "transient" : "no"
  }
  // A conflict may be with the attempt in doubt: a request with the same key is answered with its result.
  const isConflict = verdict.cause === "IdempotencyConflict"
  if (writes === "only-unsent" || (isConflict && !isInDoubt)) return "no"
  if (verdict.status === 429) return "throttled"
  return verdict.status === 425 || isConflict ? "transient" : "no"
}

const toFailedAttempt = (failed: Failed): FailedAttempt => ({
  outcome: failed._tag === "Refused" ? "Rejected" : failed.sent,
  status: failed.status,
  reason: failed._tag === "Refused" ? undefined : failed.reason,
  retryAfter: failed.retryAfter
})

/** The retries of one call. */
export interface Retry {
  /** The cost of the last attempt: what a success returns to the budget. */
  readonly cost: () => "first" | "retried" | "throttled"
  /** Waits until the next attempt is due. Returns `false` if there is none. */
  readonly next: (last: Failed, used: ApiCredentials) => Effect.Effect<boolean>
}

export const makeRetry = (call: Call): Retry => {
  const { client, prepared, route, settings, started } = call
  const { budget, clock, deadline, maxRetryAfter, monotonicMillis, policy } = settings
  const isWrite = prepared.idempotencyKey !== undefined
  let isReloaded = false
  let cost: ReturnType<Retry["cost"]> = "first"
  let step: ((now: number, input: FailedAttempt) => Pull.Pull<[unknown, Duration.Duration], never, unknown>) | undefined

  const elapsed = () => monotonicMillis() - started
  const isInTime = (wait = 0) =>
    elapsed() + wait < deadline && clock.currentTimeMillisUnsafe() + wait <= sendUntil(call)

  /** Runs code of the user, until the deadline at most. */
  const untilDeadline = <A>(effect: Effect.Effect<A>) =>
    Effect.map(Effect.timeoutOption(effect, Duration.millis(Math.max(0, deadline - elapsed()))), Option.getOrUndefined)

  /** After the first 401 of a call, tries to load other credentials. */
  const reload = Effect.fnUntraced(function* (used: ApiCredentials) {
    isReloaded = true
    const hasOthers = yield* untilDeadline(inTraceOf(call.span, client.credentials.reload(used)))
    return hasOthers === true && isInTime()
  })

  /**
   * How long the schedule waits before another attempt, or `undefined` if it has ended. A schedule that fails has
   * ended.
   */
  const scheduledWait = Effect.fnUntraced(
    function* (last: Failed) {
      step ??= yield* Schedule.toStep(isWrite ? policy.retryWrites : policy.retryReads)
      const [, wait] = yield* step(clock.currentTimeMillisUnsafe(), toFailedAttempt(last))
      return Duration.toMillis(wait)
    },
    Pull.catchDone(() => Effect.undefined),
    (wait, last) =>
      Effect.catchCause(wait, (cause) => {
        const line = `PaymentsPolicy.${isWrite ? "retryWrites" : "retryReads"} failed (${failureTag(cause)}): there is no other attempt.`
        return Effect.as(log("Warn", line, attributesOfAttempt(call, last), call.span), undefined)
      }),
    untilDeadline
  )

  const next = Effect.fnUntraced(function* (last: Failed, used: ApiCredentials) {
    // Where no write is repeated, the reloaded credentials are for the next call.
    if (last.status === 401 && !isReloaded && (yield* reload(used))) return !isWrite || policy.writes !== "never"
    const again = mayTryAgain(last, isWrite ? policy.writes : "read", call.inDoubt !== undefined)
    if (again === "no") return false
    const scheduled = yield* scheduledWait(last)
    if (scheduled === undefined) return false
    const asked = last.retryAfter === undefined ? 0 : Duration.toMillis(last.retryAfter)
    const wait = Math.max(scheduled, asked)
    if (asked > maxRetryAfter || !isInTime(wait)) return false
    const { operation } = route.endpoint
    if (!budget.take(policy.retryBudget, again === "throttled")) {
      client.meters.countRefusedRetry(1, call.context, operation)
      const line = `The retry budget is spent: ${operation} was not tried again. More calls fail at their first attempt until others succeed.`
      yield* client.report("budget", monotonicMillis(), line, {
        attributes: attributesOfAttempt(call, last),
        span: call.span
      })
      return false
    }
    cost = again === "throttled" ? "throttled" : "retried"
    const line = `${operation}: attempt ${call.attempts} failed (${errorType(last)}), trying again in ${Math.round(wait)} ms`
    yield* log("Debug", line, attributesOfAttempt(call, last), call.span)
    yield* Effect.sleep(Duration.millis(wait))
    // The process may have been stopped meanwhile.
    return isInTime()
  })

  return { next, cost: () => cost }
}
