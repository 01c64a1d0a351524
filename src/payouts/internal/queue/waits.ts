/**
 * How long a payout that cannot be sent now waits for its next try. Nothing here reads or writes.
 */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import type { RequestWithdrawalError } from "../../../contract/PaymentsError.ts"
import { type Deciding, waitedMillis } from "./late.ts"
import type { Row } from "./row.ts"
import { saoPaulo } from "../../../internal/utc.ts"

/** The day of a time, and how long it is until the next day. */
export const dayOf = (now: number) => {
  const day = DateTime.setZone(DateTime.makeUnsafe(now), saoPaulo())
  const tomorrow = DateTime.startOf(DateTime.add(day, { days: 1 }), "day")
  return { day: DateTime.formatIsoDate(day), left: Duration.millis(DateTime.toEpochMillis(tomorrow) - now) }
}

/** How long it is until a minute of the day in São Paulo comes next. */
export const untilMinute = (now: number, minute: number): Duration.Duration => {
  const today = DateTime.startOf(DateTime.setZone(DateTime.makeUnsafe(now), saoPaulo()), "day")
  const millis = DateTime.toEpochMillis(DateTime.add(today, { minutes: minute })) - now
  return millis > 0
    ? Duration.millis(millis)
    : Duration.millis(DateTime.toEpochMillis(DateTime.add(today, { days: 1, minutes: minute })) - now)
}

/** A payout that alone is not covered by the balance is tried so often. */
export const alone = Duration.hours(1)

/**
 * For how long the service asked to wait: at most an hour counts, of a limit a day, and less than a second does not.
 */
export const requestedWait = (failure: RequestWithdrawalError): Duration.Duration | undefined => {
  const requested = "retryAfter" in failure ? failure.retryAfter : undefined
  return requested !== undefined && Duration.toMillis(requested) >= 1000
    ? Duration.min(requested, failure._tag === "LimitReached" ? Duration.days(1) : Duration.hours(1))
    : undefined
}

/** How long a payout that is still open waits for its next try; `undefined`: the queue's own schedule decides. */
export const waitOf = (row: Row, failure: RequestWithdrawalError, at: Deciding): Duration.Duration | undefined => {
  const wait = requestedWait(failure)
  if (wait === undefined || row.mayHaveLeftAt !== null) return wait
  // It is parked in time.
  const left = Math.max(0, at.horizon - waitedMillis(row, at)) + 1000
  return Duration.min(wait, Duration.millis(left))
}
