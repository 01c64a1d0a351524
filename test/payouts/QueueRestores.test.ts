/**
 * Real backups of a real PostgreSQL are restored after what was in them was paid, and the gateway has forgotten its keys. Nobody
 * is paid twice, whatever the backup is; then an operator takes the steps of the runbook, and nobody is forgotten.
 */
import { afterAll, assert, beforeAll } from "@effect/vitest"
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Redacted, Schedule, type Scope, Stream } from "effect"
import { type Payments, PaymentsPolicy } from "effect-pix"
import { PayoutQueue, type PayoutQueueOptions } from "effect-pix/payouts"
import { Sandbox } from "effect-pix/sandbox"
import { SqlClient } from "effect/sql"
import { live } from "../support/effect.ts"
import { gateway, makeWarnings, payout, payouts } from "../support/payoutQueue.ts"
import { noPostgres, type Postgres, startPostgres } from "../support/postgres.ts"

const absent = noPostgres()
const why = absent === undefined ? "" : ` (${absent})`
const hour = 3_600_000
const count = 6

const connect = (url: string) => Layer.fresh(PgClient.layer({ url: Redacted.make(url) }))
const query = (url: string, text: string) =>
  Effect.provide(
    Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe<Record<string, unknown>>(text)),
    connect(url)
  )
const within = (server: Postgres, name: string) => server.url.replace(/[^/]*$/, name)
const age = (url: string, millis: number) =>
  query(url, `UPDATE effect_pix_payout_accounts SET beat_at = beat_at - ${millis}`)

/** A worker on a database, until its scope closes. */
const start = (url: string, options: PayoutQueueOptions = {}) =>
  Effect.map(
    Layer.build(
      Layer.fresh(PayoutQueue.layer({ poll: "50 millis", ...options })).pipe(
        Layer.provide([connect(url), PaymentsPolicy.layer(PaymentsPolicy.once)])
      )
    ),
    Context.get(PayoutQueue)
  )
/** Runs a worker until it is done, or is paused. */
const work = (url: string) =>
  Effect.scoped(
    Effect.flatMap(start(url), (queue) =>
      Effect.repeat(Effect.all([queue.isPaused, Stream.runCollect(queue.list({ state: "accepted" }))]), {
        until: ([isPaused, open]) => isPaused || open.length === 0,
        schedule: Schedule.spaced("50 millis")
      }).pipe(Effect.andThen(queue.account))
    )
  )
const operate = (url: string) =>
  Effect.map(
    Layer.build(Layer.fresh(Layer.provide(PayoutQueue.layerClient({ poll: "50 millis" }), connect(url)))),
    Context.get(PayoutQueue)
  )

const panel = Effect.flatMap(Sandbox, (sandbox) => sandbox.withdrawals)
/** The panel has this number of withdrawals, and none twice. */
const assertPaid = (expected: number) =>
  Effect.map(panel, (withdrawals) => {
    assert.lengthOf(withdrawals, expected)
    assert.strictEqual(new Set(withdrawals.map(({ idempotencyKey }) => idempotencyKey)).size, expected)
  })

let shared: Postgres
let made = 0
beforeAll(async () => {
  if (absent === undefined) shared = await startPostgres()
})
afterAll(() => shared?.stop())

const another = (prepare?: Parameters<typeof startPostgres>[0]) =>
  Effect.acquireRelease(
    Effect.promise(() => startPostgres(prepare)),
    (server) => Effect.promise(server.stop)
  )

type Played<A> = Effect.Effect<A, unknown, Scope.Scope | Sandbox | Payments>

/** Makes a backup of the database `name`, and returns an effect that restores it, and returns the URL to use then. */
type BackUp = (server: Postgres, name: string) => Promise<Played<string>>

const test = (title: string, body: () => Generator<Played<unknown>, unknown, never>) =>
  live.skipIf(absent !== undefined)(`${title}${why}`, gateway, body)

/** A database that a worker has served, and whose payouts wait. */
const prepared = Effect.fnUntraced(function* (server: Postgres) {
  const name = `shop_${++made}`
  yield* Effect.promise(() => server.run("createdb", [name]))
  const url = within(server, name)
  yield* Effect.scoped(start(url))
  yield* (yield* operate(url)).submitMany(payouts(count))
  return { name, url }
})

