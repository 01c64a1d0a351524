/**
 * Waits for a charge: `final` is an Effect that completes when the status of the transaction is final. Source:
 * `docs/service.md`.
 *
 * Details: the first lookup is made at once. The next ones follow a schedule that slows down, from every second to once a
 * minute, jittered. A delivery that a `Webhook` of the process receives starts a lookup at once.
 *
 * - Waiting ends with the detail as soon as its status is final: see `Status.meaningOf`, or give your own `until`.
 * - It fails with `TimedOut` when the charge has expired or the deadline has passed. A lookup that is under way is
 *   interrupted then, and one last lookup is made, so that a payment in time is not missed. It may take 5 seconds.
 * - It continues if the service cannot be reached, limits the rate, or sends an answer that cannot be read (such as the
 *   page of a proxy). Every other failure ends it.
 *
 * Gotcha: `TimedOut` does not prove that the payer did not pay. It holds only the result of the last lookup.
 *
 * ```ts
 * import { Effect } from "effect"
 * import { Money, Payments, TransactionWait } from "effect-pix"
 * import { Sandbox } from "effect-pix/sandbox"
 *
 * const program = Effect.gen(function* () {
 *   const payments = yield* Payments
 *   const sandbox = yield* Sandbox
 *   const charge = yield* payments.createTransaction({
 *     amount: Money.centavos(2500),
 *     paymentMethod: "PIX",
 *     customer: { name: "Maria Silva", email: "maria@example.com" }
 *   })
 *   yield* sandbox.markPaid(charge.id)
 *   const detail = yield* TransactionWait.final(charge.id, {
 *     expiresAt: charge.pix.expirationDate
 *   })
 *   return detail.enStatusTransaction
 * })
 *
 * const status = await Effect.runPromise(Effect.provide(program, Sandbox.layerPayments)) // => "Paid"
 * ```
 */
declare module "./TransactionWait.ts" {}

import * as Clock from "effect/Clock"
import type * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import { legible } from "../internal/legible.ts"
import { expiryOf, provedEnd } from "../contract/Expiry.ts"
import { checkOptionsBy, fn, reading, time, withDefault } from "../contract/Options.ts"
import type { GetTransactionError } from "../contract/PaymentsError.ts"
import { meaningOf, type Words } from "../contract/Status.ts"
import { DetailStatus } from "../contract/StatusWords.ts"
import type { TransactionDetail } from "../contract/Transaction.ts"
import { Payments } from "../client/Payments.ts"
import { factsHere } from "../client/PaymentsClient.ts"
import { monotonicMillis } from "../internal/monotonic.ts"
import { boundedExponential } from "../internal/schedule.ts"
import { inSpan } from "../internal/spans.ts"
import { believed } from "./internal/expiry.ts"
import { TransactionHints } from "./TransactionHints.ts"

/** How to wait. */
export interface Options {
  /**
   * When the charge expires: `charge.pix.expirationDate` of its creation. Where the service wrote no offset, or `Z`, and for any time
   * in UTC that is not of a creation, it counts three hours later. One before the charge's creation, or more than 400 days after
   * it, counts as absent. Default: no expiry.
   */
  readonly expiresAt?: DateTime.DateTime.Input | undefined
  /**
   * The longest time to wait. The last lookup starts then, and may take 5 seconds. Default: one hour, or until `expiresAt`
   * if that is given.
   */
  readonly deadline?: Duration.Input | undefined
  /**
   * When to look again. Waiting ends when the schedule ends. Default: after a second, and each time a fifth later, up to a minute,
   * with jitter of a fifth.
   */
  readonly schedule?: Schedule.Schedule<unknown> | undefined
  /** The condition that ends waiting. Default: `Status.meaningOf` of the status is `paid`, `refunded` or `closed`, by the words of `GatewayFacts` too. */
  readonly until?: ((detail: TransactionDetail) => boolean) | undefined
}

/**
 * The charge expired, or the deadline passed, before the status was final. Waiting changes nothing, so it is safe to wait
 * again.
 */
