/**
 * The parts of an error that Effect's `ErrorReporter` reads: its severity, and attributes without personal data. The
 * log lines and the spans of a failed call have the same attributes.
 */
import type * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as ErrorReporter from "effect/ErrorReporter"
import type * as LogLevel from "effect/LogLevel"
import * as Schema from "effect/Schema"
import { legible } from "../../internal/legible.ts"
import { errorType } from "../../internal/spans.ts"
import { fingerprint } from "../IdempotencyKey.ts"
import type { Concern, Outcome } from "../Outcome.ts"

/**
 * `Rejected` is an answer of the service. `NotSent` and `NoEffect` have no usable answer, so something on the way is
 * wrong. After `Unknown` money may have moved.
 */
const severities: Record<Outcome, LogLevel.Severity> = {
  Unknown: "Error",
  NotSent: "Warn",
  NoEffect: "Warn",
  Rejected: "Info"
}

interface ErrorFields extends Schema.Struct.Fields {
  readonly outcome: Schema.Schema<Outcome>
  readonly attempts: Schema.Schema<number>
  readonly operation: Schema.Schema<string>
}

interface Reported extends Error {
  readonly toJSON: () => unknown
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

/** What an error says for a person: what has to change, and its message. */
interface Words<E, Concerns extends Concern> {
  readonly concerns: Concerns | ((error: E) => Concerns)
  readonly message: (error: E) => string
}

/** A class of errors of an operation, named `effect-pix/<tag>`, with its severity and attributes. Its message is printed first. */
export const paymentsError =
  <Self>() =>
  <Tag extends string, const Fields extends ErrorFields, const Concerns extends Concern>(
    tag: Tag,
    fields: Fields,
    { concerns, message }: Words<Schema.Struct.Type<Fields>, Concerns>
  ) => {
    // The compiler cannot see that the parameter `Self` is given, nor the getters that are defined below.
    const errors = Schema.TaggedError<Self>(`effect-pix/${tag}`)(tag, fields) as unknown as Schema.Class<
      Self,
      Schema.TaggedStruct<Tag, Fields>,
      Cause.YieldableError & { readonly concerns: Concerns; readonly message: string }
    >
    type E = Schema.Struct.Type<Fields>
    const getter = (get: (error: Reported & E) => unknown) => ({
      get(this: Reported & E) {
        return get(this)
      },
      configurable: true
    })
    Object.defineProperties(errors.prototype, {
      concerns: getter((error) => (typeof concerns === "function" ? concerns(error) : concerns)),
      message: getter(message),
      [ErrorReporter.severity]: getter(({ outcome }) => severities[outcome]),
      [ErrorReporter.attributes]: getter(attributesOf)
    })
    return legible(errors)
  }
