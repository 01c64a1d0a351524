/**
 * Finds rows that wait for an element of the queue which is not there any more, as after a restore of one table alone.
 *
 * It pages through the waiting rows by their key, and looks each one's element up by the unique index of the queue's
 * table. A join would leave the choice of the index to statistics, which are stale where many rows came at once: over the
 * index of what can be taken, each row costs as much as all elements together.
 */
import * as Effect from "effect/Effect"
import type { Fragment } from "effect/sql/Statement"
import type { SqlError } from "effect/sql/SqlError"
import type { Database } from "./Database.ts"
import { queueTable } from "./Work.ts"

/** Rows that wait for an element of the queue. */
export interface WaitingRows {
  readonly queueName: string
  readonly table: string
  /** The column by which the rows are paged: an index on it has to hold the waiting rows alone. */
  readonly key: string
  /** The id of a row's element, as SQL. */
  readonly element: Fragment
  /** Which rows wait, as SQL. */
  readonly where: Fragment
}

/** A row by its key, and the id of the element that it has lost. */
export interface LostRow {
  readonly key: string
  readonly element: string
}

const pageSize = 500

/**
 * Gives each row whose element is not pending to `heal`, and answers how many there were. A row may have changed since
 * it was read: `heal` has to look whether it still waits for this element.
 */
export const healLost = <E, R>(
  { sql }: Pick<Database, "sql">,
  { element, key, queueName, table, where }: WaitingRows,
  heal: (row: LostRow) => Effect.Effect<unknown, E, R>
): Effect.Effect<number, E | SqlError, R> => {
  const page = (after: string) => sql<LostRow & { readonly state: string | null }>`
    SELECT ${sql(key)} AS "key", ${element} AS "element", (
      SELECT q.state FROM ${sql(queueTable)} AS q WHERE q.queue_name = ${queueName} AND q.id = ${element}
    ) AS "state"
    FROM ${sql(table)} WHERE ${where} AND ${sql(key)} > ${after} ORDER BY ${sql(key)} LIMIT ${pageSize}`
  const healAfter = (after: string, healed: number): Effect.Effect<number, E | SqlError, R> =>
    Effect.flatMap(page(after), (rows) => {
      const lost = rows.filter(({ state }) => state !== "pending")
      const last = rows.at(-1)
      return Effect.andThen(
        Effect.forEach(lost, heal, { discard: true }),
        last === undefined || rows.length < pageSize
          ? Effect.succeed(healed + lost.length)
          : healAfter(last.key, healed + lost.length)
      )
    })
  return healAfter("", 0)
}
