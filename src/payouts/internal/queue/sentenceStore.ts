/**
 * The statements about the sentences that nobody knows: which payouts each parked, and what a person said of it.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { SqlError } from "effect/sql/SqlError"
import { Int, orNull } from "./columns.ts"
import type { Row } from "./row.ts"
import { allColumns, decodeRows, type StoreParts, table } from "./storeParts.ts"

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

export const makeSentenceStore = ({ account, database }: StoreParts) => {
  const { sql } = database
  const payouts = sql(table)
  const judgements = sql("effect_pix_payout_judgements")
  const ofAccount = sql`account = ${account}`
  /** What a sentence parked, or its judgement ended. */
  const isOf = sql`${ofAccount} AND digest IS NOT NULL AND amount IS NOT NULL AND (state = 'refused' OR state = 'parked' AND because IN ('RefusalUnknown', 'SeeRecord'))`
  const rows = (digest: string): Effect.Effect<ReadonlyArray<Row>, SqlError> =>
    Effect.flatMap(
      sql`SELECT ${sql.literal(allColumns)} FROM ${payouts} WHERE ${isOf} AND digest = ${digest} ORDER BY submitted_at, idempotency_key`,
      (found) => Effect.orDie(decodeRows(found))
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
