/**
 * Deletes the data of payouts that ended long ago, and their records.
 */
import * as Effect from "effect/Effect"
import * as Record from "effect/Record"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import * as Struct from "effect/Struct"
import { isOneOf, locked, unpacked } from "../../../durable/Database.ts"
import { Row } from "../machine/row.ts"
import { columnOf, historyTable, type StoreParts, table } from "./parts.ts"
import { ended as endedStates, recorded } from "./tables.ts"

/** What a payout has after its record was deleted, but for its account, key, state and times. */
const withoutRecord = {
  ...Struct.omit(
    Row.make({
      account: "",
      idempotencyKey: "",
      reference: "",
      amount: 0,
      submittedAt: 0,
      updatedAt: 0
    }),
    ["account", "idempotencyKey", "state", "submittedAt", "updatedAt", "version"]
  ),
  amount: null
}

/** Repeats a statement that changes at most 1,000 rows, until it finds fewer. */
const inBatches = (batch: Effect.Effect<ReadonlyArray<unknown>, SqlError>) =>
  Effect.asVoid(Effect.repeat(batch, { while: ({ length }) => length === 1000 }))

export const makeForget = ({ account, database, hasKeyOf, transaction }: StoreParts) => {
  const { dialect, sql } = database
  const isPg = dialect === "pg"
  const payouts = sql(table)
  const histories = sql(historyTable)
  const ofAccount = sql`account = ${account}`
  const ended = sql.literal(endedStates)
  const hasRecord = sql.literal(recorded)
  // Found by its place, a row costs one page. By its key, PostgreSQL may read the account's whole index for it, as long as it has
  // no statistics of the accounts.
  const place = isPg ? "ctid" : "rowid"
  /** Changes at most 1,000 of the payouts that ended, and returns their keys. */
  const changeOld = (changes: Fragment, where: Fragment) => {
    const old = sql`SELECT ${sql(place)} FROM ${payouts} WHERE ${ofAccount} AND ${ended} AND ${where} LIMIT 1000 ${locked(database)}`
    return sql<{ readonly key: string }>`UPDATE ${payouts} SET ${changes}, version = version + 1
      WHERE ${isOneOf(database, place, old)} RETURNING idempotency_key AS "key"`
  }

  /** No state of it waits for `onState`: what was not handed out yet has the record. */
  const isToldAll = sql.literal(`NOT EXISTS (SELECT 1 FROM effect_pix_payout_states AS waiting
    WHERE waiting.account = ${table}.account AND waiting.idempotency_key = ${table}.idempotency_key)`)

  return {
    /** Deletes the requests of payouts that ended before a time. */
    forget: (before: number) =>
      inBatches(
        changeOld(
          sql`request = NULL, payee = NULL, reason = NULL`,
          sql`request IS NOT NULL AND updated_at < ${before} ORDER BY updated_at`
        )
      ),
    /** Deletes the records of payouts that ended before a time: their account, key and state stay. */
    forgetRecord: (before: number) =>
      inBatches(
        transaction(
          Effect.tap(
            changeOld(
              sql`${sql.update(Record.mapKeys(withoutRecord, columnOf))}`,
              // The index of the list has no payout whose record was deleted.
              sql`${hasRecord} AND submitted_at < ${before} AND updated_at < ${before} AND ${isToldAll} ORDER BY submitted_at`
            ),
            (rows) => sql`DELETE FROM ${histories}
              WHERE ${hasKeyOf(unpacked(database, JSON.stringify(rows.map(({ key }) => key))))}`
          )
        )
      )
  }
}
