/**
 * Where the webhook keeps what it must not forget: rows with a name, changed one change at a time.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as RcMap from "effect/RcMap"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import { DatabaseError } from "../../durable/Database.ts"

/** `Open`: a call that waits. `Dead`: a call that was given up. `Kept`: a note for later. */
export interface Row {
  readonly state: "Open" | "Dead" | "Kept"
  readonly value: string
  /** The element of the queue that works on it. */
  readonly job?: string | undefined
}

export interface Room {
  readonly get: (name: string) => Effect.Effect<Row | undefined, DatabaseError>
  /** Changes a row, alone with it. What `change` writes on the same database commits with the row, or neither does. */
  readonly modify: <A, E, R>(
    name: string,
    change: (row: Row | undefined) => Effect.Effect<readonly [A, Row | undefined], E, R>
  ) => Effect.Effect<A, E | DatabaseError, R>
  /** How many calls wait. */
  readonly open: Effect.Effect<number, DatabaseError>
  /** The calls that were given up. */
  readonly dead: Effect.Effect<ReadonlyArray<string>, DatabaseError>
  /** The names of calls that wait and whose element of the queue is gone, in order, from the one that follows a name. */
  readonly lost: (after: string) => Effect.Effect<ReadonlyArray<string>, DatabaseError>
  /** Forgets what was noted too long ago. */
  readonly forget: Effect.Effect<void, DatabaseError>
}

/** How many notes are kept in memory. */
const most = 100_000

/** The rows of a process, and when those that are being changed are free again at the latest. */
export interface Memory {
  readonly rows: Map<string, Row>
  readonly taken: Map<string, number>
}

export const makeMemory = (): Memory => ({ rows: new Map(), taken: new Map() })

type Locked = (name: string) => <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | DatabaseError, R>

/** One change of a row at a time in this process. */
export const waiting = Effect.map(
  RcMap.make({ lookup: () => Semaphore.make(1) }),
  (locks): Locked =>
    (name) =>
    (effect) =>
      Effect.scopedWith((scope) =>
        Effect.flatMap(Scope.provide(RcMap.get(locks, name), scope), (lock) => lock.withPermit(effect))
      )
)

/**
 * Nobody waits for a row that another request changes: that request may be one which the platform has cut, so it fails
 * instead, and a row that was left taken is free again after `lease`.
 */
const leased =
  (taken: Map<string, number>, lease: number): Locked =>
  (name) =>
  (effect) =>
    Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      if ((taken.get(name) ?? 0) > now) {
        return yield* new DatabaseError({ operation: "webhook", reason: "Busy", isRetryable: true })
      }
      taken.set(name, now + lease)
      return yield* Effect.ensuring(
        effect,
        Effect.sync(() => taken.delete(name))
      )
    })

/** In memory. With a `lease`, in milliseconds, it is for work inside of requests. */
export const roomMemory = Effect.fnUntraced(function* ({ rows, taken }: Memory = makeMemory(), lease?: number) {
  const locked = lease === undefined ? yield* waiting : leased(taken, lease)
  const set = (name: string, row: Row | undefined) => {
    rows.delete(name)
    if (row === undefined) return
    rows.set(name, row)
    if (rows.size <= most) return
    for (const [oldest, { state }] of rows) {
      if (state !== "Kept") continue
      rows.delete(oldest)
      return
    }
  }
  const of = (state: Row["state"]) => [...rows.values()].filter((row) => row.state === state).map(({ value }) => value)
  const room: Room = {
    get: (name) => locked(name)(Effect.sync(() => rows.get(name))),
    modify: (name, change) =>
      Effect.gen(function* () {
        const [answer, row] = yield* change(rows.get(name))
        set(name, row)
        return answer
      }).pipe(locked(name)),
    open: Effect.sync(() => of("Open").length),
    dead: Effect.sync(() => of("Dead")),
    lost: () => Effect.succeed([]),
    forget: Effect.void
  }
  return room
})
