/**
 * The row of an account, and its sums of days. All workers of the account share them, so each statement is conditional.
 * Times of the wait after a refusal of all requests, and days, are those of the database's clock.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import * as Str from "effect/String"
import * as Struct from "effect/Struct"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import { type Database, inTransaction } from "../../../durable/Database.ts"
import { databaseNow } from "../../../durable/Now.ts"
import { Account, type ReadAccount } from "../machine/account.ts"
import { type AccountTime, isSameTime, lookupSpacing, spacingOf } from "../machine/accountTime.ts"
import { Int, orNull } from "../machine/columns.ts"
import {
  accountAlias,
  fragmentOf,
  isNextNow,
  isWithoutTurns,
  maySend,
  isOpen,
  isSeen,
  isUncounted,
  uncountedCauses
} from "../machine/conditions.ts"
import { makeDays, minuteOf } from "../machine/days.ts"
import { makeIdentityStore } from "./identity.ts"

const table = "effect_pix_payout_accounts"

const Read = Schema.Struct({ ...Account.fields, readAt: Int, session: orNull(Schema.String) })
const decode = Schema.decodeUnknownEffect(Schema.Array(Read))

/** Whether a statement that returns rows found one. */
const changedAny = <E>(rows: Effect.Effect<ReadonlyArray<unknown>, E>): Effect.Effect<boolean, E> =>
  Effect.map(rows, ({ length }) => length > 0)

export const makeAccountStore = (database: Database, account: string) => {
  const { sql } = database
  const accounts = sql(table)
  const identity = makeIdentityStore(database, account)
  const all = sql.literal(
    Struct.keys(Account.fields)
      .map((field) => `${Str.camelToSnake(field)} AS "${field}"`)
      .join(", ")
  )
  const served = sql.literal(accountAlias)
  /** The session of the server in which the database is known to be checked. A file has none. */
  let checkedSession: string | null = null
  const insertIfAbsent = sql`INSERT INTO ${accounts} (account) VALUES (${account}) ON CONFLICT DO NOTHING`

  const update: UpdateAccount = (changes, where) =>
    changedAny(sql`UPDATE ${accounts} SET ${changes} WHERE account = ${account} AND ${where} RETURNING account`)

  const get = Effect.gen(function* () {
    const now = yield* databaseNow(database)
    const clock = sql`SELECT ${now} AS "readAt", ${identity.session} AS "session"`
    const [found] = yield* sql`${clock}, ${all} FROM ${accounts} WHERE account = ${account}`
    const [bare] = found === undefined ? yield* clock : []
    const [read] = yield* Effect.orDie(decode([found ?? { ...Account.make({ account }), ...bare }]))
    return { ...read!, ahead: read!.readAt - (yield* Clock.currentTimeMillis) } satisfies ReadAccount
  })

  /** Whether the time of the account is as it was read, as SQL. */
  const isAsRead = ({ nextAt, refusals, setAt, shortOf, suspects, unknowns }: AccountTime) =>
    sql`next_at IS NOT DISTINCT FROM CAST(${nextAt} AS BIGINT) AND set_at IS NOT DISTINCT FROM CAST(${setAt} AS BIGINT)
      AND refusals = ${refusals} AND suspects IS NOT DISTINCT FROM CAST(${suspects} AS TEXT)
      AND unknowns IS NOT DISTINCT FROM CAST(${unknowns} AS TEXT)
      AND short_of IS NOT DISTINCT FROM CAST(${shortOf} AS BIGINT)`

  return {
    /** The identity of the database, and when a worker was seen in it. */
    identity,
    /** The account as it is now. Where it has no row, nobody served or paused it. */
    get,
    /** The account, and whether a worker has checked the database: see `isChecked` of the identity. It stays so in a session. */
    checked: Effect.gen(function* () {
      const account = yield* get
      if (account.session !== checkedSession && identity.isChecked(account, yield* identity.read))
        checkedSession = account.session
      return { account, isChecked: account.session === checkedSession }
    }),
    /** Whether the database is judged, as SQL: see `judged` of the identity. */
    judged: Effect.gen(function* () {
      const read = yield* get
      return identity.judged(read, yield* identity.read)
    }),

    insertIfAbsent,

    setPaused: makeSetPaused(database, account, insertIfAbsent, update),
    /** The turn of a request, as a statement that changes the account where its time has come, and `found` has a row. */
    turn: (read: AccountTime, { nextAt, setAt }: Pick<AccountTime, "nextAt" | "setAt">, found: Fragment) =>
      Effect.map(
        databaseNow(database),
        (
          now
        ) => sql`UPDATE ${accounts} AS ${served} SET next_at = CAST(${nextAt} AS BIGINT), set_at = CAST(${setAt} AS BIGINT)
          WHERE account = ${account} AND NOT paused AND ${isAsRead(read)} AND ${fragmentOf(database, isNextNow, { now })}
          AND EXISTS (${found}) RETURNING account`
      ),
    /** Changes the time of the account by what is decided of it as it is, and returns it as it was before. */
    retime: Effect.fnUntraced(function* (change: (read: ReadAccount, now: number) => AccountTime) {
      for (;;) {
        const read = yield* get
        const next = change(read, read.readAt)
        if (isSameTime(read, next)) return { before: read, after: read }
        // A role may be allowed to change some of it.
        const changes = Record.filter({ ...next }, (value, field) => value !== read[field]) // its own fields
        if (yield* update(sql`${sql.update(Record.mapKeys(changes, Str.camelToSnake))}`, isAsRead(read)))
          return { before: read, after: { ...read, ...next } }
      }
    }),
    /**
     * The turn of a lookup, as a statement that changes the account where its time has come: five a second. It is a request of the
     * account, and where that has a pace, it takes the time of one, unless one of these `sends` is due.
     */
    lookupTurn: (read: Pick<Account, "paceMost" | "pacePer">, sends: Fragment, found: Fragment) =>
      Effect.map(databaseNow(database), (now) => {
        const isPaced = sql.literal(`${accountAlias}.pace_per IS NOT NULL`)
        const next = sql`${now} + CAST(${spacingOf(read)} AS BIGINT)`
        const spacing = sql.literal(`${lookupSpacing}`)
        return sql`UPDATE ${accounts} AS ${served} SET lookup_at = ${now} + ${spacing},
            next_at = CASE WHEN ${isPaced} THEN ${next} ELSE next_at END, set_at = CASE WHEN ${isPaced} THEN ${now} ELSE set_at END
          WHERE account = ${account} AND (COALESCE(lookup_at, 0) <= ${now} OR lookup_at > ${now} + ${spacing})
            AND ${fragmentOf(database, isNextNow, { now })} AND NOT (${isPaced} AND EXISTS (${sends})) AND EXISTS (${found})
          RETURNING account`
      }),
    ...makeDays(database, account),

    /** A worker begins. One that hands states out says so for good. */
    serve: (horizon: number, handsOut = false) =>
      Effect.andThen(
        insertIfAbsent,
        update(sql`horizon = ${horizon}${handsOut ? sql`, hands_out = ${true}` : sql.literal("")}`, sql`1 = 1`)
      ),
    /** Counts a payout that ended by an answer, and returns how many in a row did. */
    countEnd: Effect.map(
      sql<{ readonly count: unknown }>`UPDATE ${accounts} SET ends_in_row = ends_in_row + 1 WHERE account = ${account}
        RETURNING ends_in_row AS "count"`,
      ([row]) => Number(row?.count)
    ),
    /** The service took a payout, so those that end from now on are another row. */
    endRow: update(sql`ends_in_row = 0`, sql`ends_in_row > 0`),
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
    /** Changes the sender; false where it is that already. The company of another sender is that of its first recorded withdrawal. */
    changeSender: (fingerprint: string) =>
      Effect.andThen(
        insertIfAbsent,
        update(
          sql`fingerprint = ${fingerprint}, company_id = NULL`,
          sql`fingerprint IS DISTINCT FROM CAST(${fingerprint} AS VARCHAR(40))`
        )
      ),

    /** Sets the limits that the user knows. */
    setLimits: (columns: Partial<Account>) =>
      Effect.andThen(insertIfAbsent, update(sql`${sql.update(Record.mapKeys(columns, Str.camelToSnake))}`, sql`1 = 1`)),
    allows: makeAllows(database, account, identity)
  }
}

