/**
 * PostgreSQL as the database of a simulation of money. Its clock is that of the simulation, and a process that dies loses its
 * connections before its next statement.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Exit, Layer, Redacted, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { postgres } from "../support/database.ts"
import type { MakeStore, Store } from "./moneyWorld.ts"

/** How far the clock goes on while the server has nothing to say for so many real milliseconds. Where nobody wakes it goes on faster. */
const first = 2000
const silence = 8

const clock = [
  "CREATE SCHEMA simulated",
  "CREATE TABLE simulated.clock (at TIMESTAMPTZ)",
  "INSERT INTO simulated.clock VALUES (pg_catalog.clock_timestamp())",
  "CREATE FUNCTION simulated.clock_timestamp() RETURNS TIMESTAMPTZ LANGUAGE sql VOLATILE AS 'SELECT at FROM simulated.clock'"
]

/** The queries of the world run in real time. */
const run = <A>(effect: Effect.Effect<A, unknown>) => Effect.runPromise(effect)

/** A client of a new database, outside of the simulation's time. */
const connect = Effect.gen(function* () {
  const { url } = yield* postgres
  const scope = Scope.makeUnsafe()
  const context = yield* Layer.buildWithScope(PgClient.layer({ url: Redacted.make(url), maxConnections: 2 }), scope)
  const sql = Context.get(context, SqlClient.SqlClient)
  for (const statement of clock) yield* sql.unsafe(statement)
  const [row] = yield* sql<{ readonly name: string }>`SELECT current_database() AS name`
  // Its name comes before that of the server's own function.
  yield* sql.unsafe(`ALTER DATABASE ${row?.name} SET search_path = simulated, pg_catalog, public`)
  return { scope, sql, url }
})

export const onPostgres: MakeStore = Effect.gen(function* () {
  const { scope, sql, url } = yield* Effect.promise(() => run(connect))
  const terminate = (name: string) =>
    run(
      sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE ${name} AND datname = current_database()`
    )
  yield* Effect.addFinalizer(() =>
    // Nobody waits for the pool, which waits for its connections.
    Effect.sync(() => void terminate("simulated%").then(() => run(Scope.close(scope, Exit.void))))
  )
  let lives = 0
  let dying: Promise<unknown> = Promise.resolve()
  const store: Store = {
    connect: (process, onDeath) =>
      Effect.gen(function* () {
        const name = `simulated ${process} ${++lives}`
        onDeath(() => void (dying = Promise.all([dying, terminate(name)])))
        const client = PgClient.layer({ url: Redacted.make(url), applicationName: name, maxConnections: 12 })
        return yield* Layer.build(client)
      }),
    move: (time, isDone) =>
      Effect.gen(function* () {
        for (let [until, step] = [0, first]; !isDone();) {
          until = Math.max(until, time.now()) + step
          const before = time.now()
          yield* Effect.promise(() => dying)
          yield* Effect.promise(() => run(sql`UPDATE simulated.clock SET at = ${new Date(until)}`))
          yield* time.until(isDone, until, silence)
          step = time.now() === before ? step * 2 : first
        }
      })
  }
  return store
})
