/**
 * The rows whose lookup exceeds the bound (see bound.ts). They wait in the table by their rank: first the ids that the user's
 * own books have, then those that were never looked up, then those that a lookup did not find.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Latch from "effect/Latch"
import type { SqlError } from "effect/sql/SqlError"
import type { Due, DueRow } from "../../durable/Due.ts"
import type { Bound } from "./bound.ts"
import type { Rank, Row } from "./row.ts"
import type { Store } from "./table.ts"

/**
 * Which rows are looked up next, and how much of what is left of the bound they get. While forged ids arrive faster than
 * they can be looked up, the oldest rows alone would delay each new row by all forged ones before it.
 */
const order = [
  { rank: "Known", isNewest: false, share: 1 },
  { rank: "New", isNewest: true, share: 1 / 2 },
  { rank: "New", isNewest: false, share: 1 },
  { rank: "Missed", isNewest: false, share: 1 }
] as const

/** How often rows are looked for that another process left waiting, in milliseconds. */
const interval = 60_000

export const makeFirstLookups = (store: Store, bound: Bound, isDue: Latch.Latch) => {
  /** The names of the rows that were taken by their rank, and whose lookup has not begun. */
  const taken = new Set<string>()
  /** Whether rows may wait, and whether more of them wait than may be looked up. */
  let mayWait = true
  let isWaiting = false
  let foundAllAt = -Infinity
  /** Whether a row began to wait since the last rows were taken by their rank: that take may not have seen it. */
  let isRanked = false
  let isFirst = false

  const takeRanked = Effect.fnUntraced(function* (taker: string, lease: number, most: number) {
    const now = yield* Clock.currentTimeMillis
    if (!mayWait && Math.abs(now - foundAllAt) < interval) return []
    const places = Math.min(bound.free(now) - taken.size, most)
    const rows: Array<DueRow> = []
    isRanked = false
    // The places are theirs until they are counted.
    isWaiting = true
    for (const { isNewest, rank, share } of order) {
      const left = places - rows.length
      if (left <= 0) break
      rows.push(...(yield* store.takeRanked({ rank, isNewest, most: Math.ceil(left * share) }, taker, lease)))
    }
    for (const { key } of rows) taken.add(key)
    mayWait = isRanked || rows.length >= places
    isWaiting = mayWait
    if (!mayWait) foundAllAt = now
    return rows
  })

  /** Takes rows that are due and rows that wait by their rank: by turns, the ones or the others have the first places. */
  const take: Due["take"] = Effect.fnUntraced(function* (taker, lease, most): Effect.fn.Return<
    ReadonlyArray<DueRow>,
    SqlError
  > {
    isFirst = !isFirst
    const [one, other] = isFirst ? [takeRanked, store.due.take] : [store.due.take, takeRanked]
    const rows = yield* one(taker, lease, most)
    return most > rows.length ? [...rows, ...(yield* other(taker, lease, most - rows.length))] : rows
  })

  const untilNext: Due["untilNext"] = Effect.gen(function* () {
    const millis = yield* store.due.untilNext
    // The lookups of the rows that were taken begin in a moment.
    const least = taken.size > 0 ? 50 : 0
    return mayWait ? Math.min(millis, Math.max(least, bound.untilFree(yield* Clock.currentTimeMillis))) : millis
  })

  return {
    due: { ...store.due, take, untilNext },
    /** Begins a lookup, if the bound allows it. Else it returns the rank by which the row waits. */
    begin: Effect.fnUntraced(function* (
      name: string,
      row: Row,
      transactionId: string
    ): Effect.fn.Return<Rank | undefined> {
      const now = yield* Clock.currentTimeMillis
      if (taken.delete(name) || (!isWaiting && bound.free(now) > taken.size)) return bound.count(now)
      if (yield* bound.isOwn(transactionId)) return "Known"
      return row.lookup === "Missed" ? "Missed" : "New"
    }),
    /** A row waits by its rank now. */
    waits: Effect.suspend(() => {
      isRanked = true
      mayWait = true
      isWaiting = true
      return isDue.open
    }),
    /** The work on a row ended. */
    end: (name: string) => Effect.sync(() => void taken.delete(name))
  }
}
