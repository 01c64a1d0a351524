/**
 * The bound of first lookups: of ids that no lookup has found. Everybody whose deliveries pass the verifier can invent such ids, so
 * each process begins at most `perSecond` of these lookups in a second, and ten times as many of ids that the user's books have: a
 * payer knows the id of an own charge. What exceeds the bound waits: a row in the table, and a delivery that is not recorded in its
 * request.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Latch from "effect/Latch"
import type { SqlError } from "effect/sql/SqlError"
import type { Due } from "../../durable/Due.ts"
import { log } from "../../internal/spans.ts"
import type { Handlers } from "./handlers.ts"
import { causeType } from "../../durable/HandOut.ts"
import type { Store, Taken } from "./table.ts"

/** How long `isKnown` is not called after a failure, in milliseconds: until it fails, a call has a place of the workers. */
const restAfterFailure = 60_000

/** How often rows are looked for that another process left waiting, in milliseconds. */
const interval = 60_000

/** How many times more lookups may begin of ids that the user's books have. */
const raise = 10

/** The times at which the latest of these lookups of a process began, in milliseconds since 1970. */
export interface Starts {
  readonly any: Array<number>
  /** Of ids of the user's books, which the bound had no place for. */
  readonly known: Array<number>
}

export interface BoundOptions {
  /** The webhook's name, for its log lines. */
  readonly name: string
  readonly perSecond: number
  readonly starts: Starts
  /** Whether the user's books have the id. */
  readonly isKnown: Handlers<unknown>["isKnown"]
  /** Is told of each lookup that the bound lets wait. */
  readonly held: Effect.Effect<void>
}

export type Bound = ReturnType<typeof makeBound>

/** A window of one second, in which at most so many lookups begin. */
const makeWindow = (starts: Array<number>, most: number) => {
  /** How many lookups may begin. A time that lies ahead was measured before the clock was set back. */
  const free = (now: number) => {
    while (starts[0] !== undefined && Math.abs(now - starts[0]) >= 1000) starts.shift()
    return most - starts.length
  }
  return {
    /** In how many milliseconds a lookup may begin. */
    untilFree: Effect.map(Clock.currentTimeMillis, (now) => (free(now) > 0 ? 0 : (starts[0] ?? now) + 1000 - now)),
    /** Begins as many of so many lookups as the bound allows now. */
    begin: (wanted: number) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        const begun = Math.max(0, Math.min(free(now), wanted))
        for (let count = begun; count > 0; count--) starts.push(now)
        return begun
      }),
    /** Gives places back whose lookups do not begin. */
    giveBack: (count: number) => Effect.sync(() => void starts.splice(starts.length - count, count))
  }
}

export const makeBound = ({ held, isKnown, name, perSecond, starts }: BoundOptions) => {
  let failedAt = -Infinity
  const any = makeWindow(starts.any, perSecond)
  const known = makeWindow(starts.known, perSecond * raise)

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

  /** Whether a lookup may begin now: an id of the user's books does not wait for the others. */
  const mayBegin = Effect.fnUntraced(function* (transactionId: string) {
    if ((yield* any.begin(1)) === 1) return true
    if ((yield* isOwn(transactionId)) && (yield* known.begin(1)) === 1) return true
    yield* held
    return false
  })

  return {
    ...any,
    mayBegin,
    /** Waits until a lookup may begin, at most for so many milliseconds. Returns whether it may. */
    waitToBegin: Effect.fnUntraced(function* (transactionId: string, patience: number) {
      const start = yield* Clock.currentTimeMillis
      if (yield* mayBegin(transactionId)) return true
      for (let now = start; Math.abs(now - start) < patience; now = yield* Clock.currentTimeMillis) {
        if ((yield* any.begin(1)) === 1) return true
        yield* Effect.sleep(Math.min(yield* any.untilFree, patience))
      }
      return false
    })
  }
}

export type FirstLookups = ReturnType<typeof makeFirstLookups>

/** The rows of a store that wait for the bound. */
export const makeFirstLookups = (store: Store, bound: Bound, isDue: Latch.Latch) => {
  /** The names of the rows that were taken for the lookup that the bound allowed. */
  const begun = new Set<string>()
  /** Whether rows may wait, and when that was asked last. */
  let mayWait = true
  let askedAt = -Infinity

  const takeFirst = Effect.fnUntraced(function* (taker: string, lease: number, most: number) {
    const now = yield* Clock.currentTimeMillis
    if (!mayWait && Math.abs(now - askedAt) < interval) return []
    const places = yield* bound.begin(most)
    if (places === 0) return []
    askedAt = now
    // A row that begins to wait from now on may be missed by the statement, and sets it again.
    mayWait = false
    const rows = yield* Effect.onError(store.takeFirst(taker, lease, places), () =>
      Effect.andThen(
        Effect.sync(() => void (mayWait = true)),
        bound.giveBack(places)
      )
    )
    for (const { key } of rows) begun.add(key)
    if (rows.length === places) mayWait = true
    yield* bound.giveBack(places - rows.length)
    return rows
  })

  /** Takes the oldest rows that wait for the bound, which are few in a second, and then rows that are due. */
  const take: Due<Taken>["take"] = Effect.fnUntraced(function* (taker, lease, most): Effect.fn.Return<
    ReadonlyArray<Taken>,
    SqlError
  > {
    const rows = yield* takeFirst(taker, lease, most)
    return most > rows.length ? [...rows, ...(yield* store.due.take(taker, lease, most - rows.length))] : rows
  })

  return {
    due: {
      ...store.due,
      take,
      untilNext: Effect.gen(function* () {
        const millis = yield* store.due.untilNext
        return mayWait ? Math.min(millis, yield* bound.untilFree) : millis
      })
    },
    /** Whether the lookup of a row that was taken may begin now. */
    mayBegin: (name: string, transactionId: string) =>
      Effect.suspend(() => (begun.delete(name) ? Effect.succeed(true) : bound.mayBegin(transactionId))),
    /** A row waits for the bound now. */
    waits: Effect.suspend(() => {
      mayWait = true
      return isDue.open
    }),
    /** The work on a row ended. */
    end: (name: string) => Effect.sync(() => void begun.delete(name))
  }
}
