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
import type { Centavos } from "../../pix/Money.ts"
import type { Confirmed, UnconfirmedTransaction, Untrusted } from "../WebhookEvent.ts"
import { byStatus, type Handlers, HandlerFailed } from "./handlers.ts"
import { handedOf } from "./keys.ts"
import type { Room, Row } from "./room.ts"

type Finding = Pick<UnconfirmedTransaction, "reason" | "lastStatus" | "transaction" | "expected" | "error">

/** What becomes of one claim about the transaction. */
export type Verdict =
  /** There is nothing more to do. */
  | { readonly _tag: "Settled" }
  /** It may have been made before the service's own books knew. */
  | { readonly _tag: "Early"; readonly finding: Finding }
  /** The service gives no answer. */
  | { readonly _tag: "Outage"; readonly finding: Finding; readonly retryAfter: Duration.Duration | undefined }
  /** It is not so. */
  | { readonly _tag: "Final"; readonly finding: Finding }
  /** The user's code did not take the event. */
  | { readonly _tag: "Failed"; readonly failed: HandlerFailed; readonly id: string }

const settled: Verdict = { _tag: "Settled" }

/** The claimed status, where it is a word of the detail's own, in whatever case. Another word says nothing to us. */
export const claimOf = (status: string | undefined): DetailWord | undefined =>
  detailWords.find((word) => word.toLowerCase() === status?.toLowerCase())

/** What a lookup of this status, which is no longer open, makes of a claim. */
const judge = (lastStatus: string, status: string | undefined): Verdict => {
  const claim = claimOf(status)
  const isLate =
    claim !== undefined && (progressOfDetail(claim) === "Open" || (claim === "Paid" && lastStatus === "Refunded"))
  if (claim === undefined || claim === lastStatus || isLate) return settled
  const mayFollow = progressOfDetail(lastStatus) !== "Final" || (lastStatus === "Paid" && claim === "Refunded")
  return { _tag: mayFollow ? "Early" : "Final", finding: { reason: "Disagrees", lastStatus } }
}

const unanswered = (error: GetTransactionError): Verdict => {
  const retryAfter = "retryAfter" in error ? error.retryAfter : undefined
  switch (error._tag) {
    case "TransactionNotFound":
      return { _tag: "Early", finding: { reason: "NotFound", error } }
    case "InvalidRequest":
      return { _tag: "Final", finding: { reason: "LookupFailed", error } }
    default:
      return { _tag: "Outage", finding: { reason: "LookupFailed", error }, retryAfter }
  }
}

const always = (verdict: Verdict) => () => verdict

/** What became of a status that was looked up, under the lock. */
type Handed =
  | { readonly _tag: "Taken" | "Stale" | "WentBack" }
  | { readonly _tag: "OtherAmount"; readonly expected: Centavos }

const Statuses = Schema.fromJsonString(Schema.Array(Schema.String))
const decodeStatuses = Schema.decodeOption(Statuses)
const encodeStatuses = Schema.encodeSync(Statuses)

export interface LookOptions<P, M> {
  readonly getTransaction: Payments["Service"]["getTransaction"]
  /** Tells those who wait for the transaction. */
  readonly wake: (transactionId: string) => Effect.Effect<void>
  readonly handlers: Handlers<P, M>
  readonly room: Room
}

/** Looks once. Answers how the claims about the transaction are to be judged, each by the status that it claims. */
export const makeLook = <P, M>({ getTransaction, handlers, room, wake }: LookOptions<P, M>) => {
  const handOut = (event: Confirmed<P, M>, name: string, before: string | undefined) => {
    const { enStatusTransaction: status } = event.transaction
    const change = Effect.fnUntraced(function* (
      row: Row | undefined
    ): Effect.fn.Return<readonly [Handed, Row | undefined], HandlerFailed> {
      if (row?.value !== before) return [{ _tag: "Stale" }, row]
      const statuses = row === undefined ? [] : Option.getOrElse(decodeStatuses(row.value), () => [])
      if (statuses.includes(status)) return [{ _tag: "Taken" }, row]
      // Books that lag behind: whoever was told of the refund must not be told to hand over the goods.
      if (status === "Paid" && statuses.includes("Refunded")) return [{ _tag: "WentBack" }, row]
      const expected = yield* handlers.handOut(event)
      if (expected !== undefined) return [{ _tag: "OtherAmount", expected }, row]
      return [{ _tag: "Taken" }, { state: "Kept", value: encodeStatuses([...statuses, status]) }]
    })
    return room.modify(name, change).pipe(
      // What the user's code wrote may be what the database refuses to commit: to try this for ever would say nothing.
      Effect.catchTag("DatabaseError", (error) =>
        Effect.fail(new HandlerFailed({ handler: byStatus(status) ?? "onStatus", cause: Cause.fail(error) }))
      )
    )
  }

  return Effect.fnUntraced(function* (
    transactionId: string,
    /** What the call said that claims this status, or else the latest one. */
    untrusted: (status: string) => Effect.Effect<Untrusted<P, M>>
  ): Effect.fn.Return<(status: string | undefined) => Verdict, DatabaseError> {
    const id = transactionId.toLowerCase()
    const name = handedOf(id)
    while (true) {
      const before = yield* room.get(name)
      const result = yield* Effect.result(getTransaction(transactionId))
      if (Result.isFailure(result)) return always(unanswered(result.failure))
      const transaction = result.success
      const lastStatus = transaction.enStatusTransaction
      if (transaction.transactionId.toLowerCase() !== id) {
        return always({ _tag: "Final", finding: { reason: "OtherTransaction" } })
      }
      if (progressOfDetail(lastStatus) === "Open") {
        return (status) =>
          claimOf(status) === lastStatus ? settled : { _tag: "Early", finding: { reason: "StillOpen", lastStatus } }
      }
      yield* wake(transactionId)
      const event: Confirmed<P, M> = {
        _tag: "Confirmed",
        id: `${id}:${lastStatus}`,
        transaction,
        untrusted: yield* untrusted(lastStatus)
      }
      const handed = yield* Effect.result(handOut(event, name, before?.value))
      if (Result.isFailure(handed)) return always({ _tag: "Failed", failed: handed.failure, id: event.id })
      switch (handed.success._tag) {
        case "Stale":
          continue
        case "Taken":
          return (status) => judge(lastStatus, status)
        case "WentBack":
          return always({ _tag: "Early", finding: { reason: "WentBack", lastStatus } })
        case "OtherAmount": {
          const { expected } = handed.success
          return always({ _tag: "Final", finding: { reason: "OtherAmount", lastStatus, transaction, expected } })
        }
      }
    }
  })
}
