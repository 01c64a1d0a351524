/**
 * Real backups of a real PostgreSQL are restored after what was in them was paid: younger ones, and ones older than the horizon, of
 * which the gateway has forgotten the keys. Nobody is paid twice, whatever the backup is and whatever its payouts waited for; then
 * an operator takes the steps of the runbook, and nobody is forgotten.
 */
import { afterAll, assert, beforeAll } from "@effect/vitest"
import { DateTime, Effect, Layer, Option, type Scope, Stream } from "effect"
import type { Payments, PaymentsClient } from "effect-pix"
import { Sandbox } from "effect-pix/sandbox"
import { SqlClient } from "effect/sql"
import { dirname, join } from "node:path"
import { clientOf, onPostgres } from "../support/database.ts"
import {
  gatewayOnce,
  makeWarnings,
  payout,
  payouts,
  startClient,
  startSheets,
  startWorker,
  storedRefusal
} from "../support/payoutQueue.ts"
import { meetAll, refused } from "../support/payoutAnswers.ts"
import { noPostgres, type Postgres, startPostgres } from "../support/postgres.ts"

const hour = 3_600_000
const count = 6
const last = `invoice-${count}`
const poll = { poll: "50 millis" } as const

const test = (title: string, body: () => Generator<Effect.Effect<unknown, unknown, World>, unknown, never>) =>
  onPostgres(title, gatewayOnce, body)
type World = Sandbox | Payments | PaymentsClient | Scope.Scope

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
/** Writes back all times of a database, as time passes. */
const age = (url: string, millis: number) =>
  Effect.andThen(
    query(
      url,
      `UPDATE effect_pix_payout_accounts SET seen_at = seen_at - ${millis}, served_at = served_at - ${millis}, paused_at = paused_at - ${millis}`
    ),
    query(
      url,
      `UPDATE effect_pix_payouts SET submitted_at = submitted_at - ${millis}, wanted_at = wanted_at - ${millis}, waits_since = waits_since - ${millis}`
    )
  )

