/**
 * The history of payouts on SQLite and on PostgreSQL, and after a process was killed.
 */
import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Layer, Option, Redacted, Schedule, type Scope, Stream } from "effect"
import { PaymentsPolicy } from "effect-pix"
import { NodeSqlite } from "effect-pix/node"
import { type PayoutChange, PayoutInsert, PayoutQueue, type PayoutQueueOptions } from "effect-pix/payouts"
import { Fault, Sandbox } from "effect-pix/sandbox"
import { SqlClient } from "effect/sql"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { migrate } from "../../src/durable/Tables.ts"
import { tables } from "../../src/payouts/internal/queue/tables.ts"
import { recorder } from "../differential/snapshots.ts"
import { databases, postgres } from "../support/database.ts"
import { gateway, payout } from "../support/payoutQueue.ts"
import { noPostgres } from "../support/postgres.ts"
import { live } from "../support/effect.ts"

const fast: PayoutQueueOptions = { poll: "50 millis", lease: "2 seconds" }
const policy = PaymentsPolicy.layer(PaymentsPolicy.once)

const statusOf = (reference: string) =>
  Effect.flatMap(PayoutQueue, (queue) => Effect.map(queue.status(reference), Option.getOrThrow))
const untilState = (reference: string, state: string) =>
  Effect.repeat(statusOf(reference), {
    until: (status) => status.state === state,
    schedule: Schedule.spaced("10 millis")
  })

/** A change in one line, without its times. */
const line = ({ _tag, state, ...change }: PayoutChange) => {
  const mark = change.mayHaveLeftAt === undefined ? "" : ", may have left"
  const person = "by" in change ? ` by ${change.by}: ${"note" in change ? change.note : undefined}` : ""
  const answer = "answer" in change ? ` ${change.answer} ${change.error?._tag ?? change.withdrawalId}` : ""
  const rest = "request" in change ? ` ${change.request}` : "because" in change ? ` ${change.because}` : ""
  const said = "notExecuted" in change && change.notExecuted ? " as not executed" : ""
  return `${_tag}${answer}${rest}${said}${person} > ${state}${mark}`
}
const linesOf = (reference: string) =>
  Effect.flatMap(PayoutQueue, (queue) => Effect.map(queue.history(reference), (changes) => changes.map(line)))

/** A payout that is lost, refused in doubt, parked, resumed and posted, and what an operator did to two others. */
const scenario = Effect.gen(function* () {
  const queue = yield* PayoutQueue
  const sandbox = yield* Sandbox
  yield* sandbox.fault("requestWithdrawal", Fault.resetAfter)
  yield* queue.submit(payout("lost"))
  yield* untilState("lost", "unknown")
  yield* queue.park("lost", { by: "ana", note: "the panel shows nothing" })
  yield* queue.resume("lost", { by: "bia", note: "it does now" })
  yield* untilState("lost", "posted")
  yield* sandbox.fault("requestWithdrawal", Fault.refusal(422, "Chave PIX bloqueada."))
  yield* queue.submit(payout("refused"))
  yield* untilState("refused", "refused")
  yield* queue.retry("refused", { by: "ana" })
  yield* untilState("refused", "posted")
  yield* queue.settle("refused", { as: "failed", by: "ana", note: "returned by the bank" })
  yield* queue.setPaused(true, { by: "ana", note: "an outage" })
  yield* queue.setPaused(false)
})