/**
 * Whether a request of a payout may be sent, as SQL for the statement that marks it, whose row is read too. `refusals` is of when
 * it was taken; where it took no turn (`isInTurn`), nothing is sent of an account that gives turns.
 */
const makeAllows = (database: Database, account: string, identity: ReturnType<typeof makeIdentityStore>) => {
  const { sql } = database
  const served = sql.literal(accountAlias)
  return (
    { dailyCap, refusals, session }: ReadAccount,
    fingerprint: string | undefined,
    horizon: number,
    isInTurn: boolean
  ): Effect.Effect<Fragment> =>
    Effect.map(Effect.all([databaseNow(database), Clock.currentTimeMillis]), ([now, nowHere]) => {
      const may = fragmentOf(database, maySend, {
        now,
        nowHere: sql`CAST(${nowHere} AS BIGINT)`,
        horizon: sql`CAST(${horizon} AS BIGINT)`,
        refusals: sql`CAST(${refusals} AS INTEGER)`,
        dailyCap: sql`CAST(${dailyCap} AS BIGINT)`,
        minute: minuteOf(database, nowHere),
        sender: sql`CAST(${fingerprint ?? null} AS VARCHAR(40))`
      })
      return sql`EXISTS (SELECT 1 FROM ${sql(table)} AS ${served} WHERE ${served}.account = ${account}
        AND ${may} AND ${identity.inSession(session)}
        AND ${isInTurn ? sql.literal("1 = 1") : fragmentOf(database, isWithoutTurns, { now })})`
    })
}

/** Changes the row of the account under a condition, and returns whether it held. */
type UpdateAccount = (changes: Fragment, where: Fragment) => Effect.Effect<boolean, SqlError>

/**
 * Sets the pause. One that ends moves what its never sent payouts are wanted since: the wait for it is not counted while a
 * worker was seen. Who waits for the cap of a day, or for credentials, has begun an uncounted wait already.
 */
const makeSetPaused = (
  database: Database,
  account: string,
  insertIfAbsent: Effect.Effect<unknown, SqlError>,
  update: UpdateAccount
) => {
  const { dialect, sql } = database
  const accounts = sql("effect_pix_payout_accounts")
  const served = sql.literal(accountAlias)
  /** The later one of times, as SQL. */
  const latest = sql.literal(dialect === "pg" ? "GREATEST" : "MAX")

  return Effect.fnUntraced(function* (paused: boolean, entry: string) {
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
        WHERE account = ${account} AND ${sql.literal(isOpen.sql)} AND may_have_left_at IS NULL AND (because IS NULL OR NOT ${sql.in("because", uncountedCauses)})
          AND ${fragmentOf(database, isUncounted, { now })}
          AND ${served}.served_at IS NOT NULL AND ${fragmentOf(database, isSeen, { now, horizon: sql`${served}.horizon` })}`
    const changes = sql`paused = ${false}, paused_at = NULL, ends_in_row = 0, pause = ${entry}`
    return yield* inTransaction(database)(Effect.andThen(ended, update(changes, sql`1 = 1`)))
  })
}
