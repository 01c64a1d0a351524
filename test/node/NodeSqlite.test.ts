import { assert, describe, expect } from "@effect/vitest"
import { Context, Effect, Exit, Layer, Logger, Scope, Stream } from "effect"
import { NodeSqlite } from "effect-pix/node"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { effect } from "../support/effect.ts"

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "effect-pix-sqlite-"))),
  (dir) => Effect.sync(() => rmSync(dir, { recursive: true, force: true }))
)

const counted = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly n: number }>`SELECT count(*) AS n FROM orders`
  return row?.n
})
const table = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`CREATE TABLE orders (id INTEGER PRIMARY KEY, paid INTEGER, at TEXT, note TEXT)`
)

const memory = NodeSqlite.layer({ filename: ":memory:" })

describe("NodeSqlite", () => {
  effect(
    "a transaction that fails is rolled back, and a nested one that fails undoes only itself",
    memory,
    function* () {
      const sql = yield* SqlClient.SqlClient
      yield* table
      yield* Effect.exit(
        sql.withTransaction(Effect.andThen(sql`INSERT INTO orders (id) VALUES (1)`, Effect.fail("no")))
      )
      assert.strictEqual(yield* counted, 0)
      yield* sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`INSERT INTO orders (id) VALUES (2)`
          yield* Effect.exit(
            sql.withTransaction(Effect.andThen(sql`INSERT INTO orders (id) VALUES (3)`, Effect.fail("no")))
          )
        })
      )
      assert.deepStrictEqual(yield* sql`SELECT id FROM orders`, [{ id: 2 }])
    }
  )

  effect("booleans, dates and undefined are written as values that SQLite has", memory, function* () {
    const sql = yield* SqlClient.SqlClient
    yield* table
    const at = new Date(0)
    yield* sql`INSERT INTO orders (id, paid, at, note) VALUES (1, ${true}, ${at}, ${undefined})`
    const rows = yield* sql`SELECT * FROM orders`
    expect(rows.map((row) => ({ ...row }))).toEqual([{ id: 1, paid: 1, at: at.toISOString(), note: null }])
    assert.deepStrictEqual(yield* sql`SELECT id, paid FROM orders`.values, [[1, 1]])
    assert.strictEqual((yield* Stream.runCollect(sql`SELECT * FROM orders`.stream)).length, 1)
    assert.deepInclude(yield* sql`UPDATE orders SET paid = 0`.raw, { changes: 1 })
  })

  effect("a wrong statement fails with the reason of its kind", memory, function* () {
    const sql = yield* SqlClient.SqlClient
    yield* table
    yield* sql`INSERT INTO orders (id) VALUES (1)`
    const twice = yield* Effect.flip(sql`INSERT INTO orders (id) VALUES (1)`)
    assert.strictEqual(twice.reason._tag, "ConstraintError")
    yield* sql`CREATE UNIQUE INDEX notes ON orders (note)`
    yield* sql`INSERT INTO orders (note) VALUES ('a')`
    const other = yield* Effect.flip(sql`INSERT INTO orders (note) VALUES ('a')`)
    assert.strictEqual(other.reason._tag, "UniqueViolation")
    assert.strictEqual((yield* Effect.flip(sql`SELEKT`)).reason._tag, "UnknownError")
    assert.strictEqual((yield* Effect.flip(sql`SELECT ${{ no: "value" }}`)).reason._tag, "UnknownError")
  })

  effect("a statement still works after hundreds of others were prepared since its last use", memory, function* () {
    const sql = yield* SqlClient.SqlClient
    const ask = (n: number) => Effect.map(sql.unsafe<{ readonly n: number }>(`SELECT ${n} AS n`), ([row]) => row?.n)
    const numbers = Array.from({ length: 450 }, (_, n) => n)
    for (const n of [...numbers, ...numbers]) assert.strictEqual(yield* ask(n), n)
  })

  effect(
    "SQLite's functions for the current time follow the program's clock, also as defaults and inside other functions",
    memory,
    function* () {
      const sql = yield* SqlClient.SqlClient
      yield* TestClock.adjust("36 hours")
      yield* sql`CREATE TABLE stamps (id INTEGER PRIMARY KEY, at TEXT DEFAULT CURRENT_TIMESTAMP)`
      yield* sql`INSERT INTO stamps (id) VALUES (1)`
      yield* TestClock.adjust("1500 millis")
      yield* sql`INSERT INTO stamps (id) VALUES (2)`
      assert.deepStrictEqual(yield* sql`SELECT at FROM stamps ORDER BY id`.values, [
        ["1970-01-02 12:00:00"],
        ["1970-01-02 12:00:01"]
      ])
      const words = sql`SELECT CURRENT_DATE, CURRENT_TIME, datetime(CURRENT_TIMESTAMP, '-1 day')`
      assert.deepStrictEqual(yield* words.values, [["1970-01-02", "12:00:01", "1970-01-01 12:00:01"]])
    }
  )

  effect("a committed row is in the file after it is opened again, and the log tells a new file from it", function* () {
    const messages: Array<string> = []
    const logger = Logger.layer([Logger.make(({ message }) => void messages.push(String(message)))])
    const file = Layer.provide(NodeSqlite.layer({ filename: join(yield* folder, "payouts.db") }), logger)
    const insert = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`INSERT INTO orders (id) VALUES (7)`)
    yield* Effect.provide(Effect.andThen(table, insert), file)
    assert.strictEqual(yield* Effect.provide(counted, file), 1)
    expect(messages).toEqual([
      expect.stringMatching(/payouts\.db was created\.$/),
      expect.stringMatching(/payouts\.db was opened\.$/)
    ])
  })

  effect("a file that another connection has locked is refused", function* () {
    const filename = join(yield* folder, "payouts.db")
    const other = new DatabaseSync(filename)
    other.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; CREATE TABLE t (a); COMMIT")
    const { message } = yield* Effect.flip(Effect.scoped(Layer.build(NodeSqlite.layer({ filename }))))
    other.close()
    assert.include(message, "is open in another process")
  })

  effect(
    "layers of one file in one process are one client, which closes the file after the last of them",
    function* () {
      const filename = join(yield* folder, "payouts.db")
      const first = yield* Scope.make()
      const second = yield* Scope.make()
      const clientIn = (scope: Scope.Scope) =>
        Effect.map(
          Layer.buildWithScope(Layer.fresh(NodeSqlite.layer({ filename })), scope),
          Context.get(SqlClient.SqlClient)
        )
      const client = yield* clientIn(first)
      assert.strictEqual(yield* clientIn(second), client)
      yield* Scope.close(first, Exit.void)
      yield* client`SELECT 1`
      yield* Scope.close(second, Exit.void)
      assert.strictEqual((yield* Effect.flip(client`SELECT 1`))._tag, "SqlError")
      // The file can be opened again.
      yield* Effect.provide(table, NodeSqlite.layer({ filename }))
    }
  )

  effect("a file that is not a database, or that cannot be created, causes a ConfigurationError", function* () {
    const dir = yield* folder
    writeFileSync(
      join(dir, "text.db"),
      "this is no database, and it is longer than a header of one hundred bytes".repeat(9)
    )
    for (const name of ["text.db", "absent/folder.db"]) {
      const exit = yield* Effect.exit(Effect.scoped(Layer.build(NodeSqlite.layer({ filename: join(dir, name) }))))
      assert.isTrue(Exit.isFailure(exit))
      assert.include(String(Exit.isFailure(exit) ? exit.cause : ""), "ConfigurationError")
    }
  })
})
