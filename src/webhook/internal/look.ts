/**
 * Looks a transaction up and hands out what is true. The lookup is made while nothing is locked; then the note of what
 * was handed out is locked, and if another process changed it meanwhile, the lookup is made again. The note commits with
 * what the user's code wrote.
 */
import * as Cause from "effect/Cause"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Payments } from "../../client/Payments.ts"
import { detailWords, type DetailWord, progressOfDetail } from "../../contract/Status.ts"
import type { GetTransactionError } from "../../contract/PaymentsError.ts"
import type { DatabaseError } from "../../durable/Database.ts"
import type { Confirmed, UnconfirmedTransaction, Untrusted } from "../WebhookEvent.ts"
import { byStatus, type Handlers, HandlerFailed } from "./handlers.ts"
import { handedOf } from "./keys.ts"
import type { Room, Row } from "./room.ts"

/** What speaks against a claim, or for none yet. */
interface Finding extends Pick<
  UnconfirmedTransaction,
  "reason" | "lastStatus" | "transaction" | "expected" | "error"
> {}

/** What becomes of a claim about the transaction; `undefined`: there is nothing more to do. */
export interface Doubt {
  readonly finding: Finding
  /**
   * Why it may be otherwise later: the claim was made before the service's own books knew, or the service gives no answer.
   */
  readonly as?: "early" | "outage"
  /** How long the service asks to be left alone. */
  readonly retryAfter?: Duration.Duration | undefined
}

/** The claimed status, where it is a word of the detail's own, in whatever case. Another word says nothing to us. */
export const wordOf = (status: string | undefined): DetailWord | undefined =>
  detailWords.find((word) => word.toLowerCase() === status?.toLowerCase())

/** What a lookup of this status, which is no longer open, makes of a claim. */
const judge = (lastStatus: string, status: string | undefined): Doubt | undefined => {
  const claim = wordOf(status)
  const isLate =
    claim !== undefined && (progressOfDetail(claim) === "Open" || (claim === "Paid" && lastStatus === "Refunded"))
  if (claim === undefined || claim === lastStatus || isLate) return undefined
  const finding: Finding = { reason: "Disagrees", lastStatus }
  const mayFollow = progressOfDetail(lastStatus) !== "Final" || (lastStatus === "Paid" && claim === "Refunded")
  return mayFollow ? { finding, as: "early" } : { finding }
}

const unanswered = (error: GetTransactionError): Doubt =>
  error._tag === "TransactionNotFound"
    ? { finding: { reason: "NotFound", error }, as: "early" }
    : error._tag === "InvalidRequest"
      ? { finding: { reason: "LookupFailed", error } }
      : {
          finding: { reason: "LookupFailed", error },
          as: "outage",
          retryAfter: "retryAfter" in error ? error.retryAfter : undefined
        }

const Statuses = Schema.fromJsonString(Schema.Array(Schema.String))
const decodeStatuses = Schema.decodeOption(Statuses)
const encodeStatuses = Schema.encodeSync(Statuses)

export interface LookOptions<P, M> {
  readonly payments: Pick<Payments["Service"], "getTransaction">
  /** Tells those who wait for the transaction. */
  readonly wake: (transactionId: string) => Effect.Effect<void>
  readonly handlers: Handlers<P, M>
  readonly room: Room
  /** How long a lookup may take. */
  readonly lookupTimeout: Duration.Duration
}

/** Looks once. Answers how the claims about the transaction are to be judged, each by the status that it claims. */
export const makeLook = <P, M>({ handlers, lookupTimeout, payments, room, wake }: LookOptions<P, M>) => {
  /** What became of a status that was looked up, under the lock. */
  const handOut = (event: Confirmed<P, M>, name: string, before: Row | undefined) => {
    const { transaction } = event
    const { enStatusTransaction: lastStatus } = transaction
    let hasBegun = false
    const change = Effect.fnUntraced(function* (
      row: Row | undefined
    ): Effect.fn.Return<readonly ["Stale" | "Taken" | Doubt, Row | undefined], HandlerFailed> {
      if (row?.value !== before?.value) return ["Stale", row]
      const statuses = row === undefined ? [] : Option.getOrElse(decodeStatuses(row.value), () => [])
      if (statuses.includes(lastStatus)) return ["Taken", row]
      // Books that lag behind: whoever was told of the refund must not be told to hand over the goods.
      if (lastStatus === "Paid" && statuses.includes("Refunded")) {
        return [{ finding: { reason: "WentBack", lastStatus }, as: "early" }, row]
      }
      hasBegun = true
      const expected = yield* handlers.handOut(event)
      if (expected !== undefined)
        return [{ finding: { reason: "OtherAmount", lastStatus, transaction, expected } }, row]
      return ["Taken", { state: "Kept", value: encodeStatuses([...statuses, lastStatus]) }]
    })
    return room.modify(name, change).pipe(
      // What the user's code wrote may be what the database refuses to commit, or what it drops the connection for: to try
      // this for ever would say nothing.
      Effect.catchCause((cause): Effect.Effect<never, DatabaseError | HandlerFailed> => {
        if (!hasBegun || Cause.hasInterruptsOnly(cause)) return Effect.failCause(cause)
        const failure = Cause.findError(cause)
        return Result.isSuccess(failure) && failure.success._tag === "HandlerFailed"
          ? Effect.fail(failure.success)
          : new HandlerFailed({ handler: byStatus(lastStatus) ?? "onStatus", id: event.id, cause })
      })
    )
  }

  return Effect.fnUntraced(function* (
    transactionId: string,
    /** What the call said that claims this status, or else the latest one. */
    untrusted: (status: string) => Effect.Effect<Untrusted<P, M>, HandlerFailed>
  ): Effect.fn.Return<(status: string | undefined) => Doubt | undefined, DatabaseError | HandlerFailed> {
    const id = transactionId.toLowerCase()
    const name = handedOf(id)
    while (true) {
      const before = yield* room.get(name)
      const answer = yield* Effect.result(Effect.timeoutOption(payments.getTransaction(transactionId), lookupTimeout))
      if (Result.isFailure(answer)) return () => unanswered(answer.failure)
      if (Option.isNone(answer.success)) return () => ({ finding: { reason: "LookupFailed" }, as: "outage" })
      const transaction = answer.success.value
      const lastStatus = transaction.enStatusTransaction
      if (transaction.transactionId.toLowerCase() !== id) return () => ({ finding: { reason: "OtherTransaction" } })
      if (progressOfDetail(lastStatus) === "Open") {
        return (status) =>
          wordOf(status) === lastStatus ? undefined : { finding: { reason: "StillOpen", lastStatus }, as: "early" }
      }
      yield* wake(transactionId)
      const event: Confirmed<P, M> = {
        _tag: "Confirmed",
        id: `${id}:${lastStatus}`,
        transaction,
        untrusted: yield* untrusted(lastStatus)
      }
      const handed = yield* handOut(event, name, before)
      if (handed !== "Stale") return (status) => (handed === "Taken" ? judge(lastStatus, status) : handed)
    }
  })
}