export class TimedOut extends legible(
  Schema.TaggedError<TimedOut>("effect-pix/TimedOut")("TimedOut", {
    operation: Schema.Literal("getTransaction"),
    outcome: Schema.Literal("NoEffect"),
    /** How many lookups were made. */
    attempts: Schema.Natural,
    transactionId: Schema.String,
    /** `Expired`: the charge's own expiry passed. `Deadline`: the time to wait was over. */
    reason: Schema.Literals(["Expired", "Deadline"]),
    /** The status in the last successful lookup. Absent if none succeeded. */
    lastStatus: Schema.optionalKey(DetailStatus),
    /** The tag of the last lookup's error, if it failed; `ServiceUnavailable` if it was interrupted. */
    lastFailure: Schema.optionalKey(Schema.String)
  })
) {
  get concerns(): "Service" {
    return "Service"
  }
  override get message(): string {
    const why = this.reason === "Expired" ? "The charge expired" : "The time to wait was over"
    const seen = this.lastStatus === undefined ? "no lookup succeeded" : "its status was not final yet"
    const failed = this.lastFailure === undefined ? "" : `, and the last one failed with ${this.lastFailure}`
    return `${why} for transaction ${this.transactionId}: ${seen} after ${this.attempts} lookup(s)${failed}. This does not prove that it was not paid; look it up again, or wait for its webhook.`
  }
}

/** The errors of waiting. After an error that concerns only the service the transaction is looked up again. */
export type WaitError = Exclude<GetTransactionError, { readonly concerns: "Service" }> | TimedOut

/**
 * The default schedule: jitter spreads the lookups of charges that were created together. About 14 lookups in the first minute,
 * 29 in the first ten, then one a minute.
 */
const polling: Schedule.Schedule<unknown> = Schedule.jittered(
  boundedExponential({ first: "1 second", most: "1 minute", factor: 1.2 })
)

/** How many hints may start a lookup before the next poll, so that many hints do not cause as many lookups. */
const hintsBetweenPolls = 5

/** How long the last lookup may take, in milliseconds. */
const lastLookup = 5_000

const schedule = Schema.declare((value): value is Schedule.Schedule<unknown> => Schedule.isSchedule(value), {
  expected: "a Schedule"
})

const checkInput = checkOptionsBy("getTransaction", Schema.Struct({ transactionId: Schema.String }))

const checkOptions = checkOptionsBy(
  "getTransaction",
  Schema.Struct({
    expiresAt: Schema.optional(
      reading((input: DateTime.DateTime.Input) => Result.fromOption(expiryOf(input), () => "must be a date"))
    ),
    deadline: Schema.optional(time),
    schedule: withDefault(schedule, polling),
    until: Schema.optional(fn<NonNullable<Options["until"]>>())
  })
)

const hour = 3_600_000

/** Whether there is nothing more to wait for. A word that is not listed says nothing. */
const isFinal = ({ enStatusTransaction }: TransactionDetail, statuses: Words) =>
  !["open", "unlisted"].includes(meaningOf(enStatusTransaction, "charge", statuses))

