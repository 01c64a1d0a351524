/** The options of waiting, checked and in milliseconds. */
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
  /** When the charge expires: `charge.pix.expirationDate` of its creation. Default: not known. */
  readonly expiresAt?: DateTime.DateTime.Input | undefined
  /**
   * How long to wait at most; the last lookup begins then, and may take 5 seconds. Default: one hour, or with
   * `expiresAt` as long as that says.
   */
  readonly deadline?: Duration.Input | undefined
  /**
   * When to look again. Where it ends, the waiting ends. Default: `polling`.
   */
  readonly schedule?: Schedule.Schedule<unknown> | undefined
  /** What is waited for. Default: a status that is final, as `Status.progressOfDetail` says. */
  readonly until?: ((detail: TransactionDetail) => boolean) | undefined
  /**
   * For how long a `TransactionNotFound` counts as "not there yet", for a transaction that was created this moment.
   * Default: not at all, it fails at once.
   */
  readonly notFoundFor?: Duration.Input | undefined
}

const isFinal = (detail: TransactionDetail) => progressOfDetail(detail.enStatusTransaction) === "Final"

export interface Plan {
  readonly until: (detail: TransactionDetail) => boolean
  readonly schedule: Schedule.Schedule<unknown>
  /** In milliseconds, as the others; Infinity: never. */
  readonly expiresAt: number
  readonly patience: number
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
  const patience = millisOf(options.deadline ?? (expiresAt === Infinity ? "1 hour" : Duration.infinity))
  const grace = millisOf(notFoundFor)
  const issues: Array<RequestIssue> = []
  const expect = (isRight: boolean, path: string, problem: string) => {
    if (!isRight) issues.push({ path, problem })
  }
  expect(options === given, "options", "must be an object")
  expect(Predicate.isString(transactionId), "transactionId", "must be a text")
  expect(expiresAt !== undefined, "expiresAt", "must be a date")
  expect(patience !== undefined, "deadline", "must be a duration")
  expect(grace !== undefined, "notFoundFor", "must be a duration")
  expect(Schedule.isSchedule(schedule), "schedule", "must be a Schedule")
  expect(Predicate.isFunction(until), "until", "must be a function")
  return issues.length > 0 || expiresAt === undefined || patience === undefined || grace === undefined
    ? Effect.fail(new InvalidRequest({ operation: "getTransaction", attempts: 0, outcome: "NotSent", issues }))
    : Effect.succeed({ until, schedule, expiresAt, patience, notFoundFor: grace })
}
