/**
 * Sends the payouts of the queue. The order for one payout: check whether it may be sent; wait for its turn; commit the mark
 * that a request may have left; send; store the answer. A process may end between any two steps, and another process then
 * starts from the first step.
 */
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { PersistedQueueError } from "effect/persistence/PersistedQueue"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import * as Semaphore from "effect/Semaphore"
import type { SqlError } from "effect/sql/SqlError"
import { NotAfter } from "../../../internal/notAfter.ts"
import { makeBudget, OwnBudget } from "../../../internal/retryBudget.ts"
import { inSpan, log } from "../../../internal/spans.ts"
import { Payments } from "../../../client/Payments.ts"
import { fromReference } from "../../../contract/IdempotencyKey.ts"
import type { RequestWithdrawalError } from "../../../contract/PaymentsError.ts"
import type { Withdrawal, WithdrawalRequest, WithdrawalRequestBody } from "../../../contract/Withdrawal.ts"
import { mapDatabaseError } from "../../../durable/Database.ts"
import { orTryAgain, TryAgain, delayInterrupt, work } from "../../../durable/Work.ts"
import type { ParkedBecause } from "../../PayoutStatus.ts"
import type { Seal } from "../../PayoutQueueOptions.ts"
import { type Core, type Element, linksOf, OfferedBy } from "./core.ts"
import { answeredEvent } from "./entries.ts"
import { readRequest } from "./request.ts"
import { afterAnswer, inWords, namesOf, optionsOf } from "../machine.ts"
import * as Row from "./row.ts"
import type { Settings } from "./settings.ts"
import { attributesOf, attributesOfKey, causeOf, identityOf } from "./signals.ts"

/** The name of the worker in the log. */
const name = "Payouts"

/** The row was changed by another process since it was read. */
const changedMeanwhile = () => new TryAgain({ reason: "ChangedMeanwhile" })

const dayOf = (now: number, zone: DateTime.TimeZone) => DateTime.setZone(DateTime.makeUnsafe(now), zone)

/** How long until the next day begins in a time zone. */
const untilTomorrow = (now: number, zone: DateTime.TimeZone) => {
  const tomorrow = DateTime.startOf(DateTime.add(dayOf(now, zone), { days: 1 }), "day")
  return Duration.millis(DateTime.toEpochMillis(tomorrow) - now)
}

/** Tries again later where the database fails. */
const retrying = <A, R>(effect: Effect.Effect<A, SqlError | PersistedQueueError | TryAgain, R>) =>
  Effect.catchTag(mapDatabaseError("send")(effect), "DatabaseError", ({ reason }) => new TryAgain({ reason }))

/** Logs that a payout is tried again: as a warning where its state or the cause is new, and otherwise for debugging. */
const logAgain = (before: Row.Row, after: Row.Row, failure: RequestWithdrawalError, wait?: Duration.Duration) => {
  const isNew = before.state !== after.state || causeOf(before) !== causeOf(after)
  // The client warns of a doubt that begins in its call.
  const isKnown = failure.outcome === "Unknown" && before.mayHaveLeftAt === null
  const when = wait === undefined ? "" : ` in ${Math.round(Duration.toSeconds(wait))} seconds, as the service asked`
  return log(
    isNew && !isKnown ? "Warn" : "Debug",
    `A payout is tried again${when}: ${failure._tag} (${inWords(after)})`,
    { ...attributesOf(after), "payments.retry_after": wait && Duration.toSeconds(wait) }
  )
}

