/**
 * Real backups of a real PostgreSQL are restored after what was in them was paid, and the gateway has forgotten its keys. Nobody
 * is paid twice, whatever the backup is; then an operator takes the steps of the runbook, and nobody is forgotten.
 */
import { afterAll, assert, beforeAll } from "@effect/vitest"
import { Effect, Layer, type Scope, Stream } from "effect"
import type { Payments } from "effect-pix"
import { Sandbox } from "effect-pix/sandbox"
import { SqlClient } from "effect/sql"
import { dirname, join } from "node:path"
import { clientOf, onPostgres } from "../support/database.ts"
import { gatewayOnce, makeWarnings, payout, payouts, startClient, startWorker } from "../support/payoutQueue.ts"
import { noPostgres, type Postgres, startPostgres } from "../support/postgres.ts"

const hour = 3_600_000
const count = 6
const last = `invoice-${count}`
const poll = { poll: "50 millis" } as const

const test = (title: string, body: () => Generator<Effect.Effect<unknown, unknown, World>, unknown, never>) =>
  onPostgres(title, gatewayOnce, body)
type World = Sandbox | Payments | Scope.Scope

/** Runs an effect on a database, whose connections end with the scope. */
const on = <A, E, R>(url: string, effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(Layer.build(Layer.fresh(clientOf(url))), (context) => Effect.provideContext(effect, context))
const start = (url: string) => on(url, startWorker(poll))
const operate = (url: string) => on(url, startClient(poll))
const query = (url: string, text: string) =>
  Effect.scoped(
    on(
      url,
      Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(text))
    )
  )
const age = (url: string, millis: number) =>
  query(url, `UPDATE effect_pix_payout_accounts SET beat_at = beat_at - ${millis}`)

/** Runs a worker until nothing is open, or it is paused. */
const work = (url: string) =>
  Effect.scoped(
    Effect.flatMap(start(url), (queue) =>
      Effect.repeat(Effect.all([queue.isPaused, Stream.runCollect(queue.list({ state: "accepted" }))]), {
        until: ([isPaused, open]) => isPaused || open.length === 0
      }).pipe(Effect.andThen(queue.account))
    )
  )

const panel = Effect.flatMap(Sandbox, (sandbox) => sandbox.withdrawals)
/** The panel has this number of withdrawals, and none twice. */
const assertPaid = (expected: number) =>
  Effect.map(panel, (withdrawals) => {
    assert.lengthOf(withdrawals, expected)
    assert.strictEqual(new Set(withdrawals.map(({ idempotencyKey }) => idempotencyKey)).size, expected)
  })

let shared: Postgres
beforeAll(async () => {
  if (noPostgres() === undefined) shared = await startPostgres()
})
afterAll(() => shared?.stop())

const another = (prepare?: Parameters<typeof startPostgres>[0]) =>
  Effect.acquireRelease(
    Effect.promise(() => startPostgres(prepare)),
    (server) => Effect.promise(server.stop)
  )
const shell = (script: string, ...args: ReadonlyArray<string>) => ["-ec", script, "sh", ...args]
const urlOf = (server: Postgres, name: string) => server.url.replace(/[^/]*$/, name)

let made = 0
/** A database that a worker has served, and whose payouts wait; and the owner of its server, whose commands have its name as $1. */
const prepare = Effect.fnUntraced(function* (server: Postgres) {
  const name = `shop_${++made}`
  const run = (script: string) => Effect.promise(() => server.run("sh", shell(script, name)))
  yield* run("createdb $1")
  const url = urlOf(server, name)
  yield* Effect.scoped(start(url))
  yield* (yield* operate(url)).submitMany(payouts(count))
  return { name, run, url }
})

/** Pays all but the last, which an operator parks; then the gateway forgets its keys. */
const pay = Effect.fnUntraced(function* (url: string) {
  yield* Effect.scoped(Effect.flatMap(operate(url), (queue) => queue.park(last)))
  yield* work(url)
  yield* assertPaid(count - 1)
  yield* Effect.flatMap(Sandbox, (sandbox) => sandbox.forgetKeys)
})
const awaitAll = (queue: Effect.Success<ReturnType<typeof start>>) =>
  Effect.forEach(payouts(count), ({ reference }) => queue.await(reference))
const awaitPause = (queue: Effect.Success<ReturnType<typeof start>>) =>
  Effect.repeat(
    Effect.orElseSucceed(queue.isPaused, () => false),
    { until: (isPaused) => isPaused }
  )

