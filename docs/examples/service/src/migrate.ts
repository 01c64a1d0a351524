/** `npm run migrate`, as the owner of the tables, before each release: the tables, and the rights of both processes. */
import { PgClient } from "@effect/sql-pg"
import { NodeRuntime } from "@effect/platform-node"
import { Config, Effect } from "effect"
import { Migrator, SqlClient } from "effect/sql"
import { readFile } from "node:fs/promises"
import { createShop, grants } from "./tables.ts"

/** Runs a file of `docs/sql/`: one statement at a time, as the driver takes them. */
const runFile = Effect.fn("runFile")(function* (name: string) {
  const sql = yield* SqlClient.SqlClient
  const url = new URL(`docs/sql/${name}`, import.meta.resolve("effect-pix/package.json"))
  const text = yield* Effect.promise(() => readFile(url, "utf8"))
  yield* Effect.forEach(text.split(/;\n\n/), (statement) => sql.unsafe(statement), { discard: true })
})

const migrate = Migrator.make({})({
  loader: Migrator.fromRecord({ "0001_effect_pix": runFile("postgresql.sql"), "0002_shop": createShop })
})

const program = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const done = yield* migrate
  yield* runFile("roles.sql")
  yield* Effect.forEach(grants, (statement) => sql.unsafe(statement), { discard: true })
  yield* Effect.logInfo(`${done.length} migrations, and the roles`)
})

NodeRuntime.runMain(Effect.provide(program, PgClient.layerConfig({ url: Config.Redacted("DATABASE_URL") })))
