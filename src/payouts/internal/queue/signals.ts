/**
 * The metrics of the queue, and the attributes of its log lines. Labels are states and causes, so there are few.
 */
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Latch from "effect/Latch"
import { fingerprint } from "../../../contract/IdempotencyKey.ts"
import { measureClock } from "../../../durable/Now.ts"
import { measureRepeatedly, reportUntil } from "../../../durable/Work.ts"
import { maxNamedWords } from "../../../internal/bounds.ts"
import { counter, gauge, setToNow, update } from "../../../internal/metrics.ts"
import { errorType, log } from "../../../internal/spans.ts"
import { logFields } from "../machine.ts"
import { Centavos, format } from "../../../pix/Money.ts"
import { becauseOf, becauses } from "../../PayoutBecause.ts"
import type { EndedBy, PayoutState } from "../../PayoutState.ts"
import type { Account } from "./account.ts"
import { becauseHeld, heldOf } from "./held.ts"
import { type Count, failureOf, type Row } from "./row.ts"
import type { Settings } from "../../PayoutQueueOptions.ts"
import type { Store } from "./store.ts"
import { dayInSaoPaulo } from "../../../internal/utc.ts"
import { dayOf } from "./waits.ts"

const waiting = gauge(
  "effect_pix_payout_queue_waiting",
  "{payout}",
  "Payouts that wait, by their state: accepted, unknown, parked for a person, or posted without a known end"
)
const oldest = gauge(
  "effect_pix_payout_queue_oldest_seconds",
  "s",
  "How long the oldest payout of a state has been waiting"
)
const centavos = gauge(
  "effect_pix_payout_queue_centavos",
  "{centavo}",
  "The sum of the payouts that wait, by their state"
)
const toCheck = gauge(
  "effect_pix_payout_queue_to_check",
  "{payout}",
  "Payouts whose end a person has to check, by the cause: claimed to have ended otherwise, contradicted, unconfirmed, or posted with an unlisted word"
)
const toCheckCentavos = gauge(
  "effect_pix_payout_queue_to_check_centavos",
  "{centavo}",
  "The sum of the payouts whose end a person has to check, by the cause"
)
const delayed = gauge(
  "effect_pix_payout_queue_delayed",
  "{payout}",
  "Payouts that cannot be sent now, by what they wait for"
)
const delayedCentavos = gauge(
  "effect_pix_payout_queue_delayed_centavos",
  "{centavo}",
  "The sum of the payouts that cannot be sent now, by what they wait for"
)
const served = gauge(
  "effect_pix_payout_queue_served",
  "{flag}",
  "Whether a worker ever served the account: 1 or 0. While it is 0, nothing is sent"
)
const paused = gauge("effect_pix_payout_queue_paused", "{flag}", "Whether the workers are stopped by setPaused: 1 or 0")
const confirmingStopped = gauge(
  "effect_pix_payout_queue_confirming_stopped",
  "{flag}",
  "Whether payouts are not confirmed, since the service does not know the withdrawals that it named: 1 or 0"
)
const measured = gauge(
  "effect_pix_payout_queue_measured_seconds",
  "s",
  "When the gauges were measured last, in seconds since 1970"
)
const changes = counter(
  "effect_pix_payout_queue_changes_total",
  "{payout}",
  "Payouts that came into a state, with the cause of a failure"
)

const calls = counter(
  "effect_pix_payout_queue_handlers_total",
  "{call}",
  "Calls of your onState by result: Success, Failure, or Dead for one that is not repeated"
)
const statesWaiting = gauge(
  "effect_pix_payout_queue_states",
  "{state}",
  "States of payouts that wait for your onState, also behind a dead letter"
)
const statesOldest = gauge(
  "effect_pix_payout_queue_states_oldest_seconds",
  "s",
  "How long the oldest of these states has been waiting"
)
/** Counts a call of `onState`. `errorType` is absent for a success. */
export const countHandOut = (
  account: string,
  result: "Success" | "Failure" | "Dead",
  errorType: string | undefined
): Effect.Effect<void> => update(calls, 1, { account, result, "error.type": errorType })

/** Measures what waits for `onState`, and returns its number: one statement, where a worker ever had it. */
const measureStates = ({ states }: Store, { account, handsOut }: Account, now: number) =>
  handsOut
    ? states.letters.measure({ waiting: statesWaiting, oldest: statesOldest }, ["account", account], now)
    : Effect.succeed(0)