const absent = noPostgres()
for (const { client, dialect, name, skip } of databases) {
  const layer = () => Layer.provideMerge(PayoutQueue.layer(fast), Layer.mergeAll(client(), gateway, policy))
  const test = (
    title: string,
    effect: Effect.Effect<void, unknown, PayoutQueue | Sandbox | SqlClient.SqlClient | Scope.Scope>
  ) => it.live.skipIf(skip)(title, () => Effect.provide(Effect.scoped(effect), layer()))

  describe(`the history of a payout on ${name}`, () => {
    test(
      "has one entry for each change, in order, with the person and the reason of a step",
      Effect.gen(function* () {
        yield* scenario
        const queue = yield* PayoutQueue
        assert.deepStrictEqual(yield* linesOf("lost"), [
          "Submitted > accepted",
          "Marked 1 > accepted, may have left",
          "Answered Unknown OutcomeUnknown > unknown, may have left",
          "Parked Operator by ana: the panel shows nothing > parked, may have left",
          "Resumed by bia: it does now > unknown, may have left",
          "Marked 2 > unknown, may have left",
          "Answered Recorded 1 > posted"
        ])
        assert.deepStrictEqual(yield* linesOf("refused"), [
          "Submitted > accepted",
          "Marked 1 > accepted, may have left",
          "Answered Refused RequestRejected > refused",
          "Retried by ana: undefined > accepted",
          "Marked 2 > accepted, may have left",
          "Answered Recorded 2 > posted",
          "Settled by ana: returned by the bank > failed"
        ])
        const [first] = yield* queue.history("lost")
        const { submittedAt } = yield* statusOf("lost")
        assert.isTrue(first?._tag === "Submitted" && first.amount === 1000)
        assert.deepStrictEqual(first?.at, submittedAt)
        assert.deepStrictEqual((yield* queue.account).lastPause?.paused, false)
        assert.deepStrictEqual(yield* queue.history("never submitted"), [])
        assert.deepStrictEqual(yield* queue.history(" "), [])
      })
    )

    test(
      "names a payout that the service recorded after an operator settled it as failed",
      Effect.gen(function* () {
        const sandbox = yield* Sandbox
        const queue = yield* PayoutQueue
        yield* sandbox.fault("requestWithdrawal", Fault.latency("500 millis"))
        yield* queue.submit(payout("invoice-1"))
        yield* Effect.repeat(linesOf("invoice-1"), {
          until: ({ length }) => length === 2,
          schedule: Schedule.spaced("10 millis")
        })
        yield* queue.park("invoice-1")
        yield* queue.settle("invoice-1", { as: "failed" })
        yield* Effect.repeat(linesOf("invoice-1"), {
          until: ({ length }) => length === 5,
          schedule: Schedule.spaced("10 millis")
        })
        assert.deepStrictEqual((yield* linesOf("invoice-1")).slice(2), [
          "Parked Operator > parked, may have left",
          "Settled > failed",
          "Contradicted > failed"
        ])
      })
    )

    test(
      "refuses a `by` or a `note` that is too long or blank, and changes nothing",
      Effect.gen(function* () {
        const queue = yield* PayoutQueue
        yield* queue.setPaused(true)
        yield* queue.submit(payout("invoice-1"))
        const errors = yield* Effect.forEach(
          // A caller without types may give anything.
          [{ by: "x".repeat(101) }, { by: " ", note: "x".repeat(1001) }, { note: 7 as never }],
          (options) => Effect.flip(queue.park("invoice-1", options))
        )
        assert.deepStrictEqual(
          errors.map((error) => (error._tag === "InvalidRequest" ? error.issues.map(({ path }) => path) : error._tag)),
          [["by"], ["by", "note"], ["note"]]
        )
        const paused = yield* Effect.flip(queue.setPaused(false, { by: "\u200b\u2060" }))
        assert.strictEqual(paused._tag, "InvalidRequest")
        assert.isTrue(yield* queue.isPaused)
        assert.deepStrictEqual(yield* linesOf("invoice-1"), ["Submitted > accepted"])
        const longest = { by: "x".repeat(100), note: "ç\u0000\ud800".repeat(333) }
        yield* queue.park("invoice-1", longest)
        const [, parked] = yield* queue.history("invoice-1")
        assert.deepInclude(parked, longest)
      })
    )

    test(
      "has no person's data, and nothing of a submit that was rolled back",
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const queue = yield* PayoutQueue
        yield* scenario
        yield* Effect.flip(sql.withTransaction(Effect.andThen(queue.submit(payout("invoice-9")), Effect.fail("no"))))
        assert.deepStrictEqual(yield* queue.history("invoice-9"), [])
        const text = JSON.stringify(yield* sql`SELECT entry FROM effect_pix_payout_history`)
        assert.include(text, "returned by the bank")
        assert.notInclude(text, "maria")
      })
    )

    test(
      "begins with the submit where another program inserted the payout",
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const queue = yield* PayoutQueue
        const { parameters, text } = yield* Effect.fromResult(PayoutInsert.make(payout("invoice-1"), { dialect }))
        yield* sql.unsafe(text, parameters)
        yield* queue.await("invoice-1")
        assert.deepStrictEqual(yield* linesOf("invoice-1"), [
          "Submitted > accepted",
          "Marked 1 > accepted, may have left",
          "Answered Recorded 1 > posted"
        ])
      })
    )
  })
}

