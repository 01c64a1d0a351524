/**
 * What is done for the calls about one thing: the lookup and the handing out, the report, and what is left to do then.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import type { Payments } from "../../client/Payments.ts"
import type { DatabaseError } from "../../durable/Database.ts"
import type { HandlerName, Unconfirmed, Untrusted } from "../WebhookEvent.ts"
import { type Claim, type Entry, noTries, type Tries } from "./entry.ts"
import { exitOf, type HandlerFailed } from "./handlers.ts"
import { digest, nameOf } from "./keys.ts"
import { type Doubt, type LookOptions, makeLook, wordOf } from "./look.ts"
import type { Reading } from "./reader.ts"
import { delayOf } from "./schedules.ts"

export interface WorkOptions<P, M> extends LookOptions<P, M> {
  readonly payments: Pick<Payments["Service"], "getTransaction" | "getBalance">
  readonly read: (body: string) => Option.Option<Reading<P, M>>
  /** Absent: no schema of the user's reads a body, so none is kept. */
  readonly seal: ((body: string) => Effect.Effect<string, unknown>) | undefined
  /** When what was in vain is done again. */
  readonly schedules: Readonly<Record<keyof Tries, Schedule.Schedule<unknown>>>
}

/**
 * What came, what waits to be looked at again, and what waits though the service knows no such thing: none of them stands
 * behind another.
 */
export type Lane = "New" | "Again" | "Unfound"

/** A status in whatever vocabulary. What holds a digit or a sign may be anybody's data, and is not kept. */
const aWord = /^[\p{L} _-]{1,40}$/u

/** What is left to do when an entry was worked on. */
export interface Outcome {
  /** The claims that may yet become true, or that nobody could be told of. */
  readonly left: ReadonlyArray<Claim>
  /** Whether what the latest call claims is finished for good: another call would change nothing. */
  readonly isFinal: boolean
  /** When the rest is looked at again, and why then. */
  readonly again?:
    | {
        readonly as: keyof Tries
        readonly lane: Lane
        readonly delay: Duration.Duration
        /** Whether another call is a reason to look at once. */
        readonly mayHurry: boolean
        /** Whether this look is not counted among the tries. */
        readonly isExtra: boolean
      }
    | undefined
  /** What was given up for. */
  readonly dead?: HandlerName | undefined
}

const parseJson = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Unknown))
/** Metadata comes back as text even where an object was sent. */
const plain = (metadata: unknown): unknown => Option.getOrElse(parseJson(metadata), () => metadata)
/** What is nested so deeply that it cannot be compared is not ours. */
const isSame = (ours: unknown, theirs: unknown): boolean =>
  Result.getOrElse(
    Result.try(() => Equal.equals(plain(ours), plain(theirs))),
    () => false
  )

