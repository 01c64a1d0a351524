/**
 * Reads and changes the stored rows. Each change is a step of row.ts, and commits with the element of the queue that the
 * row waits for then.
 */
import * as Clock from "effect/Clock"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { DatabaseError } from "../../durable/Database.ts"
import type { DeadLetter } from "../WebhookEvent.ts"
import * as Rows from "./row.ts"
import type { Store } from "./store.ts"

/** An element of the queue: the row, and which element of it. No word of the delivery. */
export const Job = Schema.Struct({ v: Schema.tag(1), name: Schema.String, job: Schema.String })
export type Job = typeof Job.Type

/** A row that has a new element, which is due after so many milliseconds. */
export interface Due {
  readonly job: Job
  readonly millis: number
}

const json = Schema.fromJsonString(Rows.Row)
const encode = Schema.encodeSync(json)
const decode = Schema.decodeOption(json)

/** A row that another version wrote and that cannot be read counts as none. */
export const readRow = (value: string): Rows.Row | undefined => Option.getOrUndefined(decode(value))

const Statuses = Schema.fromJsonString(Schema.Array(Schema.String))
const decodeStatuses = Schema.decodeOption(Statuses)

/** The statuses of a transaction that were handed out, in order, by its note. */
export const readHandedOut = (note: string | undefined): ReadonlyArray<string> =>
  note === undefined ? [] : Option.getOrElse(decodeStatuses(note), () => [])

/** The note of what was handed out. */
export const writeHandedOut: (statuses: ReadonlyArray<string>) => string = Schema.encodeSync(Statuses)

/** The dead letter that a row is, if it is one. */
export const letterOf = (value: string): DeadLetter | undefined => {
  const row = readRow(value)
  if (row?.dead === undefined) return undefined
  const { about, dead, name, transactionId, tries } = row
  const { at, handler } = dead
  return { id: name, about, transactionId, handler, attempts: tries.failed, at: DateTime.makeUnsafe(at) }
}

/** `offer` puts an element into the queue. Without it none is put there: a worker finds the row within a minute. */
export const makeChanges = (store: Store, offer?: (due: Due) => Effect.Effect<void, DatabaseError>) => {
  /** Takes a step. A row that has a new element then is put into the queue with it. */
  const change = Effect.fnUntraced(function* (name: string, step: Rows.Step) {
    const moment = { now: yield* Clock.currentTimeMillis, job: SecureRandom.uuidV4Unsafe() }
    return yield* store.change(name, (stored) => {
      const before = stored && readRow(stored.value)
      const row = step(before, moment)
      const isChanged = row !== before
      const due: Due | undefined =
        row?.job === moment.job ? { job: { v: 1, name, job: moment.job }, millis: row.waits?.millis ?? 0 } : undefined
      return {
        answer: { row, due, isChanged },
        next: isChanged
          ? row && { state: row.dead ? "Dead" : "Open", value: encode(row), job: row.job, waits: row.waits?.reason }
          : stored,
        commit: (due && offer?.(due)) ?? Effect.void
      }
    })
  })
  return {
    change,
    deadLetters: Effect.map(store.dead, (values) => values.flatMap((value) => letterOf(value) ?? [])),
    /** Whether there was such a dead letter. */
    retry: (name: string) => Effect.map(change(name, Rows.revived), ({ isChanged }) => isChanged),
    discard: (name: string) => Effect.map(change(name, Rows.discarded), ({ isChanged }) => isChanged)
  }
}
