/**
 * What a worker does with a database that is older than what happened, or that may be: it pauses, doubts, or goes on. Restores of real
 * backups are in QueueRestores.test.ts.
 */
import { assert } from "@effect/vitest"
import { Effect, Layer, type Scope } from "effect"
import type { Payments, PaymentsClient } from "effect-pix"
import type { PayoutQueue, PayoutQueueOptions } from "effect-pix/payouts"
import { Fault, Sandbox } from "effect-pix/sandbox"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { clientOf, onPostgres, postgres } from "../support/database.ts"
import { effect } from "../support/effect.ts"
import { gatewayOnce, makeWarnings, payout, payouts, startClient, startWorker, world } from "../support/payoutQueue.ts"
import { storeOf } from "../support/payoutStore.ts"
import { stateOf } from "../support/payoutSeen.ts"

const minute = 60_000
const hour = 60 * minute

type World = SqlClient.SqlClient | Sandbox | Payments | PaymentsClient | Scope.Scope
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
/** Writes back when a worker was seen. */
const age = (millis: number) => run(`UPDATE effect_pix_payout_accounts SET seen_at = seen_at - ${millis}`)
/** The database had another timeline when a worker was seen in it. */
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

ask(
  "a worker goes on after any time, and what waited for longer than the horizon waits for a person",
  function* ({ lines, operator, sent, start }) {
    yield* operator.submitMany(payouts(2))
    yield* run("UPDATE effect_pix_payouts SET wanted_at = wanted_at - 46800000 WHERE reference = 'invoice-1'")
    yield* age(300 * hour)
    const queue = yield* start()
    yield* awaitAll(queue, 2)
    assert.deepStrictEqual(
      [yield* stateOf(queue, "invoice-1"), yield* stateOf(queue, "invoice-2"), yield* sent],
      ["parked WaitedTooLong", "posted", 1]
    )
    assert.isFalse(yield* operator.isPaused)
    assert.deepStrictEqual(
      lines.filter((line) => line.includes("another one")),
      []
    )
  }
)

