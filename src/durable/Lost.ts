/**
 * Finds rows that wait for an element of the queue that no longer exists, for example after only one table was restored.
 *
 * Details: it reads the waiting rows in pages by their key, and looks up the element of each row by the unique index of the
 * queue's table. With a join, the database would choose the index by its statistics. After many inserts these are stale, and
 * with another index each row costs a scan of all elements.
 */
import * as Effect from "effect/Effect"
import type { Fragment } from "effect/sql/Statement"
import type { SqlError } from "effect/sql/SqlError"
import type { Database } from "./Database.ts"
import { queueTable } from "./Queue.ts"

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

/** The key of a row, and the id of its lost element. */
export interface LostRow {
  readonly key: string
  readonly element: string
}

const pageSize = 500

/**
 * Calls `heal` for each row whose element is not pending, and returns their number. A row may have changed since it was read:
 * `heal` has to check whether it still waits for this element.
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
