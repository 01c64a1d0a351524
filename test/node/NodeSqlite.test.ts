/** A SQLite database of one process: in memory, in a file, and of processes that a rehearsal simulates. */
import { assert, describe } from "@effect/vitest"
import { Context, Effect, Exit, Fiber, Latch, Layer, Logger, Scope, Stream } from "effect"
import { NodeSqlite } from "effect-pix/node"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { chmodSync, existsSync, linkSync, mkdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from "node:fs"
import { chownSync } from "node:fs"
import { dirname, join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { failureNameOf } from "../../src/internal/databaseFailure.ts"
import { SimulatedProcess } from "../../src/internal/simulatedProcess.ts"
import { soleWriterOf, unnoticed } from "../../src/internal/soleWriter.ts"
import { effect } from "../support/effect.ts"
import { folder } from "../support/operated.ts"
import { build, ids } from "../support/sqliteHolder.ts"

const file = Effect.map(folder, (path) => join(path, "payouts.db"))
const createOrders = (sql: SqlClient.SqlClient) =>
  sql`CREATE TABLE orders (id INTEGER PRIMARY KEY, paid INTEGER, at TEXT, note TEXT UNIQUE)`
const insert = (sql: SqlClient.SqlClient, id: number) => sql`INSERT INTO orders (id) VALUES (${id})`
const refused = (filename: string, readOnly?: boolean) =>
  Effect.map(Effect.flip(Effect.scoped(build(filename, readOnly))), (error) => {
    assert.strictEqual(error._tag, "ConfigurationError")
    assert.strictEqual(error.settings[0].setting, "filename")
    return error.message
  })

const memory = Layer.effectDiscard(Effect.flatMap(SqlClient.SqlClient, createOrders)).pipe(
  Layer.provideMerge(NodeSqlite.layer({ filename: ":memory:" }))
)

describe("a SQLite database", () => {
  effect(
    "a transaction that fails is rolled back, and a nested one that fails undoes only itself",
    memory,
    function* () {
      const sql = yield* SqlClient.SqlClient
      const failing = (id: number) =>
        Effect.exit(sql.withTransaction(Effect.andThen(insert(sql, id), Effect.fail("no"))))
      yield* failing(1)
      assert.deepStrictEqual(yield* ids(sql), [])
      yield* sql.withTransaction(Effect.andThen(insert(sql, 2), failing(3)))
      assert.deepStrictEqual(yield* ids(sql), [2])
    }
  )

  effect("booleans, dates and undefined are written as values that SQLite has", memory, function* () {
    const sql = yield* SqlClient.SqlClient
    const at = new Date(0)
    yield* sql`INSERT INTO orders (id, paid, at, note) VALUES (1, ${true}, ${at}, ${undefined})`
    const all = sql`SELECT * FROM orders`
    assert.deepStrictEqual(yield* all.values, [[1, 1, at.toISOString(), null]])
    const row = { id: 1, paid: 1, at: at.toISOString(), note: null }
    assert.deepStrictEqual(
      (yield* Stream.runCollect(all.stream)).map((found) => ({ ...found })),
      [row]
    )
    assert.deepInclude(yield* sql`UPDATE orders SET paid = 0`.raw, { changes: 1 })
  })

  effect("a wrong statement fails with the reason of its kind", memory, function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`INSERT INTO orders (id, note) VALUES (1, 'a')`
    for (const [statement, reason] of [
      [insert(sql, 1), "ConstraintError"],
      [sql`INSERT INTO orders (note) VALUES ('a')`, "UniqueViolation"],
      [sql`SELEKT`, "UnknownError"],
      [sql`SELECT ${{ no: "value" }}`, "UnknownError"]
    ] as const)
      assert.strictEqual((yield* Effect.flip(statement)).reason._tag, reason)
  })

  effect("a write is published once it is committed, and a read or one that is no news is not", memory, function* () {
    const sql = yield* SqlClient.SqlClient
    const { writes } = (yield* soleWriterOf(sql)) ?? assert.fail("it has other writers")
    const isNews = Latch.makeUnsafe()
    writes.add(isNews)
    yield* ids(sql)
    assert.isFalse(isNews.isOpen())
    yield* sql.withTransaction(Effect.tap(insert(sql, 1), () => Effect.sync(() => assert.isFalse(isNews.isOpen()))))
    assert.isTrue(isNews.closeUnsafe())
    yield* insert(sql, 2)
    assert.isTrue(isNews.closeUnsafe())
    yield* ids(sql)
    yield* unnoticed(insert(sql, 3))
    assert.isFalse(isNews.isOpen())
    yield* insert(sql, 4)
    assert.isTrue(isNews.isOpen())
  })

  effect("a statement still works after hundreds of others were prepared since its last use", memory, function* () {
    const sql = yield* SqlClient.SqlClient
    const numbers = Array.from({ length: 450 }, (_, n) => n)
    for (const n of [...numbers, ...numbers])
      assert.deepStrictEqual(yield* sql.unsafe(`SELECT ${n} AS n`).values, [[n]])
  })

  effect("SQLite's words for the current time follow the program's clock, also as defaults", memory, function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`CREATE TABLE stamps (id INTEGER PRIMARY KEY, at TEXT DEFAULT CURRENT_TIMESTAMP)`
    yield* TestClock.adjust("36 hours")
    yield* sql`INSERT INTO stamps (id) VALUES (1)`
    yield* TestClock.adjust("1500 millis")
    yield* sql`INSERT INTO stamps (id) VALUES (2)`
    const stamps = sql`SELECT at FROM stamps ORDER BY id`
    assert.deepStrictEqual(yield* stamps.values, [["1970-01-02 12:00:00"], ["1970-01-02 12:00:01"]])
    const words = sql`SELECT CURRENT_DATE, CURRENT_TIME, datetime(CURRENT_TIMESTAMP, '-1 day')`
    assert.deepStrictEqual(yield* words.values, [["1970-01-02", "12:00:01", "1970-01-01 12:00:01"]])
  })
})