const load = "psql -q --single-transaction -v ON_ERROR_STOP=1"
const copyFolder = "pg_basebackup -D $1.backup -X stream -c fast"

interface Backup {
  /** Commands that make a backup of the database $1, in the folder of the server. */
  readonly make: string
  /** Commands that restore it, in the folder of the server. */
  readonly restore?: string
  /** Where another server is started: commands that make its data, $3, from the folder of the backup, $2. */
  readonly elsewhere?: string
  /** The name of the restored database is $1 and this. */
  readonly suffix?: string
  /** How old its heartbeat is. */
  readonly hours?: number
}

const backups: Record<string, Backup> = {
  "a dump in the same database, which was dropped": {
    make: "pg_dump $1 > $1.sql",
    restore: `dropdb --force $1; createdb $1; ${load} $1 < $1.sql`
  },
  "a dump of the table of payouts alone": {
    make: "pg_dump --clean -t effect_pix_payouts $1 > $1.sql",
    restore: `${load} $1 < $1.sql`
  },
  "a copy of the database (TEMPLATE)": {
    make: `psql -qc "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '$1'"; createdb -T $1 $1_copy`,
    suffix: "_copy"
  },
  "a dump in another cluster, whose heartbeat is an hour old": {
    make: "pg_dump --create $1 > $1.backup",
    elsewhere: "initdb -D $3 -U postgres -A trust --no-sync",
    restore: `psql -q -v ON_ERROR_STOP=1 postgres < $2`,
    hours: 1
  },
  "a base backup that was recovered on a new timeline, whose heartbeat is an hour old": {
    make: copyFolder,
    elsewhere: `cp -a $2 $3; touch $3/recovery.signal; echo "restore_command = 'false'" >> $3/postgresql.auto.conf`,
    hours: 1
  },
  "a copy of the folder of the server, whose heartbeat is 25 hours old": {
    make: copyFolder,
    elsewhere: "cp -a $2 $3",
    hours: 25
  }
}

for (const [title, { elsewhere, hours = 0, make, restore, suffix = "" }] of Object.entries(backups)) {
  test(`nobody is paid twice, and an operator goes on, after the restore of ${title}`, function* () {
    const { name, run, url } = yield* prepare(shared)
    yield* run(make)
    yield* pay(url)
    const backup = join(dirname(shared.data), `${name}.backup`)
    const server =
      elsewhere === undefined
        ? shared
        : yield* another((data, runThere) => runThere("sh", shell(elsewhere, name, backup, data)))
    if (restore !== undefined) yield* Effect.promise(() => server.run("sh", shell(restore, name, backup)))
    const restored = urlOf(server, `${name}${suffix}`)
    yield* age(restored, hours * hour)

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
    yield* queue.resume(last, { by: "ana" })
    assert.strictEqual((yield* queue.await(last)).state, "posted")
    yield* assertPaid(count)
  })
}

test("nobody is paid twice after the restore of a base backup in the place of the folder of a server, under a worker whose heartbeat it has not", function* () {
  const server = yield* another()
  const { run, url } = yield* prepare(server)
  yield* age(url, hour)
  yield* run(copyFolder)
  const queue = yield* start(url)
  yield* awaitAll(queue)
  yield* (yield* Sandbox).forgetKeys
  yield* Effect.promise(server.crash)
  yield* run("rm -r data; cp -a $1.backup data")
  yield* Effect.promise(server.start)
  yield* awaitPause(queue)
  yield* assertPaid(count)
})

test("a worker goes on after a restart of the server, and logs nothing of it", function* () {
  const server = yield* another()
  const { layer, lines } = makeWarnings()
  const { url } = yield* prepare(server)
  const queue = yield* Effect.provide(start(url), layer)
  yield* awaitAll(queue)
  yield* Effect.promise(server.crash)
  yield* Effect.promise(server.start)
  yield* Effect.eventually(queue.submit(payout("after")))
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
  const { name, url } = yield* prepare(primary)
  const standby = yield* another((data) =>
    primary.run("pg_basebackup", ["-D", data, "-X", "stream", "-c", "fast", "-R"])
  )
  yield* pay(url)
  yield* Effect.promise(primary.crash)
  yield* query(standby.url, "SELECT pg_promote()")
  const { layer, lines } = makeWarnings()
  const { paused } = yield* Effect.provide(work(urlOf(standby, name)), layer)
  assert.isFalse(paused)
  yield* assertPaid(count - 1)
  assert.lengthOf(
    lines.filter((line) => line.includes("has moved, as after a failover")),
    1
  )
})
