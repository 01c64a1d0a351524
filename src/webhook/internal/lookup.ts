/**
 * Looks a transaction up, and decides whether its status is handed out. Both kinds of webhook use it.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type { Payments } from "../../client/Payments.ts"
import { progressOfDetail } from "../../contract/Status.ts"
import type { TransactionDetail } from "../../contract/Transaction.ts"
import { byFailure, byStatus, type Judge } from "./judge.ts"
import { storedStatus } from "./row.ts"

/** The result of a lookup: a transaction whose status is handed out, or what the claims about it are worth. */
export type Found = { readonly transaction: TransactionDetail } | { readonly judge: Judge }

/** `handedOut`: the statuses that were handed out before, as they are stored. The lookup may take so many milliseconds. */
export const lookUp = Effect.fnUntraced(function* (
  payments: Pick<Payments["Service"], "getTransaction">,
  transactionId: string,
  handedOut: ReadonlyArray<string>,
  millis: number
): Effect.fn.Return<Found> {
  const answer = yield* Effect.result(Effect.timeoutOption(payments.getTransaction(transactionId), millis))
  if (Result.isFailure(answer)) return { judge: () => byFailure(answer.failure) }
  if (Option.isNone(answer.success)) return { judge: () => byFailure() }
  const transaction = answer.success.value
  const lastStatus = transaction.enStatusTransaction
  if (transaction.transactionId.toLowerCase() !== transactionId.toLowerCase()) {
    return { judge: () => ({ finding: { reason: "OtherTransaction" } }) }
  }
  // The lookup shows an older status than before. After a refund was handed out, no goods may be shipped.
  if (lastStatus === "Paid" && handedOut.includes("Refunded")) {
    return { judge: () => ({ finding: { reason: "WentBack", lastStatus }, reason: "early" }) }
  }
  const isNews = progressOfDetail(lastStatus) !== "Open" && !handedOut.includes(storedStatus(lastStatus))
  return isNews ? { transaction } : { judge: byStatus(lastStatus) }
})
