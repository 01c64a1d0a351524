/**
 * The log lines about single payouts: one for the first of a cause, and one a minute for all others, so that an outage has few lines.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as References from "effect/References"
import type * as Scope from "effect/Scope"
import * as Tracer from "effect/Tracer"
import { log } from "../../../internal/spans.ts"
import { Centavos, format } from "../../../pix/Money.ts"
import { type Because, becauses } from "../../PayoutBecause.ts"
import { payoutLabel } from "../machine.ts"
import type { Row } from "./row.ts"
import { payoutFields } from "./signals.ts"

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
