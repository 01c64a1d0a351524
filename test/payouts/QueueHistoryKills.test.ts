/**
 * A process that loses its connections before any of its statements on PostgreSQL, and does nothing more: what was committed
 * is a change with its entry of the history, or neither.
 */
import { PgClient } from "@effect/sql-pg"
import { assert, describe } from "@effect/vitest"
import { Context, Deferred, Effect, Layer, Logger, Redacted, Stream } from "effect"
import { PaymentsPolicy } from "effect-pix"
import { PayoutQueue } from "effect-pix/payouts"
import { Fault, Sandbox } from "effect-pix/sandbox"
import { SqlClient, Statement } from "effect/sql"
import { postgres } from "../support/database.ts"
import { gateway, payout } from "../support/payoutQueue.ts"
import { noPostgres } from "../support/postgres.ts"
import { runs, seed } from "../support/seed.ts"
import { live } from "../support/effect.ts"

const absent = noPostgres()
const name = "effect-pix-killed"

/** The steps of a worker and of an operator. */
const scenario = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const sandbox = yield* Sandbox
  const queue = yield* PayoutQueue
  yield* sandbox.fault("requestWithdrawal", Fault.refusal(422, "Chave PIX bloqueada."))
  yield* sql.withTransaction(queue.submit(payout("invoice-1")))
  yield* queue.await("invoice-1")
  yield* queue.retry("invoice-1", { by: "ana" })
  yield* queue.await("invoice-1")
  yield* queue.settle("invoice-1", { as: "failed", by: "ana", note: "returned" })
  yield* queue.setPaused(true, { by: "ana" })
  yield* queue.submitMany([payout("invoice-2"), payout("invoice-3")])
  yield* queue.park("invoice-2", { by: "ana" })
  yield* queue.resume("invoice-2")
})

describe("a process that is killed before any statement on PostgreSQL", () => {
  live.skipIf(absent !== undefined)("leaves a change with its entry of the history, or neither", function* () {
    const { url } = yield* postgres
    const admin = yield* Layer.build(PgClient.layer({ url: Redacted.make(url), maxConnections: 2 }))
    const sql = Context.get(admin, SqlClient.SqlClient)
    /** Runs the scenario until statement `last`, and returns whether it was reached. */
    const runUntil = Effect.fnUntraced(function* (last: number) {
      let isCounted = false
      let count = 0
      const isKilled = Deferred.makeUnsafe<void>()
      const transformer: Statement.Transformer = (statement) =>
        Effect.suspend(() => {
          if (!isCounted || ++count < last) return Effect.succeed(statement)
          const kill = sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = ${name}`
          const killed = Effect.andThen(Deferred.succeed(isKilled, undefined), Effect.die("killed"))
          return count > last ? killed : Effect.andThen(Effect.orDie(kill), killed)
        })
      const client = PgClient.layer({ url: Redacted.make(url), applicationName: name, maxConnections: 4 })
      const queue = PayoutQueue.layer({ poll: "1 hour", drain: "1 millis" }).pipe(
        Layer.provideMerge(Layer.mergeAll(Layer.fresh(client), Layer.fresh(gateway))),
        Layer.provide([
          PaymentsPolicy.layer(PaymentsPolicy.once),
          Layer.succeed(Statement.CurrentTransformer, transformer),
          Logger.layer([])
        ])
      )
      yield* Effect.gen(function* () {
        isCounted = true
        // A worker that was killed completes no await.
        yield* Effect.raceFirst(scenario, Deferred.await(isKilled))
      }).pipe(Effect.provideService(Statement.CurrentTransformer, transformer), Effect.provide(queue), Effect.exit)
      return count >= last
    })
    const check = Effect.gen(function* () {
      const queue = yield* PayoutQueue
      for (const { reference, state, ...status } of yield* Stream.runCollect(queue.list())) {
        const changes = yield* queue.history(reference)
        const mark = "mayHaveLeftAt" in status ? status.mayHaveLeftAt : undefined
        const [row] = yield* sql<{ readonly version: number; readonly sends: number }>`
            SELECT version, sends FROM effect_pix_payouts WHERE reference = ${reference}`
        assert.deepStrictEqual([changes.at(-1)?.state, changes.at(-1)?.mayHaveLeftAt], [state, mark], reference)
        assert.lengthOf(
          changes.filter(({ _tag }) => _tag === "Marked"),
          row?.sends ?? -1,
          reference
        )
        assert.strictEqual(changes[0]?._tag, "Submitted")
      }
      assert.lengthOf(
        yield* sql`SELECT 1 FROM effect_pix_payout_history
            WHERE idempotency_key NOT IN (SELECT idempotency_key FROM effect_pix_payouts)`,
        0
      )
      const { lastPause, paused } = yield* queue.account
      assert.strictEqual(paused, lastPause?.paused ?? false)
    }).pipe(
      Effect.provide(
        Layer.provideMerge(
          PayoutQueue.layerClient({ poll: "1 hour" }),
          Layer.merge(Layer.succeedContext(admin), Logger.layer([]))
        )
      )
    )
    // Of each `stride` statements one is tested; the seed decides which.
    const stride = runs(4, 1)
    let last = 1 + (seed % stride)
    while (yield* runUntil(last)) {
      last += stride
      yield* check
      yield* sql`TRUNCATE effect_pix_payouts, effect_pix_payout_history`
      yield* sql`UPDATE effect_pix_payout_accounts SET paused = FALSE, paused_at = NULL, pause = NULL`
    }
    assert.isAbove(last, 30)
  })
})
