/**
 * Counts the failures of the user's database, and logs those that a person has to end: a full disk, a read-only database.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import { failureNameOf, failureOf, reasonOf } from "../internal/databaseFailure.ts"
import { counter, update } from "../internal/metrics.ts"
import { monotonicMillis } from "../internal/monotonic.ts"
import { countSinceLine, type Lines, log } from "../internal/spans.ts"

const failures = counter("effect_pix_database_failures_total", "{failure}", "Failures of the database, by their kind")

/**
 * When each failure was logged last. A process has one line a minute for all its queues and webhooks; a clock of its own, as in
 * a test, is another process.
 */
const linesOf = new WeakMap<Clock.Clock, Lines>()

/** Counts a failure, and logs one that a person has to end, at most once a minute. Returns whether it is such a one. */
export const report = Effect.fnUntraced(function* (error: SqlError) {
  yield* update(failures, 1, { "error.type": reasonOf(error) })
  const name = failureNameOf(error)
  const known = name && failureOf(name)
  if (name === undefined || known === undefined) return false
  const clock = yield* Clock.Clock
  const lines: Lines = linesOf.get(clock) ?? new Map()
  linesOf.set(clock, lines)
  if (countSinceLine(lines, name, yield* monotonicMillis) !== undefined) {
    yield* log(
      "Error",
      `The database fails: ${known.cause}. ${known.remedy}. Until then payouts wait, and deliveries are answered with 503.`,
      { "error.type": name }
    )
  }
  return true
})
