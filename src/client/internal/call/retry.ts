/**
 * What is tried again, and when. All rules about it are in this file. A call comes here only after a failure.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { constFalse } from "effect/Function"
import * as Option from "effect/Option"
import type * as Pull from "effect/Pull"
import * as Schedule from "effect/Schedule"
import type { FailureReason } from "../../../contract/PaymentsError.ts"
import type { ApiCredentials, Credentials } from "../../Credentials.ts"
import type { PaymentsPolicy } from "../../PaymentsPolicy.ts"
import type { Bucket } from "./budget.ts"
import type { Settings } from "./settings.ts"
import type { Failed, Unanswered } from "./verdict.ts"

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
  // What is in flight is the attempt that may have been executed: its result comes under the same key.
  return maybe && verdict.cause === "IdempotencyKeyInFlight" ? "transient" : "no"
}

interface RecoveryOptions {
  readonly credentials: Credentials["Service"]
  readonly bucket: Bucket
  readonly settings: Settings
  readonly isWrite: boolean
  /** Since the call began, in milliseconds. */
  readonly elapsed: () => number
  /** Run before a wait. */
  readonly announce: Effect.Effect<void>
}

/** What happened in one call after its first failure. */
export interface Recovery {
  /** How the last attempt counts in the budget of retries. */
  readonly paid: () => "first" | "retried" | "throttled"
  /** Waits as long as it should, and answers whether to send again. */
  readonly next: (last: Failed, maybe: boolean, used: ApiCredentials) => Effect.Effect<boolean>
}

export const makeRecovery = ({
  announce,
  bucket,
  credentials,
  elapsed,
  isWrite,
  settings
}: RecoveryOptions): Recovery => {
  const { clock, deadline, maxRetryAfter, notAfter, policy } = settings
  let reloaded = false
  let paid: ReturnType<Recovery["paid"]> = "first"
  let step: ((now: number, input: unknown) => Pull.Pull<[unknown, Duration.Duration], never, unknown>) | undefined

  const isInTime = (wait = 0) => elapsed() + wait < deadline && clock.currentTimeMillisUnsafe() + wait <= notAfter

  /** Other credentials may cure a 401, once. */
  const reload = Effect.fnUntraced(function* (used: ApiCredentials) {
    reloaded = true
    const left = Duration.millis(Math.max(0, deadline - elapsed()))
    const others = yield* Effect.timeoutOption(credentials.reload(used), left)
    return Option.getOrElse(others, constFalse) && isInTime()
  })

  const next = Effect.fnUntraced(function* (last: Failed, maybe: boolean, used: ApiCredentials) {
    if (last._tag === "Refused" && last.status === 401 && !reloaded && (yield* reload(used))) return true
    const again = mayTryAgain(last, isWrite ? policy.writes : "read", maybe)
    if (again === "no") return false
    step ??= yield* Schedule.toStep(isWrite ? policy.retryWrites : policy.retryReads)
    const planned = yield* Effect.option(step(clock.currentTimeMillisUnsafe(), last))
    if (Option.isNone(planned)) return false
    const asked = last.retryAfter === undefined ? 0 : Duration.toMillis(last.retryAfter)
    const wait = Math.max(Duration.toMillis(planned.value[1]), asked)
    if (asked > maxRetryAfter || !isInTime(wait)) return false
    if (!bucket.take(policy.retryBudget, again === "throttled")) return false
    paid = again === "throttled" ? "throttled" : "retried"
    yield* announce
    yield* Effect.sleep(Duration.millis(wait))
    // The process may have been stopped meanwhile.
    return isInTime()
  })

  return { next, paid: () => paid }
}