describe("a SQLite file", () => {
  effect("a committed row is in the file after it is opened again, and the log tells a new file from it", function* () {
    const filename = yield* file
    const messages: Array<string> = []
    const logger = Logger.layer([Logger.make(({ message }) => void messages.push(String(message)))])
    const using = <A, E>(use: (sql: SqlClient.SqlClient) => Effect.Effect<A, E>) =>
      Effect.scoped(Effect.flatMap(build(filename), use)).pipe(Effect.provide(logger))
    yield* using((sql) => Effect.andThen(createOrders(sql), insert(sql, 7)))
    assert.deepStrictEqual(yield* using(ids), [7])
    assert.deepStrictEqual(messages, [`NodeSqlite: ${filename} was created.`, `NodeSqlite: ${filename} was opened.`])
  })

  effect("layers of one file are one client, which closes the file after the last of them", function* () {
    const filename = yield* file
    const [first, second] = [yield* Scope.make(), yield* Scope.make()]
    const clientIn = (scope: Scope.Scope) => Effect.provideService(build(filename), Scope.Scope, scope)
    const client = yield* clientIn(first)
    assert.strictEqual(yield* clientIn(second), client)
    yield* Scope.close(first, Exit.void)
    yield* client`SELECT 1`
    yield* Scope.close(second, Exit.void)
    assert.strictEqual((yield* Effect.flip(client`SELECT 1`))._tag, "SqlError")
    yield* createOrders(yield* build(filename))
  })

  effect.each<readonly [string, words: string, make: (filename: string) => unknown]>([
    [
      "that another connection has locked",
      "is open in another process",
      (filename) =>
        new DatabaseSync(filename).exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; CREATE TABLE t (a); COMMIT")
    ],
    [
      "that is no database",
      "is damaged, or is no database. Stop the program, and restore a backup",
      (filename) => writeFileSync(filename, "a text that is longer than a header of one hundred bytes".repeat(9))
    ],
    ["without a folder", "its folder is absent", (filename) => rmdirSync(dirname(filename))],
    [
      "with two names",
      "more than one hard link",
      (filename) => {
        writeFileSync(filename, "")
        linkSync(filename, `${filename}-other`)
      }
    ],
    ["whose lock cannot be made", "-wal, -shm and -lock", (filename) => mkdirSync(`${filename}-lock`)]
  ])("a file %s is refused as a wrong setting: %s", function* ([, words, make]) {
    const filename = join(yield* folder, "data", "payouts.db")
    mkdirSync(dirname(filename))
    make(filename)
    assert.include(yield* refused(filename), words)
  })

  effect("a statement that its own transaction locks out fails without a wait", function* () {
    const sql = yield* build(yield* file)
    const checkpoint = sql`PRAGMA wal_checkpoint(TRUNCATE)`
    const { reason } = yield* Effect.flip(sql.withTransaction(checkpoint))
    assert.strictEqual(reason._tag, "LockTimeoutError")
  })

  effect("nobody else of the machine reads a new file, its log or its lock", function* () {
    const filename = yield* file
    const sql = yield* build(filename)
    yield* sql`CREATE TABLE t (a)`
    const modes = ["", "-wal", "-shm", "-lock"].map((end) => statSync(`${filename}${end}`).mode & 0o777)
    assert.deepStrictEqual(modes, [0o600, 0o600, 0o600, 0o600])
  })

  effect("the lock has the rights of its file, so that a command of another user locks no program out", function* () {
    const filename = yield* file
    writeFileSync(filename, "")
    chmodSync(filename, 0o660)
    // Root alone may give a file away.
    if (process.getuid?.() === 0) chownSync(filename, 1000, 1000)
    yield* build(filename)
    const [lock, own] = [statSync(`${filename}-lock`), statSync(filename)]
    assert.deepStrictEqual([lock.mode & 0o777, lock.uid], [0o660, own.uid])
  })

  effect("a reader writes nothing and creates nothing", function* () {
    const filename = yield* file
    assert.include(yield* refused(filename, true), "is absent")
    assert.isFalse(existsSync(filename))
    writeFileSync(`${filename}-text`, "a text that is longer than a header of one hundred bytes".repeat(9))
    assert.include(yield* refused(`${filename}-text`, true), "is no database")
    yield* Effect.scoped(Effect.flatMap(build(filename), createOrders))
    const before = readFileSync(filename)
    const opened = yield* Layer.build(NodeSqlite.layer({ filename, readOnly: true }))
    const sql = Context.get(opened, SqlClient.SqlClient)
    assert.isUndefined(yield* Effect.provide(soleWriterOf(sql), opened))
    for (const statement of [insert(sql, 1), sql`CREATE TABLE t (a)`, sql`DELETE FROM orders`])
      assert.strictEqual(failureNameOf(yield* Effect.flip(statement)), "ReadOnly")
    assert.deepStrictEqual(yield* sql.withTransaction(ids(sql)), [])
    assert.isTrue(readFileSync(filename).equals(before))
  })
})

