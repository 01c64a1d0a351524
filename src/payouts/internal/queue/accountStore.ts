/**
 * The row of an account, and its sums of days. All workers of the account share them, so each statement is conditional.
 * Times of the wait after a refusal of all requests, and days, are those of the database's clock.
 */
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import type { Fragment } from "effect/sql/Statement"
import * as Str from "effect/String"
import * as Struct from "effect/Struct"
import { type Database, inTransaction } from "../../../durable/Database.ts"
import { databaseNow } from "../../../durable/Now.ts"
import { Account, type ReadAccount, zone } from "./account.ts"
import { Int, orNull } from "./columns.ts"
import { makeIdentityStore } from "./identityStore.ts"
import { accountAlias, fragmentOf, isOpen, isSeen, maySend } from "./conditions.ts"

const table = "effect_pix_payout_accounts"
const daysTable = "effect_pix_payout_days"

const Read = Schema.Struct({ ...Account.fields, readAt: Int, session: orNull(Schema.String) })
const decode = Schema.decodeUnknownEffect(Schema.Array(Read))

/** What people agree on, and what the first of them asked for. */
type Agreed = Pick<Account, "asked" | "fingerprint" | "fourEyesAbove">

/** Whether a statement that returns rows found one. */
const found = <E>(rows: Effect.Effect<ReadonlyArray<unknown>, E>): Effect.Effect<boolean, E> =>
  Effect.map(rows, ({ length }) => length > 0)

