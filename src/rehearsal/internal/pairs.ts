/**
 * The pairs of a rehearsal: a run that was disturbed goes on, and a place that it came to later is disturbed too.
 */
import { both, isLong, type Schedule, schedulesOf, strikeOf, type Trace } from "./schedules.ts"
import type { Played } from "./play.ts"

/** What is kept of a run for its pairs. */
export interface Traced {
  readonly schedule: Schedule
  readonly trace: Trace
  /** What the program could see, and what the gateway did, as text: runs that are equal in it go on alike. */
  readonly seen: string
}

export const tracedOf = (schedule: Schedule, played: Played): Traced => {
  const { calls, end, facts, isOfMonths, isPaid, isSeen, places, processes, receives, transactions, withdrawals } =
    played
  const rows = [...transactions, ...withdrawals]
  const executedAt = (at: number) => rows.filter(({ createdAt }) => Date.parse(createdAt) <= at).length
  const seen = JSON.stringify([
    calls.map(({ answer, key, operation, outcome, process, question, result, startedAt }) =>
      [process, operation, question, key, result, outcome, answer, executedAt(startedAt)].join(" ")
    ),
    facts.map(({ detail, name, process }) => [process, name, detail]),
    transactions.map(({ amount, idempotencyKey, paid, status }) => [amount, paid, idempotencyKey, status]),
    withdrawals.map(({ amount, idempotencyKey, status }) => [amount, idempotencyKey, status]),
    places.filter(({ kind }) => kind === "webhook").length,
    end
  ])
  return { schedule, trace: { calls, isOfMonths, isPaid, isSeen, places, processes, receives }, seen }
}

/** Of runs that showed the same the first one, and whether a run showed what no run before it had shown. */
const firsts = (runs: ReadonlyArray<Traced>): ReadonlyArray<Traced> => {
  const seen = new Set<string>()
  return runs.filter((run) => !seen.has(run.seen) && seen.add(run.seen))
}

/** The schedules that continue a run, with their distance from what was disturbed first. */
const continued = ({ schedule, trace }: Traced, isDull: (second: Schedule) => boolean) => {
  const strike = strikeOf(schedule, trace.places)
  return schedulesOf(trace)
    .filter(({ disturbances }) => disturbances.length === 1)
    .filter((second) => !isDull(second))
    .map((second) => ({ pair: both(schedule, second), distance: strikeOf(second, trace.places) - strike }))
    .filter(({ distance }) => strike >= 0 && distance > 0)
}

/**
 * The pairs of some runs, the nearest places first. A run that showed what another one did is not continued, and neither is one
 * with several disturbances. A kind of disturbance that never showed anything new alone does not come second.
 */
export const pairsOf = (runs: ReadonlyArray<Traced>): ReadonlyArray<Schedule> => {
  const different = firsts(runs)
  const useful = new Set(different.map(({ schedule }) => schedule.kind))
  const dull = new Set(runs.map(({ schedule }) => schedule.kind).filter((kind) => !useful.has(kind)))
  return different
    .filter(({ schedule }) => schedule.disturbances.length === 1 && !isLong(schedule))
    .flatMap((run) => continued(run, ({ kind }) => dull.has(kind)))
    .toSorted((a, b) => a.distance - b.distance)
    .map(({ pair }) => pair)
}
