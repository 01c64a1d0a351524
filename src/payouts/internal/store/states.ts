/**
 * The states that wait for `onState`: a row for each, written by the statement that writes its entry of the history, and deleted by
 * the transaction that hands it out. No statement here locks or changes the row of a payout, so a send never waits for them.
 */
import * as Effect from "effect/Effect"
import type { Fragment } from "effect/sql/Statement"
import type { Database } from "../../../durable/Database.ts"
import { type DueRow, type Look, makeDue, type Taken } from "../../../durable/Due.ts"
import { afterFailure, idleLimit, Overtaken } from "../../../durable/HandOut.ts"
import { makeLetters } from "../../../durable/Letters.ts"

/** A state that a worker has taken, as the driver gives it. */
export interface TakenState extends DueRow, Taken {
  readonly status: string
  readonly failures: number | string
}

/** A dead letter, as the driver gives it. */
export interface Dead {
  readonly id: number | string
  readonly idempotencyKey: string
  readonly status: string
  readonly failures: number | string
  readonly held: number | string
  readonly since: number | string
  readonly at: number | string
}

export const makeStateStore = (database: Database, account: string, lease: number, look: Look) => {
  const { dialect, sql } = database
  const isPg = dialect === "pg"
  const states = sql("effect_pix_payout_states")
  const ofAccount = sql`account = ${account}`
  const ofPayout = sql`other.account = ${states}.account AND other.idempotency_key = ${states}.idempotency_key`
  /** Those of one payout go in their order: a dead letter holds the later ones. */
  const isFirst = sql`NOT EXISTS (SELECT 1 FROM ${states} AS other WHERE ${ofPayout} AND other.id < ${states}.id)`
  const due = makeDue<TakenState>(database, {
    look,
    table: "effect_pix_payout_states",
    key: "id",
    keyType: "BIGINT",
    scope: ofAccount,
    waits: sql`state = 'Open' AND ${isFirst}`,
    columns: sql`status AS "status", failures AS "failures", taken_by AS "taker"`,
    longest: Math.max(lease, 2 * afterFailure.longest)
  })
  const isTaken = ({ key, taker }: Taken) => sql`${ofAccount} AND id = CAST(${key} AS BIGINT) AND taken_by = ${taker}`
  /** Whether a worker of the account ever had `onState`. */
  const isWanted = sql`EXISTS (SELECT 1 FROM effect_pix_payout_accounts WHERE ${ofAccount} AND hands_out)`
  const columns = sql.literal("id, account, idempotency_key, status, written_at")
  const valuesOf = (id: Fragment, key: string, status: string, at: number) =>
    sql`${id}, CAST(${account} AS VARCHAR(32)), CAST(${key} AS VARCHAR(64)), CAST(${status} AS TEXT), CAST(${at} AS BIGINT)`
  const nothing = sql.literal("")

  return {
    due,
    /** What the statement that writes an entry returns of it, as SQL. */
    ofEntry: isPg ? sql`id, idempotency_key` : sql`id AS "id", ${isWanted} AS "isWanted"`,
    /** PostgreSQL: writes the state of a key, as a part of the statement that names its entry `written`. By its clock it is due. */
    insertWritten: (key: string, status: string, at: number) =>
      sql`INSERT INTO ${states} (${columns}) SELECT ${valuesOf(sql.literal("id"), key, status, at)} FROM written WHERE ${isWanted}`,
    /** PostgreSQL: the same of many entries, from rows of `written` and `entries`. */
    insertAll: sql`INSERT INTO ${states} (${columns})
      SELECT id, CAST(${account} AS VARCHAR(32)), idempotency_key, entries.status, entries.written_at
      FROM written JOIN entries USING (idempotency_key) WHERE ${isWanted}`,
    /** SQLite: writes the state of a key, with the number of its entry. By the program's clock it is due. */
    insert: (id: number, key: string, status: string, at: number) =>
      sql`INSERT INTO ${states} (${columns}, due_at) VALUES (${valuesOf(sql`${id}`, key, status, at)}, ${at})`,
    /**
     * The first statement of the transaction that hands a state out: it ends with it, and nobody else takes it meanwhile. Fails with
     * `Overtaken` where another process has taken it, or a person discarded it.
     */
    remove: (taken: Taken, handlerTimeout: number) =>
      Effect.filterOrFail(
        sql`DELETE FROM ${states} WHERE ${isTaken(taken)}
          RETURNING id${isPg ? sql`, ${idleLimit(database, handlerTimeout, 1)}` : nothing}`,
        ({ length }) => length > 0,
        () => new Overtaken()
      ),
    /** The user's code failed. It is called again after so many milliseconds; `undefined`: never by itself. */
    fail: Effect.fnUntraced(function* (taken: Taken, failures: number, millis: number | undefined) {
      const state = millis === undefined ? "Dead" : "Open"
      yield* sql`UPDATE ${states} SET failures = ${failures}, state = ${state}, ${yield* due.dueIn(millis ?? 0)}
        WHERE ${isTaken(taken)}`
    }),
    letters: makeLetters<Dead>(database, due, {
      name: "PayoutQueue",
      operation: "requestWithdrawal",
      columns: sql`id AS "id", idempotency_key AS "idempotencyKey", status AS "status", failures AS "failures", written_at AS "since",
        due_at AS "at", (SELECT COUNT(*) FROM ${states} AS other WHERE ${ofPayout} AND other.id > ${states}.id) AS "held"`,
      fields: ({ id }, by) => ({ "payments.account": account, "payouts.entry": Number(id), "payouts.by": by }),
      revived: sql`failures = 0`,
      discard: Effect.succeed(sql`DELETE FROM ${states}`),
      why: sql`'due'`,
      since: sql`written_at`
    })
  }
}