const ends = counter(
  "effect_pix_payout_queue_ends_total",
  "{payout}",
  "Payouts that ended, by their state, who said so, and the error"
)
const endsCentavos = counter(
  "effect_pix_payout_queue_ends_centavos_total",
  "{centavo}",
  "The sum of the payouts that ended, by their state, who said so, and the error"
)

/** Who said so, where no row stores it. */
const saidBy: Partial<Record<PayoutState, EndedBy>> = { refused: "answer", cancelled: "person" }
const isEnd = ({ state }: Row) => state in saidBy || state === "paid" || state === "failed" || state === "returned"

/** The cause of a row's last failure, for `error.type`. */
export const causeOf = (row: Row): string | undefined => {
  const failure = failureOf(row)
  return failure && errorType(failure)
}

/** Counts a payout that has a new state. */
export const countChange = (row: Row): Effect.Effect<void> => {
  const { account, amount, endedBy, state } = row
  const changed = update(changes, 1, { account, state, "error.type": causeOf(row), result: failureOf(row)?._tag })
  if (!isEnd(row)) return changed
  const end = { account, state, by: saidBy[state] ?? endedBy ?? undefined, result: failureOf(row)?._tag }
  return Effect.all([changed, update(ends, 1, end), update(endsCentavos, amount, end)], { discard: true })
}

/** Whether any request of a payout may have moved money, for `payments.outcome`. */
const outcomeOf = (row: Row) => {
  const failure = failureOf(row)
  if (row.withdrawalId !== null && failure?._tag !== "WithdrawalFailed") return "Executed"
  return row.mayHaveLeftAt === null ? (failure?.outcome ?? "NotSent") : "Unknown"
}

/** The attributes of a payout of which only the key is known. */
export const keyFields = (idempotencyKey: string) => ({
  "payments.operation": "requestWithdrawal",
  "payments.idempotency_key_hash": fingerprint(idempotencyKey)
})

/** The attributes that name the payout of a span. */
export const spanFields = (row: Row) => ({ ...keyFields(row.idempotencyKey), ...logFields(row) })

/** The attributes of a log line about a payout, and of its span at the end. */
export const payoutFields = (row: Row): Readonly<Record<string, unknown>> => {
  const cause = causeOf(row)
  return {
    ...spanFields(row),
    "payments.account": row.account,
    "payments.attempts": row.sends,
    "payments.outcome": outcomeOf(row),
    ...(cause !== undefined && { "error.type": cause })
  }
}

const states = ["accepted", "unknown", "parked"] as const
const checks = ["Claimed", "Contradicted", "Unconfirmed"] as const
const dayMillis = 86_400_000
/** Where nothing says how payouts ended, all stay posted. So only those of the last 35 days are counted. */
const postedFor = 35 * dayMillis
/** What is not counted in a state: what waits for its time, or is under way within its deadline. */
const noAlarm = { accepted: "NotBefore", unknown: "UnderWay", parked: undefined } as const
/** Why accepted payouts wait as it is meant. */
const meant: ReadonlySet<string | undefined> = new Set(
  becauseOf.accepted.literals.filter((because) => becauses.accepted[because].alert === undefined)
)
const isAccepted = ({ state }: Count) => state === "accepted"

/** The number of payouts of some counts, and their sum in centavos. */
const total = (counts: ReadonlyArray<Count>) => ({
  count: counts.reduce((sum, of) => sum + of.count, 0),
  amount: counts.reduce((sum, of) => sum + of.amount, 0)
})

/** Sets the gauges of the payouts that wait in a state. `since` is when the oldest one is late from. */
const measureState = Effect.fnUntraced(function* (
  labels: { readonly account: string; readonly state: string },
  found: ReadonlyArray<Count>,
  now: number,
  since: number = Math.min(now, ...found.map((of) => of.oldest))
) {
  const { amount, count } = total(found)
  yield* update(waiting, count, labels)
  yield* update(oldest, Math.max(0, now - since) / 1000, labels)
  yield* update(centavos, amount, labels)
  return count
})

/**
 * Measures the payouts of an account that wait every minute, and soon after a change (`hasNews`), also in a process without a worker:
 * two statements, and one where states are handed out. Times are the database's.
 */
