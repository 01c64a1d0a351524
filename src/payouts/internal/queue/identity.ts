/**
 * Which database an account is in. A database that another one took the place of, by a failover or a restored backup, has no mark
 * of what was sent since a worker was last seen in it. Nothing here reads or writes.
 *
 * An identity has four parts: the cluster, its timeline, the database, and the table of payouts. A part that the server does not
 * show is empty, and is compared with none. A dump that is restored makes the table anew, in whatever cluster; a standby that
 * was promoted, and a copied cluster that was recovered, have another timeline.
 */
import type { Account } from "./account.ts"

const partsOf = (identity: string | null) => (identity ?? "").split("/")

/** The identity to store: what the server does not show now has its earlier value. */
export const mergedIdentity = (stored: string | null, now: string | null): string | null =>
  now &&
  partsOf(now)
    .map((part, index) => part || (partsOf(stored)[index] ?? ""))
    .join("/")

/**
 * Whether the account is in another database than that in which a worker was seen last. `lastSeen` is when this process knows that
 * a worker was seen: an earlier time is that of another database, also where the server hides its identity.
 */
export const isMoved = (
  { identity: stored, seenAt }: Pick<Account, "identity" | "seenAt">,
  identity: string | null,
  lastSeen: number | undefined
): boolean => {
  if (lastSeen !== undefined && (seenAt === null || seenAt < lastSeen)) return true
  const now = partsOf(identity)
  return seenAt !== null && partsOf(stored).some((part, index) => part && now[index] && part !== now[index])
}
