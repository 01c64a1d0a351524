/**
 * The rows in memory, for tests: they end with the process, and follow `TestClock`.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as PubSub from "effect/PubSub"
import * as Semaphore from "effect/Semaphore"
import { followWrites, makeWrites } from "../../../internal/soleWriter.ts"
import { isOpen, type Row } from "./row.ts"
import { mostPauses, pauses, type Place, type Store } from "./store.ts"

const ended = ({ state }: Row) => state !== "accepted" && state !== "unknown" && state !== "parked"

/** Whether the fiber is in a transaction. */
const IsInTransaction = Context.Reference<boolean>("effect-pix/IsInMemoryTransaction", { defaultValue: () => false })

export const make = Effect.gen(function* () {
  const writes = yield* makeWrites
  let rows = new Map<string, Row>()
  /** The entries of each key. */
  let histories = new Map<string, ReadonlyArray<string>>()
  let limits = { paused: false, nextAt: 0, day: "", spent: 0 }
  // One transaction, or one change outside of a transaction, at a time. A transaction in another one is a part of it.
  const semaphore = Semaphore.makeUnsafe(1)
  const alone = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.flatMap(IsInTransaction, (isInside) => (isInside ? effect : semaphore.withPermit(effect)))

  const change = <A>(run: () => A) => Effect.tap(alone(Effect.sync(run)), PubSub.publish(writes, undefined))
  const historyOf = (key: string) => histories.get(key) ?? []

  const page = (of: "submittedAt" | "updatedAt", after: Place, limit: number, keep: (row: Row) => boolean) =>
    Effect.sync(() =>
      [...rows.values()]
        .filter((row) => keep(row) && (row[of] > after.at || (row[of] === after.at && row.idempotencyKey > after.key)))
        .toSorted((a, b) => a[of] - b[of] || (a.idempotencyKey < b.idempotencyKey ? -1 : 1))
        .slice(0, limit)
    )

  const transaction: Store["transaction"] = (effect) =>
    alone(
      Effect.suspend(() => {
        const before = { rows: new Map(rows), histories: new Map(histories), limits }
        return Effect.onError(Effect.provideService(effect, IsInTransaction, true), () =>
          Effect.sync(() => {
            rows = before.rows
            histories = before.histories
            limits = before.limits
          })
        )
      })
    )

  const store: Store = {
    requireOwnTransaction: () => Effect.void,
    transaction,
    shortTransaction: transaction,
    followWrites: followWrites(writes),
    afterCommit: (effect) => effect,
    insert: (row) =>
      change(() => {
        if (rows.has(row.idempotencyKey)) return false
        rows.set(row.idempotencyKey, row)
        return true
      }),
    get: (key) => Effect.sync(() => rows.get(key)),
    update: (from, to, entry) =>
      change(() => {
        const key = from.idempotencyKey
        if (rows.get(key)?.version !== from.version) return false
        rows.set(key, to)
        if (entry !== undefined) histories.set(key, [...historyOf(key), entry])
        return true
      }),
    history: (key) => Effect.sync(() => historyOf(key)),
    list: (state, after, limit) =>
      page("submittedAt", after, limit, (row) => state === undefined || row.state === state),
    changed: (after, limit) => page("updatedAt", after, limit, () => true),
    open: (keys) => Effect.sync(() => keys.filter((key) => isOpen(rows.get(key) ?? { state: "failed" }))),
    // The rows and the queue are lost together.
    healInserted: () => Effect.succeed(0),
    healLost: () => Effect.succeed(0),
    counts: Effect.sync(() =>
      (["accepted", "unknown", "parked"] as const).flatMap((state) => {
        const found = [...rows.values()].filter((row) => row.state === state)
        const oldest = Math.min(...found.map(({ submittedAt }) => submittedAt))
        const amount = found.reduce((sum, row) => sum + row.amount, 0)
        return found.length === 0 ? [] : [{ state, count: found.length, oldest, amount }]
      })
    ),
    forget: (before) =>
      change(() => {
        for (const row of [...rows.values()].filter(ended)) {
          if (before.rows !== undefined && row.updatedAt < before.rows) {
            rows.delete(row.idempotencyKey)
            histories.delete(row.idempotencyKey)
          } else if (row.updatedAt < before.data) rows.set(row.idempotencyKey, { ...row, request: null })
        }
      }),
    isPaused: Effect.sync(() => limits.paused),
    setPaused: (paused, entry) =>
      change(() => {
        limits = { ...limits, paused }
        histories.set(pauses, [...historyOf(pauses), entry].slice(-mostPauses))
      }),
    turn: (now, interval) =>
      change(() => {
        const at = Math.max(limits.nextAt, now)
        limits = { ...limits, nextAt: at + interval }
        return at
      }),
    spend: (day, amount, cap) =>
      change(() => {
        const spent = (limits.day === day ? limits.spent : 0) + amount
        if (spent > cap) return false
        limits = { ...limits, day, spent }
        return true
      }),
    unspend: (day, amount) =>
      change(() => {
        if (limits.day === day) limits = { ...limits, spent: limits.spent - amount }
      })
  }
  return store
})
