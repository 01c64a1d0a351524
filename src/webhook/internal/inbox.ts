/**
 * The calls that were accepted: recorded first, then worked on from a queue until each is finished. All calls about one
 * transaction are one row and at most one element of the queue that counts, so that work on it keeps its order, and
 * neither a repetition nor a failure takes room from another transaction. What waits to be looked at again waits in a
 * queue of its own: what arrives does not stand behind it.
 */
import * as Clock from "effect/Clock"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Schema from "effect/Schema"
import { DatabaseError } from "../../durable/Database.ts"
import { inSpan } from "../../internal/spans.ts"
import type { DeadLetter } from "../WebhookEvent.ts"
import { type Entry, entriesOf, entryOf, noTries, rowOf, type Tries } from "./entry.ts"
import { wordOf } from "./look.ts"
import type { Reading } from "./reader.ts"
import type { Row } from "./room.ts"
import { type Lane, makeWork, type Outcome, type WorkOptions } from "./work.ts"

/** An element of the queue: the row, and which job of it. No word of the call. */
export const Job = Schema.Struct({ v: Schema.tag(1), name: Schema.String, job: Schema.String })
export type Job = typeof Job.Type

export interface InboxOptions<P, M> extends WorkOptions<P, M> {
  /**
   * Has a job done after a while. Absent: work is done inside of requests, where each call is looked up by itself and
   * counts, and no other job is waited for.
   */
  readonly offer:
    | ((lane: Lane, job: Job, delay: Duration.Duration) => Effect.Effect<unknown, DatabaseError>)
    | undefined
}

/** What was offered next. */
interface Next {
  readonly job: Job
  readonly delay: Duration.Duration
}

/** How a job ended. */
export interface Left {
  /** Whether the latest call that it saw is finished for good. */
  readonly isDone: boolean
  readonly next?: Next | undefined
}

const letterOf = ({ about, dead, name, transactionId, tries }: Entry): ReadonlyArray<DeadLetter> =>
  dead === undefined
    ? []
    : [
        {
          id: name,
          about,
          transactionId,
          handler: dead.handler,
          attempts: tries.failed,
          at: DateTime.makeUnsafe(dead.at)
        }
      ]

