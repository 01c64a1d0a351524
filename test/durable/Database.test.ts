import { assert, describe } from "@effect/vitest"
import { Cause, Effect, Exit, Fiber, Latch, Layer, Logger, Result } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient, Statement } from "effect/sql"
import { SqlError, UnknownError } from "effect/sql/SqlError"
import { database, inTransaction, mapDatabaseError, requireOwnTransaction } from "../../src/durable/Database.ts"
import { migrate, requireNewest } from "../../src/durable/Tables.ts"
import { TestClock } from "effect/testing"
import { clientOf, databases, onPostgres, postgres } from "../support/database.ts"
import { effect } from "../support/effect.ts"
import { memory } from "../support/payoutQueue.ts"

describe("a database", () => {
  effect("of another dialect than PostgreSQL's and SQLite's is refused by its name", Reactivity.layer, function* () {
    const compiler = Statement.makeCompiler({
      dialect: "mysql",
      placeholder: () => "?",
      onIdentifier: (name) => name,
      onRecordUpdate: () => ["", []],
      onCustom: () => ["", []]
    })
    const acquirer = Effect.die("it is not connected")
    const sql = yield* SqlClient.make({ acquirer, compiler, driver: "test", spanAttributes: [] })
    const { message } = yield* Effect.flip(Effect.provideService(database, SqlClient.SqlClient, sql))
    assert.include(message, "SqlClient is one for MySQL: this library keeps its tables in PostgreSQL or SQLite")
  })

  effect("is used outside of a transaction or in one of its own client, and in no other's", function* () {
    const make = Effect.flatMap(Layer.build(Layer.fresh(memory)), (client) => Effect.provideContext(database, client))
    const [ours, theirs] = [yield* make, yield* make]
    const check = requireOwnTransaction(ours, "submit")
    yield* check
    yield* ours.sql.withTransaction(check)
    yield* theirs.sql.withTransaction(ours.sql.withTransaction(check))
    const inner = theirs.sql.withTransaction(check)
    for (const foreign of [inner, ours.sql.withTransaction(inner)]) {
      const error = yield* Effect.flip(foreign)
      assert.strictEqual(error._tag, "ForeignTransaction")
      assert.include(error.message, "submit was called in a transaction of another SqlClient")
    }
  })
})

describe("the failure of a statement", () => {
  effect("has its kind and no text of the database", memory, function* () {
    const { sql } = yield* database
    yield* sql`CREATE TABLE people (email TEXT UNIQUE)`
    const insert = sql`INSERT INTO people VALUES ('maria@example.com')`
    yield* insert
    const error = yield* Effect.flip(mapDatabaseError("submit")(insert))
    assert.deepInclude(error, { _tag: "DatabaseError", operation: "submit", reason: "UniqueViolation" })
    assert.notInclude(JSON.stringify(error), "maria")
    assert.strictEqual(
      yield* Effect.flip(mapDatabaseError("submit")(Effect.fail("the caller's own"))),
      "the caller's own"
    )
  })

  effect.each([
    [13, "DiskFull", true],
    [4874, "DiskFull", true],
    ["SQLITE_FULL", "DiskFull", true],
    ["53100", "DiskFull", true],
    [1544, "ReadOnly", true],
    ["25006", "ReadOnly", true],
    [778, "IoError", true],
    [11, "Corrupt", false],
    [26, "Corrupt", false],
    ["XX001", "Corrupt", false],
    [1, "UnknownError", false],
    ["SQLITE_FULLY", "UnknownError", false],
    [undefined, "UnknownError", false]
  ] as const)(
    "with the code %s of a driver is %s, and may be tried again: %s",
    function* ([code, reason, isRetryable]) {
      const cause = Object.assign(new Error("a row of maria@example.com"), { code })
      const failing = new SqlError({ reason: new UnknownError({ cause, message: "query", operation: "query" }) })
      const error = yield* Effect.flip(mapDatabaseError("submit")(failing))
      assert.deepInclude(error, { _tag: "DatabaseError", operation: "submit", reason, isRetryable })
      assert.notInclude(JSON.stringify(error), "maria")
      assert.include(error.message, `submit failed on the database (${reason})`)
      assert.strictEqual(error.message.includes("safe to try again"), isRetryable)
      if (reason === "DiskFull") assert.include(error.message, "Free space on it.")
      if (reason === "UnknownError") assert.include(error.message, "Another try will not help")
    }
  )
})

