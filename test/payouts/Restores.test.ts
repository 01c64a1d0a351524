/**
 * What a worker does with a database that is older than what happened, or that may be: it pauses, doubts, or goes on. Restores of real
 * backups are in QueueRestores.test.ts.
 */
import { assert } from "@effect/vitest"
import { Effect, Layer, type Scope } from "effect"
import type { Payments } from "effect-pix"
import type { PayoutQueue, PayoutQueueOptions } from "effect-pix/payouts"
import { Fault, Sandbox } from "effect-pix/sandbox"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { database } from "../../src/durable/Database.ts"
import { makeStore } from "../../src/payouts/internal/queue/store.ts"
import { clientOf, onPostgres, postgres } from "../support/database.ts"
import { effect } from "../support/effect.ts"
import { gatewayOnce, makeWarnings, payout, payouts, startClient, startWorker, world } from "../support/payoutQueue.ts"
import { stateOf } from "../support/payoutSeen.ts"

const minute = 60_000
const hour = 60 * minute

type World = SqlClient.SqlClient | Sandbox | Payments | Scope.Scope
type Of = Effect.Success<ReturnType<typeof use>>

const use = Effect.fnUntraced(function* (poll: "20 millis" | "1 hour" = "20 millis") {
  const { layer, lines } = makeWarnings()
  const start = (options: PayoutQueueOptions = {}) => Effect.provide(startWorker({ poll, ...options }), layer)
  return {
    lines,
    operator: yield* startClient({ poll }),
    sent: Sandbox.use(({ requests }) => Effect.map(requests, ({ length }) => length)),
    /** A worker that served the database, and is gone. */
    serve: Effect.scoped(start()),
    start
  }
})
const awaitAll = (queue: PayoutQueue["Service"], count: number) =>
  Effect.forEach(payouts(count), ({ reference }) => queue.await(reference))

/** Asks PostgreSQL. A worker has served the database before. */
const ask = (
  title: string,
  body: (world: Of, url: string) => Generator<Effect.Effect<unknown, unknown, World>, unknown, never>
) =>
  onPostgres(title, gatewayOnce, function* () {
    const { url } = yield* postgres
    yield* Effect.gen(function* () {
      const world = yield* use()
      yield* world.serve
      yield* Effect.gen(() => body(world, url))
    }).pipe(Effect.scoped, Effect.provide(clientOf(url)))
  })

const run = (statement: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe<Record<string, unknown>>(statement))
/** Writes the heartbeat back. */
const age = (millis: number) => run(`UPDATE effect_pix_payout_accounts SET beat_at = beat_at - ${millis}`)
/** The database had another timeline at its last heartbeat. */
const promote = run(
  "UPDATE effect_pix_payout_accounts SET identity = REGEXP_REPLACE(identity, '/[0-9A-F]{8}/', '/0000FFFF/')"
)
/** Replaces the table of payouts by a copy of what it had before, as a restore does: in one transaction. */
const restoreTable = (also = "NULL") =>
  run(`DO $$ BEGIN
    CREATE TABLE restored (LIKE effect_pix_payouts INCLUDING ALL);
    INSERT INTO restored SELECT * FROM effect_pix_payouts;
    DROP TABLE effect_pix_payouts;
    ALTER TABLE restored RENAME TO effect_pix_payouts;
    ${also};
  END $$`)

ask("a worker goes on after 23 hours, and where a person ended a pause", function* ({ lines, operator, sent, start }) {
  yield* operator.submitMany(payouts(2))
  yield* age(23 * hour)
  yield* Effect.scoped(Effect.flatMap(start(), (queue) => awaitAll(queue, 2)))
  yield* operator.submit(payout("invoice-3"))
  yield* Effect.andThen(promote, age(30 * hour))
  for (const paused of [true, false]) yield* operator.setPaused(paused, { by: "ana" })
  yield* (yield* start()).await("invoice-3")
  assert.strictEqual(yield* sent, 3)
  assert.deepStrictEqual(lines, [])
})

