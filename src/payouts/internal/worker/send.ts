/**
 * Sends one payout that was taken: asks once more whether it may leave, opens its request, commits the mark that a request may have left,
 * sends it, stores the answer, and says when it is tried again. A process may end between any two steps, and another one then takes the
 * payout and starts from the first step.
 */
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type { SqlError } from "effect/sql/SqlError"
import type { Payments } from "../../../client/Payments.ts"
import type { PaymentsClient } from "../../../client/PaymentsClient.ts"
import { PaymentsPolicy } from "../../../client/PaymentsPolicy.ts"
import { millisOf } from "../../../contract/Options.ts"
import type { RequestWithdrawalError } from "../../../contract/PaymentsError.ts"
import type { Withdrawal, WithdrawalRequest, WithdrawalRequestBody } from "../../../contract/Withdrawal.ts"
import { delayInterrupt, TryAgain } from "../../../durable/Work.ts"
import { Caller } from "../../../internal/caller.ts"
import type { Sender } from "../../../internal/sender.ts"
import type { Because } from "../../PayoutBecause.ts"
import type { Settings } from "../../PayoutQueueOptions.ts"
import type { Seal } from "../../Seal.ts"
import { asSentence, differsOf, rejectOtherCompany, writeOptions } from "../machine/answers.ts"
import { databaseTime, type ReadAccount } from "../machine/account.ts"
import { requestedWait, type Said, saidBy } from "../machine/said.ts"
import { logFailure } from "../signals/log.ts"
import { isDueBy, mayBeLost } from "../machine/conditions.ts"
import type { Core } from "../core.ts"
import { type Deciding, tooLate, waitedMillis } from "../machine/events.ts"
import { makeRecord, type Report } from "./record.ts"
import { payoutKey } from "../store/request.ts"
import { isOpen, type Row } from "../machine/row.ts"
import { isOf, learnCompany } from "./sender.ts"
import { payoutFields } from "../signals/signals.ts"
import type { Permit, Take } from "./take.ts"
import { dayOf } from "../machine/days.ts"

type Answer = Result.Result<Withdrawal, RequestWithdrawalError>

const [shortest, hour] = [5000, 3_600_000]

/**
 * How long a payout that is still open waits for its next try, in milliseconds; `undefined`: the queue's own schedule decides. One that
 * the balance does not cover waits 5 seconds more than it has been waiting for it, up to an hour: so its wait doubles. What waits with
 * its account is due at once, in its place among the others.
 */
const waitAfter = (row: Row, failure: RequestWithdrawalError, said: Said, at: Deciding): number | undefined => {
  const isClean = row.mayHaveLeftAt === null
  if (said._tag === "Refused") return 0
  const wait =
    said._tag === "Short" && isClean
      ? Math.min(shortest + at.now - (row.waitsSince ?? at.now), hour)
      : requestedWait(failure)
  if (wait === undefined || !isClean) return wait
  // It is parked in time.
  return Math.min(wait, Math.max(0, at.horizon - waitedMillis(row, at)) + 1000)
}

/** What an answer says of the account, where a person has judged its sentence: a refusal of one payout, or nothing. */
const afterJudgement = (said: Said, { state }: Row): Said => {
  if (said._tag !== "Refused" || said.because !== "RefusalUnknown" || state === "parked") return said
  return state === "refused" ? { _tag: "Taken", amount: 0 } : { _tag: "Nothing" }
}

/** The row was changed by another process since it was read, or the account does not allow the request any more. */
export const changedMeanwhile = () => new TryAgain({ reason: "ChangedMeanwhile" })

/** No request leaves. `again`: why the payout is tried again by the queue's own schedule, if it is. */
class NotSent extends Data.TaggedError("NotSent")<{ readonly again: string | undefined }> {}

