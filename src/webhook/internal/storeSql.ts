/**
 * The store on the user's own database: one table. Each change is a transaction that locks its row.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as RcMap from "effect/RcMap"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import {
  type Database,
  inTransaction,
  isInTransaction,
  isOneOf,
  locked as lockedRows,
  mapDatabaseError
} from "../../durable/Database.ts"
import { healLost } from "../../durable/Lost.ts"
import type { Tables } from "../../durable/Tables.ts"
import { followWrites, soleWritesOf } from "../../internal/soleWriter.ts"
import { type Store, type Stored, unfinished } from "./store.ts"

const table = "effect_pix_webhooks"

/** The queue of one webhook. */
export const queueNameOf = (webhook: string): string => `effect-pix/webhook/${webhook}`

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
  `CREATE INDEX IF NOT EXISTS idx_${table}_state ON ${table} (webhook, state, updated_at)`,
  `CREATE INDEX IF NOT EXISTS idx_${table}_open ON ${table} (webhook, name) WHERE state = 'Open'`
]

/** What the webhook stores. `updated_at` is in milliseconds since 1970. */
export const webhookTables: Tables = {
  name: table,
  migrations: { "0001_create": { pg: statements("TEXT", "BIGINT"), sqlite: statements("TEXT", "INTEGER") } }
}

/** The largest number of rows that one statement deletes. */
const step = 1000

