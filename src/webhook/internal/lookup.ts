/**
 * Looks a transaction up, and decides whether its status is handed out, and to which handler. Both kinds of webhook use it.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type { Payments } from "../../client/Payments.ts"
import { PaymentsPolicy } from "../../client/PaymentsPolicy.ts"
import { meaningOf, progressOfDetail } from "../../contract/Status.ts"
import { isPaid, type PaidWords } from "../../contract/StatusWords.ts"
import type { TransactionDetail } from "../../contract/Transaction.ts"
import { agrees, byFailure, byStatus, type Judge } from "./judge.ts"
import { foldedId, isReturned, storedStatus } from "./row.ts"
import type { CountUnlisted } from "./signals.ts"

/** The handler of a status, which is called before `onStatus`. */
export type StatusHandler = "onPaid" | "onRefunded" | "onClosed"

/** The statuses of a charge that nobody will pay. `Expired` is not documented. */
const closed = /^(?:cancelled|failed|expired)$/i

/** Money is believed by a word that is documented or that the user lists, never by what a word sounds like. */
const handlerOf = (status: string, statuses: PaidWords): StatusHandler | undefined =>
  isPaid(status, statuses)
    ? "onPaid"
    : /^refunded$/i.test(status)
      ? "onRefunded"
      : closed.test(status)
        ? "onClosed"
        : undefined

/** A transaction whose status is handed out. */
export interface News {
  readonly transaction: TransactionDetail
  readonly handler: StatusHandler | undefined
  /** The name by which the status is stored once it was handed out. */
  readonly stored: string
  /** Whether a claim of a status says what the lookup says. */
  readonly agrees: (claimed: string | undefined) => boolean
  /** What the claims are worth once it was handed out. */
  readonly judge: Judge
}

/** The result of a lookup: news, or what the claims about the transaction are worth. */
export type Found = News | { readonly transaction?: never; readonly judge: Judge }

export type LookUp = ReturnType<typeof makeLookUp>

/** `policy`: that of the layer, for a fiber that has none. */
export const makeLookUp = (
  payments: Pick<Payments["Service"], "getTransaction">,
  policy: PaymentsPolicy,
  countUnlisted: CountUnlisted
) =>
  /** `handedOut`: the statuses that were handed out before, as they are stored. The lookup may take so many milliseconds. */
  Effect.fnUntraced(function* (
    transactionId: string,
    handedOut: ReadonlyArray<string>,
    millis: number
  ): Effect.fn.Return<Found> {
    const answer = yield* Effect.result(Effect.timeoutOption(payments.getTransaction(transactionId), millis))
    if (Result.isFailure(answer)) return { judge: () => byFailure(answer.failure) }
    if (Option.isNone(answer.success)) return { judge: () => byFailure() }
    const transaction = answer.success.value
    const lastStatus = transaction.enStatusTransaction
    if (foldedId(transaction.transactionId) !== foldedId(transactionId)) {
      return { judge: () => ({ finding: { reason: "OtherTransaction" } }) }
    }
    const { statuses } = Context.getOrUndefined(yield* Effect.context<never>(), PaymentsPolicy) ?? policy
    const handler = handlerOf(lastStatus, statuses)
    // The lookup shows an older status than before. After a refund was handed out, no goods may be shipped.
    if (handler === "onPaid" && handedOut.some(isReturned)) {
      return { judge: () => ({ finding: { reason: "WentBack", lastStatus }, reason: "early" }) }
    }
    const judge = byStatus(lastStatus, statuses)
    const stored = storedStatus(lastStatus, handler === "onPaid")
    if (progressOfDetail(lastStatus, statuses) === "Open" || handedOut.includes(stored)) return { judge }
    if (handler === undefined && meaningOf(lastStatus) === "paid") yield* countUnlisted(lastStatus)
    return { transaction, handler, stored, judge, agrees: (claimed) => agrees(claimed, lastStatus, statuses) }
  })