effect(
  "each of two simulated processes on a SQLite file has a connection, whose transaction waits for that of the other, and a write is of both",
  function* () {
    const filename = yield* file
    const openedBy = (name: string) =>
      Effect.provideService(Layer.build(NodeSqlite.layer({ filename })), SimulatedProcess, name)
    const clientOf = Context.get(SqlClient.SqlClient)
    const opened = [yield* openedBy("1"), yield* openedBy("2")] as const
    const [one, two] = [clientOf(opened[0]), clientOf(opened[1])]
    assert.strictEqual(clientOf(yield* openedBy("1")), one)
    assert.notStrictEqual(one, two)
    const [writesOfOne, writesOfTwo] = [
      yield* Effect.provide(soleWriterOf(one), opened[0]),
      yield* Effect.provide(soleWriterOf(two), opened[1])
    ]
    assert.isDefined(writesOfOne?.writes)
    assert.strictEqual(writesOfOne?.writes, writesOfTwo?.writes)
    yield* createOrders(one)
    yield* one.withTransaction(
      Effect.gen(function* () {
        yield* insert(one, 1)
        // A reader does not wait, and sees what was committed.
        assert.deepStrictEqual(yield* ids(two), [])
        const writing = yield* Effect.forkChild(Effect.flip(two.withTransaction(insert(two, 2))))
        yield* TestClock.adjust("4 seconds")
        assert.isUndefined(writing.pollUnsafe())
        yield* TestClock.adjust("2 seconds")
        assert.strictEqual((yield* Fiber.join(writing)).reason._tag, "LockTimeoutError")
      })
    )
    yield* two.withTransaction(insert(two, 2))
    assert.deepStrictEqual(yield* ids(one), [1, 2])
  }
)
