/**
 * Sends one payout: commits the mark that a request may have left, sends it, stores the answer, and says when to try again.
 */
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { SqlError } from "effect/sql/SqlError"
import type { Payments } from "../../../client/Payments.ts"
import { PaymentsPolicy } from "../../../client/PaymentsPolicy.ts"
import type { RequestWithdrawalError } from "../../../contract/PaymentsError.ts"
import type { Withdrawal, WithdrawalRequest, WithdrawalRequestBody } from "../../../contract/Withdrawal.ts"
import { TryAgain } from "../../../durable/Work.ts"
import { millisOf } from "../../../contract/Options.ts"
import { Caller } from "../../../internal/caller.ts"
import { makeBudget } from "../../../internal/retryBudget.ts"
import type { Sender } from "../../../internal/sender.ts"
import { log } from "../../../internal/spans.ts"
import type { Seal } from "../../Seal.ts"
import type { ParkedBecause } from "../../PayoutStatus.ts"
import { causeForAll, inWords, mismatchOf, ofCompany, optionsOf } from "../machine.ts"
import { type ReadAccount, zone } from "./account.ts"
import type { Core } from "./core.ts"
import type { Gate, Permit } from "./gate.ts"
import { makeRecord } from "./record.ts"
import { waitedMillis } from "./late.ts"
import { isOpen, type Row } from "./row.ts"
import { currentSender, isOf } from "./sender.ts"
import type { Settings } from "./settings.ts"
import { attributesOf, causeOf, logParked } from "./signals.ts"

/** The row was changed by another process since it was read, or the account does not allow the request any more. */
export const changedMeanwhile = () => new TryAgain({ reason: "ChangedMeanwhile" })

type Answer = Result.Result<Withdrawal, RequestWithdrawalError>

/** The day of a time, and how long it is until the next day. */
const dayOf = (now: number) => {
  const day = DateTime.setZone(DateTime.makeUnsafe(now), zone)
  const tomorrow = DateTime.startOf(DateTime.add(day, { days: 1 }), "day")
  return { day: DateTime.formatIsoDate(day), left: Duration.millis(DateTime.toEpochMillis(tomorrow) - now) }
}

const longestWait = Duration.minutes(15)

/** How long a payout waits for a balance that covers it, or for the end of a limit: as long as it has been waiting, from 1 to 15 minutes. */
const waitForBalance = ({ waitsSince }: Row, now: number) =>
  Duration.clamp(Duration.millis(now - (waitsSince ?? now)), {
    minimum: Duration.minutes(1),
    maximum: longestWait
  })

/** Logs that a payout is tried again: as a warning where its state or the cause is new, and otherwise for debugging. */
const logAgain = (before: Row, after: Row, failure: RequestWithdrawalError, wait?: Duration.Duration) => {
  const isNew = before.state !== after.state || causeOf(before) !== causeOf(after)
  // The client warns of a doubt that begins in its call, and one line of what concerns the whole account.
  const isKnown =
    (failure.outcome === "Unknown" && before.mayHaveLeftAt === null) ||
    causeForAll(failure) !== undefined ||
    after.waitsFor === "InsufficientBalance"
  const isRequested = "retryAfter" in failure && wait !== undefined
  const when =
    wait === undefined
      ? ""
      : ` in ${Math.round(Duration.toSeconds(wait))} seconds${isRequested ? ", as the service asked" : ""}`
  return log(
    isNew && !isKnown ? "Warn" : "Debug",
    `A payout is tried again${when}: ${failure._tag} (${inWords(after)})`,
    { ...attributesOf(after), "payments.retry_after": isRequested ? Duration.toSeconds(wait) : undefined }
  )
}

