/**
 * The time, in milliseconds since 1970, after which a call sends no request: its payout could be paid twice then. The
 * deadline of the policy is not enough, since a process may be suspended between two steps of a call.
 */
import * as Context from "effect/Context"

export const NotAfter = Context.Reference<number>("effect-pix/NotAfter", {
  defaultValue: () => Number.POSITIVE_INFINITY
})
