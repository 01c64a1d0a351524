/**
 * An account as it is in the table, which all its workers share: the sender of its payouts, its pause, and the wait that
 * begins where the service refuses every request alike. Nothing here reads or writes.
 */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Bool, Int, orNull, startingAt } from "./columns.ts"

/** Where the day of a cap begins. */
export const zone = DateTime.zoneMakeNamedUnsafe("America/Sao_Paulo")

/** One account. Times are in milliseconds since 1970. */
export const Account = Schema.Struct({
  account: Schema.String,
  /** When a worker served it first. Null: no worker ever did. */
  servedAt: orNull(Int),
  /** The fingerprint of the sender under which its payouts are sent. Null: no worker's sender is known yet. */
  fingerprint: orNull(Schema.String),
  /** The company that pays: that of the worker's client, or of the first recorded withdrawal. */
  companyId: orNull(Int),
  /** The horizon of the worker that began last, in milliseconds. */
  horizon: orNull(Int),
  paused: Bool.pipe(Schema.withConstructorDefault(Effect.succeed(false))),
  /** When the pause began. */
  pausedAt: orNull(Int),
  /** How long all pauses that are over took, in milliseconds. */
  pausedMillis: startingAt(0),
  /** The last `setPaused`, as JSON. */
  pause: orNull(Schema.String),
  /**
   * Since when the service refuses every request alike, and one payout is tried at a time. A pause moves it forward, since
   * waiting for a pause is not counted.
   */
  blockedAt: orNull(Int),
  blockedBecause: orNull(Schema.String),
  /** How many payouts were tried since. */
  probes: startingAt(0),
  /** From when the next payout may be tried, by the clock of the database. While one is tried, it is the end of its lease. */
  probeAt: orNull(Int),
  /** The key of the payout that is tried. */
  probeKey: orNull(Schema.String),
  /** The amount above which a payout is sent after a second person approved it, in centavos. Null: none needs it. */
  fourEyesAbove: orNull(Int),
  /** The change of the account that one person asked for and another one has to confirm, as JSON. */
  asked: orNull(Schema.String),
  /** The database in which a worker served the account last: see `identity.ts`. */
  identity: orNull(Schema.String),
  /** When a worker served it last, by the clock of the database. */
  beatAt: orNull(Int)
})
export interface Account extends Schema.Schema.Type<typeof Account> {}

/** How long the account was paused until now, in milliseconds. */
export const pausedUntil = ({ paused, pausedAt, pausedMillis }: Account, now: number): number =>
  pausedMillis + (paused && pausedAt !== null ? Math.max(0, now - pausedAt) : 0)
