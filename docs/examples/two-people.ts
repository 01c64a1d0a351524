/** A payout needs two people: who proposes one does not approve it. The names are those of your own login. */
import { Effect, Layer } from "effect"
import { Money } from "effect-pix"
import { NodeSqlite } from "effect-pix/node"
import { PayoutQueue } from "effect-pix/payouts"
import { SqlClient } from "effect/sql"

const approve = Effect.fnUntraced(function* (reference: string, by: string) {
  const [sql, queue] = [yield* SqlClient.SqlClient, yield* PayoutQueue]
  const secondYes = Effect.gen(function* () {
    const [found] = yield* sql<{ readonly amount: number }>`UPDATE proposals SET approved_by = ${by}
      WHERE reference = ${reference} AND proposed_by <> ${by} AND approved_by IS NULL RETURNING amount`
    if (found === undefined) return "refused"
    return (yield* queue.submit({ reference, amount: Money.centavos(found.amount), by })).state
  })
  return yield* sql.withTransaction(secondYes)
})

const program = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE proposals (reference TEXT PRIMARY KEY, amount BIGINT, proposed_by TEXT, approved_by TEXT)`
  yield* sql`INSERT INTO proposals VALUES ('invoice-42', 1500000, 'ana', NULL)`
  return [yield* approve("invoice-42", "ana"), yield* approve("invoice-42", "bia"), yield* approve("invoice-42", "bia")]
})
const layer = Layer.provideMerge(PayoutQueue.layerClient(), NodeSqlite.layer({ filename: ":memory:" }))
export const done = await Effect.runPromise(Effect.provide(program, layer)) // => ["refused", "accepted", "refused"]