export const makeInbox = <P, M>(options: InboxOptions<P, M>) => {
  const { room } = options
  const isInRequest = options.offer === undefined
  const { entryFor, workOn } = makeWork(options)
  const changed = Latch.makeUnsafe()

  const offer = Effect.fnUntraced(function* (lane: Lane, name: string, delay = Duration.zero) {
    const job: Job = { v: 1, name, job: SecureRandom.uuidV4Unsafe() }
    yield* options.offer?.(lane, job, delay) ?? Effect.void
    return job
  })

  /** Records a call; the job that will see it, new if nothing is under way. */
  const accept = Effect.fnUntraced(function* (body: string, reading: Reading<P, M>) {
    const fresh = yield* entryFor(body, reading)
    const { name } = fresh
    const change = Effect.fnUntraced(function* (
      row: Row | undefined
    ): Effect.fn.Return<readonly [Job, Row], DatabaseError> {
      const entry = entryOf(row)
      const current = entry?.mayHurry === true || isInRequest ? undefined : entry?.job
      const job: Job = current === undefined ? yield* offer("New", name) : { v: 1, name, job: current }
      if (entry === undefined) return [job, rowOf({ ...fresh, job: job.job })]
      const call = entry.calls + 1
      const ours = fresh.claims.map((claim) => ({ ...claim, call }))
      const others = entry.claims.filter(({ status }) => ours.every((claim) => wordOf(claim.status) !== wordOf(status)))
      const before = entry.dead === undefined ? entry.tries : noTries
      const tries = isInRequest ? before : { ...before, early: 0 }
      return [
        job,
        rowOf({
          ...fresh,
          calls: call,
          claims: [...others, ...ours],
          tries,
          isHurried: !isInRequest && (entry.mayHurry || entry.isHurried),
          job: job.job
        })
      ]
    })
    const job = yield* room.modify(name, change)
    if (fresh.transactionId !== undefined) yield* options.wake(fresh.transactionId)
    return job
  })

  /** Writes down what is left of the entry. What came while it was worked on is looked at too. */
  const settle = Effect.fnUntraced(function* (seen: Entry, { again, dead, left }: Outcome) {
    const now = yield* Clock.currentTimeMillis
    const change = Effect.fnUntraced(function* (
      row: Row | undefined
    ): Effect.fn.Return<readonly [Next | undefined, Row | undefined], DatabaseError> {
      const entry = entryOf(row)
      if (entry === undefined || entry.job !== seen.job) return [undefined, row]
      const claims = entry.claims.filter(({ call }) => call > seen.calls || left.some((claim) => claim.call === call))
      if (claims.length === 0) return [undefined, undefined]
      const { job: _, ...rest } = { ...entry, claims }
      const isNew = entry.calls > seen.calls
      const counted = (as: keyof Tries) => ({ ...entry.tries, [as]: entry.tries[as] + 1 })
      const isMore = claims.some(
        ({ call, status }) => call > seen.calls && seen.claims.every((one) => wordOf(one.status) !== wordOf(status))
      )
      if (dead !== undefined && !isMore) {
        return [undefined, rowOf({ ...rest, tries: counted("failed"), dead: { handler: dead, at: now } })]
      }
      // Another call says nothing new of why the service or the user's code failed: only what was early is looked at now.
      if (again === undefined || (isNew && again.as === "early")) {
        const job = yield* offer("New", seen.name)
        return [{ job, delay: Duration.zero }, rowOf({ ...rest, mayHurry: false, job: job.job })]
      }
      const { as, delay, isExtra, lane, mayHurry } = again
      const job = yield* offer(lane, seen.name, delay)
      const tries = isExtra ? entry.tries : counted(as)
      return [{ job, delay }, rowOf({ ...rest, tries, mayHurry, isHurried: false, job: job.job })]
    })
    return yield* room.modify(seen.name, change)
  })

  /** Whether there was such an entry. */
  const workAgain = (name: string, state: Row["state"]) =>
    room.modify(
      name,
      Effect.fnUntraced(function* (row) {
        const entry = entryOf(row)
        if (entry === undefined || row?.state !== state) return [false, row] as const
        const { dead, ...rest } = entry
        const { job } = yield* offer("New", name)
        const tries = dead === undefined ? entry.tries : noTries
        return [true, rowOf({ ...rest, tries, mayHurry: false, isHurried: false, job })] as const
      })
    )

  const handle = ({ job, name }: Job): Effect.Effect<Left, DatabaseError> =>
    inSpan("Webhook.process", { kind: "internal", attributes: {} }, () =>
      Effect.gen(function* () {
        const row = yield* room.get(name)
        const entry = entryOf(row)
        // Another version wrote it: a process that can read it takes it.
        if (row !== undefined && entry === undefined) {
          return yield* new DatabaseError({ operation: "webhook", reason: "Unreadable", isRetryable: true })
        }
        if (entry === undefined || entry.job !== job) return { isDone: entry === undefined }
        const outcome = yield* workOn(entry)
        return { isDone: outcome.isFinal, next: yield* settle(entry, outcome) }
      })
    ).pipe(Effect.ensuring(Effect.sync(() => changed.openUnsafe())))

  return {
    accept,
    handle,
    idle: Effect.gen(function* () {
      while (true) {
        changed.closeUnsafe()
        if ((yield* room.open) === 0) return
        yield* Effect.race(changed.await, Effect.sleep("1 second"))
      }
    }),
    deadLetters: Effect.map(room.dead, (values) => entriesOf(values).flatMap(letterOf)),
    retry: (name: string) => workAgain(name, "Dead"),
    discard: (name: string) =>
      room.modify(name, (row) => {
        const isDead = row?.state === "Dead"
        return Effect.succeed([isDead, isDead ? undefined : row])
      }),
    /** Has those worked on whose element of the queue is gone, whatever took it. */
    heal: Effect.gen(function* () {
      let healed = 0
      let last: string | undefined = ""
      while (last !== undefined) {
        const names: ReadonlyArray<string> = yield* room.lost(last)
        // One that cannot be had now, or read by this version, keeps no other waiting.
        for (const name of names) if (yield* Effect.orElseSucceed(workAgain(name, "Open"), () => false)) healed++
        last = names.at(-1)
      }
      if (healed === 0) return
      yield* Effect.logWarning(`Webhook: ${healed} call(s) were not in the queue any more. They are again.`)
    })
  }
}
