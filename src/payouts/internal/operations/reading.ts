/**
 * The operations of the queue that read payouts.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { SqlError } from "effect/sql/SqlError"
import * as Stream from "effect/Stream"
import { type DatabaseError, mapDatabaseError } from "../../../durable/Database.ts"
import type { PayoutChange } from "../../PayoutHistory.ts"
import type { PayoutPayee } from "../../PayoutStatus.ts"
import { PayoutNotFound } from "../../PayoutState.ts"
import type { Seal } from "../../Seal.ts"
import { makeOutcomeUnknown } from "../machine/answers.ts"
import { isDueBy } from "../machine/conditions.ts"
import { becauseHeld, heldOf } from "../machine/accountTime.ts"
import { type Core, guard } from "../core.ts"
import { readEntries, readPayee, submittedOf } from "../store/entries.ts"
import { payoutKey, placeOf } from "../store/request.ts"
import { isOpen, type Row, writeFailure } from "../machine/row.ts"
import type { Store } from "../store/store.ts"
import type { Settings } from "../../PayoutQueueOptions.ts"
import { statusOf } from "../machine/status.ts"
import type { Cursor, Listed } from "../store/reads.ts"

const pageSize = 200

/** The rows of all pages, each as `read` gives it. */
const paged = (
  operation: string,
  page: (after: Cursor) => Effect.Effect<ReadonlyArray<Row>, SqlError>,
  read: (rows: ReadonlyArray<Row>) => Effect.Effect<ReadonlyArray<Row>, SqlError>
) =>
  Stream.paginate({ at: -1, key: "" }, (after: Cursor) =>
    mapDatabaseError(operation)(
      Effect.gen(function* () {
        const rows = yield* page(after)
        const last = rows.length < pageSize ? undefined : rows.at(-1)
        const next = Option.map(Option.fromUndefinedOr(last), ({ idempotencyKey: key, submittedAt: at }) => ({
          at,
          key
        }))
        return [yield* read(rows), next] as const
      })
    )
  )

const isUnmarked = ({ mayHaveLeftAt, state }: Row) => state === "accepted" && mayHaveLeftAt === null

/**
 * Rows as they are read: accepted ones wait for what their account waits for too. While nobody has checked the database since its server
 * started, nobody knows whether a mark of them is lost.
 */
export const asRead = Effect.fnUntraced(function* ({ accounts, due }: Store, rows: ReadonlyArray<Row>) {
  if (!rows.some(isUnmarked)) return rows
  const { account, isChecked } = yield* accounts.checked
  const held = heldOf(account, account.readAt)
  const now = yield* Clock.currentTimeMillis
  return rows.map((row): Row => {
    if (!isUnmarked(row)) return row
    const isDue = isDueBy.of({ payout: row, given: { now } })
    // One that a statement of your own inserted says nothing of its time.
    const own = due.refused.has(row.idempotencyKey) ? "Database" : row.because
    if (isChecked || !isDue) return { ...row, because: becauseHeld(isDue ? own : "NotBefore", held) ?? null }
    const error = writeFailure(makeOutcomeUnknown(row.idempotencyKey, "OtherDatabase", row.sends))
    return { ...row, state: "unknown", because: "OtherDatabase", error }
  })
})

export const makeReading = (core: Core, { account }: Settings, seal: Seal) => {
  const { store } = core

  const keyOf = (reference: string) =>
    Effect.mapError(
      Effect.fromOption(payoutKey(account, reference)),
      () => new PayoutNotFound({ reference: typeof reference === "string" ? reference : "" })
    )

  const find = (reference: string) =>
    Effect.flatMap(keyOf(reference), (key) =>
      Effect.filterOrFail(
        store.get(key),
        (row) => row !== undefined,
        () => new PayoutNotFound({ reference })
      )
    )

  return {
    /** The row of a reference. */
    find,
    status: (reference: string) =>
      find(reference).pipe(
        Effect.flatMap((row) => asRead(store, [row])),
        Effect.map(([row]) => statusOf(row as Row)), // one row reads as one
        guard("status"),
        Effect.asSome,
        Effect.catchTag("PayoutNotFound", () => Effect.succeedNone)
      ),
    payee: (reference: string) =>
      Effect.gen(function* () {
        const row = yield* find(reference)
        const opened = (column: "payee" | "reason") => {
          const text = row[column]
          return text === null ? Effect.succeed(null) : seal.open(text, placeOf(row, column))
        }
        const payee = Option.flatMap(Option.fromNullOr(yield* opened("payee")), readPayee)
        const reason = yield* opened("reason")
        if (reason === null) return payee
        return Option.some<PayoutPayee>({ ...Option.getOrUndefined(payee), reason })
      }).pipe(
        guard("payee"),
        Effect.catchTag("PayoutNotFound", () => Effect.succeedNone)
      ),
    await: (reference: string) =>
      Effect.gen(function* () {
        const change = yield* core.changeOf(yield* keyOf(reference))
        const row = yield* find(reference)
        if (isOpen(row)) yield* change.await
        return row
      }).pipe(Effect.scoped, Effect.repeat({ while: isOpen }), Effect.map(statusOf), guard("await")),
    list: (listed: Listed = {}) =>
      paged(
        "list",
        (after) => store.list(listed, after, pageSize),
        (rows) => asRead(store, rows)
      ).pipe(
        Stream.map(statusOf),
        Stream.filter(
          (status) => listed.because === undefined || ("because" in status && status.because === listed.because)
        )
      ),
    /** The entries of the table are the library's own: one that cannot be read is a defect. */
    history: (reference: string): Effect.Effect<ReadonlyArray<PayoutChange>, DatabaseError> =>
      find(reference).pipe(
        Effect.flatMap((row) =>
          store.history(row.idempotencyKey).pipe(
            Effect.flatMap((entries) => Effect.orDie(readEntries(entries))),
            Effect.map((changes) => [submittedOf(row), ...changes])
          )
        ),
        Effect.catchTag("PayoutNotFound", () => Effect.succeed([])),
        guard("history")
      )
  }
}
