import { assert, describe, it } from "@effect/vitest"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Redacted, Stream } from "effect"
import { PaymentsPolicy } from "effect-pix"
import { PayoutQueue } from "effect-pix/payouts"
import { Sandbox } from "effect-pix/sandbox"
import { SqlClient } from "effect/sql"
import { gateway, payout, payouts } from "../support/payoutQueue.ts"
import { noPgBouncer, pgBouncer } from "../support/pgbouncer.ts"
import { postgres } from "../support/database.ts"
import { noPostgres } from "../support/postgres.ts"

const absent = noPostgres() ?? noPgBouncer()

describe("PayoutQueue behind PgBouncer with pool_mode = transaction", () => {
  it.live.skipIf(absent !== undefined)(
    `pays each payout once where the client prepares no statements${absent === undefined ? "" : ` (${absent})`}`,
    () =>
      Effect.gen(function* () {
        const { url } = yield* postgres
        const client = PgClient.layer({ url: Redacted.make(yield* pgBouncer(url)), prepare: false })
        const options = { poll: "50 millis", perSecond: 1000, dailyCap: 1_000_000 } as const
        const layer = Layer.provideMerge(
          PayoutQueue.layer(options),
          Layer.mergeAll(client, gateway, PaymentsPolicy.layer(PaymentsPolicy.once))
        )
        yield* Effect.gen(function* () {
          const queue = yield* PayoutQueue
          const sql = yield* SqlClient.SqlClient
          // A second worker shares the few connections of the pooler.
          yield* Layer.build(PayoutQueue.layerWorker(options))
          yield* sql`CREATE TABLE invoices (id VARCHAR(20))`
          yield* Effect.flip(
            sql.withTransaction(
              sql`INSERT INTO invoices VALUES ('1')`.pipe(
                Effect.andThen(queue.submit(payout("undone"))),
                Effect.andThen(Effect.fail("no"))
              )
            )
          )
          const all = payouts(60)
          yield* sql.withTransaction(queue.submitMany(all))
          const ended = yield* Effect.forEach(all, ({ reference }) => queue.await(reference), {
            concurrency: "unbounded"
          })
          assert.deepStrictEqual(new Set(ended.map(({ state }) => state)), new Set(["posted"]))
          assert.lengthOf(yield* Stream.runCollect(queue.list()), 60)
          const sandbox = yield* Sandbox
          assert.lengthOf(yield* sandbox.withdrawals, 60)
        }).pipe(Effect.scoped, Effect.provide(layer))
      }),
    120_000
  )
})