/** Runs a worker until nothing is open. */
const work = (url: string) =>
  Effect.scoped(
    Effect.flatMap(start(url), (queue) =>
      Effect.repeat(Stream.runCollect(queue.list()), {
        until: (all) => all.every(({ state }) => state !== "accepted" && state !== "unknown")
      })
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

/** Pays all but the last, which an operator parks. */
const pay = Effect.fnUntraced(function* (url: string) {
  yield* Effect.scoped(
    Effect.flatMap(operate(url), (queue) => Effect.andThen(queue.park(last), queue.setPaused(false)))
  )
  yield* work(url)
  yield* assertPaid(count - 1)
})
const awaitAll = (queue: Effect.Success<ReturnType<typeof start>>) =>
  Effect.forEach(payouts(count), ({ reference }) => queue.await(reference))
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
  /** What the payouts wait for when it is made, as SQL. */
  readonly held?: string
}

const inPause = "UPDATE effect_pix_payout_accounts SET paused = TRUE, paused_at = seen_at"
const atCap = "UPDATE effect_pix_payouts SET because = 'DailyCap', waits_since = wanted_at"

const backups: Record<string, Backup> = {
  "a dump in the same database, which was dropped": {
    make: "pg_dump $1 > $1.sql",
    restore: `dropdb --force $1; createdb $1; ${load} $1 < $1.sql`,
    held: inPause
  },
  "a dump of the table of payouts alone": {
    make: "pg_dump --clean -t effect_pix_payouts $1 > $1.sql",
    restore: `${load} $1 < $1.sql`,
    held: atCap
  },
  "a copy of the database (TEMPLATE)": {
    make: `psql -qc "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '$1'"; createdb -T $1 $1_copy`,
    suffix: "_copy"
  },
  "a dump in another cluster": {
    make: "pg_dump --create $1 > $1.backup",
    elsewhere: "initdb -D $3 -U postgres -A trust --no-sync",
    restore: `psql -q -v ON_ERROR_STOP=1 postgres < $2`
  },
  "a base backup that was recovered on a new timeline": {
    make: copyFolder,
    elsewhere: `cp -a $2 $3; touch $3/recovery.signal; echo "restore_command = 'false'" >> $3/postgresql.auto.conf`,
    held: inPause
  },
  "a copy of the folder of the server": { make: copyFolder, elsewhere: "cp -a $2 $3" },
  "a copy of the folder of the server that was made in a pause": {
    make: copyFolder,
    elsewhere: "cp -a $2 $3",
    held: inPause
  },
  "a copy of the folder of the server that was made at a cap": {
    make: copyFolder,
    elsewhere: "cp -a $2 $3",
    held: atCap
  }
}

for (const [title, { elsewhere, held, make, restore, suffix = "" }] of Object.entries(backups)) {
  const play = Effect.fnUntraced(function* (hours: number) {
    const { name, run, url } = yield* prepare(shared)
    if (held !== undefined) yield* query(url, held)
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
    yield* Effect.scoped(Effect.flatMap(operate(restored), (queue) => queue.setPaused(false, { by: "ana" })))
    return restored
  })

  test(`nobody is paid twice after the restore of ${title} that is younger than the horizon`, function* () {
    yield* work(yield* play(1))
    // It has not that the last one was parked since.
    yield* assertPaid(count)
  })

  test(`nobody is paid twice, and an operator goes on, after the restore of ${title} that is older than the horizon`, function* () {
    const restored = yield* play(13)
    yield* Effect.flatMap(Sandbox, (sandbox) => sandbox.forgetKeys)
    yield* work(restored)
    yield* assertPaid(count - 1)

    const queue = yield* start(restored)
    const { run } = yield* on(restored, startSheets(poll))
    const report = yield* run(payouts(count), { waitFor: "1 second" })
    assert.lengthOf(report.parked, count)
    yield* assertPaid(count - 1)
    const paid = new Set((yield* panel).map(({ idempotencyKey }) => idempotencyKey))
    for (const { idempotencyKey, reference } of report.parked) {
      if (paid.has(idempotencyKey)) yield* queue.settle(reference, { by: "ana" })
    }
    yield* queue.settle(last, { by: "ana", as: "failed" })
    yield* queue.submit(payout(`${last} anew`))
    assert.strictEqual((yield* queue.await(`${last} anew`)).state, "posted")
    yield* assertPaid(count)
  })
}

const judged = new Set([
  "a dump in the same database, which was dropped",
  "a base backup that was recovered on a new timeline"
])
for (const [title, { elsewhere, make, restore }] of Object.entries(backups).filter(([title]) => judged.has(title))) {
  test(`what may have been sent since is not cancelled or sent later after the restore of ${title}`, function* () {
    const { name, run, url } = yield* prepare(shared)
    const sent = ["invoice-1", "invoice-2"] as const
    // A person retried it after the backup.
    yield* query(
      url,
      `UPDATE effect_pix_payouts SET state = 'refused', error = '${storedRefusal}' WHERE reference = '${last}'`
    )
    yield* run(make)
    yield* pay(url)
    const backup = join(dirname(shared.data), `${name}.backup`)
    const server =
      elsewhere === undefined
        ? shared
        : yield* another((data, runThere) => runThere("sh", shell(elsewhere, name, backup, data)))
    if (restore !== undefined) yield* Effect.promise(() => server.run("sh", shell(restore, name, backup)))
    const restored = urlOf(server, name)
    const queue = yield* operate(restored)
    yield* queue.setPaused(true, { by: "ana" })
    const problemOf = (step: Effect.Effect<unknown, { readonly _tag: string }>) =>
      Effect.map(Effect.flip(step), (error) => ("problem" in error ? String(error.problem).slice(0, 28) : error._tag))
    const unknown = "It is not known whether a re"
    for (const reference of [...sent, last, "invoice-1"])
      assert.strictEqual(yield* problemOf(queue.cancel(reference, { by: "ana" })), unknown)

    const worker = yield* start(restored)
    yield* Effect.repeat(queue.history("invoice-1"), { until: ([, entry]) => entry?._tag === "Doubted" })
    const left = yield* problemOf(queue.cancel("invoice-1", { by: "ana" }))
    assert.strictEqual(left, "A request of it may have lef")
    assert.strictEqual(yield* problemOf(queue.cancel(last, { by: "ana" })), unknown)
    // What is submitted from now on is of this database.
    yield* queue.submit(payout("new"))
    assert.strictEqual((yield* queue.cancel("new", { by: "ana" })).state, "cancelled")
    yield* worker.setPaused(false, { by: "ana" })
    for (const reference of sent) assert.strictEqual((yield* worker.await(reference)).state, "posted")
  })
}

/** What payouts wait for when a backup is made, as SQL: each is sent after it. */
const held = {
  "invoice-1": "because = 'Balance', sends = 1, due_at = due_at + 3600000",
  "invoice-2": "because = 'Window', due_at = due_at + 7200000",
  "invoice-3": "because = 'DailyCap', waits_since = wanted_at, due_at = due_at + 36000000",
  "invoice-4": "because = 'OtherClientId', waits_since = wanted_at, due_at = due_at + 300000",
  "invoice-5": "because = 'Credentials', sends = 1, due_at = due_at + 300000"
}
test("whatever a payout waited for when a backup was made, it is in doubt after the restore, and is not paid again", function* () {
  const { name, run, url } = yield* prepare(shared)
  const client = yield* operate(url)
  yield* client.submit({ ...payout("later"), notBefore: DateTime.makeUnsafe(Date.now() + hour) })
  for (const [reference, set] of Object.entries(held))
    yield* query(url, `UPDATE effect_pix_payouts SET ${set} WHERE reference = '${reference}'`)
  yield* run("pg_dump $1 > $1.sql")
  // What they waited for is over, and one more is submitted.
  const due = "UPDATE effect_pix_payouts SET due_at = 0, because = NULL WHERE reference LIKE 'invoice-%'"
  yield* query(url, due)
  yield* client.submit(payout("lost"))
  yield* Effect.scoped(
    Effect.gen(function* () {
      yield* (yield* operate(url)).park(last)
      const worker = yield* start(url)
      for (const reference of [...Object.keys(held), "lost"]) yield* worker.await(reference)
    })
  )
  yield* assertPaid(count)
  yield* Effect.promise(() => shared.run("sh", shell(`dropdb --force $1; createdb $1; ${load} $1 < $1.sql`, name)))

  const queue = yield* operate(url)
  const stateOf = (reference: string) =>
    Effect.map(queue.status(reference), (found) => {
      const status = Option.getOrThrow(found)
      if (status.state !== "unknown" || status.error?._tag !== "OutcomeUnknown") return status.state
      // Once it was asked again, nothing but its error says why.
      return `unknown ${status.because ?? status.error.reason}`
    })
  const expected = Object.keys(held).map(() => "unknown OtherDatabase")
  assert.deepStrictEqual(yield* Effect.forEach(Object.keys(held), stateOf), expected, "before a worker has looked")
  assert.strictEqual(yield* stateOf("later"), "accepted")
  yield* queue.setPaused(true, { by: "ana" })
  const worker = yield* start(url)
  yield* Effect.repeat(queue.history("invoice-1"), { until: ([, entry]) => entry?._tag === "Doubted" })
  assert.deepStrictEqual(yield* Effect.forEach(Object.keys(held), stateOf), expected)
  for (const reference of Object.keys(held))
    for (const step of [
      queue.cancel(reference, { by: "ana" }),
      queue.retry(reference),
      queue.settle(reference, { as: "failed" })
    ])
      assert.strictEqual((yield* Effect.flip(step))._tag, "PayoutStateConflict")
  assert.strictEqual((yield* queue.cancel("later", { by: "ana" })).state, "cancelled")

  // A refusal of what may be lost proves nothing either.
  yield* meetAll(refused)
  yield* query(url, due)
  yield* queue.submit(payout("lost"))
  yield* worker.setPaused(false, { by: "ana" })
  for (const reference of ["invoice-1", "lost"])
    yield* Effect.repeat(stateOf(reference), { until: (state) => state === "unknown RefusedAfterUnknown" })
  yield* meetAll()
  yield* query(url, due)
  for (const reference of [...Object.keys(held), last, "lost"])
    assert.strictEqual((yield* worker.await(reference)).state, "posted")
  yield* assertPaid(count + 1)
})

test("nobody is paid twice after the restore of a base backup in the place of the folder of a server, under a worker that was seen since", function* () {
  const server = yield* another()
  const { run, url } = yield* prepare(server)
  yield* age(url, hour)
  yield* run(copyFolder)
  const queue = yield* start(url)
  yield* awaitAll(queue)
  yield* Effect.promise(server.crash)
  yield* run("rm -r data; cp -a $1.backup data")
  yield* Effect.promise(server.start)
  yield* Effect.repeat(
    Effect.orElseSucceed(queue.history("invoice-1"), () => []),
    { until: (changes) => changes.some(({ _tag }) => _tag === "Doubted") && changes.at(-1)?.state === "posted" }
  )
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
  yield* Effect.provide(work(urlOf(standby, name)), layer)
  yield* assertPaid(count - 1)
  assert.lengthOf(
    lines.filter((line) => line.includes("is another one than before, as after a failover")),
    1
  )
})
