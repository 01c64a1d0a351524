import { assert, describe, layer } from "@effect/vitest"
import { DateTime, Effect, Result, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { Money, TransactionStream } from "effect-pix"
import type { ListOptions, TransactionPage } from "../../src/contract/Transaction.ts"
import { idsOf, streamBy } from "../support/movingList.ts"
import { layerPostgres } from "../support/database.ts"
import { noPostgres } from "../support/postgres.ts"

/** How many rows share one `createdAt`, and their order in the table. */
interface Table {
  readonly ties: number
  readonly order: "as inserted" | "half updated since" | "shuffled"
}

const count = 5000
const absent = noPostgres()

/** Fills the table. No row changes while the table is read. */
const fill = Effect.fnUntraced(function* ({ order, ties }: Table) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DROP TABLE IF EXISTS transactions`
  yield* sql`CREATE TABLE transactions (id integer PRIMARY KEY, created_at timestamptz NOT NULL, status text NOT NULL)`
  yield* sql`SELECT setseed(0.5)`
  const by = sql.literal(order === "shuffled" ? "random()" : "n")
  yield* sql`
    INSERT INTO transactions
    SELECT n, timestamptz '2026-01-01' + ((n + 16) / ${sql.literal(`${ties}`)}) * interval '1 second', 'PENDING'
    FROM generate_series(1, ${sql.literal(`${count}`)}) AS n ORDER BY ${by}`
  // PostgreSQL writes an updated row to another place of the table.
  if (order === "half updated since") yield* sql`UPDATE transactions SET status = 'PAID' WHERE id % 2 = 0`
  yield* sql`ANALYZE transactions`
})

/** The list of a service that sorts by `createdAt` alone. */
const service = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  let requests = 0
  const list = ({ page = 1, pageSize = 50, sort = "createdAt_desc" }: ListOptions = {}) =>
    Effect.gen(function* () {
      requests += 1
      const direction = sql.literal(sort === "createdAt_asc" ? "ASC" : "DESC")
      const rows = yield* sql<{ id: number; created_at: Date; status: string }>`
        SELECT id, created_at, status FROM transactions ORDER BY created_at ${direction}
        LIMIT ${sql.literal(`${pageSize}`)} OFFSET ${sql.literal(`${(page - 1) * pageSize}`)}`
      const answer: TransactionPage = {
        items: rows.map(({ created_at, id, status }) => ({
          id,
          amount: Money.centavos(100),
          status,
          createdAt: DateTime.fromDateUnsafe(created_at)
        })),
        totalItems: count,
        totalPages: Math.ceil(count / pageSize),
        currentPage: page,
        pageSize
      }
      return answer
    }).pipe(Effect.orDie)
  return { list, requests: () => requests }
})

describe.skipIf(absent !== undefined)(
  `TransactionStream on PostgreSQL${absent === undefined ? "" : ` (${absent})`}`,
  () => {
    layer(layerPostgres, { timeout: "120 seconds" })((it) => {
      for (const order of ["as inserted", "half updated since", "shuffled"] as const) {
        for (const ties of [3, 50, 500]) {
          it.effect(
            `a list that is sorted by createdAt alone, with ${ties} rows an instant, ${order}, is delivered whole or ends in MissingRows`,
            () =>
              Effect.gen(function* () {
                yield* fill({ ties, order })
                for (const sort of ["createdAt_asc", "createdAt_desc"] as const) {
                  const plain = yield* service
                  const looped = new Set<number>()
                  for (let page = 1; page <= count / 100; page++) {
                    for (const id of idsOf((yield* plain.list({ page, pageSize: 100, sort })).items)) looped.add(id)
                  }

                  const { list, requests } = yield* service
                  const rows: Array<number> = []
                  const result = yield* streamBy(list, { sort }).pipe(
                    Stream.runForEach((row) => Effect.sync(() => rows.push(row.id))),
                    Effect.result
                  )
                  assert.strictEqual(new Set(rows).size, rows.length, "a row was delivered twice")
                  assert.isAtLeast(rows.length, looped.size, "more rows were lost than by a plain loop")
                  assert.isAtMost(requests(), 400)
                  if (Result.isSuccess(result)) assert.strictEqual(rows.length, count)
                  else {
                    const error = result.failure
                    if (!(error instanceof TransactionStream.PaginationError)) return assert.fail(error.message)
                    assert.strictEqual(error.reason, "MissingRows")
                    assert.deepStrictEqual([error.counted, error.delivered], [count, rows.length])
                  }
                  // A look over a border shows all rows of an instant, if they are few enough.
                  if (ties <= 50) assert.isTrue(Result.isSuccess(result))
                }
              })
          )
        }
      }
    })
  }
)
