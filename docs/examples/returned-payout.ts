/**
 * A payout that came back: the gateway tells by a webhook, the queue looks it up and hands the end out, and a person pays it
 * again to another key. What came back is never sent again by itself.
 */
import { Effect, Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { Money, PixKey } from "effect-pix"
import { NodeSqlite } from "effect-pix/node"
import { type OnState, PayoutQueue } from "effect-pix/payouts"
import { Sandbox, SandboxOptions } from "effect-pix/sandbox"
import { Webhook } from "effect-pix/webhook"

/** A line for each state, in the transaction that hands it out: who has to write to a payee reads it. */
const onState: OnState<SqlClient.SqlClient> = ({ amount, reference, state }, { id }) =>
  SqlClient.SqlClient.use((sql) => sql`INSERT INTO ledger ${sql.insert({ entry: id, reference, state, amount })}`)

/** The delivery is a claim: by it the payout is looked up at once. It fails where the payout is not known yet, and is called again. */
const webhook = Webhook.layerSql({
  onWithdrawal: (hint) => PayoutQueue.use((queue) => Effect.flatMap(queue.hint(hint), Effect.fromOption))
})

/** Says how the first one ended, and pays again under a new reference: both are committed, or neither. */
export const payAgain = Effect.fn("payAgain")(function* (reference: string, pixKey: PixKey.PixKey, by: string) {
  const [sql, queue] = [yield* SqlClient.SqlClient, yield* PayoutQueue]
  const { amount } = yield* Effect.flatMap(queue.status(reference), Effect.fromOption)
  const settled = queue.settle(reference, { as: "returned", by })
  // The reference is made from the first one's, so that a second call pays nothing.
  const anew = queue.submit({ reference: `${reference}-b`, amount, pixKey, by })
  return yield* sql.withTransaction(Effect.andThen(settled, anew))
})

const trial = Effect.gen(function* () {
  const sandbox = yield* Sandbox
  const queue = yield* PayoutQueue
  const sql = yield* SqlClient.SqlClient
  yield* sandbox.subscribe((yield* Webhook).answer)
  const lines = sql<{ readonly line: string }>`SELECT reference || ' ' || state AS line FROM ledger ORDER BY entry`
  const untilLines = (count: number) =>
    Effect.repeat(lines, { until: ({ length }) => length === count, schedule: Schedule.spaced("20 millis") })

  yield* queue.submit({
    reference: "invoice-42",
    amount: Money.centavos(2500),
    pixKey: PixKey.email("old@example.com"),
    by: "ana"
  })
  yield* queue.await("invoice-42")
  const [payout] = yield* sandbox.withdrawals
  // Paid, and back: the account of the payee was closed.
  yield* sandbox.settleWithdrawal(payout?.id ?? 0)
  yield* untilLines(2)
  yield* sandbox.returnWithdrawal(payout?.id ?? 0)
  yield* untilLines(3)

  yield* payAgain("invoice-42", PixKey.email("new@example.com"), "ana")
  yield* queue.await("invoice-42-b")
  return (yield* untilLines(4)).map(({ line }) => line)
})

const tables = Layer.effectDiscard(
  SqlClient.SqlClient.use(
    (sql) => sql`CREATE TABLE ledger (entry BIGINT PRIMARY KEY, reference TEXT, state TEXT, amount BIGINT)`
  )
)
// The lookup of a payout was seen at a gateway, and is not documented.
const gateway = Layer.provide(Sandbox.layerPayments, Layer.succeed(SandboxOptions, { balance: 10_000, as: "seen" }))
const layer = webhook.pipe(
  Layer.provideMerge(PayoutQueue.layer({ confirm: true, onState })),
  Layer.provideMerge(tables),
  Layer.provideMerge([NodeSqlite.layer({ filename: ":memory:" }), gateway])
)
export const result = await Effect.runPromise(Effect.provide(trial, layer)) // => ["invoice-42 posted", "invoice-42 paid", "invoice-42 returned", "invoice-42-b posted"]
