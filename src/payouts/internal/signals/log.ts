/**
 * The log lines about single payouts: one for the first of a cause, and one a minute for all others, so that an outage has few lines.
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as References from "effect/References"
import type * as Scope from "effect/Scope"
import * as Tracer from "effect/Tracer"
import type { RequestWithdrawalError } from "../../../contract/PaymentsError.ts"
import { log } from "../../../internal/spans.ts"
import { Centavos, format } from "../../../pix/Money.ts"
import { type Because, becauses } from "../../PayoutBecause.ts"
import { payoutLabel, differsOf, reasonOf } from "../machine/answers.ts"
import { digestOf, meaningOfFailure } from "../machine/said.ts"
import { isClaimed } from "../machine/conditions.ts"
import type { Found } from "../machine/events.ts"
import { type Row, isOpen } from "../machine/row.ts"
import { payoutFields, causeOf } from "./signals.ts"

/** What happened to payouts, as a summary says it. */
const happened = {
  Waits: "could not be sent, and wait",
  InDoubt: "may have been paid, or not, and are asked about again under their keys",
  Parked: "wait for a person",
  ParkedInDoubt: "wait for a person. MONEY MAY HAVE MOVED",
  Ended: "were not paid, and are not sent again",
  Returned: "failed or came back, as lookups say",
  Unsealed: "have data that could not be sealed, and is not stored",
  Unconfirmed: "have an end that no lookup said, and are not looked up any more",
  Denied: "ended otherwise than webhooks claimed",
  Contradicted: "ended as the service denies. MONEY MAY HAVE MOVED"
} as const

/** A line about one payout. `cause` is one of few words. */
interface PayoutLine {
  readonly level: "Warn" | "Error"
  readonly of: keyof typeof happened
  readonly cause: string
  readonly text: string
}

/** Logs what happened to a payout. */
export type LogPayout = (row: Row, line: PayoutLine) => Effect.Effect<void>

/**
 * Logs what happens to payouts: the first one of a cause at once, in the words of its text, and then one line a minute with the number of
 * the others and their sum, for as long as there are some, and where the scope closes. Each of these has a line for debugging.
 */
export const makePayoutLog = (account: string, scope: Scope.Scope): LogPayout => {
  const amountsOf = new Map<string, Map<string, number>>()
  const summary = (key: string, amounts: Map<string, number>, { cause, level, of }: PayoutLine) =>
    Effect.suspend(() => {
      if (amounts.size === 0) {
        amountsOf.delete(key)
        return Effect.void
      }
      const sum = format(Centavos.make([...amounts.values()].reduce((total, amount) => total + amount, 0)))
      const count = amounts.size
      amounts.clear()
      return log(
        level,
        `${count} more payout(s) of the account ${account}, ${sum}, ${happened[of]}: ${cause}. These are those of the last minute.`,
        { "payments.account": account, "error.type": cause }
      )
    })
  return Effect.fnUntraced(function* (row, line) {
    const { cause, level, of, text } = line
    const key = `${of} ${cause}`
    const known = amountsOf.get(key)
    known?.set(row.idempotencyKey, row.amount)
    const label = payoutLabel(row) + (row.withdrawalId === null ? "" : `, withdrawal ${row.withdrawalId}`)
    yield* log(known === undefined ? level : "Debug", `${text} (${label})`, payoutFields(row))
    if (known !== undefined) return
    const amounts = new Map<string, number>()
    amountsOf.set(key, amounts)
    const next = summary(key, amounts, line)
    const summaries = Effect.repeat(Effect.delay(next, "1 minute"), {
      while: () => amountsOf.get(key) === amounts
    }).pipe(
      Effect.onInterrupt(() => next),
      // It is about no single payout.
      Effect.provideService(References.CurrentLogAnnotations, {}),
      Effect.updateContext((context: Context.Context<never>) => Context.omit(Tracer.ParentSpan)(context))
    )
    // A process that ends at once says what it did, too.
    yield* Effect.forkIn(summaries, scope, { startImmediately: true })
  })
}

/** Logs that a payout was parked, and `said`, what the service said of it. */
export const logParked = (
  logPayout: LogPayout,
  row: Row,
  because: Because<"parked">,
  said = ""
): Effect.Effect<void> => {
  const money =
    row.mayHaveLeftAt !== null
      ? "MONEY MAY HAVE MOVED."
      : because === "WaitedTooLong"
        ? "No request that this database knows of moved money. If a backup was restored, or somebody paid by hand, it may be paid already."
        : "No request of this queue moved money."
  return logPayout(row, {
    level: "Error",
    of: row.mayHaveLeftAt === null ? "Parked" : "ParkedInDoubt",
    cause: because,
    text: `A payout waits for a person: ${because}. ${money} Why: ${becauses.parked[because].en}.${said}`
  })
}

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
  if (!isNew || (["Refused", "Short"].includes(meaningOfFailure(failure).says) && !isInDoubt))
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
