/** Databases for tests: an empty database for each test. PostgreSQL has the one server of `startPostgres.ts`. */
import { randomUUID } from "node:crypto"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { NodeSqlite } from "effect-pix/node"
import { inject } from "vitest"
import { live } from "./effect.ts"
import { noPostgres } from "./postgres.ts"

const absent = noPostgres()

/** A test of PostgreSQL, with the clock of the machine. */
export const onPostgres = live.skipIf(absent !== undefined)

/** A client of a PostgreSQL. */
export const clientOf = (url: string, options: Omit<PgClient.PgPoolConfig, "url"> = {}) =>
  PgClient.layer({ url: Redacted.make(url), ...options })

/** The URL of a new database. */
export const postgres = Effect.gen(function* () {
  const url = inject("postgres") ?? (yield* Effect.die(new Error(absent)))
  // Several processes run tests at a time, and one may have the number of an earlier one.
  const name = `test_${randomUUID().replaceAll("-", "")}`
  yield* Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(`CREATE DATABASE ${name}`)).pipe(
    Effect.provide(Layer.fresh(clientOf(url)))
  )
  return { url: url.replace(/postgres$/, name) }
})

/** A client of a new database. */
export const layerPostgres = Layer.unwrap(Effect.map(postgres, ({ url }) => clientOf(url)))

/** The databases that a test runs on, with clients of new ones. Where PostgreSQL is not installed, its name says so. */
export const databases = [
  { name: "SQLite", dialect: "sqlite", skip: false, client: () => NodeSqlite.layer({ filename: ":memory:" }) },
  {
    name: absent === undefined ? "PostgreSQL" : `PostgreSQL (${absent})`,
    dialect: "pg",
    skip: absent !== undefined,
    client: () => Layer.orDie(layerPostgres)
  }
] as const
