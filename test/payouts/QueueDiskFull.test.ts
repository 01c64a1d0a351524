/** What the queue of payouts says and does while its database refuses writes, as on a full disk. */
import { assert, describe, it } from "@effect/vitest"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Logger, Metric, Redacted, Stream } from "effect"
import { PaymentsPolicy } from "effect-pix"
import { NodeSqlite } from "effect-pix/node"
import { PayoutQueue } from "effect-pix/payouts"
import { Sandbox } from "effect-pix/sandbox"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { postgres } from "../support/database.ts"
import { gateway, isOfNoSeal, payout } from "../support/payoutQueue.ts"
import { noPostgres } from "../support/postgres.ts"
import { live } from "../support/effect.ts"

interface Line {
  readonly text: string
  readonly level: string
  readonly hasCause: boolean
}

/** Every warning and error that is logged under the layer. */
const makeLines = () => {
  const lines: Array<Line> = []
  const logger = Logger.make(({ cause, logLevel, message }) => {
    // A loaded machine makes the test clock warn.
    if (
      (logLevel !== "Warn" && logLevel !== "Error") ||
      String(message).includes("test clock") ||
      isOfNoSeal(String(message))
    )
      return
    lines.push({ text: String(message), level: logLevel, hasCause: cause.reasons.length > 0 })
  })
  return { lines, layer: Logger.layer([logger]) }
}

const failuresOf = (kind: string) =>
  Effect.map(Metric.snapshot, (metrics) => {
    const found = metrics.find(
      ({ attributes, id }) => id === "effect_pix_database_failures" && attributes?.["error.type"] === kind
    )
    return found?.type === "Counter" ? Number(found.state.count) : 0
  })

const setPages = (count: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(`PRAGMA max_page_count = ${count}`))

/** Submits payouts until the disk is full. */
const fill = Effect.gen(function* () {
  const queue = yield* PayoutQueue
  const sql = yield* SqlClient.SqlClient
  const [pages] = yield* sql<{ readonly page_count: number }>`PRAGMA page_count`
  yield* setPages(`${(pages?.page_count ?? 0) + 4}`)
  for (let accepted = 0; ; accepted++) {
    const exit = yield* Effect.result(queue.submit(payout(`invoice-${accepted}`)))
    if (exit._tag === "Failure") return { accepted, error: exit.failure }
  }
})

const minutes = (count: number) => Effect.repeat(TestClock.adjust("10 seconds"), { times: count * 6 - 1 })

const world = Layer.suspend(() =>
  Layer.mergeAll(
    Layer.fresh(NodeSqlite.layer({ filename: ":memory:" })),
    Layer.fresh(gateway),
    PaymentsPolicy.layer(PaymentsPolicy.once)
  )
)

const sentence = /^The database fails: the disk of the database is full\. Free space on it\./

describe("a queue of payouts on a full disk", () => {
  it.effect(
    "is said by name: by the error, by one line a minute and by a metric; its payouts wait, and are paid later",
    () => {
      const { layer, lines } = makeLines()
      return Effect.gen(function* () {
        const queue = yield* PayoutQueue
        const sandbox = yield* Sandbox
        yield* queue.setPaused(true)
        const counted = yield* failuresOf("DiskFull")
        const { accepted, error } = yield* fill
        assert.isAbove(accepted, 10)
        assert.deepInclude(error, { _tag: "DatabaseError", operation: "submit", reason: "DiskFull", isRetryable: true })
        assert.include(
          error.message,
          "the disk of the database is full. Free space on it. Then it is safe to try again."
        )
        assert.strictEqual((yield* failuresOf("DiskFull")) - counted, 1)
        assert.lengthOf(
          lines.filter(({ level, text }) => level === "Error" && sentence.test(text)),
          1
        )

        yield* queue.setPaused(false)
        yield* minutes(3)
        assert.isAbove((yield* failuresOf("DiskFull")) - counted, 100)
        // At its begin, and at the end of each of the three minutes.
        assert.lengthOf(
          lines.filter(({ text }) => sentence.test(text)),
          4
        )
        // Nothing else is said of it, and no line is without a text.
        assert.deepStrictEqual(
          lines.filter(({ hasCause, text }) => text === "" || hasCause || !sentence.test(text)),
          []
        )

        yield* setPages("1000000")
        yield* minutes(10)
        // Where the mark was stored and the answer was not, the queue has asked again with the same key.
        assert.lengthOf(yield* sandbox.withdrawals, accepted)
        assert.deepStrictEqual(
          (yield* Stream.runCollect(queue.list())).filter(({ state }) => state !== "posted"),
          []
        )
      }).pipe(Effect.provide(Layer.provideMerge(PayoutQueue.layer(), Layer.merge(world, layer))))
    }
  )
})

describe("a queue whose polls fail", () => {
  it.effect("says so once a minute with a text, and pays when its polls succeed again", () => {
    const { layer, lines } = makeLines()
    return Effect.gen(function* () {
      const queue = yield* PayoutQueue
      const sql = yield* SqlClient.SqlClient
      const counted = yield* failuresOf("ConstraintError")
      yield* sql`CREATE TRIGGER broken BEFORE UPDATE ON effect_pix_payouts BEGIN SELECT RAISE(ABORT, 'maria@example.com'); END`
      yield* queue.submit(payout("invoice-1"))
      yield* minutes(3)
      assert.isAbove((yield* failuresOf("ConstraintError")) - counted, 100)
      assert.deepStrictEqual(
        lines,
        Array.from({ length: 4 }, () => ({
          text: "Payouts: the queue did not answer, it is polled again",
          level: "Warn",
          hasCause: false
        }))
      )
      yield* sql`DROP TRIGGER broken`
      yield* minutes(1)
      assert.strictEqual((yield* queue.await("invoice-1")).state, "posted")
    }).pipe(Effect.provide(Layer.provideMerge(PayoutQueue.layer(), Layer.merge(world, layer))))
  })
})

describe("a database that refuses writes", () => {
  const absent = noPostgres()
  live.skipIf(absent !== undefined)(
    `a PostgreSQL that is full or read-only is named by the error${absent === undefined ? "" : ` (${absent})`}`,
    function* () {
      const { url } = yield* postgres
      const client = PgClient.layer({ url: Redacted.make(url), maxConnections: 1 })
      yield* Effect.gen(function* () {
        const queue = yield* PayoutQueue
        const sql = yield* SqlClient.SqlClient
        yield* sql`SET default_transaction_read_only = on`
        const readOnly = yield* Effect.flip(queue.submit(payout("invoice-1")))
        assert.deepInclude(readOnly, { _tag: "DatabaseError", reason: "ReadOnly", isRetryable: true })
        yield* sql`SET default_transaction_read_only = off`
        // What the server answers where a file cannot grow.
        yield* sql.unsafe(`CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$`)
        yield* sql`CREATE TRIGGER full_disk BEFORE INSERT ON effect_pix_payouts EXECUTE FUNCTION full_disk()`
        const full = yield* Effect.flip(queue.submit(payout("invoice-1")))
        assert.deepInclude(full, { _tag: "DatabaseError", reason: "DiskFull", isRetryable: true })
      }).pipe(Effect.provide(Layer.provideMerge(PayoutQueue.layerClient(), client)))
    }
  )
})
