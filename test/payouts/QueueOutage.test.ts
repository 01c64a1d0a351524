/**
 * A worker that starts while its PostgreSQL is down after a power cut (kill -9 of the server).
 */
import { assert, describe } from "@effect/vitest"
import { PgClient } from "@effect/sql-pg"
import { Effect, Fiber, Layer, Logger, Queue, Redacted } from "effect"
import { PayoutQueue } from "effect-pix/payouts"
import { gateway, payout } from "../support/payoutQueue.ts"
import { noPostgres, startPostgres } from "../support/postgres.ts"
import { live } from "../support/effect.ts"

const absent = noPostgres()

describe("a worker that starts while PostgreSQL is down", () => {
  live.skipIf(absent !== undefined)(
    `logs that it waits, and pays as soon as PostgreSQL answers${absent === undefined ? "" : ` (${absent})`}`,
    function* () {
      const server = yield* Effect.acquireRelease(
        Effect.promise(() => startPostgres()),
        ({ stop }) => Effect.promise(stop)
      )
      yield* Effect.promise(server.crash)
      const lines = yield* Queue.unbounded<string>()
      const logger = Logger.make(({ message }) => void Queue.offerUnsafe(lines, String(message)))
      const paying = Effect.gen(function* () {
        const queue = yield* PayoutQueue
        yield* queue.submit(payout("invoice-1"))
        return yield* queue.await("invoice-1")
      }).pipe(
        Effect.provide(
          Layer.provideMerge(PayoutQueue.layer({ poll: "50 millis" }), [
            PgClient.layer({ url: Redacted.make(server.url) }),
            gateway,
            Logger.layer([logger])
          ])
        )
      )
      const fiber = yield* Effect.forkScoped(paying)
      const said = yield* Queue.take(lines)
      assert.strictEqual(said, "The database cannot be reached. This is retried until it can.")
      yield* Effect.promise(server.start)
      assert.strictEqual((yield* Fiber.join(fiber)).state, "posted")
    }
  )
})
