/**
 * Sends one payout that was taken: commits its mark (`mark.ts`), sends its request, stores the answer, and says when it is tried again.
 * A process may end between any two steps, and another one then takes the payout and starts from the first step.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Payments } from "../../../client/Payments.ts"
import { PaymentsPolicy } from "../../../client/PaymentsPolicy.ts"
import type { RequestWithdrawalError } from "../../../contract/PaymentsError.ts"
import type { Withdrawal, WithdrawalRequest, WithdrawalRequestBody } from "../../../contract/Withdrawal.ts"
import { delayInterrupt } from "../../../durable/Work.ts"
import { Caller } from "../../../internal/caller.ts"
import type { Sender } from "../../../internal/sender.ts"
import type { Seal } from "../../Seal.ts"
import { asSentence, differsOf, rejectOtherCompany, writeOptions } from "../machine/answers.ts"
import type { ReadAccount } from "../machine/account.ts"
import { requestedWait, type Said, saidBy } from "../machine/said.ts"
import { logFailure } from "../signals/log.ts"
import { mayBeLost } from "../machine/conditions.ts"
import { type Deciding, waitedMillis } from "../machine/events.ts"
import { makeRecord, type Report } from "./record.ts"
import { isOpen, type Row } from "../machine/row.ts"
import { isOf, learnCompany } from "./sender.ts"
import { payoutFields } from "../signals/signals.ts"
import { makeMark, type MarkParts } from "./mark.ts"
import type { Permit } from "./take.ts"

type Marked = Effect.Success<ReturnType<ReturnType<typeof makeMark>["markInTime"]>>
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

/** Whether an earlier request of a payout may have been executed, also one that this database does not know. */
const isInDoubt = (payout: Row, account: ReadAccount, horizon: number) =>
  payout.mayHaveLeftAt !== null || mayBeLost.of({ payout, account, given: { horizon } })

export interface SendParts extends MarkParts {
  readonly payments: Payments["Service"]
  readonly report: Report
  readonly seal: Seal
}

/** Sends the request of a marked payout, and returns the answer, what it says of the account, and by whom it was sent. */
const makeRequest = ({ client, core, payments, settings: { horizon } }: SendParts) => {
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

  return Effect.fnUntraced(function* (before: Row, marked: Row, account: ReadAccount, stored: WithdrawalRequestBody) {
    let used: Sender | undefined
    let refused: Parameters<Caller["onRefused"]>[0] | undefined
    const now = yield* Clock.currentTimeMillis
    const from = isInDoubt(before, account, horizon) ? (before.mayHaveLeftAt ?? now) : null
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
}

export const makeSend = (parts: SendParts) => {
  const {
    client,
    core,
    park,
    report: { hold, report },
    seal,
    settings,
    take
  } = parts
  const { horizon } = settings
  const { markInTime, prepare } = makeMark(parts)
  const { record, reportMismatch } = makeRecord(core, hold, seal, client.facts)
  const request = makeRequest(parts)

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
    { fingerprint, marked }: Marked
  ) {
    const { account } = permit
    const { answer, said, used } = yield* request(row, marked, account, stored)
    const now = yield* Clock.currentTimeMillis
    const after = (yield* record(row, marked, isInDoubt(row, account, horizon), answer, now)) ?? marked
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
