/** Checks the options of waiting, and converts them to milliseconds. */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schedule from "effect/Schedule"
import { InvalidRequest, type RequestIssue } from "../../contract/PaymentsError.ts"
import { progressOfDetail } from "../../contract/Status.ts"
import type { TransactionDetail } from "../../contract/Transaction.ts"
import { millisOf } from "../../internal/duration.ts"

/** How to wait. */
export interface Options {
  /** When the charge expires: `charge.pix.expirationDate` of its creation. Default: no expiry. */
  readonly expiresAt?: DateTime.DateTime.Input | undefined
  /**
   * The longest time to wait. The last lookup starts then, and may take 5 seconds. Default: one hour, or until `expiresAt`
   * if that is given.
   */
  readonly deadline?: Duration.Input | undefined
  /**
   * When to look again. Waiting ends when the schedule ends. Default: `polling`.
   */
  readonly schedule?: Schedule.Schedule<unknown> | undefined
  /** The condition that ends waiting. Default: `Status.progressOfDetail` of the status is `Final`. */
  readonly until?: ((detail: TransactionDetail) => boolean) | undefined
  /**
   * For how long a `TransactionNotFound` is ignored, for a transaction that was created just now. Default: not at all, so
   * that it fails at once.
   */
  readonly notFoundFor?: Duration.Input | undefined
}

const isFinal = (detail: TransactionDetail) => progressOfDetail(detail.enStatusTransaction) === "Final"

export interface Plan {
  readonly until: (detail: TransactionDetail) => boolean
  readonly schedule: Schedule.Schedule<unknown>
  /** In milliseconds, as the fields below. `Infinity`: never. */
  readonly expiresAt: number
  readonly maxWait: number
  readonly notFoundFor: number
}

/** Checks the options, also those of a caller without types. */
export const planOf = (
  transactionId: string,
  given: Options,
  polling: Schedule.Schedule<unknown>
): Effect.Effect<Plan, InvalidRequest> => {
  const options: Options = Predicate.isObject(given) ? given : {}
  const { notFoundFor = 0, schedule = polling, until = isFinal } = options
  const expiresAt =
    options.expiresAt === undefined
      ? Infinity
      : Option.getOrUndefined(Option.map(DateTime.make(options.expiresAt), DateTime.toEpochMillis))
  const maxWait = millisOf(options.deadline ?? (expiresAt === Infinity ? "1 hour" : Duration.infinity))
  const grace = millisOf(notFoundFor)
  const issues: Array<RequestIssue> = []
  const expect = (isRight: boolean, path: string, problem: string) => {
    if (!isRight) issues.push({ path, problem })
  }
  expect(options === given, "options", "must be an object")
  expect(Predicate.isString(transactionId), "transactionId", "must be a text")
  expect(expiresAt !== undefined, "expiresAt", "must be a date")
  expect(maxWait !== undefined, "deadline", "must be a duration")
  expect(grace !== undefined, "notFoundFor", "must be a duration")
  expect(Schedule.isSchedule(schedule), "schedule", "must be a Schedule")
  expect(Predicate.isFunction(until), "until", "must be a function")
  return issues.length > 0 || expiresAt === undefined || maxWait === undefined || grace === undefined
    ? Effect.fail(new InvalidRequest({ operation: "getTransaction", attempts: 0, outcome: "NotSent", issues }))
    : Effect.succeed({ until, schedule, expiresAt, maxWait, notFoundFor: grace })
}
