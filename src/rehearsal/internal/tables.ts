/**
 * The library's own tables as the undisturbed run made them. The other runs begin with them, so that they are migrated once.
 */
import * as Effect from "effect/Effect"
import type { SqlClient } from "effect/sql/SqlClient"

/** The statements that make the tables, and the rows that say which migrations were made. */
export interface Tables {
  readonly statements: ReadonlyArray<string>
  readonly migrations: ReadonlyArray<readonly [table: string, rows: ReadonlyArray<Record<string, unknown>>]>
}

/** Nothing, on a database whose schema is not read as SQLite's. */
export const readTables = (sql: SqlClient) =>
  Effect.gen(function* () {
    const made = yield* sql<{ readonly name: string; readonly sql: string }>`
      SELECT name, sql FROM sqlite_master WHERE tbl_name LIKE 'effect_pix_%' AND sql IS NOT NULL ORDER BY rowid`
    const names = made.map(({ name }) => name).filter((name) => name.endsWith("_migrations"))
    const migrations = yield* Effect.forEach(names, (name) =>
      Effect.map(sql<Record<string, unknown>>`SELECT * FROM ${sql(name)}`, (rows) => [name, rows] as const)
    )
    return { statements: made.map(({ sql }) => sql), migrations } satisfies Tables
  }).pipe(Effect.orElseSucceed(() => undefined))

/** Where a store has made some of them itself, they are as it made them. */
export const writeTables = (sql: SqlClient, { migrations, statements }: Tables) =>
  Effect.gen(function* () {
    for (const statement of statements) yield* sql.unsafe(statement)
    for (const [name, rows] of migrations)
      for (const row of rows) yield* sql`INSERT INTO ${sql(name)} ${sql.insert(row)}`
  }).pipe(sql.withTransaction, Effect.ignore)
