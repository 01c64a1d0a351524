/**
 * Why an account holds its payouts back, and so what a payout waits for. Nothing here reads or writes.
 */
import * as Duration from "effect/Duration"
import * as Schema from "effect/Schema"
import { type Because, becauseOf } from "../../PayoutBecause.ts"
import type { ReadAccount } from "./account.ts"
import { leftOf } from "./accountTime.ts"
import { isWindowOpen } from "./days.ts"
import { untilMinute } from "./waits.ts"

const dayMillis = 86_400_000
/** For how long after the time of its next request an account counts as one whose pace holds its payouts: then nobody sends. */
const paceFor = 60_000

/** Why an account holds what has no cause of its own, and since when it holds nothing. */
export interface Held {
  readonly because: Because<"accepted"> | undefined
  readonly since: number
}

const isBecause = Schema.is(becauseOf.accepted)

/** Why an account holds its payouts at a time of the database. */
export const heldOf = (account: ReadAccount, now: number): Held => {
  const { heldBecause, nextAt, pacePer, windowFrom } = account
  const opened = windowFrom === null ? 0 : now + Duration.toMillis(untilMinute(now, windowFrom)) - dayMillis
  // A time that was set later than now holds nothing.
  const isPaced = nextAt !== null && pacePer !== null && (nextAt <= now || leftOf(account, now) > 0)
  const next = isPaced ? nextAt : 0
  const ofService = isBecause(heldBecause) ? heldBecause : isPaced && next + paceFor > now ? "Pace" : undefined
  const because = account.paused ? "Paused" : isWindowOpen(account, now) ? ofService : "Window"
  return { because, since: Math.min(now, Math.max(opened, next)) }
}

/** What an accepted payout waits for that has a cause of its own, or none. A pause holds all but those whose time has not come. */
export const becauseHeld = (own: string | null, { because }: Held): string | undefined =>
  because === "Paused" && own !== "NotBefore" ? because : (own ?? because)