export const measures = Effect.fnUntraced(function* (store: Store, { account }: Settings, hasNews: Latch.Latch) {
  const nextWrite = yield* store.followWrites
  let parked = 0
  /** The unlisted words that this process has counted: their gauges go back to 0. */
  const words = new Set<string>()
  let dayAhead: string | undefined
  /** A day that lies ahead has a sum only where a clock was wrong. */
  const warnOfDayAhead = Effect.fnUntraced(function* (readAt: number) {
    const today = dayInSaoPaulo(DateTime.makeUnsafe(readAt))
    const found = yield* store.accounts.dayAfter(today)
    if (found === undefined || found.day === dayAhead) return
    dayAhead = found.day
    yield* log(
      "Warn",
      `${format(Centavos.make(found.spent))} of the account ${account} are counted on ${found.day}, which lies ahead: a clock was wrong. They count against the cap of that day.`,
      { "payments.account": account }
    )
  })
  const measure = Effect.gen(function* () {
    const row = yield* store.accounts.get
    const { ahead, readAt: now } = row
    yield* measureClock(ahead)
    // While the database cannot be reached, the gauges have their last values and this gauge is not updated.
    const markMeasured = setToNow(measured, { account }, ahead)
    const found = yield* store.counts(now - postedFor, now + Duration.toMillis(dayOf(now).left) - dayMillis)
    const counts = found.filter(({ of }) => of === "Waits")
    const posted = found.filter(({ of }) => of === "Posted")
    const measurePosted = Effect.flatMap(Clock.currentTimeMillis, (at) =>
      measureState({ account, state: "posted" }, posted, at + ahead)
    )
    yield* measurePosted
    const checked = found.filter(({ of }) => of === "ToCheck")
    for (const { word } of checked) if (word !== null && words.size < maxNamedWords) words.add(word)
    const ofWord = (word: string | null) => (word === null || words.has(word) ? word : "other")
    const labels = [
      ...checks.map((cause) => [cause, null] as const),
      ...[...words, "other"].map((word) => ["Unlisted", word] as const)
    ]
    for (const [cause, word] of labels) {
      const { amount, count } = total(checked.filter((one) => one.cause === cause && ofWord(one.word) === word))
      const of = { account, cause, word: word ?? undefined }
      yield* update(toCheck, count, of)
      yield* update(toCheckCentavos, amount, of)
    }
    const held = heldOf(row, now)
    const causeOfCount = ({ cause }: Count) => becauseHeld(cause, held)
    // What waits for its time, or for nothing that this version knows, waits since its account would let it leave.
    const late = counts.filter((of) => isAccepted(of) && !meant.has(causeOfCount(of)))
    const lateSince = late.map(({ cause, oldest: since }) =>
      cause === null || cause === "Unreadable" ? Math.max(since, held.since) : since
    )
    for (const state of states) {
      const ofState = counts.filter(({ cause, state: of }) => of === state && cause !== noAlarm[state])
      const since = state === "accepted" ? Math.min(now, ...lateSince) : undefined
      const count = yield* measureState({ account, state }, ofState, now, since)
      if (state === "parked" && count !== parked) {
        parked = count
        yield* log("Warn", `${count} payout(s) wait for a person: list({ state: "parked" }) names them.`, {
          "payments.account": account,
          "payouts.parked": count
        })
      }
    }
    for (const cause of becauseOf.accepted.literals) {
      const { amount, count } = total(counts.filter((of) => isAccepted(of) && causeOfCount(of) === cause))
      yield* update(delayed, count, { account, cause })
      yield* update(delayedCentavos, amount, { account, cause })
    }
    yield* update(paused, row.paused ? 1 : 0, { account })
    yield* update(served, row.servedAt === null ? 0 : 1, { account })
    yield* update(confirmingStopped, row.lookupsStoppedAt === null ? 0 : 1, { account })
    yield* warnOfDayAhead(now)
    const open = yield* measureStates(store, row, now)
    yield* markMeasured
    // Payouts that wait grow older. Where none waits, nothing but the age of what is posted changes before the next write.
    if (counts.length === 0 && open === 0) yield* reportUntil(nextWrite, Effect.andThen(measurePosted, markMeasured))
  })
  return yield* measureRepeatedly("Counting payouts", hasNews, measure)
}, Effect.scoped)