for (const [title, since, note] of [
  ["after 25 hours without a worker", age(25 * hour), "No worker has served the account default since 20"],
  [
    "in a restored backup",
    Effect.andThen(promote, age(16 * minute)),
    "is a restored backup or a copy, last written by a worker at 20"
  ]
] as const)
  ask(
    `a worker pauses ${title}, says what waits and how to go on, and pauses no second time`,
    function* ({ lines, operator, sent, start }) {
      yield* operator.submitMany(payouts(3))
      yield* since
      yield* Effect.scoped(Effect.all([start(), start(), start()], { concurrency: "unbounded" }))
      const { lastPause, paused } = yield* operator.account
      assert.isTrue(paused)
      assert.deepStrictEqual(lines, [lastPause?.note])
      for (const words of [note, "3 payout(s) (R$ 30,00) wait", "effect-pix payouts continue --account default"])
        assert.include(lines[0], words)
      assert.strictEqual(yield* sent, 0)
      yield* operator.setPaused(false, { by: "ana" })
      // A worker that was stopped while it took them had them until the end of its lease.
      yield* run("UPDATE effect_pix_payouts SET due_at = 0")
      yield* awaitAll(yield* start(), 3)
      assert.strictEqual(yield* sent, 3)
      assert.lengthOf(lines, 1)
    }
  )

ask(
  "a worker from whom the server hides its cluster compares the table",
  function* ({ lines, operator, sent, start }, url) {
    yield* run(
      "REVOKE EXECUTE ON FUNCTION pg_control_system(), pg_walfile_name(pg_lsn), pg_current_wal_lsn() FROM PUBLIC"
    )
    yield* run("UPDATE effect_pix_payout_accounts SET identity = NULL")
    const role = `${url.replace(/.*\//, "")}_app`
    yield* run(`CREATE ROLE ${role} LOGIN IN ROLE pg_read_all_data, pg_write_all_data`)
    yield* Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const queue = yield* start()
      yield* sql.withTransaction(queue.setPaused(false))
      yield* queue.submit(payout("invoice-1"))
      yield* queue.await("invoice-1")
    }).pipe(Effect.scoped, Effect.provide(Layer.fresh(clientOf(url.replace("postgres@", `${role}@`)))))
    const [row] = yield* run("SELECT identity FROM effect_pix_payout_accounts")
    assert.match(String(row?.["identity"]), /^\/\/\d+\/\d+$/)
    assert.strictEqual(yield* sent, 1)
    assert.isFalse(yield* operator.isPaused)
    assert.deepStrictEqual(lines, [])
  }
)

ask("a worker at work pauses in a restored table, and sends nothing of it", function* ({ lines, sent, start }) {
  const queue = yield* start()
  // The gate has read the account a moment ago, and reads it at most once a second.
  yield* queue.submit(payout("invoice-1"))
  yield* queue.await("invoice-1")
  yield* restoreTable(
    "UPDATE effect_pix_payouts SET state = 'accepted', withdrawal_id = NULL, due_at = 0, version = version + 1"
  )
  yield* Effect.repeat(queue.isPaused, { until: (isPaused) => isPaused })
  assert.strictEqual(yield* sent, 1)
  assert.lengthOf(lines, 1)
  yield* run("UPDATE effect_pix_payouts SET state = 'posted', version = version + 1")
  yield* queue.setPaused(false)
})

ask("a heartbeat and a judgement are written in their own session, and a judgement once", function* () {
  const { accounts } = makeStore(yield* database, { account: "default", lease: 30_000 })
  const { identity } = accounts
  const read = yield* accounts.get
  yield* run("UPDATE effect_pix_payout_accounts SET beat_at = 5")
  const beatAt = Effect.map(accounts.get, (account) => account.beatAt)
  yield* restoreTable()
  yield* identity.beat(read.session)
  assert.strictEqual(yield* beatAt, 5)
  const now = yield* accounts.get
  assert.isFalse(yield* identity.judged({ ...now, session: read.session }, "x"))
  assert.isUndefined(yield* identity.moved({ ...now, beatAt: 4 }, "x", 0, 0))
  assert.isTrue(yield* identity.judged(now, "x"))
  assert.isFalse(yield* identity.judged(now, "x"))
  yield* run("UPDATE effect_pix_payout_accounts SET beat_at = 5")
  yield* identity.beat(now.session)
  assert.isAbove(Number(yield* beatAt), 5)
})

