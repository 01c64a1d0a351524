/**
 * Rows that are due, and the fibers that handle them, on a table of two columns of its own.
 */
import { assert, describe } from "@effect/vitest"
import { Clock, Effect, Fiber, Latch } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { database } from "../../src/durable/Database.ts"
import { dueColumns, type DueRow, makeDue } from "../../src/durable/Due.ts"
import { TryAgain } from "../../src/durable/Work.ts"
import { workRows } from "../../src/durable/WorkRows.ts"
import { followWrites } from "../../src/internal/soleWriter.ts"
import { effect } from "../support/effect.ts"
import { wrongClock } from "../support/exported.ts"
import { makeWarnings, memory, settle } from "../support/payoutQueue.ts"

const hour = 3_600_000

/** A table of jobs, and the fibers that handle them. */
const makeJobs = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql.unsafe(`CREATE TABLE jobs (name TEXT PRIMARY KEY, ${dueColumns("0")})`)
  const [scope, columns] = [sql`1 = 1`, sql`name`]
  let takes = 0
  const db = yield* database
  const rows = makeDue(db, {
    table: "jobs",
    key: "name",
    scope,
    waits: scope,
    columns,
    longest: 24 * hour
  })
  const due: typeof rows = { ...rows, take: (...args) => (takes++, rows.take(...args)) }
  const isDue = yield* Latch.make()
  const seen: Array<string> = []
  const done = ({ key }: DueRow) =>
    Effect.andThen(
      Effect.sync(() => seen.push(key)),
      Effect.orDie(sql`DELETE FROM jobs WHERE name = ${key}`)
    )
  /** Starts the fibers. By default a job is done when it is handled. */
  const work = (handle: (row: DueRow) => Effect.Effect<unknown, TryAgain> = done, concurrency = 1) => {
    const follow = followWrites(db.writes)
    const options = { name: "Jobs", due, concurrency, lease: 30_000, poll: 1000, isDue, followWrites: follow }
    return Effect.forkScoped(workRows({ ...options, handle: (row) => Effect.asVoid(handle(row)) }))
  }
  return {
    sql,
    seen,
    done,
    work,
    takes: () => takes,
    /** Inserts jobs that are due after some milliseconds. */
    insert: Effect.fnUntraced(function* (millis: number, ...names: ReadonlyArray<string>) {
      for (const name of names) yield* sql`INSERT INTO jobs (name, due_at) VALUES (${name}, ${millis})`
      yield* isDue.open
    }),
    /** Whether another process could take a job now, which it would have for half a minute. */
    take: Effect.map(rows.take("other", 30_000, 1), ({ length }) => length === 1)
  }
})

const later = (seconds: number) => Effect.andThen(TestClock.adjust(seconds * 1000), settle)

