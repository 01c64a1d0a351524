/**
 * What `ErrorReporter` of Effect reads of an error: how severe it is, and attributes without a person's data. The log lines
 * and the spans of a failed call have the same attributes.
 */
import * as Duration from "effect/Duration"
import * as ErrorReporter from "effect/ErrorReporter"
import type * as LogLevel from "effect/LogLevel"
import { errorType } from "../../internal/spans.ts"
import { fingerprint } from "../IdempotencyKey.ts"
import type { Outcome } from "../Outcome.ts"

/** `Rejected` is an answer. Without a usable answer something on the way is wrong, and after `Unknown` money may have moved. */
const severities: Record<Outcome, LogLevel.Severity> = {
  Unknown: "Error",
  NotSent: "Warn",
  NoEffect: "Warn",
  Rejected: "Info"
}

interface Reported {
  readonly _tag: string
  readonly operation: string
  readonly outcome: Outcome
  readonly attempts: number
  readonly idempotencyKey?: string
  readonly status?: number
  readonly reason?: string
  readonly retryAfter?: Duration.Duration
}

const attributesOf = (error: Reported) => ({
  "payments.operation": error.operation,
  "payments.outcome": error.outcome,
  "payments.error": error._tag,
  "error.type": errorType(error),
  "payments.attempts": error.attempts,
  ...(error.idempotencyKey !== undefined && { "payments.idempotency_key_hash": fingerprint(error.idempotencyKey) }),
  ...(error.retryAfter !== undefined && { "payments.retry_after": Duration.toSeconds(error.retryAfter) })
})

/** Gives the errors of a class their severity and attributes. */
export const reportable = <C extends { readonly prototype: Reported }>(errors: C): C => {
  const { prototype } = errors
  Object.defineProperties(prototype, {
    [ErrorReporter.severity]: {
      get(this: Reported) {
        return severities[this.outcome]
      }
    },
    [ErrorReporter.attributes]: {
      get(this: Reported) {
        return attributesOf(this)
      }
    }
  })
  return errors
}
