/**
 * The tables of this library, with versions. The layers create them when they are built, and store the version in a table
 * `<name>_migrations`. If the program may not change tables, create them before with the files in `docs/sql/`, which hold
 * the same statements and versions; the layers then find nothing to do.
 *
 * Gotcha: a published migration is never edited. A change is a new migration.
 */
import * as Effect from "effect/Effect"
import * as Migrator from "effect/sql/Migrator"
import * as SqlClient from "effect/sql/SqlClient"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import { type ConfigurationError, settingError } from "../contract/ConfigurationError.ts"
import { failureNameOf } from "../internal/databaseFailure.ts"
import { type Dialect, untilReachable } from "./Database.ts"

/** One version of a set of tables: its statements for each dialect, in order. */
type Migration = { readonly [D in Dialect]: ReadonlyArray<string> }

/** A set of tables with one version. */
export interface Tables {
  /** The prefix of the table that stores the version: `<name>_migrations`. */
  readonly name: string
  /** By number and name, such as `0001_create`. */
  readonly migrations: Readonly<Record<string, Migration>>
}

const run = (migration: Migration) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => {
    const statements = sql.onDialectOrElse({
      pg: () => migration.pg,
      orElse: () => migration.sqlite
    })
    return Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
  })

/**
 * The version of a set of tables in the database, or 0 if there are none. Fails if the database does not answer, or does not
 * let its user read them.
 */
const versionOf = (name: string): Effect.Effect<number, SqlError, SqlClient.SqlClient> =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    sql`SELECT migration_id FROM ${sql(`${name}_migrations`)}`.pipe(
      Effect.map(({ length }) => length),
      Effect.catchIf(
        (error) =>
          error.reason._tag !== "ConnectionError" &&
          error.reason._tag !== "AuthorizationError" &&
          failureNameOf(error) === undefined,
        () => Effect.succeed(0)
      )
    )
  )

const newestOf = ({ migrations }: Tables) => Object.keys(migrations).length

/** The failure of tables that are not of the version that is needed. */
const otherVersion = (name: string, found: number, needed: number): ConfigurationError => {
  if (found === 0) return settingError(name, "has no tables in this database")
  const advice =
    found < needed ? ". A program that may change tables brings them to it, or the newer statements of docs/sql/" : ""
  return settingError(name, `has tables of version ${found} in this database, and version ${needed} is needed${advice}`)
}

/** Since version 15 PostgreSQL gives no login the right to create in its schema `public`. */
const mayNotCreate =
  "has no tables in this database, and the login may not make them: GRANT CREATE ON SCHEMA public to it, or run the statements of docs/sql/ as their owner"

/**
 * Logs on PostgreSQL where tables were created: a `search_path` decides that, and another schema may have those that are meant.
 */
const logCreated = (name: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const places = yield* sql.onDialectOrElse({
      pg: () => sql<{ database: string; schema: string; isHere: boolean }>`
        SELECT current_database() AS database, schemaname AS schema, schemaname = current_schema() AS "isHere"
        FROM pg_tables WHERE tablename = ${`${name}_migrations`} ORDER BY schemaname`,
      orElse: () => Effect.succeed([])
    })
    for (const { database, isHere, schema } of places) {
      yield* isHere
        ? Effect.logInfo(`${name}: the tables were created in schema "${schema}" of database "${database}"`)
        : Effect.logWarning(
            `${name}: schema "${schema}" of database "${database}" has tables of the same names. If those are meant, correct the search_path`
          )
    }
    // What cannot be read is not said.
  }).pipe(Effect.ignore)

/**
 * Migrates a set of tables to its newest version, in one transaction. Several processes may do so at the same time. If the
 * database cannot be reached, it waits. If the database does not allow the change, the failure names both versions.
 */
export const migrate = (tables: Tables): Effect.Effect<void, SqlError | ConfigurationError, SqlClient.SqlClient> => {
  const { migrations, name } = tables
  const newest = newestOf(tables)
  const loader = Migrator.fromRecord(
    Object.fromEntries(Object.entries(migrations).map(([version, migration]) => [version, run(migration)]))
  )
  return Effect.gen(function* () {
    yield* untilReachable
    const found = yield* versionOf(name)
    // The migrator locks its table even if there is nothing to do, and a backup would block it.
    if (found >= newest) return
    const migrated = yield* Migrator.make({})({ loader, table: `${name}_migrations` }).pipe(
      // The migrations are part of this library, so one that cannot be loaded is a defect of the library.
      Effect.catchTag("MigrationError", (error) =>
        error.kind === "Failed" && isSqlError(error.cause) ? Effect.fail(error.cause) : Effect.die(error)
      ),
      Effect.mapError((error) =>
        error.reason._tag !== "AuthorizationError"
          ? error
          : found > 0
            ? otherVersion(name, found, newest)
            : settingError(name, mayNotCreate)
      )
    )
    // Another process may have created them meanwhile.
    if (found === 0 && migrated.length > 0) yield* logCreated(name)
  })
}

/**
 * Fails unless a set of tables is of its newest version, and changes nothing. It is for programs that must not migrate, such as the
 * command, which may be older or newer than the program that made the tables.
 */
export const requireNewest = (
  tables: Tables
): Effect.Effect<void, ConfigurationError | SqlError, SqlClient.SqlClient> =>
  Effect.flatMap(versionOf(tables.name), (found) =>
    found === newestOf(tables) ? Effect.void : otherVersion(tables.name, found, newestOf(tables))
  )
