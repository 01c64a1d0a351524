/** A queue of jobs of your own, by four rules, and this library's queue: both are played under every fault and every death. */
import { Effect, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { IdempotencyKey, Money, Payments, Rehearsed } from "effect-pix"
import { NodeSqlite } from "effect-pix/node"
import { PayoutQueue } from "effect-pix/payouts"
import { Rehearsal } from "effect-pix/sandbox"

const reference = "invoice-42"
const amount = Money.centavos(1000)
const idempotencyKey = IdempotencyKey.fromReference("payout", reference)

const marked = Effect.gen(function* () {
  const payments = yield* Payments
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE IF NOT EXISTS payout AS SELECT 0 AS tries, 'open' AS state`
  const job = Effect.gen(function* () {
    const [row] = yield* sql`UPDATE payout SET tries = tries + 1 WHERE state = 'open' RETURNING tries`
    if (row === undefined) return
    const earlier = row["tries"] === 1 ? "None" : "Unknown"
    const paid = yield* Effect.result(payments.requestWithdrawal({ amount }, { idempotencyKey, earlier }))
    if (paid._tag === "Failure" && paid.failure.outcome !== "Rejected") return yield* paid.failure
    yield* Rehearsed.fact(paid._tag === "Failure" ? "failed" : "paid", { reference })
    yield* sql`UPDATE payout SET state = 'done'`
  })
  yield* Effect.retry(job, Schedule.spaced("1 hour"))
})

const queued = Effect.gen(function* () {
  const queue = yield* PayoutQueue
  yield* queue.submit({ reference, amount })
  const { state } = yield* queue.await(reference)
  if (state === "parked") yield* Rehearsed.fact("told", { reference })
}).pipe(Effect.provide(PayoutQueue.layer()))

const stores = NodeSqlite.layer({ filename: ":memory:" })
const reports = Effect.all([Rehearsal.run(marked, { stores }), Rehearsal.run(queued, { stores })])
export const broken = (await Effect.runPromise(reports)).flatMap(({ findings }) => findings) // => []