const waitFor = Effect.fnUntraced(function* (transactionId: string, options: Options) {
  const payments = yield* Payments
  const { statuses } = yield* factsHere
  const checked = yield* checkOptions(options)
  const { deadline: maxWait, schedule } = checked
  const { until = (detail: TransactionDetail) => isFinal(detail, statuses) } = checked
  yield* checkInput({ transactionId })
  const startedAt = yield* Clock.currentTimeMillis
  const ahead = startedAt - (yield* monotonicMillis)
  /** The time by a clock that nobody sets while this waits. */
  const currentMillis = Effect.map(monotonicMillis, (now) => Math.floor(now + ahead))
  let expiresAt = Infinity
  let deadline = Infinity
  let endsAt = Infinity
  /** Sets the end by what is known of the charge's creation: an expiry that is not believable counts as absent. */
  const setEnd = Effect.fnUntraced(function* (createdAt: DateTime.Utc | undefined) {
    const known = { createdAt, now: startedAt }
    expiresAt = provedEnd(yield* believed(payments, checked.expiresAt, known), known)
    deadline = startedAt + (maxWait ?? (expiresAt === Infinity ? hour : Infinity))
    endsAt = Math.ceil(Math.min(expiresAt, deadline))
  })
  yield* setEnd(undefined)
  const step = yield* Schedule.toStep(schedule)
  const hint = yield* (yield* TransactionHints).subscribe(transactionId)

  let attempts = 0
  let lookedAt = -Infinity
  let status: string | undefined
  let failure: string | undefined
  /** The time of the next planned lookup. */
  let planned: number | undefined
  /** The service asked the client to wait until this time. */
  let notBefore = -Infinity
  let hinted = 0

  const timedOut = (reason: TimedOut["reason"]) =>
    new TimedOut({
      operation: "getTransaction",
      outcome: "NoEffect",
      attempts,
      transactionId,
      reason,
      ...(status === undefined ? {} : { lastStatus: status }),
      ...(failure === undefined ? {} : { lastFailure: failure })
    })
  const over = () => timedOut(expiresAt <= deadline ? "Expired" : "Deadline")

  /** Waits for the time of the next lookup. */
  const pause = Effect.gen(function* () {
    const now = yield* currentMillis
    if (lookedAt >= endsAt) return yield* over()
    if (planned === undefined) {
      const next = yield* Effect.option(step(now, undefined))
      if (Option.isNone(next)) return yield* timedOut("Deadline")
      // The clock counts whole milliseconds: a shorter wait would end at once and be repeated.
      planned = now + Math.ceil(Duration.toMillis(next.value[1]))
    }
    if (notBefore > now) yield* Effect.sleep(Math.min(notBefore, endsAt) - now)
    if (notBefore > endsAt) return yield* over()
    const left = Math.min(planned, endsAt) - (yield* currentMillis)
    if (left > 0) {
      if (hinted >= hintsBetweenPolls) yield* Effect.sleep(left)
      else if (Option.isSome(yield* Effect.timeoutOption(hint.await, left))) {
        hinted++
        return
      }
    }
    planned = undefined
    hinted = 0
  })

  const look = Effect.gen(function* () {
    lookedAt = yield* currentMillis
    attempts++
    hint.closeUnsafe()
    const result = yield* payments.getTransaction(transactionId).pipe(
      Effect.result,
      Effect.timeoutOrElse({
        duration: lookedAt < endsAt ? endsAt - lookedAt : lastLookup,
        orElse: () => Effect.undefined
      })
    )
    if (result === undefined) {
      failure = "ServiceUnavailable"
      return undefined
    }
    if (Result.isSuccess(result)) {
      failure = undefined
      if (result.success.createdAt !== undefined) yield* setEnd(result.success.createdAt)
      return result.success
    }
    const error = result.failure
    failure = error._tag
    if ("retryAfter" in error && error.retryAfter !== undefined) {
      notBefore = (yield* currentMillis) + Duration.toMillis(error.retryAfter)
    }
    return error.concerns === "Service" ? undefined : yield* error
  })

  while (true) {
    if (attempts > 0) yield* pause
    const detail = yield* look
    if (detail === undefined) continue
    status = detail.enStatusTransaction
    if (until(detail)) return detail
  }
})

/**
 * Waits until the transaction is final, and returns the answer of the last lookup. Its `value` is in centavos.
 *
 * The option `deadline` is its timeout: an hour by default, or until `expiresAt` if that is given. An `Effect.timeout` around it
 * would end it without the last lookup.
 *
 * Fails with `TimedOut` when `deadline` or `expiresAt` has passed, and with `InvalidRequest`, `AuthError`, `RequestRejected` or
 * `TransactionNotFound`. A failure that concerns only the service, such as an outage, does not end the wait.
 *
 * Gotcha: final is not paid. The status is one of `Paid`, `Cancelled`, `Failed` and `Refunded`, or another word for one of them: check
 * that it is `Paid`, or a word that `GatewayFacts` lists.
 */
export const final = (
  transactionId: string,
  options: Options = {}
): Effect.Effect<TransactionDetail, WaitError, Payments> =>
  inSpan("TransactionWait.final", { kind: "internal", attributes: {} }, () =>
    Effect.scoped(waitFor(transactionId, options))
  )
