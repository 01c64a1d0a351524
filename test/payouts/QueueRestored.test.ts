/**
 * What a worker does with a database that is older than what happened, or that may be: it pauses, doubts, or goes on. Restores of
 * real backups are in QueueRestores.test.ts.
 */
import { assert, describe, it } from "@effect/vitest"
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Exit, Layer, Option, Redacted, Schedule, Scope } from "effect"
import { PaymentsPolicy } from "effect-pix"
import { PayoutQueue, type PayoutQueueOptions } from "effect-pix/payouts"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { type Misbehaviour, makeBank } from "../support/bank.ts"
import { postgres } from "../support/database.ts"
import { makeWarnings, memory, payout, payouts } from "../support/payoutQueue.ts"
import { noPostgres } from "../support/postgres.ts"
import { database as databaseOf } from "../../src/durable/Database.ts"
import { makeStore } from "../../src/payouts/internal/queue/store.ts"
import { live } from "../support/effect.ts"

const absent = noPostgres()
const why = absent === undefined ? "" : ` (${absent})`
const minute = 60_000
const hour = 60 * minute

/** A gateway, what is logged, and workers on the database of the test. */
const world = (decide: () => Misbehaviour | undefined = () => undefined) => {
  const bank = makeBank(decide)
  const { layer: logger, lines } = makeWarnings()
  const layer = (options: PayoutQueueOptions) =>
    PayoutQueue.layer({ poll: "50 millis", ...options }).pipe(
      Layer.provide([bank.makeClient("client-a").layer, PaymentsPolicy.layer(PaymentsPolicy.once)])
    )
  /** A worker, until its scope closes. */
  const start = (options: PayoutQueueOptions = {}) =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const own = Layer.fresh(Layer.provide(layer(options), Layer.succeed(SqlClient.SqlClient, sql)))
      return Context.get(yield* Effect.provide(Layer.build(own), logger), PayoutQueue)
    })
  /** Runs a worker until its database was judged. */
  const serve = (options: PayoutQueueOptions = {}) => Effect.asVoid(Effect.scoped(start(options)))
  const paid = () => [...bank.paid.values()].length
  return { bank, lines, paid, serve, start }
}

const client = Effect.map(
  Layer.build(Layer.fresh(PayoutQueue.layerClient({ poll: "50 millis" }))),
  Context.get(PayoutQueue)
)

/** Writes the heartbeat back. */
const age = (millis: number) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`UPDATE effect_pix_payout_accounts SET beat_at = beat_at - CAST(${millis} AS BIGINT)`
  )

/** The database had another timeline at its last heartbeat. */
const promote = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`UPDATE effect_pix_payout_accounts SET identity = REGEXP_REPLACE(identity, '/[0-9A-F]{8}/', '/0000FFFF/')`
)

const paused = (queue: PayoutQueue["Service"]) => Effect.map(queue.account, ({ lastPause }) => lastPause?.note)

type Test = Effect.Effect<unknown, unknown, Scope.Scope | SqlClient.SqlClient>

const connect = (url: string) => Layer.fresh(PgClient.layer({ url: Redacted.make(url) }))

const onPostgres = (title: string, effect: Test | ((url: string) => Test)) =>
  live.skipIf(absent !== undefined)(`${title}${why}`, function* () {
    const { url } = yield* postgres
    yield* Effect.provide(Effect.isEffect(effect) ? effect : effect(url), connect(url))
  })