ask("after a failover workers go on, and what may have left is in doubt", function* ({ lines, operator, start }) {
  yield* (yield* Sandbox).fault("requestWithdrawal", Fault.refusal(422, "Chave PIX bloqueada."), { times: 1000 })
  yield* operator.submitMany(payouts(5))
  yield* Effect.andThen(promote, age(minute))
  const [queue] = yield* Effect.all([start(), start(), start()], { concurrency: "unbounded" })
  yield* queue.submit(payout("later"))
  assert.strictEqual((yield* queue.await("later")).state, "refused")
  const { fingerprint } = yield* queue.account
  for (const { reference } of payouts(5)) {
    // In doubt a refusal proves nothing.
    yield* Effect.repeat(stateOf(queue, reference), { until: (state) => state === "unknown" })
    const [submitted, doubted, marked] = yield* queue.history(reference)
    assert.deepStrictEqual([doubted?._tag, marked?._tag], ["Doubted", "Marked"])
    assert.deepStrictEqual([doubted?.mayHaveLeftAt, marked?.mayHaveLeftAt], [submitted?.at, submitted?.at])
  }
  assert.deepStrictEqual(
    yield* run("SELECT DISTINCT fingerprint FROM effect_pix_payouts WHERE may_have_left_at IS NOT NULL"),
    [{ fingerprint }]
  )
  const moved = lines.filter((line) => line.includes("has moved"))
  assert.lengthOf(moved, 1)
  assert.include(moved[0], "5 payout(s) (R$ 50,00) may have been sent meanwhile: they are in doubt")
})

/** Payouts that no worker can have sent without a mark, as SQL. */
const unsent: Readonly<Record<string, string>> = {
  "waits for the next day": "due_at = due_at + 36000000, waits_for = 'DailyCap'",
  "is of a run that was over": "run_by = 'run', run_until = 1000",
  "needs an approval": "needs_approval = TRUE",
  "is above the limit": "amount = 9000",
  "is parked": "state = 'parked', parked_because = 'Operator'",
  "is in doubt already": "may_have_left_at = 1000",
  "is of another account": "account = 'other'"
}
ask("after a failover nothing is in doubt that surely was not sent", function* ({ lines, operator, serve }) {
  yield* operator.submitMany(Object.keys(unsent).map((reference) => payout(reference)))
  for (const [reference, set] of Object.entries(unsent))
    yield* run(`UPDATE effect_pix_payouts SET ${set} WHERE reference = '${reference}'`)
  yield* run("UPDATE effect_pix_payout_accounts SET four_eyes_above = 8000")
  yield* Effect.andThen(promote, age(minute))
  yield* serve
  yield* operator.setPaused(true)
  yield* operator.submit(payout("of a paused account"))
  yield* Effect.andThen(promote, age(minute))
  yield* serve
  const moved = lines.filter((line) => line.includes("0 payout(s) (R$ 0,00) may have been sent"))
  assert.lengthOf(moved, 2)
})

effect("a worker on a file goes on after any time, and with pausedAfter pauses after that time", world, function* () {
  yield* Effect.scoped(Effect.flatMap(use(), ({ serve }) => serve))
  yield* TestClock.adjust("400 days")
  const { lines, operator, sent, serve, start } = yield* use("1 hour")
  yield* serve
  assert.deepStrictEqual(lines, [])
  yield* Effect.scoped(Effect.andThen(start({ pausedAfter: "1 hour" }), TestClock.adjust("3 hours")))
  yield* TestClock.adjust("58 minutes")
  yield* Effect.scoped(start({ pausedAfter: "1 hour" }))
  assert.isFalse(yield* operator.isPaused)
  yield* operator.submit(payout("invoice-1"))
  yield* TestClock.adjust("61 minutes")
  yield* start({ pausedAfter: "1 hour" })
  yield* TestClock.adjust("1 minute")
  assert.strictEqual(yield* sent, 0)
  assert.include(lines[0], "No worker has served the account default since 1971-02-05T03:58:00.000Z")
  yield* operator.setPaused(false)
  yield* TestClock.adjust("2 seconds")
  assert.strictEqual(yield* sent, 1)
})
