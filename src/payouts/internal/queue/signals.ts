/**
 * The metrics of the queue, and the attributes of its log lines. Labels are states and causes, so there are few.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import { fingerprint } from "../../../contract/IdempotencyKey.ts"
import { repeatedly, reportUntil } from "../../../durable/Work.ts"
import { errorType, log } from "../../../internal/spans.ts"
import { namesOf } from "../machine.ts"
import { failureOf, type Row } from "./row.ts"
import type { Store } from "./store.ts"

const gauge = (name: string, description: string, unit: string) =>
  Metric.gauge(`effect_pix_payout_queue_${name}`, { description, attributes: { unit } })

const waiting = gauge("waiting", "Payouts that wait, by their state: accepted, unknown, or parked", "{payout}")
const oldest = gauge("oldest", "How long the oldest payout of a state has been waiting", "s")
const centavos = gauge("centavos", "The sum of the payouts that wait, by their state", "{centavo}")
const paused = gauge("paused", "Whether the workers are stopped by setPaused: 1 or 0", "1")
const measured = gauge("measured", "When the gauges were measured last, in seconds since 1970", "s")
const changes = Metric.counter("effect_pix_payout_queue_changes", {
  description: "Payouts that came into a state, with the cause of a failure",
  incremental: true,
  attributes: { unit: "{payout}" }
})

/** The cause of a row's last failure, for `error.type`. */
export const causeOf = (row: Row): string | undefined => {
  const failure = failureOf(row)
  return failure && errorType(failure)
}

/** Counts a payout that has a new state. */
export const countChange = (row: Row): Effect.Effect<void> => {
  const cause = causeOf(row)
  return Metric.update(
    Metric.withAttributes(changes, { state: row.state, ...(cause !== undefined && { "error.type": cause }) }),
    1
  )
}

/** Whether any request of a payout may have moved money, for `payments.outcome`. */
const outcomeOf = (row: Row) => {
  if (row.withdrawalId !== null) return "Executed"
  return row.mayHaveLeftAt === null ? (failureOf(row)?.outcome ?? "NotSent") : "Unknown"
}

/** The attributes that name the payout of a span. */
export const identityOf = (row: Row) => ({
  "payments.operation": "requestWithdrawal",
  ...namesOf(row),
  "payments.idempotency_key_hash": fingerprint(row.idempotencyKey)
})

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
const markMeasured = Effect.flatMap(Clock.currentTimeMillis, (now) => Metric.update(measured, now / 1000))

/** Measures the payouts that wait every minute, also in a process without a worker: two statements on an index. */
export const measures = Effect.fnUntraced(function* (store: Store) {
  const nextWrite = yield* store.followWrites
  let parked = 0
  const measure = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const counts = yield* store.counts
    for (const state of ["accepted", "unknown", "parked"] as const) {
      const found = counts.find((of) => of.state === state) ?? { count: 0, oldest: now, amount: 0 }
      yield* Metric.update(Metric.withAttributes(waiting, { state }), found.count)
      yield* Metric.update(Metric.withAttributes(oldest, { state }), (now - found.oldest) / 1000)
      yield* Metric.update(Metric.withAttributes(centavos, { state }), found.amount)
      if (state === "parked" && found.count !== parked) {
        parked = found.count
        yield* log("Warn", `${found.count} payout(s) wait for a person: list({ state: "parked" }) names them.`, {
          "payouts.parked": found.count
        })
      }
    }
    yield* Metric.update(paused, (yield* store.isPaused) ? 1 : 0)
    yield* markMeasured
    // Payouts that wait grow older. Where none waits, nothing changes before the next write.
    if (counts.length === 0) yield* reportUntil(nextWrite, markMeasured)
  })
  return yield* repeatedly("Counting payouts", "1 minute", measure)
}, Effect.scoped)
