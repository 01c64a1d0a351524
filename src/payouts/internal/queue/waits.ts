/**
 * How long a payout that cannot be sent now waits for its next try. Nothing here reads or writes.
 */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import type { RequestWithdrawalError } from "../../../contract/PaymentsError.ts"
import { requestedWait, type Said } from "./accountTime.ts"
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

const [shortest, hour] = [5000, 3_600_000]

/**
 * How long a payout that is still open waits for its next try, in milliseconds; `undefined`: the queue's own schedule decides. One that
 * the balance does not cover waits 5 seconds more than it has been waiting for it, up to an hour: so its wait doubles. What waits with
 * its account is due at once, in its place among the others.
 */
export const waitAfter = (row: Row, failure: RequestWithdrawalError, said: Said, at: Deciding): number | undefined => {
  const isClean = row.mayHaveLeftAt === null
  if (said._tag === "Refused") return 0
  const wait =
    said._tag === "Short" && isClean
      ? Math.min(shortest + at.now - (row.waitsSince ?? at.now), hour)
      : requestedWait(failure)
  if (wait === undefined || !isClean) return wait
  // It is parked in time.
  return Math.min(wait, Math.max(0, at.horizon - waitedMillis(row, at)) + 1000)
}
