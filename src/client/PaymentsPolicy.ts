/**
 * The time limits, retries and bounds of calls. The policy is one value, read at each call, so that a single call, a scope
 * or the whole program can have its own. Whoever calls, the queue, a webhook or you, has that of its fiber, else that which the
 * layer of `Payments` was built with. What you know of your gateway is no policy: `GatewayFacts`.
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
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as Random from "effect/Random"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import { checkBy, checkSettingsBy, fn, millisOf, period, time, whole } from "../contract/Options.ts"
import { issuesInWords } from "../contract/Outcome.ts"
import { maxAnswerBytes } from "../internal/bounds.ts"
import { refuse } from "../internal/refuse.ts"
import { boundedExponential } from "../internal/schedule.ts"
import type { ConfigurationError } from "../contract/ConfigurationError.ts"
import type { FailureReason, OutcomeUnknown } from "../contract/PaymentsError.ts"

/**
 * A token bucket that all calls of one `Payments` share, so that retries do not multiply the load in an outage. The payouts
 * of a `PayoutQueue` have a bucket of their own. The defaults are the AWS SDK's (smithy core 3.41).
 */
export interface RetryBudget {
  /** The greatest number of tokens, and the number at the start. Default 500. */
  readonly capacity: number
  /** The cost of a retry. A retry that succeeds returns it. Default 14. */
  readonly retryCost: number
  /** The cost of a retry after a 429. Default 5. */
  readonly throttledRetryCost: number
  /** The tokens that a successful first attempt returns. Default 1. */
  readonly refund: number
}

/** A failed attempt: the input of `retryReads` and `retryWrites`. They get only failures after which another attempt may succeed. */
export interface FailedAttempt {
  /** Whether the request provably never left, was refused, or may have been executed. */
  readonly outcome: "NotSent" | "Rejected" | "Unknown"
  /** The HTTP status, if there was an answer. */
  readonly status: number | undefined
  /** Why there was no usable answer. Absent for a refusal. */
  readonly reason: FailureReason | undefined
  /** The time that the service asked to wait. The client always waits for it, up to `maxRetryAfter`. */
  readonly retryAfter: Duration.Duration | undefined
}

/**
 * A policy that `make` has checked. A copy by spreading is none, so it is given to `make` again: a client does so with each policy that
 * it reads, since an untyped caller may give any object.
 */
class Checked {
  readonly #isChecked = true
  static isMade(policy: object): policy is PaymentsPolicy {
    return #isChecked in policy && policy.#isChecked
  }
}

/**
 * The settings of calls, which `PaymentsPolicy.make` makes and checks; they cannot be changed later. To change a policy, make
 * another of it: `PaymentsPolicy.make({ ...policy, deadline: "5 seconds" })`. A time over 24.8 days, such as
 * `Duration.infinity`, means no limit.
 */
export interface PaymentsPolicy extends Checked {
  /** How long one attempt may take: connecting, headers and the whole body. Default 30 seconds. */
  readonly attemptTimeout: Duration.Input
  /** How long a call may take over all its attempts and the waits between them, by the monotonic clock. Default 90 seconds. */
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
   * - `same-key`: also writes that may have been executed. It is safe if the service recognises a repeated key. Its
   *   documentation recommends a key (`docs/service.md`), but does not say what a repeated one does.
   * - `only-unsent`: only writes that provably were not sent.
   * - `never`.
   */
  readonly writes: "same-key" | "only-unsent" | "never"
  /**
   * How long after the first request with a key a write in doubt may be sent again: by this call, or by one that has the
   * earlier error as `after`. It has to be shorter than the time for which the service remembers keys, which it does not
   * document. Afterwards nothing is sent, and the outcome stays `Unknown` (reason `PastHorizon`). Default 12 hours, as in
   * `PayoutQueue`.
   */
  readonly horizon: Duration.Input
  /** The longest `Retry-After` for which the client waits. With a longer one the call fails at once. Default 30 s. */
  readonly maxRetryAfter: Duration.Input
  /** The largest response that is read, in bytes after decompression. Default 4 MiB. */
  readonly maxResponseBytes: number
  /** The budget of all retries of one `Payments`, or `unlimited`. Default: the numbers in `RetryBudget`. */
  readonly retryBudget: RetryBudget | "unlimited"
  /**
   * Runs when a write was interrupted while its request may have been under way, or before the caller had its answer; and
   * when something ends `IdempotencyKey.retry` while money may have moved. There is no error to return then, so the key is
   * only in this report and in a warning of the log. Store the report: the next call takes it as `after`. It may take 10
   * seconds. Default: only the log.
   */
  readonly onInterruptedWrite: (report: OutcomeUnknown) => Effect.Effect<void>
}

/**
 * Retries `times` times. Each wait is random, from zero to a bound that starts at `base` and doubles each time, up to `cap`
 * ("full jitter": callers that failed together do not retry together). Throws a `SchemaError` for a wrong duration or
 * number.
 */
