/**
 * The database of a program, by DATABASE_URL: PostgreSQL, or a SQLite file. A program that has the file open is its only
 * writer: a command that reads opens it to read, and a step is refused. Nothing of the URL is shown, since it may hold a password. Only commands that are loaded when they are run may import this: it brings a driver.
 */
import * as PgClient from "@effect/sql-pg/PgClient"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"
import type { ConfigurationError } from "../../contract/ConfigurationError.ts"
import type { DatabaseError } from "../../durable/Database.ts"
import * as NodeSqlite from "../../node/NodeSqlite.ts"
import { codeOf, problemOf } from "./errorCode.ts"
import { codes, type Failed, failed } from "./exit.ts"

const forms = "as postgres://user:password@host/name, or the path of a SQLite file"

const unreachable = ({ reason }: SqlError) => {
  const code = codeOf(reason)
  const problem = code === undefined ? reason._tag : (problemOf(code) ?? `${reason._tag}, ${code}`)
  return failed(`The database of DATABASE_URL cannot be reached: ${problem}. Nothing was changed.`, codes.NoEffect)
}

/** A layer whose error is mapped to a failure of the command. */
export const failingAs = <A, E, R>(layer: Layer.Layer<A, E, R>, toFailed: (error: E) => Failed) =>
  Layer.effectContext(Effect.mapError(Layer.build(layer), toFailed))

const postgres = (url: Redacted.Redacted): Layer.Layer<SqlClient.SqlClient, Failed> => {
  const client = PgClient.layer({
    url,
    applicationName: "effect-pix",
    connectTimeout: "10 seconds",
    maxConnections: 2,
    // PgBouncer gives each transaction another connection.
    prepare: false
  })
  const answers = Layer.effectDiscard(Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT 1`))
  return failingAs(Layer.provideMerge(answers, client), unreachable)
}

/** A command reads, or takes a step that writes. */
type Access = "read" | "write"

/** The advice to a person whose step is refused, since the program has the file open. */
const openElsewhere =
  "Nothing was changed. For this step stop your program, run the command, and start the program again; or let the program " +
  "take the step, by its PayoutQueue or Webhook. Meanwhile `list` and `show` read the file."

const sqlite = (filename: string, access: Access): Layer.Layer<SqlClient.SqlClient, Failed> =>
  failingAs(NodeSqlite.layer({ filename, readOnly: access === "read" }), ({ settings: [{ problem }] }) => {
    const message = `The SQLite file of DATABASE_URL ${problem}`
    return failed(/is open in another process/.test(problem) ? `${message}\n${openElsewhere}` : message)
  })

/** Whether a SQLite file has tables of this library. An unreadable file counts as such: opening it to write reports the reason. */
const hasOurTables = (filename: string) =>
  Effect.acquireUseRelease(
    Effect.tryPromise(async () => {
      const { DatabaseSync } = await import("node:sqlite")
      return new DatabaseSync(filename, { readOnly: true })
    }),
    (db) => Effect.try(() => db.prepare("SELECT 1 FROM sqlite_master WHERE name GLOB 'effect_pix_*'").all().length > 0),
    (db) => Effect.sync(() => db.close())
  ).pipe(Effect.orElseSucceed(() => true))

const pathOf = (url: string) => (url.startsWith("file://") ? fileURLToPath(url) : url.replace(/^(?:file|sqlite):/, ""))

/** The client of the database that DATABASE_URL names. It fails where that cannot be reached. */
export const layerDatabase = (access: Access): Layer.Layer<SqlClient.SqlClient, Failed> =>
  Layer.unwrap(
    Effect.gen(function* () {
      const given = yield* Effect.orElseSucceed(Config.option(Config.Redacted("DATABASE_URL")), () => Option.none())
      if (Option.isNone(given)) {
        return yield* failed(`DATABASE_URL is not set. It names the database of your program, ${forms}.`)
      }
      const url = Redacted.value(given.value)
      if (/^postgres(?:ql)?:\/\//.test(url) && URL.canParse(url)) return postgres(given.value)
      const filename = Result.getOrElse(
        Result.try(() => pathOf(url)),
        () => url
      )
      // Opening an absent file would create it.
      if (!existsSync(filename))
        return yield* failed(`DATABASE_URL names no database that is there. Write it ${forms}, without quotes.`)
      // Opening a file to write adds a write-ahead log, also to a file of another program.
      if (!(yield* hasOurTables(filename))) {
        return yield* failed("effect-pix has no tables in this database: DATABASE_URL names another SQLite file.")
      }
      return sqlite(filename, access)
    })
  )

/** The failure of a read. */
export const notRead = ({ message }: DatabaseError): Failed => failed(message, codes.NoEffect)

/** The failure of a read, or of tables that are of another version. */
export const notReadable = (error: ConfigurationError | DatabaseError): Failed =>
  error._tag === "DatabaseError"
    ? notRead(error)
    : failed(
        `${error.message}. This command changes no tables. Run it at the version of effect-pix that your program has: ` +
          "npx effect-pix@VERSION"
      )

/** The failure of a step. Where the database failed, its commit may have arrived: `look` is the command that shows it. */
export const stepFailed =
  (look: string) =>
  (error: { readonly _tag: string; readonly message: string }): Failed =>
    error._tag === "DatabaseError"
      ? failed(`${error.message}\nWhether it was done is not known. Look with: effect-pix ${look}`, codes.Unknown)
      : failed(error.message, codes.Rejected)
