/**
 * How calls are timed, retried and bounded: one declarative value, read at each call, so that one call, one scope or
 * the whole program can differ.
 *
 * ```ts
 * import { Effect } from "effect"
 * import { Payments, PaymentsPolicy } from "effect-pix"
 *
 * // One call that fails fast:
 * const balance = Effect.gen(function* () {
 *   const payments = yield* Payments
 *   return yield* payments.getBalance({ companyId: 7 })
 * }).pipe(Effect.provideService(PaymentsPolicy, PaymentsPolicy.make({ deadline: "2 seconds" })))
 * ```
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { constFalse } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as Random from "effect/Random"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import { millisOf } from "../internal/duration.ts"
import { refuse } from "../internal/refuse.ts"
import { growing } from "../internal/schedule.ts"
import type { FailureReason, OutcomeUnknown } from "../contract/PaymentsError.ts"
import type { Centavos, Reais } from "../pix/Money.ts"

/**
 * A token bucket shared by all calls of one `Payments`, so that an outage is not multiplied by its retries. The
 * defaults are the AWS SDK's (smithy core 3.41).
 */
export interface RetryBudget {
  /** How many tokens there are at most, and at the start. Default 500. */
  readonly capacity: number
  /** What a retry costs; a retry that succeeds gives it back. Default 14. */
  readonly retryCost: number
  /** What a retry after a 429 costs. Default 5. */
  readonly throttledRetryCost: number
  /** What a first attempt that succeeds gives back. Default 1. */
  readonly refund: number
}

/** A failed attempt: the input of `retryReads` and `retryWrites`. They see only failures that another attempt may cure. */
export interface FailedAttempt {
  /** Whether the request provably never left, was refused, or may have been executed. */
  readonly outcome: "NotSent" | "Rejected" | "Unknown"
  /** The HTTP status, where there was an answer. */
  readonly status: number | undefined
  /** Why there was no answer, or none that can be used. Absent for a refusal. */
  readonly reason: FailureReason | undefined
  /** What the service asked to wait. It is waited for in any case, up to `maxRetryAfter`. */
  readonly retryAfter: Duration.Duration | undefined
}

/**
 * See the reference of the same name. A time over 24.8 days, as `Duration.infinity`, is no limit. A setting that makes no
 * sense is `InvalidRequest` of each call under the policy, which then sends nothing.
 */
export interface PaymentsPolicy {
  /** How long one attempt may take: connecting, headers and the whole body. Default 30 seconds. */
  readonly attemptTimeout: Duration.Input
  /** How long a call may take over all its attempts and the waits between them. Default 90 seconds. */
  readonly deadline: Duration.Input
  /** When a read is tried again, and how often. Default: twice, after a random wait of up to 100 and 200 ms. */
  readonly retryReads: Schedule.Schedule<unknown, FailedAttempt>
  /**
   * When a write is tried again, and how often. Default: twice, after a random wait of up to 0.5 and 1 s. A schedule may
   * look at the failed attempt: `Schedule.while(({ input }) => input.status !== 503)`.
   */
  readonly retryWrites: Schedule.Schedule<unknown, FailedAttempt>
  /**
   * Which failed writes are tried again, always with the same key and the same bytes. Default `same-key`.
   *
   * - `same-key`: also those that may have been executed. Safe where the service recognises a repeated key, as its
   *   documentation implies by recommending one (service interface, sections 4.1 and 4.5) but does not spell out.
   * - `only-unsent`: only those that provably never left.
   * - `never`.
   */
  readonly writes: "same-key" | "only-unsent" | "never"
  /** The longest `Retry-After` that is waited for; beyond it the call fails at once, with the hint. Default 30 s. */
  readonly maxRetryAfter: Duration.Input
  /** The largest response that is read, in bytes after decompression. Default 4 MiB. */
  readonly maxResponseBytes: number
  /**
   * What a PIX charge's BR Code must be. Default `report`: the charge has any code that was answered, and
   * `ChargeCode.of` names what is wrong with it. With `require`, a charge whose code is missing, damaged or for another amount fails with
   * `OutcomeUnknown` (reason `UnsoundBrCode`): the charge exists, but must not be shown to a payer.
   */
  readonly brCode: "report" | "require"
  /**
   * Whether a withdrawal may be answered with a `value` (reais) above the amount that was `asked` (centavos), as where a
   * gateway adds its fee. Default: never, such an answer is `OutcomeUnknown`. A value below is a success without asking:
   * the service does not say whether its `value` is before or after a fee.
   */
  readonly acceptValue: (about: { readonly asked: Centavos; readonly value: Reais }) => boolean
  /** What all retries of one `Payments` may cost, or `unlimited`. Default: the numbers at `RetryBudget`. */
  readonly retryBudget: RetryBudget | "unlimited"
  /**
   * Called when a write was interrupted while its request may have been under way. An interrupted call returns no error,
   * so its key is found only here and in a warning in the log. It may take 10 seconds. Default: only the log.
   */
  readonly onInterruptedWrite: (report: OutcomeUnknown) => Effect.Effect<void>
}

