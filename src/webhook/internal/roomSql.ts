/**
 * The room on the user's own database: one table, each change in a transaction that holds the row's lock.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { type Database, inTransaction, isInTransaction, naming } from "../../durable/Database.ts"
import type { Tables } from "../../durable/Tables.ts"
import { queueTable } from "../../durable/Work.ts"
import { isHanded } from "./keys.ts"
import { type Room, type Row, waiting } from "./room.ts"

const table = "effect_pix_webhooks"

const statements = (text: string, number: string) => [
  `CREATE TABLE IF NOT EXISTS ${table} (
  webhook ${text} NOT NULL,
  name ${text} NOT NULL,
  state ${text} NOT NULL,
  value ${text} NOT NULL,
  job ${text},
  updated_at ${number} NOT NULL,
  PRIMARY KEY (webhook, name)
)`,
  `CREATE INDEX IF NOT EXISTS idx_${table}_state ON ${table} (webhook, state, updated_at)`
]

/** What the webhook keeps. `updated_at` is in milliseconds since 1970. */
export const webhookTables: Tables = {
  name: table,
  migrations: { "0001_create": { pg: statements("TEXT", "BIGINT"), sqlite: statements("TEXT", "INTEGER") } }
}

/** The room of one webhook: others on the same database have other names. */
export const roomSql = Effect.fnUntraced(function* (
  database: Database,
  webhook: string,
  { handlerTimeout, retention }: Record<"handlerTimeout" | "retention", Duration.Duration>
) {
  const { dialect, sql } = database
  const rows = sql(table)
  const locked = yield* waiting
  // Who waits for a row of this process holds no connection. SQLite has one transaction at a time: those that run the
  // user's code wait for each other, so that a call which is to be recorded stands behind one of them at most.
  const alone = (name: string) => locked(dialect === "sqlite" && isHanded(name) ? "handed" : name)
  // A process that stands still in the middle of a change, or whose machine is gone, must not hold the row for ever, nor
  // those who wait for it. Three handlers may run in a row without a statement.
  const idle = `${Duration.toMillis(handlerTimeout) * 3 + 5000}`
  const bounds = sql`FROM (SELECT set_config('lock_timeout', '2000', TRUE), set_config('idle_in_transaction_session_timeout', ${idle}, TRUE)) AS bounds`
  const of = (state: Row["state"]) => sql`FROM ${rows} WHERE webhook = ${webhook} AND state = ${state}`
  const room: Room = {
    get: (name) =>
      sql<Row>`SELECT state, value FROM ${rows} WHERE webhook = ${webhook} AND name = ${name}`.pipe(
        Effect.map(([row]) => row),
        naming("webhook")
      ),
    modify: Effect.fnUntraced(function* (name, change) {
      const isTheirs = yield* isInTransaction(database)
      return yield* Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        // The caller's own transaction, of `Webhook.retry`, is the caller's to bound.
        const isBounded = dialect === "pg" && !isTheirs
        // One statement that locks the row, makes it where there is none, and answers what it was.
        const [was] = yield* sql<{ readonly state: Row["state"] | "New"; readonly value: string }>`
          INSERT INTO ${rows} (webhook, name, state, value, updated_at)
          SELECT ${webhook}, ${name}, 'New', '', CAST(${now} AS BIGINT) ${isBounded ? bounds : sql`WHERE TRUE`}
          ON CONFLICT (webhook, name) DO UPDATE SET updated_at = EXCLUDED.updated_at
          RETURNING state, value`
        const row = was === undefined || was.state === "New" ? undefined : { state: was.state, value: was.value }
        // How long the user's own statements wait is not for us to say.
        if (isBounded) yield* sql`SET LOCAL lock_timeout TO DEFAULT`
        const [answer, next] = yield* change(row)
        if (next === undefined) yield* sql`DELETE FROM ${rows} WHERE webhook = ${webhook} AND name = ${name}`
        else if (next !== row) {
          yield* sql`
            UPDATE ${rows} SET state = ${next.state}, value = ${next.value}, job = ${next.job ?? null}
            WHERE webhook = ${webhook} AND name = ${name}`
        }
        return answer
      }).pipe(inTransaction(database), alone(name), naming("webhook"))
    }),
    open: sql<{ readonly count: number | string }>`SELECT COUNT(*) AS count ${of("Open")}`.pipe(
      Effect.map((found) => found.reduce((sum, { count }) => sum + Number(count), 0)),
      naming("webhook")
    ),
    dead: sql<Row>`SELECT value ${of("Dead")} ORDER BY updated_at`.pipe(
      Effect.map((found) => found.map(({ value }) => value)),
      naming("webhook")
    ),
    lost: (after) =>
      sql<{ readonly name: string }>`
        SELECT name ${of("Open")} AND name > ${after}
        AND NOT EXISTS (SELECT 1 FROM ${sql(queueTable)} AS q WHERE q.id = job AND q.state = 'pending')
        ORDER BY name LIMIT 1000`.pipe(
        Effect.map((found) => found.map(({ name }) => name)),
        naming("webhook")
      ),
    forget: Effect.gen(function* () {
      const oldest = (yield* Clock.currentTimeMillis) - Duration.toMillis(retention)
      yield* sql`DELETE FROM ${rows} WHERE webhook = ${webhook} AND state <> 'Dead' AND updated_at < ${oldest}`
    }).pipe(naming("webhook"))
  }
  return room
})
