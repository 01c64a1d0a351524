/**
 * Stores what the webhook must not forget: rows and notes by their names. Two changes of one name never overlap.
 */
import * as Arr from "effect/Array"
import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as PubSub from "effect/PubSub"
import type * as Scope from "effect/Scope"
import { DatabaseError } from "../../durable/Database.ts"
import { followWrites, type NextWrite, type Writes } from "../../internal/soleWriter.ts"
import { readRow } from "./row.ts"

/** A row that is `Open` or `Dead`, or, as `Kept`, the note of what was handed out of a transaction. */
export interface Stored {
  readonly state: "Open" | "Dead" | "Kept"
  readonly value: string
  /** The element of the queue that works on it. */
  readonly job?: string | undefined
}

/** What a step makes of a row, and what commits with it. */
interface Change<A> {
  readonly answer: A
  readonly next: Stored | undefined
  readonly commit: Effect.Effect<void, DatabaseError>
}

/** Open rows that wait for one reason. `oldest` is in milliseconds since 1970. */
interface Waiting {
  readonly reason: string
  readonly count: number
  readonly oldest: number
}

export interface Store {
  /** Follows what is written from now on. */
  readonly followWrites: Effect.Effect<NextWrite, never, Scope.Scope>
  readonly get: (name: string) => Effect.Effect<Stored | undefined, DatabaseError>
  /** Changes a row, and does what commits with the change. */
  readonly change: <A>(name: string, step: (row: Stored | undefined) => Change<A>) => Effect.Effect<A, DatabaseError>
  /**
   * Locks a note while the user's code runs. What that writes on the same database commits with the note, or neither
   * does.
   */
  readonly hold: <A, E, R>(
    name: string,
    use: (note: Stored | undefined) => Effect.Effect<readonly [A, Stored | undefined], E, R>
  ) => Effect.Effect<A, E | DatabaseError, R>
  /** How many rows there are of a state. */
  readonly count: (state: Stored["state"]) => Effect.Effect<number, DatabaseError>
  /** How many open rows there are, and since when the oldest is, by why they wait: a reason of the row, or `due`. */
  readonly waiting: Effect.Effect<ReadonlyArray<Waiting>, DatabaseError>
  /** The values of what was given up, the oldest first. */
  readonly dead: Effect.Effect<ReadonlyArray<string>, DatabaseError>
  /** Gives each open row whose element is not in the queue any more to `heal`, with that element. */
  readonly lost: (heal: (name: string, element: string) => Effect.Effect<void>) => Effect.Effect<void, DatabaseError>
  /** Deletes the rows of a state that did not change for so long. */
  readonly forget: (state: Stored["state"], unchanged: Duration.Duration) => Effect.Effect<void, DatabaseError>
}

/** The name of the note of what was handed out of a transaction. */
export const handedOutName = (name: string): string => `handed:${name}`

/** How many notes are stored in memory. */
const most = 10_000

/** The rows and notes of a process, and until when those notes are held at most that are held. */
export interface Memory {
  readonly rows: Map<string, Stored>
  readonly mostRows: number
  readonly notes: Map<string, Stored>
  readonly heldUntil: Map<string, number>
}

/** Rows that were answered with 200 are never forgotten; `mostRows` is for those that were not. */
export const makeMemory = (mostRows = Infinity): Memory => ({
  rows: new Map(),
  mostRows,
  notes: new Map(),
  heldUntil: new Map()
})

/** Sets a value as the newest, and forgets the oldest of more than `most`. */
const set = (values: Map<string, Stored>, most: number, name: string, next: Stored | undefined) => {
  values.delete(name)
  if (next !== undefined) values.set(name, next)
  const [oldest] = values.keys()
  if (values.size > most && oldest !== undefined) values.delete(oldest)
}

/**
 * In memory. Nobody waits for a note that is held, since the platform may have ended the request that holds it: to hold it
 * fails, until `lease` milliseconds are over. `writes` is absent where another store may have the same memory.
 */
export const memoryStore = (
  { heldUntil, mostRows, notes, rows }: Memory,
  lease: number,
  writes: Writes | undefined
): Store => {
  const publishWrite = writes === undefined ? Effect.void : PubSub.publish(writes, undefined)
  const of = (state: Stored["state"]) => [...rows.values()].filter((row) => row.state === state)
  return {
    followWrites: followWrites(writes),
    get: (name) => Effect.sync(() => rows.get(name) ?? notes.get(name)),
    change: (name, step) =>
      Effect.suspend(() => {
        const { answer, commit, next } = step(rows.get(name))
        set(rows, mostRows, name, next)
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
      set(notes, most, name, next)
      return answer
    }),
    count: (state) => Effect.sync(() => of(state).length),
    waiting: Effect.sync(() => {
      const open = of("Open").flatMap(({ value }) => readRow(value) ?? [])
      const byReason = Arr.groupBy(open, ({ waits }) => waits?.reason ?? "due")
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
