/**
 * The metrics of the queue, and the attributes of its log lines. Labels are states and causes, so there are few.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Latch from "effect/Latch"
import * as Number from "effect/Number"
import * as Record from "effect/Record"
import { fingerprint } from "../../../contract/IdempotencyKey.ts"
import { measureClock } from "../../../durable/Now.ts"
import { measureRepeatedly, reportUntil } from "../../../durable/Work.ts"
import { maxNamedWords } from "../../../internal/bounds.ts"
import { counter, gauge, setToNow, update } from "../../../internal/metrics.ts"
import { errorType, log } from "../../../internal/spans.ts"
import { logFields } from "../machine/answers.ts"
import { becauseOf, becauses } from "../../PayoutBecause.ts"
import type { EndedBy, PayoutState } from "../../PayoutState.ts"
import { becauseHeld, heldOf } from "../machine/accountTime.ts"
import { type Count, failureOf, type Row } from "../machine/row.ts"
import type { Settings } from "../../PayoutQueueOptions.ts"
import type { Store } from "../store/store.ts"
import { dayOf } from "../machine/days.ts"

const [prefix, sums] = ["effect_pix_payout_queue_", "The sum of the payouts that"]
const gaugesOf = <Name extends string>(unit: string, texts: Record.ReadonlyRecord<Name, string>) =>
  Record.map(texts, (text, name) => gauge(prefix + name, unit, text))

const gauges = {
  ...gaugesOf("{payout}", {
    waiting: "Payouts that wait, by their state: accepted, unknown, parked for a person, or posted without a known end",
    to_check:
      "Payouts whose end a person has to check, by the cause: claimed to have ended otherwise, contradicted, unconfirmed, or posted with an unlisted word",
    delayed: "Payouts that cannot be sent now, by what they wait for"
  }),
  ...gaugesOf("{centavo}", {
    centavos: `${sums} wait, by their state`,
    to_check_centavos: "The sum of the payouts whose end a person has to check, by the cause",
    delayed_centavos: `${sums} cannot be sent now, by what they wait for`
  }),
  ...gaugesOf("{flag}", {
    served: "Whether a worker ever served the account: 1 or 0. While it is 0, nothing is sent",
    paused: "Whether the workers are stopped by setPaused: 1 or 0"
  }),
  ...gaugesOf("{state}", {
    states: "States of payouts that wait for your onState, also behind a dead letter"
  }),
  ...gaugesOf("s", {
    oldest_seconds: "How long the oldest payout of a state has been waiting",
    measured_seconds: "When the gauges were measured last, in seconds since 1970",
    states_oldest_seconds: "How long the oldest of these states has been waiting"
  })
}

const changes = counter(
  `${prefix}changes_total`,
  "{payout}",
  "Payouts that came into a state, with the cause of a failure"
)
const calls = counter(
  `${prefix}handlers_total`,
  "{call}",
  "Calls of your onState by result: Success, Failure, or Dead for one that is not repeated"
)
const ended = "ended, by their state, who said so, and the error"
const ends = counter(`${prefix}ends_total`, "{payout}", `Payouts that ${ended}`)
const endsCentavos = counter(`${prefix}ends_centavos_total`, "{centavo}", `${sums} ${ended}`)

/** Counts a call of `onState`. `errorType` is absent for a success. */
export const countHandOut = (
  account: string,
  result: "Success" | "Failure" | "Dead",
  errorType: string | undefined
): Effect.Effect<void> => update(calls, 1, { account, result, "error.type": errorType })

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
const oldestOf = (some: ReadonlyArray<Count>) => some.map(({ oldest }) => oldest)

/**
 * Measures the payouts of an account that wait every minute, and soon after a change (`hasNews`), also in a process without a worker:
 * two statements, and one where states are handed out. Times are the database's.
 */
