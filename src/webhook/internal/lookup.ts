/**
 * Looks a transaction up, and decides whether its status is handed out, and to which handler. Both kinds of webhook use it.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { GatewayFacts } from "../../client/GatewayFacts.ts"
import type { Payments } from "../../client/Payments.ts"
import type { PaymentsClient } from "../../client/PaymentsClient.ts"
import { PaymentsPolicy } from "../../client/PaymentsPolicy.ts"
import { Caller } from "../../internal/caller.ts"
import { meaningOf, type OfCharge } from "../../contract/Status.ts"
import type { TransactionDetail } from "../../contract/Transaction.ts"
import { agrees, byFailure, byStatus, type Judge } from "./judge.ts"
import { foldedId, meaningOfStored, storedStatus } from "./row.ts"
import type { LookupSignals } from "./signals.ts"

/** The handler of a status, which is called before `onStatus`. */
export type StatusHandler = "onPaid" | "onRefunded" | "onClosed"

/** The handlers of what is listed. */
const handlers: Partial<Record<OfCharge, StatusHandler>> = {
  paid: "onPaid",
  refunded: "onRefunded",
  closed: "onClosed"
}

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

/** How much longer than the policy says a service that is not our client may take, in milliseconds: ours ends its attempt first. */
const slack = 5000

const none = GatewayFacts.make()

/** `ownPolicy`: that of the webhook's layer, for a fiber that has none. */
export const makeLookUp = (
  payments: Pick<Payments["Service"], "getTransaction">,
  { facts: { statuses }, policy: policyOfClient }: PaymentsClient["Service"],
  ownPolicy: PaymentsPolicy | undefined,
  { countUnlisted, logOutage }: LookupSignals
) => {
  /** One request, or several that end in time: what waits is looked up again by its own schedule. */
  const ask = Effect.fnUntraced(function* (transactionId: string, millis: number) {
    const notAfter = (yield* Clock.currentTimeMillis) + millis
    return yield* payments.getTransaction(transactionId).pipe(
      Effect.updateService(Caller, (caller) => ({ ...caller, notAfter })),
      // A delivery is handled in a fiber of the user's server, whose facts may be for another client.
      Effect.provideService(GatewayFacts, none),
      Effect.timeoutOption(millis + slack),
      Effect.result
    )
  })

  /** `handedOut`: the statuses that were handed out before, as they are stored. */
  return Effect.fnUntraced(function* (
    transactionId: string,
    handedOut: ReadonlyArray<string>
  ): Effect.fn.Return<Found> {
    const policy =
      Context.getOrUndefined(yield* Effect.context<never>(), PaymentsPolicy) ?? ownPolicy ?? (yield* policyOfClient)
    const millis = Duration.toMillis(policy.attemptTimeout)
    const answer = yield* Effect.provideService(ask(transactionId, millis), PaymentsPolicy, policy)
    if (Result.isFailure(answer) || Option.isNone(answer.success)) {
      const doubt = byFailure(Result.isFailure(answer) ? answer.failure : undefined)
      if (doubt.reason === "outage") yield* logOutage(doubt.finding.error, millis)
      return { judge: () => doubt }
    }
    const transaction = answer.success.value
    const lastStatus = transaction.enStatusTransaction
    if (foldedId(transaction.transactionId) !== foldedId(transactionId)) {
      return { judge: () => ({ finding: { reason: "OtherTransaction" } }) }
    }
    const meaning = meaningOf(lastStatus, "charge", statuses)
    const known = new Set(handedOut.map(meaningOfStored))
    // A charge may have two words for paid, one after the other: it is credited once.
    const handler = known.has(meaning) ? undefined : handlers[meaning]
    // The lookup shows an older status than before. After a refund was handed out, no goods may be shipped.
    if (meaning === "paid" && known.has("refunded")) {
      return { judge: () => ({ finding: { reason: "WentBack", lastStatus }, reason: "early" }) }
    }
    const judge = byStatus(lastStatus, statuses)
    const stored = storedStatus(lastStatus, meaning)
    if (meaning === "open" || handedOut.includes(stored)) return { judge }
    if (meaning === "unlisted") yield* countUnlisted(lastStatus)
    return { transaction, handler, stored, judge, agrees: (claimed) => agrees(claimed, lastStatus, statuses) }
  })
}
