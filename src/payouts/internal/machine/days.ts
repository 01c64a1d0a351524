/**
 * The days of São Paulo, the window of a day, and the sums of an account's days for the cap of a day. A day is that of the database's clock.
 */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { Fragment } from "effect/sql/Statement"
import type { Database } from "../../../durable/Database.ts"
import { dayInSaoPaulo, saoPaulo } from "../../../internal/utc.ts"
import type { Account } from "./account.ts"
import { isInWindow } from "./conditions.ts"

/** The minute of the day of a time in São Paulo. */
const minuteOfDay = (millis: number): number => {
  const { hour, minute } = DateTime.toParts(DateTime.setZone(DateTime.makeUnsafe(millis), saoPaulo()))
  return hour * 60 + minute
}

/** Whether the window of an account is open, for what was never sent. */
export const isWindowOpen = (account: Pick<Account, "windowFrom" | "windowTo">, now: number): boolean =>
  isInWindow.of({ payout: { mayHaveLeftAt: null, sends: 0 }, account, given: { minute: minuteOfDay(now) } })

/** The minute of the day, as SQL: by PostgreSQL's clock, and of a SQLite file by that of the program. */
export const minuteOf = ({ dialect, sql }: Database, now: number): Fragment => {
  const local = sql`clock_timestamp() AT TIME ZONE ${saoPaulo().id}`
  return dialect === "pg"
    ? sql`CAST(EXTRACT(HOUR FROM ${local}) * 60 + EXTRACT(MINUTE FROM ${local}) AS INTEGER)`
    : sql`${minuteOfDay(now)}`
}

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

export const makeDays = ({ dialect, sql }: Database, account: string) => {
  const days = sql("effect_pix_payout_days")
  const today: Effect.Effect<Fragment> =
    dialect === "pg"
      ? Effect.succeed(sql`to_char(clock_timestamp() AT TIME ZONE ${saoPaulo().id}, 'YYYY-MM-DD')`)
      : Effect.map(DateTime.now, (now) => sql`${dayInSaoPaulo(now)}`)

  return {
    /** The sum of today, as SQL. */
    spentToday: Effect.map(
      today,
      (day) =>
        sql`COALESCE((SELECT spent FROM ${days} AS today WHERE today.account = ${account} AND today.day = ${day}), 0)`
    ),
    /** The statement that adds the `amount` of a table's row to the sum of today. It returns no day where that would exceed the cap. */
    addToDay: (table: Fragment, cap: number) =>
      Effect.map(
        today,
        (day) => sql<{ readonly day: string }>`INSERT INTO ${days} (account, day, spent)
          SELECT ${account}, ${day}, amount FROM ${table} WHERE amount <= CAST(${cap} AS BIGINT)
          ON CONFLICT (account, day) DO UPDATE SET spent = ${days}.spent + excluded.spent
          WHERE ${days}.spent + excluded.spent <= CAST(${cap} AS BIGINT) RETURNING day AS "day"`
      ),
    /** The statement that subtracts from the sum of a day. */
    subtractFromDay: (day: string, amount: number) =>
      sql`UPDATE ${days} SET spent = spent - CAST(${amount} AS BIGINT) WHERE account = ${account} AND day = ${day}`
  }
}
