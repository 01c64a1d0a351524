/**
 * Confirms a hint about a transaction by looking it up, and hands out what is true. One hint at a time for each
 * transaction, so that its events keep their order and none is handed out twice.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import type * as Semaphore from "effect/Semaphore"
import type { Payments } from "../../client/Payments.ts"
import { detailWords, type DetailWord, progressOfDetail } from "../../contract/Status.ts"
import type { TransactionDetail } from "../../contract/Transaction.ts"
import type { Confirmed, Unconfirmed, UnconfirmedTransaction, Untrusted } from "../WebhookEvent.ts"
import type { WebhookStore } from "../WebhookStore.ts"
import { digest, makeLocks } from "./keys.ts"

export interface ConfirmOptions<P, M> {
  readonly getTransaction: Payments["Service"]["getTransaction"]
  /** Tells those who wait for the transaction. */
  readonly wake: (transactionId: string) => Effect.Effect<void>
  readonly store: WebhookStore["Service"]
  readonly permits: Semaphore.Semaphore
  /** The user's code; whether it succeeded. */
  readonly onConfirmed: (event: Confirmed<P, M>) => Effect.Effect<boolean>
  readonly onUnconfirmed: (report: Unconfirmed<P, M>) => Effect.Effect<boolean>
  readonly confirm: Schedule.Schedule<unknown>
  readonly retryLookup: Schedule.Schedule<unknown>
  readonly retry: Schedule.Schedule<unknown>
  /** Much is in work: what the service does not know is not waited for. */
  readonly crowded: () => boolean
}

type Report<P, M> = UnconfirmedTransaction<P, M>

type Verdict<P, M> =
  /** There is nothing more to do. */
  | { readonly _tag: "Settled" }
  /** The user's code never took it: it stays recorded. */
  | { readonly _tag: "Left" }
  /** The call may have been sent before the service's own books were. */
  | { readonly _tag: "Early"; readonly report: Report<P, M> }
  /** The service gives no answer. */
  | { readonly _tag: "Outage"; readonly report: Report<P, M>; readonly retryAfter: Duration.Duration | undefined }
  | { readonly _tag: "Final"; readonly report: Report<P, M> }

const settled = { _tag: "Settled" } as const

/** Sleeps as the schedule says, at least `atLeast`; answers whether it said anything. */
const makePauses = (schedule: Schedule.Schedule<unknown>) =>
  Effect.map(Schedule.toStep(schedule), (step) =>
    Effect.fnUntraced(function* (atLeast: Duration.Duration = Duration.zero) {
      const next = yield* Effect.option(step(yield* Clock.currentTimeMillis, undefined))
      if (Option.isNone(next)) return false
      yield* Effect.sleep(Duration.max(next.value[1], atLeast))
      return true
    })
  )

/** Growing waits of at least `first` and at most `most`, jittered, for ever. */
export const backoff = (first: Duration.Input, most: Duration.Input): Schedule.Schedule<unknown> =>
  Schedule.exponential(first).pipe(
    Schedule.modifyDelay(({ duration }) => Effect.succeed(Duration.min(duration, Duration.fromInputUnsafe(most)))),
    Schedule.jittered
  )

/** Does not give up: what was accepted must be finished. */
export const persistently = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A> =>
  Effect.tapError(effect, () => Effect.logWarning("Webhook: the store failed, trying again")).pipe(
    Effect.retry(backoff("1 second", "1 minute")),
    Effect.orDie
  )

const Handed = Schema.fromJsonString(Schema.Array(Schema.String))
const decodeHanded = Schema.decodeOption(Handed)
const encodeHanded = Schema.encodeSync(Handed)

/** The claimed status, where it is a word of the detail's own, in whatever case. Another word says nothing to us. */
export const claimOf = (status: string | undefined): DetailWord | undefined =>
  detailWords.find((word) => word.toLowerCase() === status?.toLowerCase())

/** Whether a claim is of an earlier status than the one looked up: late news. */
const isLate = (status: string, claim: DetailWord): boolean =>
  progressOfDetail(claim) === "Open" || (claim === "Paid" && status === "Refunded")

/** Whether a claim may be ahead of what the lookup says, rather than wrong. */
const mayFollow = (status: string, claim: DetailWord): boolean =>
  progressOfDetail(status) !== "Final" || (status === "Paid" && claim === "Refunded")

