/**
 * Reads and changes the stored rows. Each change is a step of row.ts, and commits with the row's new element in the queue.
 */
import * as Clock from "effect/Clock"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { invalidRequest } from "../../contract/CallChecks.ts"
import type { DatabaseError } from "../../durable/Database.ts"
import { issuesOfStep, Person, personOf, type StepOptions } from "../../durable/Step.ts"
import { log } from "../../internal/spans.ts"
import type { DeadLetter } from "../WebhookEvent.ts"
import * as Rows from "./row.ts"
import type { Store } from "./store.ts"

/** An element of the queue: the name of its row, and its own id. It has no text of the delivery. */
export const Job = Schema.Struct({ v: Schema.tag(1), name: Schema.String, job: Schema.String })
export type Job = typeof Job.Type

/** A new element of a row, and after how many milliseconds it is due. */
export interface Due {
  readonly job: Job
  readonly millis: number
}

const Statuses = Schema.fromJsonString(Schema.Array(Schema.String))
const decodeStatuses = Schema.decodeOption(Statuses)

/** The statuses in a note, in the order in which they were handed out. */
export const readHandedOut = (note: string | undefined): ReadonlyArray<string> =>
  note === undefined ? [] : Option.getOrElse(decodeStatuses(note), () => [])

/** The text of a note of these statuses. */
export const writeHandedOut: (statuses: ReadonlyArray<string>) => string = Schema.encodeSync(Statuses)

/** The steps that persons took with a dead letter. */
const Steps = Schema.fromJsonString(
  Schema.toCodecJson(
    Schema.Array(
      Schema.Struct({
        at: Schema.DateTimeUtcFromString,
        step: Schema.Literals(["Retried", "Discarded"]),
        ...Person.fields
      })
    )
  )
)
export type Steps = typeof Steps.Type
const decodeSteps = Schema.decodeOption(Steps)
const encodeSteps = Schema.encodeSync(Steps)

/** The largest number of steps that are stored for one row. */
const mostSteps = 20

/** The steps in a note, the oldest first. */
export const readSteps = (note: string | undefined): Steps =>
  note === undefined ? [] : Option.getOrElse(decodeSteps(note), () => [])

/** The name of the note of a row's steps. */
export const stepsName = (name: string): string => `steps:${name}`

/** The dead letter of a stored row; `undefined` if it is none. */
export const letterOf = (value: string): DeadLetter | undefined => {
  const row = Rows.readRow(value)
  if (row?.dead === undefined) return undefined
  const { about, dead, name, transactionId, tries } = row
  const { at, handler } = dead
  return { id: name, about, transactionId, handler, attempts: tries.failed, at: DateTime.makeUnsafe(at) }
}

/** `offer` puts an element into the queue. Without it none is put there: a worker finds the row within a minute. */
export const makeChanges = (store: Store, offer?: (due: Due) => Effect.Effect<void, DatabaseError>) => {
  /**
   * Takes a step with a row. A new element of the row is put into the queue. `also` commits with the change, and does not
   * run if the step changed nothing.
   */
  const change = Effect.fnUntraced(function* (
    name: string,
    step: Rows.Step,
    also: Effect.Effect<void, DatabaseError> = Effect.void
  ) {
    const moment = { now: yield* Clock.currentTimeMillis, job: SecureRandom.uuidV4Unsafe() }
    return yield* store.change(name, (stored) => {
      const before = stored && Rows.readRow(stored.value)
      const row = step(before, moment)
      const isChanged = row !== before
      const due: Due | undefined =
        row?.job === moment.job ? { job: { v: 1, name, job: moment.job }, millis: row.waits?.millis ?? 0 } : undefined
      return {
        answer: { row, due, isChanged },
        next: isChanged
          ? row && { state: row.dead ? "Dead" : (row.rank ?? "Open"), value: Rows.writeRow(row), job: row.job }
          : stored,
        commit: Effect.andThen((due && offer?.(due)) ?? Effect.void, isChanged ? also : Effect.void)
      }
    })
  })
  /** Takes a person's step with a dead letter. Returns whether there was such a letter. */
  const takeStep = (step: Steps[number]["step"], made: Rows.Step) =>
    Effect.fnUntraced(function* (name: string, options: StepOptions = {}) {
      const issues = issuesOfStep(options)
      if (issues.length > 0) {
        return yield* invalidRequest("getTransaction", issues)
      }
      const entry = { at: yield* DateTime.now, step, ...personOf(options) }
      const note = store.change(stepsName(name), (stored) => ({
        answer: undefined,
        next: { state: "Kept", value: encodeSteps([...readSteps(stored?.value), entry].slice(-mostSteps)) },
        commit: Effect.void
      }))
      const { isChanged } = yield* change(name, made, note)
      if (isChanged) yield* log("Info", `Webhook: a dead letter was taken care of (${step})`, { "webhook.id": name })
      return isChanged
    })
  return {
    change,
    deadLetters: Effect.map(store.dead, (values) => values.flatMap((value) => letterOf(value) ?? [])),
    retry: takeStep("Retried", Rows.revived),
    discard: takeStep("Discarded", Rows.discarded)
  }
}
