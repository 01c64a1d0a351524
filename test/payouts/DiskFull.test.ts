/** What the queue of payouts says and does while its database refuses writes, as on a full disk. */
import { assert } from "@effect/vitest"
import { Effect, Metric, Stream } from "effect"
import { Sandbox } from "effect-pix/sandbox"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { effect } from "../support/effect.ts"
import { makeWarnings, payout, startWorker, world } from "../support/payoutQueue.ts"

/** Every warning and error that is logged under the layer, with its cause if there is one. */
const makeLines = () =>
  makeWarnings((line, { cause, logLevel }) => `${logLevel}: ${line}${cause.reasons.length > 0 ? " and a cause" : ""}`)

const failuresOf = (kind: string) =>
  Effect.map(Metric.snapshot, (metrics) => {
    const found = metrics.find(
      ({ attributes, id }) => id === "effect_pix_database_failures" && attributes?.["error.type"] === kind
    )
    return found?.type === "Counter" ? Number(found.state.count) : 0
  })

const minutes = (count: number) => Effect.repeat(TestClock.adjust("10 seconds"), { times: count * 6 - 1 })

effect("a full disk is named by the error, a line a minute and a metric, and payouts wait", world, function* () {
  const { layer, lines } = makeLines()
  const sql = yield* SqlClient.SqlClient
  const queue = yield* Effect.provide(startWorker(), layer)
  yield* queue.setPaused(true)
  const counted = yield* failuresOf("DiskFull")
  const [pages] = yield* sql<{ readonly page_count: number }>`PRAGMA page_count`
  yield* sql.unsafe(`PRAGMA max_page_count = ${(pages?.page_count ?? 0) + 4}`)
  const submit = (count: number): Effect.Effect<{ readonly count: number; readonly error: unknown }> =>
    Effect.matchEffect(queue.submit(payout(`invoice-${count}`)), {
      onFailure: (error) => Effect.succeed({ count, error }),
      onSuccess: () => submit(count + 1)
    })
  const { count, error } = yield* Effect.provide(submit(0), layer)
  assert.isAbove(count, 10)
  assert.deepInclude(error, { _tag: "DatabaseError", operation: "submit", reason: "DiskFull", isRetryable: true })
  yield* queue.setPaused(false)
  yield* minutes(3)
  assert.isAbove((yield* failuresOf("DiskFull")) - counted, 100)
  // At its begin, and at the end of each of the three minutes; and nothing else.
  assert.lengthOf(lines, 4)
  for (const line of lines)
    assert.match(line, /^Error: The database fails: the disk of the database is full\. Free space on it\.[^:]*$/)
  yield* sql`PRAGMA max_page_count = 1000000`
  yield* minutes(10)
  // Where the mark was stored and the answer was not, the queue has asked again with the same key.
  assert.lengthOf(yield* (yield* Sandbox).withdrawals, count)
  assert.strictEqual(yield* Stream.runCount(queue.list({ state: "posted" })), count)
})
