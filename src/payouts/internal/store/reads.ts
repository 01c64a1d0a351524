/**
 * The statements that read rows and their history.
 */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Fragment } from "effect/sql/Statement"
import { unpacked } from "../../../durable/Database.ts"
import { databaseNow } from "../../../durable/Now.ts"
import type { PayoutBecause } from "../../PayoutBecause.ts"
import type { PayoutState } from "../../PayoutState.ts"
import { waitsForTime } from "../machine/answers.ts"
import { Int, orNull } from "../machine/columns.ts"
import { isClaimed, isToCheck } from "../machine/conditions.ts"
import { Count, type Row } from "../machine/row.ts"
import type { StoreParts } from "./parts.ts"

const decodeCounts = Schema.decodeUnknownEffect(Schema.Array(Count))

/** How many posted payouts are counted at most. */
const mostPosted = 10_000

/** A position in a list that is ordered by a time and then by the key. */
export interface Cursor {
  readonly at: number
  readonly key: string
}

/** Which payouts a list has. */
export interface Listed {
  /** Default: all states. */
  readonly state?: PayoutState | undefined
  /** Those that wait, are in doubt or are parked for this. */
  readonly because?: PayoutBecause | undefined
  /** Those whose end a person has to find out. */
  readonly toCheck?: boolean | undefined
  /** From this time on, and before that one. */
  readonly since?: DateTime.DateTime | undefined
  readonly until?: DateTime.DateTime | undefined
}

export const makeReads = (parts: StoreParts) => {
  const { all, database, due, hasKeyOf, histories, isPg, latest, nothing, ofAccount, open, payouts, rowsOf, sql } =
    parts
  const movedAt = sql`(SELECT moved_at FROM effect_pix_payout_accounts WHERE ${ofAccount})`
  const select = (where: Fragment) => rowsOf(sql`SELECT ${all} FROM ${payouts} WHERE ${where}`)

  /** The cause that a row has of its own. The database may refuse to store that it refuses the row. */
  const own = () => sql`CASE WHEN ${due.refused.isNot()} THEN because ELSE 'Database' END`

  return {
    get: (key: string) => Effect.map(select(sql`${ofAccount} AND idempotency_key = ${key}`), ([row]) => row),
    /** The row of a number of a withdrawal; none where two have it. */
    ofWithdrawal: (id: number) =>
      Effect.map(select(sql`${ofAccount} AND withdrawal_id = ${id} LIMIT 2`), (rows) =>
        rows.length === 1 ? rows[0] : undefined
      ),
    /** The entries of a key, the oldest first. */
    history: (key: string) =>
      Effect.map(
        sql<{ readonly entry: string }>`SELECT entry AS "entry" FROM ${histories}
          WHERE ${ofAccount} AND idempotency_key = ${key} ORDER BY id`,
        (rows) => rows.map(({ entry }) => entry)
      ),
    /** The oldest first. */
    list: ({ because, since, state, toCheck, until }: Listed, after: Cursor, limit: number) => {
      // A state that the planner does not know keeps it from the index of what waits, which it prefers while its statistics are old.
      const inState = state === undefined ? nothing : sql`state = (SELECT CAST(${state} AS VARCHAR(10))) AND`
      // What an account waits for is no column of its payouts.
      const waits = because === undefined ? nothing : sql`state IN ('accepted', 'unknown', 'parked') AND`
      const checked =
        toCheck === undefined ? nothing : sql`${sql.literal(toCheck ? isToCheck.sql : `NOT ${isToCheck.sql}`)} AND`
      const from = since === undefined ? nothing : sql`submitted_at >= ${DateTime.toEpochMillis(since)} AND`
      const to = until === undefined ? nothing : sql`submitted_at < ${DateTime.toEpochMillis(until)} AND`
      return select(sql`${ofAccount} AND ${inState} ${waits} ${checked} ${from} ${to} (submitted_at, idempotency_key) > (${after.at}, ${after.key})
        ORDER BY submitted_at, idempotency_key LIMIT ${limit}`)
    },
    /** The given keys whose rows are open. */
    open: (keys: ReadonlyArray<string>) =>
      Effect.map(
        sql<{ readonly key: string }>`SELECT idempotency_key AS "key" FROM ${payouts}
          WHERE ${open} AND ${hasKeyOf(unpacked(database, JSON.stringify(keys)))}`,
        (rows) => rows.map(({ key }) => key)
      ),
    /** The rows of these keys. */
    find: (keys: ReadonlyArray<string>) => select(hasKeyOf(unpacked(database, JSON.stringify(keys)))),
    /** The rows of an amount that were submitted since a time, and that were or may be paid: what ended before a move of the database, too. */
    ofAmount: (amount: number, since: number) =>
      select(sql`${ofAccount} AND amount = ${amount} AND submitted_at >= ${since}
        AND (state NOT IN ('failed', 'refused', 'cancelled') OR submitted_at <= ${movedAt}) ORDER BY submitted_at, idempotency_key`),
    /**
     * The counts of what waits, is posted or has to be checked. Of what was posted since `postedSince` the oldest are counted, so that
     * no number of ended payouts makes it slower.
     * `today`: when the day began.
     */
    counts: (postedSince: number, today: number) =>
      Effect.flatMap(databaseNow(database), (now) => {
        // What waits for its time waits for nothing after it, and is old since then. What a worker took since has the time of its lease.
        const isForTime = sql.in("because", waitsForTime)
        // The first request of it, which is no alarm before its deadline.
        const isUnderWay = sql`may_have_left_at = marked_at AND under_way_until > ${now}`
        const why = sql`CASE WHEN state = 'unknown' THEN CASE WHEN ${isUnderWay} THEN 'UnderWay' END WHEN ${isForTime} AND (due_at <= ${now} OR tries > 0) THEN NULL ELSE ${own()} END`
        const time = sql`CASE WHEN ${isForTime} THEN CASE WHEN tries > 0 THEN ${today} ELSE due_at END ELSE 0 END`
        const since = sql`CASE WHEN state = 'unknown' THEN may_have_left_at ELSE ${latest}(submitted_at, COALESCE(not_before, 0), ${time}) END`
        const counted = (time: Fragment) => sql`COUNT(*) AS "count", MIN(${time}) AS "oldest", SUM(amount) AS "amount"`
        // Without statistics of its tables, SQLite takes another index, and reads every row.
        const by = (index: string) => sql.literal(isPg ? "" : `INDEXED BY effect_pix_payouts_${index}`)
        const posted = sql`SELECT marked_at, amount FROM ${payouts} ${by("posted")}
          WHERE ${ofAccount} AND state = 'posted' AND marked_at >= ${postedSince} ORDER BY marked_at LIMIT ${mostPosted}`
        const cause = sql`CASE WHEN contradicted THEN 'Contradicted' WHEN ended_as = 'unlisted' THEN 'Unlisted'
          WHEN ${sql.literal(isClaimed.sql)} THEN 'Claimed' ELSE 'Unconfirmed' END`
        const unlisted = sql`CASE WHEN ended_as = 'unlisted' THEN COALESCE(word, 'other') END`
        return Effect.flatMap(
          sql`SELECT 'Waits' AS "of", state AS "state", ${why} AS "cause", NULL AS "word", ${counted(since)}
            FROM ${payouts} WHERE ${ofAccount} AND state IN ('accepted', 'unknown', 'parked') GROUP BY 2, 3
          UNION ALL SELECT 'Posted', 'posted', NULL, NULL, ${counted(sql`marked_at`)} FROM (${posted}) AS posted HAVING COUNT(*) > 0
          UNION ALL SELECT 'ToCheck', 'posted', ${cause}, ${unlisted}, ${counted(sql`submitted_at`)}
            FROM ${payouts} ${by("check")} WHERE ${ofAccount} AND ${sql.literal(isToCheck.sql)} GROUP BY 3, 4`,
          (rows) => Effect.orDie(decodeCounts(rows))
        )
      })
  }
}

