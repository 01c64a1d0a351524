/**
 * When the withdrawal of a payout is looked up. Nothing here reads or writes.
 */
import type { Row } from "./row.ts"

const minute = 60_000
const day = 1440 * minute

/** The time between two lookups of an account, by all of its workers: five a second. */
export const lookupSpacing = 200

/** After the record, and after each lookup. */
const delays = [minute / 2, 2 * minute, 10 * minute, 60 * minute, 360 * minute] as const

/** After the lookup of a payout whose end is known already, which a webhook denies: once more. */
const again = minute

/** A record was stored: its first lookup. */
export const firstLookup = { lookups: 0, dueIn: delays[0] } as const

/** No lookup of it is due. */
export const noLookup = { lookups: null } as const

/**
 * The next lookup of a payout that was looked up now: ever more seldom, for as long as `until` after its last request. Of one whose
 * end is known, only a hint leads to another.
 */
export const nextLookup = (
  { lookups, markedAt, state, submittedAt }: Row,
  { now, until }: { readonly now: number; readonly until: number }
) => {
  const count = (lookups ?? 0) + 1
  if (state !== "posted" && state !== "parked") return count === 1 ? { lookups: count, dueIn: again } : noLookup
  return now - (markedAt ?? submittedAt) >= until ? noLookup : { lookups: count, dueIn: delays[count] ?? day }
}
