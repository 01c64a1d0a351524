/**
 * The webhook that stores nothing: each delivery is looked up and handed out before it is answered.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { causeType } from "../../durable/UserCode.ts"
import { inSpan } from "../../internal/spans.ts"
import type { Bound } from "./firstLookups.ts"
import { eventOf, type Handlers, reportOf } from "./handlers.ts"
import type { Doubt } from "./judge.ts"
import type { LookUp } from "./lookup.ts"
import type { Reading } from "./reader.ts"
import { checkClaim, type Claim, claimOf, nameOf, type Subject, subjectOf } from "./row.ts"
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

export const makeEdge = <M>({ bound, countUntold, handlers, lookUp, name, wake }: EdgeOptions<M>) => {
  /** Looks the transaction up until the claim is confirmed, and hands each status out once. Returns the last doubt. */
  const confirm = Effect.fnUntraced(function* (transactionId: string, claim: Claim) {
    const handedOut: Array<string> = []
    const start = yield* Clock.currentTimeMillis
    const elapsed = Effect.map(Clock.currentTimeMillis, (now) => now - start)
    let last: Doubt | "Refused" | undefined = "Refused"
    for (let wait = 1000; ; wait *= 2) {
      const left = patience - (yield* elapsed)
      // The program itself asks for a check, and knows the id.
      if (claim.isCheck !== true && !(yield* bound.waitToBegin(transactionId, left))) return last
      const found = yield* lookUp(transactionId, handedOut)
      if (found.transaction !== undefined) {
        const { handler, stored, transaction } = found
        const lastStatus = transaction.enStatusTransaction
        yield* wake(transactionId)
        const expected = yield* handlers.handOut(eventOf(transaction, handlers.untrustedOf(claim)), handler)
        if (expected !== undefined)
          return { finding: { reason: "OtherAmount", lastStatus, transaction, expected } } as const
        handedOut.push(stored)
        if (claim.isCheck === true) yield* countUntold(handler)
      }
      last = found.judge(claim.status)
      if (last?.reason === undefined) return last
      const millis = Math.max(wait, last.retryAfter ?? 0)
      if ((yield* elapsed) + millis >= patience) return last
      yield* Effect.sleep(millis)
    }
  })

  const process = Effect.fnUntraced(function* (subject: Subject, claim: Claim) {
    const { transactionId } = subject
    const doubt = transactionId === undefined ? undefined : yield* confirm(transactionId, claim)
    if (doubt === "Refused") return doubt
    const hint = handlers.hint(subject, claim)
    if (hint !== undefined) yield* hint
    else if (transactionId === undefined || doubt !== undefined) {
      yield* handlers.report(reportOf(subject, handlers.untrustedOf(claim), doubt))
    }
    return doubt?.reason === undefined ? "Finished" : "NotFinished"
  })

  /** Processes a delivery or a check before it is answered. */
  const inRequest = (subject: Subject, claim: Claim) =>
    inSpan("Webhook.process", { kind: "internal", attributes: { "webhook.name": name } }, (span) => {
      if (subject.transactionId !== undefined) {
        span?.attribute("webhook.transaction_id_hash", transactionHash(subject.transactionId))
      }
      return process(subject, claim).pipe(
        Effect.tap((end) => Effect.sync(() => span?.attribute("webhook.outcome", end))),
        Effect.tapErrorTag("HandlerFailed", ({ failure: cause, handler, id }) => {
          span?.attribute("webhook.handler", handler)
          span?.attribute("error.type", causeType(cause))
          return handlers.reportFailure({ handler, id, attempt: 1, isDead: false, cause })
        })
      )
    })

  const acceptOne = (body: string, reading: Reading) =>
    Effect.suspend(() => {
      const subject = subjectOf(body, reading)
      const woken = subject.transactionId === undefined ? Effect.void : wake(subject.transactionId)
      return Effect.andThen(woken, inRequest(subject, claimOf(reading)))
    })

  return {
    /** All hints of a delivery are processed, also where one fails: the sender waits for one answer. */
    accept: Effect.fnUntraced(function* (body: string, readings: ReadonlyArray<Reading>) {
      const exits = yield* Effect.forEach(readings, (reading) => Effect.exit(acceptOne(body, reading)), {
        concurrency: "unbounded"
      })
      const ends = yield* Effect.all(exits)
      return ends.find((end) => end === "NotFinished") ?? ends.find((end) => end === "Refused") ?? "Finished"
    }),
    /** A failure of the user's code was reported. */
    check: (transactionId: string) =>
      inRequest({ name: nameOf(transactionId), about: "Transaction", transactionId }, checkClaim).pipe(
        Effect.catchTag("HandlerFailed", () => Effect.void),
        Effect.asVoid
      )
  }
}
