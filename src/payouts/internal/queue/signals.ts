/**
 * The metrics of the queue, and the attributes of its log lines. Labels are states and causes, so there are few.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { fingerprint } from "../../../contract/IdempotencyKey.ts"
import { repeatedly, reportUntil } from "../../../durable/Work.ts"
import { counter, gauge, setToNow, update } from "../../../internal/metrics.ts"
import { errorType, log } from "../../../internal/spans.ts"
import { namesOf } from "../machine.ts"
import { failureOf, type Row } from "./row.ts"
import type { Store } from "./store.ts"

const waiting = gauge(
  "effect_pix_payout_queue_waiting",
  "{payout}",
  "Payouts that wait, by their state: accepted, unknown, or parked"
)
const oldest = gauge("effect_pix_payout_queue_oldest", "s", "How long the oldest payout of a state has been waiting")
const centavos = gauge(
  "effect_pix_payout_queue_centavos",
  "{centavo}",
  "The sum of the payouts that wait, by their state"
)
const paused = gauge("effect_pix_payout_queue_paused", "1", "Whether the workers are stopped by setPaused: 1 or 0")
const measured = gauge(
  "effect_pix_payout_queue_measured",
  "s",
  "When the gauges were measured last, in seconds since 1970"
)
const changes = counter(
  "effect_pix_payout_queue_changes",
  "{payout}",
  "Payouts that came into a state, with the cause of a failure"
)

/** The cause of a row's last failure, for `error.type`. */
export const causeOf = (row: Row): string | undefined => {
  const failure = failureOf(row)
  return failure && errorType(failure)
}

/** Counts a payout that has a new state. */
export const countChange = (row: Row): Effect.Effect<void> =>
  update(changes, 1, { state: row.state, "error.type": causeOf(row) })

/** Whether any request of a payout may have moved money, for `payments.outcome`. */
const outcomeOf = (row: Row) => {
  if (row.withdrawalId !== null) return "Executed"
  return row.mayHaveLeftAt === null ? (failureOf(row)?.outcome ?? "NotSent") : "Unknown"
}

/** The attributes of a payout of which only the key is known. */
export const attributesOfKey = (idempotencyKey: string) => ({
  "payments.operation": "requestWithdrawal",
  "payments.idempotency_key_hash": fingerprint(idempotencyKey)
})

/** The attributes that name the payout of a span. */
export const identityOf = (row: Row) => ({ ...attributesOfKey(row.idempotencyKey), ...namesOf(row) })

/** The attributes of a log line about a payout, and of its span at the end. */
export const attributesOf = (row: Row): Readonly<Record<string, unknown>> => {
  const cause = causeOf(row)
  return {
    ...identityOf(row),
    "payments.attempts": row.sends,
    "payments.outcome": outcomeOf(row),
    ...(cause !== undefined && { "error.type": cause })
  }
}

/** While the database cannot be reached, the gauges have their last values and this gauge is not updated. */
const markMeasured = setToNow(measured)

/** Measures the payouts that wait every minute, also in a process without a worker: two statements on an index. */
export const measures = Effect.fnUntraced(function* (store: Store) {
  const nextWrite = yield* store.followWrites
  let parked = 0
  const measure = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const counts = yield* store.counts
    for (const state of ["accepted", "unknown", "parked"] as const) {
      const found = counts.find((of) => of.state === state) ?? { count: 0, oldest: now, amount: 0 }
      yield* update(waiting, found.count, { state })
      yield* update(oldest, (now - found.oldest) / 1000, { state })
      yield* update(centavos, found.amount, { state })
      if (state === "parked" && found.count !== parked) {
        parked = found.count
        yield* log("Warn", `${found.count} payout(s) wait for a person: list({ state: "parked" }) names them.`, {
          "payouts.parked": found.count
        })
      }
    }
    yield* update(paused, (yield* store.isPaused) ? 1 : 0)
    yield* markMeasured
    // Payouts that wait grow older. Where none waits, nothing changes before the next write.
    if (counts.length === 0) yield* reportUntil(nextWrite, markMeasured)
  })
  return yield* repeatedly("Counting payouts", "1 minute", measure)
}, Effect.scoped)
