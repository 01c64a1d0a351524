/**
 * The store of the webhook: rows and notes by their names. Two changes of one name never overlap.
 */
import * as Arr from "effect/Array"
import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as PubSub from "effect/PubSub"
import type * as Scope from "effect/Scope"
import { DatabaseError } from "../../durable/Database.ts"
import { followWrites, type NextWrite, type Writes } from "../../internal/soleWriter.ts"
import { type Rank, ranks, readRow } from "./row.ts"

/**
 * A row that is `Open` or `Dead`, or that waits for a first lookup by its rank; or a note, which is `Kept`: the statuses of a
 * transaction that were handed out.
 */
export interface Stored {
  readonly state: "Open" | "Dead" | "Kept" | Rank
  readonly value: string
  /** The id of the row's element in the queue. */
  readonly job?: string | undefined
}

/** The next row of a step, and the effect that commits with it. */
interface Change<A> {
  readonly answer: A
  readonly next: Stored | undefined
  readonly commit: Effect.Effect<void, DatabaseError>
}

/** Rows that are open, and those that wait for a first lookup. */
export const unfinished = ["Open", ...ranks] as const

/** Unfinished rows that wait for one reason. `oldest` is in milliseconds since 1970. */
interface Waiting {
  readonly reason: string
  readonly count: number
  readonly oldest: number
}

/** Which rows are taken for a first lookup, and for how many milliseconds no other process takes them. */
interface Take {
  readonly rank: Rank
  readonly isNewest: boolean
  readonly most: number
  readonly lease: number
}

export interface Store {
  /** Follows the writes from now on. */
  readonly followWrites: Effect.Effect<NextWrite, never, Scope.Scope>
  readonly get: (name: string) => Effect.Effect<Stored | undefined, DatabaseError>
  /** Changes a row, and runs the effect that commits with the change. */
  readonly change: <A>(name: string, step: (row: Stored | undefined) => Change<A>) => Effect.Effect<A, DatabaseError>
  /**
   * Locks a note while the user's code runs. The writes of that code on the same database commit with the note, or neither
   * does.
   */
  readonly hold: <A, E, R>(
    name: string,
    use: (note: Stored | undefined) => Effect.Effect<readonly [A, Stored | undefined], E, R>
  ) => Effect.Effect<A, E | DatabaseError, R>
  /** Takes rows that wait for a first lookup, and returns their names. They stay in their state. */
  readonly take: (take: Take) => Effect.Effect<ReadonlyArray<string>, DatabaseError>
  /** The number of rows of these states. */
  readonly count: (states: ReadonlyArray<Stored["state"]>) => Effect.Effect<number, DatabaseError>
  /**
   * The number of unfinished rows, and the age of the oldest, by the reason why they wait. A row without a reason is `due`,
   * and one that waits for a first lookup is `first`.
   */
  readonly waiting: Effect.Effect<ReadonlyArray<Waiting>, DatabaseError>
  /** The values of the dead letters, the oldest first. */
  readonly dead: Effect.Effect<ReadonlyArray<string>, DatabaseError>
  /** Calls `heal` for each open row whose element is no longer in the queue, with the id of that element. */
  readonly lost: (heal: (name: string, element: string) => Effect.Effect<void>) => Effect.Effect<void, DatabaseError>
  /** Deletes the rows of a state that did not change for this time. */
  readonly forget: (state: Stored["state"], unchanged: Duration.Duration) => Effect.Effect<void, DatabaseError>
}

/** The name of the note with the statuses of a transaction that were handed out. */
export const handedOutName = (name: string): string => `handed:${name}`

/** The largest number of notes in memory. */
const mostNotes = 10_000

/** The rows and notes of a process, and until when its locked notes are locked at most. */
export interface Memory {
  readonly rows: Map<string, Stored>
  readonly mostRows: number
  readonly notes: Map<string, Stored>
  readonly heldUntil: Map<string, number>
}

/** A row whose deliveries were answered with 200 is never deleted. `mostRows` is for rows that were not. */
export const makeMemory = (mostRows = Infinity): Memory => ({
  rows: new Map(),
  mostRows,
  notes: new Map(),
  heldUntil: new Map()
})

/** Sets a value as the newest. Of more than `most` values, the oldest is deleted. */
const set = (values: Map<string, Stored>, most: number, name: string, next: Stored | undefined) => {
  values.delete(name)
  if (next !== undefined) values.set(name, next)
  const [oldest] = values.keys()
  if (values.size > most && oldest !== undefined) values.delete(oldest)
}

/**
 * A store in memory. To lock a note that is locked fails until `lease` milliseconds are over. It does not wait, because the
 * platform may have ended the request that locked the note. `writes` is absent if another store may have the same memory.
 */
export const memoryStore = (
  { heldUntil, mostRows, notes, rows }: Memory,
  lease: number,
  writes: Writes | undefined
): Store => {
  const publishWrite = writes === undefined ? Effect.void : PubSub.publish(writes, undefined)
  const leasedUntil = new Map<string, number>()
  const of = (...states: ReadonlyArray<Stored["state"]>) =>
    [...rows.values()].filter(({ state }) => states.includes(state))
  return {
    followWrites: followWrites(writes),
    get: (name) => Effect.sync(() => rows.get(name) ?? notes.get(name)),
    change: (name, step) =>
      Effect.suspend(() => {
        const { answer, commit, next } = step(rows.get(name))
        set(rows, mostRows, name, next)
        leasedUntil.delete(name)
        return Effect.as(Effect.andThen(commit, publishWrite), answer)
      }),
    hold: Effect.fnUntraced(function* (name, use) {
      const now = yield* Clock.currentTimeMillis
      if ((heldUntil.get(name) ?? 0) > now) {
        return yield* new DatabaseError({ operation: "webhook", reason: "Busy", isRetryable: true })
      }
      heldUntil.set(name, now + lease)
      const [answer, next] = yield* Effect.ensuring(
        use(notes.get(name)),
        Effect.sync(() => heldUntil.delete(name))
      )
      set(notes, mostNotes, name, next)
      return answer
    }),
    take: Effect.fnUntraced(function* ({ isNewest, lease: millis, most, rank }) {
      const now = yield* Clock.currentTimeMillis
      const waiting = [...rows].filter(([name, { state }]) => state === rank && (leasedUntil.get(name) ?? 0) <= now)
      const names = (isNewest ? waiting.toReversed() : waiting).slice(0, most).map(([name]) => name)
      for (const name of names) leasedUntil.set(name, now + millis)
      return names
    }),
    count: (states) => Effect.sync(() => of(...states).length),
    waiting: Effect.sync(() => {
      const found = of(...unfinished).flatMap(({ value }) => readRow(value) ?? [])
      const byReason = Arr.groupBy(found, ({ rank, waits }) =>
        rank === undefined ? (waits?.reason ?? "due") : "first"
      )
      return Object.entries(byReason).map(([reason, found]) => ({
        reason,
        count: found.length,
        oldest: found.reduce((first, { since }) => Math.min(first, since), Infinity)
      }))
    }),
    dead: Effect.sync(() => of("Dead").map(({ value }) => value)),
    lost: () => Effect.void,
    forget: () => Effect.void
  }
}
