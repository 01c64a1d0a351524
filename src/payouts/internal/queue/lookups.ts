/**
 * When the withdrawal of a payout is looked up. Nothing here reads or writes.
 */
import type { Row } from "./row.ts"

const minute = 60_000
const day = 1440 * minute

/** The time between two lookups of an account, by all of its workers: five a second. */
export const lookupSpacing = 200

/** How long after its request it is looked up, in milliseconds: 30 seconds, and then 2 and 10 minutes, 1 and 6 hours later. */
const times = [minute / 2, 2.5 * minute, 12.5 * minute, 72.5 * minute, 432.5 * minute] as const

/** After the lookup of a payout whose end is known already, which a webhook denies: once more. */
const again = minute

/** A record was stored: its first lookup. */
export const firstLookup = { lookups: 0, dueIn: times[0] } as const

/** No lookup of it is due. */
export const noLookup = { lookups: null } as const

/**
 * The next lookup of a payout that was looked up now: ever more seldom, for as long as `until` after its last request. It depends on
 * the time alone, so that no number of hints makes the payout older. Of one whose end is known, only a hint leads to another.
 */
export const nextLookup = (
  { lookups, markedAt, state, submittedAt }: Row,
  { now, until }: { readonly now: number; readonly until: number }
) => {
  const count = (lookups ?? 0) + 1
  if (state !== "posted" && state !== "parked") return count === 1 ? { lookups: count, dueIn: again } : noLookup
  const age = now - (markedAt ?? submittedAt)
  const next = times.find((time) => time > age)
  return age >= until ? noLookup : { lookups: count, dueIn: next === undefined ? day : Math.min(next - age, day) }
}
