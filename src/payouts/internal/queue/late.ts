/**
 * How long a payout has been waiting, and whether it may still be sent. Nothing here reads or writes.
 */
import { databaseTime, type ReadAccount } from "./account.ts"
import * as Conditions from "./conditions.ts"

/** What a step is decided by: the account, the time of this process, and the horizon in milliseconds. */
export interface Deciding {
  readonly account: ReadAccount
  readonly now: number
  readonly horizon: number
}

type Payout = Parameters<typeof Conditions.isInTime.of>[0]["payout"]

const askedOf = (payout: Payout, { account, horizon, now }: Deciding) => ({
  payout,
  account,
  given: { now: databaseTime(account, now), nowHere: now, horizon }
})

/** How long a payout has been waiting since it is wanted, in milliseconds. */
export const waitedMillis = (payout: Payout, deciding: Deciding): number =>
  Conditions.waitedMillis.of(askedOf(payout, deciding))

/**
 * Why no request of a payout may leave any more: the service may have forgotten its key, or it is wanted since longer ago than the
 * horizon. `undefined`: it is in time.
 */
export const tooLate = (payout: Payout, deciding: Deciding): "PastHorizon" | "WaitedTooLong" | undefined => {
  if (Conditions.isInTime.of(askedOf(payout, deciding))) return undefined
  return payout.mayHaveLeftAt === null ? "WaitedTooLong" : "PastHorizon"
}
