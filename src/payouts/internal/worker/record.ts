/**
 * Stores the answer of a request, with the payee that a record names and the reason of a refusal, and reports what it says of the account:
 * a record of another payee or company, ten ends in a row, and what the account waits for.
 */
import * as Cause from "effect/Cause"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import type { GatewayFacts } from "../../../client/GatewayFacts.ts"
import type { RequestWithdrawalError } from "../../../contract/PaymentsError.ts"
import { meaningOf } from "../../../contract/Status.ts"
import type { Withdrawal } from "../../../contract/Withdrawal.ts"
import { makeWarn } from "../../../durable/Work.ts"
import { log } from "../../../internal/spans.ts"
import type { Settings } from "../../PayoutQueueOptions.ts"
import type { PayoutPayee } from "../../PayoutStatus.ts"
import type { Seal } from "../../Seal.ts"
import { afterAnswer, payoutLabel, reasonOf } from "../machine/answers.ts"
import { digestOf, type Said } from "../machine/said.ts"
import type { Core } from "../core.ts"
import { judgedAs, writePause, writePayee } from "../store/entries.ts"
import type { LogPayout } from "../signals/log.ts"
import { placeOf, unsealed } from "../store/request.ts"
import type { Row } from "../machine/row.ts"
import { payoutFields } from "../signals/signals.ts"
import { endsToHold, type Permit, type Take } from "./take.ts"

const payeeOf = ({ creditorDocument, pixKey }: Withdrawal): PayoutPayee => ({
  ...(creditorDocument !== undefined && { creditorDocument }),
  ...(pixKey !== undefined && { pixKey })
})

export const makeRecord = (core: Core, hold: Report["hold"], seal: Seal, { statuses }: GatewayFacts) => {
  const { sealReason, sealText } = makeSealing(seal, core.logPayout)

  const sealPayee = (row: Row, withdrawal: Withdrawal): Effect.Effect<string | null> => {
    const payee = payeeOf(withdrawal)
    return Object.keys(payee).length === 0 ? Effect.succeed(null) : sealText(row, "payee", writePayee(payee))
  }

  /**
   * Logs that the service recorded the payout for another PIX key or company. Another company means that the
   * credentials are not those of the account, so the account is paused.
   */
  const reportMismatch = Effect.fnUntraced(function* (row: Row, mismatch: "companyId" | "pixKey") {
    const other = mismatch === "pixKey" ? "another PIX key" : "another company"
    yield* log(
      "Error",
      `The service recorded a payout for ${other} than was asked for (${payoutLabel(row)}). MONEY MAY HAVE MOVED. Look in the panel.`,
      payoutFields(row)
    )
    if (mismatch !== "companyId") return
    const note = `The service recorded the payout ${row.reference} for another company than that of the account.`
    yield* hold(note)
  })

  const unstored = makeWarn(
    "The answer to the request of a payout could not be stored, and is stored again. It is in doubt until then"
  )
  /** Stores the answer of a request. */
  const record = Effect.fnUntraced(function* (
    before: Row,
    marked: Row,
    isInDoubt: boolean,
    answer: Result.Result<Withdrawal, RequestWithdrawalError>,
    now: number
  ) {
    const { idempotencyKey, sends } = marked
    const payee = Result.isSuccess(answer) ? yield* sealPayee(marked, answer.success) : null
    const isUnlisted =
      Result.isSuccess(answer) && meaningOf(answer.success.enTransaction, "payout", statuses) === "unlisted"
    const reason = Result.isSuccess(answer) ? null : yield* sealReason(marked, reasonOf(answer.failure))
    const digest = Result.isFailure(answer) ? digestOf(answer.failure) : "-"
    const readJudged = digest === "-" ? Effect.undefined : Effect.map(core.store.sentences.judgement(digest), judgedAs)
    // A refusal proves that no request was executed only if this request's mark is the last one.
    const factOf = (row: Row) => afterAnswer(answer, idempotencyKey, isInDoubt || row.sends !== sends)
    const changed = Effect.flatMap(readJudged, (judged) =>
      core.stepBy(
        marked,
        (row) => ({
          ...factOf(row),
          now,
          payee,
          isUnlisted,
          reason,
          request: sends,
          judged,
          wantedAt: before.wantedAt
        }),
        // No answer is refused.
        (_, problem) => Effect.die(problem)
      )
    )
    const told = Effect.tapError(changed, (error) => unstored(Cause.fail(error), payoutFields(marked)))
    // The answer is stored nowhere else, so this is retried for a minute; longer where statements wait before they fail.
    return yield* Effect.retry(told, { schedule: Schedule.spaced("500 millis"), times: 120 })
  })

  return { record, reportMismatch }
}

