import { assert, describe, it } from "@effect/vitest"
import { PgClient } from "@effect/sql-pg"
import { Cause, Effect, Exit, Layer, Redacted } from "effect"
import { NodeSqlite } from "effect-pix/node"
import { Reactivity } from "effect/reactivity"
import { SqlClient, Statement } from "effect/sql"
import { SqlError, UnknownError } from "effect/sql/SqlError"
import {
  database,
  DatabaseError,
  inTransaction,
  mapDatabaseError,
  requireOwnTransaction
} from "../../src/durable/Database.ts"
import { migrate } from "../../src/durable/Tables.ts"
import { postgres } from "../support/database.ts"
import { noPostgres } from "../support/postgres.ts"
import { effect, live } from "../support/effect.ts"

const sqlite = () => NodeSqlite.layer({ filename: ":memory:" })

/** A client of a dialect without a connection. */
const unconnected = (compiler: Statement.Compiler) =>
  Layer.effect(
    SqlClient.SqlClient,
    SqlClient.make({
      acquirer: Effect.die("it is not connected"),
      compiler,
      driver: "test",
      spanAttributes: []
    })
  ).pipe(Layer.provide(Reactivity.layer))

const compilerOf = (dialect: Statement.Dialect) =>
  Statement.makeCompiler({
    dialect,
    placeholder: () => "?",
    onIdentifier: (name) => name,
    onRecordUpdate: () => ["", []],
    onCustom: () => ["", []]
  })

describe("database", () => {
  effect("the dialect of PostgreSQL is pg, and that of SQLite is sqlite", function* () {
    const pg = yield* Effect.provide(database, unconnected(PgClient.makeCompiler()))
    const lite = yield* Effect.provide(database, sqlite())
    assert.deepStrictEqual([pg.dialect, lite.dialect], ["pg", "sqlite"])
  })

  for (const [dialect, name] of [
    ["mysql", "MySQL"],
    ["mssql", "Microsoft SQL Server"],
    ["clickhouse", "ClickHouse"]
  ] as const)
    effect(
      `${name} is refused with a sentence that says what is supported`,
      unconnected(compilerOf(dialect)),
      function* () {
        const error = yield* Effect.flip(database)
        assert.strictEqual(error._tag, "ConfigurationError")
        assert.include(error.message, name)
        assert.include(error.message, "PostgreSQL or SQLite")
      }
    )
})

const two = Effect.gen(function* () {
  const ours = yield* Effect.provide(database, yield* Layer.build(Layer.fresh(sqlite())))
  const theirs = yield* Effect.provide(database, yield* Layer.build(Layer.fresh(sqlite())))
  return { ours, theirs }
})

describe("requireOwnTransaction", () => {
  effect("requireOwnTransaction succeeds outside a transaction, and in one of its own client", function* () {
    const { ours } = yield* two
    const check = requireOwnTransaction(ours, "submit")
    yield* check
    yield* ours.sql.withTransaction(check)
    yield* ours.sql.withTransaction(ours.sql.withTransaction(check))
  })

  effect("requireOwnTransaction fails in a transaction of another client, with a sentence that says so", function* () {
    const { ours, theirs } = yield* two
    const check = requireOwnTransaction(ours, "submit")
    const error = yield* Effect.flip(theirs.sql.withTransaction(check))
    assert.strictEqual(error._tag, "ForeignTransaction")
    assert.include(error.message, "another SqlClient")
    const inner = yield* Effect.flip(ours.sql.withTransaction(theirs.sql.withTransaction(check)))
    assert.strictEqual(inner._tag, "ForeignTransaction")
  })
})

describe("mapDatabaseError", () => {
  effect("the error of a statement has the kind of failure and no text of the database", sqlite(), function* () {
    const { sql } = yield* database
    yield* sql`CREATE TABLE people (email TEXT UNIQUE)`
    const insert = sql`INSERT INTO people VALUES ('maria@example.com')`
    yield* insert
    const error = yield* Effect.flip(mapDatabaseError("submit")(insert))
    assert.strictEqual(error._tag, "DatabaseError")
    assert.strictEqual(error.reason, "UniqueViolation")
    assert.notInclude(JSON.stringify(error), "maria")
    assert.include(error.message, "Another try will not help")
    const passing = new DatabaseError({ operation: "submit", reason: "ConnectionError", isRetryable: true })
    assert.include(passing.message, "It is safe to try again")
  })
})

