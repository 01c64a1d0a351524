/**
 * Counts the failures of the user's database, and logs those that a person has to end: a full disk, a read-only database.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import { failureNameOf, type FailureName, failureOf, reasonOf } from "../internal/databaseFailure.ts"
import { counter, update } from "../internal/metrics.ts"
import { log } from "../internal/spans.ts"

const failures = counter("effect_pix_database_failures_total", "{failure}", "Failures of the database, by their kind")

/**
 * When each failure was logged last. A process has one line a minute for all its queues and webhooks; a clock of its own, as in
 * a test, is another process.
 */
const loggedAt = new WeakMap<Clock.Clock, Map<FailureName, number>>()

const millisBetweenLines = 60_000

/** Counts a failure, and logs one that a person has to end, at most once a minute. Returns whether it is such a one. */
export const report = Effect.fnUntraced(function* (error: SqlError) {
  yield* update(failures, 1, { "error.type": reasonOf(error) })
  const name = failureNameOf(error)
  const known = name && failureOf(name)
  if (name === undefined || known === undefined) return false
  const clock = yield* Clock.Clock
  const times = loggedAt.get(clock) ?? new Map<FailureName, number>()
  loggedAt.set(clock, times)
  const now = yield* Clock.currentTimeMillis
  const last = times.get(name)
  if (last === undefined || now - last >= millisBetweenLines) {
    times.set(name, now)
    yield* log(
      "Error",
      `The database fails: ${known.cause}. ${known.remedy}. Until then payouts wait, and deliveries are answered with 503.`,
      { "error.type": name }
    )
  }
  return true
})