/** The store of one webhook. Other webhooks on the same database have other names. */
export const sqlStore = Effect.fnUntraced(function* (
  database: Database,
  webhook: string,
  handlerTimeout: Duration.Duration
) {
  const { dialect, sql } = database
  const rows = sql(table)
  const locks = yield* RcMap.make({ lookup: () => Semaphore.make(1) })
  // A fiber that waits for a lock of this process holds no connection.
  const locked =
    (key: string) =>
    <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      Effect.scopedWith((scope) =>
        Effect.flatMap(Scope.provide(RcMap.get(locks, key), scope), (lock) => lock.withPermit(effect))
      )
  // A process that is suspended in a change must not lock the row for ever. Three handlers may run one after the other
  // without a statement.
  const idle = `${Duration.toMillis(handlerTimeout) * 3 + 5000}`
  const bounds = sql`FROM (SELECT set_config('lock_timeout', '2000', TRUE), set_config('idle_in_transaction_session_timeout', ${idle}, TRUE)) AS bounds`
  const where = (name: string) => sql`WHERE webhook = ${webhook} AND name = ${name}`
  // The state is part of the statement's text, so that PostgreSQL finds the index of the open rows.
  const isOf = (state: Stored["state"]) => sql`webhook = ${webhook} AND state = ${sql.literal(`'${state}'`)}`
  const of = (state: Stored["state"]) => sql`FROM ${rows} WHERE ${isOf(state)}`
  const ofAll = (states: ReadonlyArray<Stored["state"]>) =>
    sql`FROM ${rows} WHERE webhook = ${webhook} AND ${sql.in("state", states)}`

  const waitsFor = dialect === "pg" ? "value::json -> 'waits' ->> 'reason'" : "json_extract(value, '$.waits.reason')"
  const reason = sql.literal(`CASE WHEN state = 'Open' THEN COALESCE(${waitsFor}, 'due') ELSE 'first' END`)

  const since = sql.literal(
    dialect === "pg" ? "CAST(value::json ->> 'since' AS NUMERIC)" : "json_extract(value, '$.since')"
  )

  const hold: Store["hold"] = Effect.fnUntraced(function* (name, use) {
    // The user's own transaction around `Webhook.retry` has the user's own bounds.
    const isBounded = dialect === "pg" && !(yield* isInTransaction(database))
    return yield* Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      // This statement locks the row, inserts it if there is none, and returns its earlier value.
      const [was] = yield* sql<{ readonly state: Stored["state"] | "New"; readonly value: string }>`
        INSERT INTO ${rows} (webhook, name, state, value, updated_at)
        SELECT ${webhook}, ${name}, 'New', '', CAST(${now} AS BIGINT) ${isBounded ? bounds : sql`WHERE TRUE`}
        ON CONFLICT (webhook, name) DO UPDATE SET updated_at = EXCLUDED.updated_at
        RETURNING state, value`
      const stored = was === undefined || was.state === "New" ? undefined : { state: was.state, value: was.value }
      // The user's own statements have the lock timeout of the user's settings.
      if (isBounded) yield* sql`SET LOCAL lock_timeout TO DEFAULT`
      const [answer, next] = yield* use(stored)
      if (next === undefined) yield* sql`DELETE FROM ${rows} ${where(name)}`
      else if (next !== stored) {
        yield* sql`UPDATE ${rows} SET state = ${next.state}, value = ${next.value}, job = ${next.job ?? null} ${where(name)}`
      }
      return answer
    }).pipe(inTransaction(database), locked(name), mapDatabaseError("webhook"))
  })

  const store: Store = {
    followWrites: followWrites(soleWritesOf(sql)),
    // SQLite has one transaction at a time. Transactions that run the user's code wait for each other before they begin, so
    // a delivery waits for at most one of them.
    hold: dialect === "sqlite" ? (name, use) => locked("handed")(hold(name, use)) : hold,
    get: (name) =>
      sql<Stored>`SELECT state, value FROM ${rows} ${where(name)}`.pipe(
        Effect.map(([stored]) => stored),
        mapDatabaseError("webhook")
      ),
    change: (name, change) =>
      hold(name, (stored) => {
        const { answer, commit, next } = change(stored)
        return Effect.as(commit, [answer, next] as const)
      }),
    take: Effect.fnUntraced(function* ({ isNewest, lease, most, rank }) {
      const now = yield* Clock.currentTimeMillis
      const first = sql.literal(isNewest ? "updated_at DESC" : "updated_at")
      const some = sql`SELECT name ${of(rank)} AND updated_at <= ${now} ORDER BY ${first} LIMIT ${most} ${lockedRows(database)}`
      const taken = yield* sql<{ readonly name: string }>`
        UPDATE ${rows} SET updated_at = ${now + lease} WHERE webhook = ${webhook} AND ${isOneOf(database, "name", some)} RETURNING name`
      return taken.map(({ name }) => name)
    }, mapDatabaseError("webhook")),
    count: (states) =>
      sql<{ readonly count: number | string }>`SELECT COUNT(*) AS count ${ofAll(states)}`.pipe(
        Effect.map(([found]) => Number(found?.count)),
        mapDatabaseError("webhook")
      ),
    waiting: Effect.map(
      sql<{ readonly reason: string; readonly count: number | string; readonly oldest: number | string }>`
        SELECT ${reason} AS reason, COUNT(*) AS count, MIN(${since}) AS oldest ${ofAll(unfinished)} GROUP BY 1`,
      (found) => found.map(({ count, oldest, reason }) => ({ reason, count: Number(count), oldest: Number(oldest) }))
    ).pipe(mapDatabaseError("webhook")),
    dead: sql<Stored>`SELECT value ${of("Dead")} ORDER BY updated_at`.pipe(
      Effect.map((found) => found.map(({ value }) => value)),
      mapDatabaseError("webhook")
    ),
    lost: (heal) =>
      healLost(
        database,
        { queueName: queueNameOf(webhook), table, key: "name", element: sql.literal("job"), where: isOf("Open") },
        ({ element, key }) => heal(key, element)
      ).pipe(Effect.asVoid, mapDatabaseError("webhook")),
    forget: Effect.fnUntraced(function* (state, unchanged) {
      const oldest = (yield* Clock.currentTimeMillis) - Duration.toMillis(unchanged)
      const old = sql`SELECT name ${of(state)} AND updated_at < ${oldest} ORDER BY updated_at LIMIT ${step} ${lockedRows(database)}`
      const some = sql`DELETE FROM ${rows} WHERE webhook = ${webhook} AND ${isOneOf(database, "name", old)} RETURNING name`
      yield* Effect.repeat(some, { while: ({ length }) => length === step })
    }, mapDatabaseError("webhook"))
  }
  return store
})