export const makeSend = ({
  client,
  core,
  open,
  park,
  payments,
  report: { hold, report },
  seal,
  settings,
  take
}: {
  readonly client: PaymentsClient["Service"]
  readonly core: Core
  /** The stored request of a row, where it can be opened. */
  readonly open: (
    row: Row,
    account: ReadAccount
  ) => Effect.Effect<WithdrawalRequestBody | undefined, SqlError | TryAgain>
  readonly park: (row: Row, because: Because<"parked">) => Effect.Effect<void, SqlError | TryAgain>
  readonly payments: Payments["Service"]
  readonly report: Report
  readonly seal: Seal
  readonly settings: Settings
  readonly take: Take
}) => {
  const { horizon, lease } = settings
  const { accounts } = core.store
  const { record, reportMismatch } = makeRecord(core, hold, seal, client.facts)

  const parkInstead = (row: Row, because: Because<"parked">) =>
    Effect.andThen(park(row, because), Effect.fail(new NotSent({ again: undefined })))

  /** Parks what must not be sent: it is too old, or above a limit by itself. */
  const parkObstacle = Effect.fnUntraced(function* (row: Row, account: ReadAccount) {
    const { dailyCap, maxAmount } = account
    const late = tooLate(row, { account, horizon, now: yield* Clock.currentTimeMillis })
    if (late !== undefined) return yield* parkInstead(row, late)
    if (row.amount > Math.min(maxAmount ?? Infinity, dailyCap ?? Infinity)) return yield* parkInstead(row, "OverCap")
  })

  /** It waits in the table until its time. */
  const checkTime = Effect.fnUntraced(function* (row: Row, account: ReadAccount) {
    const at = { account, horizon, now: yield* Clock.currentTimeMillis }
    const now = databaseTime(account, at.now)
    if (isDueBy.of({ payout: row, given: { now } })) return
    yield* core.step(row, { _tag: "Waits", at, because: "NotBefore" }, { dueIn: (row.notBefore ?? now) - now })
    return yield* new NotSent({ again: undefined })
  })

  /** It waits for the next day, by the clock of the database, and so does all that is above the rest of the cap. */
  const waitForTomorrow = Effect.fnUntraced(function* (row: Row, dailyCap: number) {
    const account = yield* accounts.get
    const { day, left } = dayOf(account.readAt)
    const at = { account, horizon, now: yield* Clock.currentTimeMillis }
    const dueIn = Duration.toMillis(left)
    yield* core.step(row, { _tag: "Waits", at, because: "DailyCap" }, { dueIn })
    yield* core.store.waitForTomorrow(dailyCap, dueIn)
    yield* Effect.annotateCurrentSpan(payoutFields(row))
    const text = `The daily cap of ${day} is reached: payouts wait for the next day.`
    yield* core.logPayout(row, { level: "Warn", of: "Waits", cause: "DailyCap", text })
    return yield* new NotSent({ again: undefined })
  })

  /** The worker's credentials are not those of the account: the payout waits for them. */
  const waitForSender = Effect.fnUntraced(function* (row: Row, account: ReadAccount, fingerprint: string) {
    yield* take.forget
    if (row.mayHaveLeftAt === null && row.because !== "OtherClientId") {
      const now = yield* Clock.currentTimeMillis
      yield* core.step(row, { _tag: "Waits", at: { account, horizon, now }, because: "OtherClientId" })
      const text = `A payout is not sent: the worker's credentials (fingerprint ${fingerprint}) are not those of the account ${account.account} (${account.fingerprint}).`
      yield* core.logPayout(row, { level: "Error", of: "Waits", cause: "OtherClientId", text })
    }
    return yield* new NotSent({ again: "OtherClientId" })
  })

  /** Whose request it would be. */
  const checkedSender = Effect.fnUntraced(function* (row: Row, account: ReadAccount) {
    const sender = yield* client.sender
    const fingerprint = sender.fingerprint(account.companyId ?? undefined)
    if (row.mayHaveLeftAt !== null && !isOf(sender, account, row.fingerprint)) {
      return yield* parkInstead(row, "OtherClientId")
    }
    if (account.fingerprint !== fingerprint) return yield* waitForSender(row, account, fingerprint)
    return fingerprint
  })

  /** Commits the mark by a statement that asks all conditions again. */
  const mark = Effect.fnUntraced(function* (row: Row, { account, leavesBy }: Permit, fingerprint: string) {
    const now = yield* Clock.currentTimeMillis
    const { deadline } = yield* client.policy
    const underWayUntil = now + Math.min(lease + (millisOf(deadline) ?? horizon), horizon)
    const where = yield* accounts.allows(account, fingerprint, horizon, leavesBy !== undefined)
    const marked = yield* core.step(
      row,
      { _tag: "Marked", at: { account, now, horizon }, fingerprint, underWayUntil },
      { where, cap: row.countedDay === null ? (account.dailyCap ?? undefined) : undefined }
    )
    if (typeof marked === "object") return marked
    yield* take.forget
    return yield* marked === "Capped" && account.dailyCap !== null
      ? waitForTomorrow(row, account.dailyCap)
      : new TryAgain({ reason: "ChangedMeanwhile", isAtOnce: true })
  })

  /** All that comes before the mark. It fails where no request leaves. */
  const prepare = Effect.fnUntraced(function* (row: Row, { account }: Permit) {
    yield* checkTime(row, account)
    yield* parkObstacle(row, account)
    const stored = yield* open(row, account)
    const isOfRow = Option.getOrUndefined(payoutKey(row.account, row.reference)) === row.idempotencyKey
    return stored !== undefined && isOfRow ? stored : yield* parkInstead(row, "Unreadable")
  })

  /** Commits the mark, and waits for the time of the request. */
  const markInTime = Effect.fnUntraced(function* (row: Row, permit: Permit) {
    const { account } = permit
    const fingerprint = yield* checkedSender(row, account)
    const marked = yield* mark(row, permit, fingerprint)
    yield* take.leave(permit)
    // The process may have been suspended since the mark was committed.
    yield* parkObstacle(marked, account)
    return { fingerprint, marked }
  })

  /** Whether an earlier request of it may have been executed, also one that this database does not know. */
  const isInDoubt = (payout: Row, account: ReadAccount) =>
    payout.mayHaveLeftAt !== null || mayBeLost.of({ payout, account, given: { horizon } })

  /** A refusal that the client's own table knows, as a person judged it, if one did. */
  const byJudgement = (answer: Answer, idempotencyKey: string, digest: string | undefined): Effect.Effect<Answer> =>
    Result.isSuccess(answer) || answer.failure.outcome === "Unknown" || digest === undefined
      ? Effect.succeed(answer)
      : Effect.match(core.store.sentences.judgement(digest), {
          // The answer is stored all the same.
          onFailure: () => answer,
          onSuccess: (judged) =>
            judged === undefined ? answer : Result.fail(asSentence(answer.failure, idempotencyKey, digest))
        })

  /** Sends the request of a marked payout, and returns the answer, what it says of the account, and by whom it was sent. */
  const request = Effect.fnUntraced(function* (
    before: Row,
    marked: Row,
    account: ReadAccount,
    stored: WithdrawalRequestBody
  ) {
    let used: Sender | undefined
    let refused: Parameters<Caller["onRefused"]>[0] | undefined
    const now = yield* Clock.currentTimeMillis
    const from = isInDoubt(before, account) ? (before.mayHaveLeftAt ?? now) : null
    const left = horizon - waitedMillis(marked, { account, horizon, now })
    const sent: Answer = yield* payments
      // Of a key and its kind, both or none was written.
      .requestWithdrawal(stored as WithdrawalRequest, writeOptions(before.idempotencyKey, from))
      .pipe(
        // A mark is one request: a repetition is the row's.
        Effect.provideServiceEffect(
          PaymentsPolicy,
          Effect.map(client.policy, (policy) => PaymentsPolicy.make({ ...policy, writes: "never" }))
        ),
        Effect.provideService(Caller, {
          notAfter: Math.min((marked.mayHaveLeftAt ?? 0) + horizon, now + left, marked.underWayUntil ?? Infinity),
          onRefused: (ended) => {
            refused = ended
          },
          isSender: (sender) => {
            used = sender
            return isOf(sender, account, account.fingerprint) && isOf(sender, account, marked.fingerprint)
          }
        }),
        Effect.result
      )
    const answer = yield* byJudgement(
      rejectOtherCompany(sent, before.idempotencyKey, account.companyId),
      before.idempotencyKey,
      refused?.digest?.()
    )
    return { answer, said: saidBy(answer, refused?.tagInDoubt, before), used }
  })

  /** After a failure: a payout that is still open is tried again, after a wait or by the queue's own schedule. */
  const tryAgain = Effect.fnUntraced(function* (
    before: Row,
    after: Row,
    account: ReadAccount,
    failure: RequestWithdrawalError,
    said: Said
  ) {
    if (!isOpen(after)) return yield* Effect.as(logFailure(core.logPayout, before, after, failure), undefined)
    if (after.mayHaveLeftAt !== null && "reason" in failure && failure.reason === "OtherClientId") {
      return yield* Effect.as(park(after, "OtherClientId"), undefined)
    }
    const wait = waitAfter(after, failure, said, { account, horizon, now: yield* Clock.currentTimeMillis })
    yield* logFailure(core.logPayout, before, after, failure, wait)
    return wait === undefined ? failure._tag : yield* Effect.as(core.delay(after, wait), undefined)
  })

  const requestAndStore = Effect.fnUntraced(function* (
    row: Row,
    permit: Permit,
    stored: WithdrawalRequestBody,
    { fingerprint, marked }: Effect.Success<ReturnType<typeof markInTime>>
  ) {
    const { account } = permit
    const { answer, said, used } = yield* request(row, marked, account, stored)
    const now = yield* Clock.currentTimeMillis
    const after = (yield* record(row, marked, isInDoubt(row, account), answer, now)) ?? marked
    yield* Effect.annotateCurrentSpan(payoutFields(after))
    yield* report(permit, after, afterJudgement(said, after), Result.isFailure(answer) ? answer.failure : undefined)
    if (Result.isFailure(answer)) {
      const { failure } = answer
      const differs = failure.outcome === "Unknown" ? differsOf(failure) : undefined
      if (differs === "companyId" || differs === "pixKey") yield* reportMismatch(after, differs)
      return yield* tryAgain(row, after, account, failure, said)
    }
    // The balance covers what it did not before: each is sent in its place among the others.
    if (account.shortOf !== null && row.amount >= account.shortOf) yield* core.callBack("Balance", row.amount)
    const { companyId } = answer.success
    if (account.companyId === null && used !== undefined && companyId !== undefined) {
      yield* learnCompany(core.store, account.account, fingerprint, used.fingerprint(companyId), companyId)
      yield* take.forget
    }
    return undefined
  })

  /** Returns why the payout has to be tried again by the queue's own schedule, if it has to. */
  return (row: Row, permit: Permit) =>
    Effect.suspend(() => {
      let hasLeft = false
      // The time of a turn that no request used is free for another one.
      const release = Effect.suspend(() =>
        hasLeft ? Effect.void : Effect.ignore(take.retime(permit, { _tag: "Nothing" }))
      )
      const send = Effect.fnUntraced(function* (stored: WithdrawalRequestBody) {
        const marked = yield* markInTime(row, permit)
        hasLeft = true
        return yield* requestAndStore(row, permit, stored, marked)
      }, delayInterrupt(settings.drain))
      return Effect.ensuring(Effect.flatMap(prepare(row, permit), send), release)
    }).pipe(Effect.catchTag("NotSent", ({ again }) => Effect.succeed(again)))
}