export const makeWork = <P, M>(options: WorkOptions<P, M>) => {
  const { handlers, schedules, seal } = options
  const look = makeLook(options)

  /** The entry of a call by itself, without a job yet. */
  const entryFor = Effect.fnUntraced(function* (body: string, { hint }: Reading<P, M>) {
    const { idempotencyKey, metadata, status, transactionId, withdrawalId } = hint
    const ofBody = `call:${digest(body)}`
    const note = yield* handlers.noted(hint, ofBody)
    // A key of ours makes it a withdrawal, whatever else the call says.
    const about = note === undefined ? hint.about : "Withdrawal"
    const isTransaction = about === "Transaction" && transactionId !== undefined
    const kept = seal === undefined ? undefined : yield* exitOf(seal, body)
    if (kept !== undefined && Exit.isFailure(kept)) return yield* Effect.die(new Error("a body could not be sealed"))
    const entry: Entry = {
      v: 1,
      name: isTransaction ? `call:${nameOf(transactionId.toLowerCase())}` : ofBody,
      about: isTransaction || about === "Withdrawal" ? about : "Unknown",
      ...(isTransaction && { transactionId }),
      ...(withdrawalId !== undefined && { withdrawalId }),
      ...(about !== "Transaction" && idempotencyKey !== undefined && { idempotencyKey }),
      ...(note?.metadata !== undefined && metadata !== undefined && { sameMetadata: isSame(note.metadata, metadata) }),
      calls: 1,
      claims: [
        {
          call: 1,
          ...(status !== undefined && aWord.test(status) && { status }),
          ...(kept !== undefined && { body: kept.value })
        }
      ],
      tries: noTries,
      mayHurry: false,
      isHurried: false
    }
    return entry
  })

  const untrustedOf = Effect.fnUntraced(function* (
    { name }: Entry,
    { body, status }: Claim
  ): Effect.fn.Return<Untrusted<P, M>, HandlerFailed> {
    const text = body === undefined ? undefined : yield* handlers.open(body, name)
    // Of what cannot be read any more, what the call hints at is known all the same.
    return Option.match(text === undefined ? Option.none() : options.read(text), {
      onNone: () => (status === undefined ? {} : { status }),
      onSome: ({ untrusted }) => untrusted
    })
  })

  const reportOf = Effect.fnUntraced(function* (
    entry: Entry,
    claim: Claim,
    doubt: Doubt | undefined
  ): Effect.fn.Return<Unconfirmed<P, M>, HandlerFailed> {
    const { about, idempotencyKey, name, sameMetadata, transactionId, withdrawalId } = entry
    const untrusted = yield* untrustedOf(entry, claim)
    if (doubt !== undefined && transactionId !== undefined) {
      const id = `${transactionId.toLowerCase()}:${doubt.finding.reason}`
      return { _tag: "UnconfirmedTransaction", id, transactionId, untrusted, ...doubt.finding }
    }
    if (about !== "Withdrawal") return { _tag: "Unrecognised", id: name, untrusted }
    const noted = yield* handlers.noted({ idempotencyKey, withdrawalId }, name)
    const evidence = { noted, sameMetadata, balance: options.payments.getBalance() }
    return { _tag: "UnconfirmedWithdrawal", id: name, withdrawalId, idempotencyKey, evidence, untrusted }
  })

  const failed = Effect.fnUntraced(function* ({ tries }: Entry, { cause, handler, id }: HandlerFailed) {
    const attempt = tries.failed + 1
    const delay = yield* delayOf(schedules.failed, attempt)
    yield* handlers.tellFailure({ handler, id, attempt, isDead: delay === undefined, cause })
    return delay === undefined
      ? { dead: handler }
      : { again: { as: "failed" as const, lane: "Again" as const, delay, mayHurry: false, isExtra: false } }
  })

  const workOn = Effect.fnUntraced(function* (entry: Entry): Effect.fn.Return<Outcome, DatabaseError> {
    const { calls, claims, transactionId, tries } = entry
    const untrusted = (status: string) => {
      const claim = claims.find((one) => wordOf(one.status) === status) ?? claims.at(-1)
      return claim === undefined ? Effect.succeed({}) : untrustedOf(entry, claim)
    }
    let left = claims
    const work = Effect.gen(function* () {
      let isFinal = true
      let again: Outcome["again"]
      const judge = transactionId === undefined ? undefined : yield* look(transactionId, untrusted)
      for (const claim of claims) {
        const doubt = judge?.(claim.status)
        const as = doubt?.as
        if (claim.call === calls) isFinal = as === undefined
        // One extra look for each regular one: a flood must neither storm a service in trouble nor use its time up.
        const isExtra = as === "outage" && entry.isHurried && tries.outage > 0
        const delay = as === undefined ? undefined : yield* delayOf(schedules[as], tries[as] + (isExtra ? 0 : 1))
        if (as !== undefined && delay !== undefined) {
          const asked = Duration.min(doubt?.retryAfter ?? Duration.zero, Duration.hours(1))
          const lane = doubt?.finding.reason === "NotFound" ? "Unfound" : "Again"
          const mayHurry = Duration.isZero(asked) && !isExtra
          again = { as, lane, delay: Duration.max(delay, asked), mayHurry, isExtra }
          continue
        }
        if (judge === undefined || doubt !== undefined) yield* handlers.report(yield* reportOf(entry, claim, doubt))
        left = left.filter((other) => other !== claim)
      }
      return { left, isFinal, again }
    })
    return yield* Effect.catchTag(work, "HandlerFailed", (failure) =>
      Effect.map(failed(entry, failure), (rest): Outcome => ({ left, isFinal: false, ...rest }))
    )
  })

  return { entryFor, workOn }
}
