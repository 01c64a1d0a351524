/**
 * PostgreSQL databases for the tests of a file: an empty database for each test, on one server. The server starts with the
 * first database and stops after the last test.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { afterAll } from "vitest"
import { type Postgres, startPostgres } from "./postgres.ts"

let server: Promise<Postgres> | undefined
let count = 0

afterAll(async () => (await server)?.stop())

/** The URL of a new database. */
export const postgres = Effect.gen(function* () {
  const { url } = yield* Effect.promise(() => (server ??= startPostgres()))
  const name = `test_${++count}`
  yield* Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(`CREATE DATABASE ${name}`)).pipe(
    Effect.provide(Layer.fresh(PgClient.layer({ url: Redacted.make(url) })))
  )
  return { url: url.replace(/postgres$/, name) }
})

/** A client of a new database. */
export const layerPostgres = Layer.unwrap(
  Effect.map(postgres, ({ url }) => PgClient.layer({ url: Redacted.make(url) }))
)
