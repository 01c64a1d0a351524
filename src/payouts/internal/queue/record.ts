/**
 * Stores the answer of a request, with the payee that a record names and the reason of a refusal, and reports a record that is about another payee or
 * company.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import type { GatewayFacts } from "../../../client/GatewayFacts.ts"
import type { RequestWithdrawalError } from "../../../contract/PaymentsError.ts"
import { meaningOf } from "../../../contract/Status.ts"
import type { Withdrawal } from "../../../contract/Withdrawal.ts"
import { makeWarn } from "../../../durable/Work.ts"
import { log } from "../../../internal/spans.ts"
import type { Seal } from "../../Seal.ts"
import { PayoutPayee } from "../../PayoutStatus.ts"
import { afterAnswer, digestOf, payoutLabel, reasonOf } from "../machine.ts"
import type { Core } from "./core.ts"
import type { Report } from "./report.ts"
import type { Row } from "./row.ts"
import { makeSealing } from "./sealing.ts"
import { judgedAs } from "./sentences.ts"
import { payoutFields } from "./signals.ts"

const StoredPayee = Schema.fromJsonString(PayoutPayee)
const writePayee = Schema.encodeSync(StoredPayee)
/** Reads a stored payee; none where the text is not one. */
export const readPayee = Schema.decodeUnknownOption(StoredPayee)

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
