/**
 * Sends one payout: commits the mark that a request may have left, sends it, stores the answer, and says when to try again.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Payments } from "../../../client/Payments.ts"
import type { PaymentsClient } from "../../../client/PaymentsClient.ts"
import type { RequestWithdrawalError } from "../../../contract/PaymentsError.ts"
import type { Withdrawal, WithdrawalRequest, WithdrawalRequestBody } from "../../../contract/Withdrawal.ts"
import { Caller } from "../../../internal/caller.ts"
import { makeBudget } from "../../../internal/retryBudget.ts"
import type { Sender } from "../../../internal/sender.ts"
import type { Seal } from "../../Seal.ts"
import { differsOf, rejectOtherCompany, writeOptions } from "../machine.ts"
import type { ReadAccount } from "./account.ts"
import { logAlone, logFailure } from "./answerLog.ts"
import { mayBeLost } from "./conditions.ts"
import type { Core } from "./core.ts"
import type { Gate, Permit, Standing } from "./gate.ts"
import { waitedMillis } from "./late.ts"
import { makeMarking, type Park } from "./marking.ts"
import { makeRecord } from "./record.ts"
import { isOpen, type Row } from "./row.ts"
import { isOf, learnCompany } from "./sender.ts"
import type { Settings } from "../../PayoutQueueOptions.ts"
import { payoutFields } from "./signals.ts"
import { alone, waitOf } from "./waits.ts"

type Answer = Result.Result<Withdrawal, RequestWithdrawalError>

export const makeSend = ({
  client,
  core,
  gate,
  park,
  payments,
  seal,
  settings
}: {
  readonly client: PaymentsClient["Service"]
  readonly core: Core
  readonly gate: Gate
  readonly park: Park
  readonly payments: Payments["Service"]
  readonly seal: Seal
  readonly settings: Settings
}) => {
  const { horizon } = settings
  const { record, reportMismatch } = makeRecord(core, gate, seal, client.facts)
  const commitMark = makeMarking(core, gate, park, client, settings)
  // The retries of the queue do not spend those of a checkout on the same client.
  const budget = makeBudget()

  /** Whether an earlier request of it may have been executed, also one that this database does not know. */
  const isInDoubt = (payout: Row, account: ReadAccount) =>
    payout.mayHaveLeftAt !== null || mayBeLost.of({ payout, account, given: { horizon } })

  /** Sends the request of a marked payout, and returns the answer and by whom it was sent. */
  const request = Effect.fnUntraced(function* (
    before: Row,
    marked: Row,
    account: ReadAccount,
    stored: WithdrawalRequestBody
  ) {
    let used: Sender | undefined
    let refusedAs: string | undefined
    const now = yield* Clock.currentTimeMillis
    const from = isInDoubt(before, account) ? (before.mayHaveLeftAt ?? now) : null
    const left = horizon - waitedMillis(marked, { account, horizon, now })
    const answer: Answer = yield* payments
      // Of a key and its kind, both or none was written.
      .requestWithdrawal(stored as WithdrawalRequest, writeOptions(before.idempotencyKey, from))
      .pipe(
        Effect.provideService(Caller, {
          budget,
          notAfter: Math.min((marked.mayHaveLeftAt ?? 0) + horizon, now + left),
          onRefusedInDoubt: (tag) => {
            refusedAs = tag
          },
          isSender: (sender) => {
            used = sender
            return isOf(sender, account, account.fingerprint) && isOf(sender, account, marked.fingerprint)
          }
        }),
        Effect.result
      )
    return { answer: rejectOtherCompany(answer, before.idempotencyKey, account.companyId), refusedAs, used }
  })

  /** After a failure: a payout that is still open is tried again, after a wait or by the queue's own schedule. */
  const tryAgain = Effect.fnUntraced(function* (
    before: Row,
    after: Row | undefined,
    account: ReadAccount,
    failure: RequestWithdrawalError,
    now: number,
    standing: Standing | undefined
  ) {
    if (after === undefined) return undefined
    if (!isOpen(after)) return yield* Effect.as(logFailure(core.logPayout, before, after, failure), undefined)
    if (after.mayHaveLeftAt !== null && "reason" in failure && failure.reason === "OtherClientId") {
      return yield* Effect.as(park(after, "OtherClientId"), undefined)
    }
    if (standing === "Alone") yield* logAlone(core.logPayout, after, settings.account)
    const wait =
      standing === "InLine"
        ? Duration.zero
        : standing === "Alone"
          ? alone
          : waitOf(after, failure, { account, horizon, now })
    yield* logFailure(core.logPayout, before, after, failure, wait)
    return wait === undefined ? failure._tag : yield* Effect.as(core.delay(after, wait), undefined)
  })

  /** Returns why the payout has to be tried again by the queue's own schedule, if it has to. */
  return (row: Row, stored: WithdrawalRequestBody, permit: Permit) =>
    Effect.gen(function* () {
      const { account } = permit
      const { fingerprint, marked } = yield* commitMark(row, account)
      const { answer, refusedAs, used } = yield* request(row, marked, account, stored)
      const now = yield* Clock.currentTimeMillis
      const after = yield* record(marked, isInDoubt(row, account), answer, now)
      if (after !== undefined) yield* Effect.annotateCurrentSpan(payoutFields(after))
      const standing = yield* gate.report(permit, after ?? marked, { answer, refusedAs })
      if (Result.isFailure(answer)) {
        const { failure } = answer
        const differs = failure.outcome === "Unknown" ? differsOf(failure) : undefined
        if (differs === "companyId" || differs === "pixKey") yield* reportMismatch(after ?? marked, differs)
        return yield* tryAgain(row, after, account, failure, now, standing)
      }
      // The balance has grown: what it did not cover before is sent in its place among the others.
      if (row.because === "Balance") yield* core.callBack("Balance")
      const { companyId } = answer.success
      if (account.companyId === null && fingerprint !== undefined && used !== undefined && companyId !== undefined) {
        yield* learnCompany(core.store, account.account, fingerprint, used.fingerprint(companyId), companyId)
        yield* gate.forget
      }
      return undefined
    }).pipe(Effect.catchTag("NotSent", ({ again }) => Effect.succeed(again)))
}