/** Seals texts of a row. What fails or takes too long is not stored, so that the rest is. */
export const makeSealing = (seal: Seal, logPayout: LogPayout) => {
  const sealText = (row: Row, what: "payee" | "reason", text: string): Effect.Effect<string | null> => {
    const line = { level: "Error", of: "Unsealed", cause: what } as const
    return Effect.suspend(() => seal.seal(text, placeOf(row, what))).pipe(
      Effect.timeoutOrElse({ duration: "5 seconds", orElse: () => Effect.die("the seal took too long") }),
      Effect.catchDefect(() =>
        Effect.as(
          logPayout(row, { ...line, text: `The ${what} of a record could not be sealed, and is not stored` }),
          null
        )
      )
    )
  }
  /** The service's words, which may name a person: nothing stores them in clear. */
  const sealReason = (row: Row, words: string | undefined) =>
    words === undefined || seal === unsealed ? Effect.succeed(null) : sealText(row, "reason", words)
  return { sealText, sealReason }
}

export type Report = ReturnType<typeof makeReport>

export const makeReport = (
  { accountChanged, logPayout, store: { accounts } }: Core,
  take: Take,
  { account }: Settings
) => {
  const fields = { "payments.account": account }
  /** Whether this process has counted an end since the service took a payout. */
  let hasCounted = false

  /** Pauses the account, and says why in its history. */
  const hold = Effect.fnUntraced(function* (note: string) {
    const at = yield* DateTime.now
    yield* Effect.andThen(accounts.setPaused(true, writePause({ at, paused: true, note })), accountChanged)
  })

  const countEnds = Effect.fnUntraced(function* (
    permit: Permit,
    { state }: Row,
    error: RequestWithdrawalError | undefined
  ) {
    if (error === undefined) {
      if (!hasCounted && permit.account.endsInRow === 0) return
      hasCounted = false
      return yield* Effect.andThen(accounts.endRow, take.forget)
    }
    if (state !== "refused" && state !== "failed") return
    hasCounted = true
    const count = yield* Effect.tap(accounts.countEnd, take.forget)
    if (count < endsToHold || (yield* take.current).paused) return
    const text = `${count} payouts in a row were refused or failed, and the service took none between them.`
    yield* hold(text)
    yield* log(
      "Error",
      `The payouts of the account ${account} are paused: ${text} See why in effect-pix payouts list, and continue when that is right.`,
      fields
    )
  })

  /** Stores what an answer says about all payouts of the account. */
  const report = Effect.fnUntraced(function* (
    permit: Permit,
    row: Row,
    said: Said,
    error: RequestWithdrawalError | undefined
  ) {
    yield* countEnds(permit, row, error)
    const changed = yield* take.retime(permit, said)
    if (changed === undefined) return
    const { after, before } = changed
    if (before.heldBecause === null && after.heldBecause !== null) {
      const words = error === undefined ? undefined : reasonOf(error)
      const what =
        after.heldBecause === "Outage" ? "The service leaves payouts in doubt" : "The service refuses the payouts"
      const text = `${what} of the account ${account}: ${after.heldBecause}.${words === undefined ? "" : ` The service said: "${words}".`} One payout at a time is tried until it takes one.`
      yield* logPayout(row, { level: "Warn", of: "Waits", cause: after.heldBecause, text })
    }
    if (before.heldBecause !== null && after.heldBecause === null)
      yield* log("Info", `The service takes the requests of the account ${account} again.`, {
        ...payoutFields(row),
        ...fields
      })
  })

  return { hold, report }
}
