/**
 * The log lines about what an answer made of a payout.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { RequestWithdrawalError } from "../../../contract/PaymentsError.ts"
import { log } from "../../../internal/spans.ts"
import { accountWideRefusal, payoutLabel, reasonOf } from "../machine.ts"
import type { Row } from "./row.ts"
import { payoutFields, causeOf, logParked } from "./signals.ts"
import { longestWait } from "./waits.ts"

/** The service says the opposite of what is stored. */
export const logContradicted = (row: Row): Effect.Effect<void> =>
  log(
    "Error",
    row.state === "failed"
      ? `The service says that a payout was executed, which is stored as failed (${payoutLabel(row)}). MONEY MAY HAVE MOVED. Look in the panel, and settle it.`
      : `The service says that a payout failed, which is stored as paid (${payoutLabel(row)}). MONEY MAY HAVE MOVED: do not pay it again before you looked in the panel, and settled it.`,
    payoutFields(row)
  )

const steps = {
  refused: "When its cause is gone, send it again with retry.",
  failed: "Pay it under a new reference when its cause is gone."
} as const

/** What the service said, masked, as the end of a line. */
const said = (failure: RequestWithdrawalError): string => {
  const reason = reasonOf(failure)
  return reason === undefined ? "" : ` The service said: "${reason}"`
}

/** A failure ended a payout, or parked it. */
export const logEnded = (row: Row, failure: RequestWithdrawalError): Effect.Effect<void> => {
  const { parkedBecause } = row
  if (parkedBecause === "RecordedAsFailed" || parkedBecause === "FailedInDoubt")
    return logParked(row, parkedBecause, said(failure))
  if (row.state !== "refused" && row.state !== "failed") return Effect.void
  return log(
    "Warn",
    `A payout was refused, and is not sent again: ${failure._tag} (${payoutLabel(row)}). No request of this queue moved money. ${steps[row.state]}${said(failure)}`,
    payoutFields(row)
  )
}

/** A payout is tried again: a warning where its state or the cause is new, and otherwise for debugging. */
export const logAgain = (before: Row, after: Row, failure: RequestWithdrawalError, wait?: Duration.Duration) => {
  const isNew = before.state !== after.state || causeOf(before) !== causeOf(after)
  // The client warns of a doubt that begins in its call, and one line of what concerns the whole account.
  const isKnown =
    (failure.outcome === "Unknown" && before.mayHaveLeftAt === null) ||
    accountWideRefusal(failure) !== undefined ||
    after.waitsFor === "InsufficientBalance"
  const isRequested = "retryAfter" in failure && wait !== undefined
  const when =
    wait === undefined
      ? ""
      : ` in ${Math.round(Duration.toSeconds(wait))} seconds${isRequested ? ", as the service asked" : ""}`
  return log(
    isNew && !isKnown ? "Warn" : "Debug",
    `A payout is tried again${when}: ${failure._tag} (${payoutLabel(after)})${said(failure).replace(/^ /, ". ")}`,
    { ...payoutFields(after), "payments.retry_after": isRequested ? Duration.toSeconds(wait) : undefined }
  )
}

/** Warns that the balance covers no more, once for as long as payouts wait for it. */
export const makeBalanceWarning = (account: string) => {
  let shortAt = Number.NEGATIVE_INFINITY
  return Effect.fnUntraced(function* (row: Row, now: number) {
    if (row.waitsFor !== "InsufficientBalance") return
    const isNew = now - shortAt > Duration.toMillis(longestWait) + 300_000
    shortAt = now
    if (!isNew) return
    yield* log(
      "Warn",
      `The balance of the account ${account} does not cover a payout (${payoutLabel(row)}). Payouts wait for it, and are sent when it covers them.`,
      payoutFields(row)
    )
  })
}
