/**
 * The bound of lookups of ids that no lookup has found. Everybody whose deliveries pass the verifier can invent such ids, so
 * each process begins at most `perSecond` of these lookups in a second. A row that exceeds the bound waits in the store, by
 * its rank: first the ids that the user's own books have, then those that were never looked up, then those that a lookup did
 * not find.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import type { DatabaseError } from "../../durable/Database.ts"
import { log } from "../../internal/spans.ts"
import type { Handlers } from "./handlers.ts"
import type { Rank, Row } from "./row.ts"
import { causeType } from "./signals.ts"
import type { Store } from "./store.ts"

/** How long `isKnown` is not called after a failure, in milliseconds: until it fails, a call has a place of the workers. */
const restAfterFailure = 60_000

/** How long a request waits until its lookup may begin, in milliseconds. */
const patience = 10_000

/**
 * Which rows are looked up next, and how much of what is left of the bound they get. While forged ids arrive faster than
 * they can be looked up, the oldest rows alone would delay each new row by all forged ones before it.
 */
const order = [
  { rank: "Known", isNewest: false, share: 1 },
  { rank: "Unseen", isNewest: true, share: 1 / 2 },
  { rank: "Unseen", isNewest: false, share: 1 },
  { rank: "Missed", isNewest: false, share: 1 }
] as const

/** The times at which the latest of these lookups of a process began, in milliseconds since 1970. */
export type Starts = Array<number>

export interface FirstLookupsOptions {
  /** The webhook's name, for its log lines. */
  readonly name: string
  readonly perSecond: number
  readonly starts: Starts
  readonly store: Store
  /** Inside a request no row waits in the store. */
  readonly isInRequest: boolean
  /** Whether the user's books have the id. */
  readonly isKnown: Handlers<unknown, unknown>["isKnown"]
  /** How long another process leaves a row that this process took, in milliseconds. */
  readonly lease: number
}

export const makeFirstLookups = (options: FirstLookupsOptions) => {
  const { isInRequest, isKnown, lease, name, perSecond, starts, store } = options
  /** Open while rows may wait in the store. */
  const mayWait = Latch.makeUnsafe(true)
  /** Whether more rows wait than may be looked up. */
  let isWaiting = false
  /** The names of the rows that were taken from the store, and whose lookup has not begun. */
  const taken = new Set<string>()
  let failedAt = -Infinity

  /** How many lookups may begin. A time that lies ahead was measured before the clock was set back. */
  const free = (now: number) => {
    while (starts[0] !== undefined && Math.abs(now - starts[0]) >= 1000) starts.shift()
    return perSecond - taken.size - starts.length
  }
  const count = (now: number) => void starts.push(now)

  /** Whether the user's books have the id. If they cannot be read, the id is one of the others. */
  const isOwn = Effect.fnUntraced(function* (transactionId: string) {
    if (Math.abs((yield* Clock.currentTimeMillis) - failedAt) < restAfterFailure) return false
    return yield* Effect.catchTag(
      isKnown(transactionId),
      "HandlerFailed",
      Effect.fnUntraced(function* ({ failure }) {
        failedAt = yield* Clock.currentTimeMillis
        yield* log("Warn", "Webhook: isKnown failed, and is not called for a minute. Nothing is lost by that.", {
          "webhook.name": name,
          "error.type": causeType(failure)
        })
        return false
      })
    )
  })

  return {
    /**
     * Begins a lookup, if the bound allows it. Else it returns the rank by which the row waits. A request waits itself, for
     * some seconds; an id of the user's books does not.
     */
    begin: Effect.fnUntraced(function* (row: Row, transactionId: string): Effect.fn.Return<Rank | undefined> {
      const since = yield* Clock.currentTimeMillis
      const mayBegin = (taken.delete(row.name) || !isWaiting) && free(since) > 0
      if (mayBegin) return count(since)
      const isFirst = yield* isOwn(transactionId)
      if (!isInRequest) return isFirst ? "Known" : row.lookup === "Missed" ? "Missed" : "Unseen"
      for (let now = since; Math.abs(now - since) < patience; now = yield* Clock.currentTimeMillis) {
        if (isFirst || free(now) > 0) return count(now)
        yield* Effect.sleep("100 millis")
      }
      return "Unseen"
    }),
    /** Rows may wait in the store now. */
    look: Effect.sync(() => mayWait.openUnsafe()),
    /** A row waits in the store now. */
    waits: Effect.sync(() => {
      isWaiting = true
      mayWait.openUnsafe()
    }),
    /** Waits until rows may wait in the store, and takes those whose lookup may begin. */
    take: Effect.gen(function* (): Effect.fn.Return<ReadonlyArray<string>, DatabaseError> {
      yield* mayWait.await
      mayWait.closeUnsafe()
      const names: Array<string> = []
      let left = free(yield* Clock.currentTimeMillis)
      for (const { isNewest, rank, share } of order) {
        if (left <= 0) break
        const found = yield* store.take({ rank, isNewest, most: Math.ceil(left * share), lease })
        left -= found.length
        // Another delivery about a row ends its lease.
        names.push(...found.filter((one) => !taken.has(one)))
      }
      for (const one of names) taken.add(one)
      isWaiting = left <= 0
      if (isWaiting) mayWait.openUnsafe()
      return names
    }),
    /** The work on a taken row ended. */
    end: (rowName: string) =>
      Effect.sync(() => {
        taken.delete(rowName)
        mayWait.openUnsafe()
      })
  }
}
