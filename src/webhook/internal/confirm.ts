/**
 * Looks a transaction up, and calls the handlers for the status of the lookup. The lookup is made before anything is locked.
 * Then the note of the statuses that were handed out is locked. If another process changed it meanwhile, the lookup is made
 * again. The note commits with the writes of the user's code.
 */
import * as Cause from "effect/Cause"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type { Payments } from "../../client/Payments.ts"
import { progressOfDetail } from "../../contract/Status.ts"
import type { DatabaseError } from "../../durable/Database.ts"
import type { Confirmed, Untrusted } from "../WebhookEvent.ts"
import { readHandedOut, writeHandedOut } from "./changes.ts"
import { type Handlers, HandlerFailed, handlerOf } from "./handlers.ts"
import { byFailure, byStatus, type Doubt, type Judge } from "./judge.ts"
import { nameOf } from "./row.ts"
import { handedOutName, type Store, type Stored } from "./store.ts"

/** The note of a transaction that was found, and of which nothing was handed out. */
const noneHandedOut: Stored = { state: "Kept", value: writeHandedOut([]) }

export interface ConfirmOptions<P, M> {
  readonly payments: Pick<Payments["Service"], "getTransaction">
  /** Wakes the fibers that wait for the transaction. */
  readonly wake: (transactionId: string) => Effect.Effect<void>
  readonly handlers: Handlers<P, M>
  readonly store: Store
  readonly lookupTimeout: Duration.Duration
}

/** Returns a function that looks a transaction up and returns the judge of the claims about it. */
export const makeConfirm = <P, M>({ handlers, lookupTimeout, payments, store, wake }: ConfirmOptions<P, M>) => {
  const handOut = (event: Confirmed<P, M>, name: string, before: Stored | undefined) => {
    const { transaction } = event
    const { enStatusTransaction: lastStatus } = transaction
    let hasBegun = false
    const use = Effect.fnUntraced(function* (
      note: Stored | undefined
    ): Effect.fn.Return<readonly ["Stale" | "HandedOut" | Doubt, Stored | undefined], HandlerFailed> {
      if (note?.value !== before?.value) return ["Stale", note]
      const statuses = readHandedOut(note?.value)
      // The lookup shows an older status than before. After a refund was handed out, no goods may be shipped.
      if (lastStatus === "Paid" && statuses.includes("Refunded")) {
        return [{ finding: { reason: "WentBack", lastStatus }, reason: "early" }, note]
      }
      if (statuses.includes(lastStatus)) return ["HandedOut", note]
      hasBegun = true
      const expected = yield* handlers.handOut(event)
      if (expected !== undefined) {
        return [{ finding: { reason: "OtherAmount", lastStatus, transaction, expected } }, note ?? noneHandedOut]
      }
      return ["HandedOut", { state: "Kept", value: writeHandedOut([...statuses, lastStatus]) }]
    })
    return store.hold(name, use).pipe(
      // If the database refuses to commit the writes of the user's code, or closes the connection because of them, the
      // handler failed. As a failure of the database it would be retried for ever, and never be a dead letter.
      Effect.catchCause((cause): Effect.Effect<never, DatabaseError | HandlerFailed> => {
        if (!hasBegun || Cause.hasInterruptsOnly(cause)) return Effect.failCause(cause)
        const failure = Cause.findError(cause)
        return Result.isSuccess(failure) && failure.success._tag === "HandlerFailed"
          ? Effect.fail(failure.success)
          : new HandlerFailed({ handler: handlerOf(lastStatus) ?? "onStatus", id: event.id, failure: cause })
      })
    )
  }

  return Effect.fnUntraced(function* (
    transactionId: string,
    /** The text of the delivery that claims this status, or else of the latest one. */
    untrusted: (status: string) => Effect.Effect<Untrusted<P, M>, HandlerFailed>,
    /** The note of the statuses that were handed out. */
    first: Stored | undefined
  ): Effect.fn.Return<Judge, DatabaseError | HandlerFailed> {
    const id = transactionId.toLowerCase()
    const name = handedOutName(nameOf(id))
    for (let before = first; ; before = yield* store.get(name)) {
      const answer = yield* Effect.result(Effect.timeoutOption(payments.getTransaction(transactionId), lookupTimeout))
      if (Result.isFailure(answer)) return () => byFailure(answer.failure)
      if (Option.isNone(answer.success)) return () => byFailure()
      const transaction = answer.success.value
      const lastStatus = transaction.enStatusTransaction
      if (transaction.transactionId.toLowerCase() !== id) return () => ({ finding: { reason: "OtherTransaction" } })
      if (progressOfDetail(lastStatus) === "Open") {
        if (before === undefined) yield* store.hold(name, (note) => Effect.succeed([undefined, note ?? noneHandedOut]))
        return byStatus(lastStatus)
      }
      yield* wake(transactionId)
      const event = {
        _tag: "Confirmed",
        id: `${id}:${lastStatus}`,
        transaction,
        untrusted: yield* untrusted(lastStatus)
      } as const
      const result = yield* handOut(event, name, before)
      if (result !== "Stale") return result === "HandedOut" ? byStatus(lastStatus) : () => result
    }
  })
}