export const makeSend = ({
  core,
  gate,
  park,
  payments,
  seal,
  settings
}: {
  readonly core: Core
  readonly gate: Gate
  readonly park: (row: Row, because: ParkedBecause) => Effect.Effect<void, SqlError | TryAgain>
  readonly payments: Payments["Service"]
  readonly seal: Seal
  readonly settings: Settings
}) => {
  const { store } = core
  const { accounts } = store
  const { horizon } = settings
  const { record, reportMismatch } = makeRecord(core, gate, seal)
  // The retries of the queue do not spend those of a checkout on the same client.
  const budget = makeBudget()

  /** Commits the mark; `undefined` where the cap of the day is reached. */
  const commitMark = Effect.fnUntraced(function* (row: Row, account: ReadAccount, fingerprint: string | undefined) {
    const now = yield* Clock.currentTimeMillis
    const { deadline } = yield* PaymentsPolicy
    const { dailyCap, lease } = settings
    const underWayUntil = now + Math.min(lease + (millisOf(deadline) ?? horizon), horizon)
    const where = yield* accounts.allows(row.idempotencyKey, fingerprint, account.session, horizon)
    const at = { account, now, horizon }
    const marked = yield* core.step(
      row,
      { _tag: "Marked", at, fingerprint, underWayUntil },
      { where, cap: row.countedDay === null ? dailyCap : undefined }
    )
    if (marked === undefined) return yield* changedMeanwhile()
    return marked === row ? undefined : marked
  })

  /** A payout waits for the next day, by the clock of the database. */
  const waitForTomorrow = Effect.fnUntraced(function* (row: Row) {
    const account = yield* accounts.get
    const { day, left } = dayOf(account.readAt)
    const at = { account, horizon, now: yield* Clock.currentTimeMillis }
    yield* core.step(row, { _tag: "Waits", at, waitsFor: "DailyCap" }, { dueIn: left })
    yield* Effect.annotateCurrentSpan(attributesOf(row))
    yield* log(
      "Warn",
      `The daily cap of ${day} is reached: a payout waits for the next day (${inWords(row)}).`,
      attributesOf(row)
    )
  })

  /** The worker's credentials are not those of the account, or are not known: the payout waits for them. */
  const waitForSender = Effect.fnUntraced(function* (row: Row, account: ReadAccount, fingerprint: string | undefined) {
    yield* gate.forget
    if (row.mayHaveLeftAt === null && row.waitsFor !== "OtherClientId") {
      const now = yield* Clock.currentTimeMillis
      yield* core.step(row, { _tag: "Waits", at: { account, horizon, now }, waitsFor: "OtherClientId" })
      yield* log(
        "Error",
        fingerprint === undefined
          ? `A payout is not sent: it is not known under which client id the worker's Payments sends, as of a mock, and the account ${account.account} has one (${account.fingerprint}) (${inWords(row)}). Decorate a copy of the client's own Payments: { ...payments }.`
          : `A payout is not sent: the worker's credentials (fingerprint ${fingerprint}) are not those of the account ${account.account} (${account.fingerprint}) (${inWords(row)}).`,
        attributesOf(row)
      )
    }
    return "OtherClientId"
  })

  let shortAt = Number.NEGATIVE_INFINITY
  /** Warns that the balance covers no more. A payout that waits for it is tried at least every 15 minutes. */
  const warnOfBalance = Effect.fnUntraced(function* (row: Row, now: number) {
    const isNew = now - shortAt > Duration.toMillis(longestWait) + 300_000
    shortAt = now
    if (!isNew) return
    yield* log(
      "Warn",
      `The balance of the account ${settings.account} does not cover a payout (${inWords(row)}). Payouts wait for it, and are sent when it covers them.`,
      attributesOf(row)
    )
  })

  /** How long a payout that is still open waits for its next try; `undefined`: the queue's own schedule decides. */
  const waitOf = (row: Row, account: ReadAccount, failure: RequestWithdrawalError, now: number) => {
    const requested = "retryAfter" in failure ? failure.retryAfter : undefined
    const wait =
      requested !== undefined && Duration.toMillis(requested) >= 1000
        ? Duration.min(requested, Duration.hours(1))
        : row.waitsFor === "InsufficientBalance" || row.waitsFor === "LimitReached"
          ? waitForBalance(row, now)
          : undefined
    if (wait === undefined || row.mayHaveLeftAt !== null) return wait
    // It is parked in time.
    const left = Math.max(0, horizon - waitedMillis(row, { account, horizon, now })) + 1000
    return Duration.min(wait, Duration.millis(left))
  }

  /** Stores the company of the first recorded withdrawal: then another secret of the same client id changes nothing. */
  const learnCompany = Effect.fnUntraced(function* (from: string, sender: Sender, companyId: number) {
    const to = sender.fingerprint(companyId)
    const learned = yield* accounts.learnCompany(from, to, companyId)
    const other = learned ? undefined : yield* accounts.otherOf(to)
    if (other !== undefined) {
      yield* log("Error", `The accounts ${settings.account} and ${other} are paid by one company.`, {
        "payments.account": settings.account
      })
    }
    yield* gate.forget
  })

  /** Returns why the payout has to be tried again by the queue's own schedule, if it has to. */
  return Effect.fnUntraced(function* (row: Row, stored: WithdrawalRequestBody, permit: Permit) {
    // Of a key and its kind, both or none was written.
    const request = stored as WithdrawalRequest
    const { account } = permit
    const giveBack = permit.isProbe ? gate.report(permit, row) : Effect.void
    const now = yield* currentSender(payments)
    const isInDoubt = row.mayHaveLeftAt !== null
    const fingerprint = now?.fingerprint(account.companyId ?? undefined)
    if (now !== undefined && isInDoubt && !isOf(now, account, row.fingerprint)) {
      return yield* Effect.andThen(giveBack, Effect.as(park(row, "OtherClientId"), undefined))
    }
    if (account.fingerprint !== (fingerprint ?? null)) {
      return yield* Effect.andThen(giveBack, waitForSender(row, account, fingerprint))
    }
    const marked = yield* commitMark(row, account, fingerprint)
    if (marked === undefined) {
      return yield* Effect.andThen(giveBack, Effect.as(waitForTomorrow(row), undefined))
    }
    // The process may have been suspended since the mark was committed.
    const because = yield* gate.obstacle(marked, account)
    if (because !== undefined) return yield* Effect.andThen(giveBack, Effect.as(park(marked, because), undefined))
    let used: Sender | undefined
    const sendsAt = yield* Clock.currentTimeMillis
    const left = horizon - waitedMillis(marked, { account, horizon, now: sendsAt })
    const answer: Answer = yield* payments
      .requestWithdrawal(request, optionsOf(row.idempotencyKey, row.mayHaveLeftAt))
      .pipe(
        Effect.provideService(Caller, {
          budget,
          notAfter: Math.min((marked.mayHaveLeftAt ?? 0) + horizon, sendsAt + left),
          isSender: (sender) => {
            used = sender
            return isOf(sender, account, account.fingerprint) && isOf(sender, account, marked.fingerprint)
          }
        }),
        Effect.updateService(PaymentsPolicy, (policy) =>
          PaymentsPolicy.make({ ...policy, horizon: Duration.millis(horizon) })
        ),
        Effect.result
      )
    const result = ofCompany(answer, row.idempotencyKey, account.companyId)
    const end = yield* Clock.currentTimeMillis
    const after = yield* record(marked, isInDoubt, result, end)
    if (after !== undefined) yield* Effect.annotateCurrentSpan(attributesOf(after))
    yield* gate.report(permit, after ?? marked, result)
    if (Result.isSuccess(result)) {
      const { companyId } = result.success
      if (account.companyId === null && fingerprint !== undefined && used !== undefined && companyId !== undefined) {
        yield* learnCompany(fingerprint, used, companyId)
      }
      if (after?.state === "failed") {
        yield* log(
          "Error",
          `The service recorded a payout that somebody settled as failed (${inWords(row)}). MONEY MAY HAVE MOVED.`,
          attributesOf(after)
        )
      }
      return undefined
    }
    const { failure } = result
    const mismatch = failure.outcome === "Unknown" ? mismatchOf(failure) : undefined
    if (mismatch !== undefined) yield* reportMismatch(after ?? marked, mismatch, end)
    if (after?.state === "refused" || after?.state === "failed") {
      const step =
        after.state === "refused"
          ? "When its cause is gone, send it again with retry."
          : "Pay it under a new reference when its cause is gone."
      yield* log(
        "Warn",
        `A payout was refused, and is not sent again: ${failure._tag} (${inWords(after)}). No request of this queue moved money. ${step}`,
        attributesOf(after)
      )
    }
    if (after?.parkedBecause === "RecordedAsFailed") yield* logParked(after, "RecordedAsFailed")
    if (after === undefined || !isOpen(after)) return undefined
    if (after.mayHaveLeftAt !== null && "reason" in failure && failure.reason === "OtherClientId") {
      return yield* Effect.as(park(after, "OtherClientId"), undefined)
    }
    if (after.waitsFor === "InsufficientBalance") yield* warnOfBalance(after, end)
    const wait = waitOf(after, account, failure, end)
    yield* logAgain(row, after, failure, wait)
    if (wait === undefined) return failure._tag
    yield* core.delay(after, wait)
    return undefined
  })
}