const Group = Schema.Struct({
  digest: Schema.String,
  count: Int,
  amount: Int,
  since: Int,
  judgement: orNull(Schema.String)
})
const decodeGroups = Schema.decodeUnknownEffect(Schema.Array(Group))

/** A sentence, and the oldest payout of it. */
export interface Sentence extends Schema.Schema.Type<typeof Group> {
  readonly row: Row
}

export const makeSentenceStore = ({ account, all, ofAccount, payouts, rowsOf, sql }: StoreParts) => {
  const judgements = sql("effect_pix_payout_judgements")
  /** What a sentence parked, or its judgement ended. */
  const isOf = sql`${ofAccount} AND digest IS NOT NULL AND (state = 'refused' OR state = 'parked' AND because IN ('RefusalUnknown', 'SeeRecord'))`
  const rows = (digest: string) =>
    rowsOf(
      sql`SELECT ${all} FROM ${payouts} WHERE ${isOf} AND digest = ${digest} ORDER BY submitted_at, idempotency_key`
    )
  const groups = (prefix: string) =>
    Effect.flatMap(
      sql`SELECT digest AS "digest", COUNT(*) AS "count", SUM(amount) AS "amount", MIN(may_have_left_at) AS "since",
          (SELECT judgement FROM ${judgements} AS judged WHERE judged.account = ${account} AND judged.digest = ${payouts}.digest) AS "judgement"
        FROM ${payouts} WHERE ${isOf} AND digest LIKE ${`${prefix}%`} GROUP BY digest ORDER BY 4, 1`,
      (found) => Effect.orDie(decodeGroups(found))
    )
  return {
    rows,
    /** The sentences whose digest begins so. */
    find: groups,
    all: Effect.flatMap(groups(""), (found) =>
      Effect.forEach(found, (group) =>
        // The group has a row.
        Effect.map(rows(group.digest), ([row]): Sentence => ({ ...group, row: row as Row }))
      )
    ),
    judge: (digest: string, judgement: string) =>
      sql`INSERT INTO ${judgements} (account, digest, judgement) VALUES (${account}, ${digest}, ${judgement})
        ON CONFLICT (account, digest) DO UPDATE SET judgement = excluded.judgement`,
    /** What a person said of a sentence. */
    judgement: (digest: string) =>
      Effect.map(
        sql<{
          readonly judgement: string
        }>`SELECT judgement AS "judgement" FROM ${judgements} WHERE ${ofAccount} AND digest = ${digest}`,
        ([found]) => found?.judgement
      )
  }
}
