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
import type { ConfigurationError } from "../contract/ConfigurationError.ts"
import * as Settings from "../contract/Settings.ts"
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

/** The version of a set of tables in the database; 0 where there are none. */
const versionOf = ({ name }: Tables): Effect.Effect<number, never, SqlClient.SqlClient> =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.match(sql`SELECT migration_id FROM ${sql(`${name}_migrations`)}`, {
      onFailure: () => 0,
      onSuccess: ({ length }) => length
    })
  )

const otherVersion = (tables: Tables, version: number) =>
  Settings.wrong(
    "SqlClient",
    `has the tables of ${tables.name} in version ${version}, and this program needs version ${Object.keys(tables.migrations).length}. Start a program that may change tables, or run the newer statements of docs/sql/`
  )

/**
 * Brings a set of tables to its newest version, as `migrate` does. Where they have an older version and cannot be changed,
 * the failure names both versions.
 */
export const migrateOrRefuse = (
  tables: Tables
): Effect.Effect<void, SqlError | ConfigurationError, SqlClient.SqlClient> =>
  migrate(tables).pipe(
    // A database that refuses the change of its tables answers; one that refuses its credentials is not asked again.
    Effect.catchIf(
      ({ reason }) => reason._tag === "AuthorizationError",
      (error) =>
        Effect.flatMap(versionOf(tables), (version) => {
          const isOlder = version > 0 && version < Object.keys(tables.migrations).length
          return Effect.fail(isOlder ? otherVersion(tables, version) : error)
        })
    )
  )

/**
 * Migrates a set of tables to its newest version, in one transaction. Several processes may do so at the same time. If the
 * database cannot be reached, it waits.
 */
export const migrate = ({ migrations, name }: Tables): Effect.Effect<void, SqlError, SqlClient.SqlClient> => {
  const loader = Migrator.fromRecord(
    Object.fromEntries(Object.entries(migrations).map(([version, migration]) => [version, run(migration)]))
  )
  const table = `${name}_migrations`
  // The migrator locks its table even if there is nothing to do, and a backup would block it.
  const isOld = Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.match(sql`SELECT migration_id FROM ${sql(table)}`, {
      onFailure: () => true,
      onSuccess: ({ length }) => length < Object.keys(migrations).length
    })
  )
  const migrated = Effect.when(Migrator.make({})({ loader, table }), isOld)
  return Effect.asVoid(Effect.andThen(untilReachable, migrated)).pipe(
    // The migrations are part of this library, so one that cannot be loaded is a defect of the library.
    Effect.catchTag("MigrationError", (error) =>
      error.kind === "Failed" && isSqlError(error.cause) ? Effect.fail(error.cause) : Effect.die(error)
    )
  )
}

/**
 * Fails unless a set of tables is there in exactly this version, and changes nothing. For who must not migrate, such as
 * the command: it may be older or newer than the program that made the tables.
 */
export const requireVersion = Effect.fnUntraced(function* (
  name: string,
  version: number
): Effect.fn.Return<void, ConfigurationError | SqlError, SqlClient.SqlClient> {
  const sql = yield* SqlClient.SqlClient
  const found = yield* sql`SELECT migration_id FROM ${sql(`${name}_migrations`)}`.pipe(
    Effect.map(({ length }) => length),
    // Where the database answers, the table is not there.
    Effect.catchIf(
      ({ reason }) => reason._tag !== "ConnectionError",
      () => Effect.succeed(0)
    )
  )
  if (found === version) return
  return yield* Settings.wrong(
    name,
    found === 0
      ? "has no tables in this database"
      : `has tables of version ${found} in this database, and version ${version} is needed`
  )
})

/** Fails unless a set of tables is of its newest version. */
export const requireNewest = ({ migrations, name }: Tables) => requireVersion(name, Object.keys(migrations).length)
