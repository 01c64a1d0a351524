/**
 * How long a payout that cannot be sent now waits for its next try. Nothing here reads or writes.
 */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import type { RequestWithdrawalError } from "../../../contract/PaymentsError.ts"
import { zone } from "./account.ts"
import { type Deciding, waitedMillis } from "./late.ts"
import type { Row } from "./row.ts"

/** The day of a time, and how long it is until the next day. */
export const dayOf = (now: number) => {
  const day = DateTime.setZone(DateTime.makeUnsafe(now), zone)
  const tomorrow = DateTime.startOf(DateTime.add(day, { days: 1 }), "day")
  return { day: DateTime.formatIsoDate(day), left: Duration.millis(DateTime.toEpochMillis(tomorrow) - now) }
}

/** A payout that waits for the balance, or for the end of a limit, is tried at least as often. */
export const longestWait = Duration.minutes(15)

/** As long as it has been waiting, from 1 to 15 minutes. */
const waitForBalance = ({ waitsSince }: Row, now: number) =>
  Duration.clamp(Duration.millis(now - (waitsSince ?? now)), { minimum: Duration.minutes(1), maximum: longestWait })

/** For how long the service asked to wait: at most an hour counts, and less than a second does not. */
const requestedWait = (failure: RequestWithdrawalError): Duration.Duration | undefined => {
  const requested = "retryAfter" in failure ? failure.retryAfter : undefined
  return requested !== undefined && Duration.toMillis(requested) >= 1000
    ? Duration.min(requested, Duration.hours(1))
    : undefined
}

/** How long a payout that is still open waits for its next try; `undefined`: the queue's own schedule decides. */
export const waitOf = (row: Row, failure: RequestWithdrawalError, at: Deciding): Duration.Duration | undefined => {
  const isLong = row.waitsFor === "InsufficientBalance" || row.waitsFor === "LimitReached"
  const wait = requestedWait(failure) ?? (isLong ? waitForBalance(row, at.now) : undefined)
  if (wait === undefined || row.mayHaveLeftAt !== null) return wait
  // It is parked in time.
  const left = Math.max(0, at.horizon - waitedMillis(row, at)) + 1000
  return Duration.min(wait, Duration.millis(left))
}