/** Pays all but the last, which an operator parks; then the gateway forgets its keys. */
const pay = Effect.fnUntraced(function* (url: string) {
  const last = `invoice-${count}`
  yield* Effect.scoped(Effect.flatMap(operate(url), (queue) => queue.park(last)))
  yield* work(url)
  yield* assertPaid(count - 1)
  yield* Effect.flatMap(Sandbox, (sandbox) => sandbox.forgetKeys)
})

const dump = (server: Postgres, name: string, ...args: ReadonlyArray<string>) =>
  server.run("pg_dump", ["-d", name, ...args])
const load = (server: Postgres, name: string, text: string) =>
  server.run("psql", ["-q", "--single-transaction", "-v", "ON_ERROR_STOP=1", "-d", name], text)
const baseBackup = (server: Postgres, into: string, ...args: ReadonlyArray<string>) =>
  server.run("pg_basebackup", ["-D", into, "-X", "stream", "-c", "fast", ...args])

/** Loads a dump into a database that `create` has made, and returns its name. */
const dumped = (server: Postgres, text: string, create: () => Promise<string>) =>
  Effect.promise(async () => {
    const name = await create()
    await load(server, name, text)
    return within(server, name)
  })
const recovered = (prepare: Parameters<typeof startPostgres>[0], name: string, heartbeat: number) =>
  Effect.gen(function* () {
    const other = yield* another(prepare)
    const url = within(other, name)
    // A recovery goes on after the server answers, and nothing can be written until it ends.
    yield* Effect.retry(age(url, heartbeat), { times: 600, schedule: Schedule.spaced("100 millis") })
    return url
  })