describe("a worker that starts", () => {
  const goesOn: ReadonlyArray<readonly [title: string, effect: Test]> = [
    ["goes on after a deploy, and logs nothing", Effect.void],
    ["goes on after an outage of 23 hours, and logs nothing", age(23 * hour)]
  ]
  for (const [title, since] of goesOn) {
    onPostgres(
      title,
      Effect.gen(function* () {
        const { lines, paid, serve, start } = world()
        yield* serve()
        yield* (yield* client).submitMany(payouts(2))
        yield* since
        const queue = yield* start()
        for (const { reference } of payouts(2)) yield* queue.await(reference)
        assert.strictEqual(paid(), 2)
        assert.deepStrictEqual(lines, [])
      })
    )
  }

  const pauses: ReadonlyArray<readonly [title: string, since: Test, note: string]> = [
    ["pauses after 25 hours without a worker", age(25 * hour), "No worker has served the account default since 20"],
    [
      "pauses in a database of another timeline whose heartbeat is older than 15 minutes",
      Effect.andThen(promote, age(16 * minute)),
      "is a restored backup or a copy, last written by a worker at 20"
    ]
  ]
  for (const [title, since, note] of pauses) {
    onPostgres(
      `${title}, says what waits and how to go on, and pauses no second time`,
      Effect.gen(function* () {
        const { bank, lines, paid, serve, start } = world()
        yield* serve()
        const operator = yield* client
        yield* operator.submitMany(payouts(3))
        yield* since
        yield* Effect.scoped(Effect.andThen(start(), Effect.sleep("300 millis")))
        assert.lengthOf(bank.received, 0)
        assert.lengthOf(lines, 1)
        const [line = ""] = lines
        assert.include(line, note)
        assert.include(line, "3 payout(s) (R$ 30,00) wait")
        assert.include(line, "effect-pix payouts continue --account default")
        assert.strictEqual(yield* paused(operator), line)
        yield* operator.setPaused(false, { by: "ana" })
        const queue = yield* start()
        for (const { reference } of payouts(3)) yield* queue.await(reference)
        assert.strictEqual(paid(), 3)
        assert.lengthOf(lines, 1)
      })
    )
  }

  onPostgres(
    "goes on where a person ended the pause of a restored backup before it started",
    Effect.gen(function* () {
      const { lines, paid, serve, start } = world()
      yield* serve()
      const operator = yield* client
      yield* operator.submit(payout("invoice-1"))
      yield* Effect.andThen(promote, age(30 * hour))
      yield* operator.setPaused(true, { by: "ana" })
      yield* operator.setPaused(false, { by: "ana" })
      yield* (yield* start()).await("invoice-1")
      assert.strictEqual(paid(), 1)
      assert.deepStrictEqual(lines, [])
    })
  )

  onPostgres("on a server that shows neither cluster nor timeline compares the table, also in a transaction", (url) =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql.unsafe(
        "REVOKE EXECUTE ON FUNCTION pg_control_system(), pg_walfile_name(pg_lsn), pg_current_wal_lsn() FROM PUBLIC"
      )
      yield* client
      const role = `${url.replace(/.*\//, "")}_app`
      yield* sql.unsafe(`CREATE ROLE ${role} LOGIN IN ROLE pg_read_all_data, pg_write_all_data`)
      const { lines, paid, start } = world()
      yield* Effect.gen(function* () {
        const own = yield* SqlClient.SqlClient
        const queue = yield* start()
        yield* own.withTransaction(queue.setPaused(false))
        const [row] = yield* own`SELECT identity FROM effect_pix_payout_accounts`
        assert.match(String(row?.["identity"]), /^\/\/\d+\/\d+$/)
        yield* queue.submit(payout("invoice-1"))
        yield* queue.await("invoice-1")
      }).pipe(Effect.scoped, Effect.provide(connect(url.replace("postgres@", `${role}@`))))
      assert.strictEqual(paid(), 1)
      assert.deepStrictEqual(lines, [])
    })
  )

  onPostgres("in a copy of its database, however fresh, pauses", (url) =>
    Effect.gen(function* () {
      const { bank, lines, serve, start } = world()
      const name = url.replace(/.*\//, "")
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* serve()
          yield* (yield* client).submit(payout("invoice-1"))
        })
      ).pipe(Effect.provide(connect(url)))
      yield* Effect.provide(
        Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(`CREATE DATABASE ${name}_copy TEMPLATE ${name}`)),
        connect(url.replace(name, "postgres"))
      )
      yield* Effect.scoped(Effect.andThen(start(), Effect.sleep("300 millis"))).pipe(
        Effect.provide(connect(`${url}_copy`))
      )
      assert.lengthOf(bank.received, 0)
      assert.include(lines[0], "is a restored backup or a copy")
    })
  )
})