for (const [title, hours, state] of [
  ["younger than the horizon", 1, "posted"],
  ["older than the horizon", 13, "parked PastHorizon"]
] as const)
  ask(
    `in a restored backup that is ${title} what is due is in doubt since a worker was seen, with one warning of the period`,
    function* ({ lines, operator, start }) {
      yield* operator.setPaused(true)
      yield* operator.submitMany(payouts(3))
      yield* run(
        `UPDATE effect_pix_payouts SET wanted_at = wanted_at - ${hours * hour}, submitted_at = submitted_at - ${hours * hour + 600_000}`
      )
      yield* Effect.andThen(promote, age(hours * hour - 1000))
      const [since] = yield* run("SELECT seen_at::float8 AS seen FROM effect_pix_payout_accounts")
      const [queue] = yield* Effect.all([start(), start(), start()], { concurrency: "unbounded" })
      const period = new Date(Number(since?.["seen"])).toISOString()
      const warned = lines.filter((line) => line.includes("is another one than before"))
      assert.lengthOf(warned, 1)
      for (const words of [
        `a worker was seen in it at ${period}`,
        "may be missing here, and may be paid",
        "3 payout(s) (R$ 30,00)"
      ])
        assert.include(warned[0], words)
      const [, doubted] = yield* queue.history("invoice-1")
      assert.deepStrictEqual(
        [doubted?._tag, doubted?.mayHaveLeftAt?.epochMilliseconds],
        ["Doubted", Number(since?.["seen"])]
      )
      yield* operator.setPaused(false)
      yield* awaitAll(queue, 3)
      assert.strictEqual(yield* stateOf(queue, "invoice-1"), state)
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

ask("a worker at work doubts what is in a restored table before it sends of it", function* ({ lines, start }) {
  const queue = yield* start()
  // The gate has read the account a moment ago, and reads it at most once a second.
  yield* queue.submit(payout("invoice-1"))
  yield* queue.await("invoice-1")
  yield* restoreTable(
    "UPDATE effect_pix_payouts SET state = 'accepted', withdrawal_id = NULL, due_at = 0, version = version + 1"
  )
  yield* queue.await("invoice-1")
  const tags = (yield* queue.history("invoice-1")).map(({ _tag }) => _tag)
  assert.deepStrictEqual(tags, ["Submitted", "Marked", "Answered", "Doubted", "Marked", "Answered"])
  assert.lengthOf(
    lines.filter((line) => line.includes("is another one than before")),
    1
  )
})

ask("when a worker was seen, and a check, are written in their own session, and a check once", function* () {
  const { accounts } = yield* storeOf()
  const { identity } = accounts
  const read = yield* accounts.get
  yield* run("UPDATE effect_pix_payout_accounts SET seen_at = 5")
  const seenAt = Effect.map(accounts.get, (account) => account.seenAt)
  yield* restoreTable()
  yield* identity.see(read.session, hour)
  assert.strictEqual(yield* seenAt, 5)
  const now = yield* accounts.get
  assert.isFalse(yield* identity.checked({ ...now, session: read.session }, "x", hour))
  assert.isFalse(yield* identity.checked({ ...now, seenAt: 4 }, "x", hour))
  assert.isTrue(yield* identity.checked(now, "x", hour))
  assert.isFalse(yield* identity.checked(now, "x", hour))
  yield* run("UPDATE effect_pix_payout_accounts SET seen_at = 5")
  yield* identity.see(now.session, hour)
  assert.isAbove(Number(yield* seenAt), 5)
})

ask("after a failover workers go on, and what may have left is in doubt", function* ({ lines, operator, start }) {
  yield* (yield* Sandbox).fault("requestWithdrawal", Fault.refusal(422, "Chave PIX bloqueada."), { times: 1000 })
  yield* operator.submitMany(payouts(5))
  yield* Effect.andThen(promote, age(minute))
  const [queue] = yield* Effect.all([start(), start(), start()], { concurrency: "unbounded" })
  yield* queue.submit(payout("later"))
  // An earlier row of its reference may be lost.
  yield* Effect.repeat(stateOf(queue, "later"), { until: (state) => state === "unknown" })
  const { fingerprint } = yield* queue.account
  for (const { reference } of payouts(5)) {
    // In doubt a refusal proves nothing.
    const changes = queue.history(reference)
    const [submitted, doubted, marked] = yield* Effect.repeat(changes, { until: ({ length }) => length >= 4 })
    assert.strictEqual(yield* stateOf(queue, reference), "unknown")
    assert.deepStrictEqual([doubted?._tag, marked?._tag], ["Doubted", "Marked"])
    assert.deepStrictEqual([doubted?.mayHaveLeftAt, marked?.mayHaveLeftAt], [submitted?.at, submitted?.at])
  }
  assert.deepStrictEqual(
    yield* run("SELECT DISTINCT fingerprint FROM effect_pix_payouts WHERE may_have_left_at IS NOT NULL"),
    [{ fingerprint }]
  )
  const moved = lines.filter((line) => line.includes("is another one than before"))
  assert.lengthOf(moved, 1)
  assert.include(moved[0], "5 payout(s) (R$ 50,00) of it may have been sent: they are in doubt")
})

/** Payouts that no worker can have sent without a mark, as SQL. */
const unsent: Readonly<Record<string, string>> = {
  "has its time ahead": "not_before = 32503680000000",
  "is parked": "state = 'parked', because = 'Operator'",
  "is in doubt already": "may_have_left_at = 1000",
  "is of another account": "account = 'other'"
}
ask("after a failover nothing is in doubt that surely was not sent", function* ({ lines, operator, serve }) {
  yield* operator.submitMany(Object.keys(unsent).map((reference) => payout(reference)))
  for (const [reference, set] of Object.entries(unsent))
    yield* run(`UPDATE effect_pix_payouts SET ${set} WHERE reference = '${reference}'`)
  yield* Effect.andThen(promote, age(minute))
  yield* serve
  const moved = lines.filter((line) => line.includes("0 payout(s) (R$ 0,00) of it may have been sent"))
  assert.lengthOf(moved, 1)
})

effect(
  "a copy of a file that is older than the horizon sends nothing by itself, whatever its payouts wait for",
  world,
  function* () {
    const { operator, sent, serve, start } = yield* use("1 hour")
    yield* serve
    yield* operator.setPaused(true)
    yield* operator.submitMany(payouts(2))
    yield* run("UPDATE effect_pix_payouts SET because = 'DailyCap', waits_since = 0 WHERE reference = 'invoice-2'")
    // No worker is seen.
    yield* TestClock.adjust("13 hours")
    yield* operator.setPaused(false)
    yield* start()
    yield* TestClock.adjust("1 minute")
    assert.strictEqual(yield* sent, 0)
    for (const { reference } of payouts(2))
      assert.strictEqual(yield* stateOf(operator, reference), "parked WaitedTooLong")
  }
)