export const makeConfirm = <P, M>(options: ConfirmOptions<P, M>) => {
  const { permits, store } = options
  const locked = makeLocks()

  /** Runs the user's code until it succeeds; `false` when its schedule has come to its end. */
  const deliver = Effect.fnUntraced(function* (what: string, run: Effect.Effect<boolean>) {
    const pause = yield* makePauses(options.retry)
    while (true) {
      if (yield* permits.withPermit(run)) return true
      // The failure is the user's own, and may hold anything: it is not logged.
      yield* Effect.logWarning(`Webhook: ${what} failed`)
      if (!(yield* pause())) return false
    }
  })

  const report = (unconfirmed: Unconfirmed<P, M>) => deliver("onUnconfirmed", options.onUnconfirmed(unconfirmed))

  /** Hands the status out, if it was not; `NotTaken` when the user's code failed for good. */
  const handOut = Effect.fnUntraced(function* (transaction: TransactionDetail, untrusted: Untrusted<P, M>) {
    const status = transaction.enStatusTransaction
    const id = transaction.transactionId.toLowerCase()
    const key = `handed:${digest(id)}`
    const stored = yield* persistently(store.get(key))
    const handed = stored === undefined ? [] : Option.getOrElse(decodeHanded(stored), () => [])
    if (handed.includes(status)) return "Taken"
    // Books that lag behind: whoever was told of the refund must not be told to hand over the goods.
    if (status === "Paid" && handed.includes("Refunded")) return "WentBack"
    const event: Confirmed<P, M> = { _tag: "Confirmed", id: `${id}:${status}`, transaction, untrusted }
    if (!(yield* deliver("onConfirmed", options.onConfirmed(event)))) return "NotTaken"
    yield* persistently(store.set(key, encodeHanded([...handed, status])))
    return "Taken"
  })

  const look = Effect.fnUntraced(function* (
    transactionId: string,
    untrusted: Untrusted<P, M>
  ): Effect.fn.Return<Verdict<P, M>> {
    const base = { _tag: "UnconfirmedTransaction", transactionId, untrusted } as const
    const result = yield* permits.withPermit(Effect.result(options.getTransaction(transactionId)))
    if (Result.isFailure(result)) {
      const error = result.failure
      switch (error._tag) {
        case "TransactionNotFound":
          return { _tag: "Early", report: { ...base, reason: "NotFound", error } }
        case "InvalidRequest":
          return { _tag: "Final", report: { ...base, reason: "LookupFailed", error } }
        default: {
          const retryAfter = "retryAfter" in error ? error.retryAfter : undefined
          return { _tag: "Outage", report: { ...base, reason: "LookupFailed", error }, retryAfter }
        }
      }
    }
    const detail = result.success
    const lastStatus = detail.enStatusTransaction
    const claim = claimOf(untrusted.status)
    const seen = { ...base, lastStatus }
    if (detail.transactionId.toLowerCase() !== transactionId.toLowerCase()) {
      return { _tag: "Final", report: { ...base, reason: "OtherTransaction" } }
    }
    if (progressOfDetail(lastStatus) === "Open") {
      return claim === lastStatus ? settled : { _tag: "Early", report: { ...seen, reason: "StillOpen" } }
    }
    yield* options.wake(transactionId)
    const handed = yield* handOut(detail, untrusted)
    if (handed === "NotTaken") return { _tag: "Left" }
    if (handed === "WentBack") return { _tag: "Early", report: { ...seen, reason: "WentBack" } }
    if (claim === undefined || claim === lastStatus || isLate(lastStatus, claim)) return settled
    return { _tag: mayFollow(lastStatus, claim) ? "Early" : "Final", report: { ...seen, reason: "Disagrees" } }
  })

  /** Whether the hint is finished: it was handed out, or was nothing new. Or what is to be reported of it. */
  const confirm = Effect.fnUntraced(function* (
    transactionId: string,
    untrusted: Untrusted<P, M>
  ): Effect.fn.Return<boolean | UnconfirmedTransaction<P, M>> {
    const early = yield* makePauses(options.confirm)
    const outage = yield* makePauses(options.retryLookup)
    while (true) {
      const verdict = yield* locked(transactionId.toLowerCase(), look(transactionId, untrusted))
      switch (verdict._tag) {
        case "Settled":
          return true
        case "Left":
          return false
        case "Early":
          if ((verdict.report.reason === "NotFound" && options.crowded()) || !(yield* early())) {
            return verdict.report
          }
          break
        case "Outage":
          if (!(yield* outage(verdict.retryAfter))) return verdict.report
          break
        case "Final":
          return verdict.report
      }
    }
  })

  return { confirm, report }
}