export const measures = Effect.fnUntraced(function* (store: Store, { account }: Settings, hasNews: Latch.Latch) {
  const nextWrite = yield* store.followWrites
  const set = (name: keyof typeof gauges, value: number, labels?: Record.ReadonlyRecord<string, string | undefined>) =>
    update(gauges[name], value, { account, ...labels })
  const isSet = (name: "served" | "paused", is: boolean) => set(name, is ? 1 : 0)
  /** Sets the number of some payouts, and their sum in centavos. */
  const setSum = Effect.fnUntraced(function* (
    name: "waiting" | "to_check" | "delayed",
    found: ReadonlyArray<Count>,
    labels: Record.ReadonlyRecord<string, string | undefined>
  ) {
    const [count, amount] = [Number.sumAll(found.map((of) => of.count)), Number.sumAll(found.map((of) => of.amount))]
    yield* set(name, count, labels)
    yield* set(name === "waiting" ? "centavos" : `${name}_centavos`, amount, labels)
    return count
  })
  /** The same of a state. `since` is when the oldest one is late from. */
  const setState = (state: PayoutState, found: ReadonlyArray<Count>, now: number, since: ReadonlyArray<number>) =>
    Effect.andThen(
      set("oldest_seconds", Math.max(0, now - Math.min(now, ...since)) / 1000, { state }),
      setSum("waiting", found, { state })
    )
  let parked = 0
  let isUnservedTold = false
  const warn = (text: string, attributes?: Record.ReadonlyRecord<string, unknown>) =>
    log("Warn", text, { "payments.account": account, ...attributes })
  /** The unlisted words that this process has counted: their gauges go back to 0. */
  const words = new Set<string>()
  const measureChecks = Effect.fnUntraced(function* (checked: ReadonlyArray<Count>) {
    for (const { word } of checked) if (word !== null && words.size < maxNamedWords) words.add(word)
    const wordOf = (word: string | null) => (word === null || words.has(word) ? (word ?? undefined) : "other")
    const unlisted = [...words, "other"].map((word) => ["Unlisted", word] as const)
    const labels = [
      ...(["Claimed", "Contradicted", "Unconfirmed"] as const).map((cause) => [cause] as const),
      ...unlisted
    ]
    for (const [cause, word] of labels)
      yield* setSum(
        "to_check",
        checked.filter((one) => one.cause === cause && wordOf(one.word) === word),
        { cause, word }
      )
  })
  const measure = Effect.gen(function* () {
    const row = yield* store.accounts.get
    const { ahead, readAt: now } = row
    yield* measureClock(ahead)
    // While the database cannot be reached, the gauges have their last values and this gauge is not updated.
    const markMeasured = setToNow(gauges.measured_seconds, { account }, ahead)
    const found = yield* store.counts(now - postedFor, now + Duration.toMillis(dayOf(now).left) - dayMillis)
    const foundOf = (part: Count["of"]) => found.filter(({ of }) => of === part)
    const [counts, posted] = [foundOf("Waits"), foundOf("Posted")]
    const measurePosted = Effect.flatMap(Clock.currentTimeMillis, (at) =>
      setState("posted", posted, at + ahead, oldestOf(posted))
    )
    yield* measurePosted
    yield* measureChecks(foundOf("ToCheck"))
    const held = heldOf(row, now)
    const causeOfCount = ({ cause }: Count) => becauseHeld(cause, held)
    // What waits for its time, or for nothing that this version knows, waits since its account would let it leave.
    const lateSince = counts
      .filter((of) => isAccepted(of) && !meant.has(causeOfCount(of)))
      .map(({ cause, oldest }) => (cause === null || cause === "Unreadable" ? Math.max(oldest, held.since) : oldest))
    for (const state of states) {
      const ofState = counts.filter(({ cause, state: of }) => of === state && cause !== noAlarm[state])
      const count = yield* setState(state, ofState, now, state === "accepted" ? lateSince : oldestOf(ofState))
      if (state !== "parked" || count === parked) continue
      parked = count
      yield* warn(`${count} payout(s) wait for a person: list({ state: "parked" }) names them.`, {
        "payouts.parked": count
      })
    }
    for (const cause of becauseOf.accepted.literals)
      yield* setSum(
        "delayed",
        counts.filter((of) => isAccepted(of) && causeOfCount(of) === cause),
        { cause }
      )
    yield* isSet("paused", row.paused)
    yield* isSet("served", row.servedAt !== null)
    // As where the name of the account is misspelt.
    if (row.servedAt === null && counts.length > 0 && !isUnservedTold) {
      isUnservedTold = true
      yield* warn(`Payouts are submitted to the account ${account}, which no worker ever served.`)
    }
    const ofStates = { waiting: gauges.states, oldest: gauges.states_oldest_seconds }
    const open = row.handsOut ? yield* store.states.letters.measure(ofStates, ["account", account], now) : 0
    yield* markMeasured
    // Payouts that wait grow older. Where none waits, nothing but the age of what is posted changes before the next write.
    if (counts.length === 0 && open === 0) yield* reportUntil(nextWrite, Effect.andThen(measurePosted, markMeasured))
  })
  return yield* measureRepeatedly("Counting payouts", hasNews, measure)
}, Effect.scoped)
