/** Checks the options of waiting, and converts them to milliseconds. */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schedule from "effect/Schedule"
import { checkOptions } from "../../contract/CallChecks.ts"
import type { InvalidRequest } from "../../contract/PaymentsError.ts"
import * as Settings from "../../contract/Settings.ts"
import { progressOfDetail } from "../../contract/Status.ts"
import type { TransactionDetail } from "../../contract/Transaction.ts"

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
}

const isFinal = (detail: TransactionDetail) => progressOfDetail(detail.enStatusTransaction) === "Final"

export interface Plan {
  readonly until: (detail: TransactionDetail) => boolean
  readonly schedule: Schedule.Schedule<unknown>
  /** The time in milliseconds, as in the fields below. `Infinity`: never. */
  readonly expiresAt: number
  readonly maxWait: number
}

const { checked } = Settings

/** Checks a time, and converts it to milliseconds. */
const instant = (setting: string, input: DateTime.DateTime.Input) =>
  Option.match(DateTime.make(input), {
    onNone: () => Settings.wrong(setting, "must be a date"),
    onSome: (time) => Effect.succeed(DateTime.toEpochMillis(time))
  })

/** Checks the options, and converts them. */
export const planOf = (
  transactionId: string,
  given: Options,
  polling: Schedule.Schedule<unknown>
): Effect.Effect<Plan, InvalidRequest> =>
  checkOptions("getTransaction", given, (options) => {
    const { expiresAt, schedule = polling, until = isFinal } = options
    const deadline = options.deadline ?? (expiresAt === undefined ? "1 hour" : Duration.infinity)
    return {
      transactionId: checked("transactionId", transactionId, Predicate.isString(transactionId), "must be a text"),
      expiresAt: expiresAt === undefined ? Effect.succeed(Infinity) : instant("expiresAt", expiresAt),
      maxWait: Settings.millis("deadline", deadline),
      schedule: checked("schedule", schedule, Schedule.isSchedule(schedule), "must be a Schedule"),
      until: checked("until", until, Predicate.isFunction(until), "must be a function")
    }
  })