const fullJitter = (options: {
  readonly base: Duration.Input
  /** A number from 0. */
  readonly times: number
  /** Default 20 seconds. */
  readonly cap?: Duration.Input | undefined
}): Schedule.Schedule<unknown> => {
  const { base, cap = "20 seconds", times } = Predicate.isObject(options) ? options : refuse(wrongJitter)
  const [firstBound, lastBound] = [millisOf(base), millisOf(cap)]
  if (firstBound === undefined || lastBound === undefined || !Predicate.isNumber(times) || !(times >= 0))
    refuse(wrongJitter)
  return Schedule.modifyDelay(boundedExponential({ first: base, most: cap }), ({ duration }) =>
    Effect.map(Random.next, (fraction) => Duration.millis(Math.floor(Duration.toMillis(duration) * fraction)))
  ).pipe(Schedule.upTo({ times }))
}

const wrongJitter = "fullJitter takes { base, times, cap? }: durations, and a number from 0"

/** The AWS SDK's budget. */
const awsBudget: RetryBudget = { capacity: 500, retryCost: 14, throttledRetryCost: 5, refund: 1 }

type PolicySettings = { readonly [K in keyof PaymentsPolicy]: PaymentsPolicy[K] }

/** Settings that replace the defaults. One that is `undefined` does not. */
type PaymentsPolicyOptions = { readonly [K in keyof PaymentsPolicy]?: PaymentsPolicy[K] | undefined }

const defaults: PolicySettings = {
  attemptTimeout: Duration.seconds(30),
  deadline: Duration.seconds(90),
  retryReads: fullJitter({ base: "100 millis", times: 2 }),
  retryWrites: fullJitter({ base: "500 millis", times: 2 }),
  writes: "same-key",
  horizon: Duration.hours(12),
  maxRetryAfter: Duration.seconds(30),
  maxResponseBytes: maxAnswerBytes,
  retryBudget: awsBudget,
  onInterruptedWrite: () => Effect.void
}

const schedule = Schema.declare((value): value is PaymentsPolicy["retryReads"] => Schedule.isSchedule(value), {
  expected: "a Schedule"
})
const tokens = Schema.declare((value): value is number => Number.isFinite(value) && Number(value) >= 0, {
  expected: "a number from 0"
})

const Settings = Schema.Struct({
  attemptTimeout: period,
  deadline: period,
  retryReads: schedule,
  retryWrites: schedule,
  writes: Schema.Literals(["same-key", "only-unsent", "never"]),
  horizon: period,
  maxRetryAfter: time,
  maxResponseBytes: whole(1),
  retryBudget: Schema.Union([
    Schema.Literal("unlimited"),
    Schema.Struct({ capacity: tokens, retryCost: tokens, throttledRetryCost: tokens, refund: tokens })
  ]),
  onInterruptedWrite: fn<PaymentsPolicy["onInterruptedWrite"]>()
} satisfies Record<keyof PaymentsPolicy, Schema.Constraint>).annotate({ messageUnexpectedKey: "is no setting" })

const check = checkBy(Settings, "settings", "error")
const checkLayer = checkSettingsBy(Settings, "settings", "", "error")

const withDefaults = (options: PaymentsPolicyOptions): PolicySettings => ({
  ...defaults,
  ...Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
})

const make = (options: PaymentsPolicyOptions = {}): PaymentsPolicy => {
  if (!Predicate.isObject(options)) return refuse("A policy is made of an object of settings")
  if (Checked.isMade(options)) return options
  const settings = withDefaults(options)
  const checked = check(settings)
  if (Result.isFailure(checked)) return refuse(`Wrong settings of a policy: ${issuesInWords(checked.failure)}`)
  const policy = Object.assign(new Checked(), settings)
  Object.freeze(policy)
  return policy
}

/**
 * The current policy: a `Context.Reference` with safe defaults. Give another one to an effect with
 * `Effect.provideService(PaymentsPolicy, PaymentsPolicy.make({ ... }))`, or to a program with `PaymentsPolicy.layer`.
 */
export const PaymentsPolicy = Object.assign(
  Context.Reference<PaymentsPolicy>("effect-pix/PaymentsPolicy", { defaultValue: make }),
  {
    /** The defaults, replaced by the given settings. Throws a `SchemaError` that names every wrong setting. */
    make,
    fullJitter,
    /** A layer of the policy that `make` makes of the settings. Fails with `ConfigurationError`, which names every wrong one. */
    layer: (options: PaymentsPolicyOptions): Layer.Layer<never, ConfigurationError> =>
      Layer.effect(
        PaymentsPolicy,
        Effect.map(checkLayer(Predicate.isObject(options) ? withDefaults(options) : options), () => make(options))
      )
  }
)
