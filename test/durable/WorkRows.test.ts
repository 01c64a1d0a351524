/**
 * Rows that are due, and the fibers that handle them, on a table of two columns of its own.
 */
import { assert, describe } from "@effect/vitest"
import { Deferred, Effect, Fiber, Latch, Logger, type Scope } from "effect"
import { NodeSqlite } from "effect-pix/node"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { database } from "../../src/durable/Database.ts"
import { type Due, dueColumns, type DueRow, makeDue } from "../../src/durable/Due.ts"
import { TryAgain } from "../../src/durable/Work.ts"
import { workRows } from "../../src/durable/WorkRows.ts"
import { followWrites, soleWritesOf } from "../../src/internal/soleWriter.ts"
import { effect } from "../support/effect.ts"

const hour = 3_600_000

/** Every line that is logged, causes included. */
const makeLog = () => {
  const lines: Array<string> = []
  const logger = Logger.layer([Logger.make(({ cause, message }) => lines.push(`${String(message)} ${String(cause)}`))])
  return { lines, logger }
}

interface World {
  readonly due: Due
  readonly sql: SqlClient.SqlClient
  /** Inserts rows that are due after some milliseconds. */
  readonly insert: (millis: number, ...names: ReadonlyArray<string>) => Effect.Effect<void, unknown>
  /** Deletes a row: its work is done. */
  readonly done: (row: DueRow) => Effect.Effect<void>
  readonly work: (
    handle: (row: DueRow) => Effect.Effect<void, TryAgain>,
    options?: { readonly concurrency?: number; readonly lease?: number }
  ) => Effect.Effect<never>
}

const test = (name: string, use: (world: World) => Effect.Effect<void, unknown, Scope.Scope>) =>
  effect(name, NodeSqlite.layer({ filename: ":memory:" }), function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql.unsafe(`CREATE TABLE jobs (name TEXT PRIMARY KEY, ${dueColumns("0")})`)
    const due = makeDue(yield* database, {
      table: "jobs",
      key: "name",
      where: sql`1 = 1`,
      columns: sql`name`,
      longest: 24 * hour
    })
    const isDue = yield* Latch.make()
    const world: World = {
      due,
      sql,
      insert: (millis, ...names) =>
        Effect.gen(function* () {
          for (const name of names) yield* sql`INSERT INTO jobs (name, due_at) VALUES (${name}, ${millis})`
          yield* isDue.open
        }),
      done: ({ key }) => Effect.orDie(Effect.asVoid(sql`DELETE FROM jobs WHERE name = ${key}`)),
      work: (handle, { concurrency = 1, lease = 30_000 } = {}) =>
        workRows({
          name: "Jobs",
          due,
          concurrency,
          lease,
          poll: 1000,
          isDue,
          followWrites: followWrites(soleWritesOf(sql)),
          handle
        })
    }
    yield* use(world)
  })

const settle = Effect.repeat(TestClock.adjust("1 millis"), { times: 9 })

