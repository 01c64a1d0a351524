/**
 * Rows that are due, and the fibers that handle them, on a table of two columns of its own.
 */
import { assert, describe } from "@effect/vitest"
import { Deferred, Effect, Fiber, Latch, Logger, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { database } from "../../src/durable/Database.ts"
import { dueColumns, type DueRow, makeDue } from "../../src/durable/Due.ts"
import { TryAgain } from "../../src/durable/Work.ts"
import { workRows } from "../../src/durable/WorkRows.ts"
import { followWrites, soleWritesOf } from "../../src/internal/soleWriter.ts"
import { effect } from "../support/effect.ts"
import { memory, settle } from "../support/payoutQueue.ts"

const hour = 3_600_000

/** A table of jobs, and the fibers that handle them. */
const makeJobs = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql.unsafe(`CREATE TABLE jobs (name TEXT PRIMARY KEY, ${dueColumns("0")})`)
  const [where, columns] = [sql`1 = 1`, sql`name`]
  const due = makeDue(yield* database, { table: "jobs", key: "name", where, columns, longest: 24 * hour })
  const isDue = yield* Latch.make()
  const seen: Array<string> = []
  const done = ({ key }: DueRow) =>
    Effect.andThen(
      Effect.sync(() => seen.push(key)),
      Effect.orDie(sql`DELETE FROM jobs WHERE name = ${key}`)
    )
  /** Starts the fibers. By default a job is done when it is handled. */
  const work = (handle: (row: DueRow) => Effect.Effect<unknown, TryAgain> = done, concurrency = 1) => {
    const follow = followWrites(soleWritesOf(sql))
    const options = { name: "Jobs", due, concurrency, lease: 30_000, poll: 1000, isDue, followWrites: follow }
    return Effect.forkScoped(workRows({ ...options, handle: (row) => Effect.asVoid(handle(row)) }))
  }
  return {
    due,
    sql,
    seen,
    done,
    work,
    /** Inserts jobs that are due after some milliseconds. */
    insert: Effect.fnUntraced(function* (millis: number, ...names: ReadonlyArray<string>) {
      for (const name of names) yield* sql`INSERT INTO jobs (name, due_at) VALUES (${name}, ${millis})`
      yield* isDue.open
    }),
    /** Whether another process could take a job now, which it would have for half a minute. */
    take: (taker = "other") => Effect.map(due.take(taker, 30_000, 1), ({ length }) => length === 1)
  }
})

type Jobs = Effect.Success<typeof makeJobs>

const test = (
  title: string,
  body: (jobs: Jobs) => Generator<Effect.Effect<unknown, unknown, Scope.Scope>, void, never>
) =>
  effect(title, memory, function* () {
    const jobs = yield* makeJobs
    yield* Effect.gen(() => body(jobs))
  })

const makeLog = () => {
  const lines: Array<string> = []
  return {
    lines,
    layer: Logger.layer([Logger.make(({ cause, message }) => lines.push(`${String(message)} ${String(cause)}`))])
  }
}

const later = (seconds: number) => Effect.andThen(TestClock.adjust(seconds * 1000), settle)

describe("a row that is due", () => {
  test("is handled at its time, once, and the oldest first", function* ({ insert, seen, work }) {
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

  test("is tried again after 1, 2, 4 seconds and so on up to 5 minutes, and is never given up", function* ({
    done,
    insert,
    work
  }) {
    const at: Array<number> = []
    yield* work((row) =>
      Effect.clockWith((clock) => {
        at.push(Math.round(clock.currentTimeMillisUnsafe() / 1000))
        return row.tries < 12 ? new TryAgain({ reason: "NotYet" }) : done(row)
      })
    )
    yield* insert(0, "a")
    yield* settle
    const waits = [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]
    for (const seconds of waits) yield* later(seconds)
    yield* later(600)
    assert.deepStrictEqual(
      at.slice(1).map((second, index) => second - at[index]!),
      waits
    )
  })

  test("is handled by as many fibers as the concurrency, and by no more", function* ({ done, insert, work }) {
    let [running, most] = [0, 0]
    const go = Latch.makeUnsafe()
    yield* work(
      Effect.fnUntraced(function* (row) {
        most = Math.max(most, ++running)
        yield* go.await
        yield* done(row)
        running -= 1
      }),
      3
    )
    yield* insert(0, "a", "b", "c", "d", "e")
    yield* settle
    assert.deepStrictEqual([running, most], [3, 3])
    yield* go.open
    yield* settle
    assert.deepStrictEqual([running, most], [0, 3])
  })

  test("goes to the next worker at once where its worker is stopped, which logs nothing", function* ({
    insert,
    take,
    work
  }) {
    const { layer, lines } = makeLog()
    const begun = yield* Deferred.make<void>()
    const worker = yield* Effect.provide(
      work(() => Effect.andThen(Deferred.succeed(begun, undefined), Effect.never)),
      layer
    )
    yield* insert(0, "a")
    yield* Deferred.await(begun)
    assert.isFalse(yield* take())
    yield* Fiber.interrupt(worker)
    assert.isTrue(yield* take())
    assert.deepStrictEqual(lines, [])
  })

  test("has its lease for as long as its handler runs", function* ({ insert, take, work }) {
    yield* work(() => Effect.never)
    yield* insert(0, "a")
    yield* settle
    for (let n = 0; n < 20; n++) yield* later(6)
    assert.isFalse(yield* take())
  })

  test("is due now where it would wait for longer than a row may: the clock was ahead", function* ({
    insert,
    seen,
    work
  }) {
    yield* insert(25 * hour, "ahead")
    yield* insert(23 * hour, "tomorrow")
    yield* work()
    yield* later(1)
    assert.deepStrictEqual(seen, ["ahead"])
  })

  test("waits while the database does not answer: it is asked each second, with one line a minute and no text of it", function* ({
    insert,
    seen,
    sql,
    work
  }) {
    const { layer, lines } = makeLog()
    yield* insert(0, "a")
    yield* sql`CREATE TRIGGER broken BEFORE UPDATE ON jobs BEGIN SELECT RAISE(ABORT, 'maria@example.com'); END`
    yield* Effect.provide(work(), layer)
    yield* settle
    yield* later(59)
    assert.lengthOf(lines, 1)
    yield* later(2)
    assert.lengthOf(lines, 2)
    assert.include(lines[0], "Jobs: the queue did not answer, it is polled again")
    assert.notInclude(lines.join("\n"), "maria")
    yield* sql`DROP TRIGGER broken`
    yield* later(1)
    assert.deepStrictEqual(seen, ["a"])
  })
})
