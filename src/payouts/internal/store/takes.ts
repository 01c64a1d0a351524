/**
 * Which of the payouts that wait a worker takes, and what waits for a cause of the account.
 */
import * as Effect from "effect/Effect"
import type { Fragment } from "effect/sql/Statement"
import { databaseNow } from "../../../durable/Now.ts"
import type { Because } from "../../PayoutBecause.ts"
import type { ReadAccount } from "../machine/account.ts"
import { isOpen } from "../machine/conditions.ts"
import type { StoreParts } from "./parts.ts"

const balance = "Balance" satisfies Because<"accepted">

export const makeTakes = ({ account, accounts, database, due, ofAccount, open, payouts, sql }: StoreParts) => {
  const always = sql.literal("1 = 1")
  /** What is above the cap alone is parked. */
  const isOverRest = (cap: number, spent: Fragment) =>
    sql`(amount <= CAST(${cap} AS BIGINT) AND amount > CAST(${cap} AS BIGINT) - ${spent})`
  const isBelow = (amount: number) => sql`(may_have_left_at IS NOT NULL OR amount < CAST(${amount} AS BIGINT))`

  return {
    /** All that wait for a cause, and that nobody has taken, are due; those up to an amount where one is given. */
    callBack: (cause: Because<"accepted">, most = Number.MAX_SAFE_INTEGER) =>
      Effect.flatMap(
        due.dueIn(0),
        (now) =>
          sql`UPDATE ${payouts} SET ${now} WHERE ${ofAccount} AND ${open} AND because = ${cause} AND taken_by IS NULL
            AND amount <= CAST(${most} AS BIGINT)`
      ),
    /**
     * Which of the rows that are due may be taken, as SQL: outside of the window what was sent and is in doubt; who takes a turn leaves
     * what is above the rest of the day's cap; and `below` an amount, or in doubt. After three in a row that the balance does not cover,
     * no others of that amount meet it.
     */
    mayBeTaken: (
      { dailyCap, heldBecause, refusals, shortOf }: ReadAccount,
      {
        below,
        isClosed,
        isInTurn
      }: { readonly isClosed: boolean; readonly isInTurn: boolean; readonly below?: number | undefined }
    ) =>
      Effect.map(accounts.spentToday, (spent) =>
        sql.and([
          isClosed ? sql.literal("may_have_left_at IS NOT NULL AND sends > 0") : always,
          below === undefined ? always : isBelow(below),
          heldBecause === balance && refusals >= 3 && shortOf !== null
            ? sql`(${isBelow(shortOf)} OR because = ${balance} OR NOT EXISTS (SELECT 1 FROM ${payouts} AS poor
                WHERE poor.account = ${account} AND ${sql.literal(isOpen.sql.replace("state", "poor.state"))} AND poor.because = ${balance}))`
            : always,
          dailyCap === null || !isInTurn ? always : sql`(counted_day IS NOT NULL OR NOT ${isOverRest(dailyCap, spent)})`
        ])
      ),
    /** Those below an amount come first, as SQL of an order. */
    firstBelow: (amount: number) => sql`(amount >= CAST(${amount} AS BIGINT))`,
    /** Finds a row, whatever is in the tables, as SQL. */
    anyRow: sql`SELECT 1`,
    /** Finds an open row that is due, as SQL. */
    findDue: Effect.map(
      databaseNow(database),
      (now) =>
        sql`SELECT 1 FROM ${payouts} WHERE ${ofAccount} AND ${open} AND due_at <= ${now} AND ${due.refused.isNot()}`
    ),
    /** All that are due, are counted on no day, and are above the rest of today's cap wait for the next day. */
    waitForTomorrow: (cap: number, dueIn: number) =>
      Effect.flatMap(
        Effect.all([due.dueIn(dueIn), databaseNow(database), accounts.spentToday]),
        ([later, now, spent]) =>
          sql`UPDATE ${payouts} SET ${later}, because = 'DailyCap', version = version + 1,
            waits_since = CASE WHEN because = 'DailyCap' THEN waits_since ELSE ${now} END
          WHERE ${ofAccount} AND ${open} AND due_at <= ${now} AND counted_day IS NULL AND ${isOverRest(cap, spent)}
            AND ${due.refused.isNot()}`
      )
  }
}
