/** Who may open a SQLite file: one process that writes, and any number that read. */
import { assert, describe } from "@effect/vitest"
import { Effect, Fiber, Scope } from "effect"
import { TestClock } from "effect/testing"
import { execFile } from "node:child_process"
import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { basename, dirname, join, relative } from "node:path"
import process from "node:process"
import { failureNameOf } from "../../src/internal/databaseFailure.ts"
import { OnDeath } from "../../src/internal/onDeath.ts"
import { SimulatedProcess } from "../../src/internal/simulatedProcess.ts"
import { soleWritesOf } from "../../src/internal/soleWriter.ts"
import { folder } from "../support/operated.ts"
import { build, holder, ids, script } from "../support/sqliteHolder.ts"
import { effect, live } from "../support/effect.ts"

/** What another process says that opens files, by default in this folder: a line for each. */
const openElsewhere = (filenames: ReadonlyArray<string>, cwd?: string) =>
  Effect.promise(
    () =>
      new Promise<ReadonlyArray<string>>((done) => {
        execFile(process.execPath, ["--no-warnings", script, ...filenames], { cwd }, (_, stdout) =>
          done(stdout.trim().split("\n"))
        )
      })
  )

const refused = (filename: string) => Effect.flip(Effect.scoped(build(filename)))

describe("the owner of a SQLite file", () => {
  live("another process is refused by each spelling of the path, with a sentence that says what to do", function* () {
    const path = yield* folder
    mkdirSync(join(path, "data"))
    const filename = join(path, "data", "payouts.db")
    const [link, folderLink] = [join(path, "link.db"), join(path, "current")]
    symlinkSync(filename, link)
    symlinkSync(join(path, "data"), folderLink)
    // The first layer creates the file behind the link.
    const sql = yield* build(link)
    for (const other of [filename, join(folderLink, "payouts.db"), relative(process.cwd(), filename)]) {
      assert.strictEqual(yield* build(other), sql)
    }
    const others = [filename, link, basename(filename)]
    const all = yield* openElsewhere(others, dirname(filename))
    assert.strictEqual(all.length, others.length)
    for (const said of all) {
      for (const words of ["ConfigurationError", filename, "is open in another process", "PostgreSQL"]) {
        assert.include(said, words)
      }
    }
  })

  live("a path stays owned if its file is deleted or replaced, and a copy is a file of its own", function* () {
    const path = yield* folder
    const [filename, copy] = [join(path, "payouts.db"), join(path, "copy.db")]
    yield* build(filename)
    copyFileSync(filename, copy)
    renameSync(filename, join(path, "moved.db"))
    const [ofCopy, ofDeleted] = yield* openElsewhere([copy, filename])
    assert.strictEqual(ofCopy, "opened")
    assert.include(ofDeleted, "is open in another process")
    copyFileSync(copy, filename)
    assert.include((yield* openElsewhere([filename]))[0], "is open in another process")
  })

  effect("a file of two names is refused", function* () {
    const path = yield* folder
    const [filename, other] = [join(path, "payouts.db"), join(path, "other.db")]
    writeFileSync(filename, "")
    linkSync(filename, other)
    for (const name of [filename, other]) assert.include((yield* refused(name)).message, "more than one hard link")
  })

  effect("a folder in which the lock cannot be made is named as the cause", function* () {
    const filename = join(yield* folder, "payouts.db")
    mkdirSync(`${filename}-lock`)
    const { message } = yield* refused(filename)
    assert.include(message, "may not read and write")
    assert.include(message, "-lock")
  })

  effect(
    "the lock has the rights of its file, so that a command of another user does not lock the program out",
    function* () {
      const filename = join(yield* folder, "payouts.db")
      writeFileSync(filename, "")
      chmodSync(filename, 0o660)
      yield* build(filename)
      assert.strictEqual(statSync(`${filename}-lock`).mode & 0o777, 0o660)
      assert.strictEqual(statSync(`${filename}-lock`).uid, statSync(filename).uid)
    }
  )
})