const backups: ReadonlyArray<readonly [title: string, isOwn: boolean, backUp: BackUp]> = [
  [
    "a dump in another database of its cluster",
    false,
    async (server, name) => {
      const text = await dump(server, name)
      return dumped(server, text, async () => {
        await server.run("createdb", [`${name}_restored`])
        return `${name}_restored`
      })
    }
  ],
  [
    "a dump in the same database, which was dropped",
    false,
    async (server, name) => {
      const text = await dump(server, name)
      return dumped(server, text, async () => {
        await server.run("dropdb", ["--force", name])
        await server.run("createdb", [name])
        return name
      })
    }
  ],
  [
    "a dump of the table of payouts alone",
    false,
    async (server, name) => {
      const text = await dump(server, name, "--clean", "-t", "effect_pix_payouts")
      return dumped(server, text, async () => name)
    }
  ],
  [
    "a copy of the database (TEMPLATE)",
    false,
    async (server, name) => {
      const end = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`
      await server.run("psql", ["-q", "-c", end])
      await server.run("createdb", ["-T", name, `${name}_copy`])
      return Effect.succeed(within(server, `${name}_copy`))
    }
  ],
  [
    "a dump in another cluster, whose heartbeat is an hour old",
    false,
    async (server, name) => {
      const text = await dump(server, name)
      return Effect.gen(function* () {
        const other = yield* another()
        const url = yield* dumped(other, text, async () => {
          await other.run("createdb", [name])
          return name
        })
        yield* age(url, hour)
        return url
      })
    }
  ],
  [
    "a base backup that was recovered on a new timeline, whose heartbeat is an hour old",
    true,
    async (server, name) => {
      const backup = `${server.data}.backup`
      await baseBackup(server, backup)
      const recover = async (data: string, run: Postgres["run"]) => {
        await run("cp", ["-a", backup, data])
        await run("sh", [
          "-c",
          `touch "$0/recovery.signal"; echo "restore_command = 'false'" >> "$0/postgresql.auto.conf"`,
          data
        ])
      }
      return recovered(recover, name, hour)
    }
  ],
  [
    "a copy of the folder of a server that was stopped, whose heartbeat is 25 hours old",
    true,
    async (server, name) => {
      const backup = `${server.data}.backup`
      await server.crash()
      await server.run("cp", ["-a", server.data, backup])
      await server.start()
      return recovered((data, run) => run("cp", ["-a", backup, data]), name, 25 * hour)
    }
  ]
]

for (const [title, isOwn, backUp] of backups) {
  test(`nobody is paid twice, and an operator goes on, after the restore of ${title}`, function* () {
    const server = isOwn ? yield* another() : shared
    const { name, url } = yield* prepared(server)
    const restore = yield* Effect.promise(() => backUp(server, name))
    yield* pay(url)
    const restored = yield* restore
    const { lastPause, paused } = yield* work(restored)
    assert.isTrue(paused)
    assert.include(lastPause?.note, "runbook")
    yield* assertPaid(count - 1)

    const queue = yield* start(restored)
    const paid = new Set((yield* panel).map(({ idempotencyKey }) => idempotencyKey))
    for (const { idempotencyKey, reference } of yield* Stream.runCollect(queue.list())) {
      yield* queue.park(reference, { by: "ana" })
      if (paid.has(idempotencyKey)) yield* queue.settle(reference, { by: "ana" })
    }
    yield* queue.setPaused(false, { by: "ana" })
    yield* queue.resume(`invoice-${count}`, { by: "ana" })
    assert.strictEqual((yield* queue.await(`invoice-${count}`)).state, "posted")
    yield* assertPaid(count)
  })
}

test("nobody is paid twice after the restore of a dump that was made while payouts were sent, under the worker that sends them", function* () {
  const { name, url } = yield* prepared(shared)
  yield* query(url, `UPDATE effect_pix_payouts SET due_at = due_at + ${hour} WHERE reference = 'invoice-${count}'`)
  const queue = yield* start(url)
  yield* Effect.repeat(panel, { until: ({ length }) => length > 0 })
  const text = yield* Effect.promise(() => dump(shared, name, "--clean"))
  yield* queue.retry(`invoice-${count}`)
  yield* Effect.forEach(payouts(count), ({ reference }) => queue.await(reference))
  yield* assertPaid(count)
  yield* (yield* Sandbox).forgetKeys
  yield* Effect.promise(() => load(shared, name, text))
  yield* Effect.repeat(queue.isPaused, { until: (isPaused) => isPaused, schedule: Schedule.spaced("50 millis") })
  yield* assertPaid(count)
})

test("nobody is paid twice after the restore of a base backup in the place of the folder of a server, under a worker whose heartbeat it has not", function* () {
  const server = yield* another()
  const { url } = yield* prepared(server)
  yield* age(url, hour)
  const backup = `${server.data}.backup`
  yield* Effect.promise(() => baseBackup(server, backup))
  const queue = yield* start(url)
  yield* Effect.forEach(payouts(count), ({ reference }) => queue.await(reference))
  yield* Effect.flatMap(Sandbox, (sandbox) => sandbox.forgetKeys)
  yield* Effect.promise(async () => {
    await server.crash()
    await server.run("rm", ["-r", server.data])
    await server.run("cp", ["-a", backup, server.data])
    await server.start()
  })
  yield* Effect.repeat(
    Effect.orElseSucceed(queue.isPaused, () => false),
    {
      until: (isPaused) => isPaused,
      schedule: Schedule.spaced("50 millis")
    }
  )
  yield* assertPaid(count)
})

test("a worker goes on after a restart of the server, and logs nothing of it", function* () {
  const server = yield* another()
  const { layer, lines } = makeWarnings()
  const { url } = yield* prepared(server)
  const queue = yield* Effect.provide(start(url), layer)
  yield* Effect.forEach(payouts(count), ({ reference }) => queue.await(reference))
  yield* Effect.promise(server.crash)
  yield* Effect.promise(server.start)
  yield* Effect.retry(queue.submit(payout("after")), Schedule.spaced("100 millis"))
  assert.strictEqual((yield* queue.await("after")).state, "posted")
  assert.isFalse(yield* queue.isPaused)
  yield* assertPaid(count + 1)
  assert.deepStrictEqual(
    lines.filter((line) => line.includes("account")),
    []
  )
})

test("a worker goes on in a standby that was promoted, with one warning and what may have been sent in doubt", function* () {
  const primary = yield* another()
  const { name, url } = yield* prepared(primary)
  const standby = yield* another((data) => baseBackup(primary, data, "-R"))
  yield* pay(url)
  yield* Effect.promise(primary.crash)
  yield* query(standby.url, "SELECT pg_promote()")
  const { layer, lines } = makeWarnings()
  const { paused } = yield* Effect.provide(work(within(standby, name)), layer)
  assert.isFalse(paused)
  yield* assertPaid(count - 1)
  assert.lengthOf(
    lines.filter((line) => line.includes("has moved, as after a failover")),
    1
  )
})