describe("tables of an older version", () => {
  const more = ["ALTER TABLE effect_pix_payouts ADD COLUMN more TEXT"]
  const newer = { name: tables.name, migrations: { ...tables.migrations, "0002_more": { pg: more, sqlite: more } } }

  live.skipIf(absent !== undefined)(
    "are refused by a program that may not change tables, which names both versions",
    function* () {
      const { url } = yield* postgres
      const owner = PgClient.layer({ url: Redacted.make(url) })
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* migrate(tables)
        yield* sql`CREATE ROLE reader LOGIN`
        yield* sql`REVOKE CREATE ON SCHEMA public FROM PUBLIC`
        yield* sql`GRANT ALL ON ALL TABLES IN SCHEMA public TO reader`
      }).pipe(Effect.provide(owner))
      const reader = PgClient.layer({ url: Redacted.make(url.replace("postgres@", "reader@")) })
      const error = yield* Effect.flip(Effect.provide(migrate(newer), reader))
      assert.strictEqual(error._tag, "ConfigurationError")
      assert.include(
        error.message,
        "effect_pix_payouts has tables of version 1 in this database, and version 2 is needed"
      )
    }
  )
})

describe("a process that is killed before any statement on its database", () => {
  live("leaves histories whose last states are those of the payouts", function* () {
    const folder = yield* Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "effect-pix-history-"))),
      (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true }))
    )
    const file = join(folder, "payouts.db")
    const queueOn = <E>(
      queue: Layer.Layer<PayoutQueue, E, SqlClient.SqlClient | Layer.Success<typeof gateway>>,
      filename: string
    ) =>
      queue.pipe(
        Layer.provideMerge(Layer.fresh(NodeSqlite.layer({ filename }))),
        Layer.provideMerge(Layer.mergeAll(Layer.fresh(gateway), policy))
      )
    let statements = 0
    const snapshots = yield* Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const queue = yield* PayoutQueue
      // A phase keeps 16 snapshots, so each has few statements.
      const { stop } = recorder(file, () => ({ phase: String(Math.floor(statements++ / 30)), world: undefined }))
      yield* scenario
      yield* sql.withTransaction(queue.submitMany([payout("invoice-1"), payout("invoice-2")]))
      yield* queue.await("invoice-1")
      yield* sql`UPDATE effect_pix_payouts SET updated_at = updated_at - 60000 WHERE reference = 'lost'`
      yield* Layer.build(PayoutQueue.layerWorker({ ...fast, forget: { data: "1 second" } }))
      yield* Effect.repeat(sql`SELECT 1 FROM effect_pix_payouts WHERE reference = 'lost' AND request IS NULL`, {
        until: ({ length }) => length === 1,
        schedule: Schedule.spaced("20 millis")
      })
      return stop()
    }).pipe(Effect.scoped, Effect.provide(queueOn(PayoutQueue.layer(fast), file)))
    assert.isAbove(snapshots.length, 30)

    for (const [at, { restore }] of snapshots.entries()) {
      const copy = join(folder, `${at}.db`)
      restore(copy)
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const queue = yield* PayoutQueue
        const rows = yield* Stream.runCollect(queue.list())
        for (const { reference, state, ...status } of rows) {
          const changes = yield* queue.history(reference)
          const last = changes.at(-1)
          const mark = "mayHaveLeftAt" in status ? status.mayHaveLeftAt : undefined
          assert.deepStrictEqual([last?.state, last?.mayHaveLeftAt], [state, mark], `snapshot ${at}, ${reference}`)
          const [row] = yield* sql<{ readonly sends: number }>`
              SELECT sends FROM effect_pix_payouts WHERE reference = ${reference}`
          assert.lengthOf(
            changes.filter(({ _tag }) => _tag === "Marked"),
            row?.sends ?? -1
          )
          assert.lengthOf(
            changes.filter(({ _tag }) => _tag === "Submitted"),
            1
          )
        }
        const orphans = yield* sql`SELECT 1 FROM effect_pix_payout_history
            WHERE idempotency_key NOT IN (SELECT idempotency_key FROM effect_pix_payouts)`
        assert.lengthOf(orphans, 0)
        const { lastPause, paused } = yield* queue.account
        assert.strictEqual(paused, lastPause?.paused ?? false)
      }).pipe(Effect.provide(queueOn(PayoutQueue.layerClient({ poll: Duration.hours(1) }), copy)))
    }
  })
})
