import { assert } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { Sandbox } from "effect-pix/sandbox"
import { SqlClient } from "effect/sql"
import { clientOf, postgres } from "../support/database.ts"
import { live } from "../support/effect.ts"
import { gatewayOnce, payout, payouts, startWorker } from "../support/payoutQueue.ts"
import { noPgBouncer, pgBouncer } from "../support/pgbouncer.ts"
import { noPostgres } from "../support/postgres.ts"

live.skipIf((noPostgres() ?? noPgBouncer()) !== undefined)(
  "workers behind PgBouncer pay each payout once where the client prepares no statements",
  gatewayOnce,
  function* () {
    const { url } = yield* postgres
    const pooled = yield* pgBouncer(url)
    const options = { poll: "20 millis", dailyCap: 1_000_000 } as const
    yield* Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const [queue] = yield* Effect.replicateEffect(startWorker(options), 2)
      if (queue === undefined) return
      yield* sql.withTransaction(Effect.andThen(queue.submit(payout("undone")), Effect.fail("no"))).pipe(Effect.flip)
      yield* sql.withTransaction(queue.submitMany(payouts(60)))
      yield* Effect.forEach(payouts(60), ({ reference }) => queue.await(reference), { concurrency: "unbounded" })
      assert.strictEqual(yield* Stream.runCount(queue.list({ state: "posted" })), 60)
      assert.lengthOf(yield* (yield* Sandbox).withdrawals, 60)
    }).pipe(Effect.scoped, Effect.provide(clientOf(pooled, { prepare: false })))
  }
)