describe("a row that is due", () => {
  effect("is handled at its time, once, and the oldest first", memory, function* () {
    const { insert, seen, work } = yield* makeJobs
    yield* insert(2, "second")
    yield* insert(1, "first")
    yield* insert(60_000, "later")
    yield* work()
    yield* later(59)
    assert.deepStrictEqual(seen, ["first", "second"])
    yield* later(1)
    yield* TestClock.adjust("1 hour")
    assert.deepStrictEqual(seen, ["first", "second", "later"])
  })

  effect("is tried again after 1, 2, 4 seconds and so on up to 5 minutes, and is never given up", memory, function* () {
    const jobs = yield* makeJobs
    const at: Array<number> = []
    yield* jobs.work((row) =>
      Effect.clockWith((clock) => {
        at.push(Math.round(clock.currentTimeMillisUnsafe() / 1000))
        return row.tries < 12 ? new TryAgain({ reason: "NotYet" }) : jobs.done(row)
      })
    )
    yield* jobs.insert(0, "a")
    yield* settle
    const waits = [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]
    for (const seconds of [...waits, 600]) yield* later(seconds)
    assert.deepStrictEqual(
      at.slice(1).map((second, index) => second - at[index]!),
      waits
    )
  })

  effect("is handled by as many fibers as the concurrency, and by no more", memory, function* () {
    const jobs = yield* makeJobs
    let running = 0
    const seen: Array<number> = []
    const go = Latch.makeUnsafe()
    const handle = Effect.fnUntraced(function* (row: DueRow) {
      seen.push(++running)
      yield* go.await
      yield* jobs.done(row)
      running -= 1
    })
    yield* jobs.work(handle, 3)
    yield* jobs.insert(0, "a", "b", "c", "d", "e")
    yield* settle
    assert.deepStrictEqual(seen, [1, 2, 3])
    yield* go.open
    yield* settle
    assert.deepStrictEqual([running, seen.length, Math.max(...seen)], [0, 5, 3])
  })

  effect(
    "is leased while its handler runs, and free at once when its worker stops, which logs nothing",
    memory,
    function* () {
      const jobs = yield* makeJobs
      const { layer, lines } = makeWarnings()
      const worker = yield* Effect.provide(
        jobs.work(() => Effect.never),
        layer
      )
      yield* jobs.insert(0, "a")
      yield* settle
      for (let n = 0; n < 20; n++) yield* later(6)
      assert.strictEqual(jobs.takes(), 1, "a worker that is busy does not look for rows")
      assert.isFalse(yield* jobs.take)
      yield* Fiber.interrupt(worker)
      assert.isTrue(yield* jobs.take)
      assert.deepStrictEqual(lines, [])
    }
  )

  effect("is due now where it would wait for longer than a row may: the clock was ahead", memory, function* () {
    const jobs = yield* makeJobs
    yield* jobs.insert(25 * hour, "ahead")
    yield* jobs.insert(23 * hour, "tomorrow")
    yield* jobs.work()
    yield* later(1)
    assert.deepStrictEqual(jobs.seen, ["ahead"])
  })

  effect("is due at its time where the clock was set back meanwhile", memory, function* () {
    yield* TestClock.adjust("1 hour")
    const world = { ahead: 0 }
    const clock = wrongClock(yield* Clock.Clock, world)
    yield* Effect.gen(function* () {
      const jobs = yield* makeJobs
      yield* jobs.work()
      yield* jobs.insert(hour + 90_000, "a")
      yield* later(1)
      world.ahead = -600_000
      yield* later(60)
      yield* later(60)
      assert.deepStrictEqual(jobs.seen, ["a"])
    }).pipe(Effect.provideService(Clock.Clock, clock))
  })

  effect("keeps its lease while the database refuses to renew that of another one", memory, function* () {
    const jobs = yield* makeJobs
    yield* jobs.insert(0, "a", "b")
    yield* jobs.work(() => Effect.never, 2)
    yield* settle
    yield* jobs.sql`CREATE TRIGGER broken BEFORE UPDATE ON jobs WHEN NEW.name = 'a' BEGIN SELECT RAISE(ABORT, 'no'); END`
    yield* later(120)
    const [held] = yield* jobs.sql`SELECT name FROM jobs WHERE due_at > ${120_000}`
    assert.deepStrictEqual({ ...held }, { name: "b" })
  })

  effect(
    "waits while the database does not answer, with one line a minute, which has no text of it",
    memory,
    function* () {
      const jobs = yield* makeJobs
      const { layer, lines } = makeWarnings()
      yield* jobs.insert(0, "a")
      yield* jobs.sql`ALTER TABLE jobs RENAME TO away`
      yield* Effect.provide(jobs.work(), layer)
      yield* settle
      yield* later(59)
      assert.lengthOf(lines, 1)
      yield* later(2)
      assert.deepStrictEqual(lines, Array(2).fill("Jobs: the queue did not answer, it is polled again"))
      yield* jobs.sql`ALTER TABLE away RENAME TO jobs`
      yield* later(1)
      assert.deepStrictEqual(jobs.seen, ["a"])
    }
  )

  effect(
    "waits while the database refuses it, for at most a minute more, with one line a minute that names it and the trigger",
    memory,
    function* () {
      const jobs = yield* makeJobs
      const { layer, lines } = makeWarnings()
      yield* jobs.insert(0, "a")
      yield* jobs.insert(1, "b", "c")
      yield* jobs.sql`CREATE TRIGGER broken BEFORE UPDATE ON jobs WHEN NEW.name IN ('a', 'c')
        BEGIN SELECT RAISE(ABORT, 'maria@example.com'); END`
      yield* Effect.provide(jobs.work(undefined, 2), layer)
      yield* later(59)
      assert.deepStrictEqual(jobs.seen, ["b"])
      assert.lengthOf(lines, 1)
      yield* later(2)
      assert.deepStrictEqual(
        lines.map((line) => line.replace(/ They wait.*/, "")),
        [1, 2].map((count) => `The database refuses ${count} row(s) of jobs, as a (ConstraintError broken).`)
      )
      yield* jobs.insert(2, "d")
      yield* later(1)
      assert.deepStrictEqual(jobs.seen, ["b", "d"])
      yield* jobs.sql`DROP TRIGGER broken`
      yield* later(60)
      assert.deepStrictEqual(jobs.seen, ["b", "d", "a", "c"])
    }
  )

  effect(
    "is tried alone once a minute where the database refuses it, however many rows it refuses, up to a hundred",
    memory,
    function* () {
      const jobs = yield* makeJobs
      const { layer, lines } = makeWarnings()
      yield* jobs.insert(0, ...Array.from({ length: 120 }, (_, at) => `row ${at}`))
      yield* jobs.sql`CREATE TRIGGER broken BEFORE UPDATE ON jobs WHEN NEW.name LIKE 'row %' BEGIN SELECT RAISE(ABORT, 'no'); END`
      yield* Effect.provide(jobs.work(undefined, 10), layer)
      yield* later(62)
      assert.isAtMost(lines.length, 2 * 2, lines.join("\n"))
      yield* jobs.sql`DROP TRIGGER broken`
      yield* later(61)
      assert.lengthOf(jobs.seen, 120)
    }
  )
})