describe("a reader of a SQLite file", () => {
  live("a reader sees the committed rows of another process that goes on writing", function* () {
    const filename = join(yield* folder, "payouts.db")
    const { committed, until } = yield* holder(filename)
    for (let round = 1; round <= 5; round++) {
      yield* until(round * 5)
      const before = committed.at(-1) ?? 0
      const found = yield* Effect.scoped(Effect.flatMap(build(filename, true), ids))
      assert.isAtLeast(found.length, before)
      // It is a state that the writer committed: no row is missing in between.
      assert.strictEqual(found.at(-1), found.length)
    }
  })

  effect("a reader writes nothing and creates nothing", function* () {
    const filename = join(yield* folder, "payouts.db")
    assert.include((yield* Effect.flip(Effect.scoped(build(filename, true)))).message, "is absent")
    assert.isFalse(existsSync(filename))
    yield* Effect.scoped(Effect.flatMap(build(filename), (sql) => sql`CREATE TABLE orders (id INTEGER PRIMARY KEY)`))
    const before = readFileSync(filename)
    const sql = yield* build(filename, true)
    assert.isUndefined(soleWritesOf(sql))
    for (const statement of [sql`INSERT INTO orders VALUES (1)`, sql`CREATE TABLE t (a)`, sql`DELETE FROM orders`]) {
      assert.strictEqual(failureNameOf(yield* Effect.flip(statement)), "ReadOnly")
    }
    assert.deepStrictEqual(yield* sql.withTransaction(ids(sql)), [])
    assert.isTrue(readFileSync(filename).equals(before))
  })
})

describe("two simulated processes on a SQLite file", () => {
  const inProcess = (filename: string, name: string, onDeath: (action: () => void) => void = () => {}) =>
    build(filename).pipe(Effect.provideService(SimulatedProcess, name), Effect.provideService(OnDeath, onDeath))

  effect("each has a connection, and a transaction of one waits for that of the other", function* () {
    const filename = join(yield* folder, "payouts.db")
    const [one, two] = [yield* inProcess(filename, "1"), yield* inProcess(filename, "2")]
    assert.notStrictEqual(one, two)
    assert.strictEqual(yield* inProcess(filename, "1"), one)
    yield* one`CREATE TABLE orders (id INTEGER PRIMARY KEY)`
    yield* one.withTransaction(
      Effect.gen(function* () {
        yield* one`INSERT INTO orders VALUES (1)`
        // A reader does not wait, and sees what was committed.
        assert.deepStrictEqual(yield* ids(two), [])
        const writing = yield* Effect.forkChild(Effect.flip(two.withTransaction(two`INSERT INTO orders VALUES (2)`)))
        yield* TestClock.adjust("4 seconds")
        assert.isUndefined(writing.pollUnsafe())
        yield* TestClock.adjust("2 seconds")
        assert.strictEqual((yield* Fiber.join(writing)).reason._tag, "LockTimeoutError")
      })
    )
    yield* two.withTransaction(two`INSERT INTO orders VALUES (2)`)
    assert.deepStrictEqual(yield* ids(one), [1, 2])
  })

  effect("the death of one rolls back its transaction alone, and the other then writes", function* () {
    const filename = join(yield* folder, "payouts.db")
    const deaths: Array<() => void> = []
    const one = yield* inProcess(filename, "1", (action) => void deaths.push(action))
    const two = yield* inProcess(filename, "2")
    yield* one`CREATE TABLE orders (id INTEGER PRIMARY KEY)`
    const open = one.withTransaction(Effect.andThen(one`INSERT INTO orders VALUES (1)`, Effect.never))
    yield* Effect.forkChild(open)
    yield* Effect.yieldNow
    const writing = yield* Effect.forkChild(two`INSERT INTO orders VALUES (2)`)
    yield* TestClock.adjust("1 second")
    assert.isUndefined(writing.pollUnsafe())
    for (const action of deaths) action()
    yield* TestClock.adjust("1 second")
    yield* Fiber.join(writing)
    assert.deepStrictEqual(yield* ids(one), [2])
  })

  effect("a write of one is a message to both, and the file is owned until the last of them ends", function* () {
    const filename = join(yield* folder, "payouts.db")
    const scope = yield* Scope.make()
    const one = yield* Effect.provideService(inProcess(filename, "1"), Scope.Scope, scope)
    const two = yield* inProcess(filename, "2")
    assert.strictEqual(soleWritesOf(one), soleWritesOf(two))
    yield* Scope.close(scope, yield* Effect.exit(Effect.void))
    assert.include((yield* openElsewhere([filename]))[0], "is open in another process")
    yield* two`SELECT 1`
  })
})
