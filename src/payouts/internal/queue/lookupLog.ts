/**
 * The log lines about what a lookup made of a payout.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { log } from "../../../internal/spans.ts"
import { payoutLabel } from "../machine.ts"
import { isClaimed } from "./conditions.ts"
import type { Found } from "./events.ts"
import type { LogPayout } from "./payoutLog.ts"
import type { Row } from "./row.ts"
import { payoutFields } from "./signals.ts"

/** The record of its withdrawal is that of another payout. */
export const logOther = (row: Row, others: ReadonlyArray<string>): Effect.Effect<void> =>
  log(
    "Error",
    `The lookup of a payout's withdrawal shows another one: ${others.join(", ")} (${payoutLabel(row)}, withdrawal ${row.withdrawalId}). Nothing was changed by it. Look in the panel.`,
    payoutFields(row)
  )

/** A lookup said how a payout ended, or something else than a webhook claimed. What it contradicts has a line of its own. */
export const logFound = (
  logPayout: LogPayout,
  before: Row,
  after: Row,
  found: Found,
  said: string | undefined
): Effect.Effect<void> => {
  const says = `the lookup says ${found.word ?? "a word that is not listed"}`
  if (after.state !== before.state && after.state !== "paid") {
    const what = after.state === "returned" ? "came back" : "failed"
    return logPayout(after, {
      level: "Warn",
      of: "Returned",
      cause: after.state,
      text: `A payout ${what}: ${says}. Nothing is paid again by itself.${said === undefined ? "" : ` The service said: "${said}"`}`
    })
  }
  const isDenied =
    isClaimed.of({ payout: before }) && !isClaimed.of({ payout: after }) && before.endedAs !== found.meaning
  return isDenied
    ? logPayout(after, {
        level: "Warn",
        of: "Denied",
        cause: before.endedAs ?? "",
        text: `A webhook claimed that a payout ${before.endedAs}, and ${says}.`
      })
    : Effect.void
}

/** What a lookup could not say for as long as it is looked up. */
export const logUnconfirmed = (logPayout: LogPayout, before: Row, after: Row, until: number): Effect.Effect<void> =>
  before.lookups !== null && after.lookups === null && after.state === "posted"
    ? logPayout(after, {
        level: "Error",
        of: "Unconfirmed",
        cause: "posted",
        text: `No lookup said within ${Duration.format(Duration.millis(until))} how a payout ended. It is not looked up any more. Look in the panel or the statement, and settle it.`
      })
    : Effect.void

const accountFields = (account: string) => ({ "payments.account": account })

/** The service knows none of the withdrawals that it named. */
export const logStopped = (account: string): Effect.Effect<void> =>
  log(
    "Error",
    `Payouts of the account ${account} are not confirmed any more: the service does not know a withdrawal that it named an hour ago or longer. One is looked up an hour until a record is found. Ask your gateway whether it has the lookup, with effect-pix doctor --withdrawal ID; if it has none, leave confirm out, and settle what is posted by the statement.`,
    accountFields(account)
  )

/** A record was found again. */
export const logResumed = (account: string): Effect.Effect<void> =>
  log("Info", `Payouts of the account ${account} are confirmed again.`, accountFields(account))

/** The worker's lookup has other credentials than the account. */
export const logOtherSender = (account: string, known: string | null, fingerprint: string): Effect.Effect<void> =>
  log(
    "Error",
    `No payout of the account ${account} is confirmed: the credentials of the worker's WithdrawalLookup (fingerprint ${fingerprint}) are not those of the account (${known}).`,
    accountFields(account)
  )
