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
import type { Balance } from "../../contract/Balance.ts"
import type { GetBalanceError } from "../../contract/PaymentsError.ts"
import type { DatabaseError } from "../../durable/Database.ts"
import type { HandlerName, Unconfirmed, Untrusted } from "../WebhookEvent.ts"
import type { WebhookOptions } from "../WebhookOptions.ts"
import type { Claim, Entry, Tries } from "./entry.ts"
import { exitOf, type HandlerFailed } from "./handlers.ts"
import { digest, nameOf } from "./keys.ts"
import { claimOf, type LookOptions, makeLook, type Verdict } from "./look.ts"
import type { Reading } from "./reader.ts"
import { delayOf } from "./schedules.ts"

export interface WorkOptions<P, M> extends LookOptions<P, M> {
  readonly balance: Effect.Effect<Balance, GetBalanceError>
  readonly read: (body: string) => Option.Option<Reading<P, M>>
  /** Absent: no schema of the user's reads a body, so none is kept. */
  readonly seal: WebhookOptions["seal"]
  /** When what was in vain is done again. */
  readonly schedules: Readonly<Record<keyof Tries, Schedule.Schedule<unknown>>>
}

/** What is left to do for a claim. */
export type Outcome =
  /** Not final: it was given up and reported, and another call may still find it true. */
  | { readonly _tag: "Done"; readonly isFinal: boolean }
  | { readonly _tag: "Again"; readonly as: keyof Tries; readonly delay: Duration.Duration }
  | { readonly _tag: "Dead"; readonly handler: HandlerName }

const done: Outcome = { _tag: "Done", isFinal: true }

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
    const note = yield* handlers.noted(hint)
    // A key of ours makes it a withdrawal, whatever else the call says.
    const isWithdrawal = note !== undefined || hint.about === "Withdrawal"
    const isTransaction = !isWithdrawal && hint.about === "Transaction" && transactionId !== undefined
    const isComparable = note?.metadata !== undefined && metadata !== undefined
    const kept = seal === undefined ? undefined : yield* exitOf(seal.seal, body)
    if (kept !== undefined && Exit.isFailure(kept)) return yield* Effect.die(new Error("a body could not be sealed"))
    const entry: Entry = {
      v: 1,
      name: `call:${isTransaction ? nameOf(transactionId.toLowerCase()) : digest(body)}`,
      about: isWithdrawal ? "Withdrawal" : isTransaction ? "Transaction" : "Unknown",
      ...(isTransaction ? { transactionId } : {}),
      ...(withdrawalId === undefined ? {} : { withdrawalId }),
      ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
      ...(isComparable ? { sameMetadata: isSame(note.metadata, metadata) } : {}),
      calls: 1,
      claims: [
        { call: 1, ...(status === undefined ? {} : { status }), ...(kept === undefined ? {} : { body: kept.value }) }
      ],
      tries: { early: 0, outage: 0, failed: 0 },
      isEarly: false
    }
    return entry
  })

  const untrustedOf = Effect.fnUntraced(function* ({ body, status }: Claim): Effect.fn.Return<Untrusted<P, M>> {
    const text = body === undefined || seal === undefined ? undefined : yield* exitOf(seal.open, body)
    // What cannot be opened or read any more: what the call hints at is known all the same.
    const reading = text !== undefined && Exit.isSuccess(text) ? options.read(text.value) : Option.none()
    return Option.match(reading, {
      onNone: () => (status === undefined ? {} : { status }),
      onSome: ({ untrusted }) => untrusted
    })
  })

  /** A verdict on each claim; none, where there is nothing to look up. */
  const verdictsOf = Effect.fnUntraced(function* ({ about, claims, transactionId }: Entry) {
    if (about !== "Transaction" || transactionId === undefined) return claims.map(() => undefined)
    const judge = yield* look(transactionId, (status) => {
      const claim = claims.find((one) => claimOf(one.status) === status) ?? claims.at(-1)
      return claim === undefined ? Effect.succeed({}) : untrustedOf(claim)
    })
    return claims.map(({ status }) => judge(status))
  })

  const reportOf = Effect.fnUntraced(function* (
    { about, idempotencyKey, name, sameMetadata, transactionId, withdrawalId }: Entry,
    claim: Claim,
    verdict: Exclude<Verdict, { readonly _tag: "Settled" | "Failed" }> | undefined
  ): Effect.fn.Return<Unconfirmed<P, M>, HandlerFailed> {
    const untrusted = yield* untrustedOf(claim)
    if (verdict !== undefined && transactionId !== undefined) {
      const id = `${transactionId.toLowerCase()}:${verdict.finding.reason}`
      return { _tag: "UnconfirmedTransaction", id, transactionId, untrusted, ...verdict.finding }
    }
    if (about !== "Withdrawal") return { _tag: "Unrecognised", id: name, untrusted }
    const noted = yield* handlers.noted({ idempotencyKey, withdrawalId })
    const evidence = { noted, sameMetadata, balance: options.balance }
    return { _tag: "UnconfirmedWithdrawal", id: name, withdrawalId, idempotencyKey, evidence, untrusted }
  })

  const failed = Effect.fnUntraced(function* ({ tries }: Entry, { cause, handler }: HandlerFailed, id: string) {
    const attempt = tries.failed + 1
    const delay = yield* delayOf(schedules.failed, attempt)
    yield* handlers.tellFailure({ handler, id, attempt, isDead: delay === undefined, cause })
    const outcome: Outcome = delay === undefined ? { _tag: "Dead", handler } : { _tag: "Again", as: "failed", delay }
    return outcome
  })

  /** Reports what is over, and says what is left to do. */
  const finish = Effect.fnUntraced(function* (
    entry: Entry,
    claim: Claim,
    verdict: Verdict | undefined
  ): Effect.fn.Return<Outcome> {
    if (verdict?._tag === "Settled") return done
    if (verdict?._tag === "Failed") return yield* failed(entry, verdict.failed, verdict.id)
    if (verdict?._tag === "Early" || verdict?._tag === "Outage") {
      const as = verdict._tag === "Early" ? "early" : "outage"
      const delay = yield* delayOf(schedules[as], entry.tries[as] + 1)
      const atLeast = (verdict._tag === "Outage" ? verdict.retryAfter : undefined) ?? Duration.zero
      if (delay !== undefined) return { _tag: "Again", as, delay: Duration.max(delay, atLeast) }
    }
    return yield* Effect.flatMap(reportOf(entry, claim, verdict), handlers.report).pipe(
      Effect.as<Outcome>({ _tag: "Done", isFinal: verdict === undefined || verdict._tag === "Final" }),
      Effect.catchTag("HandlerFailed", (failure) => failed(entry, failure, entry.name))
    )
  })

  /** What is left to do for each claim, by its call. */
  return {
    entryFor,
    workOn: Effect.fnUntraced(function* (entry: Entry): Effect.fn.Return<ReadonlyMap<number, Outcome>, DatabaseError> {
      const verdicts = yield* verdictsOf(entry)
      const outcomes = new Map<number, Outcome>()
      let failure: Outcome | undefined
      for (const [index, claim] of entry.claims.entries()) {
        const verdict = verdicts[index]
        // One failure of the handler, however many calls speak of it.
        const again = verdict?._tag === "Failed" ? failure : undefined
        const outcome = again ?? (yield* finish(entry, claim, verdict))
        if (verdict?._tag === "Failed") failure = outcome
        outcomes.set(claim.call, outcome)
      }
      return outcomes
    })
  }
}