/** Replaces the table of payouts by a copy of what it had before, as a restore does, in one transaction with `also`. */
const restoreTable = (also: Test) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    sql.withTransaction(
      Effect.gen(function* () {
        yield* sql`CREATE TABLE restored (LIKE effect_pix_payouts INCLUDING ALL)`
        yield* sql`INSERT INTO restored SELECT * FROM effect_pix_payouts`
        yield* sql`DROP TABLE effect_pix_payouts`
        yield* sql`ALTER TABLE restored RENAME TO effect_pix_payouts`
        yield* also
      })
    )
  )

describe("a worker that is at work", () => {
  onPostgres(
    "sends nothing of a table that was restored since it read its account, and pauses",
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { bank, lines, paid, start } = world()
      const queue = yield* start()
      for (const round of [1, 2]) {
        // The gate has read the account a moment ago, and reads it at most once a second.
        yield* queue.submit(payout(`invoice-${round}`))
        yield* queue.await(`invoice-${round}`)
        yield* restoreTable(
          sql`UPDATE effect_pix_payouts SET state = 'accepted', withdrawal_id = NULL, due_at = 0, version = version + 1`
        )
        yield* Effect.repeat(queue.isPaused, { until: (isPaused) => isPaused, schedule: Schedule.spaced("50 millis") })
        assert.lengthOf(bank.received, round)
        assert.lengthOf(lines, round)
        yield* sql`UPDATE effect_pix_payouts SET state = 'posted', version = version + 1`
        yield* queue.setPaused(false)
      }
      assert.strictEqual(paid(), 2)
    })
  )

  onPostgres(
    "writes no heartbeat into a database that it has not judged",
    Effect.gen(function* () {
      yield* client
      const store = makeStore(yield* databaseOf, { account: "default", lease: 30_000 })
      const { identity } = store.accounts
      const { session } = yield* store.accounts.get
      const beatAt = Effect.map(store.accounts.get, (account) => account.beatAt)
      yield* identity.beat(session)
      const written = yield* beatAt
      assert.isNotNull(written)
      yield* restoreTable(Effect.void)
      yield* identity.beat(session)
      assert.strictEqual(yield* beatAt, written)
      assert.isFalse(yield* identity.judged({ ...(yield* store.accounts.get), session }, "x"))
      yield* identity.beat((yield* store.accounts.get).session)
      assert.isAbove(Number(yield* beatAt), written ?? Number.POSITIVE_INFINITY)
    })
  )
})

