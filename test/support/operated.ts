/** A program's database on which the command works: a SQLite file, or a database of a PostgreSQL server. */
import { Effect, Layer, type Scope } from "effect"
import type { SqlClient } from "effect/sql"
import { NodeSqlite } from "effect-pix/node"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { clientOf, postgres } from "./database.ts"
import { noPostgres } from "./postgres.ts"

export const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "effect-pix-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)

export const sqlite = Effect.map(folder, (path) => {
  const filename = join(path, "payments.sqlite")
  return { env: { DATABASE_URL: filename, EFFECT_PIX_BY: "ops" }, client: Layer.fresh(NodeSqlite.layer({ filename })) }
})

const postgresql = Effect.map(postgres, ({ url }) => ({
  env: { DATABASE_URL: url, EFFECT_PIX_BY: "ops" },
  client: Layer.fresh(clientOf(url, { maxConnections: 2 }))
}))

interface Operated {
  /** The settings of the command, with who takes its steps. */
  readonly env: { readonly DATABASE_URL: string; readonly EFFECT_PIX_BY: string }
  /** The client of the program. It must be closed before a command takes a step on a file. */
  readonly client: Layer.Layer<SqlClient.SqlClient, unknown>
}

/** The kinds of databases on this machine. */
export const databases: ReadonlyArray<readonly [name: string, make: Effect.Effect<Operated, unknown, Scope.Scope>]> = [
  ["a SQLite file", sqlite],
  ...(noPostgres() === undefined ? [["a PostgreSQL", postgresql] as const] : [])
]