export const makeAccountStore = (database: Database, account: string) => {
  const { dialect, sql } = database
  const accounts = sql(table)
  const days = sql(daysTable)
  const identity = makeIdentityStore(database, account)
  const all = sql.literal(
    Struct.keys(Account.fields)
      .map((field) => `${Str.camelToSnake(field)} AS "${field}"`)
      .join(", ")
  )
  const served = sql.literal(accountAlias)
  const insertIfAbsent = sql`INSERT INTO ${accounts} (account) VALUES (${account}) ON CONFLICT DO NOTHING`

  const update = (changes: Fragment, where: Fragment) =>
    found(sql`UPDATE ${accounts} SET ${changes} WHERE account = ${account} AND ${where} RETURNING account`)

  const today: Effect.Effect<Fragment> =
    dialect === "pg"
      ? Effect.succeed(sql`to_char(clock_timestamp() AT TIME ZONE ${zone.id}, 'YYYY-MM-DD')`)
      : Effect.map(DateTime.now, (now) => sql`${DateTime.formatIsoDate(DateTime.setZone(now, zone))}`)

  /** The later one of times, as SQL. */
  const latest = sql.literal(dialect === "pg" ? "GREATEST" : "MAX")

  return {
    /** The identity of the database, and when a worker was seen in it. */
    identity,
    /** The account as it is now. Where it has no row, nobody served or paused it. */
    get: Effect.gen(function* () {
      const now = yield* databaseNow(database)
      const clock = sql`SELECT ${now} AS "readAt", ${identity.session} AS "session"`
      const [found] = yield* sql`${clock}, ${all} FROM ${accounts} WHERE account = ${account}`
      const [bare] = found === undefined ? yield* clock : []
      const [read] = yield* Effect.orDie(decode([found ?? { ...Account.make({ account }), ...bare }]))
      return { ...read!, ahead: read!.readAt - (yield* Clock.currentTimeMillis) } satisfies ReadAccount
    }),

    /** The limit above which a payout needs a second person, as SQL. */
    limit: sql`(SELECT four_eyes_above FROM ${accounts} WHERE account = ${account})`,

    insertIfAbsent,

    /** A worker begins. */
    serve: (horizon: number) => Effect.andThen(insertIfAbsent, update(sql`horizon = ${horizon}`, sql`1 = 1`)),
    /** Stores the sender of an account that has none. */
    bind: (fingerprint: string, companyId: number | null) =>
      Effect.andThen(
        insertIfAbsent,
        update(sql`fingerprint = ${fingerprint}, company_id = ${companyId}`, sql`fingerprint IS NULL`)
      ),
    /** Stores the company of the first recorded withdrawal, and the fingerprint with it. */
    learnCompany: (from: string, to: string, companyId: number) =>
      update(
        sql`fingerprint = ${to}, company_id = ${companyId}`,
        sql`fingerprint = ${from} AND company_id IS NULL
          AND NOT EXISTS (SELECT 1 FROM ${accounts} AS other WHERE other.fingerprint = ${to} AND other.account <> ${account})`
      ),
    /** Another account with this fingerprint, if there is one. */
    otherOf: (fingerprint: string) =>
      Effect.map(
        sql<{
          readonly account: string
        }>`SELECT account AS "account" FROM ${accounts} WHERE fingerprint = ${fingerprint} AND account <> ${account}`,
        ([row]) => row?.account
      ),
    /**
     * Changes what people agree on, or what the first of them asks for; false where the limit, or what was asked for, changed since the
     * account was read. The company of another sender is that of its first recorded withdrawal.
     */
    agree: ({ fingerprint, ...changes }: Partial<Agreed>, from: Account) =>
      Effect.andThen(
        insertIfAbsent,
        update(
          sql`${sql.update(
            Record.mapKeys(
              { ...changes, ...(fingerprint !== undefined && { fingerprint, companyId: null }) },
              Str.camelToSnake
            )
          )}`,
          sql`asked IS NOT DISTINCT FROM CAST(${from.asked} AS TEXT)
            AND four_eyes_above IS NOT DISTINCT FROM CAST(${from.fourEyesAbove} AS BIGINT)`
        )
      ),

    /**
     * Sets the pause. One that ends moves what its never sent payouts are wanted since: the wait for it is not counted while a
     * worker was seen. Who waits for the cap of a day has begun an uncounted wait already.
     */
    setPaused: Effect.fnUntraced(function* (paused: boolean, entry: string) {
      const now = yield* databaseNow(database)
      yield* insertIfAbsent
      if (paused) {
        const changes = sql`paused = ${true}, paused_at = COALESCE(paused_at, ${now}), pause = ${entry}`
        return yield* update(changes, sql`1 = 1`)
      }
      const pause = sql`SELECT paused_at, served_at, seen_at, horizon FROM ${accounts} WHERE account = ${account} AND paused
        ${sql.literal(dialect === "pg" ? "FOR UPDATE" : "")}`
      const ended = sql`UPDATE effect_pix_payouts
        SET wanted_at = wanted_at + ${latest}(0, ${now} - ${latest}(wanted_at, ${served}.paused_at, ${served}.served_at)),
          version = version + 1
        FROM (${pause}) AS ${served}
        WHERE account = ${account} AND ${sql.literal(isOpen.sql)} AND sends = 0 AND waits_for IS DISTINCT FROM 'DailyCap'
          AND ${served}.served_at IS NOT NULL AND ${fragmentOf(database, isSeen, { now, horizon: sql`${served}.horizon` })}`
      const changes = sql`paused = ${false}, paused_at = NULL, pause = ${entry}`
      return yield* inTransaction(database)(Effect.andThen(ended, update(changes, sql`1 = 1`)))
    }),

    /** Begins the wait, of which one payout at a time is tried; false where it had begun. */
    block: (because: string, delay: number) =>
      Effect.flatMap(databaseNow(database), (now) =>
        update(
          sql`blocked_at = ${now}, blocked_because = ${because}, probes = 0, probe_at = ${now} + ${delay}, probe_key = NULL`,
          sql`blocked_at IS NULL`
        )
      ),
    /** Takes the permit to try one payout, for as long as the lease lasts. */
    takeProbe: (key: string, lease: number) =>
      Effect.flatMap(databaseNow(database), (now) =>
        update(
          sql`probe_key = ${key}, probe_at = ${now} + ${lease}`,
          sql`blocked_at IS NOT NULL AND probe_at <= ${now}`
        )
      ),
    /** Gives the permit back: the next payout is tried after a delay. */
    endProbe: (key: string, delay: number) =>
      Effect.flatMap(databaseNow(database), (now) =>
        update(sql`probe_key = NULL, probe_at = ${now} + ${delay}, probes = probes + 1`, sql`probe_key = ${key}`)
      ),
    /** The next payout is tried at once, unless one is being tried. */
    probeNow: Effect.flatMap(databaseNow(database), (now) =>
      update(sql`probe_at = ${now}`, sql`blocked_at IS NOT NULL AND probe_key IS NULL`)
    ),
    /** Ends the wait. */
    unblock: (key: string) =>
      update(
        sql`blocked_at = NULL, blocked_because = NULL, probes = 0, probe_at = NULL, probe_key = NULL`,
        sql`probe_key = ${key}`
      ),

    /** The statement that adds the `amount` of a table's row to the sum of today. It returns no day where that would exceed the cap. */
    addToDay: (table: Fragment, cap: number) =>
      Effect.map(
        today,
        (day) => sql<{ readonly day: string }>`INSERT INTO ${days} (account, day, spent)
          SELECT ${account}, ${day}, amount FROM ${table} WHERE amount <= CAST(${cap} AS BIGINT)
          ON CONFLICT (account, day) DO UPDATE SET spent = ${days}.spent + excluded.spent
          WHERE ${days}.spent + excluded.spent <= CAST(${cap} AS BIGINT) RETURNING day AS "day"`
      ),
    /** The statement that subtracts from the sum of a day. */
    subtractFromDay: (day: string, amount: number) =>
      sql`UPDATE ${days} SET spent = spent - CAST(${amount} AS BIGINT) WHERE account = ${account} AND day = ${day}`,
    /** The last day that has a sum, if it is after a day. */
    dayAfter: (day: string) =>
      Effect.map(
        sql<{ readonly day: string; readonly spent: unknown }>`SELECT day AS "day", spent AS "spent" FROM ${days}
          WHERE account = ${account} AND day > ${day} AND spent > 0 ORDER BY day DESC LIMIT 1`,
        ([row]) => (row === undefined ? undefined : { day: row.day, spent: Number(row.spent) })
      ),

    /**
     * Whether a request of a payout may be sent, as SQL for the statement that marks it, whose row is read too. The limit is that
     * of this moment, whatever the worker knows of it.
     */
    allows: (
      key: string,
      fingerprint: string | undefined,
      session: string | null,
      horizon: number
    ): Effect.Effect<Fragment> =>
      Effect.map(Effect.all([databaseNow(database), Clock.currentTimeMillis]), ([now, nowHere]) => {
        const may = fragmentOf(database, maySend, {
          now,
          nowHere: sql`CAST(${nowHere} AS BIGINT)`,
          horizon: sql`CAST(${horizon} AS BIGINT)`,
          key: sql`${key}`,
          sender: sql`CAST(${fingerprint ?? null} AS VARCHAR(40))`
        })
        return sql`EXISTS (SELECT 1 FROM ${accounts} AS ${served} WHERE ${served}.account = ${account}
          AND ${may} AND ${identity.inSession(session)})`
      })
  }
}
