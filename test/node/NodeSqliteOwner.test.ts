/** Who may open a SQLite file: one process that writes, and any number that read. */
import { assert, describe } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { execFile } from "node:child_process"
import { copyFileSync, mkdirSync, renameSync, symlinkSync } from "node:fs"
import { basename, dirname, join, relative } from "node:path"
import process from "node:process"
import { SimulatedProcess } from "../../src/internal/simulatedProcess.ts"
import { live } from "../support/effect.ts"
import { folder } from "../support/operated.ts"
import { build, script } from "../support/sqliteHolder.ts"

/** What another process says that opens files, by default in this folder: a line for each. */
const openElsewhere = (filenames: ReadonlyArray<string>, cwd?: string) =>
  Effect.callback<ReadonlyArray<string>>((resume) => {
    execFile(process.execPath, ["--no-warnings", script, ...filenames], { cwd }, (_, stdout) =>
      resume(Effect.succeed(stdout.trim().split("\n")))
    )
  })
const isOwned = "is open in another process"

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
    for (const other of [filename, join(folderLink, "payouts.db"), relative(process.cwd(), filename)])
      assert.strictEqual(yield* build(other), sql)
    const all = yield* openElsewhere([filename, link, basename(filename)], dirname(filename))
    assert.strictEqual(all.length, 3)
    for (const said of all)
      for (const words of ["ConfigurationError", filename, isOwned, "PostgreSQL"]) assert.include(said, words)
  })

  live("a path stays owned if its file is deleted or replaced, and a copy is a file of its own", function* () {
    const path = yield* folder
    const [filename, copy] = [join(path, "payouts.db"), join(path, "copy.db")]
    yield* build(filename)
    copyFileSync(filename, copy)
    renameSync(filename, join(path, "moved.db"))
    const [ofCopy, ofDeleted] = yield* openElsewhere([copy, filename])
    assert.strictEqual(ofCopy, "opened")
    assert.include(ofDeleted, isOwned)
    copyFileSync(copy, filename)
    assert.include((yield* openElsewhere([filename]))[0], isOwned)
  })

  live("a file is owned until the last simulated process of its owner ends", function* () {
    const filename = join(yield* folder, "payouts.db")
    const scope = yield* Scope.make()
    const inProcess = (name: string) => Effect.provideService(build(filename), SimulatedProcess, name)
    yield* Effect.provideService(inProcess("1"), Scope.Scope, scope)
    const two = yield* inProcess("2")
    yield* Scope.close(scope, Exit.void)
    assert.include((yield* openElsewhere([filename]))[0], isOwned)
    yield* two`SELECT 1`
  })
})