describe("a statement that gets no connection, since other code holds all of them", () => {
  for (const { dialect, name, skip } of databases) {
    const client =
      dialect === "sqlite"
        ? Layer.fresh(memory)
        : Layer.unwrap(Effect.map(postgres, ({ url }) => clientOf(url, { maxConnections: 2 }))).pipe(Layer.orDie)
    effect.skipIf(skip)(`fails after 8 seconds, sends nothing, and says what to do, on ${name}`, client, function* () {
      const db = yield* database
      const { sql } = db
      yield* sql`CREATE TABLE people (name TEXT)`
      const isHeld = yield* Latch.make()
      const hold = sql.withTransaction(Effect.andThen(Effect.andThen(sql`SELECT 1`, isHeld.open), Effect.never))
      const holders = yield* Effect.forEach(dialect === "sqlite" ? [1] : [1, 2], () =>
        Effect.tap(Effect.forkChild(hold, { startImmediately: true }), () =>
          Effect.andThen(
            isHeld.await,
            Effect.sync(() => isHeld.closeUnsafe())
          )
        )
      )
      const insert = sql`INSERT INTO people VALUES ('one')`
      const tried = yield* Effect.forkChild(
        Effect.forEach(
          [insert, inTransaction(db)(insert), sql.unsafe("DELETE FROM people")],
          (one) => Effect.result(mapDatabaseError("submit")(one)),
          { concurrency: "unbounded" }
        ),
        { startImmediately: true }
      )
      yield* TestClock.adjust("7900 millis")
      assert.isUndefined(tried.pollUnsafe())
      yield* TestClock.adjust("100 millis")
      for (const result of yield* Fiber.join(tried)) {
        const error = Result.isFailure(result) ? result.failure : undefined
        assert.deepInclude(error, { _tag: "DatabaseError", reason: "NoConnection", isRetryable: true })
        assert.include(error?.message, "Find the code that holds them, or raise the pool's maxConnections")
      }
      yield* Fiber.interruptAll(holders)
      assert.deepStrictEqual(yield* sql`SELECT * FROM people`, [])
      // Whoever holds one may go on for as long as it wants.
      yield* inTransaction(db)(Effect.andThen(TestClock.adjust("1 hour"), insert))
      assert.lengthOf(yield* sql`SELECT * FROM people`, 1)
    })
  }

  onPostgres(
    "and one that runs for a minute are counted apart, and the caller's transaction is rolled back",
    function* () {
      const { url } = yield* postgres
      const program = Effect.gen(function* () {
        const db = yield* database
        const { sql } = db
        yield* sql`CREATE TABLE people (name TEXT)`
        const work = Effect.andThen(sql`INSERT INTO people VALUES ('one')`, sql`SELECT pg_sleep(300)`)
        const slow = yield* Effect.forkChild(Effect.flip(mapDatabaseError("submit")(inTransaction(db)(work))))
        const isAsleep = sql`SELECT 1 FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'SELECT pg_sleep%'`
        yield* Effect.repeat(isAsleep, { until: ({ length }) => length === 1 })
        yield* TestClock.adjust("1 minute")
        const error = yield* Fiber.join(slow)
        assert.deepInclude(error, { reason: "StatementTimeoutError", isRetryable: true })
        assert.deepStrictEqual(yield* sql`SELECT * FROM people`, [])
      })
      yield* Effect.provide(program, [clientOf(url), TestClock.layer()])
    }
  )
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

describe("the tables of a database", () => {
  for (const { client, name, skip } of databases)
    effect.skipIf(skip)(
      `are migrated once to each version, which is needed as it is; one that fails leaves nothing, on ${name}`,
      client(),
      function* () {
        const sql = yield* SqlClient.SqlClient
        const versions = sql`SELECT migration_id AS id, name FROM effect_pix_test_migrations ORDER BY 1`
        const problem = (...names: ReadonlyArray<string>) =>
          Effect.map(Effect.flip(requireNewest(tables(...names))), (error) => error.message)
        assert.include(yield* problem("one"), "has no tables in this database")
        yield* Effect.forEach([1, 2, 3], () => migrate(tables("one")), { concurrency: "unbounded" })
        yield* migrate(tables("one", "two"))
        assert.deepStrictEqual(yield* versions, [
          { id: 1, name: "one" },
          { id: 2, name: "two" }
        ])
        yield* requireNewest(tables("one", "two"))
        // A program that is older than the tables leaves them, and says so.
        yield* migrate(tables("one"))
        assert.match(yield* problem("one"), /has tables of version 2 in this database, and version 1 is needed$/)
        assert.include(
          yield* problem("one", "two", "three"),
          "version 3 is needed. A program that may change tables brings"
        )
        const failed = yield* Effect.flip(migrate(tables("one", "two", "three", "one")))
        assert.strictEqual(failed._tag, "SqlError")
        assert.lengthOf(yield* versions, 2)
      }
    )
})

describe("a database of PostgreSQL", () => {
  onPostgres("says once where tables were created, and warns of those in another schema", function* () {
    const lines: Array<string> = []
    const logger = Logger.make(({ logLevel, message }) => void lines.push(`${logLevel} ${String(message)}`))
    const { url } = yield* postgres
    const database = new URL(url).pathname.slice(1)
    const migrated = (schema: string) =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql.unsafe(`CREATE SCHEMA IF NOT EXISTS ${schema}`)
        yield* migrate(tables("one"))
        yield* migrate(tables("one", "two"))
      }).pipe(
        Effect.provide([
          Layer.fresh(clientOf(`${url}?options=${encodeURIComponent(`-c search_path=${schema}`)}`)),
          Logger.layer([logger])
        ])
      )
    yield* migrated("public")
    yield* migrated("public")
    yield* migrated("shop")
    const created = (schema: string) =>
      `Info effect_pix_test: the tables were created in schema "${schema}" of database "${database}"`
    assert.deepStrictEqual(
      lines.filter((line) => line.includes("effect_pix_test:")),
      [
        created("public"),
        `Warn effect_pix_test: schema "public" of database "${database}" has tables of the same names. If those are meant, correct the search_path`,
        created("shop")
      ]
    )
  })

  onPostgres("says which right is missing where the login may make no tables", function* () {
    const { url } = yield* postgres
    const login = `login_${new URL(url).pathname.slice(1)}`
    const owner = Layer.fresh(clientOf(url))
    yield* Effect.provide(
      SqlClient.SqlClient.use((sql) => sql.unsafe(`CREATE ROLE ${login} LOGIN`)),
      owner
    )
    const ofLogin = Object.assign(new URL(url), { username: login }).href
    const error = yield* Effect.flip(Effect.provide(migrate(tables("one")), Layer.fresh(clientOf(ofLogin))))
    assert.include(error.message, "GRANT CREATE ON SCHEMA public")
    yield* Effect.provide(
      SqlClient.SqlClient.use((sql) => sql.unsafe(`DROP ROLE ${login}`)),
      owner
    )
  })

  onPostgres("is not waited for in a backup, where there is nothing to migrate", function* () {
    const { url } = yield* postgres
    const migrateOne = Effect.provide(migrate(tables("one")), clientOf(url))
    yield* migrateOne
    const backup = Effect.flatMap(SqlClient.SqlClient, (sql) =>
      sql.withTransaction(Effect.andThen(sql`LOCK TABLE effect_pix_test_migrations IN ACCESS SHARE MODE`, migrateOne))
    )
    yield* Effect.provide(backup, Layer.fresh(clientOf(url)))
  })

  onPostgres(
    "that loses the connection of a transaction fails it without a defect, and the next one has another connection",
    function* () {
      const { url } = yield* postgres
      yield* Effect.gen(function* () {
        const db = yield* database
        const transaction = inTransaction(db)
        const lose = Effect.ignore(db.sql`SELECT pg_terminate_backend(pg_backend_pid())`)
        const failing = [lose, Effect.andThen(lose, Effect.fail("the caller's own")), db.sql`SELECT 1/0`]
        for (const effect of failing) {
          const exit = yield* Effect.exit(transaction<unknown, unknown, never>(effect))
          assert.isTrue(Exit.isFailure(exit) && !Cause.hasDies(exit.cause))
        }
        // An interrupted transaction is not retried.
        const interrupted = yield* Effect.exit(transaction(Effect.andThen(lose, Effect.interrupt)))
        assert.isTrue(Exit.hasInterrupts(interrupted))
        assert.strictEqual(yield* transaction(Effect.succeed("done")), "done")
      }).pipe(Effect.provide(clientOf(url, { maxConnections: 1 })))
    }
  )
})