/**
 * Tries again `times` times, each after a random wait between nothing and `base` doubled every time, at most `cap`
 * ("full jitter": callers that failed together do not try again together). Throws a `SchemaError` for a duration or a
 * number that is none.
 */
const fullJitter = (options: {
  readonly base: Duration.Input
  /** A number from 0. */
  readonly times: number
  /** Default 20 seconds. */
  readonly cap?: Duration.Input | undefined
}): Schedule.Schedule<unknown> => {
  const { base, cap = "20 seconds", times } = Predicate.isObject(options) ? options : refuse(wrongJitter)
  const [first, most] = [millisOf(base), millisOf(cap)]
  if (first === undefined || most === undefined || !Predicate.isNumber(times) || !(times >= 0)) refuse(wrongJitter)
  return Schedule.modifyDelay(growing({ first: base, most: cap }), ({ duration }) =>
    Effect.map(Random.next, (part) => Duration.millis(Math.floor(Duration.toMillis(duration) * part)))
  ).pipe(Schedule.upTo({ times }))
}

const wrongJitter = "fullJitter takes { base, times, cap? }: durations, and a number from 0"

/** The AWS SDK's budget. */
const awsBudget: RetryBudget = { capacity: 500, retryCost: 14, throttledRetryCost: 5, refund: 1 }

const defaults: PaymentsPolicy = {
  attemptTimeout: Duration.seconds(30),
  deadline: Duration.seconds(90),
  retryReads: fullJitter({ base: "100 millis", times: 2 }),
  retryWrites: fullJitter({ base: "500 millis", times: 2 }),
  writes: "same-key",
  maxRetryAfter: Duration.seconds(30),
  maxResponseBytes: 4 * 1024 * 1024,
  brCode: "report",
  acceptValue: constFalse,
  retryBudget: awsBudget,
  onInterruptedWrite: () => Effect.void
}

/** Settings to put in the place of the defaults; what is `undefined` stays at its default. */
type PaymentsPolicyOptions = { readonly [K in keyof PaymentsPolicy]?: PaymentsPolicy[K] | undefined }

const make = (options: PaymentsPolicyOptions = {}): PaymentsPolicy => {
  const given = () => Object.fromEntries(Object.entries(options).filter(([, setting]) => setting !== undefined))
  // Options that cannot be read are wrong like a wrong setting: the call that is made under them finds it.
  return Predicate.isObject(options)
    ? Result.match(Result.try(given), {
        onSuccess: (settings) => ({ ...defaults, ...settings }),
        onFailure: () => options as PaymentsPolicy
      })
    : options
}

/**
 * The policy in force: a `Context.Reference` with safe defaults. Give another one to an effect with
 * `Effect.provideService(PaymentsPolicy, PaymentsPolicy.make({ ... }))`, or to a program with `PaymentsPolicy.layer`.
 */
export const PaymentsPolicy = Object.assign(
  Context.Reference<PaymentsPolicy>("effect-pix/PaymentsPolicy", { defaultValue: () => defaults }),
  {
    /** The defaults, with what is given in their place. It never throws: what is wrong is found by each call. */
    make,
    fullJitter,
    /** A layer of a policy: the defaults, with what is given in their place. */
    layer: (options: PaymentsPolicyOptions): Layer.Layer<never> => Layer.succeed(PaymentsPolicy, make(options)),
    /** For a call that a person waits for: one quick retry, an answer within 10 seconds. */
    interactive: make({
      attemptTimeout: "6 seconds",
      deadline: "10 seconds",
      retryReads: fullJitter({ base: "100 millis", times: 1 }),
      retryWrites: fullJitter({ base: "200 millis", times: 1 }),
      maxRetryAfter: "2 seconds"
    }),
    /** For a job that nobody waits for: up to 6 attempts over at most 5 minutes. */
    background: make({
      attemptTimeout: "60 seconds",
      deadline: "5 minutes",
      retryReads: fullJitter({ base: "500 millis", times: 5 }),
      retryWrites: fullJitter({ base: "1 second", times: 5 }),
      maxRetryAfter: "2 minutes"
    }),
    /**
     * One attempt; only a 401 that reloaded credentials may cure is followed by a second. For callers with retries of
     * their own, such as a workflow.
     */
    once: make({ retryReads: Schedule.recurs(0), retryWrites: Schedule.recurs(0), writes: "never" })
  }
)