describe("a row that is due", () => {
  test("is handled at its time, once, and the oldest first", ({ done, insert, work }) =>
    Effect.gen(function* () {
      const seen: Array<string> = []
      yield* Effect.forkScoped(
        work((row) =>
          Effect.andThen(
            Effect.sync(() => seen.push(row.key)),
            done(row)
          )
        )
      )
      yield* insert(60_000, "later")
      yield* insert(0, "now")
      yield* settle
      assert.deepStrictEqual(seen, ["now"])
      yield* TestClock.adjust("59 seconds")
      assert.deepStrictEqual(seen, ["now"])
      yield* TestClock.adjust("1 second")
      yield* settle
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(seen, ["now", "later"])
    }))

  test("is tried again after 1, 2, 4 seconds and so on, up to 5 minutes, and is never given up", ({
    done,
    insert,
    work
  }) =>
    Effect.gen(function* () {
      const tries: Array<number> = []
      const handle = (row: DueRow) =>
        Effect.suspend(() => {
          tries.push(row.tries)
          return row.tries < 50 ? Effect.fail(new TryAgain({ reason: "NotYet" })) : done(row)
        })
      yield* Effect.forkScoped(work(handle))
      yield* insert(0, "a")
      yield* settle
      for (const [seconds, count] of [
        [1, 2],
        [2, 3],
        [4, 4]
      ] as const) {
        yield* TestClock.adjust(`${seconds} seconds`)
        yield* settle
        assert.lengthOf(tries, count)
      }
      for (let n = 0; n < 60; n++) yield* Effect.andThen(TestClock.adjust("5 minutes"), settle)
      assert.deepStrictEqual(
        tries,
        Array.from({ length: 50 }, (_, index) => index + 1)
      )
    }))

  test("is handled by as many fibers as the concurrency, and by no more", ({ done, insert, work }) =>
    Effect.gen(function* () {
      let running = 0
      let most = 0
      const go = Latch.makeUnsafe()
      const handle = (row: DueRow) =>
        Effect.gen(function* () {
          most = Math.max(most, ++running)
          yield* go.await
          yield* done(row)
          running -= 1
        })
      yield* Effect.forkScoped(work(handle, { concurrency: 3 }))
      yield* insert(0, "a", "b", "c", "d", "e")
      yield* settle
      assert.deepStrictEqual([running, most], [3, 3])
      yield* go.open
      yield* settle
      assert.deepStrictEqual([running, most], [0, 3])
    }))

  test("goes to the next worker at once where its worker is stopped, which logs nothing", ({ due, insert, work }) =>
    Effect.gen(function* () {
      const { lines, logger } = makeLog()
      const begun = yield* Deferred.make<void>()
      const handle = () => Effect.andThen(Deferred.succeed(begun, undefined), Effect.never)
      const worker = yield* Effect.forkChild(Effect.provide(work(handle), logger))
      yield* insert(0, "a")
      yield* Deferred.await(begun)
      assert.lengthOf(yield* due.take("another", 30_000, 1), 0)
      yield* Fiber.interrupt(worker)
      assert.lengthOf(yield* due.take("another", 30_000, 1), 1)
      assert.deepStrictEqual(lines, [])
    }))

  test("is another worker's when a lease is over that nobody renews, and only that one gives it back", ({
    due,
    insert,
    sql
  }) =>
    Effect.gen(function* () {
      yield* insert(0, "a")
      assert.lengthOf(yield* due.take("dead", 30_000, 1), 1)
      yield* TestClock.adjust("29 seconds")
      assert.lengthOf(yield* due.take("other", 30_000, 1), 0)
      yield* due.renew([{ key: "a", taker: "dead" }], 30_000)
      yield* TestClock.adjust("29 seconds")
      assert.lengthOf(yield* due.take("other", 30_000, 1), 0)
      yield* TestClock.adjust("1 second")
      assert.lengthOf(yield* due.take("other", 30_000, 1), 1)
      yield* due.renew([{ key: "a", taker: "dead" }], hour)
      yield* due.giveBack({ key: "a", taker: "dead" }, 0)
      assert.deepStrictEqual(yield* sql`SELECT taken_by, due_at FROM jobs`, [{ taken_by: "other", due_at: 89_000 }])
      yield* due.giveBack({ key: "a", taker: "other" }, 0)
      assert.lengthOf(yield* due.take("dead", 30_000, 1), 1)
    }))

  test("keeps its lease for as long as its handler runs", ({ due, insert, work }) =>
    Effect.gen(function* () {
      yield* Effect.forkScoped(work(() => Effect.never))
      yield* insert(0, "a")
      yield* settle
      for (let n = 0; n < 20; n++) yield* Effect.andThen(TestClock.adjust("6 seconds"), settle)
      assert.lengthOf(yield* due.take("other", 30_000, 1), 0)
    }))

  test("is due now where it would wait for longer than a row may: the clock was ahead", ({ done, insert, work }) =>
    Effect.gen(function* () {
      const seen: Array<string> = []
      yield* insert(25 * hour, "ahead")
      yield* insert(23 * hour, "tomorrow")
      yield* Effect.forkScoped(
        work((row) =>
          Effect.andThen(
            Effect.sync(() => seen.push(row.key)),
            done(row)
          )
        )
      )
      yield* TestClock.adjust("1 second")
      yield* settle
      assert.deepStrictEqual(seen, ["ahead"])
    }))
})

describe("a database that does not answer", () => {
  test("is asked again each second, and the log has one line a minute without the database's text", ({
    done,
    insert,
    sql,
    work
  }) =>
    Effect.gen(function* () {
      const { lines, logger } = makeLog()
      const seen: Array<string> = []
      yield* insert(0, "a")
      yield* sql`CREATE TRIGGER broken BEFORE UPDATE ON jobs BEGIN SELECT RAISE(ABORT, 'maria@example.com'); END`
      const worker = work((row) =>
        Effect.andThen(
          Effect.sync(() => seen.push(row.key)),
          done(row)
        )
      )
      yield* Effect.forkScoped(Effect.provide(worker, logger))
      yield* settle
      yield* TestClock.adjust("30 seconds")
      assert.lengthOf(lines, 1)
      assert.include(lines[0], "Jobs: the queue did not answer, it is polled again")
      assert.notInclude(lines.join("\n"), "maria")
      yield* sql`DROP TRIGGER broken`
      yield* TestClock.adjust("1 second")
      yield* settle
      assert.deepStrictEqual(seen, ["a"])
    }))
})
