/** A process that holds a SQLite file, and a client of such a file. */
import { Context, Effect, Layer } from "effect"
import { NodeSqlite } from "effect-pix/node"
import { SqlClient } from "effect/sql"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { createInterface } from "node:readline"

export const script = join(import.meta.dirname, "openSqlite.ts")

/** Another process that holds a file, and writes a row of `orders` after another. */
export const holder = (filename: string) =>
  Effect.gen(function* () {
    const child = yield* Effect.acquireRelease(
      Effect.sync(() => spawn(process.execPath, ["--no-warnings", script, filename, "hold"])),
      (child) => Effect.sync(() => child.kill())
    )
    const committed: Array<number> = []
    const lines = createInterface(child.stdout).on("line", (line) => committed.push(Number(line)))
    const until = (count: number) =>
      Effect.callback<void>((resume) => {
        const look = () => committed.length >= count && resume(Effect.void)
        lines.on("line", look)
        look()
      })
    yield* until(1)
    const kill = (signal: NodeJS.Signals) =>
      Effect.promise(() => {
        const ended = once(child, "exit")
        child.kill(signal)
        return ended
      })
    return { committed, until, kill }
  })

export const build = (filename: string, readOnly?: boolean) =>
  Effect.map(Layer.build(NodeSqlite.layer({ filename, readOnly })), Context.get(SqlClient.SqlClient))

export const ids = (sql: SqlClient.SqlClient) =>
  Effect.map(sql<{ readonly id: number }>`SELECT id FROM orders ORDER BY id`, (rows) => rows.map(({ id }) => id))
