/**
 * Which database an account is in, and whether it is older than what happened: a restored backup has no mark of what was sent
 * since. So a worker judges each database, and each session of its server, before it sends anything there. Nothing here reads
 * or writes.
 *
 * An identity has four parts: the cluster, its timeline, the database, and the table of payouts. A part that the server does not
 * show is empty, and is compared with none. A dump that is restored makes the table anew, in whatever cluster; a standby that
 * was promoted, and a copied cluster that was recovered, have another timeline.
 */
import type { Account } from "./account.ts"

/** How old the heartbeat of a database that followed the earlier one may be, in milliseconds. */
const followed = 15 * 60_000

/** The default of `pausedAfter` where a server runs, in milliseconds. */
export const aDay = 24 * 3_600_000

const partsOf = (identity: string | null) => (identity ?? "").split("/")

/** The identity to store: what the server does not show now has its earlier value. */
export const mergedIdentity = (stored: string | null, now: string | null): string | null =>
  now &&
  partsOf(now)
    .map((part, index) => part || (partsOf(stored)[index] ?? ""))
    .join("/")

/**
 * What a worker finds. `Same`: it goes on. `Moved`: a standby was promoted, or the program was moved to a copy that followed.
 * `Restored`: a backup, or another copy. `Silent`: the same database, but no worker served it for `pausedAfter`.
 */
export type Finding = "Same" | "Moved" | "Restored" | "Silent"

/** Judges the database of an account. `lastBeat` is the last heartbeat that this process knows. Times are in milliseconds. */
export const findingOf = (
  { beatAt, identity: stored, readAt }: Pick<Account, "beatAt" | "identity"> & { readonly readAt: number },
  identity: string | null,
  { lastBeat, pausedAfter }: { readonly lastBeat: number | undefined; readonly pausedAfter: number }
): Finding => {
  if (beatAt === null) return lastBeat === undefined ? "Same" : "Restored"
  const age = readAt - beatAt
  const now = partsOf(identity)
  const isSame = partsOf(stored).map((part, index) => (part && now[index] ? part === now[index] : undefined))
  const [isSameCluster, , isSameDatabase, isSameTable] = isSame
  // Nothing follows a database inside its own cluster: it is a copy, however fresh its heartbeat is.
  if (isSameCluster === true && (isSameDatabase === false || isSameTable === false)) return "Restored"
  const isOther = isSame.includes(false) || (lastBeat !== undefined && beatAt < lastBeat)
  if (isOther) return age > followed ? "Restored" : "Moved"
  return age > pausedAfter ? "Silent" : "Same"
}
