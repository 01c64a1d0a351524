/**
 * The log lines about what an answer made of a payout.
 */
import * as Effect from "effect/Effect"
import type { RequestWithdrawalError } from "../../../contract/PaymentsError.ts"
import { log } from "../../../internal/spans.ts"
import { accountCause, differsOf, digestOf, payoutLabel, reasonOf } from "../machine.ts"
import { type LogPayout, logParked } from "./payoutLog.ts"
import { isOpen, type Row } from "./row.ts"
import { payoutFields, causeOf } from "./signals.ts"

/** The service says the opposite of what is stored. */
export const logContradicted = (logPayout: LogPayout, row: Row): Effect.Effect<void> =>
  logPayout(row, {
    level: "Error",
    of: "Contradicted",
    cause: row.state,
    text:
      row.state === "failed"
        ? "The service says that a payout was executed, which is stored as failed. MONEY MAY HAVE MOVED. Look for what was paid in its place, and in the panel, before you settle it."
        : "The service says that a payout failed, which is stored as paid. MONEY MAY HAVE MOVED: do not pay it again before you looked in the panel, and settled it."
  })

const steps = {
  refused: "When its cause is gone, send it again with retry.",
  failed: "Pay it under a new reference when its cause is gone."
} as const

/** What the service said, masked, as the end of a line. */
const said = (failure: RequestWithdrawalError): string => {
  const reason = reasonOf(failure)
  return reason === undefined ? "" : ` The service said: "${reason}"`
}

/** What a person does about a sentence that nobody knows. */
const judgeIt = (failure: RequestWithdrawalError): string => {
  const digest = digestOf(failure)
  return digest === "-"
    ? "It has no words, so it is settled by itself."
    : `Look it up in the panel, and judge the sentence for all: effect-pix payouts judge ${digest.slice(0, 12)}.`
}

/** A failure ended a payout, or parked it. */
const logEnded = (logPayout: LogPayout, row: Row, failure: RequestWithdrawalError): Effect.Effect<void> => {
  const { because } = row
  const differs = failure.outcome === "Unknown" ? differsOf(failure) : undefined
  // Another company or PIX key has a line of its own.
  if (differs === "companyId" || differs === "pixKey") return Effect.void
  if (because === "SeeRecord") return logParked(logPayout, row, because, said(failure))
  if (because === "RefusalUnknown") return logParked(logPayout, row, because, `${said(failure)} ${judgeIt(failure)}`)
  if (row.state !== "refused" && row.state !== "failed") return Effect.void
  return logPayout(row, {
    level: "Warn",
    of: "Ended",
    cause: failure._tag,
    text: `A payout ${row.state === "failed" ? "failed" : "was refused"}, and is not sent again: ${failure._tag}. No request of this queue moved money. ${steps[row.state]}${said(failure)}`
  })
}

/** A payout is tried again: it is said where its state or the cause is new, and otherwise for debugging. */
const logAgain = (logPayout: LogPayout, before: Row, after: Row, failure: RequestWithdrawalError, wait?: number) => {
  const isNew = before.state !== after.state || causeOf(before) !== causeOf(after)
  const isRequested = "retryAfter" in failure && wait !== undefined
  const when =
    wait === undefined ? "" : ` in ${Math.round(wait / 1000)} seconds${isRequested ? ", as the service asked" : ""}`
  const text = `A payout is tried again${when}: ${failure._tag}`
  const isInDoubt = failure.outcome === "Unknown" && before.mayHaveLeftAt === null
  // One line says what concerns the whole account, but for its payouts in doubt.
  if (!isNew || (accountCause(failure) !== undefined && !isInDoubt))
    return log("Debug", `${text} (${payoutLabel(after)})`, {
      ...payoutFields(after),
      "payments.retry_after": isRequested ? wait / 1000 : undefined
    })
  return logPayout(after, {
    level: "Warn",
    of: isInDoubt ? "InDoubt" : "Waits",
    cause: causeOf(after) ?? failure._tag,
    text: isInDoubt ? `${failure._tag}: ${failure.message}` : `${text}${said(failure).replace(/^ /, ". ")}`
  })
}

/** Logs what a failure made of a payout. `wait`: after how many milliseconds it is tried again. */
export const logFailure = (
  logPayout: LogPayout,
  before: Row,
  after: Row,
  failure: RequestWithdrawalError,
  wait?: number
): Effect.Effect<void> =>
  isOpen(after) ? logAgain(logPayout, before, after, failure, wait) : logEnded(logPayout, after, failure)