export const makeWorker = Effect.fnUntraced(function* (core: Core, settings: Settings, seal: Seal) {
  const { store } = core
  const { requestWithdrawal } = yield* Payments
  const isPaused = yield* Effect.cachedWithTTL(Effect.withTracerEnabled(store.isPaused, false), "1 second")
  // The retries of the queue do not spend those of a checkout on the same client.
  const budget = makeBudget()
  // All workers count on one row. A process that is suspended while it holds the row's lock blocks the others until the
  // database ends its transaction, so a process has at most one such transaction, and not one for each connection.
  const counting = Semaphore.makeUnsafe(1)
  const untilRunning = Effect.repeat(isPaused, { while: (paused) => paused, schedule: Schedule.spaced("1 second") })

  const park = Effect.fnUntraced(function* (row: Row.Row, because: ParkedBecause) {
    if ((yield* core.change(row, Row.park(because), { _tag: "Parked", because })) === undefined)
      return yield* changedMeanwhile()
    yield* Effect.annotateCurrentSpan(attributesOf(row))
    const money = row.mayHaveLeftAt === null ? "No money moved." : "MONEY MAY HAVE MOVED."
    yield* log("Error", `A payout waits for a person: ${because} (${inWords(row)}). ${money}`, attributesOf(row))
  })

  /** Why a payout must not be sent. */
  const obstacle = (row: Row.Row, now: number): ParkedBecause | undefined => {
    if (Row.mustNotRepeat(row, now, settings.horizon)) return "PastHorizon"
    if (settings.maxAmount !== undefined && row.amount > settings.maxAmount) return "OverMaxAmount"
    return settings.dailyCap !== undefined && row.amount > settings.dailyCap ? "OverDailyCap" : undefined
  }

  /** The stored request, if it is that of this payout. */
  const open = (row: Row.Row) =>
    row.request === null
      ? Effect.undefined
      : seal.open(row.request, row.reference).pipe(
          Effect.map((text) => Option.filter(readRequest(text), ({ amount }) => amount === row.amount)),
          Effect.map(Option.getOrUndefined),
          Effect.timeoutOrElse({ duration: "30 seconds", orElse: () => new TryAgain({ reason: "SealTimeout" }) })
        )

  /** Waits for the next turn that the rate of all workers allows. */
  const turn: Effect.Effect<void, SqlError> = Effect.gen(function* () {
    if (settings.interval === undefined) return
    yield* untilRunning
    const at = yield* store.turn(yield* Clock.currentTimeMillis, settings.interval)
    const now = yield* Clock.currentTimeMillis
    yield* Effect.sleep(Duration.millis(at - now))
    // During a pause or a suspension many turns pass. Without another wait all of their payouts would be sent at once.
    const late = (yield* Clock.currentTimeMillis) - Math.max(at, now)
    if (late > 1000 || (yield* isPaused)) yield* turn
  })

  /** Commits the mark; `undefined` where the cap of the day is reached. */
  const commitMark = (row: Row.Row) =>
    Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      const { dailyCap, zone } = settings
      const day = dailyCap === undefined ? null : DateTime.formatIsoDate(dayOf(now, zone))
      const change = Effect.filterOrFail(
        core.change(row, Row.mark(row, now, day), { _tag: "Marked", request: row.sends + 1 }),
        (marked) => marked !== undefined,
        changedMeanwhile
      )
      if (dailyCap === undefined || day === null || row.countedDay !== null) return yield* change
      return yield* counting.withPermit(
        store.shortTransaction(
          Effect.flatMap(store.spend(day, row.amount, dailyCap), (isWithin) => (isWithin ? change : Effect.undefined))
        )
      )
    })

  /** Stores the answer of a request. */
  const record = (marked: Row.Row, isInDoubt: boolean, answer: Result.Result<Withdrawal, RequestWithdrawalError>) => {
    const { countedDay, idempotencyKey, sends } = marked
    // A refusal proves that no request was executed only if this request's mark is the last one.
    const knownOf = (row: Row.Row) => afterAnswer(answer, idempotencyKey, isInDoubt || row.sends !== sends)
    const changed = core.changeBy(
      marked,
      (row) => Effect.succeed(Row.answered(row, knownOf(row))),
      (row) => answeredEvent(row, knownOf(row))
    )
    const stored = countedDay === null ? changed : counting.withPermit(store.shortTransaction(changed))
    // The answer is stored nowhere else, so this is retried for a minute.
    return Effect.retry(stored, { schedule: Schedule.spaced("500 millis"), times: 120 })
  }

  const send = Effect.fnUntraced(function* (row: Row.Row, stored: WithdrawalRequestBody) {
    // Of a key and its kind, both or none was written.
    const request = stored as WithdrawalRequest
    const marked = yield* commitMark(row)
    if (marked === undefined) {
      const now = yield* Clock.currentTimeMillis
      yield* core.requeue(row, untilTomorrow(now, settings.zone))
      yield* Effect.annotateCurrentSpan(attributesOf(row))
      yield* log("Warn", `The daily cap is reached: a payout waits for tomorrow (${inWords(row)}).`, attributesOf(row))
      return undefined
    }
    // Since the first check it may have waited for its turn, for the end of a pause, or for a suspended process.
    const because = obstacle(marked, yield* Clock.currentTimeMillis)
    if (because !== undefined) return yield* park(marked, because)
    const isInDoubt = row.mayHaveLeftAt !== null
    const result = yield* requestWithdrawal(request, optionsOf(row.idempotencyKey, isInDoubt)).pipe(
      Effect.provideService(NotAfter, (marked.mayHaveLeftAt ?? 0) + settings.horizon),
      Effect.provideService(OwnBudget, budget),
      Effect.result
    )
    const after = yield* record(marked, isInDoubt, result)
    if (after !== undefined) yield* Effect.annotateCurrentSpan(attributesOf(after))
    if (Result.isSuccess(result) && after?.state === "failed") {
      yield* log(
        "Error",
        `The service recorded a payout that somebody settled as failed (${inWords(row)}). MONEY MAY HAVE MOVED.`,
        attributesOf(after)
      )
    }
    if (after === undefined || !Row.isOpen(after) || Result.isSuccess(result)) return undefined
    const { failure } = result
    const asked = "retryAfter" in failure ? failure.retryAfter : undefined
    // Without a `Retry-After` of a second or more, the queue's own schedule decides.
    const wait =
      asked === undefined || Duration.toMillis(asked) < 1000 ? undefined : Duration.min(asked, Duration.hours(1))
    yield* logAgain(row, after, failure, wait)
    if (wait === undefined) return failure
    // A new element waits for as long as the service said, at most an hour.
    yield* core.requeue(after, wait)
    return undefined
  })

  const sendIfAllowed = Effect.fnUntraced(
    function* (row: Row.Row) {
      const because = obstacle(row, yield* Clock.currentTimeMillis)
      if (because !== undefined) return yield* park(row, because)
      const request = yield* open(row)
      if (request === undefined || fromReference("payout", row.reference) !== row.idempotencyKey) {
        return yield* park(row, "Unreadable")
      }
      yield* turn
      const failure = yield* delayInterrupt(settings.drain)(send(row, request))
      if (failure !== undefined) return yield* new TryAgain({ reason: failure._tag })
    },
    (effect, row) => Effect.annotateLogs(orTryAgain(name, attributesOf(row))(retrying(effect)), namesOf(row))
  )

  const handle = (element: Element) =>
    Effect.gen(function* () {
      const row = yield* retrying(Effect.andThen(untilRunning, store.get(element.key)))
      // The element was delivered twice, or was replaced by a newer one.
      if (row === undefined || row.generation !== element.generation || !Row.isOpen(row)) return
      yield* inSpan(
        "PayoutQueue.send",
        { kind: "internal", attributes: identityOf(row), root: true, links: linksOf(element) },
        () => sendIfAllowed(row)
      )
    }).pipe(Effect.provideService(OfferedBy, element.span))

  return {
    run: work(core.queue, {
      name,
      concurrency: settings.concurrency,
      attributesOf: ({ key }) => attributesOfKey(key),
      handle
    })
  }
})