describe("a worker in a database that has moved, as after a failover,", () => {
  onPostgres(
    "goes on with a warning; what may have been sent meanwhile is in doubt, so that a refusal of it proves nothing",
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { lines, serve, start } = world(() => ({ status: 422, body: { message: "Chave PIX bloqueada." } }))
      yield* serve()
      const operator = yield* client
      yield* operator.submitMany(payouts(2))
      yield* Effect.andThen(promote, age(minute))
      const queue = yield* start()
      yield* queue.submit(payout("later"))
      assert.strictEqual((yield* queue.await("later")).state, "refused")
      for (const { reference } of payouts(2)) {
        yield* Effect.repeat(queue.status(reference), {
          until: (status) => Option.getOrThrow(status).state === "unknown",
          schedule: Schedule.spaced("20 millis")
        })
        const history = yield* queue.history(reference)
        assert.deepStrictEqual(history.map(({ _tag }) => _tag).slice(0, 3), ["Submitted", "Doubted", "Marked"])
        const [submitted, doubted, marked] = history
        assert.deepStrictEqual(doubted?.mayHaveLeftAt, submitted?.at)
        assert.deepStrictEqual(marked?.mayHaveLeftAt, submitted?.at)
      }
      const [row] = yield* sql`SELECT fingerprint FROM effect_pix_payouts WHERE reference = 'invoice-1'`
      assert.strictEqual(row?.["fingerprint"], (yield* queue.account).fingerprint)
      assert.deepStrictEqual(
        lines.filter((line) => line.includes("has moved")),
        [
          "The database of the account default has moved, as after a failover. 2 payout(s) (R$ 20,00) may have been sent meanwhile: they are in doubt, and are asked again under their keys."
        ]
      )
      assert.isFalse(yield* queue.isPaused)
    })
  )

  const unsent: ReadonlyArray<readonly [title: string, set: string]> = [
    ["waits for the next day", "due_at = due_at + 36000000, waits_for = 'DailyCap'"],
    ["is of a run that was over", "run_by = 'run', run_until = 1000"],
    ["needs the approval of a second person", "needs_approval = TRUE"],
    ["is parked", "state = 'parked', parked_because = 'Operator'"],
    ["is in doubt already", "may_have_left_at = 1000"],
    ["is of a paused account", "state = 'accepted'"]
  ]
  for (const [title, set] of unsent) {
    onPostgres(
      `doubts no payout that ${title}: no worker can have sent it without a mark`,
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { lines, serve } = world()
        yield* serve()
        const operator = yield* client
        yield* operator.submit(payout("invoice-1"))
        yield* sql.unsafe(`UPDATE effect_pix_payouts SET ${set}`)
        if (title === "is of a paused account") yield* operator.setPaused(true)
        yield* Effect.andThen(promote, age(minute))
        yield* serve()
        assert.isTrue(lines.some((line) => line.includes("0 payout(s) (R$ 0,00) may have been sent")))
        const tags = (yield* operator.history("invoice-1")).map(({ _tag }) => _tag)
        assert.notInclude(tags, "Doubted")
      })
    )
  }

  onPostgres(
    "judges once for all workers that start at a time",
    Effect.gen(function* () {
      const { lines, paid, serve, start } = world()
      yield* serve()
      const operator = yield* client
      yield* operator.submitMany(payouts(20))
      yield* Effect.andThen(promote, age(minute))
      yield* Effect.all([start(), start(), start(), start()], { concurrency: "unbounded" })
      for (const { reference } of payouts(20)) yield* operator.await(reference)
      assert.strictEqual(paid(), 20)
      assert.lengthOf(lines, 1)
      const history = yield* operator.history("invoice-7")
      assert.deepStrictEqual(
        history.map(({ _tag }) => _tag),
        ["Submitted", "Doubted", "Marked", "Answered"]
      )
    })
  )
})

describe("a worker on a file", () => {
  const onFile = (title: string, effect: Test) =>
    it.effect(title, () => effect.pipe(Effect.scoped, Effect.provide(Layer.fresh(memory))))

  onFile(
    "goes on after any time without a worker",
    Effect.gen(function* () {
      const { lines, paid, serve, start } = world()
      yield* serve()
      yield* Effect.scoped(Effect.flatMap(client, (queue) => queue.submit(payout("invoice-1"))))
      yield* TestClock.adjust("400 days")
      yield* start()
      yield* TestClock.adjust("1 second")
      assert.strictEqual(paid(), 1)
      assert.deepStrictEqual(lines, [])
    })
  )

  onFile(
    "pauses after its pausedAfter without a worker, and not while one writes its heartbeat each minute",
    Effect.gen(function* () {
      const { lines, paid, start } = world()
      const operator = yield* client
      const first = yield* Scope.fork(yield* Effect.scope)
      yield* Scope.provide(start({ pausedAfter: "1 hour" }), first)
      yield* TestClock.adjust("3 hours")
      yield* Scope.close(first, Exit.void)
      yield* TestClock.adjust("58 minutes")
      yield* Effect.scoped(start({ pausedAfter: "1 hour" }))
      assert.isFalse(yield* operator.isPaused)
      yield* operator.submit(payout("invoice-1"))
      yield* TestClock.adjust("61 minutes")
      yield* start({ pausedAfter: "1 hour" })
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(paid(), 0)
      assert.include(lines[0], "No worker has served the account default since 1970-01-01T03:58:00.000Z")
      yield* operator.setPaused(false)
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual(paid(), 1)
    })
  )
})