describe("a failure that a person has to end", () => {
  effect.each([
    [13, "DiskFull", true],
    [4874, "DiskFull", true],
    ["SQLITE_FULL", "DiskFull", true],
    ["53100", "DiskFull", true],
    [1544, "ReadOnly", true],
    ["SQLITE_READONLY_DBMOVED", "ReadOnly", true],
    ["25006", "ReadOnly", true],
    [778, "IoError", true],
    ["SQLITE_IOERR_WRITE", "IoError", true],
    [11, "Corrupt", false],
    [26, "Corrupt", false],
    ["XX001", "Corrupt", false],
    [1, "UnknownError", false],
    ["SQLITE_FULLY", "UnknownError", false],
    ["53200", "UnknownError", false],
    [undefined, "UnknownError", false]
  ] as const)("the code %s of a driver is %s", function* ([code, reason, isRetryable]) {
    const cause = Object.assign(new Error("a row of maria@example.com"), { code })
    const failing = new SqlError({ reason: new UnknownError({ cause, message: "query", operation: "query" }) })
    const error = yield* Effect.flip(mapDatabaseError("submit")(failing))
    assert.deepInclude(error, { _tag: "DatabaseError", operation: "submit", reason, isRetryable })
    assert.notInclude(JSON.stringify(error), "maria")
  })
})

const tables = (...names: ReadonlyArray<string>) => ({
  name: "effect_pix_test",
  migrations: Object.fromEntries(
    names.map((name, index) => {
      const create = `CREATE TABLE ${name} (id INTEGER)`
      return [`000${index + 1}_${name}`, { pg: [create], sqlite: [create] }]
    })
  )
})

const versions = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`SELECT migration_id AS id, name FROM effect_pix_test_migrations ORDER BY 1`
)

const migrating = Effect.gen(function* () {
  yield* migrate(tables("one"))
  yield* migrate(tables("one"))
  yield* migrate(tables("one", "two"))
  assert.deepStrictEqual(yield* versions, [
    { id: 1, name: "one" },
    { id: 2, name: "two" }
  ])
  const failed = yield* Effect.flip(migrate(tables("one", "two", "three", "one")))
  assert.strictEqual(failed._tag, "SqlError")
  assert.strictEqual((yield* versions).length, 2, "a version that fails takes the others of its run with it")
})

describe("migrate", () => {
  live.skipIf(noPostgres() !== undefined)("migrate does not wait for a backup if there is nothing to do", function* () {
    const { url } = yield* postgres
    const client = () => PgClient.layer({ url: Redacted.make(url) })
    const migrateOne = Effect.provide(migrate(tables("one")), client())
    yield* migrateOne
    const backup = Effect.flatMap(SqlClient.SqlClient, (sql) =>
      sql.withTransaction(Effect.andThen(sql`LOCK TABLE effect_pix_test_migrations IN ACCESS SHARE MODE`, migrateOne))
    )
    yield* Effect.provide(backup, client())
  })

  it.effect("each version runs once, and one that fails leaves nothing on SQLite", () =>
    Effect.provide(migrating, sqlite())
  )

  const absent = noPostgres()
  effect.skipIf(absent !== undefined)(
    `each version runs once, and one that fails leaves nothing on PostgreSQL${absent === undefined ? "" : ` (${absent})`}`,
    function* () {
      const { url } = yield* postgres
      const client = () => Layer.fresh(PgClient.layer({ url: Redacted.make(url) }))
      yield* Effect.forEach([1, 2, 3], () => Effect.provide(migrate(tables("one")), client()), {
        concurrency: "unbounded"
      })
      yield* Effect.provide(migrating, client())
    }
  )
})

describe("inTransaction", () => {
  const absent = noPostgres()
  live.skipIf(absent !== undefined)(
    `a connection that is lost at the end is a failure and no defect, and the next transaction has another one${absent === undefined ? "" : ` (${absent})`}`,
    function* () {
      const { url } = yield* postgres
      const layer = PgClient.layer({ url: Redacted.make(url), maxConnections: 1 })
      yield* Effect.gen(function* () {
        const db = yield* database
        const transaction = inTransaction(db)
        const goes = Effect.ignore(db.sql`SELECT pg_terminate_backend(pg_backend_pid())`)
        const failing: ReadonlyArray<Effect.Effect<unknown, unknown>> = [
          goes,
          Effect.andThen(goes, Effect.fail("the caller's own")),
          db.sql`SELECT 1/0`
        ]
        for (const effect of failing) {
          const exit = yield* Effect.exit(transaction(effect))
          assert.isTrue(Exit.isFailure(exit) && !Cause.hasDies(exit.cause))
        }
        // An interrupted transaction is not retried.
        const interrupted = yield* Effect.exit(transaction(Effect.andThen(goes, Effect.interrupt)))
        assert.isTrue(Exit.hasInterrupts(interrupted))
        assert.strictEqual(yield* transaction(Effect.succeed("done")), "done")
      }).pipe(Effect.provide(layer))
    }
  )
})
