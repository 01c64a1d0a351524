/**
 * The webhook that stores nothing: each delivery is looked up and handed out before it is answered.
 */
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import { causeType } from "../../durable/HandOut.ts"
import { inSpan } from "../../internal/spans.ts"
import { maxLookups } from "../../internal/bounds.ts"
import type { Bound } from "./firstLookups.ts"
import { eventOf, type Handlers, isEarly, reportOf } from "./handlers.ts"
import type { Doubt, Judge } from "./judge.ts"
import type { LookUp } from "./lookup.ts"
import type { Reading } from "./reader.ts"
import { checkClaim, type Claim, claimsOf, nameOf, type Subject } from "./row.ts"
import { type LookupSignals, transactionHash } from "./signals.ts"

/** For how long lookups of a transaction begin, in milliseconds: a sender waits for the answer. */
const patience = 8000

/** How a delivery ended. `Refused`: no lookup of it could begin. */
export type End = "Finished" | "NotFinished" | "Refused"

export interface EdgeOptions<M> {
  /** The webhook's name, for its signals. */
  readonly name: string
  readonly lookUp: LookUp
  readonly countUntold: LookupSignals["countUntold"]
  /** Wakes the fibers that wait for the transaction. */
  readonly wake: (transactionId: string) => Effect.Effect<void>
  readonly handlers: Handlers<M>
  readonly bound: Bound
}

/** How many more lookups of a delivery may end without news: a list may name many ids. */
interface Budget {
  left: number
}

/** A confirmation that runs. */
interface Running {
  readonly ended: Deferred.Deferred<void>
  /** What its last lookup is worth once its news was handed out, and when that lookup began. */
  found: { readonly began: number; readonly judge: Judge; readonly handedOut: ReadonlyArray<string> } | undefined
}

export const makeEdge = <M>({ bound, countUntold, handlers, lookUp, name, wake }: EdgeOptions<M>) => {
  /** The confirmations that run, by the name of their transaction: deliveries about one may be many. */
  const running = new Map<string, Running>()
  /** Counts deliveries and lookups, in the order of their begin. */
  let steps = 0

  /** Waits for the confirmation that runs, if there is one. Returns what its last lookup is worth, if that began later. */
  const join = Effect.fnUntraced(function* (name: string, arrived: number) {
    for (let other = running.get(name); other !== undefined; other = running.get(name)) {
      yield* Deferred.await(other.ended)
      if (other.found !== undefined && other.found.began > arrived) return other.found
    }
    return undefined
  })

  /** Looks the transaction up until the claim is confirmed, and hands each status out once. Returns the last doubt. */
  const confirm = Effect.fnUntraced(function* (transactionId: string, claim: Claim, budget: Budget) {
    const handedOut: Array<string> = []
    const name = nameOf(transactionId)
    const isCheck = claim.isCheck === true
    const start = yield* Clock.currentTimeMillis
    const arrived = ++steps
    const elapsed = Effect.map(Clock.currentTimeMillis, (now) => now - start)
    const own: Running = { ended: Deferred.makeUnsafe<void>(), found: undefined }
    const end = Effect.suspend(() => {
      if (running.get(name) === own) running.delete(name)
      return Deferred.succeed(own.ended, undefined)
    })

    /** One lookup of this confirmation; nothing where none may begin. */
    const lookUpOnce = Effect.fnUntraced(function* () {
      // The program itself asks for a check, and knows the id.
      if (!isCheck) {
        running.set(name, own)
        own.found = undefined
        if (budget.left <= 0) return undefined
        budget.left--
        if (!(yield* bound.waitToBegin(transactionId, patience - (yield* elapsed)))) return undefined
      }
      const began = ++steps
      const found = yield* lookUp(transactionId, handedOut)
      let judge: Judge = found.judge
      if (found.transaction !== undefined) {
        const { handler, stored, transaction } = found
        const lastStatus = transaction.enStatusTransaction
        yield* wake(transactionId)
        budget.left++
        const expected = yield* handlers.handOut(eventOf(transaction, handlers.untrustedOf(claim)), handler)
        if (expected === undefined) {
          handedOut.push(stored)
          if (isCheck) yield* countUntold(handler)
        } else judge = () => ({ finding: { reason: "OtherAmount", lastStatus, transaction, expected } })
      }
      return (own.found = { began, judge, handedOut })
    })

    const work = Effect.gen(function* () {
      let last: Doubt | "Refused" | undefined = "Refused"
      for (let wait = 1000; ; wait *= 2) {
        const joined = isCheck || running.get(name) === own ? undefined : yield* join(name, arrived)
        if (joined !== undefined) handedOut.push(...joined.handedOut)
        const found = joined ?? (yield* lookUpOnce())
        if (found === undefined) return last
        last = found.judge(claim.status)
        if (last?.reason === undefined) return last
        const millis = Math.max(wait, last.retryAfter ?? 0)
        if ((yield* elapsed) + millis >= patience) return last
        yield* Effect.sleep(millis)
      }
    })
    return yield* Effect.ensuring(work, end)
  })

  const process = Effect.fnUntraced(function* (subject: Subject, claim: Claim, budget: Budget) {
    const { transactionId } = subject
    const doubt = transactionId === undefined ? undefined : yield* confirm(transactionId, claim, budget)
    if (doubt === "Refused") return doubt
    const hint = handlers.hint(subject, claim)
    if (hint !== undefined) yield* hint
    else if (transactionId === undefined || doubt !== undefined) {
      yield* handlers.report(reportOf(subject, handlers.untrustedOf(claim), doubt))
    }
    return doubt?.reason === undefined ? "Finished" : "NotFinished"
  })

  /** Processes a delivery or a check before it is answered. */
  const inRequest = (subject: Subject, claim: Claim, budget: Budget) =>
    inSpan("Webhook.process", { kind: "internal", attributes: { "webhook.name": name } }, (span) => {
      if (subject.transactionId !== undefined) {
        span?.attribute("webhook.transaction_id_hash", transactionHash(subject.transactionId))
      }
      return process(subject, claim, budget).pipe(
        Effect.tap((end) => Effect.sync(() => span?.attribute("webhook.outcome", end))),
        Effect.tapErrorTag("HandlerFailed", ({ failure: cause, handler, id }) => {
          span?.attribute("webhook.handler", handler)
          if (isEarly({ failure: cause, handler })) return Effect.void
          span?.attribute("error.type", causeType(cause))
          return handlers.reportFailure({ handler, id, attempt: 1, isDead: false, cause })
        })
      )
    })

  return {
    /** All hints of a delivery are processed, also where one fails: the sender waits for one answer. */
    accept: Effect.fnUntraced(function* (body: string, readings: ReadonlyArray<Reading>) {
      const budget = { left: maxLookups }
      const accepted = ([subject, claim]: readonly [Subject, Claim]) => {
        const woken = subject.transactionId === undefined ? Effect.void : wake(subject.transactionId)
        return Effect.exit(Effect.andThen(woken, inRequest(subject, claim, budget)))
      }
      const exits = yield* Effect.forEach(claimsOf(body, readings), accepted, { concurrency: maxLookups })
      const ends = yield* Effect.all(exits)
      return ends.find((end) => end === "NotFinished") ?? ends.find((end) => end === "Refused") ?? "Finished"
    }),
    /** A failure of the user's code was reported. */
    check: (transactionId: string) =>
      inRequest({ name: nameOf(transactionId), about: "Transaction", transactionId }, checkClaim, { left: 1 }).pipe(
        Effect.catchTag("HandlerFailed", () => Effect.void),
        Effect.asVoid
      )
  }
}
