/** What `support/offline.ts` refuses to fast tests. This one is fast, so it names no module that would make it a live one. */
import { assert, describe, test } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { NodeSqlite } from "effect-pix/node"
import { effect } from "./support/effect.ts"

const net = process.getBuiltinModule("net")
const fs = process.getBuiltinModule("fs")
const childProcess = process.getBuiltinModule("child_process")
const { DatabaseSync } = await import("node:sqlite")

describe("a fast test", () => {
  // Each of them takes the refusal for an answer, as a client does that maps it to an error of its own.
  test.fails.for([
    ["opens a port", () => net.createServer().listen(0)],
    ["opens a connection", () => fetch("http://127.0.0.1:50000")],
    ["starts a process", () => childProcess.spawn("true")],
    ["waits for a process", () => childProcess.spawnSync("true")],
    ["writes a file", () => fs.writeFileSync("/dev/null", "")],
    ["writes a file later", () => fs.promises.writeFile("/dev/null", "")],
    ["reads a database in a file", () => new DatabaseSync("/dev/null").prepare("SELECT 1").get()],
    ["attaches a file", () => new DatabaseSync(":memory:").exec("ATTACH '/dev/null' AS file")],
    [
      "has a SqlClient on a file",
      () => Effect.runPromise(Effect.scoped(Layer.build(NodeSqlite.layer({ filename: "/dev/null" }))))
    ]
  ] as const)("fails if it %s", async ([, opens]) => {
    try {
      await opens()
    } catch {
      // It passes, unless it is failed for what it did.
    }
  })

  effect("may have a database in memory", NodeSqlite.layer({ filename: ":memory:" }), function* () {
    const sql = yield* SqlClient.SqlClient
    assert.deepStrictEqual(yield* sql`SELECT 42 AS answer`, [{ answer: 42 }])
  })
})
