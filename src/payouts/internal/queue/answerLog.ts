/**
 * The log lines about what an answer made of a payout.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { RequestWithdrawalError } from "../../../contract/PaymentsError.ts"
import { log } from "../../../internal/spans.ts"
import { Centavos, format } from "../../../pix/Money.ts"
import { accountCause, payoutLabel, reasonOf } from "../machine.ts"
import type { Row } from "./row.ts"
import { payoutFields, causeOf, logParked } from "./signals.ts"

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

/** Says why a payout waits. */
export type LogWait = (row: Row, cause: string, text: string) => Effect.Effect<void>

/**
 * Warns that payouts wait: the first one at once, in the words of its text, and then one line a minute with their number and sum, for as long
 * as more of them do.
 */
export const makeWaitLog = (account: string, scope: Scope.Scope): LogWait => {
  let isWarned = false
  let causes = new Set<string>()
  const amounts = new Map<string, number>()
  const attributes = { "payments.account": account }
  const summary = Effect.suspend(() => {
    if (amounts.size === 0) {
      isWarned = false
      return Effect.void
    }
    const sum = format(Centavos.make([...amounts.values()].reduce((total, amount) => total + amount, 0)))
    const text = `${amounts.size} payout(s) of the account ${account}, ${sum}, could not be sent in the last minute, and wait: ${[...causes].join(", ")}.`
    amounts.clear()
    causes = new Set()
    return log("Warn", text, attributes)
  })
  const summaries = Effect.repeat(Effect.delay(summary, "1 minute"), { while: () => isWarned })
  return Effect.fnUntraced(function* (row, cause, text) {
    const line = `${text} (${payoutLabel(row)})`
    if (isWarned) {
      amounts.set(row.idempotencyKey, row.amount)
      causes.add(cause)
      return yield* log("Debug", line, { ...payoutFields(row), ...attributes })
    }
    isWarned = true
    yield* Effect.forkIn(summaries, scope)
    yield* log("Warn", line, { ...payoutFields(row), ...attributes })
  })
}

/** A payout is tried again: it is said where its state or the cause is new, and otherwise for debugging. */
export const logAgain = (
  logWait: LogWait,
  before: Row,
  after: Row,
  failure: RequestWithdrawalError,
  wait?: Duration.Duration
) => {
  const isNew = before.state !== after.state || causeOf(before) !== causeOf(after)
  // The client warns of a doubt that begins in its call, and one line says what concerns the whole account.
  const isKnown =
    (failure.outcome === "Unknown" && before.mayHaveLeftAt === null) || accountCause(failure) !== undefined
  const isRequested = "retryAfter" in failure && wait !== undefined
  const when =
    wait === undefined
      ? ""
      : ` in ${Math.round(Duration.toSeconds(wait))} seconds${isRequested ? ", as the service asked" : ""}`
  const text = `A payout is tried again${when}: ${failure._tag}`
  return isNew && !isKnown
    ? logWait(after, failure._tag, `${text}${said(failure).replace(/^ /, ". ")}`)
    : log("Debug", `${text} (${payoutLabel(after)})`, {
        ...payoutFields(after),
        "payments.retry_after": isRequested ? Duration.toSeconds(wait) : undefined
      })
}

/** The balance covers other payouts, and not this one: it does not hold them up. */
export const logAlone = (row: Row, account: string): Effect.Effect<void> =>
  log(
    "Error",
    `The balance of the account ${account} covers other payouts, and not this one (${payoutLabel(row)}). It is tried once an hour, and the others are sent before it.`,
    { ...payoutFields(row), "payments.account": account }
  )
